//! Names and words of the forms of documents, which each format says in its own way and which are not values.

use std::sync::LazyLock;

/// Whether what a member says is a word of the format, which each format says in its own way: roles, kinds of parts,
/// places in a list.
pub(super) fn is_word(name: &str) -> bool {
    matches!(
        name,
        "type"
            | "role"
            | "from"
            | "object"
            | "kind"
            | "part_kind"
            | "status"
            | "thought"
            | "index"
            | "mode"
            | "state"
            | "tool_choice"
    )
}

/// The words that formats say in such members: of providers, frameworks and agents, in lower case and without `_` and
/// `-`. Sorted, so that nothing is hashed at the start of a program that mends one document.
static WORDS: LazyLock<Vec<&str>> =
    LazyLock::new(|| include_str!("words.txt").split_ascii_whitespace().collect());

/// What the type of a tool's part of the AI SDK begins with; the name of the tool is the rest of it.
const WITH_NAMES: [&str; 2] = ["\"tool-", "\"data-"];

/// No word of a format is longer.
const LONGEST_WORD: usize = 64;

/// Whether a format says this word; any other is a value. The versions of hosted tools end in a date.
pub(super) fn is_of_formats(text: &str) -> bool {
    let word = text.trim_matches('"');
    let is_date = |it: &&str| it.len() == 8 && it.bytes().all(|it| it.is_ascii_digit());
    let word = match word.rsplit_once('_') {
        Some((word, date)) if is_date(&date) => word,
        _ => word,
    };
    if word.len() > LONGEST_WORD {
        return false;
    }
    let letters = word.chars().filter(|it| !matches!(it, '_' | '-'));
    let word: String = letters.map(|it| it.to_ascii_lowercase()).collect();
    word.is_empty()
        || WORDS.binary_search(&&*word).is_ok()
        || WITH_NAMES.iter().any(|it| text.starts_with(it))
}

/// Members that say nothing where they are empty, null or false.
pub(super) fn may_be_empty(name: &str) -> bool {
    matches!(
        name,
        "ToolCalls"
            | "annotations"
            | "arguments"
            | "args"
            | "audio"
            | "choices"
            | "citations"
            | "content"
            | "contents"
            | "data"
            | "detail"
            | "encrypted_content"
            | "extra"
            | "file"
            | "finish_reason"
            | "function_call"
            | "id"
            | "input"
            | "is_error"
            | "isError"
            | "logprobs"
            | "messages"
            | "metadata"
            | "name"
            | "output"
            | "parts"
            | "reasoning"
            | "reasoning_content"
            | "refusal"
            | "result"
            | "response"
            | "signature"
            | "status"
            | "stop_reason"
            | "stop_sequence"
            | "strict"
            | "summary"
            | "system"
            | "text"
            | "thinking"
            | "thinking_blocks"
            | "thought"
            | "tool_call_id"
            | "tool_calls"
            | "tools"
            | "usage"
            | "value"
    )
}

#[cfg(test)]
mod tests {
    use super::WORDS;

    #[test]
    fn the_words_are_sorted() {
        assert!(WORDS.is_sorted_by(|a, b| a < b));
    }
}
