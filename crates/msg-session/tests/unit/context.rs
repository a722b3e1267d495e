//! Context told from the user's words.

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
    for text in ["<system-reminder> what is that?", "<b>x</b>", "see # AGENTS.md instructions", "a"]
    {
        assert_eq!(words(text), None, "{text}");
    }
}

#[test]
fn tags_without_an_end_are_looked_for_once() {
    let text = "<system-reminder>".repeat(100_000);
    assert_eq!(words(&text), None);
}
