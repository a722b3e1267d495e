//! A session of JSON lines that is read piece by piece (SE-2): diagnosed by an excerpt, and mended from the
//! old bytes to the new ones without being held. Files of gigabytes, lines of hundreds of megabytes.

use std::io::Write;

use crate::about::about;
use crate::branches::Branch;
use crate::dialects::{self, Change, Checked, LineRules, Mends};
use crate::effect::Effect;
use crate::effect::judge;
use crate::excerpt;
use crate::finding::{Finding, SessionPlace, sort};
use crate::frame::Lines;
use crate::options::SessionOptions;
use crate::source::{ReadAt, fill};
use crate::view::PartOrigin;
use crate::{Blob, Dialect, Error, Session};

/// How much of the beginning says what form a session has.
const START: usize = 1 << 20;

/// How much is looked at where that says nothing.
const LONG_START: usize = 64 << 20;

/// A session of JSON lines whose bytes stay where they are: claude-code, codex, gemini-cli and goose.
///
/// ```
/// use msg_session::{Dialect, LargeSession, SessionOptions};
///
/// let line = r#"{"type":"user","uuid":"u1","parentUuid":null,"timestamp":"2026-11-20T10:00:00Z","message":{"role":"user","content":"Hi"}}"#;
/// let torn = format!("{line}\n{{\"type\":\"ass");
/// let bytes = torn.as_bytes();
/// let session = LargeSession::recognise("s.jsonl", &bytes)?;
/// let diagnosis = session.check(&SessionOptions::default())?;
/// assert_eq!(diagnosis.findings()[0].code, "session::torn-tail");
///
/// let mut mended = Vec::new();
/// diagnosis.write(&mut mended)?;
/// assert_eq!(mended, format!("{line}\n").as_bytes());
/// # Ok::<(), msg_session::Error>(())
/// ```
#[derive(Clone)]
pub struct LargeSession<'s> {
    dialect: Dialect,
    name: String,
    source: &'s dyn ReadAt,
    rules: &'static dyn LineRules,
}

impl std::fmt::Debug for LargeSession<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let res = &mut f.debug_struct("LargeSession");
        res.field("dialect", &self.dialect).field("name", &self.name).finish_non_exhaustive()
    }
}

impl<'s> LargeSession<'s> {
    /// A session of a dialect that is known.
    ///
    /// # Errors
    /// It is none of JSON lines, or cannot be read.
    pub fn new(
        dialect: Dialect,
        name: impl Into<String>,
        source: &'s dyn ReadAt,
    ) -> Result<Self, Error> {
        let name = name.into();
        let start = start(source, START)?;
        let rules = dialects::format(dialect).line_rules(&name, &start);
        let rules = rules.ok_or(Error::NotLines { dialect })?;
        Ok(Self { dialect, name, source, rules })
    }

    /// A session whose dialect is recognised by its name and its beginning (SE-10).
    ///
    /// # Errors
    /// Nothing says which agent wrote it, it is none of JSON lines, or it cannot be read.
    pub fn recognise(name: impl Into<String>, source: &'s dyn ReadAt) -> Result<Self, Error> {
        let name = name.into();
        Self::new(recognised(&name, source)?, name, source)
    }

    /// A session of the dialect that somebody named, which is reported if it is another one (SE-10).
    ///
    /// # Errors
    /// It is a session of another dialect, or as [`LargeSession::new`].
    pub fn named(
        dialect: Dialect,
        name: impl Into<String>,
        source: &'s dyn ReadAt,
    ) -> Result<Self, Error> {
        let name = name.into();
        let blobs = vec![Blob::new(name.clone(), start(source, START)?)];
        Session::named(dialect, blobs)?;
        Self::new(dialect, name, source)
    }

    /// A blob that is held, if it is of JSON lines.
    pub(crate) fn of_blob(dialect: Dialect, blob: &'s Blob) -> Option<Self> {
        let rules = dialects::format(dialect).line_rules(&blob.name, &blob.bytes)?;
        Some(Self { dialect, name: blob.name.clone(), source: blob, rules })
    }

