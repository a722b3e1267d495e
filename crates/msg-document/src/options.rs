//! Options from a JSON object whose members are the flags of the command line in snake case (SC-1,
//! SC-14). They are parsed once and used for any number of documents.
//!
//! ```text
//! {"from":"openai","profile":"mistral","open":true}     check
//! {"profile":"mistral","orphans":"drop"}                repair
//! ```
//!
//! Unknown options and invalid values fail here, not with a document. The options of reading are in `msg-formats`.

use std::{str::FromStr, sync::Arc};

use msg_chainast::{BadArguments, First, Orphans, Profile, UnknownRole};
use msg_core::{InputRules, Provenance};
use msg_formats::{CallForms, FieldPath, Format, JoinedPaths, ReadOptions, Refusal, RowFields};
use serde::{Deserialize, Deserializer};

/// Options of a check.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(try_from = "CheckMembers")]
pub struct CheckOptions {
    /// How the document is read.
    pub read: ReadOptions,
    /// Also apply the rules of this provider.
    pub profile: Option<Profile>,
    /// The rules of the chain.
    pub chain: msg_chainast::ChainCheckOptions,
    /// Also check each message on its own (MS-18).
    pub messages: Option<InputRules>,
}

impl CheckOptions {
    msg_core::setters! {
        new;
        /// Sets how the document is read.
        with_read(read: ReadOptions);
        /// Also applies the rules of this provider.
        with_profile(profile: impl Into<Profile>) profile = Some(profile.into());
        /// Sets the rules of the chain.
        with_chain(chain: msg_chainast::ChainCheckOptions);
        /// Also checks each message on its own.
        with_messages(rules: InputRules) messages = Some(rules);
    }
}

/// Options of a repair.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(try_from = "RepairMembers")]
pub struct RepairOptions {
    /// How the document is read.
    pub read: ReadOptions,
    /// The options of the chain repair.
    pub chain: msg_chainast::ChainRepairOptions,
    /// Whether a loss is an error.
    pub strict: bool,
}

impl RepairOptions {
    msg_core::setters! {
        new;
        /// Sets how the document is read.
        with_read(read: ReadOptions);
        /// Sets what is repaired, and how.
        with_chain(chain: msg_chainast::ChainRepairOptions);
        /// Also repairs problems that this provider would refuse.
        with_profile(profile: impl Into<Profile>) chain.profile = Some(Arc::new(profile.into()));
        /// Makes a loss an error.
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
            return Err(Refusal::bad_option("max_chars needs messages"));
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
            chain = chain.with_profile(profile);
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

/// The provider and model of the assistant's messages, if given.
fn maker(model: Option<String>, provider: Option<String>) -> Option<Provenance> {
    let is_said = model.is_some() || provider.is_some();
    is_said.then(|| Provenance { model, provider, ..Provenance::default() })
}

/// The profile with this name, for this model. The error lists the known profiles.
fn asked(name: Option<&str>, model: Option<String>) -> Result<Option<Profile>, Refusal> {
    let Some(name) = name else {
        return match model {
            Some(_) => Err(Refusal::bad_option("for_model needs profile")),
            None => Ok(None),
        };
    };
    let unknown = |it: msg_chainast::Error| Refusal::bad_option(it.to_string());
    let profile: Profile = name.parse().map_err(unknown)?;
    Ok(Some(model.map_or_else(|| profile.clone(), |it| profile.asked_as(&it))))
}

/// One path, or a list of them: the value of an option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Paths<T>(pub(crate) Vec<T>);

/// As [`Paths`], for a member of public options.
pub(crate) fn paths<'de, T, D>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    T: FromStr<Err = Refusal>,
    D: Deserializer<'de>,
{
    Paths::deserialize(deserializer).map(|it| it.0)
}

impl<'de, T: FromStr<Err = Refusal>> Deserialize<'de> for Paths<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "expected a path, or a list of paths")]
        enum Given {
            One(String),
            Many(Vec<String>),
        }
        let given = match Given::deserialize(deserializer)? {
            Given::One(it) => vec![it],
            Given::Many(it) => it,
        };
        let paths = given.iter().map(|it| it.parse()).collect::<Result<_, Refusal>>();
        paths.map(Paths).map_err(serde::de::Error::custom)
    }
}
