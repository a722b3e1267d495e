//! Text between the things that are found in it (XT-3, XT-4, XT-10, XT-11), and the openers that are not read.

use super::fence::{Fence, Line};
use super::thinking::{Bracket, Thought};
use super::{Machine, Mode, fence};
use crate::block::tokens::OPENER_MAX;
use crate::code::Code;
use crate::dialect::Reader;
use crate::dialects::MISTRAL_OPEN;
use crate::input::{Incomplete, Input, MORE, Need, is_blank, is_name_byte};
use crate::lex;
use crate::lex::Tag;
use crate::options::ThinkingMode;
use crate::special::token;
use crate::stream::{FastPath, Kind, begins_plainly};

impl Machine {
    /// Reads text up to the next thing of note.
    pub(crate) fn text(&mut self, w: &Input<'_>) -> Result<(), Incomplete> {
        if self.message.first && self.whole_call(w)? {
            return Ok(());
        }
        if self.lines.start {
            return self.begin_line(w);
        }
        if let Some(mut span) = self.lines.span {
            return self.code_span(w, &mut span);
        }
        let Some(i) = self.plain_len(w) else {
            self.pos = w.end();
            if !w.eof {
                return Err(MORE);
            }
            self.end_of_message(w);
            return Ok(());
        };
        let p = self.pos + i;
        self.pos = p;
        match w.bytes()[p - w.base] {
            b'<' => self.angle(w, p),
            b'[' => self.list_call(w, p),
            b'`' => {
                self.lines.span = Some(Span::new(p));
                Ok(())
            }
            _ => {
                // CR and LF each end a line; the empty line inside CRLF is harmless.
                self.pos = p + 1;
                self.lines.start = true;
                self.lines.quote = false;
                Ok(())
            }
        }
    }

    /// The number of bytes of plain text before the next relevant place. This is the end of a line if the next
    /// line must be examined; `None` if nothing more comes.
    fn plain_len(&self, w: &Input<'_>) -> Option<usize> {
        let rest = w.from(self.pos);
        if self.lines.quote {
            return memchr::memchr2(b'\n', b'\r', rest);
        }
        let mut at = 0;
        loop {
            let hit = match self.lines.has_cr {
                _ if self.has_list => rest[at..].iter().position(|&b| b == b'[' || special(b) != 0),
                true => find_special(&rest[at..]),
                false => memchr::memchr3(b'<', b'`', b'\n', &rest[at..]),
            };
            let i = at + hit?;
            let passes = matches!(rest[i], b'\n' | b'\r') && begins_plainly(&rest[i + 1..]);
            if !passes {
                return Some(i);
            }
            at = i + 1;
        }
    }

    fn begin_line(&mut self, w: &Input<'_>) -> Result<(), Incomplete> {
        if begins_plainly(w.from(self.pos)) {
            self.lines.start = false;
            return Ok(());
        }
        if w.eof && w.at(self.pos).is_none() {
            self.lines.start = false;
            return Ok(());
        }
        let kind = fence::line(w, self.pos)?;
        let foreign = match kind {
            // It is read in its line.
            Line::Bracket(p) if self.has_list && token(w, p, &[MISTRAL_OPEN])?.is_some() => true,
            Line::Bracket(p) => self.foreign_list(w, p)?,
            _ => false,
        };
        self.lines.start = false;
        match kind {
            Line::Plain => {}
            Line::Quote => self.lines.quote = true,
            Line::Bracket(_) if foreign || self.opts.thinking == ThinkingMode::Off => {}
            Line::Bracket(p) => self.mode = Mode::Bracket(Bracket::new(p)),
            Line::Fence { run, ch, n, body } => {
                self.text_upto(run);
                self.mode = Mode::Fence(Box::new(Fence::new(run, ch, n, body, &self.opts)));
            }
        }
        Ok(())
    }

