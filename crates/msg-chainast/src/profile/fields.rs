//! The fields of a profile: their meaning, how the generated table and profile files set a field by its name, and how
//! it is printed. Also the types of their values: choices of words, and character classes of ids and names. A choice of
//! two is a `bool` in the struct, which the table of fields writes as words.

use std::{fmt, str::FromStr, sync::Arc};

use msg_core::Severity;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ProviderRule;
use crate::ids::IdPattern;
use crate::{Error, profile};

/// The name of a field in a file, if it differs from the member's.
macro_rules! name {
    ($member:ident) => {
        stringify!($member)
    };
    ($member:ident, $name:literal) => {
        $name
    };
}

/// Reads a value. For some `bool` fields it is one of two words.
macro_rules! read {
    ($value:expr) => {
        read($value)
    };
    ($value:expr, $no:literal, $yes:literal) => {
        read_word($value, $no, $yes)
    };
}

/// The value in a file.
macro_rules! written {
    ($value:expr) => {
        written(&$value)
    };
    ($value:expr, $no:literal, $yes:literal) => {
        written(&if $value { $yes } else { $no })
    };
}

/// Lists the fields once, in the order in which they are printed.
macro_rules! profile {
    ($($(#[$doc:meta])* $member:ident: $type:ty $(= $name:literal [$no:literal, $yes:literal])?,)+) => {
        /// What one provider accepts (CA-72). Plain data: change a copy to make another profile.
        ///
        /// ```
        /// use msg_chainast::Profile;
        ///
        /// let bedrock = Profile::named("bedrock").ok_or("no such profile")?;
        /// assert!(bedrock.ids_unique_in_chain);
        /// assert_eq!(Profile::named("moonshot").map(|it| it.name.as_str()), Some("kimi"));
        /// # Ok::<(), &str>(())
        /// ```
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub struct Profile {
            /// The name of the profile.
            pub name: String,
            $($(#[$doc])* pub $member: $type,)+
            /// The source of each field's value: (field, source).
            pub sources: Vec<(String, String)>,
            /// What the provider is known to refuse, with its error messages.
            pub rules: Vec<ProviderRule>,
            /// The profiles of some models: the beginning of the model's name or the whole name, and the
            /// profile.
            pub models: Arc<[(String, Profile)]>,
        }

        /// The names of the fields, in the order in which they are printed.
        pub(super) const FIELDS: &[&str] = &[$(name!($member $(, $name)?)),+];

        /// A profile of the values that the table gives to all.
        pub(super) fn base() -> Profile {
            const WHY: &str = "because the table gives each field a value that it can have";
            let value = |name: &str| profile::default().get(name).expect(WHY);
            Profile {
                name: String::new(),
                $($member: read!(value(name!($member $(, $name)?)) $(, $no, $yes)?).expect(WHY),)+
                sources: Vec::new(),
                rules: Vec::new(),
                models: Arc::default(),
            }
        }

        /// Sets a field of a profile.
        pub(super) fn set(
            profile: &mut Profile,
            field: &str,
            value: &Value,
        ) -> Result<(), FieldError> {
            let read = match field {
                $(name!($member $(, $name)?) => {
                    read!(value $(, $no, $yes)?).map(|it| profile.$member = it)
                })+
                _ => return Err(FieldError::unknown(field)),
            };
            read.map_err(|problem| FieldError::wrong(field, &problem))
        }

        /// Each field as a file has it, in order.
        pub(super) fn all(profile: &Profile) -> Vec<(&'static str, Value)> {
            vec![$((name!($member $(, $name)?), written!(profile.$member $(, $no, $yes)?))),+]
        }
    };
}

profile! {
    /// The provider, for people.
    title: String,
    /// Other names.
    aliases: Vec<String>,
    /// The name of the format in which the provider accepts requests.
    format: String,
    /// Other formats that the provider accepts, as `format:profile`. A body in such a format is judged
    /// by that profile.
    other_formats: Vec<String>,
    /// The requested model, if it is known. Needed for rules about content that is bound to a
    /// model.
    model: String,
    /// The requesting account, if it is known.
    account: String,
    /// The characters of a call id.
    id_class: CharClass,
    /// The minimum length of a call id in bytes.
    id_min: usize,
    /// The maximum length of a call id in bytes; 0 for no limit.
    id_max: usize,
    /// The pattern of fresh ids.
    id_pattern: IdPattern,
    /// Whether an id must match the pattern, and not only the class.
    id_shape: bool,
    /// Whether an id may occur only once in the whole chain, and not only once in a message.
    ids_unique_in_chain: bool = "id_unique" ["message", "chain"],
    /// The severity of an id that is not accepted.
    id_severity: Severity,
    /// The characters of a tool's name.
    name_class: CharClass,
    /// The first characters of a tool's name.
    name_first: CharClass,
    /// The maximum length of a tool's name in bytes; 0 for no limit.
    name_max: usize,
    /// Whether a user message is required.
    user: UserMessage,
    /// Whether the chain may begin with an assistant message (rule 1 of the chain).
    first_role: Acceptance,
    /// Whether two user messages may follow each other.
    consecutive_user: Acceptance,
    /// Whether a system message may come after other messages.
    system_place: Acceptance,
    /// Whether the chain may begin with several system messages.
    repeated_system: Acceptance,
    /// Whether a system message in a place where it is not accepted becomes a user message there. Otherwise
    /// it joins the one at the beginning.
    later_system_as_user: bool = "later_system" ["hoist", "user"],
    /// Whether a system message after other messages must follow a user message and come before an answer.
    system_before_answer: bool = "later_system_place" ["any", "before-answer"],
    /// Whether results may come after messages that follow their pair.
    interleaved_calls: LaterResults,
    /// Whether results may come before the first call, if the chain continues one that the provider stores.
    leading_results: Acceptance,
    /// Whether two consecutive assistant messages are refused.
    alternate: bool,
    /// Whether a user message must not follow tool results.
    assistant_after_tool: bool = "after_tool" ["any", "assistant"],
    /// The place of the system prompt, for wire formats.
    system: SystemPlace,
    /// Whether the role `developer` is unknown, so `system` replaces it.
    developer_as_system: bool = "developer" ["keep", "system"],
    /// The roles whose messages are refused without content.
    empty: Vec<msg_core::Role>,
    /// Whether a message of empty texts counts as one with content, so only a message without parts
    /// is empty.
    empty_texts_count: bool = "empty_is" ["text", "part"],
    /// Whether a message of the provider's own format may be without content.
    null_content: Acceptance,
    /// Whether text of only white space does not count as content.
    blank: bool,
    /// Whether an empty text part is accepted next to other content.
    empty_text: Acceptance,
    /// The accepted arguments of calls.
    arguments: ArgumentsRule,
    /// Whether a result must have the name of its call.
    results_named: bool = "result_name" ["any", "call"],
    /// Whether the results of a pair may be spread over several contents of the provider's own
    /// format.
    split_results: Acceptance,
    /// The characters of a message's name; `none` if messages have no name.
    message_name: CharClass,
    /// The maximum length of a message's name in bytes; 0 for no limit.
    message_name_max: usize,
    /// The maximum number of calls in a message; 0 for no limit.
    max_calls: usize,
    /// Whether a request must not end with an assistant message.
    user_last: bool = "last" ["any", "user"],
    /// The member of an assistant message that asks the model to continue it; empty if there is none.
    prefill: String,
    /// Which reasoning is accepted.
    reasoning_keep: ReasoningKept,
    /// Whether only signed, redacted or encrypted reasoning is accepted.
    reasoning_signed: bool,
    /// Whether reasoning that the provider stores is also accepted by the id of its item.
    reasoning_stored: Acceptance,
    /// Whether the item of such reasoning may occur without the item that follows from it.
    lone_reasoning: Acceptance,
    /// The prefixes of item ids, as `kind:prefix`.
    item_ids: Vec<String>,
    /// What signed reasoning is bound to. Reasoning from another maker is refused.
    reasoning_bound: ReasoningBound,
    /// Where reasoning is required.
    reasoning_require: ReasoningRequired,
    /// Replaces missing reasoning where it is required.
    reasoning_fallback: String,
    /// Whether an answer with calls that a request continues must begin with reasoning, if the request turns
    /// thinking on.
    reasoning_first: bool,
    /// Whether an answer may end with reasoning.
    reasoning_last: Acceptance,
    /// Whether the signature of a call is refused.
    drops_call_signatures: bool = "call_signature" ["keep", "drop"],
    /// The places where media are accepted: roles, or `role:kind` with `image`, `audio`, `file` or
    /// `video`; or `any`.
    media_roles: Vec<String>,
    /// Whether media may be given by URL.
    media_urls: Acceptance,
    /// Whether media may be given by their location in Amazon S3.
    media_s3: Acceptance,
    /// The accepted MIME types of images; empty for all.
    image_types: Vec<String>,
    /// Whether the stated type of an image must be the type of its data.
    image_type_true: bool = "image_type_told" ["any", "true"],
    /// The maximum size of an image in bytes of base64; 0 for no limit.
    image_bytes_max: usize,
    /// The maximum width and height of an image in pixels; 0 for no limit.
    image_side_max: usize,
    /// The number of images in a request beyond which they must be smaller; 0 for any number.
    many_images: usize,
    /// The maximum width and height in pixels for requests with more images.
    many_images_side_max: usize,
    /// The accepted MIME types of documents; empty for all.
    file_types: Vec<String>,
    /// The characters of a document's name.
    file_name_class: CharClass,
    /// The maximum length of a document's name in bytes; 0 for no limit.
    file_name_max: usize,
    /// Whether two documents of a request must not have the same name, ignoring case.
    file_name_unique: bool,
    /// The maximum number of documents in a request; 0 for any number.
    files_max: usize,
    /// Whether a document needs a text next to it.
    file_needs_text: bool,
    /// Whether a result may be without content.
    empty_result: Acceptance,
    /// Whether a failed result may contain more than text.
    error_result: Acceptance,
    /// Whether a content part may be without a type.
    untyped_parts: Acceptance,
    /// Whether a call may be a `function_call`, and its result a message of the role `function`, without ids.
    old_calls: Acceptance,
    /// Whether only known extra members are accepted.
    known_members_only: bool = "members" ["any", "known"],
    /// The accepted extra members, if only known ones are accepted.
    known_members: Vec<String>,
    /// The names of members that are refused everywhere.
    refused_members: Vec<String>,
    /// The maximum number of cache markers in a request; 0 for no limit.
    cache_max: usize,
    /// The accepted members of a cache marker, each with its accepted values if these are limited (`ttl:5m|1h`); empty
    /// for all.
    cache_members: Vec<String>,
    /// Which parts of the provider's own tools may be sent.
    server_tools: ServerTools,
    /// Whether a request that ends with an assistant message must not end in white space.
    last_trim: bool,
    /// Whether a request may have `temperature` or `top_p`, but not both.
    one_of_sampling: bool = "sampling" ["any", "one"],
    /// The settings that a request may have only with their default values. Names are those of the
    /// request head.
    refused_settings: Vec<String>,
    /// How a request may turn thinking on.
    thinking: ThinkingRule,
    /// Which effort a request with functions may set.
    effort_beside_tools: EffortBesideTools,
    /// Whether the limit of an answer's tokens must have the name `max_completion_tokens`.
    completion_tokens_only: bool = "max_tokens" ["any", "completion"],
    /// The fields whose value is not certain.
    doubt: Vec<String>,
}

/// An enum whose values are words of a profile file.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$value_doc:meta])* $value:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$value_doc])* #[serde(rename = $word)] $value,)+
        }

        impl $name {
            /// The word in a profile file.
            pub fn as_str(self) -> &'static str {
                match self {
                    $($name::$value => $word,)+
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

words! {
    /// Whether a user message is required.
    UserMessage {
        /// Not required.
        Any = "any",
        /// At least one.
        Some = "some",
        /// As the first message after the system message.
        First = "first",
    }
}

words! {
    /// Where the system prompt goes; for wire formats (CA-73).
    SystemPlace {
        /// In a message.
        Message = "message",
        /// In a field of the request.
        Field = "field",
        /// Before the first text of the user.
        User = "user",
        /// Not accepted.
        None = "none",
    }
}

words! {
    /// Where results may be that do not directly follow their call.
    LaterResults {
        /// Anywhere after it.
        Accept = "accept",
        /// After further assistant messages, which are read together with it.
        Joined = "joined",
        /// Nowhere.
        Reject = "reject",
    }
}

words! {
    /// How a request may turn thinking on.
    ThinkingRule {
        /// By any setting.
        Any = "any",
        /// By any setting except a number of tokens.
        Adaptive = "adaptive",
        /// Like `Adaptive`, and it cannot be turned off.
        Always = "always",
    }
}

words! {
    /// Which effort a request with functions may set.
    EffortBesideTools {
        /// Any effort.
        Any = "any",
        /// None, or the effort that turns thinking off.
        Unsaid = "unsaid",
        /// Only the effort that turns thinking off.
        None = "none",
        /// Requests with functions are not accepted, because the model always thinks.
        Never = "never",
    }
}

words! {
    /// Whether a provider accepts something.
    Acceptance {
        /// It is accepted.
        Accept = "accept",
        /// It is refused.
        Reject = "reject",
    }
}

words! {
    /// What the arguments of a call must be.
    ArgumentsRule {
        /// Any text.
        Any = "any",
        /// JSON.
        Json = "json",
        /// A JSON object.
        Object = "object",
    }
}

words! {
    /// Which reasoning is accepted.
    ReasoningKept {
        /// All.
        All = "all",
        /// None.
        None = "none",
        /// Only reasoning among the content parts, such as Mistral's `thinking`.
        Parts = "parts",
        /// Only reasoning of turns with tool calls.
        CallTurns = "call-turns",
    }
}

words! {
    /// Where reasoning is required.
    ReasoningRequired {
        /// Nowhere.
        None = "none",
        /// In every message with a tool call.
        Calls = "calls",
        /// In every assistant message of a turn with a tool call.
        Messages = "messages",
        /// As the signature of the first call of each message of the current turn.
        CallSignature = "call-signature",
    }
}

words! {
    /// Which parts about tools that the provider runs may be sent.
    ServerTools {
        /// All.
        Keep = "keep",
        /// Calls, and results after their call in the same message.
        Pairs = "pairs",
        /// Nothing.
        None = "none",
    }
}

words! {
    /// What signed reasoning is bound to.
    ReasoningBound {
        /// Nothing.
        None = "none",
        /// The model that made it.
        Model = "model",
        /// The account that requested it.
        Account = "account",
    }
}

// Character classes of ids and names: `any`, `none`, or `[a-zA-Z0-9_-]`. Classes are ASCII; no other grammar of
// regular expressions is read.

/// A set of ASCII characters, all characters, or none.
///
/// ```
/// use msg_chainast::CharClass;
///
/// let class: CharClass = "[a-zA-Z0-9_-]".parse()?;
/// assert!(class.accepts("get_weather"));
/// assert!(!class.accepts("files.read"));
/// assert!("any".parse::<CharClass>()?.accepts("ж"));
/// # Ok::<(), msg_chainast::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CharClass {
    text: String,
    /// One bit per character; `None` for all characters.
    set: Option<u128>,
}

impl CharClass {
    /// All characters.
    pub fn any() -> Self {
        CharClass { text: "any".to_owned(), set: None }
    }

    /// No characters.
    pub fn none() -> Self {
        CharClass { text: "none".to_owned(), set: Some(0) }
    }

    /// The class as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether a character belongs to the class.
    pub fn contains(&self, it: char) -> bool {
        match self.set {
            None => true,
            Some(set) => it.is_ascii() && set & (1 << u32::from(it)) != 0,
        }
    }

    /// Whether all characters of a text belong to the class.
    pub fn accepts(&self, text: &str) -> bool {
        let fits = |set: u128| text.bytes().all(|it| it.is_ascii() && set & (1 << it) != 0);
        self.set.is_none_or(fits)
    }

    /// Whether the class contains every character.
    pub fn is_any(&self) -> bool {
        self.set.is_none()
    }

    /// Whether the class contains no character.
    pub fn is_none(&self) -> bool {
        self.set == Some(0)
    }
}

impl FromStr for CharClass {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "any" => return Ok(CharClass::any()),
            "none" => return Ok(CharClass::none()),
            _ => {}
        }
        let inner =
            text.strip_prefix('[').and_then(|it| it.strip_suffix(']')).ok_or(Error::CharClass)?;
        if inner.is_empty() || !inner.is_ascii() {
            return Err(Error::CharClass);
        }
        let bytes = inner.as_bytes();
        let mut set = 0_u128;
        let mut at = 0;
        while let Some(&first) = bytes.get(at) {
            // A dash between two characters is a range; first or last it is itself.
            let (last, step) = match bytes.get(at + 1..at + 3) {
                Some([b'-', last]) => (*last, 3),
                _ => (first, 1),
            };
            if first > last {
                return Err(Error::CharClass);
            }
            (first..=last).for_each(|it| set |= 1 << it);
            at += step;
        }
        Ok(CharClass { text: text.to_owned(), set: Some(set) })
    }
}

impl fmt::Display for CharClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

msg_core::serde_as_text!(CharClass);

// Reads and returns the value of one field, and describes a value that does not fit.

/// Why a field cannot be set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub(crate) struct FieldError {
    /// The names of the tables that contain the field, and its own.
    pub(crate) path: Vec<String>,
    pub(crate) problem: String,
}

impl FieldError {
    pub(crate) fn unknown(field: &str) -> Self {
        FieldError { path: vec![field.to_owned()], problem: format!("unknown field `{field}`") }
    }

    pub(crate) fn wrong(field: &str, problem: &str) -> Self {
        FieldError { path: vec![field.to_owned()], problem: format!("`{field}`: {problem}") }
    }

    /// The same of a field in a table.
    pub(crate) fn within(mut self, table: &str) -> Self {
        self.path.insert(0, table.to_owned());
        self
    }
}

/// Reads the value of a profile file. Fails with the expected values.
pub(crate) fn read<'v, T: Deserialize<'v>>(value: &'v Value) -> Result<T, String> {
    T::deserialize(value).map_err(|it| it.to_string())
}

/// Like [`read`], for a field with one of two words.
pub(crate) fn read_word(value: &Value, no: &str, yes: &str) -> Result<bool, String> {
    match value.as_str() {
        Some(it) if it == no => Ok(false),
        Some(it) if it == yes => Ok(true),
        _ => Err(format!("{value}, expected `{no}` or `{yes}`")),
    }
}

/// The value for a profile file.
pub(crate) fn written(value: &impl Serialize) -> Value {
    serde_json::to_value(value).expect("because a field is a text, a number, a flag or a list")
}
