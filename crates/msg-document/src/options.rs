//! Options from a JSON object whose members are the flags of the command line in snake case (SC-1,
//! SC-14): made once, and used for any number of documents.
//!
//! ```text
//! {"from":"openai","profile":"mistral","open":true}     check
//! {"profile":"mistral","orphans":"drop"}                repair
//! ```
//!
//! An option that does not exist, and a value that it cannot have, fail here and not at a document. How a document is read is
//! an option of all of them.

use std::{borrow::Cow, fmt::Display};

use msg_chainast::{BadArguments, First, Orphans, Profile, UnknownRole};
use msg_core::{InputRules, Provenance};
use serde::{Deserialize, de::DeserializeOwned};

use crate::fields::{FieldPath, JoinedPaths, RowFields, paths};
use crate::format::Format;
use crate::refusal::Refusal;
use crate::text_calls::CallForms;

/// Options from the JSON object of them.
///
/// Fails for an option that does not exist, and for a value that it cannot have.
///
/// ```
/// use msg_document::{CheckOptions, RepairOptions, options_from_json};
///
/// let check: CheckOptions = options_from_json(br#"{"profile":"mistral","open":true}"#)?;
/// assert!(check.profile.is_some());
/// assert!(options_from_json::<RepairOptions>(br#"{"orphans":"lose"}"#).is_err());
/// # Ok::<(), msg_document::Refusal>(())
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
        read(it.from, it.calls, it.max_bytes)
    }
}

/// What to check by.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(try_from = "CheckMembers")]
pub struct CheckOptions {
    /// How the document is read.
    pub read: ReadOptions,
    /// Also judge by what this provider accepts.
    pub profile: Option<Profile>,
    /// The rules of the chain.
    pub chain: msg_chainast::ChainCheckOptions,
    /// Also check each message by itself (MS-18).
    pub messages: Option<InputRules>,
}

impl CheckOptions {
    msg_core::setters! {
        /// The document is read so.
        with_read(read: ReadOptions);
        /// Judged by what this provider accepts, too.
        with_profile(profile: Profile) profile = Some(profile);
        /// These are the rules of the chain.
        with_chain(chain: msg_chainast::ChainCheckOptions);
        /// Each message is checked by itself, too.
        with_messages(rules: InputRules) messages = Some(rules);
    }
}

/// How to mend.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(try_from = "RepairMembers")]
pub struct RepairOptions {
    /// How the document is read.
    pub read: ReadOptions,
    /// What is mended, and how.
    pub chain: msg_chainast::ChainRepairOptions,
    /// Whether what is lost is an error.
    pub strict: bool,
}

impl RepairOptions {
    msg_core::setters! {
        /// The document is read so.
        with_read(read: ReadOptions);
        /// This is mended, and so.
        with_chain(chain: msg_chainast::ChainRepairOptions);
        /// What is lost is an error.
        with_strict() strict = true;
    }
}

/// The members of the options of `check`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct CheckMembers {
    from: Option<Format>,
    #[serde(deserialize_with = "paths")]
    field: Vec<FieldPath>,
    #[serde(deserialize_with = "paths")]
    join: Vec<JoinedPaths>,
    calls: Option<CallForms>,
    max_bytes: Option<u64>,
    model: Option<String>,
    provider: Option<String>,
    profile: Option<String>,
    for_model: Option<String>,
    request: bool,
    open: bool,
    messages: bool,
    max_chars: Option<usize>,
}

impl TryFrom<CheckMembers> for CheckOptions {
    type Error = Refusal;

    fn try_from(it: CheckMembers) -> Result<Self, Refusal> {
        if it.max_chars.is_some() && !it.messages {
            return Err(Refusal::bad_option("max_chars is for messages, which is false"));
        }
        let rules =
            || it.max_chars.map_or(InputRules::unlimited(), |max_chars| InputRules { max_chars });
        Ok(CheckOptions {
            read: read(it.from, it.calls, it.max_bytes)
                .with_fields(RowFields::of(it.field, it.join))
                .with_made_by(maker(it.model, it.provider)),
            profile: asked(it.profile.as_deref(), it.for_model)?,
            chain: chain_check(it.open, it.request),
            messages: it.messages.then(rules),
        })
    }
}

