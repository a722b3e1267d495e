//! What a provider's error message points at (SE-45, SE-90): the number of a message, the id of a call.

/// The places that the message of a provider names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ProviderError<'a> {
    /// Index of the message, from 0, the system prompt not counted.
    pub(crate) message: Option<usize>,
    /// Whether it counts items of Responses.
    pub(crate) counts_items: bool,
    /// Words that could be ids of calls.
    pub(crate) words: Vec<&'a str>,
    /// Whether it complains about thinking.
    pub(crate) is_about_thinking: bool,
}

impl<'a> ProviderError<'a> {
    /// Reads `messages.5.content.0: …`, `input[3]…`, `contents[2]…` and the ids in a text.
    pub(crate) fn read(text: &'a str) -> Self {
        let is_word = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
        let mut words: Vec<_> = text.split(|it| !is_word(it)).filter(|it| it.len() > 4).collect();
        words.sort_unstable();
        words.dedup();
        Self {
            message: ["messages", "input", "contents"].iter().find_map(|it| number(text, it)),
            counts_items: number(text, "messages").is_none() && number(text, "input").is_some(),
            words,
            is_about_thinking: text.contains("thinking"),
        }
    }
}

/// The number behind a name: `messages.5` or `messages[5]`.
fn number(text: &str, name: &str) -> Option<usize> {
    text.match_indices(name).find_map(|(at, _)| {
        let rest = text[at + name.len()..].strip_prefix(['.', '['])?;
        let len = rest.bytes().take_while(u8::is_ascii_digit).count();
        rest[..len].parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::ProviderError;

    #[test]
    fn places_in_messages_of_providers() {
        let it = ProviderError::read("messages.5.content.0: `thinking` blocks cannot be modified");
        assert_eq!((it.message, it.is_about_thinking), (Some(5), true));
        assert_eq!(ProviderError::read("Invalid 'input[12].id'").message, Some(12));
        let it = ProviderError::read("`tool_use` ids were found without result: toolu_01AB.");
        assert_eq!(it.message, None);
        assert!(it.words.contains(&"toolu_01AB"));
    }
}
