//! Members and elements of JSON text that was validated before, so only the end of each value is searched for.

use std::borrow::Cow;

use msg_json::{unescape, value_end};

/// The members of an object, each with its text.
pub(crate) type Members<'a> = Vec<(Cow<'a, str>, &'a str)>;

/// The members of an object; `None` for any other value.
pub(super) fn members(json: &str) -> Option<Members<'_>> {
    members_of_first(json).map(|it| it.0)
}

/// As [`members`], for an object in which one value is already known, so it need not be scanned.
pub(super) fn members_around<'a>(json: &'a str, known: &'a str) -> Option<Members<'a>> {
    let value = |rest: &'a str| match std::ptr::eq(rest.as_ptr(), known.as_ptr()) {
        true => Some(rest.split_at(known.len())),
        false => next_value(rest),
    };
    let all = members_by(json, |rest| value(rest.trim_ascii_start()));
    all.map(|it| it.0)
}

/// The members of the object at the start of a text, and the rest of the text.
fn members_of_first(json: &str) -> Option<(Members<'_>, &str)> {
    members_by(json, next_value)
}

fn members_by<'a>(
    json: &'a str,
    next: impl Fn(&'a str) -> Option<(&'a str, &'a str)>,
) -> Option<(Members<'a>, &'a str)> {
    let mut rest = json.trim_ascii_start().strip_prefix('{')?;
    let mut res = Vec::new();
    while let Some((name, after)) = next_value(rest) {
        let (value, after) = next(after.trim_ascii_start().strip_prefix(':')?)?;
        res.push((text(name)?, value));
        rest = after;
    }
    Some((res, rest.trim_ascii_start().strip_prefix('}')?))
}

/// The first element of the rest of a list, its members if it is an object, and the text after it. Scans the element
/// once.
pub(super) fn next_element(rest: &str) -> Option<(&str, Option<Members<'_>>, &str)> {
    let rest = after_comma(rest);
    match members_of_first(rest) {
        Some((members, after)) => Some((&rest[..rest.len() - after.len()], Some(members), after)),
        None => next_value(rest).map(|(element, after)| (element, None, after)),
    }
}

/// The elements of an array; empty for any other value.
pub(super) fn elements(json: &str) -> Vec<&str> {
    let mut rest = json.trim_ascii_start().strip_prefix('[').unwrap_or_default();
    let next = || {
        let (element, after) = next_value(rest)?;
        rest = after;
        Some(element)
    };
    std::iter::from_fn(next).collect()
}

/// The first value of the rest of a list or an object, and the text after it; `None` at the end.
fn next_value(rest: &str) -> Option<(&str, &str)> {
    let rest = after_comma(rest);
    let end = value_end(rest.as_bytes(), 0)?;
    Some(rest.split_at(end))
}

fn after_comma(rest: &str) -> &str {
    let rest = rest.trim_ascii_start();
    rest.strip_prefix(',').unwrap_or(rest).trim_ascii_start()
}

/// The last member with a name; it is the one that counts.
pub(super) fn of<'a>(members: &Members<'a>, name: &str) -> Option<&'a str> {
    members.iter().rev().find(|it| it.0 == name).map(|it| it.1)
}

pub(super) fn text_of<'a>(members: &Members<'a>, name: &str) -> Option<Cow<'a, str>> {
    of(members, name).and_then(text)
}

pub(super) fn text(json: &str) -> Option<Cow<'_, str>> {
    let inner = json.strip_prefix('"')?.strip_suffix('"')?;
    Some(if inner.contains('\\') { unescape(inner).text } else { inner.into() })
}

/// Whether a text is base64, with or without line breaks.
pub(crate) fn is_base64(it: &str) -> bool {
    let is_sound = |it: &str| {
        let coded = it.trim_end_matches('=');
        !coded.is_empty() && it.len() - coded.len() <= 2 && coded.bytes().all(is_digit)
    };
    is_sound(it)
        || it.contains(|it: char| it.is_ascii_whitespace())
            && is_sound(&it.split_ascii_whitespace().collect::<String>())
}

/// Whether a text is base64 or a data URL with base64.
pub(crate) fn is_data(it: &str) -> bool {
    match it.strip_prefix("data:") {
        Some(url) => url.split_once(";base64,").is_some_and(|it| is_base64(it.1)),
        None => is_base64(it),
    }
}

/// Whether a text is a URL. Does not check whether it can be loaded.
pub(crate) fn is_url(it: &str) -> bool {
    let is_scheme = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_alphanumeric());
    it.starts_with("data:") || it.split_once("://").is_some_and(|it| is_scheme(it.0))
}

/// Whether a text is either not a data URL, or one with valid base64.
pub(crate) fn is_sound_url(it: &str) -> bool {
    let data = it.strip_prefix("data:").and_then(|it| it.split_once(";base64,"));
    data.is_none_or(|it| is_base64(it.1))
}

/// Whether a byte is a digit of base64, in either alphabet.
fn is_digit(it: u8) -> bool {
    const DIGITS: [bool; 256] = {
        let mut res = [false; 256];
        let mut at = 0;
        while at < 256 {
            let it = at as u8;
            res[at] = it.is_ascii_alphanumeric() || matches!(it, b'+' | b'/' | b'-' | b'_');
            at += 1;
        }
        res
    };
    DIGITS[usize::from(it)]
}

// The parts of an element, some of which only mark the part before them:
//
// ```json
// {"role":"user","content":[{"text":"q"},{"cachePoint":{"type":"default"}}]}
// ```
//
// is one part of two blocks.

/// The number of parts of an element with these members.
pub(super) fn part_count(object: &Members<'_>, attached: Option<&'static str>) -> usize {
    let of_list = |name: &str| match of(object, name) {
        Some(it) if it.starts_with('[') && attached.is_some() => {
            let mut marks = Marks::new(attached);
            let all = elements(it);
            all.iter().for_each(|it| {
                marks.up_to(members(it).as_ref());
            });
            Some(all.len() - marks.n)
        }
        Some(it) if it.starts_with('[') => Some(elements(it).len()),
        Some(it) if it.starts_with(['"', '{']) => Some(1),
        _ => None,
    };
    of_list("content").or_else(|| of_list("parts")).unwrap_or_default()
}

/// Elements of a list that belong to the part before them.
pub(super) struct Marks {
    name: Option<&'static str>,
    n: usize,
    is_after_part: bool,
}

impl Marks {
    pub(super) fn new(name: Option<&'static str>) -> Self {
        Marks { name, n: 0, is_after_part: false }
    }

    /// The number of marks before the next element, which has these members.
    pub(super) fn up_to(&mut self, members: Option<&Members<'_>>) -> usize {
        let Some(name) = self.name else { return 0 };
        let is_mark = matches!(members.map(Vec::as_slice), Some([one]) if one.0 == name);
        self.n += usize::from(is_mark && self.is_after_part);
        self.is_after_part = !is_mark;
        self.n
    }
}
