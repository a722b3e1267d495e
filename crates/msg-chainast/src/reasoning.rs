//! Reasoning and signatures in a chain: who has them, where the current turn begins (CA-57, CA-58).
//!
//! Nothing here judges a signature; it is text that a provider checks.

use std::borrow::Borrow;

use msg_core::{Message, Part, Role};

use crate::conform::remove_twins;

/// Whether some tool call has a signature (CA-57). Reasoning parts do not count: this is what Gemini
/// checks, and what decides whether a summary of these messages needs a fake signature.
///
/// ```
/// use msg_chainast::{Message, Part, ToolCall, reasoning::contains_tool_call_reasoning};
///
/// let mut call = ToolCall::new("a", "f", "{}");
/// call.signature = Some("opaque".to_owned());
/// let message = Message::assistant("").with_part(Part::ToolCall(call));
/// assert!(contains_tool_call_reasoning(&[message]));
/// ```
#[doc(alias = "ContainsReasoning")]
#[doc(alias = "ContainsToolCallReasoning")]
pub fn contains_tool_call_reasoning<M: Borrow<Message>>(messages: &[M]) -> bool {
    messages.iter().any(|it| has_signed_call(it.borrow()))
}

/// The reasoning of the first assistant message that has some, as a message of its own (CA-57).
///
/// ```
/// use msg_chainast::{Message, Part, reasoning::extract_reasoning_message};
/// use msg_core::Reasoning;
///
/// let thought = Part::Reasoning(Reasoning::new("Hm."));
/// let message = Message::assistant("Yes.").with_part(thought.clone());
/// assert_eq!(extract_reasoning_message(&[message]).map(|it| it.parts), Some(vec![thought]));
/// ```
pub fn extract_reasoning_message<M: Borrow<Message>>(messages: &[M]) -> Option<Message> {
    let mut assistants =
        messages.iter().map(Borrow::borrow).filter(|it| it.role == Role::Assistant);
    let first = assistants.find(|it| has_reasoning(it))?;
    let mut message = Message::new(Role::Assistant);
    let reasoning = first.parts.iter().filter(|it| it.as_reasoning().is_some());
    message.parts.extend(reasoning.cloned());
    Some(message)
}

/// Takes the reasoning out of a message: reasoning parts, also those in results, signatures of calls, and
/// the members that repeat its text and would be read as reasoning where no part is left. Whether there
/// was any. O(parts).
///
/// ```
/// use msg_chainast::{Message, Part, reasoning::remove_reasoning};
/// use msg_core::Reasoning;
///
/// let mut message = Message::assistant("Yes.").with_part(Part::Reasoning(Reasoning::new("Hm.")));
/// assert!(remove_reasoning(&mut message));
/// assert_eq!(message, Message::assistant("Yes."));
/// ```
pub fn remove_reasoning(message: &mut Message) -> bool {
    let n_parts = message.parts.len();
    message.parts.retain(|it| it.as_reasoning().is_none());
    let mut removed = message.parts.len() < n_parts;
    removed |= remove_twins(message);
    for part in &mut message.parts {
        match part {
            Part::ToolCall(it) => removed |= it.signature.take().is_some(),
            Part::ToolResult(it) => {
                let parts = it.content.parts_mut();
                let n_parts = parts.len();
                parts.retain(|it| it.as_reasoning().is_none());
                removed |= parts.len() < n_parts;
            }
            _ => {}
        }
    }
    removed
}

/// Whether a message calls a tool (CA-58).
#[doc(alias = "HasToolCalls")]
pub fn has_tool_calls(message: &Message) -> bool {
    message.tool_calls().next().is_some()
}

/// Where the current turn begins: the index of the last user message with text, or 0 if there is none
/// (CA-58).
pub fn current_turn_start<'m>(messages: impl IntoIterator<Item = &'m Message>) -> usize {
    let users = messages.into_iter().enumerate().filter(|it| begins_turn(it.1));
    users.last().map_or(0, |it| it.0)
}

/// Whether a message is a user message with text.
pub(crate) fn begins_turn(message: &Message) -> bool {
    let has_text = |it: &Part| matches!(it, Part::Text(it) if !it.text.is_empty());
    message.role == Role::User && message.parts.iter().any(has_text)
}

/// Whether a message has a reasoning part that says or seals something.
pub(crate) fn has_reasoning(message: &Message) -> bool {
    message.parts.iter().any(|it| matches!(it, Part::Reasoning(_)) && it.reasoning_size() > 0)
}

/// Whether a provider may check what the message says about its reasoning.
pub(crate) fn is_signed(message: &Message) -> bool {
    has_signed_call(message) || message.reasoning().any(msg_core::Reasoning::is_signed)
}

fn has_signed_call(message: &Message) -> bool {
    message.tool_calls().any(|it| it.signature.as_ref().is_some_and(|it| !it.is_empty()))
}
