//! Code fences (XT-5): text, or a candidate whose content is complete calls and nothing else. Its text is
//! sent as it comes, up to the first closing line; beyond that the reading of its blocks decides.

use super::{Candidate, Machine, Mode, Ready};
use crate::block::{CallEnd, Done};
use crate::dialect::Reader;
use crate::input::{Incomplete, Input, MORE, Need, Turn};
use crate::lex::need;
use crate::options::{Fenced, ParseOptions};
use crate::parsed::CallOrigin;
use crate::special::Spot;
use crate::stream::{FastPath, Kind};

#[derive(Debug)]
enum Reading {
    /// Blanks before the first block.
    Seek(usize),
    Block(Reader),
    /// After a block that ended here.
    After(usize),
    /// Text; whether a block had been read.
    Text,
}

/// A fence that is open. Its text and its blocks are read side by side.
#[derive(Debug)]
pub(crate) struct Fence {
    /// The opening run.
    start: usize,
    /// Whether its text waits for the result of its blocks.
    hold: bool,
    text: Lines,
    /// Waits while the blocks are read.
    block_turn: Turn,
    reading: Reading,
    calls: Vec<Ready>,
    /// The message was cut where its reading as calls was undecided: all that follows may be quoted (law 4).
    undecided: bool,
}

/// The lines of a fence, which one of them closes.
#[derive(Debug)]
struct Lines {
    /// The character and length of the run that closes it at least.
    ch: u8,
    n: usize,
    /// The line that is searched for it, and whether it is known to have none.
    line: usize,
    judged: bool,
    /// The first closing line's break.
    close: Option<usize>,
    /// How far the text may go out.
    flow: usize,
    turn: Turn,
}

impl Fence {
    pub(crate) fn new(start: usize, ch: u8, n: usize, body: usize, opts: &ParseOptions) -> Self {
        let turn = Turn::default();
        let text = Lines { ch, n, line: body, judged: false, close: None, flow: body, turn };
        Fence {
            start,
            hold: opts.fenced_tools == Fenced::Always,
            text,
            block_turn: Turn::default(),
            reading: Reading::Seek(body),
            calls: Vec::new(),
            undecided: false,
        }
    }

    pub(crate) fn keep(&self, sent: usize) -> usize {
        let Lines { judged, flow, line, .. } = self.text;
        match self.reading {
            Reading::Text if judged => flow.min(sent),
            Reading::Text => line.min(sent),
            _ => self.start,
        }
    }

    /// The fast path for the bytes from `end` on, up to which its text has been sent.
    pub(crate) fn fast_path(&self, end: usize) -> FastPath {
        let Lines { judged, flow, line, ch, .. } = self.text;
        let line_start = !judged && line == end;
        match self.reading {
            Reading::Text if flow == end && (judged || line_start) => {
                FastPath::text(Kind::Fence(ch), line_start)
            }
            _ => FastPath::new(Kind::Closed),
        }
    }

    /// Moves to `end` over text without a closing line.
    pub(crate) fn pass_on(&mut self, line_start: bool, end: usize) {
        let Lines { ch, n, close, .. } = self.text;
        let turn = Turn::default();
        self.text = Lines { ch, n, line: end, judged: !line_start, close, flow: end, turn };
    }
}

impl Lines {
    /// Looks for the first closing line; `Ok` once it is found or the input has ended.
    fn find_close(&mut self, w: &Input<'_>) -> Result<(), Incomplete> {
        if self.close.is_none() && !self.turn.comes(w) {
            return Err(MORE);
        }
        while self.close.is_none() {
            if !self.judged {
                match closing(w, self.line, self.ch, self.n) {
                    Err(wait) => {
                        self.flow = self.flow.max(self.line);
                        return Err(self.turn.put_off(w, wait));
                    }
                    Ok(Some(end)) => {
                        (self.close, self.flow) = (Some(end), end);
                        return Ok(());
                    }
                    Ok(None) => self.judged = true,
                }
            }
            let from = self.line.max(self.flow);
            let Some(i) = memchr::memchr2(b'\n', b'\r', w.from(from)) else {
                self.flow = w.end();
                return if w.eof { Ok(()) } else { Err(self.turn.put_off(w, MORE)) };
            };
            self.line = from + i + 1;
            (self.flow, self.judged) = (self.line, false);
        }
        Ok(())
    }
}

impl Machine {
    pub(crate) fn fence(&mut self, w: &Input<'_>) -> Result<(), Incomplete> {
        let closing = match &mut self.mode {
            Mode::Fence(fence) => fence.text.find_close(w),
            _ => return Ok(()),
        };
        let reading = self.blocks(w);
        let Mode::Fence(fence) = &self.mode else { return Ok(()) };
        let text_only = matches!(fence.reading, Reading::Text);
        let (start, flow, hold) = (fence.start, fence.text.flow, fence.hold && !text_only);
        if !hold {
            self.text_upto(flow.max(self.sent));
        }
        if text_only {
            // Its text is not read again.
            self.pos = self.sent;
        }
        match reading {
            Ok(Some(end)) => self.candidate(w, start, end),
            Ok(None) => {
                closing?;
                let Mode::Fence(fence) = &self.mode else { return Ok(()) };
                let end = fence.text.close.filter(|_| !fence.undecided).unwrap_or(w.end());
                self.text_upto(end);
                self.leave_fence(end);
            }
            Err(wait) => return Err(wait),
        }
        Ok(())
    }

