//! The laws of texts: a function each, which panics where the law is broken. The laws of messages are
//! `msg-forms`', which has more than one form of them.

use msg_core::{Message, truncate};

/// Law 5: a cut text has at most so many characters, is a prefix followed by at most `…`, and
/// cutting it again changes nothing; a preview is one line of at most so many characters.
pub fn cuts_are_clean(text: &str, max_chars: usize) {
    let cut = truncate(text, max_chars);
    assert!(cut.chars().count() <= max_chars);
    assert!(*cut == *text || text.starts_with(cut.strip_suffix('…').unwrap_or(&cut)));
    assert_eq!(truncate(&cut, max_chars), cut);
    if text.chars().count() <= max_chars {
        assert_eq!(cut, text);
    } else if max_chars > 33 {
        assert!(cut.chars().count() >= max_chars - 32, "it moves by 32 characters at most");
    }

    let preview = Message::user(text).preview(max_chars);
    assert!(preview.chars().count() <= max_chars);
    assert!(!preview.contains(|it: char| it.is_control()), "{preview:?}");
    assert!(!preview.contains("  ") && !preview.starts_with(' '), "{preview:?}");
}
