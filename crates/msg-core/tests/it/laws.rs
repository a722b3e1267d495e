//! The laws of texts: a function each, which panics where the law is broken. The laws of messages are
//! `msg-forms`', which has more than one form of them.

use msg_core::{Message, truncate};

/// A text is written as serde_json writes it, and read back.
pub fn strings_are_read_back(text: &str) {
    let mut out = Vec::new();
    msg_json::write_str(&mut out, text);
    let written = String::from_utf8(out).expect("written text is UTF-8");
    assert_eq!(written, serde_json::to_string(text).expect("because a text is JSON"));
    let mut reader = msg_json::Reader::from_text(&written);
    assert_eq!(reader.string().expect("what was written can be read").text, text);
    assert_eq!(msg_json::unescape(&written[1..written.len() - 1]).text, text);
}

/// Law 5: a cut text has at most so many characters, is a prefix with at most `…` behind it, and
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
