//! A task of Cline or Roo Code: one array of Anthropic messages.

use msg_core::{Message, Report, Role};
use msg_json::to_text;

use super::blocks::write_block;
use crate::write::WriteOptions;

pub(super) fn write(messages: &[Message], _: &WriteOptions, _: &mut Report) -> Vec<u8> {
    // Results and the words of the user after them are one message.
    let mut turns: Vec<(&str, Vec<&msg_core::Part>)> = Vec::new();
    for message in messages {
        let role = if message.role == Role::Assistant { "assistant" } else { "user" };
        match turns.last_mut() {
            Some(last) if last.0 == role && role == "user" => last.1.extend(&message.parts),
            _ => turns.push((role, message.parts.iter().collect())),
        }
    }
    let text = to_text(|it| {
        it.array(turns, |it, (role, parts)| {
            it.object(|it| {
                it.key("role").str(role);
                it.key("content").array(parts, write_block);
            });
        });
    });
    text.into_bytes()
}
