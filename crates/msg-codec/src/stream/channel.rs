//! A text that grows by deltas (OA-24): surrogate halves that arrive apart are joined, and the
//! caller's limits are kept.

use msg_json::unescape_into;

use super::notes::Note;
use super::step::Gauge;
use crate::json::Str;

/// One growing text: a message's text, its reasoning, the arguments of a call.
#[derive(Debug, Clone, Default)]
pub struct Channel {
    text: String,
    /// The first half of a surrogate pair whose second half may come with the next delta.
    half: Option<u16>,
    /// A delta went over the limit: nothing more is taken.
    full: bool,
}

impl Channel {
    /// The text so far.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether nothing came.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && self.half.is_none()
    }

    /// Whether something was dropped because of a limit.
    pub fn is_full(&self) -> bool {
        self.full
    }

    /// Gives the text away.
    pub fn into_text(self) -> String {
        self.text
    }

    /// Appends a delta and gives what it added to the text.
    pub fn push(&mut self, delta: Str<'_>, gauge: &mut Gauge<'_>) -> &str {
        let start = self.text.len();
        if self.full || delta.source.is_empty() {
            return "";
        }
        if !delta.escaped {
            self.end_half(gauge);
            self.text.push_str(delta.source);
        } else if self.half.is_some() {
            self.push_units(delta.source, gauge);
        } else if unescape_into(delta.source, &mut self.text) {
            self.text.truncate(start);
            self.push_units(delta.source, gauge);
        }
        self.keep_within_limits(start, gauge)
    }

    /// Ends the text: a half without its partner becomes U+FFFD. Gives what was added.
    pub fn end(&mut self, gauge: &mut Gauge<'_>) -> &str {
        let start = self.text.len();
        self.end_half(gauge);
        self.keep_within_limits(start, gauge)
    }

    /// Takes the whole text at its end (OA-22): gives what it adds to the deltas, or nothing if it
    /// does not begin with them and took their place.
    pub fn take_whole(&mut self, whole: &str, gauge: &mut Gauge<'_>) -> Option<&str> {
        if let Some(rest) = whole.strip_prefix(&*self.text) {
            self.half = None;
            return Some(self.push(Str::plain(rest), gauge));
        }
        self.replace(whole, gauge);
        None
    }

    /// Replaces the whole text.
    pub fn replace(&mut self, text: &str, gauge: &mut Gauge<'_>) {
        *gauge.left = gauge.left.saturating_add(self.text.len());
        self.text.clear();
        self.half = None;
        self.push(Str::plain(text), gauge);
    }

    /// Takes back what was added from `start` on if it went over a limit.
    fn keep_within_limits(&mut self, start: usize, gauge: &mut Gauge<'_>) -> &str {
        let added = self.text.len() - start;
        if added > *gauge.left || self.text.len() > gauge.most {
            self.text.truncate(start);
            self.half = None;
            self.full = true;
            gauge.limit();
        } else {
            *gauge.left -= added;
        }
        &self.text[start..]
    }

    /// Appends the source of a delta that has, or ends, unpaired halves.
    fn push_units(&mut self, source: &str, gauge: &mut Gauge<'_>) {
        let mut rest = source;
        while !rest.is_empty() {
            let plain = rest.find('\\').unwrap_or(rest.len());
            let len = if rest[plain..].starts_with("\\u") { 6 } else { 2 };
            let (text, behind) = rest.split_at(plain);
            let (escape, behind) = behind.split_at_checked(len).unwrap_or((behind, ""));
            if !text.is_empty() {
                self.end_half(gauge);
                self.text.push_str(text);
            }
            match surrogate(escape) {
                Some(unit) => self.push_half(unit, gauge),
                None if escape.is_empty() => {}
                None => {
                    self.end_half(gauge);
                    unescape_into(escape, &mut self.text);
                }
            }
            rest = behind;
        }
    }

    fn push_half(&mut self, unit: u16, gauge: &mut Gauge<'_>) {
        if let (Some(high), 0xdc00..) = (self.half, unit) {
            self.half = None;
            self.text.extend(char::decode_utf16([high, unit]).flatten());
            return;
        }
        self.end_half(gauge);
        self.half = Some(unit);
        if unit >= 0xdc00 {
            self.end_half(gauge);
        }
    }

    fn end_half(&mut self, gauge: &mut Gauge<'_>) {
        if self.half.take().is_some() {
            self.text.push(char::REPLACEMENT_CHARACTER);
            gauge.notes.add(Note::LONE_SURROGATE, gauge.at, || {
                "half of a surrogate pair stands alone and became U+FFFD".into()
            });
        }
    }
}

/// The surrogate half that an escape `\uXXXX` stands for.
fn surrogate(escape: &str) -> Option<u16> {
    let unit = u16::from_str_radix(escape.strip_prefix("\\u")?, 16).ok()?;
    (0xd800..0xe000).contains(&unit).then_some(unit)
}