    fn code_span(&mut self, w: &Input<'_>, span: &mut Span) -> Result<(), Incomplete> {
        match span.run(w) {
            Ok(end) => {
                self.lines.span = None;
                self.pos = match end {
                    SpanEnd::Closed(p) | SpanEnd::Text(p) => p,
                    // In a truncated message, text that may be quoted runs no call (law 4).
                    SpanEnd::Open(_) if self.message.cut => w.end(),
                    SpanEnd::Open(p) => p,
                };
                self.text_upto(self.pos);
                Ok(())
            }
            Err(wait) => {
                let free = span.free(w, self.has_list);
                self.lines.span = Some(*span);
                self.text_upto(free);
                Err(wait)
            }
        }
    }

    /// A `<` in text.
    fn angle(&mut self, w: &Input<'_>, p: usize) -> Result<(), Incomplete> {
        let is_plain = !may_begin(w, p)?;
        if !is_plain && (self.harmony(w, p)? || self.ends_nothing(w, p)?) {
            return Ok(());
        }
        // In a message truncated inside possible thinking, no call of a dialect runs.
        let dialects = self.opts.dialects.list();
        let dialects = if self.message.thought_open { &[] } else { dialects };
        let call = self.message.calls;
        if is_plain {
            self.pos = p + 1;
            self.message.first = false;
        } else if let Some(reader) = Reader::begin(w, p, &self.opts, dialects, call, &self.queue)? {
            self.text_upto(p);
            self.queue.begin(call);
            self.mode = Mode::Block(reader);
        } else if let Some(end) = self.tool_tag(w, p)? {
            self.pos = end;
        } else if self.opts.thinking == ThinkingMode::Off || !self.thinking_tag(w, p)? {
            self.foreign_at(w, p)?;
            self.pos = p + 1;
            self.message.first = false;
        }
        Ok(())
    }

    /// XT-10: a `<tool>` that is not an opener, or `</tool>` in text; one past the tag.
    fn tool_tag(&mut self, w: &Input<'_>, p: usize) -> Result<Option<usize>, Incomplete> {
        if !names_tool(w, p)? {
            return Ok(None);
        }
        let tag = w.near(p + OPENER_MAX, |w| lex::tag(w, p))?;
        match tag {
            // It is too long to be waited for: what is in it is read as text.
            None => {
                self.message.tool_tag |= w.at(p + 1) != Some(b'/');
                Ok(Some(p + 1))
            }
            Some(Tag::Open(t)) if t.is_tool() => {
                self.message.tool_tag |= !t.self_closing;
                Ok(Some(t.end))
            }
            Some(Tag::Close(c)) if c.is_tool() => {
                let seen = std::mem::take(&mut self.message.tool_tag);
                let code = if seen { Code::InvalidToolBody } else { Code::StrayToolClose };
                self.report(code, p, c.end);
                Ok(Some(c.end))
            }
            Some(_) => Ok(None),
        }
    }

    /// XT-6: a thinking tag at `p`; whether there was one.
    fn thinking_tag(&mut self, w: &Input<'_>, p: usize) -> Result<bool, Incomplete> {
        let close = w.at(p + 1) == Some(b'/');
        let Some((word, after)) = think_word(w, p)? else { return Ok(false) };
        let Some(end) = bare_end(w, after)? else { return Ok(false) };
        self.text_upto(p);
        if close {
            self.report(Code::StrayThinkingClose, p, end);
            self.sent = end;
            self.pos = end;
        } else {
            self.sent = end;
            self.pos = end;
            self.mode = Mode::Thinking(Thought::new(p, end, Some(word)));
        }
        Ok(true)
    }
}

/// Whether a relevant token may begin at the `<` at `p`: a tag, or a token between bars.
fn may_begin(w: &Input<'_>, p: usize) -> Result<bool, Incomplete> {
    Ok(lex::need(w, p + 1)?
        .is_some_and(|b| b.is_ascii_alphabetic() || matches!(b, b'/' | b'|' | b'_' | 0x80..)))
}

/// Whether the tag at `p` has exactly the name `tool`.
fn names_tool(w: &Input<'_>, p: usize) -> Result<bool, Incomplete> {
    for tag in ["<tool", "</tool"] {
        if w.word(p, tag)? {
            return Ok(!lex::need(w, p + tag.len())?.is_some_and(|b| is_name_byte(b) || b >= 0x80));
        }
    }
    Ok(false)
}

