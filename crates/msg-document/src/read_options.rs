//! How a document is read.

use std::borrow::Cow;

use msg_core::Provenance;
use serde::Deserialize;

use crate::fields::RowFields;
use crate::format::Format;
use crate::options::ReadMembers;
use crate::refusal::Refusal;
use crate::text_calls::CallForms;

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
    /// and `fit`; whoever reads the document itself takes its [`Row`](crate::Row) apart first.
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
    /// The format is this one.
    #[must_use]
    pub fn with_from(mut self, from: Option<Format>) -> Self {
        self.from = from;
        self
    }

    /// It is called so.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.name = name.into();
        self
    }

    /// It is in one of these formats.
    #[must_use]
    pub fn with_accept(mut self, accept: Accept) -> Self {
        self.accept = accept;
        self
    }

    /// Its calls are there.
    #[must_use]
    pub fn with_calls(mut self, calls: CallForms) -> Self {
        self.calls = calls;
        self
    }

    /// These made the assistant's messages.
    #[must_use]
    pub fn with_made_by(mut self, made_by: Option<Provenance>) -> Self {
        self.made_by = made_by;
        self
    }

    /// Its conversations are there.
    #[must_use]
    pub fn with_fields(mut self, fields: RowFields) -> Self {
        self.fields = fields;
        self
    }

    /// It has at most so many bytes.
    #[must_use]
    pub fn with_max_bytes(mut self, max_bytes: u64) -> Self {
        self.max_bytes = max_bytes;
        self
    }

    /// Refuses what is too large, before anything is made of it.
    pub(crate) fn expect_size(&self, bytes: &[u8]) -> Result<(), Refusal> {
        match msg_session::Blob::size_of(bytes) > self.max_bytes {
            true => Err(Refusal::too_large(self.max_bytes)),
            false => Ok(()),
        }
    }
}
