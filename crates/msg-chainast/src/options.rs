//! What a repair may do, and what a check looks at (CA-38). Plain data: fields are public, and read from JSON.
//!
//! ```text
//! {"check": {"open": true}, "orphans": "keep", "id_pattern": "call_{r:24:x}", "profile": "openai"}
//! ```

use std::sync::{Arc, LazyLock};

use msg_core::{Content, Part};
use serde::{Deserialize, Deserializer, de::Error as _};

use crate::{
    constants::{FALLBACK_RESPONSE_CONTENT, FIRST_USER_CONTENT},
    ids::IdPattern,
    profile::Profile,
};

/// What happens to results that match no call (CA-35).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Orphans {
    /// A call is added to the open pair; without an open pair they are dropped.
    #[default]
    Fabricate,
    /// They are dropped.
    Drop,
    /// As `Fabricate`, and those without an open pair get an assistant message of their own.
    Keep,
}

/// What happens to an assistant message at the beginning of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum First {
    /// A user message is put before it.
    #[default]
    #[serde(rename = "insert")]
    InsertUser,
    /// It is dropped, and with it what then comes first and is not a user message.
    Drop,
}

/// What happens to a message with an unknown role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum UnknownRole {
    /// It is dropped.
    #[default]
    Drop,
    /// It is read as a user message.
    #[serde(rename = "user")]
    AsUser,
}

/// What happens to argument text that is not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum BadArguments {
    /// It stays.
    #[default]
    Keep,
    /// Control characters are escaped; what is still no JSON becomes `{}` (CA-56).
    Sanitize,
    /// What has one reading becomes the object that it means; all else stays (CA-56b).
    Mend,
    /// As [`BadArguments::Mend`], and an object that is cut off is closed, which is reported as an error: such a
    /// call is to be shown, never to be run (CA-56c).
    Complete,
}

/// What a request says of thinking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum RequestThinking {
    /// Nothing that is known.
    #[default]
    Unknown,
    /// The model thinks before it answers.
    On,
    /// It does not.
    Off,
}

/// What a check looks at, and what a repair makes valid.
///
/// ```
/// use msg_chainast::ChainCheckOptions;
///
/// let given = true; // say, from a command line
/// let options = ChainCheckOptions { open: given, ..ChainCheckOptions::new() };
/// assert_eq!(options, ChainCheckOptions::new().with_open());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ChainCheckOptions {
    /// Whether the calls of the last pair may be without results, if nothing follows it (CA-12).
    pub open: bool,
    /// Whether the messages are those of a request: a profile may say what it must end with.
    pub request: bool,
    /// Whether the messages go on from a chain that the provider has: results may come before the first call,
    /// and an assistant message first. Only lists ([`repair`](crate::repair)) can be so.
    pub continued: bool,
    /// Whether the messages end with what was answered to a request: calls at the end are run afterwards, and what a
    /// request must end with says nothing of an answer.
    pub answered: bool,
    /// Whether the messages are those of a request in the provider's own format, in which what it did not give
    /// is not there: where only some models sign calls, and it is not known which one is asked, unsigned ones are
    /// reported and stay.
    pub own_format: bool,
    /// Whether several system messages at the start stay as they are, since in the form of the messages they
    /// are fine. It counts for a list ([`repair`](crate::repair)); a tree has one.
    pub several_systems: bool,
    /// Whether several user messages in a row stay as they are, since in the form of the messages they are fine. It
    /// counts for a list ([`repair`](crate::repair)) that no profile judges.
    pub several_users: bool,
    /// Whether the request turns thinking on: a profile may say what the model's last answer begins with, and
    /// where reasoning is sent back.
    pub thinking: RequestThinking,
}

impl ChainCheckOptions {
    /// The default options: a whole chain with all results that need not be a request.
    pub fn new() -> Self {
        Self::default()
    }

    msg_core::setters! {
        /// With calls that may stay without results at the end.
        with_open() open = true;
        /// As the messages of a request.
        with_request() request = true;
        /// As messages that go on from a chain that the provider has.
        with_continued() continued = true;
        /// As a request and its answer.
        with_answered() answered = true;
    }

    /// Whether calls of the last pair may be without results.
    pub(crate) fn may_end_open(self) -> bool {
        self.open || self.answered
    }

    /// Whether it ends as a request must.
    pub(crate) fn ends_as_request(self) -> bool {
        self.request && !self.answered
    }

    msg_core::setters! {
        /// As a request in the provider's own format.
        with_own_format() own_format = true;
        /// As the messages of a request that says this of thinking.
        with_thinking(thinking: RequestThinking);
        /// With several system messages at the start.
        with_several_systems() several_systems = true;
        /// With several user messages in a row.
        with_several_users() several_users = true;
    }
}

