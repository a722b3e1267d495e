//! Loads the blobs of a session from a file, a folder, an id, or `latest` (SE-90).
//!
//! Also has the recorded responses of a session, shared by `msg cache` and `msg stats` so that both agree (SE-160).

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
};

use msg_cache::{CacheUsage, LedgerOptions, LedgerTotals, Response, SessionLedger};
use msg_document::Format;
use msg_session::{Blob, Dialect, Error, LargeSession, ReadAt, Session, recorded_responses};
use serde::Serialize;

use super::{Found, is_pipe};
use crate::context::explained;
use crate::exit::Failure;
use crate::sessions;
use crate::sessions::Stamp;
use crate::sessions::put_back::step;

/// A session that has been read.
pub(crate) struct Loaded {
    /// Its name in messages.
    pub(crate) name: String,
    /// The file or folder that blob names are relative to; `None` for standard input.
    pub(crate) path: Option<PathBuf>,
    pub(crate) blobs: Vec<Blob>,
    /// The dialect, if the place reveals it.
    pub(crate) dialect: Option<Dialect>,
    /// The state of the files before they were read.
    pub(crate) stamps: Vec<Stamp>,
    /// Whether it is in a store, which is never written.
    pub(crate) is_of_a_store: bool,
}

impl Loaded {
    /// The session: of the named dialect, or else the one of its place, or the recognised one. Takes the blobs.
    pub(crate) fn session(&mut self, named: Option<Dialect>) -> Result<Session, Error> {
        let blobs = std::mem::take(&mut self.blobs);
        match named.or(self.dialect) {
            Some(dialect) => Session::named(dialect, blobs),
            None => Session::recognise(blobs),
        }
    }
}

/// Reads the session `name`. Each file may have up to `max_bytes`, and so may all data from a store.
pub(crate) fn load(name: &Path, from: Option<Dialect>, max_bytes: u64) -> Result<Loaded, Failure> {
    if name.as_os_str() == "-" {
        return piped("<stdin>", io::stdin().lock(), max_bytes);
    }
    if is_pipe(name) {
        let called = name.display().to_string();
        let opened = File::open(name).map_err(|it| Failure::read(&called, it))?;
        return piped(&called, opened, max_bytes);
    }
    let (path, dialect) = locate(name, from)?;
    if let Some((store, id)) = in_a_store(&path)? {
        return stored(&store, &id);
    }
    Ok(Loaded { dialect, ..read(&path, max_bytes)? })
}

/// The store and id in `STORE#ID`, or a store with a single session.
fn in_a_store(path: &Path) -> Result<Option<(PathBuf, String)>, Failure> {
    if path.is_file() {
        if !sessions::is_store(path) {
            return Ok(None);
        }
        let name = path.display();
        let refuse = |it: String| Failure::Refused(format!("{name}: {it}"));
        return match &*sessions::sessions(path).map_err(refuse)?.1 {
            [id] => Ok(Some((path.to_owned(), id.clone()))),
            ids => Err(refuse(format!("it holds {} sessions: name one as {name}#ID", ids.len()))),
        };
    }
    let named = path.to_str().and_then(|it| it.rsplit_once('#'));
    let named = named.map(|(store, id)| (PathBuf::from(store), id.to_owned()));
    Ok(named.filter(|it| it.0.is_file() && sessions::is_store(&it.0)))
}

fn stored(store: &Path, id: &str) -> Result<Loaded, Failure> {
    let name = format!("{}#{id}", store.display());
    let (dialect, blobs) =
        sessions::blobs(store, id).map_err(|it| Failure::Refused(format!("{name}: {it}")))?;
    let (path, stamps) = (None, Vec::new());
    Ok(Loaded { name, path, blobs, dialect: Some(dialect), stamps, is_of_a_store: true })
}

/// The path of the session `name`, and its dialect if the place reveals it.
pub(crate) fn locate(
    name: &Path,
    from: Option<Dialect>,
) -> Result<(PathBuf, Option<Dialect>), Failure> {
    if let Some(text) = name.to_str()
        && !name.exists()
        && let Some(found) = named(text, from)?
    {
        return Ok((found.path, Some(found.dialect)));
    }
    Ok((name.to_owned(), None))
}

