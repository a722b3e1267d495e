//! Context that an agent puts into what the user says (SE-131): told text by text, so that the user's own words stay.
//!
//! ```text
//! <environment_context>…</environment_context>              nothing but context
//! <system-reminder>…</system-reminder>\nNow also rename     the words "Now also rename"
//! <user_input mode="act">fix it</user_input>                the words "fix it"
//! ```

use std::borrow::Cow;

/// Elements that agents write: what is in them is context.
const ELEMENTS: [&str; 16] = [
    "command-args",
    "command-message",
    "command-name",
    "current_datetime",
    "environment_context",
    "environment_details",
    "local-command-caveat",
    "local-command-stdout",
    "permissions instructions",
    "session_context",
    "skills_instructions",
    "system-reminder",
    "turn-context",
    "turn_aborted",
    "user_instructions",
    "user_shell_command",
];

/// Elements around words of the user: their tags alone are context.
const AROUND: &str = "user_input";

/// How Codex begins what it read in a project, and how that ends.
const PROJECT: (&str, &str) = ("# AGENTS.md instructions", "</INSTRUCTIONS>");

/// The words of a text without the context in it; none without a context. Linear.
pub(crate) fn words(text: &str) -> Option<String> {
    let mut unclosed: Vec<&str> = Vec::new();
    let mut res = String::new();
    let (mut copied, mut at) = (0, 0);
    let mut is_cut = false;
    while let Some(found) = text[at..].find(['<', '#']) {
        let start = at + found;
        let Some((len, words)) = context_at(text, start, &mut unclosed) else {
            at = start + 1;
            continue;
        };
        push(&mut res, &text[copied..start], is_cut);
        if !words.is_empty() {
            push(&mut res, words, true);
        }
        is_cut = true;
        (copied, at) = (start + len, start + len);
    }
    if !is_cut {
        return None;
    }
    push(&mut res, &text[copied..], true);
    Some(res.trim_end_matches(['\n', '\r']).to_owned())
}

/// Whether a text is nothing but context.
pub(crate) fn is_context(text: &str) -> bool {
    words(text).is_some_and(|it| it.trim().is_empty())
}

/// Adds words, without the line breaks that were between them and what was cut before them.
fn push(to: &mut String, words: &str, is_after_a_cut: bool) {
    if words.trim().is_empty() {
        return;
    }
    let is_a_line = to.is_empty() || to.ends_with('\n');
    to.push_str(match is_after_a_cut && is_a_line {
        true => words.trim_start_matches(['\n', '\r']),
        false => words,
    });
}

/// How long the context is that begins here, and the words in it; none if none does. An element without an end is
/// none, and its name is not looked for again.
fn context_at<'t>(
    text: &'t str,
    start: usize,
    unclosed: &mut Vec<&'static str>,
) -> Option<(usize, &'t str)> {
    let rest = &text[start..];
    if rest.starts_with(PROJECT.0) {
        let is_line = start == 0 || text[..start].ends_with('\n');
        let end = rest.find(PROJECT.1).map_or(rest.len(), |it| it + PROJECT.1.len());
        return is_line.then_some((end, ""));
    }
    let inner = rest.strip_prefix('<')?;
    let is_name = |name: &&&'static str| {
        inner.strip_prefix(**name).is_some_and(|it| it.starts_with(['>', ' ']))
    };
    let name = ELEMENTS.iter().chain([&AROUND]).find(is_name)?;
    if unclosed.contains(name) {
        return None;
    }
    let open = rest.find('>')? + 1;
    let close = format!("</{name}>");
    let Some(len) = rest[open..].find(&close) else {
        unclosed.push(name);
        return None;
    };
    let words = if *name == AROUND { &rest[open..open + len] } else { "" };
    Some((open + len + close.len(), words))
}

/// Whether the text of a JSON string is nothing but context; quickly no for most.
pub(crate) fn is_context_source(source: &str) -> bool {
    let start = source.trim_start_matches(['"', '\\', 'n', ' ', 't', 'r']);
    let may_be = start.starts_with('<') || start.starts_with('#') || start.starts_with("u003c");
    let inner = source.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
    may_be && inner.is_some_and(|it| is_context(&msg_json::unescape(it).text))
}

/// The text that the user said; the same one if it has no context.
pub(crate) fn own_words(text: &str) -> Cow<'_, str> {
    words(text).map_or(Cow::Borrowed(text), Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::{is_context, words};

    #[test]
    fn the_words_around_context_stay() {
        let rows = [
            ("<system-reminder>r</system-reminder>\nNow also rename", "Now also rename"),
            ("do it\n<system-reminder>r</system-reminder>", "do it"),
            ("a\n<system-reminder>r</system-reminder>\nb", "a\nb"),
            ("<user_input mode=\"act\">fix it</user_input>", "fix it"),
            ("# AGENTS.md instructions for /srv\n\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>\n\ngo", "go"),
            ("<environment_context>\n<cwd>/</cwd>\n</environment_context>", ""),
            ("<command-name>/x</command-name>\n  <command-args></command-args>", ""),
        ];
        for (text, wanted) in rows {
            assert_eq!(words(text).as_deref(), Some(wanted), "{text}");
            assert_eq!(is_context(text), wanted.is_empty(), "{text}");
        }
    }

    #[test]
    fn what_only_looks_like_context_is_words() {
        for text in
            ["<system-reminder> what is that?", "<b>x</b>", "see # AGENTS.md instructions", "a"]
        {
            assert_eq!(words(text), None, "{text}");
        }
    }

    #[test]
    fn tags_without_an_end_are_looked_for_once() {
        let text = "<system-reminder>".repeat(100_000);
        assert_eq!(words(&text), None);
    }
}