/// What a repair may do (CA-38). The default is the rules' own choice everywhere.
///
/// ```
/// use msg_chainast::{ChainAst, Message, Orphans, ChainRepairOptions, SeededIds};
///
/// let messages = vec![Message::user("hi"), Message::tool_result("gone", "42")];
/// let options = ChainRepairOptions::new().with_orphans(Orphans::Keep);
/// let (chain, edits) = ChainAst::repair(messages, &options, &mut SeededIds::new(1));
/// assert_eq!(chain.messages().len(), 3);
/// assert_eq!(edits[0].fix.as_deref(), Some("added a call for it in a message of its own"));
/// ```
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ChainRepairOptions {
    /// What a valid chain is.
    pub check: ChainCheckOptions,
    /// What happens to results that match no call.
    pub orphans: Orphans,
    /// What happens to an assistant message at the beginning.
    pub first: First,
    /// What happens to messages with an unknown role.
    pub unknown_role: UnknownRole,
    /// What happens to arguments that are not JSON.
    pub arguments: BadArguments,
    /// Whether warnings are mended too: what is accepted, but not read or not certain. Otherwise only errors are.
    pub all: bool,
    /// The pattern of fresh ids. By default it is the profile's, and without a profile
    /// [`TOOL_CALL_ID_PATTERN`](crate::constants::TOOL_CALL_ID_PATTERN).
    pub id_pattern: Option<IdPattern>,
    /// The content of placeholder results; all of them share it.
    #[serde(deserialize_with = "shared_text")]
    pub placeholder: Content,
    /// The text of the user message that is put before a chain which begins otherwise.
    pub first_user: String,
    /// The provider that shall accept the chain (CA-72); in JSON the name of a built-in profile.
    #[serde(deserialize_with = "built_in")]
    pub profile: Option<Arc<Profile>>,
}

impl ChainRepairOptions {
    /// The default options.
    pub fn new() -> Self {
        ChainRepairOptions {
            check: ChainCheckOptions::new(),
            orphans: Orphans::default(),
            first: First::default(),
            unknown_role: UnknownRole::default(),
            arguments: BadArguments::default(),
            all: false,
            id_pattern: None,
            placeholder: shared(FALLBACK_RESPONSE_CONTENT.to_owned()),
            first_user: FIRST_USER_CONTENT.to_owned(),
            profile: None,
        }
    }

    msg_core::setters! {
        /// With this notion of a valid chain.
        with_check(check: ChainCheckOptions);
        /// With this for results that match no call.
        with_orphans(orphans: Orphans);
        /// With this for an assistant message at the beginning.
        with_first(first: First);
        /// With this for messages with an unknown role.
        with_unknown_role(unknown_role: UnknownRole);
        /// With this for arguments that are not JSON.
        with_arguments(arguments: BadArguments);
        /// With warnings mended as well as errors.
        with_all() all = true;
        /// With fresh ids of this pattern.
        with_id_pattern(pattern: IdPattern) id_pattern = Some(pattern);
        /// With placeholder results of this text.
        with_placeholder(text: impl Into<String>) placeholder = shared(text.into());
        /// With this text of a user message that is put before a chain.
        with_first_user(text: impl Into<String>) first_user = text.into();
        /// Mends what this provider would refuse, too.
        with_profile(profile: &Profile) profile = Some(Arc::new(profile.clone()));
    }

    /// The default options, for those that have none of their own.
    pub(crate) fn standard() -> &'static Self {
        static STANDARD: LazyLock<ChainRepairOptions> = LazyLock::new(ChainRepairOptions::new);
        &STANDARD
    }

    pub(crate) fn placeholder_text(&self) -> &str {
        self.placeholder.as_text().unwrap_or_default()
    }
}

impl Default for ChainRepairOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// A content of one text, of which copies cost nothing.
fn shared(text: String) -> Content {
    Content::from(Arc::from([Part::text(text)]))
}

fn shared_text<'de, D: Deserializer<'de>>(json: D) -> Result<Content, D::Error> {
    String::deserialize(json).map(shared)
}

fn built_in<'de, D: Deserializer<'de>>(json: D) -> Result<Option<Arc<Profile>>, D::Error> {
    let Some(name) = Option::<String>::deserialize(json)? else { return Ok(None) };
    let profile = Profile::named(&name);
    let unknown = || D::Error::custom(format!("no profile is called {name:?}"));
    profile.map(|it| Some(Arc::new(it.clone()))).ok_or_else(unknown)
}
