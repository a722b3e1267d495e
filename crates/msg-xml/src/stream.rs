//! The push parser: bytes in, events out (section 7). It owns the bytes that the machine still needs, makes
//! them valid UTF-8 (XT-1), and turns the machine's positions into positions of the input.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use msg_core::{Diagnostic, FinishReason, Severity};

use crate::code::Code;
use crate::event::{ArgPath, Ev, Event, Outcome};
use crate::machine::Machine;
use crate::options::Options;
use crate::parsed::{Collector, Parsed};
use crate::window::{Wait, Win};

/// Reads a whole message. Total: any bytes give a value.
///
/// ```
/// use msg_xml::{Options, parse};
/// let parsed = parse(b"Look: <tool><tool_name>ls</tool_name></tool>", None, &Options::default());
/// assert_eq!(parsed.text(), "Look: ");
/// assert_eq!(parsed.calls().next().map(|call| call.tool_name()), Some("ls"));
/// ```
pub fn parse(input: &[u8], finish: Option<FinishReason>, opts: &Options) -> Parsed {
    let mut parser = StreamParser::new(opts.clone());
    let mut all = Collector::default();
    parser.feed(input).for_each(|event| all.push(event));
    parser.finish(finish).for_each(|event| all.push(event));
    all.finish()
}

/// Whether a finish reason says that the message was cut (section 1).
pub fn is_cut(reason: &FinishReason) -> bool {
    reason.is_cut()
        || matches!(
            reason.as_str(),
            "max_tokens" | "max_output_tokens" | "model_length" | "incomplete"
        )
}

/// Reads a message as it arrives. Sans-IO; any cutting of the bytes gives the same result.
///
/// ```
/// use msg_xml::{Event, Options, StreamParser};
/// let mut parser = StreamParser::new(Options::default());
/// let names: Vec<String> = ["<tool><tool_na", "me>ls</tool_name>"]
///     .iter()
///     .flat_map(|chunk| {
///         parser.feed(chunk.as_bytes()).filter_map(|e| if let Event::ToolName { name, .. } = e { Some(name) } else { None }).collect::<Vec<_>>()
///     })
///     .collect();
/// assert_eq!(names, ["ls"]);
/// ```
#[derive(Debug)]
pub struct StreamParser {
    opts: Arc<Options>,
    machine: Machine,
    /// Bytes that the machine still needs, from `base` on, and new ones.
    carry: String,
    base: usize,
    /// An incomplete UTF-8 sequence.
    partial: [u8; 4],
    partial_len: usize,
    fed: u64,
    wait: Wait,
    shifts: Shifts,
    bad_utf8: bool,
    started: bool,
    finished: bool,
}

/// How positions of the machine and of the input differ: from each position on, by so much.
#[derive(Debug, Default)]
struct Shifts(Vec<(usize, i64)>);

impl Shifts {
    fn raw(&self, pos: usize) -> u64 {
        let n = self.0.partition_point(|&(p, _)| p <= pos);
        let by = n.checked_sub(1).map_or(0, |i| self.0[i].1);
        pos.checked_add_signed(by as isize).unwrap_or_default() as u64
    }

    fn add(&mut self, pos: usize, by: i64) {
        let total = self.0.last().map_or(0, |&(_, by)| by) + by;
        match self.0.last_mut() {
            Some(last) if last.0 == pos => last.1 = total,
            _ => self.0.push((pos, total)),
        }
    }
}

impl StreamParser {
    /// A parser for one message.
    pub fn new(opts: Options) -> Self {
        Self::shared(Arc::new(opts))
    }

    /// A parser for one message, with options that are shared.
    pub fn shared(opts: Arc<Options>) -> Self {
        StreamParser {
            machine: Machine::new(Arc::clone(&opts)),
            opts,
            carry: String::new(),
            base: 0,
            partial: [0; 4],
            partial_len: 0,
            fed: 0,
            wait: crate::window::MORE,
            shifts: Shifts::default(),
            bad_utf8: false,
            started: false,
            finished: false,
        }
    }

