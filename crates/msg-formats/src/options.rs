//! How a document is read, and options from a JSON object whose members are the flags of the command line in snake case
//! (SC-1, SC-14): made once, and used for any number of documents.
//!
//! ```text
//! {"from":"openai","calls":"xml","max_bytes":1000000}
//! ```
//!
//! An option that does not exist, and a value that it cannot have, fail here and not at a document. What a document is
//! judged by is not an option of these.

use std::{borrow::Cow, fmt::Display};

use msg_core::Provenance;
use serde::{Deserialize, de::DeserializeOwned};

use crate::fields::RowFields;
use crate::format::Format;
use crate::refusal::Refusal;
use crate::text_calls::CallForms;

/// Options from the JSON object of them.
///
/// Fails for an option that does not exist, and for a value that it cannot have.
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

/// How a document is read.
#[derive(Debug, Clone, Deserialize)]
#[serde(from = "ReadMembers")]
pub struct ReadOptions {
    /// Its format; recognised if not given.
    pub from: Option<Format>,
    /// Its name, which decides where its shape leaves a choice; `""` if unknown.
    pub name: Cow<'static, str>,
    /// Which formats it may be in.
    pub accept: Accept,
    /// Where its calls are.
    pub calls: CallForms,
    /// Who made the assistant's messages, where the document does not say it.
    pub made_by: Option<Provenance>,
    /// The most bytes that it may have (SC-16).
    pub max_bytes: u64,
    /// Where its conversations are, if it is a row that holds them. Looked at by `check`, `repair`, `convert`, `stats`
    /// and `fit` of msg-document; whoever reads the document itself takes its row apart first.
    pub fields: RowFields,
}

/// The most bytes of a document where nothing else is said: 256 MiB.
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

/// Which formats a document may be in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Accept {
    /// All of them.
    #[default]
    All,
    /// Those that fit on a line: text that looks like Markdown is just no JSON.
    Json,
}

impl ReadOptions {
    msg_core::setters! {
        /// The format is this one.
        with_from(from: Option<Format>);
        /// It is called so.
        with_name(name: impl Into<Cow<'static, str>>) name = name.into();
        /// It is in one of these formats.
        with_accept(accept: Accept);
        /// Its calls are there.
        with_calls(calls: CallForms);
        /// These made the assistant's messages.
        with_made_by(made_by: Option<Provenance>);
        /// Its conversations are there.
        with_fields(fields: RowFields);
        /// It has at most so many bytes.
        with_max_bytes(max_bytes: u64);
    }

    /// Refuses what is too large, before anything is made of it.
    ///
    /// Fails for more bytes than [`ReadOptions::max_bytes`].
    pub fn expect_size(&self, bytes: &[u8]) -> Result<(), Refusal> {
        match msg_session::Blob::size_of(bytes) > self.max_bytes {
            true => Err(Refusal::too_large(self.max_bytes)),
            false => Ok(()),
        }
    }
}
