//! Paths into the arguments of a call (GE-17): the names and indices of RFC 9535, and nothing else of it.
//!
//! ```text
//! $.a['k k'][1].q      Name a, Name "k k", Index 1, Name q
//! ```

use std::borrow::Cow;

/// The largest index: gaps before it are made of nulls.
pub(super) const MAX_INDEX: usize = 4096;

/// More steps than any schema has.
const MAX_STEPS: usize = 128;

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step<'p> {
    Name(Cow<'p, str>),
    Index(usize),
}

/// The steps of a path; none if it is of another kind, or goes too far.
pub(super) fn parse(path: &str) -> Option<Vec<Step<'_>>> {
    let mut rest = path.strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        let (step, behind) = match rest.as_bytes().first()? {
            b'.' => dotted(&rest[1..])?,
            b'[' => bracketed(&rest[1..])?,
            _ => return None,
        };
        steps.push(step);
        rest = behind;
        if steps.len() > MAX_STEPS {
            return None;
        }
    }
    (!steps.is_empty()).then_some(steps)
}

fn dotted(rest: &str) -> Option<(Step<'_>, &str)> {
    let end = rest.find(['.', '[']).unwrap_or(rest.len());
    let (name, behind) = rest.split_at(end);
    let is_name = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-' || !it.is_ascii();
    let is_plain = !name.is_empty() && name.chars().all(is_name);
    is_plain.then_some((Step::Name(Cow::Borrowed(name)), behind))
}

fn bracketed(rest: &str) -> Option<(Step<'_>, &str)> {
    let quote = rest.chars().next().filter(|it| matches!(it, '\'' | '"'));
    let Some(quote) = quote else {
        let (digits, behind) = rest.split_once(']')?;
        let is_index = !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit());
        // What is too large for a number is too large for an index.
        let index = digits.parse().unwrap_or(usize::MAX);
        return is_index.then_some((Step::Index(index), behind));
    };
    let end = closing(&rest[1..], quote)?;
    let name = &rest[1..=end];
    let behind = rest[end + 2..].strip_prefix(']')?;
    Some((Step::Name(unquoted(name, quote)?), behind))
}

/// Where the quote is that ends a name.
fn closing(text: &str, quote: char) -> Option<usize> {
    let mut is_escaped = false;
    for (at, it) in text.char_indices() {
        match it {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            it if it == quote => return Some(at),
            _ => {}
        }
    }
    None
}

/// The name that a quoted text spells: escapes are those of JSON, and that of the quote.
fn unquoted(name: &str, quote: char) -> Option<Cow<'_, str>> {
    if !name.contains('\\') {
        return Some(Cow::Borrowed(name));
    }
    let json =
        if quote == '\'' { name.replace("\\'", "'").replace('"', "\\\"") } else { name.into() };
    msg_json::validate(&format!("\"{json}\"")).ok()?;
    Some(Cow::Owned(msg_json::unescape(&json).text.into_owned()))
}
