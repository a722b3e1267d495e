//! The short way of a stream. In the middle of text, of a thought or of a value most chunks hold nothing but more
//! of it: a lane says which bytes would matter there, and a chunk without them goes out without waking the machine,
//! which is told afterwards how far things went. Nothing is decided here: whatever is in doubt is the machine's.

use crate::event::ArgPath;
use crate::swar;
use crate::window::is_blank;

/// What the next bytes most likely continue.
#[derive(Debug)]
pub(crate) struct Lane {
    pub(crate) kind: Kind,
    /// Bytes that matter there, as words of eight of the same.
    stops: [u64; 4],
    /// Bytes beyond this position are the machine's.
    until: usize,
    /// A line begins: the next byte may matter whatever it is.
    pub(crate) line_start: bool,
    /// A value: its call, its place in the arguments, and up to where it has been sent.
    pub(crate) call: u32,
    pub(crate) path: ArgPath,
    pub(crate) sent: usize,
}

/// What a lane stands for; all of it has been sent, blanks at the end of a plain value aside.
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
}

/// What is known of bytes that only continue what the lane stands for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Onward {
    ascii: bool,
    /// A line begins after them.
    pub(crate) line_start: bool,
}

/// Chunks beyond this length are the machine's if they have line breaks: it finds them faster.
const LINES_MAX: usize = 64;

impl Lane {
    pub(crate) fn new(kind: Kind) -> Self {
        let stops = match kind {
            Kind::Closed => [0; 4],
            Kind::Text => [b'<', b'`', b'\n', b'\r'],
            Kind::Quote | Kind::Fence(_) => [b'\n', b'\r', b'\n', b'\r'],
            Kind::Thought => [b'<', b'`', b'<', b'`'],
            Kind::Cdata => [b'<', b']', b'<', b']'],
            Kind::Plain => [b'<', b'&', b'<', b'&'],
        };
        Lane {
            kind,
            stops: stops.map(swar::splat),
            until: if kind == Kind::Closed { 0 } else { usize::MAX },
            line_start: false,
            call: 0,
            path: ArgPath::root(),
            sent: 0,
        }
    }

    /// A lane at the beginning of a line.
    pub(crate) fn at_line(kind: Kind, line_start: bool) -> Self {
        Lane { line_start, ..Lane::new(kind) }
    }

    /// A value, of which at most what comes before `until` can be stored (XT-28).
    pub(crate) fn value(kind: Kind, call: u32, path: ArgPath, sent: usize, until: usize) -> Self {
        Lane { until, call, path, sent, ..Lane::new(kind) }
    }

    /// Whether `bytes`, which begin at `pos`, only go on with what the lane stands for.
    #[inline]
    pub(crate) fn goes_on(&self, bytes: &[u8], pos: usize) -> Option<Onward> {
        if pos + bytes.len() > self.until {
            return None;
        }
        let seen = look(bytes, &self.stops);
        let line_start = (seen.hit() || self.line_start) && self.lines_go_on(bytes)?;
        Some(Onward { ascii: seen.ascii(), line_start })
    }

    /// The same for bytes with line breaks or at the beginning of a line: whether a line begins after them.
    fn lines_go_on(&self, bytes: &[u8]) -> Option<bool> {
        match self.kind {
            _ if bytes.len() > LINES_MAX => None,
            Kind::Text if look(bytes, &[b'<', b'`', b'<', b'`'].map(swar::splat)).hit() => None,
            Kind::Text => lines(bytes, self.line_start, begins_plainly),
            Kind::Fence(run) => lines(bytes, self.line_start, |line| goes_on_in_fence(line, run)),
            _ => None,
        }
    }

    /// How far a plain value can go out once `text`, which ends at `end`, has come.
    #[inline]
    pub(crate) fn plain_sent(&self, text: &[u8], end: usize) -> usize {
        match text.iter().rposition(|&b| !is_blank(b)) {
            Some(i) => end - text.len() + i + 1,
            None => self.sent,
        }
    }
}

/// If all lines that begin in `bytes` are plain: whether one begins after them.
fn lines(bytes: &[u8], line_start: bool, plain: impl Fn(&[u8]) -> bool) -> Option<bool> {
    if line_start && !plain(bytes) {
        return None;
    }
    let breaks = [b'\n', b'\r'];
    let passes = |i: usize| bytes.get(i + 1..).is_none_or(|line| line.is_empty() || plain(line));
    swar::all_at(bytes, breaks, passes).then(|| bytes.last().is_some_and(|b| breaks.contains(b)))
}

