//! Whether a list is plainly a valid chain, as nearly all are: a look at each message, without a plan.
//!
//! It knows no rule that the analysis does not know, and reports nothing: what it does not know to be valid the
//! analysis judges.

use msg_core::{Message, Part, ToolCall};

use crate::{
    analyze::{Reading, RolePart, SMALL_PAIR, read_role},
    constants::SUMMARIZATION_TOOL_NAME,
    pairing::is_paired,
};

/// Whether these messages are plainly valid: an optional system message, then user messages, each with body pairs of
/// few calls behind it, whose results stand alone in their messages. With `open`, the last pair may lack results.
pub(crate) fn is_plainly_valid(messages: &[Message], open: bool) -> bool {
    let lead = messages.first().is_some_and(|it| is_header(it, RolePart::System));
    let mut rest = &messages[usize::from(lead)..];
    let has_user = !rest.is_empty();
    while let [user, behind @ ..] = rest {
        // Two user messages in a row are one.
        let follows = behind.first().is_none_or(|it| is(it, RolePart::Assistant));
        if !follows || !is_header(user, RolePart::User) {
            return false;
        }
        rest = behind;
        while let [assistant, behind @ ..] = rest
            && is(assistant, RolePart::Assistant)
        {
            let n_tools = behind.iter().take_while(|it| is(it, RolePart::Tool)).count();
            let (tools, next) = behind.split_at(n_tools);
            if !is_plain_pair(assistant, tools, open && next.is_empty()) {
                return false;
            }
            rest = next;
        }
    }
    has_user
}

/// Whether a message is of this role, and has no calls and results.
fn is_header(message: &Message, role: RolePart) -> bool {
    let moves = |it: &Part| matches!(it, Part::ToolCall(_) | Part::ToolResult(_));
    is(message, role) && !message.parts.iter().any(moves)
}

/// Whether an assistant message has few calls, and these tool messages are their results.
fn is_plain_pair(assistant: &Message, tools: &[Message], may_lack: bool) -> bool {
    let moves = |it: &Part| it.as_tool_result().is_some() || is_paired(it);
    let fits = |n_calls| tools.len() == n_calls || tools.len() < n_calls && may_lack;
    !assistant.parts.iter().any(moves)
        && few_calls(assistant).is_some_and(fits)
        && are_answers(tools, assistant)
}

/// How many calls a message has, if they are few, have names and different ids, and are no summarization
/// with others.
fn few_calls(message: &Message) -> Option<usize> {
    let mut n_calls = 0;
    for (at, call) in message.tool_calls().enumerate() {
        let earlier = || message.tool_calls().take(at);
        let plain = at < SMALL_PAIR
            && !call.name.is_empty()
            && !call.id.is_empty()
            && !earlier().any(|it| it.id == call.id || it.name == SUMMARIZATION_TOOL_NAME);
        if !plain {
            return None;
        }
        n_calls = at + 1;
    }
    Some(n_calls)
}

/// Whether each of these messages is one result, and each answers another call.
fn are_answers(tools: &[Message], assistant: &Message) -> bool {
    let mut answered = 0_u32;
    tools.iter().enumerate().all(|(nth, it)| {
        let [Part::ToolResult(result)] = it.parts.as_slice() else { return false };
        let answers = |it: &ToolCall| it.id == result.call_id;
        // Nearly always results come in the order of their calls.
        let call = match assistant.tool_calls().nth(nth).is_some_and(answers) {
            true => Some(nth),
            false => assistant.tool_calls().position(answers),
        };
        let Some(bit) = call.map(|it| 1 << it) else { return false };
        let free = answered & bit == 0;
        answered |= bit;
        free
    })
}

#[inline]
fn is(message: &Message, role: RolePart) -> bool {
    read_role(message) == Reading::Known(role)
}
