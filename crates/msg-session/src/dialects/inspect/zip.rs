//! The archive of an evaluation log: which files are samples, and their texts. Only what such logs use is
//! read: stored and deflated files, by the central directory at the end.

use miniz_oxide::inflate::{TINFLStatus, decompress_to_vec_with_limit};

/// What an archive begins with.
pub(super) const MAGIC: &[u8] = b"PK\x03\x04";

/// The most bytes that one file of an archive may unpack to.
const MAX_FILE: usize = 256 << 20;

/// The most bytes that all files of an archive may unpack to.
const MAX_ALL: usize = 1 << 30;

/// Whether an archive is a log: it has a header.
pub(crate) fn is_archive(bytes: &[u8]) -> bool {
    files(bytes).is_some_and(|it| it.iter().any(|it| it.name == "header.json"))
}

/// How many bytes the files of an archive say that they have unpacked, all together; nothing for any other file.
pub(crate) fn unpacked_size(bytes: &[u8]) -> Option<u64> {
    let files = files(bytes).filter(|_| bytes.starts_with(MAGIC))?;
    Some(files.iter().fold(0, |sum: u64, it| sum.saturating_add(it.size as u64)))
}

/// The texts of the samples, in the order of their names.
pub(super) fn samples(bytes: &[u8]) -> Result<Vec<String>, String> {
    let files = files(bytes).ok_or("the archive has no directory")?;
    let mut places: Vec<_> = files.iter().map(|it| it.header).collect();
    places.sort_unstable();
    if places.windows(2).any(|it| it[0] == it[1]) {
        return Err("two files of the archive have the same bytes".to_owned());
    }
    if files.iter().fold(0, |sum: usize, it| sum.saturating_add(it.size)) > MAX_ALL {
        return Err(format!("the files of the archive have more than {MAX_ALL} bytes"));
    }
    let mut samples: Vec<_> = files
        .iter()
        .filter(|it| it.name.starts_with("samples/") && it.name.ends_with(".json"))
        .collect();
    samples.sort_by(|a, b| a.name.cmp(&b.name));
    samples.into_iter().map(|it| it.text(bytes)).collect()
}

/// A file of an archive.
struct File {
    name: String,
    method: usize,
    crc: u32,
    packed: usize,
    size: usize,
    header: usize,
}

fn files(bytes: &[u8]) -> Option<Vec<File>> {
    let from = bytes.len().saturating_sub(22 + 0xffff);
    // From the front: each document is asked whether it is an archive, and only this search is done with vectors.
    let end = from + memchr::memmem::find_iter(&bytes[from..], b"PK\x05\x06").last()?;
    let (count, mut at) = (number(bytes, end + 10, 2)?, number(bytes, end + 16, 4)?);
    let mut res = Vec::new();
    for _ in 0..count {
        if bytes.get(at..at + 4)? != b"PK\x01\x02" {
            return None;
        }
        let [name, extra, comment] = [28, 30, 32].map(|it| number(bytes, at + it, 2));
        let name_at = at + 46;
        let after = name_at + name?;
        res.push(File {
            name: String::from_utf8_lossy(bytes.get(name_at..after)?).into_owned(),
            method: number(bytes, at + 10, 2)?,
            crc: u32::try_from(number(bytes, at + 16, 4)?).ok()?,
            packed: number(bytes, at + 20, 4)?,
            size: number(bytes, at + 24, 4)?,
            header: number(bytes, at + 42, 4)?,
        });
        at = after + extra? + comment?;
    }
    Some(res)
}

impl File {
    fn text(&self, bytes: &[u8]) -> Result<String, String> {
        let name = &self.name;
        let packed = self.packed_bytes(bytes).ok_or(format!("{name} is cut off"))?;
        let size = self.size.min(MAX_FILE);
        let unpacked = match self.method {
            0 => packed.to_vec(),
            8 => {
                decompress_to_vec_with_limit(packed, size).map_err(|it| why_not(name, it.status))?
            }
            other => return Err(format!("{name} is packed by method {other}, which is not read")),
        };
        if crc32(&unpacked) != self.crc {
            return Err(format!("{name}: the data is damaged, its checksum is another one"));
        }
        String::from_utf8(unpacked).map_err(|_| format!("{name} is not UTF-8"))
    }

    fn packed_bytes<'a>(&self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        let (name, extra) =
            (number(bytes, self.header + 26, 2)?, number(bytes, self.header + 28, 2)?);
        let start = self.header + 30 + name + extra;
        bytes.get(start..start.checked_add(self.packed)?)
    }
}

/// Why a file could not be unpacked.
fn why_not(name: &str, status: TINFLStatus) -> String {
    let why = match status {
        TINFLStatus::HasMoreOutput => "there is more data than announced",
        TINFLStatus::FailedCannotMakeProgress => "the data is cut off",
        _ => "the data is damaged",
    };
    format!("{name}: {why}")
}

/// The checksum of ZIP archives (ISO 3309).
fn crc32(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = crc_table();
    let step = |crc: u32, it: &u8| TABLE[usize::from(crc as u8 ^ it)] ^ crc >> 8;
    !bytes.iter().fold(!0, step)
}

const fn crc_table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut at = 0;
    while at < 256 {
        let (mut crc, mut bit) = (at as u32, 0);
        while bit < 8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
            bit += 1;
        }
        table[at] = crc;
        at += 1;
    }
    table
}

/// A number of so many bytes, the lowest first.
fn number(bytes: &[u8], at: usize, len: usize) -> Option<usize> {
    let bytes = bytes.get(at..at.checked_add(len)?)?;
    Some(bytes.iter().rev().fold(0, |res, it| res << 8 | usize::from(*it)))
}
