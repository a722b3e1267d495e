//! The short way of a stream. In the middle of text, of a thought or of a value most chunks hold nothing but more
//! of it: a lane says which bytes would matter there, and a chunk without them goes out without waking the machine,
//! which is told afterwards how far things went. Nothing is decided here: whatever is in doubt is the machine's.

use crate::event::ArgPath;
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
const LINES_MAX: usize = 128;

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
            stops: stops.map(|b| LOW * u64::from(b)),
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
            Kind::Text => text_goes_on(bytes, self.line_start),
            Kind::Fence(run) => fence_goes_on(bytes, run, self.line_start),
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

/// Text stays plain if there is no tag or code span in it and no line begins with anything of note.
fn text_goes_on(bytes: &[u8], line_start: bool) -> Option<bool> {
    let noted = |at: usize| bytes.get(at).is_some_and(|&b| may_begin(b));
    if line_start && noted(0) || memchr::memchr2(b'<', b'`', bytes).is_some() {
        return None;
    }
    let mut breaks = memchr::memchr2_iter(b'\n', b'\r', bytes);
    (!breaks.any(|i| noted(i + 1))).then(|| matches!(bytes.last(), Some(b'\n' | b'\r')))
}

/// The text of a fence goes on if no line begins with what may close it; blanks alone leave that open.
fn fence_goes_on(bytes: &[u8], run: u8, line_start: bool) -> Option<bool> {
    let next_line =
        |from: usize| memchr::memchr2(b'\n', b'\r', &bytes[from..]).map(|i| from + i + 1);
    let mut at = if line_start { Some(0) } else { next_line(0) };
    while let Some(line) = at.filter(|&at| at < bytes.len()) {
        let inside = bytes[line..].iter().find(|b| !matches!(b, b' ' | b'\t' | b'>'))?;
        if *inside == run {
            return None;
        }
        at = next_line(line);
    }
    Some(at.is_some())
}

/// Whether a line that begins with this byte may be a fence, a quote or a bracket.
pub(crate) fn may_begin(b: u8) -> bool {
    matches!(b, b' ' | b'\t' | b'>' | b'-' | b'*' | b'+' | b'0'..=b'9' | b'`' | b'~' | b'[')
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

/// The lowest bit of each byte.
const LOW: u64 = 0x0101_0101_0101_0101;
/// The highest bit of each byte.
const HIGH: u64 = 0x8080_8080_8080_8080;

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

/// Eight bytes at once: a byte that is a stop differs in nothing, and taking one from it borrows.
#[inline]
fn word(word: u64, stops: &[u64; 4]) -> Seen {
    let one = |hits: u64, stop: &u64| {
        let differs = word ^ stop;
        hits | (differs.wrapping_sub(LOW) & !differs & HIGH)
    };
    Seen { stops: stops.iter().fold(0, one), high: word & HIGH }
}
