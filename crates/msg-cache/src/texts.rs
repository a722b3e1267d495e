//! What differs between two texts: a clock, one stretch put in or taken out, or something else (CL-16).

use crate::change::How;

/// How much of a number counts as volatile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Numbers {
    /// Every number: tools and system prompts are meant to stay.
    All,
    /// Those that look like a time or an id: numbers in a conversation mean something.
    Times,
}

/// How a text became another one.
pub(crate) fn text_change(a: &str, b: &str, numbers: Numbers) -> How {
    if is_volatile(a, b, numbers) {
        return How::Volatile;
    }
    let (start, end) = common_ends(a, b);
    if start + end == a.len() {
        How::Added
    } else if start + end == b.len() {
        How::Removed
    } else {
        How::Edited
    }
}

/// Length of the common beginning, and of the common end of what is left; on borders of characters.
pub(crate) fn common_ends(a: &str, b: &str) -> (usize, usize) {
    let pairs = a.chars().zip(b.chars());
    let start: usize = pairs.take_while(|it| it.0 == it.1).map(|it| it.0.len_utf8()).sum();
    let (a, b) = (&a[start..], &b[start..]);
    let pairs = a.chars().rev().zip(b.chars().rev());
    (start, pairs.take_while(|it| it.0 == it.1).map(|it| it.0.len_utf8()).sum())
}

const SEPARATORS: &str = "\"'<>()[]{},;";

fn is_separator(it: char) -> bool {
    it.is_whitespace() || SEPARATORS.contains(it)
}

fn is_volatile(a: &str, b: &str, numbers: Numbers) -> bool {
    let separators = |it: &'_ str| it.chars().filter(|it| is_separator(*it)).collect::<String>();
    if separators(a) != separators(b) {
        return false;
    }
    let words = a.split(is_separator).zip(b.split(is_separator));
    let has_name = || a.split(is_separator).map(bare).any(is_name_of_time);
    words
        .filter(|(one, other)| one != other)
        .all(|(one, other)| is_volatile_word(bare(one), bare(other), numbers, &has_name))
}

fn bare(word: &str) -> &str {
    word.trim_matches(['.', '!', '?', ':', '*'])
}

fn is_volatile_word(a: &str, b: &str, numbers: Numbers, text_has_name: &dyn Fn() -> bool) -> bool {
    if is_name_of_time(a) && is_name_of_time(b) {
        return true;
    }
    let has_digit = |it: &str| it.contains(|it: char| it.is_ascii_digit());
    if !has_digit(a) || !has_digit(b) {
        return false;
    }
    let is_id = |it: &str| it.bytes().all(|it| it.is_ascii_hexdigit() || it == b'-');
    if a.len() == b.len() && a.len() >= 8 && is_id(a) && is_id(b) {
        return true;
    }
    if folded(a) != folded(b) {
        return false;
    }
    let is_number = |it: &str| it.bytes().all(|it| it.is_ascii_digit());
    let is_short = |it: &str| is_number(it) && matches!(it.len(), 1 | 2 | 4);
    numbers == Numbers::All
        || a.contains([':', '-', '/'])
        || a.len() >= 8
        || (is_short(a) && is_short(b) && text_has_name())
}

/// Each run of digits as one 9.
fn folded(word: &str) -> String {
    let mut res = String::new();
    for it in word.chars() {
        match it.is_ascii_digit() {
            true if res.ends_with('9') => {}
            true => res.push('9'),
            false => res.push(it),
        }
    }
    res
}

fn is_name_of_time(word: &str) -> bool {
    const NAMES: &[&str] = &[
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
        "jan",
        "feb",
        "mar",
        "apr",
        "jun",
        "jul",
        "aug",
        "sep",
        "sept",
        "oct",
        "nov",
        "dec",
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
        "mon",
        "tue",
        "tues",
        "wed",
        "thu",
        "thur",
        "thurs",
        "fri",
        "sat",
        "sun",
        "am",
        "pm",
    ];
    word.len() <= 9 && NAMES.contains(&word.to_ascii_lowercase().as_str())
}
