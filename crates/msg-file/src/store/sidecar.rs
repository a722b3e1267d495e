//! The sidecar `.NAME.lock`: who holds the lock, the journal of an append, the last cell (MF-41, MF-42).
//!
//! Its form is private. A header line with its own checksum stands before the journal's bytes; what
//! does not check is as good as empty.

use super::disk::hash;
use crate::time::rfc3339;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// What an append is about to write, or was writing when it died.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Journal {
    /// Length of the file before it.
    pub(super) offset: u64,
    /// Checksum of the bytes before it, 4 KiB of them at most.
    pub(super) before: u64,
    pub(super) record: Vec<u8>,
}

/// The last cell that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Last {
    pub(super) id: String,
    pub(super) offset: u64,
    pub(super) len: u64,
    pub(super) hash: u64,
}

/// What a sidecar says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Content {
    /// The largest number ever given as an id: one that a save has removed is not given again, so
    /// that nobody's cell is taken for another's.
    pub(super) largest: u128,
    pub(super) last: Option<Last>,
    pub(super) journal: Option<Journal>,
}

/// Who holds the lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Holder {
    pub(super) pid: u32,
    pub(super) host: String,
    pub(super) since: String,
}

/// An open sidecar, locked by us.
#[derive(Debug)]
pub(super) struct Sidecar {
    pub(super) file: File,
}

const MAGIC: &str = "msg-file-lock-2";

pub(super) fn path_of(real: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(real.file_name().unwrap_or_default());
    name.push(".lock");
    real.with_file_name(name)
}

/// The sidecar that is there.
pub(super) fn open(real: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open(path_of(real))
}

/// The sidecar, made if it is missing.
pub(super) fn create(real: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(path_of(real))
}

impl Sidecar {
    /// What the last holder left.
    pub(super) fn read(&mut self) -> Content {
        let mut bytes = Vec::new();
        let read =
            self.file.seek(SeekFrom::Start(0)).and_then(|_| self.file.read_to_end(&mut bytes));
        read.ok().and_then(|_| parse(&bytes)).map(|(_, content)| content).unwrap_or_default()
    }

    /// Writes what is to be known, by one write.
    pub(super) fn write(&mut self, content: &Content, trim: bool) -> io::Result<()> {
        let bytes = print(content);
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(&bytes)?;
        if trim {
            self.file.set_len(bytes.len() as u64)?;
        }
        Ok(())
    }
}

/// Who holds the lock of a file, as far as the sidecar says.
pub(super) fn holder(real: &Path) -> Option<Holder> {
    let bytes = std::fs::read(path_of(real)).ok()?;
    parse(&bytes).map(|(holder, _)| holder)
}

fn host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let name = name.or_else(|| std::env::var("HOSTNAME").ok()).unwrap_or_default();
    let name: String =
        name.trim().chars().filter(|c| !c.is_whitespace() && !c.is_control()).collect();
    if name.is_empty() { "?".to_owned() } else { name }
}

fn print(content: &Content) -> Vec<u8> {
    use std::sync::OnceLock;
    static HOST: OnceLock<String> = OnceLock::new();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let (host, now) = (HOST.get_or_init(host), rfc3339(now));
    let mut head = format!("{MAGIC}\t{}\t{host}\t{now}", std::process::id());
    head.push_str(&format!("\t{}", content.largest));
    match &content.last {
        Some(last) => {
            head.push_str(&format!(
                "\t{}\t{}\t{}\t{:x}",
                last.id, last.offset, last.len, last.hash
            ));
        }
        None => head.push_str("\t\t0\t0\t0"),
    }
    let record = match &content.journal {
        Some(j) => {
            head.push_str(&format!(
                "\t{}\t{:x}\t{}\t{:x}",
                j.offset,
                j.before,
                j.record.len(),
                hash(&j.record)
            ));
            j.record.as_slice()
        }
        None => {
            head.push_str("\t0\t0\t-\t0");
            &[]
        }
    };
    head.push_str(&format!("\t{:x}\n", hash(head.as_bytes())));
    let mut bytes = head.into_bytes();
    bytes.extend_from_slice(record);
    bytes
}

fn parse(bytes: &[u8]) -> Option<(Holder, Content)> {
    let end = memchr::memchr(b'\n', bytes)?;
    let head = std::str::from_utf8(&bytes[..end]).ok()?;
    let (fields, sum) = head.rsplit_once('\t')?;
    if u64::from_str_radix(sum, 16).ok()? != hash(fields.as_bytes()) {
        return None;
    }
    let it: Vec<&str> = fields.split('\t').collect();
    let [magic, pid, host, since, largest, id, offset, len, sum, at, before, size, record_sum] =
        it.as_slice()
    else {
        return None;
    };
    if *magic != MAGIC {
        return None;
    }
    let hex = |text: &str| u64::from_str_radix(text, 16).ok();
    let holder =
        Holder { pid: pid.parse().ok()?, host: (*host).to_owned(), since: (*since).to_owned() };
    let last = match *id {
        "" => None,
        id => Some(Last {
            id: id.to_owned(),
            offset: offset.parse().ok()?,
            len: len.parse().ok()?,
            hash: hex(sum)?,
        }),
    };
    let journal = match size.parse::<usize>() {
        Err(_) => None,
        Ok(size) => {
            let record = bytes.get(end + 1..end + 1 + size).map(<[u8]>::to_vec);
            let record = record.filter(|r| Some(hash(r)) == hex(record_sum));
            let (offset, before) = (at.parse().ok()?, hex(before)?);
            record.map(|record| Journal { offset, before, record })
        }
    };
    Some((holder, Content { largest: largest.parse().ok()?, last, journal }))
}