    /// Input bytes taken so far.
    pub fn position(&self) -> u64 {
        self.fed
    }

    /// Bytes that are kept because they are undecided or belong to an open call, fence or thought.
    pub fn held_bytes(&self) -> usize {
        let keep = self.machine.keep().max(self.base);
        (self.base + self.carry.len()).saturating_sub(keep) + self.partial_len
    }

    /// Makes it ready for another message, with the same options.
    pub fn reset(&mut self) {
        let carry = std::mem::take(&mut self.carry);
        *self = Self::shared(Arc::clone(&self.opts));
        self.carry = carry;
        self.carry.clear();
    }

    /// Takes the next bytes; all of them are read before this returns. Bytes after `finish` are ignored.
    pub fn feed<'a>(&'a mut self, bytes: &'a [u8]) -> Drain<'a> {
        self.machine.queue.events.clear();
        if self.finished || bytes.is_empty() {
            return self.drain(None, None);
        }
        self.fed += bytes.len() as u64;
        if let Some((call, path, range)) = self.value_piece(bytes) {
            let text = Cow::Borrowed(&self.carry[range]);
            let first = (!text.is_empty()).then_some(Event::Arg { call, path, text });
            return Drain {
                first,
                events: self.machine.queue.events.iter_mut(),
                text: "",
                base: 0,
                shifts: &self.shifts,
            };
        }
        self.compact();
        if self.carry.is_empty()
            && self.partial_len == 0
            && self.started
            && let Ok(text) = std::str::from_utf8(bytes)
        {
            return self.feed_direct(text);
        }
        let old = self.carry.len();
        self.append(bytes, false);
        let fresh = &self.carry.as_bytes()[old..];
        if self.wait.wake.hit(fresh) || self.base + self.carry.len() >= self.wait.by {
            let w = Win { text: &self.carry, base: self.base, eof: false };
            self.wait = self.machine.run(&w);
        }
        self.drain(None, None)
    }

    /// The common chunk of a long value: nothing in it but more of what is being sent. What goes out is a range of `carry`.
    fn value_piece(&mut self, bytes: &[u8]) -> Option<(u32, ArgPath, Range<usize>)> {
        if self.partial_len > 0 {
            return None;
        }
        let old = self.base + self.carry.len();
        let (call, path, from, to) = self.machine.goes_on(bytes, old)?;
        let text = std::str::from_utf8(bytes).ok()?;
        self.carry.push_str(text);
        self.machine.went_on(to, old + text.len());
        Some((call, path, from - self.base..to - self.base))
    }

    /// Reads a chunk where it lies; only what is undecided is copied.
    fn feed_direct<'a>(&'a mut self, text: &'a str) -> Drain<'a> {
        let base = self.base;
        if self.machine.idle() {
            let plain = match self.machine.in_quote() {
                true => memchr::memchr2(b'\n', b'\r', text.as_bytes()).is_none(),
                false => !crate::machine::any_special(text.as_bytes()),
            };
            if plain {
                self.base = base + text.len();
                self.machine.skip_plain(self.base);
                let from = self.shifts.raw(base);
                return self.drain(
                    Some(Event::Text {
                        text: Cow::Borrowed(text),
                        span: from..from + text.len() as u64,
                    }),
                    None,
                );
            }
        }
        let w = Win { text, base, eof: false };
        self.wait = self.machine.run(&w);
        let end = base + text.len();
        let keep = self.machine.keep().clamp(base, end);
        self.carry.push_str(&text[keep - base..]);
        self.base = keep;
        self.drain(None, Some((text, base)))
    }

