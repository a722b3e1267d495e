//! Long texts of messages that are not copied where an answer depends on where they stand, and not on what they say.
//!
//! ```text
//! {"role": "user", "content": "Please read the … and tell me"}
//! {"role":"user","content":"Please read the ␟0␟ and tell me"}      texts[0] has the middle
//! ```
//!
//! A chain is judged by its roles, calls and ids; of a text it matters whether it is empty or blank and whether it
//! ends in white space, which its two ends show. Where more may matter whoever uses this asks again with whole texts.
//! Texts in arguments, and in results that are objects, stay whole.

use msg_core::json::write_str;
use pyo3::prelude::*;
use pyo3::types::PyString;

/// Stands on both sides of the number of a text. Documents that have it themselves are walked with whole texts.
const MARK: char = '\u{e000}';
/// Texts of fewer bytes are walked whole.
const LONG: usize = 128;
/// So many bytes stay at each end.
const END: usize = 24;

/// Which texts of a value may be shortened.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Texts {
    /// None.
    Whole,
    /// Those that are contents of messages or parts.
    Contents,
    /// This value itself, if it is a text, and those in it.
    This,
}

impl Texts {
    /// Which of a member of an object.
    pub(crate) fn of_member(self, name: &str) -> Texts {
        match name {
            _ if self == Texts::Whole => Texts::Whole,
            "content" | "text" => Texts::This,
            "messages" | "contents" | "parts" => Texts::Contents,
            _ => Texts::Whole,
        }
    }
}

/// The texts whose middles are not in the JSON, by number.
#[derive(Default)]
pub(crate) struct Shortened<'py> {
    texts: Vec<Bound<'py, PyString>>,
    /// How many bytes the middles have.
    left_out: usize,
}

impl<'py> Shortened<'py> {
    /// Writes a long text without its middle. False, and nothing is written, for any other value.
    pub(crate) fn push(&mut self, value: &Bound<'py, PyAny>, json: &mut Vec<u8>) -> bool {
        let Ok(object) = value.cast_exact::<PyString>() else { return false };
        let Some((head, middle, tail)) = object.to_str().ok().and_then(cut) else { return false };
        self.left_out += middle.len();
        write_str(json, &format!("{head}{MARK}{}{MARK}{tail}", self.texts.len()));
        self.texts.push(object.clone());
        true
    }

    /// Whether all texts are whole.
    pub(crate) fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Whether a text has no mark but those that stand for its middles, and is no larger than `max_bytes` with them.
    pub(crate) fn is_sound(&self, json: &[u8], max_bytes: u64) -> bool {
        let marks = memchr::memmem::find_iter(json, MARK.encode_utf8(&mut [0; 4])).count();
        marks == self.texts.len() * 2 && (json.len() + self.left_out) as u64 <= max_bytes
    }

    /// A text with its middle again; the caller's own object where it is one.
    pub(crate) fn whole(&self, py: Python<'py>, text: &str) -> Bound<'py, PyString> {
        let mut pieces = text.split(MARK);
        let mut whole = pieces.next().unwrap_or_default().to_owned();
        while let (Some(number), Some(rest)) = (pieces.next(), pieces.next()) {
            let object = number.parse().ok().and_then(|it: usize| self.texts.get(it));
            let source = object.and_then(|it| it.to_str().ok());
            whole.push_str(source.and_then(cut).map_or("", |it| it.1));
            whole.push_str(rest);
            if let Some(object) = object.filter(|_| source == Some(&whole)) {
                return object.clone();
            }
        }
        PyString::new(py, &whole)
    }
}

/// Whether a report speaks of bytes or quotes the middle of a text, which only whole texts can answer.
pub(crate) fn needs_whole_texts(report: &str) -> bool {
    report.contains(MARK) || report.contains("\"start\":")
}

/// A long text as its beginning, its middle and its end; nothing of one that is short, or has a blank end.
fn cut(text: &str) -> Option<(&str, &str, &str)> {
    if text.len() < LONG {
        return None;
    }
    let boundary = |at: usize| (at..).find(|it| text.is_char_boundary(*it)).unwrap_or(text.len());
    let (first, last) = (boundary(END), boundary(text.len() - END));
    let (head, middle, tail) = (&text[..first], &text[first..last], &text[last..]);
    (!head.trim().is_empty() && !tail.trim().is_empty()).then_some((head, middle, tail))
}
