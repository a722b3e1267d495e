//! Options of reading a document, and options from a JSON object whose members are the flags of the command line in
//! snake case (SC-1, SC-14). They are parsed once and used for any number of documents.
//!
//! ```text
//! {"from":"openai","calls":"xml","max_bytes":1000000}
//! ```
//!
//! Unknown options and invalid values fail here, not with a document. The options of checks are elsewhere.

use std::{borrow::Cow, fmt::Display};

use msg_core::Provenance;
use serde::{Deserialize, de::DeserializeOwned};

use crate::fields::RowFields;
use crate::format::Format;
use crate::refusal::Refusal;
use crate::text_calls::CallForms;

/// Parses options from a JSON object.
///
/// Fails for unknown options and invalid values.
///
/// ```
/// use msg_formats::{ReadOptions, options_from_json};
///
/// let read: ReadOptions = options_from_json(br#"{"from":"openai"}"#)?;
/// assert!(read.from.is_some());
/// assert!(options_from_json::<ReadOptions>(br#"{"form":"openai"}"#).is_err());
/// # Ok::<(), msg_formats::Refusal>(())
/// ```
pub fn options_from_json<T: DeserializeOwned>(json: &[u8]) -> Result<T, Refusal> {
    if json.trim_ascii_start().first() != Some(&b'{') {
        return Err(Refusal::bad_option("options are not understood: expected a JSON object"));
    }
    let bad = |it: &dyn Display| Refusal::bad_option(format!("options are not understood: {it}"));
    let text = std::str::from_utf8(json).map_err(|it| bad(&it))?;
    // Members are read as text too: a reader of bytes would be there twice.
    serde_json::from_str(text).map_err(|it| bad(&it))
}

/// The members of the options of functions that only read.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ReadMembers {
    from: Option<Format>,
    calls: Option<CallForms>,
    max_bytes: Option<u64>,
}

impl From<ReadMembers> for ReadOptions {
    fn from(it: ReadMembers) -> Self {
        let read =
            ReadOptions::default().with_from(it.from).with_calls(it.calls.unwrap_or_default());
        let max_bytes = it.max_bytes.unwrap_or(read.max_bytes);
        read.with_max_bytes(max_bytes)
    }
}

/// Options of reading a document.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(from = "ReadMembers")]
pub struct ReadOptions {
    /// Its format [default: recognised].
    pub from: Option<Format>,
    /// The name of its file, which decides if several formats fit; `""` if unknown.
    pub name: Cow<'static, str>,
    /// The formats that are accepted.
    pub accept: Accept,
    /// Where to look for tool calls.
    pub calls: CallForms,
    /// Who made the assistant messages, if the document does not state it.
    pub made_by: Option<Provenance>,
    /// The maximum size in bytes (SC-16).
    pub max_bytes: u64,
    /// The paths of its conversations, if it is a row. Used by `check`, `repair`, `convert`, `stats` and `fit` of
    /// msg-document; to read the document directly, extract its conversations first.
    pub fields: RowFields,
}

/// The default size limit of a document: 256 MiB.
const MAX_BYTES: u64 = 256 << 20;

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions {
            from: None,
            name: Cow::Borrowed(""),
            accept: Accept::All,
            calls: CallForms::Auto,
            made_by: None,
            max_bytes: MAX_BYTES,
            fields: RowFields::default(),
        }
    }
}

/// Which formats are accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Accept {
    /// All formats.
    #[default]
    All,
    /// Formats that fit on a line: text that looks like Markdown is then reported as invalid JSON.
    Json,
}

impl ReadOptions {
    msg_core::setters! {
        new;
        /// Sets the format; `None` recognises it.
        with_from(from: Option<Format>);
        /// Sets the name of the file, which decides if several formats fit.
        with_name(name: impl Into<Cow<'static, str>>) name = name.into();
        /// Sets which formats are accepted.
        with_accept(accept: Accept);
        /// Sets where to look for tool calls.
        with_calls(calls: CallForms);
        /// Sets who made the assistant messages.
        with_made_by(made_by: Option<Provenance>);
        /// Sets the paths of the conversations of a row.
        with_fields(fields: RowFields);
        /// Sets the maximum size in bytes.
        with_max_bytes(max_bytes: u64);
    }

    /// Refuses a document that is too large, before it is read.
    ///
    /// Fails if it has more than [`ReadOptions::max_bytes`].
    pub fn expect_size(&self, bytes: &[u8]) -> Result<(), Refusal> {
        match msg_session::Blob::size_of(bytes) > self.max_bytes {
            true => Err(Refusal::too_large(self.max_bytes)),
            false => Ok(()),
        }
    }
}
