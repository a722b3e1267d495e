//! A session: its blobs and its dialect, and what can be asked of them (SE-1).

use msg_core::Message;

use crate::dialects::{self, Checked};
use crate::effect::judge;
use crate::finding::{Finding, sort};
use crate::large::LargeSession;
use crate::options::SessionOptions;
use crate::source::Blob;
use crate::view::View;
use crate::{Dialect, Error};

/// A session that an agent left on disk.
///
/// ```
/// use msg_session::{Blob, Dialect, SessionOptions, Session};
///
/// let line = r#"{"type":"user","uuid":"u1","parentUuid":null,"timestamp":"2026-11-20T10:00:00Z","message":{"role":"user","content":"Hi"}}"#;
/// let torn = format!("{line}\n{{\"type\":\"ass");
/// let mut session = Session::new(Dialect::ClaudeCode, vec![Blob::new("s.jsonl", torn)]);
///
/// assert_eq!(session.read(&SessionOptions::default())?.messages[0].text(), "Hi");
/// let findings = session.repair(&SessionOptions::default())?;
/// assert_eq!(findings[0].code, "session::torn-tail");
/// assert_eq!(session.blobs()[0].bytes, format!("{line}\n").as_bytes());
/// # Ok::<(), msg_session::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    dialect: Dialect,
    blobs: Vec<Blob>,
}

/// How often a mended session is mended again, for what only a mend brought to light.
const ROUNDS: usize = 4;

impl Session {
    /// A session of a dialect that is known.
    pub fn new(dialect: Dialect, blobs: Vec<Blob>) -> Self {
        Self { dialect, blobs }
    }

    /// A session whose dialect is recognised (SE-10).
    ///
    /// # Errors
    /// Nothing says which agent wrote it.
    pub fn recognise(blobs: Vec<Blob>) -> Result<Self, Error> {
        let dialect = crate::detect::detect(&blobs)?;
        Ok(Self { dialect, blobs })
    }

    /// A session of the dialect that somebody named, which is reported if it is another one (SE-10).
    ///
    /// # Errors
    /// It is a session of another dialect.
    pub fn named(dialect: Dialect, blobs: Vec<Blob>) -> Result<Self, Error> {
        match crate::detect::detect(&blobs) {
            Ok(other) if other != dialect && !crate::detect::could_be(dialect, &blobs) => {
                Err(Error::WrongDialect { dialect, looks_like: Some(other) })
            }
            _ => Ok(Self { dialect, blobs }),
        }
    }

    /// Whose session it is.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Where the list of messages is in the text of a store of a framework; none of other sessions, of lines, and of
    /// what is damaged.
    ///
    /// ```
    /// use msg_session::{Blob, Dialect, Session};
    ///
    /// let state = r#"{"v":1,"channel_values":{"messages":[{"type":"human","content":"hi"}]}}"#;
    /// let session = Session::new(Dialect::LangChain, vec![Blob::new("", state)]);
    /// let span = session.list_of_messages().expect("because there is one");
    /// assert_eq!(&state[span], r#"[{"type":"human","content":"hi"}]"#);
    /// ```
    pub fn list_of_messages(&self) -> Option<std::ops::Range<usize>> {
        let store = dialects::frameworks::store(self.dialect)?;
        let [blob] = self.blobs.as_slice() else { return None };
        store.list_span(std::str::from_utf8(&blob.bytes).ok()?)
    }

    /// The bytes, unchanged where nothing was mended.
    pub fn blobs(&self) -> &[Blob] {
        &self.blobs
    }

    /// Gives the bytes away.
    pub fn into_blobs(self) -> Vec<Blob> {
        self.blobs
    }

    /// What the session says along its active path. What keeps it from being read at all is mended in
    /// memory and reported (SE-7). Linear.
    ///
    /// # Errors
    /// It has no record of its dialect, or not the leaf that was asked for.
    pub fn read(&self, options: &SessionOptions) -> Result<View, Error> {
        let mut view = dialects::view(self.dialect, &self.blobs, options)?;
        sort(&mut view.findings);
        let (dialect, messages) = (self.dialect.name(), view.messages.len());
        tracing::debug!(dialect, messages, findings = view.findings.len(), "session read");
        Ok(view)
    }

    /// The messages along the active path.
    ///
    /// # Errors
    /// As [`Session::read`].
    pub fn messages(&self) -> Result<Vec<Message>, Error> {
        self.read(&SessionOptions::default()).map(|it| it.messages)
    }

    /// What is wrong, in the order of the file. Linear.
    ///
    /// # Errors
    /// As [`Session::read`].
    pub fn check(&self, options: &SessionOptions) -> Result<Vec<Finding>, Error> {
        let mut findings = self.checked(options)?.findings;
        findings.iter_mut().for_each(|it| it.done = false);
        Ok(findings)
    }

    /// Mends it and says what was wrong, in the order of the file that it was. Mending again changes
    /// nothing; a sound session is never changed; bytes that no mend names stay (SE-5, SE-6).
    ///
    /// # Errors
    /// As [`Session::read`]; then nothing is changed.
    pub fn repair(&mut self, options: &SessionOptions) -> Result<Vec<Finding>, Error> {
        let Checked { findings, changed } = self.checked(options)?;
        tracing::debug!(dialect = self.dialect.name(), findings = findings.len(), "session mended");
        let mut round = changed;
        // The message of a provider is about the session as it was.
        let again = SessionOptions { error: None, ..options.clone() };
        for _ in 0..ROUNDS {
            if !dialects::make(round, &mut self.blobs) {
                break;
            }
            round = self.checked(&again)?.changed;
        }
        Ok(findings)
    }

    /// How many records a session of lines has; 0 of any other one.
    pub(crate) fn record_count(&self) -> usize {
        let Some(blob) = self.blobs.first() else { return 0 };
        match dialects::format(self.dialect).line_rules(&blob.name, &blob.bytes) {
            Some(_) => crate::frame::read_lines(&blob.bytes, u64::MAX).records.len(),
            None => 0,
        }
    }

    pub(crate) fn checked(&self, options: &SessionOptions) -> Result<Checked, Error> {
        let nothing = Blob::default();
        let first = self.blobs.first().unwrap_or(&nothing);
        if let Some(lines) = LargeSession::of_blob(self.dialect, first) {
            return lines.check(options)?.into_checked();
        }
        let mut res = dialects::format(self.dialect).check(&self.blobs, options)?;
        let error = options.error.as_deref();
        res.findings.extend(error.and_then(|it| self.about(it)));
        sort(&mut res.findings);
        judge(self.dialect, options.agent_version.as_deref(), &mut res.findings);
        Ok(res)
    }
}

impl Blob {
    /// How many bytes are read of a file: of an archive what its files say that they have unpacked, or what it has
    /// itself if that is more. A limit of bytes counts these.
    ///
    /// ```
    /// assert_eq!(msg_session::Blob::size_of(b"{}"), 2);
    /// ```
    pub fn size_of(bytes: &[u8]) -> u64 {
        let own = bytes.len() as u64;
        crate::dialects::unpacked_size(bytes).map_or(own, |it| it.max(own))
    }
}