    fn leave_fence(&mut self, end: usize) {
        if matches!(self.mode, Mode::Fence(_)) {
            self.mode = Mode::Text;
            self.pos = end;
            self.lines.start = false;
        }
    }

    /// Continues the blocks when the bytes that they wait for have arrived. Meanwhile any byte may be
    /// sent as text.
    fn blocks(&mut self, w: &Input<'_>) -> Result<Option<usize>, Incomplete> {
        let Mode::Fence(fence) = &mut self.mode else { return Ok(None) };
        if !fence.block_turn.comes(w) {
            return Err(MORE);
        }
        self.read_fence(w).map_err(|wait| match &mut self.mode {
            Mode::Fence(fence) => fence.block_turn.put_off(w, wait),
            _ => wait,
        })
    }

    /// Reads the blocks in the fence: where a candidate ends, or `None` if it is text.
    fn read_fence(&mut self, w: &Input<'_>) -> Result<Option<usize>, Incomplete> {
        loop {
            let Mode::Fence(fence) = &mut self.mode else { return Ok(None) };
            match &mut fence.reading {
                Reading::Text => return Ok(None),
                Reading::Seek(at) => {
                    let (p, next) = w.after_blanks(*at)?;
                    let reader = self.silent_begin(w, p, next)?;
                    self.set_reading(reader.map_or(Reading::Text, Reading::Block));
                }
                Reading::Block(reader) => {
                    self.queue.mute(true);
                    let done = reader.run_with(w, &mut self.queue, &self.opts, self.message.cut);
                    self.queue.mute(false);
                    let done = done?;
                    if self.fence_block(w, done) {
                        return Ok(None);
                    }
                }
                Reading::After(at) => {
                    let at = *at;
                    let (p, next) = w.after_blanks(at)?;
                    if next.is_none() {
                        return Ok(Some(w.end()));
                    }
                    let gap = w.str(at, p);
                    if let Some(i) = gap.rfind(['\n', '\r'])
                        && let Some(end) = closing(w, at + i + 1, fence.text.ch, fence.text.n)?
                    {
                        return Ok(Some(end));
                    }
                    let reader = self.silent_begin(w, p, next)?;
                    match reader {
                        Some(reader) => self.set_reading(Reading::Block(reader)),
                        None => {
                            let undecided = self.message.cut && w.eof && may_go_on(w, p);
                            self.spoiled(undecided);
                            return Ok(None);
                        }
                    }
                }
            }
        }
    }

    /// The block that begins at `p`, where `next` is.
    fn silent_begin(
        &mut self,
        w: &Input<'_>,
        p: usize,
        next: Option<u8>,
    ) -> Result<Option<Reader>, Incomplete> {
        let dialects = self.opts.dialects.list();
        if next != Some(b'<') {
            return Reader::begin_value(w, p, dialects, Spot::Fence, 0);
        }
        self.queue.mute(true);
        let res = Reader::begin(w, p, &self.opts, dialects, 0, &self.queue);
        self.queue.mute(false);
        res
    }

    fn set_reading(&mut self, reading: Reading) {
        if let Mode::Fence(fence) = &mut self.mode {
            fence.reading = reading;
        }
    }

    /// A block in the fence has been read; whether that makes the fence text.
    fn fence_block(&mut self, w: &Input<'_>, done: Done) -> bool {
        let end = done.end;
        let whole =
            matches!(&done.outcome, CallEnd::Calls(calls) if calls.iter().all(|c| c.complete));
        if !whole {
            self.spoiled(self.message.cut && w.eof && end == w.end());
            return true;
        }
        let ready = self.ready_later(w, done, CallOrigin { fenced: true, ..CallOrigin::default() });
        if let Mode::Fence(fence) = &mut self.mode {
            fence.calls.extend(ready);
            fence.reading = Reading::After(end);
        }
        false
    }

    /// The fence was read as calls and is not one (XT-29 counts it).
    fn spoiled(&mut self, undecided: bool) {
        let Mode::Fence(fence) = &mut self.mode else { return };
        fence.reading = Reading::Text;
        fence.undecided = undecided;
        let start = fence.start;
        if self.retried() {
            self.give_up(start);
        }
    }

    fn candidate(&mut self, w: &Input<'_>, from: usize, to: usize) {
        let Mode::Fence(fence) = &mut self.mode else { return };
        let candidate = Candidate { from, to, calls: std::mem::take(&mut fence.calls) };
        match self.opts.fenced_tools {
            Fenced::Always => {
                self.text_upto(from);
                self.promote(w, candidate);
                self.sent = to;
                self.message.tool_tag = false;
            }
            Fenced::Fallback if !self.message.call_outside => {
                self.text_upto(to);
                self.candidates.push(candidate);
            }
            // Its calls are text, but a fence in one of them did not end it.
            Fenced::Fallback | Fenced::Never => self.text_upto(to),
        }
        self.leave_fence(to);
    }
}