/// The text of a fence goes on if no line begins with what may close it; blanks alone leave that open.
fn goes_on_in_fence(line: &[u8], run: u8) -> bool {
    line.iter().find(|b| !matches!(b, b' ' | b'\t' | b'>')).is_some_and(|&b| b != run)
}

/// Whether what is there of a line shows that it begins with nothing of note: no fence, quote or bracket. A list
/// marker may stand before a fence, so it is looked behind.
pub(crate) fn begins_plainly(line: &[u8]) -> bool {
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
    let behind = &rest[count(rest, blank)..];
    behind.first().is_some_and(|b| !matches!(b, b'`' | b'~'))
}

fn count(bytes: &[u8], fits: impl Fn(&u8) -> bool) -> usize {
    bytes.iter().position(|b| !fits(b)).unwrap_or(bytes.len())
}

/// A chunk that is UTF-8.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Chunk<'b> {
    /// ASCII, and so short that pushing its bytes one by one costs less than checking and copying it.
    Short(&'b [u8]),
    Text(&'b str),
}

/// Longest chunk that is pushed byte by byte.
const SHORT: usize = 4;

impl Onward {
    /// The bytes that it is about; `None` if they are not UTF-8, or none.
    #[inline]
    pub(crate) fn chunk(self, bytes: &[u8]) -> Option<Chunk<'_>> {
        match bytes.len() {
            0 => None,
            1..=SHORT if self.ascii => Some(Chunk::Short(bytes)),
            _ => std::str::from_utf8(bytes).ok().map(Chunk::Text),
        }
    }
}

impl<'b> Chunk<'b> {
    /// Appends it to `carry`; the result is what has been appended.
    #[inline]
    pub(crate) fn keep(self, carry: &mut String) -> &str {
        let old = carry.len();
        match self {
            Chunk::Short(bytes) => bytes.iter().for_each(|b| carry.push(char::from(b & 0x7F))),
            Chunk::Text(text) => carry.push_str(text),
        }
        &carry[old..]
    }

    /// Its text, for which `carry`, which is empty and begins at `base`, may serve as store.
    #[inline]
    pub(crate) fn pass<'a>(self, carry: &'a mut String, base: &mut usize) -> &'a str
    where
        'b: 'a,
    {
        match self {
            Chunk::Short(_) => self.keep(carry),
            Chunk::Text(text) => {
                *base += text.len();
                text
            }
        }
    }
}

/// What one look at a chunk has shown: a bit for each stop and each byte that is not ASCII.
#[derive(Clone, Copy, Debug)]
struct Seen {
    stops: u64,
    high: u64,
}

impl Seen {
    #[inline]
    fn hit(self) -> bool {
        self.stops != 0
    }

    #[inline]
    fn ascii(self) -> bool {
        self.high == 0
    }

    #[inline]
    fn and(self, other: Self) -> Self {
        Seen { stops: self.stops | other.stops, high: self.high | other.high }
    }
}

/// Looks for stops and for bytes that are not ASCII. Short chunks are looked at as one or two words whose halves may
/// overlap, so that no byte is looked at alone.
#[inline]
fn look(bytes: &[u8], stops: &[u64; 4]) -> Seen {
    let long = |first: &[u8; 8], last: &[u8; 8]| {
        word(u64::from_le_bytes(*first), stops).and(word(u64::from_le_bytes(*last), stops))
    };
    match (bytes.len(), bytes.first_chunk(), bytes.last_chunk()) {
        (4..=8, ..) => {
            let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) else {
                return Seen { stops: 1, high: 1 };
            };
            let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
            word(u64::from(first) << 32 | u64::from(last), stops)
        }
        (9..=16, Some(first), Some(last)) => long(first, last),
        _ => look_at_any(bytes, stops),
    }
}

/// The same for very short and for longer chunks.
fn look_at_any(bytes: &[u8], stops: &[u64; 4]) -> Seen {
    let (words, rest) = bytes.as_chunks();
    let seen = words.iter().fold(Seen { stops: 0, high: 0 }, |seen, it| {
        seen.and(word(u64::from_le_bytes(*it), stops))
    });
    // The rest of the last word is a letter.
    let fill = |all: u64, &b: &u8| all << 8 | u64::from(b);
    seen.and(word(rest.iter().fold(u64::from_le_bytes([b'x'; 8]), fill), stops))
}

#[inline]
fn word(word: u64, stops: &[u64; 4]) -> Seen {
    let found = stops.iter().fold(0, |found, &stop| found | swar::equal(word, stop));
    Seen { stops: found, high: swar::high(word) }
}
