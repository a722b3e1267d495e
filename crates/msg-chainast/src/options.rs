//! What a repair may do, and what a check looks at (CA-38).

use std::sync::Arc;

use msg_core::{Content, Part};

use crate::{
    constants::{FALLBACK_RESPONSE_CONTENT, FIRST_USER_CONTENT, TOOL_CALL_ID_PATTERN},
    ids::IdPattern,
    profile::Profile,
};

/// What becomes of results that no call bears (CA-35).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
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

/// What becomes of an assistant message at the beginning of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum First {
    /// A user message is put before it.
    #[default]
    InsertUser,
    /// It is dropped, and with it what then comes first and is no user message.
    Drop,
}

/// What becomes of a message whose role nobody knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum UnknownRole {
    /// It is dropped.
    #[default]
    Drop,
    /// It is read as a user message.
    AsUser,
}

/// What becomes of argument text that is not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum BadArguments {
    /// It stays.
    #[default]
    Keep,
    /// Control characters are escaped; what is still no JSON becomes `{}` (CA-56).
    Sanitize,
}

/// What a repair may do (CA-38). The default is the rules' own choice everywhere.
///
/// ```
/// use msg_chainast::{ChainAst, Message, Orphans, RepairOptions, SeededIds};
///
/// let messages = vec![Message::user("hi"), Message::tool_result("gone", "42")];
/// let options = RepairOptions::new().orphans(Orphans::Keep);
/// let (chain, edits) = ChainAst::repair(messages, &options, &mut SeededIds::new(1));
/// assert_eq!(chain.messages().len(), 3);
/// assert_eq!(edits[0].fix.as_deref(), Some("added a call for it in a message of its own"));
/// ```
#[derive(Debug, Clone)]
pub struct RepairOptions {
    open: bool,
    orphans: Orphans,
    first: First,
    unknown_role: UnknownRole,
    arguments: BadArguments,
    id_pattern: Option<IdPattern>,
    default_pattern: IdPattern,
    /// Shared by all placeholders of a repair.
    placeholder: Content,
    first_user: String,
    continued: bool,
    several_systems: bool,
    request: bool,
    own_format: bool,
    profile: Option<Box<Profile>>,
}

impl RepairOptions {
    /// The default options.
    pub fn new() -> Self {
        RepairOptions {
            open: false,
            orphans: Orphans::default(),
            first: First::default(),
            unknown_role: UnknownRole::default(),
            arguments: BadArguments::default(),
            id_pattern: None,
            default_pattern: TOOL_CALL_ID_PATTERN
                .parse()
                .expect("because the constant is a pattern"),
            placeholder: shared(FALLBACK_RESPONSE_CONTENT.to_owned()),
            first_user: FIRST_USER_CONTENT.to_owned(),
            continued: false,
            several_systems: false,
            request: false,
            own_format: false,
            profile: None,
        }
    }

    /// Leaves the last pair's calls pending, if nothing follows them (CA-12).
    #[must_use]
    pub fn open(mut self, open: bool) -> Self {
        self.open = open;
        self
    }

    /// Takes the messages for the continuation of a chain that the provider has: results may come before
    /// the first call, and an assistant message first. Only lists ([`repair`](crate::repair)) can be so.
    #[must_use]
    pub fn continued(mut self, continued: bool) -> Self {
        self.continued = continued;
        self
    }

    /// Mends the chain as the messages of a request: a profile may say how it must end.
    #[must_use]
    pub fn request(mut self, request: bool) -> Self {
        self.request = request;
        self
    }

    /// Takes the messages for those of a request in the provider's own format, in which what it did not give
    /// is not there: calls of models that do not sign them stay unsigned without an error.
    #[must_use]
    pub fn own_format(mut self, own_format: bool) -> Self {
        self.own_format = own_format;
        self
    }

    /// What becomes of results that no call bears.
    #[must_use]
    pub fn orphans(mut self, orphans: Orphans) -> Self {
        self.orphans = orphans;
        self
    }

    /// What becomes of an assistant message at the beginning.
    #[must_use]
    pub fn first(mut self, first: First) -> Self {
        self.first = first;
        self
    }

    /// What becomes of messages with an unknown role.
    #[must_use]
    pub fn unknown_role(mut self, unknown_role: UnknownRole) -> Self {
        self.unknown_role = unknown_role;
        self
    }

    /// What becomes of arguments that are not JSON.
    #[must_use]
    pub fn arguments(mut self, arguments: BadArguments) -> Self {
        self.arguments = arguments;
        self
    }