fn piped(name: &str, from: impl Read, max_bytes: u64) -> Result<Loaded, Failure> {
    let mut bytes = Vec::new();
    let read = from.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes);
    match read.map_err(|it| Failure::read(name, it))? as u64 {
        n if n > max_bytes => return Err(Failure::too_large(name, max_bytes)),
        _ => expect_known(&bytes, name)?,
    }
    Ok(Loaded {
        name: name.to_owned(),
        path: None,
        blobs: vec![Blob::new("", bytes)],
        dialect: None,
        stamps: Vec::new(),
        is_of_a_store: false,
    })
}

/// Refuses documents of unsupported and unknown formats, as every command does (RG-10).
fn expect_known(bytes: &[u8], name: &str) -> Result<(), Failure> {
    match Format::refused(bytes, name) {
        Some(refusal) => Err(Failure::document(refusal, name, Vec::new())),
        None => Ok(()),
    }
}

/// The session with this id, or `latest`.
fn named(text: &str, from: Option<Dialect>) -> Result<Option<Found>, Failure> {
    let (latest, dialect) = match text.split_once(':') {
        Some(("latest", dialect)) => {
            let dialect = dialect.parse::<Dialect>();
            (true, Some(dialect.map_err(|it| Failure::Usage(it.to_string()))?))
        }
        _ => (text == "latest", from),
    };
    if !latest && (text.contains(['/', '\\', '.', '#']) || text.len() < 6) {
        return Ok(None);
    }
    let found = sessions::scan(dialect, &mut Vec::new());
    if latest {
        let res = found.into_iter().max_by_key(|it| it.changed);
        return res.map(Some).ok_or_else(|| {
            Failure::Refused("no session was found where agents put them".to_owned())
        });
    }
    let mut found: Vec<_> =
        found.into_iter().filter(|it| sessions::id(&it.path).contains(text)).collect();
    match found.len() {
        0 => Ok(None),
        1 => Ok(found.pop()),
        count => Err(Failure::Usage(format!("{count} sessions have {text} in their ids"))),
    }
}

fn read(path: &Path, max_bytes: u64) -> Result<Loaded, Failure> {
    let name = path.display().to_string();
    let meta = fs::metadata(path).map_err(|it| Failure::read(&name, explained(path, it)))?;
    let files = if meta.is_dir() { folder_files(path) } else { session_files(path) };
    let (root, files) = files.map_err(|it| Failure::read(&name, it))?;
    let mut loaded = Loaded {
        name: name.clone(),
        path: Some(root.clone()),
        blobs: Vec::new(),
        dialect: None,
        stamps: Vec::new(),
        is_of_a_store: false,
    };
    let mut left = max_bytes;
    for file in files {
        let stamp = Stamp::of(&file).map_err(|it| Failure::read(&name, it))?;
        left = left.checked_sub(stamp.len).ok_or_else(|| Failure::too_large(&name, max_bytes))?;
        let bytes = fs::read(&file).map_err(|it| Failure::read(&name, it))?;
        step();
        if !stamp.holds() {
            return Err(stamp.grew());
        }
        let relative = file.strip_prefix(&root).unwrap_or(&file);
        let blob = if relative.as_os_str().is_empty() { &file } else { relative };
        loaded.blobs.push(Blob::new(slashes(blob), bytes));
        loaded.stamps.push(stamp);
    }
    Ok(loaded)
}

/// A path with `/`, as the library expects; or the file name.
fn slashes(path: &Path) -> String {
    if path.is_absolute() {
        return path.file_name().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
    }
    let parts: Vec<_> = path.iter().map(|it| it.to_string_lossy()).collect();
    parts.join("/")
}

type Files = (PathBuf, Vec<PathBuf>);

/// The files of a folder that is one session: OpenHands, or opencode's storage.
fn folder_files(path: &Path) -> io::Result<Files> {
    let mut files = Vec::new();
    if path.join("events").is_dir() {
        files.extend(Some(path.join("base_state.json")).filter(|it| it.is_file()));
        json_files(&path.join("events"), &mut files)?;
    } else {
        let root =
            if path.join("storage").is_dir() { path.join("storage") } else { path.to_owned() };
        for kind in ["session", "message", "part"] {
            let kind = root.join(kind);
            // The oldest versions have parts outside a folder for their message.
            for folder in [kind.clone()].into_iter().filter(|it| it.is_dir()).chain(folders(&kind))
            {
                json_files(&folder, &mut files)?;
            }
        }
        if !files.is_empty() {
            return Ok((root, files));
        }
    }
    match files.is_empty() {
        true => Err(io::Error::other("it is a directory, and no session of OpenHands or opencode")),
        false => Ok((path.to_owned(), files)),
    }
}

