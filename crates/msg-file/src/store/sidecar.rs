//! The sidecar `.NAME.lock`: who holds the lock, the journal of an append, the last cell (MF-41, MF-42).
//!
//! Its form is private: a line of JSON and its checksum, then the journal's bytes. What does not check is
//! as good as empty.
//!
//! ```text
//! {"form":"msg-file-lock-3","holder":{"pid":7,…},"content":{"largest":4,…},"record":[120,…]}   8f3a…
//! ## %%% [^4] …
//! ```

use super::disk::hash;
use crate::time::rfc3339;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

/// What an append is about to write, or was writing when it died.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Journal {
    /// Length of the file before it.
    pub(super) offset: u64,
    /// Checksum of the bytes before it, 4 KiB of them at most.
    pub(super) before: u64,
    /// Stands behind the header line.
    #[serde(skip)]
    pub(super) record: Vec<u8>,
}

/// The last cell that was written.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Last {
    pub(super) id: String,
    pub(super) offset: u64,
    pub(super) len: u64,
    pub(super) hash: u64,
}

/// What a sidecar says.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Content {
    /// The largest number ever given as an id: one that a save has removed is not given again, so
    /// that nobody's cell is taken for another's.
    pub(super) largest: u128,
    pub(super) last: Option<Last>,
    pub(super) journal: Option<Journal>,
}

/// Who holds the lock.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Holder {
    pub(super) pid: u32,
    pub(super) host: String,
    pub(super) since: String,
}

/// The header line.
#[derive(Debug, Serialize, Deserialize)]
struct Head<'a> {
    form: Cow<'a, str>,
    holder: Holder,
    content: Cow<'a, Content>,
    /// Length and checksum of the journal's bytes.
    record: (usize, u64),
}

/// An open sidecar, locked by us.
#[derive(Debug)]
pub(super) struct Sidecar {
    pub(super) file: File,
}

const FORM: &str = "msg-file-lock-3";

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

impl Holder {
    /// This process, from now on.
    fn ourselves() -> Self {
        static HOST: OnceLock<String> = OnceLock::new();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
        let host = HOST.get_or_init(host).clone();
        Self { pid: std::process::id(), host, since: rfc3339(now) }
    }
}

fn print(content: &Content) -> Vec<u8> {
    let record = content.journal.as_ref().map_or(&[][..], |it| &it.record);
    let head = Head {
        form: FORM.into(),
        holder: Holder::ourselves(),
        content: Cow::Borrowed(content),
        record: (record.len(), hash(record)),
    };
    let mut bytes = serde_json::to_vec(&head).expect("because it holds text and numbers only");
    let sum = format!("\t{:x}\n", hash(&bytes));
    bytes.extend_from_slice(sum.as_bytes());
    bytes.extend_from_slice(record);
    bytes
}

fn parse(bytes: &[u8]) -> Option<(Holder, Content)> {
    let end = memchr::memchr(b'\n', bytes)?;
    let (line, record) = (std::str::from_utf8(&bytes[..end]).ok()?, &bytes[end + 1..]);
    let (head, sum) = line.rsplit_once('\t')?;
    if u64::from_str_radix(sum, 16).ok()? != hash(head.as_bytes()) {
        return None;
    }
    let head: Head<'_> = serde_json::from_str(head).ok().filter(|it: &Head<'_>| it.form == FORM)?;
    let mut content = head.content.into_owned();
    let (len, sum) = head.record;
    let record = record.get(..len).filter(|it| hash(it) == sum);
    content.journal = content.journal.zip(record).map(|(mut journal, record)| {
        journal.record = record.to_vec();
        journal
    });
    Some((head.holder, content))
}