    /// The pattern of fresh ids. By default it is the profile's, and without a profile
    /// [`TOOL_CALL_ID_PATTERN`].
    #[must_use]
    pub fn id_pattern(mut self, pattern: IdPattern) -> Self {
        self.id_pattern = Some(pattern);
        self
    }

    /// The content of placeholder results.
    #[must_use]
    pub fn placeholder(mut self, text: impl Into<String>) -> Self {
        self.placeholder = shared(text.into());
        self
    }

    /// The text of the user message that is put before a chain which begins otherwise.
    #[must_use]
    pub fn first_user(mut self, text: impl Into<String>) -> Self {
        self.first_user = text.into();
        self
    }

    /// Mends what this provider would refuse, too (CA-72).
    #[must_use]
    pub fn profile(mut self, profile: &Profile) -> Self {
        self.profile = Some(Box::new(profile.clone()));
        self
    }

    pub(crate) fn is_open(&self) -> bool {
        self.open
    }

    pub(crate) fn is_own_format(&self) -> bool {
        self.own_format
    }

    pub(crate) fn is_continued(&self) -> bool {
        self.continued
    }

    /// Leaves several system messages at the start as they are: in the form of the messages they are fine. It
    /// counts for a list ([`repair`](crate::repair)); a tree has one.
    #[must_use]
    pub fn several_systems(mut self, several_systems: bool) -> Self {
        self.several_systems = several_systems;
        self
    }

    pub(crate) fn takes_several_systems(&self) -> bool {
        self.several_systems
    }

    pub(crate) fn is_request(&self) -> bool {
        self.request
    }

    pub(crate) fn drops_orphans(&self) -> bool {
        self.orphans == Orphans::Drop
    }

    pub(crate) fn keeps_orphans(&self) -> bool {
        self.orphans == Orphans::Keep
    }

    pub(crate) fn drops_first(&self) -> bool {
        self.first == First::Drop
    }

    pub(crate) fn reads_unknown_as_user(&self) -> bool {
        self.unknown_role == UnknownRole::AsUser
    }

    pub(crate) fn sanitizes_arguments(&self) -> bool {
        self.arguments == BadArguments::Sanitize
    }

    pub(crate) fn pattern(&self) -> &IdPattern {
        let of_profile = || self.profile.as_ref().map(|it| &it.id_pattern);
        self.id_pattern.as_ref().or_else(of_profile).unwrap_or(&self.default_pattern)
    }

    pub(crate) fn placeholder_text(&self) -> &str {
        self.placeholder.as_text().unwrap_or_default()
    }

    pub(crate) fn placeholder_content(&self) -> Content {
        self.placeholder.clone()
    }

    pub(crate) fn first_user_text(&self) -> &str {
        &self.first_user
    }

    pub(crate) fn given_profile(&self) -> Option<&Profile> {
        self.profile.as_deref()
    }
}

/// A content of one text, of which copies cost nothing.
fn shared(text: String) -> Content {
    Content::from(Arc::from([Part::text(text)]))
}

impl Default for RepairOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// What a check looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CheckOptions {
    open: bool,
    request: bool,
    continued: bool,
    several_systems: bool,
    own_format: bool,
}

impl CheckOptions {
    /// The default options: a closed chain that need not be a request.
    pub fn new() -> Self {
        Self::default()
    }

    /// Allows calls without results in the last pair, if nothing follows it (CA-12).
    #[must_use]
    pub fn open(mut self, open: bool) -> Self {
        self.open = open;
        self
    }

    /// Judges the chain as the messages of a request: a profile may say what it must end with.
    #[must_use]
    pub fn request(mut self, request: bool) -> Self {
        self.request = request;
        self
    }

    /// Takes the messages for the continuation of a chain that the provider has
    /// ([`RepairOptions::continued`]).
    #[must_use]
    pub fn continued(mut self, continued: bool) -> Self {
        self.continued = continued;
        self
    }

    /// Takes the messages for those of a request in the provider's own format
    /// ([`RepairOptions::own_format`]).
    #[must_use]
    pub fn own_format(mut self, own_format: bool) -> Self {
        self.own_format = own_format;
        self
    }

    pub(crate) fn is_own_format(self) -> bool {
        self.own_format
    }

    pub(crate) fn is_continued(self) -> bool {
        self.continued
    }

    /// Takes several system messages at the start as they are ([`RepairOptions::several_systems`]).
    #[must_use]
    pub fn several_systems(mut self, several_systems: bool) -> Self {
        self.several_systems = several_systems;
        self
    }

    pub(crate) fn takes_several_systems(self) -> bool {
        self.several_systems
    }

    pub(crate) fn is_open(self) -> bool {
        self.open
    }

    pub(crate) fn is_request(self) -> bool {
        self.request
    }
}
