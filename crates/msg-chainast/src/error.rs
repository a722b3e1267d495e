//! The errors and diagnostic codes of this crate. Invalid lists of messages have their own error type,
//! [`ParseError`](crate::ParseError), which returns the messages.

use msg_core::{CodeInfo, Role, codes};

use crate::ids::MAX_FIELD;
use crate::profile::Profile;

/// Why an edit, a pair, a pattern or a profile was refused. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No call has the id.
    #[error("tool call with id `{id}` not found")]
    UnknownToolCall {
        /// The id.
        id: String,
    },
    /// A body pair needs at least one message.
    #[error("a body pair needs an assistant message")]
    EmptyPair,
    /// The first message of a body pair is not from an assistant.
    #[error("a body pair begins with an assistant message, found one from `{role}`")]
    NotAssistant {
        /// Its role.
        role: Role,
    },
    /// A later message of a body pair is not a tool message.
    #[error("message {index} of a body pair must be a tool message, found one from `{role}`")]
    NotTool {
        /// Its index in the list.
        index: usize,
        /// Its role.
        role: Role,
    },
    /// The text of an id pattern is empty.
    #[error("empty pattern")]
    EmptyPattern,
    /// A random field of an id pattern asks for more than 256 characters.
    #[error("field longer than {MAX_FIELD} at byte {offset}")]
    LongField {
        /// The byte offset of the field.
        offset: usize,
    },
    /// The text is not a character class.
    #[error("a character class is `any`, `none` or `[...]` of ASCII characters and ranges")]
    CharClass,
    /// A profile file is not TOML, has an unknown field, or has a value of the wrong type. Lines and columns count from
    /// 1, columns in characters.
    #[error("line {line}, column {column}: {problem}")]
    ProfileFile {
        /// The line.
        line: usize,
        /// The column.
        column: usize,
        /// The profile and the problem.
        problem: String,
    },
    /// No built-in profile has this name or alias.
    #[error("no profile is called {name:?}, expected {}", Profile::names().collect::<Vec<_>>().join(", "))]
    UnknownProfile {
        /// The name.
        name: String,
    },
    /// A profile file does not have exactly one profile.
    #[error("expected one profile, found {found}")]
    ProfileCount {
        /// The number of profiles.
        found: usize,
    },
}

// What each diagnostic code of this crate means. Sentences about one finding are made where it is
// found, not here.

/// The codes of chains and of provider profiles.
pub const CODES: &[CodeInfo] = codes! {
    error "chain::unknown-role" "CA-14" "unknown role";
    error "chain::unexpected-first-role" "CA-10" "the chain begins with an assistant message or a tool result";
    error "chain::repeated-system" "CA-25" "a second system message at the start";
    error "chain::misplaced-system" "CA-25" "a system message after the conversation began";
    error "chain::consecutive-user" "CA-25" "two user messages in a row";
    error "chain::missing-tool-result" "CA-31" "a call without a result";
    error "chain::late-tool-result" "CA-32" "a result after messages that follow its pair";
    error "chain::early-tool-result" "CA-33" "a result before its call";
    error "chain::duplicate-tool-result" "CA-34" "two results for one call";
    error "chain::orphan-tool-result" "CA-35" "a tool result that matches no tool call";
    error "chain::empty-result-id" "CA-30" "a result without an id while a call of its pair is pending";
    error "chain::empty-call-id" "CA-26" "a call without an id";
    error "chain::duplicate-call-id" "CA-15" "duplicate tool call id in one message";
    error "chain::nameless-call" "CA-39" "a call without a name";
    error "chain::summarization-results" "CA-37" "a summarization pair with more than one call";
    error "chain::misplaced-part" "CA-11" "a part that is not allowed in messages of this role";
    error "chain::empty-tool-message" "CA-11" "a tool message without a result";
    warning "chain::missing-call-kind" "CA-39" "a call without a kind";
    warning "chain::empty-arguments" "CA-56" "a function call with empty arguments";
    warning "chain::invalid-arguments" "CA-55" "the arguments of a function call are not valid JSON";
    warning "arguments::mended" "CA-56b" "the arguments of a call are nearly JSON, with one reading";
    error "arguments::completed" "CA-56c" "truncated arguments of a call, completed on request";
    warning "chain::result-name-mismatch" "CA-15" "a result and its call have different names";
    warning "chain::empty-message" "CA-11" "a message without content";
    info "chain::cleared-reasoning" "CA-46" "reasoning was cleared on request";
    error "profile::developer-role" "CA-72" "role `developer` is not accepted";
    error "profile::later-system" "PM-43" "a system message in a place that the provider does not accept";
    error "profile::user-message" "CA-72" "a user message is required";
    error "profile::tool-name" "CA-72" "the name of a tool is not accepted";
    error "profile::result-name" "CA-72" "a tool result does not have the name of its call";
    error "profile::split-results" "PM-40" "the results of a pair are split over several contents";
    error "profile::message-name" "CA-72" "the name of a message is not accepted";
    error "profile::arguments" "CA-72" "the arguments of a call are not accepted";
    error "profile::reasoning-not-accepted" "CA-72" "reasoning is not accepted";
    error "profile::foreign-reasoning" "PM-16" "reasoning signed by another model or account";
    error "profile::item-id" "PM-95" "an item id that the provider does not accept";
    error "profile::lone-reasoning" "PM-87" "a reasoning item without the item that must follow it";
    error "profile::reasoning-last" "PM-208" "an answer ends with reasoning";
    warning "profile::reasoning-missing" "CA-72" "reasoning is required";
    error "profile::thought-signature-missing" "CA-72" "a signature is required";
    error "profile::consecutive-assistant" "CA-72" "two assistant messages in a row";
    error "profile::empty-message" "CA-72" "a message without content is refused";
    error "profile::empty-text" "CA-72" "an empty text part is refused";
    error "profile::user-after-tool" "CA-72" "a user message directly after tool results";
    error "profile::too-many-files" "CA-72" "more documents than a request may have";
    error "profile::too-many-tool-calls" "CA-72" "more calls than are accepted";
    error "profile::tool-call-id" "CA-72" "the id of a call is not accepted";
    error "profile::reused-tool-call-id" "CA-72" "an id occurs in two messages";
    error "profile::media-place" "PM-81" "the provider does not accept media in this place";
    error "profile::error-result" "PM-31" "a failed result contains more than text";
    error "profile::empty-result" "PM-105" "a result without content is refused";
    error "profile::thinking-missing" "PM-18" "an assistant message with tool calls must begin with thinking while thinking is on";
    error "profile::image-type" "PM-36" "the type of an image is not accepted";
    error "profile::image-size" "PM-35" "an image is too large";
    error "profile::media-url" "PM-232" "media given by a URL that the model does not accept";
    error "profile::file-type" "PM-110" "the type of a document is not accepted";
    error "profile::file-name" "PM-108" "the name of a document is not accepted";
    error "profile::file-without-text" "PM-107" "a document needs a text part in the same message";
    error "profile::part-without-type" "CA-72" "a part that the provider does not accept";
    error "profile::unknown-member" "PM-149" "a member that the provider refuses";
    error "profile::cache-markers" "PM-13" "cache markers that are not accepted, or more than are accepted";
    error "profile::server-tool" "PM-3" "a server tool block without its call or result";
    error "profile::system-role" "PM-172" "role `system` is not accepted";
    error "profile::trailing-white-space" "PM-8" "the last assistant text ends with whitespace";
    error "profile::last-message" "CA-72" "the last message has a role that the provider does not accept there";
};