/// The members of the options of `repair`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct RepairMembers {
    from: Option<Format>,
    #[serde(deserialize_with = "paths")]
    field: Vec<FieldPath>,
    #[serde(deserialize_with = "paths")]
    join: Vec<JoinedPaths>,
    calls: Option<CallForms>,
    max_bytes: Option<u64>,
    model: Option<String>,
    provider: Option<String>,
    profile: Option<String>,
    for_model: Option<String>,
    request: bool,
    open: bool,
    orphans: Orphans,
    first: First,
    unknown_role: UnknownRole,
    arguments: BadArguments,
    all: bool,
    strict: bool,
    id_pattern: Option<String>,
}

impl TryFrom<RepairMembers> for RepairOptions {
    type Error = Refusal;

    fn try_from(it: RepairMembers) -> Result<Self, Refusal> {
        let mut chain = msg_chainast::ChainRepairOptions::new()
            .with_check(chain_check(it.open, it.request))
            .with_orphans(it.orphans)
            .with_first(it.first)
            .with_unknown_role(it.unknown_role)
            .with_arguments(it.arguments);
        chain.all = it.all;
        if let Some(text) = &it.id_pattern {
            let bad = |error| Refusal::bad_option(format!("id_pattern {text}: {error}"));
            chain = chain.with_id_pattern(text.parse().map_err(bad)?);
        }
        if let Some(profile) = asked(it.profile.as_deref(), it.for_model)? {
            chain = chain.with_profile(&profile);
        }
        let read = read(it.from, it.calls, it.max_bytes)
            .with_fields(RowFields::of(it.field, it.join))
            .with_made_by(maker(it.model, it.provider));
        Ok(RepairOptions { read, chain, strict: it.strict })
    }
}

/// How a document is read, from the members that all commands have.
pub(crate) fn read(
    from: Option<Format>,
    calls: Option<CallForms>,
    max_bytes: Option<u64>,
) -> ReadOptions {
    let read = ReadOptions::default().with_from(from).with_calls(calls.unwrap_or_default());
    let max_bytes = max_bytes.unwrap_or(read.max_bytes);
    read.with_max_bytes(max_bytes)
}

fn chain_check(open: bool, request: bool) -> msg_chainast::ChainCheckOptions {
    msg_chainast::ChainCheckOptions { open, request, ..Default::default() }
}

/// Who made the assistant's messages, if that was said.
fn maker(model: Option<String>, provider: Option<String>) -> Option<Provenance> {
    let is_said = model.is_some() || provider.is_some();
    is_said.then(|| Provenance { model, provider, ..Provenance::default() })
}

/// The profile of this name, asked as this model; the sentence says which there are.
fn asked(name: Option<&str>, model: Option<String>) -> Result<Option<Profile>, Refusal> {
    let Some(name) = name else {
        return match model {
            Some(_) => Err(Refusal::bad_option("for_model asks a provider: add profile")),
            None => Ok(None),
        };
    };
    let known = || Refusal::bad_option(no_profile(name));
    let profile = Profile::named(name).ok_or_else(known)?;
    Ok(Some(model.map_or_else(|| profile.clone(), |it| profile.asked_as(&it))))
}

/// The sentence for a profile that does not exist.
pub(crate) fn no_profile(name: &str) -> String {
    let known: Vec<_> = Profile::names().collect();
    format!("no profile is called {name:?}, expected {}", known.join(", "))
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
    pub(crate) fn expect_size(&self, bytes: &[u8]) -> Result<(), Refusal> {
        match msg_session::Blob::size_of(bytes) > self.max_bytes {
            true => Err(Refusal::too_large(self.max_bytes)),
            false => Ok(()),
        }
    }
}