/// Whether the token that the end of input cut at `p` could have become a closing line or another
/// block.
fn may_go_on(w: &Input<'_>, p: usize) -> bool {
    let rest = w.str(p, w.end()).trim_start_matches([' ', '\t', '>']);
    rest.trim_matches(['`', '~']).is_empty() || rest.starts_with('<') && !rest.contains('>')
}

// What a line begins with: a fence, a quote, a bracket, or none of these (XT-4, XT-5, XT-8).

/// The kind of a line, by its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// The opening run, its character and length, and where the next line begins.
    Fence {
        run: usize,
        ch: u8,
        n: usize,
        body: usize,
    },
    Quote,
    /// Where the `[` is.
    Bracket(usize),
    Plain,
}

/// Looks at the line that begins at `pos`. It is read from its beginning each time, so every wait names the byte that
/// can change something.
pub(crate) fn line(w: &Input<'_>, pos: usize) -> Result<Line, Incomplete> {
    let p = skip(w, pos, b" \t>")?;
    let mut run = p;
    if let Some(after) = list_marker(w, p)? {
        run = after;
    }
    if let Some(ch @ (b'`' | b'~')) = w.at(run)
        && let Some(fence) = opening(w, run, ch)?
    {
        return Ok(fence);
    }
    let indent = w.from(pos).iter().take_while(|&&b| b == b' ').count();
    let first = if indent <= 3 { w.at(pos + indent) } else { None };
    Ok(match first {
        Some(b'>') => Line::Quote,
        Some(b'[') => Line::Bracket(pos + indent),
        _ => Line::Plain,
    })
}

/// After a list marker and its blanks, if one is at `p`.
fn list_marker(w: &Input<'_>, p: usize) -> Result<Option<usize>, Incomplete> {
    let digits = w.from(p).iter().take(10).take_while(|b| b.is_ascii_digit()).count();
    let after = match need(w, p + digits)? {
        Some(b'-' | b'*' | b'+') if digits == 0 => p + 1,
        Some(b'.' | b')') if (1..=9).contains(&digits) => p + digits + 1,
        _ => return Ok(None),
    };
    let q = skip(w, after, b" \t")?;
    Ok((q > after).then_some(q))
}

/// The opening line whose run begins at `run`, if it is one.
fn opening(w: &Input<'_>, run: usize, ch: u8) -> Result<Option<Line>, Incomplete> {
    let n = skip(w, run, fence_run(ch))? - run;
    if n < 3 {
        return Ok(None);
    }
    let rest = w.from(run);
    let stop = match ch {
        b'`' => memchr::memchr3(b'`', b'\n', b'\r', &rest[n..]),
        _ => memchr::memchr2(b'\n', b'\r', &rest[n..]),
    };
    let Some(i) = stop else {
        return if w.eof {
            Ok(Some(Line::Fence { run, ch, n, body: w.end() }))
        } else {
            Err(Incomplete::on(Need::In(if ch == b'`' { b"`\n\r" } else { b"\n\r" })))
        };
    };
    let at = run + n + i;
    Ok(match w.at(at) {
        Some(b'`') => None,
        Some(b'\r') if w.at(at + 1) == Some(b'\n') => {
            Some(Line::Fence { run, ch, n, body: at + 2 })
        }
        _ => Some(Line::Fence { run, ch, n, body: at + 1 }),
    })
}

/// A closing line that begins at `pos`: where its line break is. `Ok(None)` if the line is not one.
pub(crate) fn closing(
    w: &Input<'_>,
    pos: usize,
    ch: u8,
    n: usize,
) -> Result<Option<usize>, Incomplete> {
    let p = skip(w, pos, b" \t>")?;
    let mut q = skip(w, p, fence_run(ch))?;
    let run = q - p;
    if run < n {
        return Ok(None);
    }
    // A CR before the LF is a blank of the line; alone it is the line break itself.
    let mut cr = None;
    while let Some(b @ (b' ' | b'\t' | b'\r')) = w.at(q) {
        if b == b'\r' {
            cr.get_or_insert(q);
        }
        q += 1;
    }
    match w.at(q) {
        None if !w.eof => Err(Incomplete::on(Need::NotIn(b" \t\r"))),
        None | Some(b'\n') => Ok(Some(q)),
        Some(_) => Ok(cr),
    }
}

/// The first byte from `pos` on that is not one of `bytes`, or the end of input.
fn skip(w: &Input<'_>, pos: usize, bytes: &'static [u8]) -> Result<usize, Incomplete> {
    let rest = w.from(pos);
    match rest.iter().position(|b| !bytes.contains(b)) {
        Some(n) => Ok(pos + n),
        None if w.eof => Ok(pos + rest.len()),
        None => Err(Incomplete::on(Need::NotIn(bytes))),
    }
}

/// The bytes of a fence's run.
fn fence_run(ch: u8) -> &'static [u8] {
    if ch == b'`' { b"`" } else { b"~" }
}
