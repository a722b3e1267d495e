//! Byte edits (SE-5): what a mend is made of. Bytes that no edit names stay as they are.
//!
//! ```text
//! [A, B, C]   drop B   ->  [A, C]     the comma after it and the blanks up to C go with it
//! [A, B, C]   drop C   ->  [A, B]     the comma before it goes
//! ```

use std::ops::Range;

use crate::json::{Object, Value, quoted};

/// One replacement: the bytes of `span` become `text`. An insertion has an empty span.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edit {
    /// The bytes that go.
    pub(crate) span: Range<usize>,
    /// What comes in their place.
    pub(crate) text: String,
}

impl Edit {
    pub(crate) fn replace(span: Range<usize>, text: impl Into<String>) -> Self {
        Self { span, text: text.into() }
    }

    pub(crate) fn remove(span: Range<usize>) -> Self {
        Self::replace(span, "")
    }

    /// Whether it changes nothing.
    pub(crate) fn is_nothing(&self) -> bool {
        self.span.is_empty() && self.text.is_empty()
    }

    pub(crate) fn insert(at: usize, text: impl Into<String>) -> Self {
        Self::replace(at..at, text)
    }
}

/// Makes the edits. Those at one place keep their order; one inside bytes that another removed falls
/// away with them. Linear in the text, but for the sorting of the edits.
pub(crate) fn apply(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|it| it.span.start);
    let grown: usize = edits.iter().map(|it| it.text.len()).sum();
    let mut out = String::with_capacity(text.len() + grown);
    let mut at = 0;
    for edit in edits {
        if edit.span.start < at {
            continue;
        }
        out.push_str(&text[at..edit.span.start]);
        out.push_str(&edit.text);
        at = edit.span.end;
    }
    out.push_str(&text[at..]);
    out
}

/// The edits that drop elements of an array, some of which stay (SE-5).
pub(crate) fn drop_elements(elements: &[Value<'_>], dropped: impl Fn(usize) -> bool) -> Vec<Edit> {
    let Some(last_kept) = (0..elements.len()).rev().find(|it| !dropped(*it)) else {
        return Vec::new();
    };
    let mut res = Vec::new();
    for it in (0..last_kept).filter(|it| dropped(*it)) {
        res.push(Edit::remove(elements[it].at..elements[it + 1].at));
    }
    if last_kept + 1 < elements.len() {
        let end = elements[elements.len() - 1].end();
        res.push(Edit::remove(elements[last_kept].end()..end));
    }
    res
}

/// Sets a member of an object: its value is replaced, or the member added after the last one (SE-5).
pub(crate) fn set_member(object: &Object<'_>, name: &str, value: impl Into<String>) -> Edit {
    let value = value.into();
    if let Some(old) = object.get(name) {
        return Edit::replace(old.span(), value);
    }
    let (at, comma) = object.end_of_members();
    let comma = if comma { "," } else { "" };
    Edit::insert(at, format!("{comma}{}:{value}", quoted(name)))
}

#[cfg(test)]
mod tests {
    use super::{Edit, apply, drop_elements};
    use crate::json::Value;

    fn dropped(text: &str, gone: &[usize]) -> String {
        let elements = Value::whole(text, 0).and_then(|it| it.array()).expect("an array");
        apply(text, drop_elements(&elements, |it| gone.contains(&it)))
    }

    #[test]
    fn elements_take_their_comma_along() {
        assert_eq!(dropped("[1, 2,\n 3]", &[0]), "[2,\n 3]");
        assert_eq!(dropped("[1, 2,\n 3]", &[1]), "[1, 3]");
        assert_eq!(dropped("[1, 2,\n 3]", &[2]), "[1, 2]");
        assert_eq!(dropped("[1, 2,\n 3]", &[1, 2]), "[1]");
        assert_eq!(dropped("[1, 2,\n 3 ]", &[0, 1]), "[3 ]");
    }

    #[test]
    fn an_edit_inside_removed_bytes_falls_away() {
        let edits = vec![Edit::replace(2..3, "x"), Edit::remove(1..4), Edit::insert(4, "!")];
        assert_eq!(apply("abcdef", edits), "a!ef");
    }
}