    /// Ends the message. `reason` says whether it was cut; without one it counts as whole.
    pub fn finish(&mut self, reason: Option<FinishReason>) -> Drain<'_> {
        self.machine.queue.events.clear();
        if !self.finished {
            self.finished = true;
            self.compact();
            self.append(&[], true);
            self.machine.set_cut(reason.as_ref().is_some_and(is_cut));
            let w = Win { text: &self.carry, base: self.base, eof: true };
            self.machine.run(&w);
        }
        self.drain(None, None)
    }

    fn drain<'a>(
        &'a mut self,
        first: Option<Event<'a>>,
        direct: Option<(&'a str, usize)>,
    ) -> Drain<'a> {
        let (text, base) = direct.unwrap_or((&self.carry, self.base));
        Drain {
            first,
            events: self.machine.queue.events.iter_mut(),
            text,
            base,
            shifts: &self.shifts,
        }
    }

    /// Drops what the machine needs no longer.
    fn compact(&mut self) {
        if self.carry.is_empty() {
            return;
        }
        let keep = self.machine.keep().clamp(self.base, self.base + self.carry.len());
        let n = keep - self.base;
        // Moving the rest is paid for by what goes.
        if n == self.carry.len() || n * 2 >= self.carry.len() {
            self.carry.drain(..n);
            self.base = keep;
        }
    }

    /// Appends bytes as valid UTF-8.
    fn append(&mut self, bytes: &[u8], eof: bool) {
        let mut rest = bytes;
        if self.partial_len > 0 {
            rest = self.complete_partial(rest, eof);
        }
        loop {
            match std::str::from_utf8(rest) {
                Ok(text) => {
                    self.push(text);
                    return;
                }
                Err(error) => {
                    let (good, bad) = rest.split_at(error.valid_up_to());
                    self.push(std::str::from_utf8(good).unwrap_or_default());
                    match error.error_len() {
                        Some(n) => {
                            self.replace(n);
                            rest = &bad[n..];
                        }
                        None if eof => {
                            self.replace(bad.len());
                            return;
                        }
                        None => {
                            self.partial[..bad.len()].copy_from_slice(bad);
                            self.partial_len = bad.len();
                            return;
                        }
                    }
                }
            }
        }
    }

    /// Completes the sequence that the last chunk left; returns the bytes that remain.
    fn complete_partial<'b>(&mut self, bytes: &'b [u8], eof: bool) -> &'b [u8] {
        let mut used = 0;
        while self.partial_len > 0 {
            let mut buf = [0u8; 8];
            let old = self.partial_len;
            buf[..old].copy_from_slice(&self.partial[..old]);
            let more = (bytes.len() - used).min(4 - old);
            buf[old..old + more].copy_from_slice(&bytes[used..used + more]);
            let seq = &buf[..old + more];
            let (good, bad) = match std::str::from_utf8(seq) {
                Ok(_) => (seq.len(), None),
                Err(e) => (e.valid_up_to(), Some(e.error_len())),
            };
            if good > 0 {
                self.partial_len = 0;
                // Only the first character is ours; the rest is read with the chunk.
                let text = std::str::from_utf8(&seq[..good]).unwrap_or_default();
                let first = text.chars().next().map_or(0, char::len_utf8);
                let first = text[..first].to_owned();
                self.push(&first);
                return &bytes[used + first.len() - old..];
            }
            match bad {
                Some(Some(n)) => {
                    self.replace(n);
                    if n >= old {
                        self.partial_len = 0;
                        used += n - old;
                    } else {
                        self.partial.copy_within(n..old, 0);
                        self.partial_len = old - n;
                    }
                }
                _ if eof => {
                    self.replace(old + more);
                    self.partial_len = 0;
                    return &[];
                }
                _ => {
                    self.partial[..old + more].copy_from_slice(seq);
                    self.partial_len = old + more;
                    return &[];
                }
            }
        }
        &bytes[used..]
    }

    fn push(&mut self, text: &str) {
        if self.started || text.is_empty() {
            self.carry.push_str(text);
            return;
        }
        self.started = true;
        match text.strip_prefix('\u{FEFF}') {
            Some(rest) => {
                self.shifts.add(0, 3);
                self.carry.push_str(rest);
            }
            None => self.carry.push_str(text),
        }
    }

    /// One U+FFFD for `n` invalid bytes.
    fn replace(&mut self, n: usize) {
        self.started = true;
        let at = self.base + self.carry.len();
        if !self.bad_utf8 {
            self.bad_utf8 = true;
            self.machine.queue.events.push(Ev::Report {
                code: Code::InvalidUtf8,
                from: at,
                to: at,
                detail: None,
            });
        }
        self.carry.push('\u{FFFD}');
        let after = at + '\u{FFFD}'.len_utf8();
        self.machine.seams.extend([at, after]);
        self.shifts.add(after, n as i64 - 3);
    }
}