/// Blanks from `pos` and then `>`: one past it. `None` for anything else.
pub(crate) fn bare_end(w: &Input<'_>, pos: usize) -> Result<Option<usize>, Incomplete> {
    Ok(match w.after_blanks(pos)? {
        (p, Some(b'>')) => Some(p + 1),
        _ => None,
    })
}

/// A THINK word after `<` or `</`, and its end.
pub(crate) fn think_word(
    w: &Input<'_>,
    p: usize,
) -> Result<Option<(&'static str, usize)>, Incomplete> {
    let from = p + if w.at(p + 1) == Some(b'/') { 2 } else { 1 };
    let Some(word) = w.any_word(from, &lex::THINK)? else { return Ok(None) };
    let after = from + word.len();
    let ends = lex::need(w, after)?.is_some_and(|b| b == b'>' || crate::input::is_blank(b));
    Ok(ends.then_some((word, after)))
}

fn special(b: u8) -> u8 {
    u8::from(b == b'<') | u8::from(b == b'`') | u8::from(b == b'\n') | u8::from(b == b'\r')
}

/// The first byte inside a line that may begin a token or ends the line.
fn find_special(bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|&b| special(b) != 0)
}

// Code spans (XT-4): whether a run of backticks is closed by an equal run on its line, within 4096 bytes.

/// Longest span, from its first backtick to its last.
const SPAN_MAX: usize = 4096;

/// A run that may open a span.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) start: usize,
    /// Length of the run; 0 while it may still grow.
    n: usize,
    at: usize,
    /// Looked through for `<` up to here.
    clean: usize,
}

/// The result of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SpanEnd {
    /// A span: one past its last backtick.
    Closed(usize),
    /// Ordinary text: one past the run.
    Text(usize),
    /// The input ends where it could still have been closed: one past the run.
    Open(usize),
}

impl Span {
    pub(crate) fn new(start: usize) -> Self {
        Span { start, n: 0, at: start, clean: start }
    }

    /// Reads on.
    pub(crate) fn run(&mut self, w: &Input<'_>) -> Result<SpanEnd, Incomplete> {
        if self.n == 0 {
            let n = run_len(w, self.start)?;
            self.n = n;
            self.at = self.start + n;
            self.clean = self.at;
        }
        let text = SpanEnd::Text(self.start + self.n);
        let limit = self.start + SPAN_MAX;
        loop {
            let rest = w.from(self.at);
            let Some(i) = memchr::memchr3(b'`', b'\n', b'\r', rest) else {
                self.at = w.end();
                return match w.eof {
                    _ if self.at >= limit => Ok(text),
                    true => Ok(SpanEnd::Open(self.start + self.n)),
                    false => Err(MORE.by(limit)),
                };
            };
            let p = self.at + i;
            self.at = p;
            if p >= limit || w.at(p) != Some(b'`') {
                return Ok(text);
            }
            let n = run_len(w, p)?;
            if n == self.n {
                return Ok(if p + n - self.start <= SPAN_MAX {
                    SpanEnd::Closed(p + n)
                } else {
                    text
                });
            }
            self.at = p + n;
        }
    }

    /// How far the bytes after the run are free of anything that looks like a tag or, with `has_list`, like the token of
    /// XT-54: these may go out.
    pub(crate) fn free(&mut self, w: &Input<'_>, has_list: bool) -> usize {
        if self.n == 0 {
            return w.end();
        }
        let list = if has_list { b'[' } else { b'<' };
        loop {
            let Some(i) = memchr::memchr2(b'<', list, w.from(self.clean)) else {
                self.clean = w.end();
                return self.clean;
            };
            let p = self.clean + i;
            self.clean = p;
            let may_begin = match (w.at(p), w.at(p + 1)) {
                (_, None) => true,
                (Some(b'['), Some(next)) => next == MISTRAL_OPEN.as_bytes()[1],
                (_, Some(next)) => {
                    next >= 0x80 || matches!(next, b'/' | b'|' | b'_') || next.is_ascii_alphabetic()
                }
            };
            if may_begin {
                return p;
            }
            self.clean = p + 1;
        }
    }
}

