//! The injected system prompt and the name in it (OA-11, OA-12).

use super::options::{LowerOptions, SystemRole};
use msg_core::{Message, Role};

/// Whether it is a system message, or one of the role that system turns get.
pub(super) fn is_system(message: &Message, options: &LowerOptions) -> bool {
    match message.role {
        Role::System => true,
        Role::Developer => options.system_role == SystemRole::Developer,
        _ => false,
    }
}

/// The prompt with the agent's name, if there is one.
pub(super) fn message(options: &LowerOptions) -> Option<Message> {
    let prompt = options.system_prompt.as_deref().filter(|it| !it.is_empty())?;
    let text = match options.agent_display_name.as_deref() {
        None | Some("") => prompt.to_owned(),
        Some(name) => rename(prompt, &options.product_name, name),
    };
    Some(match options.system_role {
        SystemRole::System => Message::system(text),
        SystemRole::Developer => Message::developer(text),
    })
}

/// Replaces whole words that are the product's name, or its lower-case form, by the agent's. One
/// pass from left to right: what was put in is not looked at again (OA-12).
fn rename(prompt: &str, product: &str, name: &str) -> String {
    let lower = (product.to_lowercase(), name.to_lowercase());
    let words = [(product, name), (lower.0.as_str(), lower.1.as_str())];
    let mut res = String::with_capacity(prompt.len());
    let mut before = None;
    let mut rest = prompt;
    while let Some(c) = rest.chars().next() {
        let found = words.iter().find(|it| is_word_at(rest, it.0, before));
        let (len, put) = match found {
            Some((word, put)) => (word.len(), *put),
            None => (c.len_utf8(), &rest[..c.len_utf8()]),
        };
        res.push_str(put);
        before = rest[..len].chars().next_back();
        rest = &rest[len..];
    }
    res
}

/// Whether the text begins with this word, and no letter, digit or `_` touches it.
fn is_word_at(text: &str, word: &str, before: Option<char>) -> bool {
    let touches = |it: Option<char>| it.is_some_and(|it| it.is_alphanumeric() || it == '_');
    !word.is_empty()
        && text.starts_with(word)
        && !touches(before)
        && !touches(text[word.len()..].chars().next())
}
