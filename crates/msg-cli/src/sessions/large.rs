//! A session file that is read by offset and not held: JSON lines of any size (SE-2).

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use msg_session::{Dialect, Error, LargeSession, ReadAt};

use super::load::{expect_known, is_alone, locate};
use crate::exit::Failure;
use crate::sessions::places::Stamp;

/// A file as a source of bytes.
#[derive(Debug)]
pub(crate) struct FileSource {
    file: File,
    len: u64,
}

impl FileSource {
    pub(crate) fn new(file: File) -> io::Result<Self> {
        let len = file.metadata()?.len();
        Ok(Self { file, len })
    }
}

/// As much of a file is looked at to say whether it is of a format that is read.
const HEAD: usize = 1 << 20;

impl FileSource {
    /// The first lines; all where there are few.
    fn head(&self) -> io::Result<Vec<u8>> {
        let mut res = vec![0; usize::try_from(self.len).unwrap_or(HEAD).min(HEAD)];
        let mut len = 0;
        while len < res.len() {
            match self.read_at(len as u64, &mut res[len..])? {
                0 => break,
                n => len += n,
            }
        }
        let is_all = len as u64 == self.len;
        let end = memchr::memrchr(b'\n', &res[..len]).filter(|_| !is_all);
        res.truncate(end.unwrap_or(len));
        Ok(res)
    }
}

impl ReadAt for FileSource {
    fn size(&self) -> u64 {
        self.len
    }

    /// What came after the end since the file was opened is not part of this session.
    fn read_at(&self, offset: u64, to: &mut [u8]) -> io::Result<usize> {
        let rest = usize::try_from(self.len.saturating_sub(offset)).unwrap_or(usize::MAX);
        let len = to.len().min(rest);
        read_at(&self.file, offset, &mut to[..len])
    }
}

#[cfg(unix)]
fn read_at(file: &File, offset: u64, to: &mut [u8]) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, to, offset)
}

#[cfg(windows)]
fn read_at(file: &File, offset: u64, to: &mut [u8]) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, to, offset)
}

#[cfg(not(any(unix, windows)))]
fn read_at(mut file: &File, offset: u64, to: &mut [u8]) -> io::Result<usize> {
    use io::{Read, Seek};
    file.seek(io::SeekFrom::Start(offset))?;
    file.read(to)
}

/// An open session file.
#[derive(Debug)]
pub(crate) struct SessionFile {
    /// How it is called in messages.
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) source: FileSource,
    pub(crate) stamp: Stamp,
    dialect: Option<Dialect>,
}

impl SessionFile {
    /// Opens the session that `name` names, if it is one file.
    pub(crate) fn open(name: &Path, from: Option<Dialect>) -> Result<Option<Self>, Failure> {
        if name.as_os_str() == "-" {
            return Ok(None);
        }
        let (path, found) = locate(name, from)?;
        if !is_alone(&path) {
            return Ok(None);
        }
        let name = path.display().to_string();
        let failed = |it| Failure::read(&name, it);
        let stamp = Stamp::of(&path).map_err(failed)?;
        let source = File::open(&path).and_then(FileSource::new).map_err(failed)?;
        let dialect = from.or(found);
        if dialect.is_none() {
            expect_known(&source.head().map_err(failed)?, &name)?;
        }
        Ok(Some(Self { name, path, source, stamp, dialect }))
    }

    /// The session in it, if it is one of JSON lines.
    pub(crate) fn session(&self) -> Result<Option<LargeSession<'_>>, Error> {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let session = match self.dialect {
            Some(dialect) => LargeSession::named(dialect, name, &self.source),
            None => LargeSession::recognise(name, &self.source),
        };
        match session {
            Ok(session) => Ok(Some(session)),
            // A document says what it is only as a whole.
            Err(Error::NotLines { .. } | Error::UnknownDialect) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
