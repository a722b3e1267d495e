//! The short cut of the assemblers: most events of a stream are the one before with another string
//! in one place.
//!
//! An event that did nothing but append one string is remembered as what stands before and behind
//! that string. The next one that stands between the same bytes, and is a well-formed string, would
//! be read in exactly the same way; so it is not read again. Everything else takes the long way.

use memchr::memchr;
use msg_core::json::skip_value;

use super::wire::Str;

/// An event with a hole in it; `T` says what the string in the hole is.
#[derive(Debug, Clone)]
pub(crate) struct Template<T> {
    /// Up to and with the opening quote.
    head: String,
    /// Behind the closing quote.
    tail: String,
    target: Option<T>,
}

/// What reading an event did.
#[derive(Debug)]
pub(crate) struct Effects<'a, T> {
    count: usize,
    only: Option<(T, Str<'a>)>,
}

/// Larger events are not worth remembering.
const MOST: usize = 4096;

impl<T> Default for Template<T> {
    fn default() -> Self {
        Self { head: String::new(), tail: String::new(), target: None }
    }
}

impl<T> Default for Effects<'_, T> {
    fn default() -> Self {
        Self { count: 0, only: None }
    }
}

impl<'a, T> Effects<'a, T> {
    /// A string was appended, and that was all.
    pub(crate) fn append(&mut self, target: T, string: Str<'a>) {
        self.count += 1;
        self.only = Some((target, string));
    }

    /// Something was done that may not be left out when the same comes again.
    pub(crate) fn other(&mut self) {
        self.count += 2;
    }
}

impl<T: Clone> Template<T> {
    /// The string in the hole and what it is, if this event fits; empty strings do not.
    pub(crate) fn fit<'a>(&self, data: &'a str) -> Option<(T, Str<'a>)> {
        let target = self.target.as_ref()?;
        let start = self.head.len();
        let rest = data.strip_prefix(&*self.head)?;
        // A string without escapes most of the time; the quote is then its end.
        let bytes = data.as_bytes();
        let end = skip_value(bytes, start - 1).ok()?;
        if data.get(end..)? != self.tail || end < start + 2 {
            return None;
        }
        let source = &rest[..end - 1 - start];
        let escaped = memchr(b'\\', source.as_bytes()).is_some();
        Some((target.clone(), Str { source, escaped }))
    }

    /// Remembers an event, if all it did was to append one string.
    pub(crate) fn learn(&mut self, data: &str, effects: Effects<'_, T>) {
        let Some((target, string)) = effects.only.filter(|_| effects.count == 1) else {
            return;
        };
        // The string is a slice of the data.
        let start = (string.source.as_ptr() as usize).wrapping_sub(data.as_ptr() as usize);
        let end = start.wrapping_add(string.source.len());
        let around = (data.get(..start), data.get(end..).and_then(|it| it.strip_prefix('"')));
        if let (Some(head), Some(tail)) = around
            && head.ends_with('"')
            && head.len() + tail.len() <= MOST
        {
            self.target = Some(target);
            head.clone_into(&mut self.head);
            tail.clone_into(&mut self.tail);
        }
    }
}
