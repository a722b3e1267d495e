//! The archive of an evaluation log: which files are samples, and their texts. Only what such logs use is
//! read: stored and deflated files, by the central directory at the end.

use miniz_oxide::inflate::{TINFLStatus, decompress_to_vec_with_limit};

/// What an archive begins with.
pub(super) const MAGIC: &[u8] = b"PK\x03\x04";

/// The most bytes that one file of an archive may unpack to.
const MAX_FILE: usize = 256 << 20;

/// Whether an archive is a log: it has a header.
pub(crate) fn is_archive(bytes: &[u8]) -> bool {
    files(bytes).is_some_and(|it| it.iter().any(|it| it.name == "header.json"))
}

/// The texts of the samples, in the order of their names.
pub(super) fn samples(bytes: &[u8]) -> Result<Vec<String>, String> {
    let files = files(bytes).ok_or("the archive has no directory")?;
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
    packed: usize,
    size: usize,
    header: usize,
}

fn files(bytes: &[u8]) -> Option<Vec<File>> {
    let from = bytes.len().saturating_sub(22 + 0xffff);
    let end = from + memchr::memmem::rfind(&bytes[from..], b"PK\x05\x06")?;
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

/// A number of so many bytes, the lowest first.
fn number(bytes: &[u8], at: usize, len: usize) -> Option<usize> {
    let bytes = bytes.get(at..at.checked_add(len)?)?;
    Some(bytes.iter().rev().fold(0, |res, it| res << 8 | usize::from(*it)))
}