/// The events of one `feed` or `finish`. What is not taken is lost.
#[derive(Debug)]
pub struct Drain<'a> {
    first: Option<Event<'a>>,
    events: std::slice::IterMut<'a, Ev>,
    text: &'a str,
    base: usize,
    shifts: &'a Shifts,
}

impl<'a> Iterator for Drain<'a> {
    type Item = Event<'a>;

    #[inline]
    fn next(&mut self) -> Option<Event<'a>> {
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        // What is left behind is cleared with the next chunk.
        let ev = std::mem::replace(self.events.next()?, Ev::Begin { call: 0 });
        Some(self.event(ev))
    }
}

impl<'a> Drain<'a> {
    fn str(&self, from: usize, to: usize) -> &'a str {
        Win { text: self.text, base: self.base, eof: false }.str(from, to)
    }

    fn span(&self, from: usize, to: usize) -> Range<u64> {
        self.shifts.raw(from)..self.shifts.raw(to)
    }

    fn event(&self, ev: Ev) -> Event<'a> {
        match ev {
            Ev::Text { from, to } => {
                Event::Text { text: self.str(from, to).into(), span: self.span(from, to) }
            }
            Ev::Thinking { from, to, style } => Event::Thinking {
                text: self.str(from, to).into(),
                span: self.span(from, to),
                style,
            },
            Ev::Begin { call } => Event::ToolBegin { call },
            Ev::Name { call, name } => Event::ToolName { call, name },
            Ev::Arg { call, path, from, to } => {
                Event::Arg { call, path, text: self.str(from, to).into() }
            }
            Ev::ArgText { call, path, text } => Event::Arg { call, path, text: text.into() },
            Ev::Reset { call, path } => Event::ArgReset { call, path },
            Ev::End { call, mut outcome } => {
                let span = match &mut *outcome {
                    Outcome::Complete(call) => &mut call.span,
                    Outcome::Partial(call) => &mut call.span,
                };
                *span = self.span(span.start as usize, span.end as usize);
                Event::ToolEnd { call, outcome }
            }
            Ev::Void { call, code } => Event::ToolVoid { call, code },
            Ev::Reclaim { from, to } => Event::Reclaim(self.span(from, to)),
            Ev::Report { code, from, to, detail } => {
                let span = self.span(from, to);
                Event::Diagnostic(Box::new(diagnostic(
                    code,
                    span.start as usize..span.end as usize,
                    detail.as_deref(),
                )))
            }
        }
    }
}

/// A code as a diagnostic about a place.
pub(crate) fn diagnostic(code: Code, span: Range<usize>, detail: Option<&str>) -> Diagnostic {
    let severity = if code.is_error() { Severity::Error } else { Severity::Warning };
    let mut message = code.as_str().replace('_', " ");
    if let Some(detail) = detail.filter(|d| !d.is_empty()) {
        message.push_str(": ");
        message.push_str(detail);
    }
    Diagnostic::new(severity, msg_core::Code::new(code.kebab()), message)
        .at_span(span)
        .with_fix(code.hint())
}
