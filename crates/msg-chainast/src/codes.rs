//! What each diagnostic code of this crate means. Sentences about one finding are made where it is
//! found, not here.

use msg_core::CodeInfo;

/// The codes of chains and of provider profiles.
pub const CODES: &[CodeInfo] = &[
    CodeInfo::error("chain::unknown-role", "CA-14", "nobody knows the role of the message"),
    CodeInfo::error(
        "chain::unexpected-first-role",
        "CA-10",
        "the chain begins with an assistant message or a tool result",
    ),
    CodeInfo::error("chain::repeated-system", "CA-25", "a second system message at the start"),
    CodeInfo::error(
        "chain::misplaced-system",
        "CA-25",
        "a system message after the conversation began",
    ),
    CodeInfo::error("chain::consecutive-user", "CA-25", "two user messages in a row"),
    CodeInfo::error("chain::missing-tool-result", "CA-31", "a call without a result"),
    CodeInfo::error(
        "chain::late-tool-result",
        "CA-32",
        "a result behind messages that follow its pair",
    ),
    CodeInfo::error("chain::early-tool-result", "CA-33", "a result before its call"),
    CodeInfo::error("chain::duplicate-tool-result", "CA-34", "two results for one call"),
    CodeInfo::error("chain::orphan-tool-result", "CA-35", "a result whose id no call bears"),
    CodeInfo::error(
        "chain::empty-result-id",
        "CA-30",
        "a result without an id while a call of its pair is pending",
    ),
    CodeInfo::error("chain::empty-call-id", "CA-26", "a call without an id"),
    CodeInfo::error("chain::duplicate-call-id", "CA-15", "one id twice in a message"),
    CodeInfo::error("chain::nameless-call", "CA-39", "a call without a name"),
    CodeInfo::error(
        "chain::summarization-results",
        "CA-37",
        "a summarization pair with more than one call",
    ),
    CodeInfo::error("chain::misplaced-part", "CA-11", "a part that no message of this role holds"),
    CodeInfo::error("chain::empty-tool-message", "CA-11", "a tool message without a result"),
    CodeInfo::warning("chain::missing-call-kind", "CA-39", "a call without a kind"),
    CodeInfo::warning("chain::empty-arguments", "CA-56", "a function call with empty arguments"),
    CodeInfo::warning(
        "chain::invalid-arguments",
        "CA-55",
        "the arguments of a function call are not JSON",
    ),
    CodeInfo::warning(
        "chain::result-name-mismatch",
        "CA-15",
        "a result is named otherwise than its call",
    ),
    CodeInfo::warning("chain::empty-message", "CA-11", "a message without content"),
    CodeInfo::info("chain::cleared-reasoning", "CA-46", "reasoning that was cleared on request"),
    CodeInfo::error("profile::developer-role", "CA-72", "the role developer is not known"),
    CodeInfo::error(
        "profile::later-system",
        "PM-43",
        "a system message where the provider takes none",
    ),
    CodeInfo::error("profile::user-message", "CA-72", "a user message is required"),
    CodeInfo::error("profile::tool-name", "CA-72", "the name of a tool is not accepted"),
    CodeInfo::error("profile::result-name", "CA-72", "a result has not the name of its call"),
    CodeInfo::error("profile::message-name", "CA-72", "the name of a message is not accepted"),
    CodeInfo::error("profile::arguments", "CA-72", "the arguments of a call are not accepted"),
    CodeInfo::error("profile::reasoning-not-accepted", "CA-72", "reasoning is not accepted"),
    CodeInfo::error(
        "profile::lone-reasoning",
        "PM-87",
        "a reasoning item without the item that it was made for",
    ),
    CodeInfo::warning("profile::reasoning-missing", "CA-72", "reasoning is required"),
    CodeInfo::error("profile::thought-signature-missing", "CA-72", "a signature is required"),
    CodeInfo::error("profile::consecutive-assistant", "CA-72", "two assistant messages in a row"),
    CodeInfo::error("profile::empty-message", "CA-72", "a message without content is refused"),
    CodeInfo::error("profile::empty-text", "CA-72", "an empty text part is refused"),
    CodeInfo::error("profile::user-after-tool", "CA-72", "a user message behind tool results"),
    CodeInfo::error("profile::too-many-tool-calls", "CA-72", "more calls than are accepted"),
    CodeInfo::error("profile::tool-call-id", "CA-72", "the id of a call is not accepted"),
    CodeInfo::error("profile::reused-tool-call-id", "CA-72", "an id occurs in two messages"),
    CodeInfo::error("profile::last-message", "CA-72", "a request ends with the wrong message"),
];
