//! A session as a line of JSON (SE-91): its bytes as text or base64, its dialect, and options.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;

use crate::{Blob, Dialect, Error, RepairOptions, Session};

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
    /// The options of the line, as they stand there.
    pub options: RepairOptions,
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
    options: RepairOptions,
}

impl Line {
    /// Reads a line; none if the JSON has another form, such as that of a session itself.
    ///
    /// # Errors
    /// It has the form, with a dialect that does not exist, or input that is no base64.
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
}