/// Length of the run of backticks at `pos`; waits for the byte after it.
fn run_len(w: &Input<'_>, pos: usize) -> Result<usize, Incomplete> {
    let rest = w.from(pos);
    match rest.iter().position(|&b| b != b'`') {
        Some(n) => Ok(n),
        None if w.eof => Ok(rest.len()),
        None => Err(Incomplete::on(Need::NotIn(b"`"))),
    }
}

// Which fast path a stream may take from where the machine is, and how the machine catches up with it.

impl Machine {
    /// The fast path for the bytes from `end` on, up to which everything has been read.
    pub(crate) fn fast_path(&self, end: usize) -> FastPath {
        match &self.mode {
            Mode::Text if self.plain_at(end) && self.lines.quote => FastPath::new(Kind::Quote),
            Mode::Text if self.plain_at(end) => FastPath::text(Kind::Text, self.lines.start),
            Mode::Block(reader) => reader.fast_path(end, &self.opts),
            Mode::Thinking(thought)
                if thought.plain_at(end) && self.opts.thinking == ThinkingMode::Extract =>
            {
                FastPath::thought(end)
            }
            Mode::Fence(fence) if self.sent == end => fence.fast_path(end),
            _ => FastPath::new(Kind::Closed),
        }
    }

    /// Nothing is pending in the text before `end`.
    fn plain_at(&self, end: usize) -> bool {
        self.pos == end
            && self.sent == end
            && self.lines.span.is_none()
            && !self.message.first
            && !self.has_list
    }

    /// Moves to `end`. The stream has sent the content of the fast path up to there.
    pub(crate) fn pass_on(&mut self, fast_path: &FastPath, end: usize) {
        match (fast_path.kind, &mut self.mode) {
            (Kind::Closed, _) => return,
            (Kind::Cdata | Kind::Plain | Kind::Raw, Mode::Block(reader)) => {
                return reader.pass_on(fast_path.sent, end);
            }
            (Kind::Text, _) => self.lines.start = fast_path.line_start,
            (Kind::Fence(_), Mode::Fence(fence)) => fence.pass_on(fast_path.line_start, end),
            (Kind::Thought, Mode::Thinking(thought)) => thought.pass_on(end),
            _ => {}
        }
        self.pos = end;
        self.sent = end;
    }
}

// Openers of tool call syntaxes that are not read (XT-11): markup words, tokens between bars, `[TOOL_CALLS]`.
// It only recognises them, once a message; they stay text.
//
// ```text
// <|python_tag|>{"name":"ls"}          Llama
// [TOOL_CALLS][{"name":"ls"}]          Mistral
// <|tool_call_begin|>functions.ls:0    Kimi
// <｜tool▁call▁begin｜>function          DeepSeek
// <|channel|>commentary to=functions.ls <|message|>{}<|call|>    Harmony
// ```

/// The openers that are plain words.
pub(crate) const WORDS: [&str; 11] = [
    "seed:tool_call",
    "longcat_tool_call",
    "start_function_call",
    "toolcall",
    "function_calls",
    "function_call",
    "invoke",
    "tool_call",
    "tool_calls",
    "tool_use",
    "function",
];

/// Tokens that are only where a call begins, or in one.
const TOKENS: [&str; 21] = [
    "<|action_start|>",
    "<|tools_prefix|>",
    "<|START_ACTION|>",
    "<|role_sep|>",
    "<|tool_call>",
    "<|python_tag|>",
    "<|tool_calls_section_begin|>",
    "<|tool_call_begin|>",
    "<|tool_calls|>",
    "<|tool_call|>",
    "<|constrain|>",
    "<|call|>",
    "<｜tool▁calls▁begin｜>",
    "<｜tool▁call▁begin｜>",
    "<｜tool_calls_begin｜>",
    "<｜tool_call_begin｜>",
    "<|tool▁calls▁begin|>",
    "<｜DSML｜",
    "<｜｜DSML｜",
    "<|DSML|",
    "<||DSML|",
];