/// The file or folder of a session, and the current state of its files; empty for stores and standard input.
pub(crate) fn files_of(path: &Path) -> io::Result<(PathBuf, Vec<Stamp>)> {
    let (root, files) = if path.is_dir() { folder_files(path) } else { session_files(path) }?;
    let stamps: io::Result<_> = files.iter().map(|it| Stamp::of(it)).collect();
    Ok((root, stamps?))
}

/// Whether a folder is one session: of OpenHands or opencode.
pub(crate) fn is_a_session(folder: &Path) -> bool {
    folder_files(folder).is_ok()
}

/// Whether a path is a file that is a session by itself.
pub(crate) fn is_alone(path: &Path) -> bool {
    path.is_file()
        && !sessions::is_store(path)
        && session_files(path).is_ok_and(|it| it.1.len() == 1)
}

/// The files that belong to a file: the messages and parts of an opencode session.
fn session_files(path: &Path) -> io::Result<Files> {
    let alone = (path.to_owned(), vec![path.to_owned()]);
    let Some(storage) = opencode_storage(path) else { return Ok(alone) };
    let id = path.file_stem().unwrap_or_default();
    let folder = storage.join("message").join(id);
    if !folder.is_dir() {
        return Ok(alone);
    }
    let (mut messages, mut parts) = (Vec::new(), Vec::new());
    json_files(&folder, &mut messages)?;
    for message in &messages {
        let folder = storage.join("part").join(message.file_stem().unwrap_or_default());
        if folder.is_dir() {
            json_files(&folder, &mut parts)?;
        }
    }
    let files = [vec![path.to_owned()], messages, parts].concat();
    Ok((storage, files))
}

/// The storage folder of a file `session/PROJECT/ses_….json`.
fn opencode_storage(path: &Path) -> Option<PathBuf> {
    let sessions = path.parent()?.parent()?;
    (sessions.file_name()? == "session").then(|| sessions.parent().map(Path::to_owned))?
}

fn folders(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(path) else { return Vec::new() };
    let mut res: Vec<_> = entries.flatten().map(|it| it.path()).filter(|it| it.is_dir()).collect();
    res.sort();
    res
}

fn json_files(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|it| it == "json") && path.is_file() {
            found.push(path);
        }
    }
    found.sort();
    files.extend(found);
    Ok(())
}

// A session file read by offset, not held in memory: JSON lines of any size (SE-2).

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

/// How much of a file to inspect to recognise its format.
const HEAD: u64 = 1 << 20;

impl FileSource {
    /// The first lines, or all if there are few.
    fn head(&self) -> io::Result<Vec<u8>> {
        let mut res = Vec::new();
        (&self.file).take(HEAD.min(self.len)).read_to_end(&mut res)?;
        let is_all = res.len() as u64 == self.len;
        if let Some(end) = memchr::memrchr(b'\n', &res).filter(|_| !is_all) {
            res.truncate(end);
        }
        Ok(res)
    }
}

impl ReadAt for FileSource {
    fn size(&self) -> u64 {
        self.len
    }

    /// Bytes appended since the file was opened are not part of this session.
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
    /// Its name in messages.
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) source: FileSource,
    pub(crate) stamp: Stamp,
    dialect: Option<Dialect>,
}

