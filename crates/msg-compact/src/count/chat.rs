//! The chat rule of CP-53: what a message costs besides its texts. It knows no tokenizer.

use msg_core::{Message, Part};

use super::{TokenCounter, media};

/// Tokens with which every reply is primed (CP-50).
pub(super) const REPLY_PRIMING: u64 = 3;

/// Tokens of a message's frame: three and one for the role (CP-54).
pub(super) const MESSAGE: u64 = 4;

/// Tokens of a call besides its name and arguments (CP-53).
const CALL: u64 = 3;

/// Tokens of a name besides its text (CP-53).
const NAME: u64 = 1;

/// Tokens of a message by the chat rule: 4, its texts, reasoning and media, its name, its calls.
pub(super) fn message<C: TokenCounter + ?Sized>(counter: &C, message: &Message) -> u64 {
    let name = message.name.as_deref().map_or(0, |it| name_tokens(counter, it));
    MESSAGE + name + message.parts.iter().map(|it| part(counter, it)).sum::<u64>()
}

pub(super) fn part<C: TokenCounter + ?Sized>(counter: &C, part: &Part) -> u64 {
    match part {
        Part::Text(it) | Part::Refusal(it) => counter.text(&it.text),
        Part::Reasoning(it) => counter.text(&it.display_text()),
        Part::ToolCall(it) => CALL + counter.text(&it.name) + counter.text(it.arguments.text()),
        Part::ToolResult(it) => {
            let name = it.name.as_deref().map_or(0, |it| name_tokens(counter, it));
            name + it.content.parts().iter().map(|it| self::part(counter, it)).sum::<u64>()
        }
        Part::Other(it) => counter.text(it.value.text()),
        _ => media::tokens(&counter.media(), part),
    }
}

fn name_tokens<C: TokenCounter + ?Sized>(counter: &C, name: &str) -> u64 {
    if name.is_empty() { 0 } else { NAME + counter.text(name) }
}

/// Adds to the last text of a message: of its last part, or of the content of its last result. A
/// message that does not end in a text gets one.
pub(super) fn extend_last_text(message: &mut Message, text: &str) {
    let parts = match message.parts.last_mut() {
        Some(Part::ToolResult(it)) => it.content.parts_mut(),
        _ => &mut message.parts,
    };
    match parts.last_mut() {
        Some(Part::Text(it) | Part::Refusal(it)) => it.text.push_str(text),
        _ => parts.push(Part::text(text)),
    }
}
