//! The line whose end has not come, and what a line is when it has.
//!
//! ```text
//! data: {"a"|:1}     a field of data, kept up to the size that an event may have
//! : ping             counts for nothing: only that it is text matters
//! ```

/// The start of a line, as much of it as an event may hold.
#[derive(Debug, Clone, Default)]
pub(super) struct Line {
    pub(super) bytes: Vec<u8>,
    /// Where in the stream it began.
    pub(super) at: u64,
    /// It is longer than what was kept of it.
    pub(super) is_cut: bool,
}

impl Line {
    /// Keeps more of the line; `bytes` begin at `at`, and an event may have so many.
    pub(super) fn keep(&mut self, bytes: &[u8], at: u64, max_event_bytes: usize) {
        if self.bytes.is_empty() {
            self.at = at;
        }
        let room = most_of_line(max_event_bytes).saturating_sub(self.bytes.len());
        self.is_cut |= bytes.len() > room;
        self.bytes.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

/// How much is kept of a line: the field name, and what makes the value too long by itself.
pub(super) fn most_of_line(max_event_bytes: usize) -> usize {
    max_event_bytes.saturating_add(16)
}

/// What a line is; positions are where its value begins.
#[derive(Clone, Copy)]
pub(super) enum Field {
    Blank,
    Data(usize),
    Bare,
    Event(usize),
    Other,
}

impl Field {
    pub(super) fn of(line: &[u8]) -> Self {
        match line {
            [] => Self::Blank,
            [b'd', b'a', b't', b'a', rest @ ..] => value(rest, 4).map_or(Self::Other, Self::Data),
            [b'{', ..] => Self::Bare,
            [b'e', b'v', b'e', b'n', b't', rest @ ..] => {
                value(rest, 5).map_or(Self::Other, Self::Event)
            }
            _ => Self::Other,
        }
    }
}

/// Where the value of a field begins whose name is `name` bytes long: behind the colon and one space.
fn value(rest: &[u8], name: usize) -> Option<usize> {
    match rest {
        [] => Some(name),
        [b':', b' ', ..] => Some(name + 2),
        [b':', ..] => Some(name + 1),
        _ => None,
    }
}