impl SessionFile {
    /// Opens the session `name` if it is a single file.
    pub(crate) fn open(name: &Path, from: Option<Dialect>) -> Result<Option<Self>, Failure> {
        if name.as_os_str() == "-" || is_pipe(name) {
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

    /// The session, if it is of JSON lines.
    pub(crate) fn session(&self) -> Result<Option<LargeSession<'_>>, Error> {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let session = match self.dialect {
            Some(dialect) => LargeSession::named(dialect, name, &self.source),
            None => LargeSession::recognise(name, &self.source),
        };
        match session {
            Ok(session) => Ok(Some(session)),
            // A document can only be recognised as a whole.
            Err(Error::NotLines { .. } | Error::UnknownDialect) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// The recorded responses of a session's bytes, in order.
pub(crate) fn responses(dialect: Dialect, bytes: &[u8]) -> impl Iterator<Item = Response> {
    recorded_responses(dialect, bytes).into_iter().map(|it| Response {
        record: it.record,
        chain: it.chain,
        time: it.time,
        model: it.model,
        version: it.version,
        usage: CacheUsage::read(it.usage.as_bytes()).unwrap_or_default(),
        cost: it.cost.and_then(|it| it.parse().ok()).filter(|it| *it >= 0.0),
        after_compaction: it.after_compaction,
        after_question: it.after_question,
        thinks: it.thinks,
        sums_passes: it.has_server_tools || it.sums_calls,
    })
}

/// The ids of the recorded responses, in the same order.
pub(crate) fn ids(dialect: Dialect, bytes: &[u8]) -> Vec<Option<String>> {
    recorded_responses(dialect, bytes).into_iter().map(|it| it.id).collect()
}

/// The provider whose caching rules apply to an agent's requests.
pub(crate) fn provider(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::ClaudeCode | Dialect::ClaudeStream => "anthropic",
        Dialect::GeminiCli => "gemini",
        // Depends on the model; OpenAI's if nothing else is known.
        _ => "openai",
    }
}

/// The usage of a session: in total, by model and by day.
#[derive(Debug, Serialize)]
pub(crate) struct Used {
    pub(crate) responses: u64,
    pub(crate) cost: f64,
    /// Responses without a stated cost and without a model with a price.
    pub(crate) unpriced: u64,
    pub(crate) models: BTreeMap<String, Sum>,
    /// By day in UTC, as written; without responses that have no time.
    pub(crate) days: BTreeMap<String, Sum>,
}

/// Tokens and dollars of some responses. The first three add up to their prompts.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Sum {
    pub(crate) responses: u64,
    pub(crate) input: u64,
    pub(crate) cache_read: u64,
    pub(crate) cache_write: u64,
    pub(crate) output: u64,
    pub(crate) cost: f64,
    /// How many responses are missing in the cost, counted like [`Used::unpriced`].
    #[serde(skip)]
    pub(crate) unpriced: u64,
}

impl Sum {
    fn add(&mut self, usage: &CacheUsage, cost: Option<f64>) {
        self.responses += 1;
        self.input = self.input.saturating_add(usage.input);
        self.cache_read = self.cache_read.saturating_add(usage.read);
        self.cache_write = self.cache_write.saturating_add(usage.written());
        self.output = self.output.saturating_add(usage.output);
        // Rounded to picodollars, like the sums of the ledger.
        self.cost = ((self.cost + cost.unwrap_or(0.0)) * 1e12).round() / 1e12;
        self.unpriced += u64::from(cost.is_none());
    }
}

impl std::ops::AddAssign<&Sum> for Sum {
    fn add_assign(&mut self, other: &Sum) {
        self.responses += other.responses;
        self.input = self.input.saturating_add(other.input);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.output = self.output.saturating_add(other.output);
        self.cost = ((self.cost + other.cost) * 1e12).round() / 1e12;
        self.unpriced += other.unpriced;
    }
}

/// The usage of each recorded response of a session, with its id.
pub(crate) fn each(dialect: Dialect, bytes: &[u8]) -> Vec<(Option<String>, Sum)> {
    let mut ledger = SessionLedger::new(provider(dialect), LedgerOptions::default());
    let used = |response: Response| {
        let row = ledger.push(response);
        let mut sum = Sum::default();
        sum.add(&row.usage, row.cost);
        sum
    };
    let sums: Vec<_> = responses(dialect, bytes).map(used).collect();
    ids(dialect, bytes).into_iter().zip(sums).collect()
}

impl Used {
    /// The sum over all models.
    pub(crate) fn total(&self) -> Sum {
        let mut res = Sum::default();
        self.models.values().for_each(|it| res += it);
        res
    }

    /// The usage in a session's bytes; `None` if none was recorded.
    pub(crate) fn of(dialect: Dialect, bytes: &[u8]) -> Option<Self> {
        let mut ledger = SessionLedger::new(provider(dialect), LedgerOptions::default());
        let (mut models, mut days) = (BTreeMap::new(), BTreeMap::new());
        for response in responses(dialect, bytes) {
            let day = response.time.as_deref().and_then(|it| it.get(..10)).map(str::to_owned);
            let row = ledger.push(response);
            let model = row.model.unwrap_or_else(|| "unknown".to_owned());
            let add = |to: &mut BTreeMap<String, Sum>, key: String| {
                to.entry(key).or_default().add(&row.usage, row.cost);
            };
            add(&mut models, model);
            day.into_iter().for_each(|it| add(&mut days, it));
        }
        let LedgerTotals { requests, cost, unpriced, .. } = ledger.totals();
        (requests > 0).then_some(Self { responses: requests, cost, unpriced, models, days })
    }
}