/// Tokens of Harmony after which a header may name a tool.
const HEADERS: [&str; 2] = ["<|channel|>", "<|start|>"];
/// How long such a header may be.
const HEADER_MAX: usize = 256;
/// Mistral's token.
const LIST: &str = "[TOOL_CALLS]";

impl Machine {
    /// Reports the first foreign opener of the message, if one is at the `<` at `p`.
    fn foreign_at(&mut self, w: &Input<'_>, p: usize) -> Result<(), Incomplete> {
        if !self.message.foreign
            && let Some(end) = foreign(w, p)?
        {
            self.message.foreign = true;
            self.report(Code::ForeignToolSyntax, p, end);
        }
        Ok(())
    }

    /// The same for the `[` that begins a line at `p`. Returns whether there is one.
    fn foreign_list(&mut self, w: &Input<'_>, p: usize) -> Result<bool, Incomplete> {
        let end = p + LIST.len();
        // In lower case it is a table of TOML.
        let found = w.word(p, LIST)? && w.str(p, end) == LIST;
        if found && !self.message.foreign {
            self.message.foreign = true;
            self.text_upto(p);
            self.report(Code::ForeignToolSyntax, p, end);
        }
        Ok(found)
    }
}

/// An opener of a foreign syntax at `p`; one past what shows it.
fn foreign(w: &Input<'_>, p: usize) -> Result<Option<usize>, Incomplete> {
    if matches!(w.at(p + 1), Some(b'|' | 0xEF)) {
        return token_foreign(w, p);
    }
    if w.word(p, "<function=")? {
        return Ok(Some(p + "<function=".len()));
    }
    if w.word(p, "<minimax:tool_call>")? {
        return Ok(Some(p + "<minimax:tool_call>".len()));
    }
    let from = p + 1 + if w.word(p + 1, "antml:")? { "antml:".len() } else { 0 };
    for word in WORDS {
        if w.word(from, word)?
            && let Some(end) = after_word(w, from + word.len())?
        {
            return Ok(Some(end));
        }
    }
    Ok(None)
}

/// One past the tag whose word ends at `after`, if it does end there.
fn after_word(w: &Input<'_>, after: usize) -> Result<Option<usize>, Incomplete> {
    let b = match crate::lex::need(w, after)? {
        Some(b'>') => return Ok(Some(after + 1)),
        Some(b) if b == b'/' || is_blank(b) => b,
        _ => return Ok(None),
    };
    let rest = w.from(after);
    match memchr::memchr2(b'<', b'>', rest) {
        Some(i) if rest[i] == b'>' && (b != b'/' || i == 1) => Ok(Some(after + i + 1)),
        Some(_) => Ok(None),
        None if w.eof || rest.len() > OPENER_MAX => Ok(None),
        None => Err(MORE.by(after + OPENER_MAX + 1)),
    }
}

/// A token between bars at `p`.
fn token_foreign(w: &Input<'_>, p: usize) -> Result<Option<usize>, Incomplete> {
    if let Some(token) = w.any_word(p, &HEADERS)? {
        return recipient(w, p + token.len());
    }
    Ok(w.any_word(p, &TOKENS)?.map(|token| p + token.len()))
}

/// The offset after `to=` in the header from `from` to the next token.
fn recipient(w: &Input<'_>, from: usize) -> Result<Option<usize>, Incomplete> {
    let rest = w.from(from);
    let header = &rest[..rest.len().min(HEADER_MAX)];
    // It does not go beyond its line, so that little is held of a text that is not one.
    let end = memchr::memchr3(b'<', b'\n', b'\r', header);
    let header = &header[..end.unwrap_or(header.len())];
    match memchr::memmem::find(header, b" to=") {
        Some(i) => Ok(Some(from + i + " to=".len())),
        None if end.is_some() || w.eof || rest.len() >= HEADER_MAX => Ok(None),
        None => Err(MORE),
    }
}
