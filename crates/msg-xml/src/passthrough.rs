//! The fast path of a stream. Most chunks only continue a text, a thought or a value. The fast path knows which bytes
//! would matter there; a chunk without them is sent directly, and the machine only updates its position. Everything
//! else is left to the machine.

use crate::event::ArgPath;
use crate::input::is_blank;

/// What the next bytes most likely continue.
#[derive(Debug)]
pub(crate) struct FastPath {
    pub(crate) kind: Kind,
    /// Nothing is open: what goes on here need not be kept.
    is_text: bool,
    /// Bytes that matter there.
    stops: Stops,
    /// A line begins: the next byte may matter whatever it is.
    pub(crate) line_start: bool,
    /// What is kept: up to where it has been sent, and the position beyond which bytes are the machine's.
    pub(crate) sent: usize,
    until: usize,
    /// A value: its call and its place in the arguments.
    pub(crate) call: u32,
    pub(crate) path: ArgPath,
}

/// What the fast path represents; all of it has been sent, blanks at the end of a plain value aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nothing: the machine looks at each byte.
    Closed,
    Text,
    /// A quote line: up to its end everything is text.
    Quote,
    /// The text of a fence that a run of this character closes.
    Fence(u8),
    /// Thinking in tags.
    Thought,
    /// A value in a CDATA section.
    Cdata,
    /// A value as plain text, in which blanks go out once something follows them.
    Plain,
    /// The same, where entities mean nothing.
    Raw,
}

/// What matters in text even in lines that begin plainly.
static MARKS: Stops = Stops::new(*b"<`<`");

/// Chunks beyond this length are the machine's if they have line breaks: it finds them faster.
const LINES_MAX: usize = 64;

impl FastPath {
    pub(crate) fn new(kind: Kind) -> Self {
        let stops = match kind {
            Kind::Closed => [0; 4],
            Kind::Text => *b"<`\n\r",
            Kind::Quote | Kind::Fence(_) => *b"\n\r\n\r",
            Kind::Thought => *b"<`<`",
            Kind::Cdata => *b"<]<]",
            Kind::Plain => *b"<&<&",
            Kind::Raw => *b"<<<<",
        };
        FastPath {
            kind,
            is_text: matches!(kind, Kind::Text | Kind::Quote | Kind::Fence(_)),
            stops: Stops::new(stops),
            line_start: false,
            sent: 0,
            until: 0,
            call: 0,
            path: ArgPath::root(),
        }
    }

    /// Text at the beginning of a line, or within.
    pub(crate) fn text(kind: Kind, line_start: bool) -> Self {
        FastPath { line_start, ..FastPath::new(kind) }
    }

    /// A thought that has been sent up to `sent`.
    pub(crate) fn thought(sent: usize) -> Self {
        FastPath { sent, until: usize::MAX, ..FastPath::new(Kind::Thought) }
    }

    /// A value, of which at most what comes before `until` can be stored (XT-28).
    pub(crate) fn value(kind: Kind, call: u32, path: ArgPath, sent: usize, until: usize) -> Self {
        FastPath { until, call, path, sent, ..FastPath::new(kind) }
    }

    /// If `bytes` only go on with text: whether a line begins after them.
    #[inline]
    pub(crate) fn text_goes_on(&self, bytes: &[u8]) -> Option<bool> {
        match self.is_text {
            true if self.stops.hit(bytes) | self.line_start => self.lines_go_on(bytes),
            true => Some(false),
            false => None,
        }
    }

    /// Whether `bytes`, which end at `end`, only go on with what has to be kept.
    pub(crate) fn value_goes_on(&self, bytes: &[u8], end: usize) -> bool {
        end <= self.until && !self.is_text && !self.stops.hit(bytes)
    }

    /// The same for bytes with stops or at the beginning of a line.
    fn lines_go_on(&self, bytes: &[u8]) -> Option<bool> {
        match self.kind {
            _ if bytes.is_empty() || bytes.len() > LINES_MAX => None,
            Kind::Text if MARKS.hit(bytes) => None,
            Kind::Text => lines(bytes, self.line_start, begins_plainly),
            Kind::Fence(run) => lines(bytes, self.line_start, |line| goes_on_in_fence(line, run)),
            _ => None,
        }
    }

    /// How far a plain value can go out once `bytes`, which end at `end`, have come.
    pub(crate) fn plain_to(&self, bytes: &[u8], end: usize) -> usize {
        match bytes.iter().rposition(|&b| !is_blank(b)) {
            Some(i) => end - bytes.len() + i + 1,
            None => self.sent,
        }
    }
}

