//! One line that is no JSON object as it stands: what can be saved of it (SE-21 to SE-26).

use std::borrow::Cow;

use crate::json::{BLANKS, Object};

/// What is left of a damaged line.
pub(super) struct Saved<'a> {
    /// The whole objects that were found.
    pub(super) objects: Vec<Cow<'a, str>>,
    /// What was done, in the order of the rules.
    pub(super) faults: Vec<Fault>,
}

/// A fault of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    Nul,
    Utf8,
    Joined,
    Merged,
    NotAnObject,
}

/// Looks at a line (without its line end). Linear: the search for an object in it is bounded by
/// [`ATTEMPTS`] times its length.
pub(super) fn save(line: &[u8]) -> Saved<'_> {
    let mut faults = Vec::new();
    let mut bytes = Cow::Borrowed(line);
    if memchr::memchr(0, line).is_some() {
        faults.push(Fault::Nul);
        bytes = Cow::Owned(line.iter().copied().filter(|it| *it != 0).collect());
    }
    let text = match bytes {
        Cow::Borrowed(it) => String::from_utf8_lossy(it),
        Cow::Owned(it) => Cow::Owned(lossy(it)),
    };
    if std::str::from_utf8(line).is_err() {
        faults.push(Fault::Utf8);
    }
    let objects = objects(&text, &mut faults);
    Saved { objects: objects.into_iter().map(Cow::Owned).collect(), faults }
}

fn lossy(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|it| String::from_utf8_lossy(it.as_bytes()).into_owned())
}

fn objects(text: &str, faults: &mut Vec<Fault>) -> Vec<String> {
    if text.trim_matches(BLANKS).is_empty() {
        return Vec::new();
    }
    if Object::whole(text, 0).is_some() {
        return vec![text.to_owned()];
    }
    let several = split(text);
    if several.len() > 1 {
        faults.push(Fault::Joined);
        return several.into_iter().map(str::to_owned).collect();
    }
    if let Some(object) = last_object(text) {
        faults.push(Fault::Merged);
        return vec![object.to_owned()];
    }
    faults.push(Fault::NotAnObject);
    Vec::new()
}

/// The objects that a line consists of, if it is nothing but whole objects (SE-23).
fn split(text: &str) -> Vec<&str> {
    let mut res = Vec::new();
    let mut rest = text.trim_matches(BLANKS);
    while !rest.is_empty() {
        let Some((_, end)) = Object::begin(rest, 0) else { return Vec::new() };
        res.push(&rest[..end]);
        rest = rest[end..].trim_start_matches(BLANKS);
    }
    res
}

/// How often a line may be walked over in the search for an object at its end.
const ATTEMPTS: usize = 8;

/// The whole object behind text that was cut off (SE-24): the longest one that ends the line.
fn last_object(text: &str) -> Option<&str> {
    let text = text.trim_end_matches(BLANKS);
    let mut budget = text.len().saturating_mul(ATTEMPTS);
    for at in memchr::memchr_iter(b'{', text.as_bytes()).filter(|it| *it > 0) {
        if !text[at + 1..].trim_start_matches(BLANKS).starts_with('"') {
            continue;
        }
        match walk(&text[at..]) {
            Ok(object) if is_record(&object) => return Some(&text[at..]),
            Ok(_) => {}
            Err(walked) => budget = budget.checked_sub(walked)?,
        }
    }
    None
}

/// The object that the text is, or how far it could be read.
fn walk(text: &str) -> Result<Object<'_>, usize> {
    match msg_json::validate(text) {
        Ok(()) => Object::whole(text, 0).ok_or(text.len()),
        Err(it) => Err(it.offset + 1),
    }
}

fn is_record(object: &Object<'_>) -> bool {
    const NAMES: [&str; 7] = ["type", "uuid", "timestamp", "role", "id", "$set", "messages"];
    object.len() >= 2 && NAMES.iter().any(|it| object.has(it))
}