    /// Whose session it is.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Where its bytes are.
    pub(crate) fn source(&self) -> &'s dyn ReadAt {
        self.source
    }

    /// What is wrong, and what would mend it. One pass over the bytes; what is held is an excerpt of each
    /// record, and one record.
    ///
    /// # Errors
    /// It cannot be read, or does not have the leaf that was asked for.
    pub fn check(&self, options: &SessionOptions) -> Result<Diagnosis<'s>, Error> {
        let lines = excerpt::read(self.source, options.max_record)?;
        let mut mends = self.rules.check_lines(&lines, &self.name, options)?;
        if let Some(elided) = &lines.elided {
            elided.failure()?;
        }
        let error = options.error.as_deref();
        mends
            .findings
            .extend(error.and_then(|it| about(self.dialect, it, &self.name, self.source)));
        sort(&mut mends.findings);
        judge(self.dialect, options.agent_version.as_deref(), &mut mends.findings);
        Ok(Diagnosis { lines, mends })
    }

    /// The other ways through the session, as [`Session::branches`] gives them.
    ///
    /// # Errors
    /// As [`LargeSession::check`].
    pub fn branches(&self, options: &SessionOptions) -> Result<Vec<Branch>, Error> {
        let lines = excerpt::read(self.source, options.max_record)?;
        Ok(self.rules.view_lines(&lines, options)?.branches)
    }

    /// The places that the message of a provider names, as [`crate::View::named_by`] gives them.
    ///
    /// # Errors
    /// As [`LargeSession::check`].
    pub fn named_by(
        &self,
        error: &str,
        options: &SessionOptions,
    ) -> Result<Vec<SessionPlace>, Error> {
        let lines = excerpt::read(self.source, options.max_record)?;
        let named = self.rules.view_lines(&lines, options)?.named_by(error);
        let place =
            |it: PartOrigin| SessionPlace { block: it.block, ..lines.place(it.record as usize) };
        Ok(named.into_iter().map(place).collect())
    }
}

/// What the beginning says; if it says nothing, a longer one, for a first line of megabytes.
fn recognised(name: &str, source: &dyn ReadAt) -> Result<Dialect, Error> {
    use crate::detect::detect;
    let found = detect(&[Blob::new(name, start(source, START)?)]);
    match found {
        Err(Error::UnknownDialect) if source.size() > START as u64 => {
            detect(&[Blob::new(name, start(source, LONG_START)?)])
        }
        found => found,
    }
}

fn start(source: &dyn ReadAt, most: usize) -> Result<Vec<u8>, Error> {
    let mut res = vec![0; usize::try_from(source.size()).unwrap_or(most).min(most)];
    let len = fill(source, 0, &mut res)?;
    res.truncate(len);
    Ok(res)
}

/// What was found in a [`LargeSession`].
pub struct Diagnosis<'s> {
    lines: Lines<'s>,
    mends: Mends,
}

impl std::fmt::Debug for Diagnosis<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Diagnosis").field("mends", &self.mends).finish_non_exhaustive()
    }
}

impl Diagnosis<'_> {
    /// The findings, in the order of the file; those that [`Diagnosis::write`] mends are done.
    pub fn findings(&self) -> &[Finding] {
        &self.mends.findings
    }

    /// Whether anything is mended.
    pub fn is_changed(&self) -> bool {
        self.mends.is_changed
    }

    /// How much [`Diagnosis::write`] changes.
    pub fn effect(&self) -> Effect {
        match &self.lines.elided {
            Some(it) if self.mends.is_changed => it.effect(&self.lines.text, &self.mends.edits),
            _ => Effect::default(),
        }
    }

    /// Writes the mended session. What only a mend brought to light is found when it is checked again.
    /// One more pass over the bytes.
    ///
    /// # Errors
    /// The session cannot be read again, or not written.
    pub fn write(self, out: &mut dyn Write) -> Result<Vec<Finding>, Error> {
        if let Some(elided) = &self.lines.elided {
            elided.write(self.mends.edits, out)?;
        }
        Ok(self.mends.findings)
    }

    /// The findings alone, as of a session that is not mended; all else that is held goes.
    pub fn into_findings(self) -> Vec<Finding> {
        let mut res = self.mends.findings;
        res.iter_mut().for_each(|it| it.done = false);
        res
    }

    /// As the outcome for a session that is held.
    pub(crate) fn into_checked(self) -> Result<Checked, Error> {
        if !self.is_changed() {
            return Ok(Checked { findings: self.mends.findings, changed: Vec::new() });
        }
        let mut bytes = Vec::new();
        let findings = self.write(&mut bytes)?;
        let changed = vec![Change { name: String::new(), bytes: Some(bytes) }];
        Ok(Checked { findings, changed })
    }
}
