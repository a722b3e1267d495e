//! Text of others on a terminal, without secrets and control characters: everything that this program prints there goes through here.
//!
//! ```text
//! from a model    \x1b[2J ok \u{202e}gpj.exe
//! on a terminal   ␛[2J ok �gpj.exe
//! ```
//!
//! Files and pipes get the bytes as they are; that is decided by `output`.

use std::borrow::Cow;

use msg_core::{Message, native};

/// What is shown of a character that would do something to a terminal or to the text around it:
/// a picture of a control character, U+FFFD for C1 controls and for marks of writing direction.
/// None for all others, which are shown as they are.
pub(crate) fn picture(c: char) -> Option<char> {
    match c {
        '\0'..='\x1f' => char::from_u32(0x2400 + u32::from(c)),
        '\x7f' => Some('\u{2421}'),
        '\u{80}'..='\u{9f}' => Some('\u{fffd}'),
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            Some('\u{fffd}')
        }
        _ => None,
    }
}

/// Text that does nothing to a terminal but fill it: lines and tabs stay, the rest is [pictures](picture).
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    replaced(text, |_| 0)
}

/// The same of text that this program has coloured: colours stay.
pub(crate) fn visible_but_colours(text: &str) -> Cow<'_, str> {
    replaced(text, colour)
}

/// `keep` says how many bytes at the beginning of a text are let through, whatever they are.
fn replaced(text: &str, keep: impl Fn(&str) -> usize) -> Cow<'_, str> {
    let odd = |c: char| !matches!(c, '\n' | '\t') && picture(c).is_some();
    let Some(first) = text.find(odd) else { return Cow::Borrowed(text) };
    let mut res = String::with_capacity(text.len() + 16);
    res.push_str(&text[..first]);
    let mut rest = &text[first..];
    while let Some(c) = rest.chars().next() {
        let kept = keep(rest);
        let len = if kept > 0 { kept } else { c.len_utf8() };
        match picture(c).filter(|_| kept == 0 && odd(c)) {
            // The line end of other systems is one.
            Some(_) if rest.starts_with("\r\n") => {}
            Some(picture) => res.push(picture),
            None => res.push_str(&rest[..len]),
        }
        rest = &rest[len..];
    }
    Cow::Owned(res)
}

/// The length of the sequence that chooses a colour at the beginning of a text: `ESC [ 1 ; 31 m`.
fn colour(text: &str) -> usize {
    let Some(rest) = text.strip_prefix("\x1b[") else { return 0 };
    let digits = rest.bytes().take_while(|it| it.is_ascii_digit() || *it == b';').count();
    if rest[digits..].starts_with('m') { digits + 3 } else { 0 }
}

/// A name on one line: line ends are pictures too.
pub(crate) fn name(text: &str) -> String {
    text.chars().map(|c| picture(c).unwrap_or(c)).collect()
}

// Secrets in what is printed (SE-96): exact shapes, each with a name; `[redacted:RULE]` replaces one.

pub(crate) use msg_session::{redact as text, redact_json as json};

/// What is printed, without its secrets if `asked`: of JSON those in what its strings say.
pub(crate) fn printed(printed: Vec<u8>, asked: bool, is_json: bool) -> Vec<u8> {
    let said = String::from_utf8_lossy(&printed);
    match (asked, is_json) {
        (false, _) => printed,
        (true, true) => json(&said).0.into_bytes(),
        (true, false) => text(&said).0.into_bytes(),
    }
}

/// Messages without the secrets in their texts, calls and results.
pub(crate) fn messages(messages: &[Message]) -> Vec<Message> {
    let mut all = Vec::new();
    native::write(messages, &mut all);
    let all = String::from_utf8(all).expect("because JSON is UTF-8");
    let left = native::read(json(&all).0.as_bytes());
    left.expect("because only what strings say has changed").0
}
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_commands_a_terminal() {
        assert_eq!(visible("a\tb\nc"), "a\tb\nc");
        assert_eq!(visible("a\x1b[2J\r\nb\rc\x7f\u{9b}31m"), "a␛[2J\nb␍c␡\u{fffd}31m");
        assert_eq!(visible("\u{202e}x\u{2066}\u{200f}é中"), "\u{fffd}x\u{fffd}\u{fffd}é中");
        let coloured = "\x1b[1;31merror\x1b[0m";
        assert_eq!(visible_but_colours(coloured), coloured);
        assert_eq!(visible_but_colours("\x1b[2J\x1b]0;x\x07\x1b["), "␛[2J␛]0;x␇␛[");
        assert_eq!(visible(coloured), "␛[1;31merror␛[0m");
    }

    #[test]
    fn names_stay_on_their_line() {
        assert_eq!(name("a\nb\x1b[m\u{202e}.md"), "a␊b␛[m\u{fffd}.md");
    }
}
