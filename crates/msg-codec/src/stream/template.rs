//! The short cut of the assemblers: most events of a stream are the one before with another string
//! in one place.
//!
//! An event that did nothing but append one string is remembered as what stands before and behind
//! that string. The next one that stands between the same bytes, and is a well-formed string, would
//! be read in exactly the same way; so it is not read again. Everything else takes the long way.
//!
//! A second hole behind it may hold padding: a string that means nothing and is never the same twice,
//! with which OpenAI hides the length of the text (`obfuscation`).

use memchr::memchr;
use msg_json::skip_value;

use crate::json::{Json, Str};

/// An event with a hole in it; `T` says what the string in the hole is.
#[derive(Debug, Clone)]
pub struct Template<T> {
    /// Up to and with the opening quote.
    head: String,
    /// Behind the closing quote; where there is padding, up to and with its opening quote.
    tail: String,
    /// Behind the closing quote of the padding, if there is some.
    end: Option<String>,
    target: Option<T>,
}

/// What reading an event did.
#[derive(Debug)]
pub struct Effects<'a, T> {
    count: usize,
    only: Option<(T, Str<'a>)>,
    padding: Option<Str<'a>>,
}

/// Larger events are not worth remembering.
const MOST: usize = 4096;

impl<T> Default for Template<T> {
    fn default() -> Self {
        Self { head: String::new(), tail: String::new(), end: None, target: None }
    }
}

impl<T> Default for Effects<'_, T> {
    fn default() -> Self {
        Self { count: 0, only: None, padding: None }
    }
}

impl<'a, T> Effects<'a, T> {
    /// A string was appended, and that was all.
    pub fn append(&mut self, target: T, string: Str<'a>) {
        self.count += 1;
        self.only = Some((target, string));
    }

    /// The text of a value was appended: that was all if it is a string.
    pub fn said(&mut self, target: T, value: Option<Json<'a>>) {
        match value.and_then(Json::filled) {
            Some(string) => self.append(target, string),
            None => self.other(),
        }
    }

    /// A string was there that means nothing, whatever it is.
    pub fn pad(&mut self, string: Str<'a>) {
        self.padding = Some(string);
    }

    /// Something was done that may not be left out when the same comes again.
    pub fn other(&mut self) {
        self.count += 2;
    }
}

impl<T: Clone> Template<T> {
    /// The string in the hole and what it is, if this event fits; empty strings do not.
    pub fn fit<'a>(&self, data: &'a str) -> Option<(T, Str<'a>)> {
        let target = self.target.as_ref()?;
        let (source, rest) = string_at(data, &self.head)?;
        match &self.end {
            None if rest == self.tail => {}
            Some(end) if string_at(rest, &self.tail)?.1 == end => {}
            _ => return None,
        }
        // A string without escapes most of the time.
        let escaped = memchr(b'\\', source.as_bytes()).is_some();
        (!source.is_empty()).then(|| (target.clone(), Str { source, escaped }))
    }

    /// Forgets the event: what reading it would do has changed.
    pub fn forget(&mut self) {
        self.target = None;
    }

    /// Remembers an event, if all it did was to append one string.
    pub fn learn(&mut self, data: &str, effects: Effects<'_, T>) {
        let Some((target, string)) = effects.only.filter(|_| effects.count == 1) else {
            return;
        };
        let Some((head, tail)) = around(data, string) else {
            return;
        };
        // Padding that stands before the text is not worth another hole.
        let padded = effects.padding.and_then(|it| around(tail, it));
        let (tail, end) = padded.map_or((tail, None), |(tail, end)| (tail, Some(end)));
        if head.len() + tail.len() + end.map_or(0, str::len) <= MOST {
            self.target = Some(target);
            head.clone_into(&mut self.head);
            tail.clone_into(&mut self.tail);
            self.end = end.map(str::to_owned);
        }
    }
}

/// What stands between the quotes behind `head`, and what stands behind them.
fn string_at<'a>(data: &'a str, head: &str) -> Option<(&'a str, &'a str)> {
    let rest = data.strip_prefix(head)?;
    let end = skip_value(data.as_bytes(), head.len() - 1).ok()?;
    Some((&rest[..end - 1 - head.len()], &data[end..]))
}

/// What stands before and behind the inside of a string that is a slice of `data`: up to its opening
/// quote, and from behind its closing one.
fn around<'a>(data: &'a str, string: Str<'_>) -> Option<(&'a str, &'a str)> {
    let start = (string.source.as_ptr() as usize).wrapping_sub(data.as_ptr() as usize);
    let end = start.wrapping_add(string.source.len());
    let head = data.get(..start).filter(|it| it.ends_with('"'))?;
    Some((head, data.get(end..)?.strip_prefix('"')?))
}