/// If all lines that begin in `bytes` are plain: whether one begins after them.
fn lines(bytes: &[u8], line_start: bool, plain: impl Fn(&[u8]) -> bool) -> Option<bool> {
    let mut rest = bytes;
    let mut begins = line_start;
    while !rest.is_empty() {
        if begins && !plain(rest) {
            return None;
        }
        let line_break = memchr::memchr2(b'\n', b'\r', rest);
        begins = line_break.is_some();
        rest = line_break.map_or(&[], |i| &rest[i + 1..]);
    }
    Some(begins)
}

/// The text of a fence goes on if no line begins with what may close it; blanks alone leave that open.
fn goes_on_in_fence(line: &[u8], run: u8) -> bool {
    line.iter().find(|b| !matches!(b, b' ' | b'\t' | b'>')).is_some_and(|&b| b != run)
}

/// Whether what is there of a line shows that it begins with nothing of note: no fence, quote or bracket. A list
/// marker may be before a fence, so it is looked beyond.
#[inline]
pub(crate) fn begins_plainly(line: &[u8]) -> bool {
    line.first().is_some_and(u8::is_ascii_alphabetic) || begins_plainly_within(line)
}

fn begins_plainly_within(line: &[u8]) -> bool {
    let blank = |b: &u8| matches!(b, b' ' | b'\t');
    let rest = &line[count(line, blank)..];
    let marker = match rest.first() {
        Some(b'-' | b'*' | b'+') => 1,
        Some(b'0'..=b'9') => count(rest, u8::is_ascii_digit),
        Some(b'>' | b'[' | b'`' | b'~') | None => return false,
        Some(_) => return true,
    };
    // After digits, the dot or bracket of the marker, or whatever else it may be.
    let rest = &rest[marker + usize::from(rest[0].is_ascii_digit() && marker < rest.len())..];
    let after = &rest[count(rest, blank)..];
    after.first().is_some_and(|b| !matches!(b, b'`' | b'~'))
}

fn count(bytes: &[u8], fits: impl Fn(&u8) -> bool) -> usize {
    bytes.iter().position(|b| !fits(b)).unwrap_or(bytes.len())
}

/// Four bytes that matter, each as a row of the same.
#[derive(Debug)]
struct Stops([[u8; 16]; 4]);

impl Stops {
    const fn new([a, b, c, d]: [u8; 4]) -> Self {
        Stops([[a; 16], [b; 16], [c; 16], [d; 16]])
    }

    /// Whether one of them is in `bytes`. What does not fill a piece is looked at together with bytes before it once
    /// more, so that few are looked at alone. Inlined in any case: for a chunk of a token a call would cost as much again.
    #[inline(always)]
    fn hit(&self, bytes: &[u8]) -> bool {
        match (bytes.try_into(), bytes.try_into()) {
            (Ok(all), _) => self.piece::<16>(all),
            (_, Ok(all)) => self.piece::<4>(all),
            _ => self.hit_any(bytes),
        }
    }

    fn hit_any(&self, bytes: &[u8]) -> bool {
        let (pieces, rest) = bytes.as_chunks();
        pieces.iter().any(|it| self.piece::<16>(it))
            || match (bytes.last_chunk(), bytes.first_chunk(), bytes.last_chunk()) {
                _ if rest.is_empty() => false,
                (Some(last), ..) => self.piece::<16>(last),
                (_, Some(first), Some(last)) => self.piece::<8>(first) | self.piece::<8>(last),
                _ => bytes.iter().any(|&b| self.piece(&[b])),
            }
    }

    #[inline]
    fn piece<const N: usize>(&self, bytes: &[u8; N]) -> bool {
        let [a, b, c, d] = &self.0;
        let mut hit = 0;
        for (i, &byte) in bytes.iter().enumerate() {
            hit |= u8::from(byte == a[i]) | u8::from(byte == b[i]);
            hit |= u8::from(byte == c[i]) | u8::from(byte == d[i]);
        }
        hit != 0
    }
}

#[cfg(test)]
mod tests {
    use super::Stops;

    #[test]
    fn every_place_of_every_length_is_seen() {
        let stops = Stops::new(*b"<`\n\r");
        for len in 0..70 {
            assert!(!stops.hit(&vec![b'x'; len]));
            for (place, b) in (0..len).flat_map(|place| b"<`\n\r".map(|b| (place, b))) {
                let mut bytes = vec![b'x'; len];
                bytes[place] = b;
                assert!(stops.hit(&bytes), "{b} at {place} of {len}");
            }
        }
    }
}
