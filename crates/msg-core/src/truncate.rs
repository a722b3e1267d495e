//! Cutting text to a number of characters without cutting a character that people see (MS-17).
//!
//! It knows the handful of ranges that the rule names. It does not do full grapheme segmentation:
//! that needs the Unicode tables, and a log line does not.

use std::borrow::Cow;

/// Characters that the cut moves left at most, so that a hostile text cannot make it walk far.
const MAX_STEPS: usize = 32;
const ZERO_WIDTH_JOINER: char = '\u{200D}';

/// Cuts `text` to at most `max_chars` characters (Unicode scalar values), the last of them `…`
/// where something was cut (MS-17).
///
/// The cut moves left rather than separate a base from its combining marks, a joined emoji, a flag
/// or a `\r\n`. Borrows when nothing is cut; reads at most `max_chars` + 1 characters.
///
/// ```
/// use msg_core::truncate;
/// assert_eq!(truncate("abcd", 4), "abcd");
/// assert_eq!(truncate("abcde", 4), "abc…");
/// assert_eq!(truncate("🇩🇪🇫🇷", 3), "🇩🇪…");
/// ```
pub fn truncate(text: &str, max_chars: usize) -> Cow<'_, str> {
    match prefix_len(text, max_chars) {
        None => Cow::Borrowed(text),
        Some(_) if max_chars == 0 => Cow::Borrowed(""),
        Some(len) => {
            let mut res = String::with_capacity(len + '…'.len_utf8());
            res.push_str(&text[..len]);
            res.push('…');
            Cow::Owned(res)
        }
    }
}

/// The bytes of `text` that stay in front of the `…`, or `None` when all of it fits.
fn prefix_len(text: &str, max_chars: usize) -> Option<usize> {
    // A text of at most `max_chars` bytes has no more characters than that.
    if text.len() <= max_chars {
        return None;
    }
    let mut cut = 0;
    for (n_chars, (at, _)) in text.char_indices().enumerate() {
        if n_chars + 1 == max_chars {
            cut = at;
        }
        if n_chars == max_chars {
            return Some(move_left(text, cut));
        }
    }
    None
}

/// The nearest position at or left of `cut` that separates nothing, or `cut` if none is near.
fn move_left(text: &str, cut: usize) -> usize {
    let mut at = cut;
    for _ in 0..=MAX_STEPS {
        match text[..at].chars().next_back() {
            Some(before) if separates(text, at, before) => at -= before.len_utf8(),
            _ => return at,
        }
    }
    cut
}

/// Whether a cut at `at`, behind the character `before`, takes something apart.
fn separates(text: &str, at: usize, before: char) -> bool {
    let Some(after) = text[at..].chars().next() else {
        return false;
    };
    (before == '\r' && after == '\n')
        || before == ZERO_WIDTH_JOINER
        || after == ZERO_WIDTH_JOINER
        || extends(after)
        || (is_regional_indicator(before)
            && is_regional_indicator(after)
            && halves_a_flag(&text[..at]))
}

/// Combining marks, variation selectors and skin tones: they belong to what stands before them.
fn extends(c: char) -> bool {
    matches!(c,
        '\u{0300}'..='\u{036F}'
        | '\u{1AB0}'..='\u{1AFF}'
        | '\u{1DC0}'..='\u{1DFF}'
        | '\u{20D0}'..='\u{20FF}'
        | '\u{FE00}'..='\u{FE0F}'
        | '\u{FE20}'..='\u{FE2F}'
        | '\u{1F3FB}'..='\u{1F3FF}')
}

fn is_regional_indicator(c: char) -> bool {
    matches!(c, '\u{1F1E6}'..='\u{1F1FF}')
}

/// Flags pair up from the start of their run: an odd number before the cut is half a flag.
/// One step left makes the number even, so that this counts a run twice at most.
fn halves_a_flag(before: &str) -> bool {
    let n_before = before.chars().rev().take_while(|it| is_regional_indicator(*it)).count();
    n_before % 2 == 1
}
