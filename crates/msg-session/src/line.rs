//! A session as a line of JSON (SE-91): its bytes as text or base64, its dialect, and options.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};

use crate::{Blob, Dialect, Error, Finding, Session, SessionOptions};

/// A session in a line.
///
/// ```
/// use msg_session::{Dialect, Line};
///
/// let json = br#"{"name":"s.jsonl","dialect":"goose","input":"{\"working_dir\":\"/\"}"}"#;
/// let line = Line::read(json).expect("because it has the form of a line")?;
/// assert_eq!(line.session(None)?.dialect(), Dialect::Goose);
/// # Ok::<(), msg_session::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The session's name, by which it may be recognised; `""` if it has none.
    pub name: String,
    /// Whose session it is, if the line says so.
    pub dialect: Option<Dialect>,
    /// The bytes of the session.
    pub bytes: Vec<u8>,
    /// The options of the line, as they are there.
    pub options: SessionOptions,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    #[serde(default)]
    name: String,
    dialect: Option<String>,
    input: Option<String>,
    input_b64: Option<String>,
    #[serde(default)]
    options: SessionOptions,
}

impl Line {
    /// Reads a line; none if the JSON has another form, such as that of a session itself.
    ///
    /// # Errors
    /// It has the form, with a dialect that does not exist, or input that is not base64.
    pub fn read(json: &[u8]) -> Option<Result<Self, Error>> {
        let form: Form = serde_json::from_slice(json).ok()?;
        let bytes = match (&form.input, &form.input_b64) {
            (Some(text), None) => Some(text.clone().into_bytes()),
            (None, Some(text)) => BASE64_STANDARD.decode(text).ok(),
            _ => return None,
        };
        let dialect = form.dialect.as_deref().map(str::parse).transpose();
        Some(dialect.and_then(|dialect| {
            let bytes = bytes.ok_or(Error::BadBase64)?;
            Ok(Self { name: form.name, dialect, bytes, options: form.options })
        }))
    }

    /// The session, of the dialect of the line, else the named one, else recognised.
    ///
    /// # Errors
    /// It is a session of another dialect, or of none that is known.
    pub fn session(&self, named: Option<Dialect>) -> Result<Session, Error> {
        let blobs = vec![Blob::new(self.name.clone(), self.bytes.clone())];
        match self.dialect.or(named) {
            Some(dialect) => Session::named(dialect, blobs),
            None => Session::recognise(blobs),
        }
    }

    /// Mends the session, by the options of the line over those of `base`.
    ///
    /// ```
    /// use msg_session::{Line, SessionOptions};
    ///
    /// let line = Line::read(br#"{"dialect":"goose","input":"{\"working_dir\":\"/\"}\n{\"role\""}"#);
    /// let line = line.expect("because it has the form of a line")?;
    /// let mended = line.repair(None, &SessionOptions::default())?;
    /// assert!(!mended.ok && mended.findings[0].code == "session::torn-tail" && mended.changed);
    /// # Ok::<(), msg_session::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Line::session`] and [`Session::repair`].
    pub fn repair(
        &self,
        named: Option<Dialect>,
        base: &SessionOptions,
    ) -> Result<MendedLine, Error> {
        let mut session = self.session(named)?;
        let findings = session.repair(&self.options.clone().over(base))?;
        let mended = session.blobs().first().filter(|it| it.bytes != self.bytes);
        Ok(MendedLine {
            dialect: session.dialect(),
            ok: !findings.iter().any(Finding::is_error),
            findings,
            judged: session.dialect().is_judged(),
            changed: mended.is_some(),
            output_b64: mended.map(|it| BASE64_STANDARD.encode(&it.bytes)),
        })
    }
}

/// What is answered to a line; its JSON is the line of `msg doctor --jsonl`.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct MendedLine {
    /// Whose session it is.
    pub dialect: Dialect,
    /// Whether nothing in it keeps it from being resumed.
    pub ok: bool,
    /// What is wrong with it; what was mended is done.
    pub findings: Vec<Finding>,
    /// Whether there are rules for the dialect (SE-146); not in JSON where there are.
    #[serde(skip_serializing_if = "is_true")]
    pub judged: bool,
    /// Whether it was mended.
    pub changed: bool,
    /// The mended session, in base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_b64: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_true(it: &bool) -> bool {
    *it
}
