//! Text between the things that are found in it (XT-3, XT-4, XT-10, XT-11).

use super::bracket::Bracket;
use super::fence::Fence;
use super::line::{self, Line};
use super::span::{Span, SpanEnd};
use super::thinking::Thought;
use super::{Machine, Mode};
use crate::block::opener::OPENER_MAX;
use crate::code::Code;
use crate::dialect::Reader;
use crate::input::{Incomplete, Input, MORE, is_name_byte};
use crate::lex::{self, Tag};
use crate::options::Thinking;
use crate::passthrough::begins_plainly;

impl Machine {
    /// Reads text up to the next thing of note.
    pub(super) fn text(&mut self, w: &Input<'_>) -> Result<(), Incomplete> {
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

    /// How many bytes of plain text come before the next thing of note, which may be the end of a line if the next
    /// one has to be looked at; `None` if nothing more comes.
    fn plain_len(&self, w: &Input<'_>) -> Option<usize> {
        let rest = w.from(self.pos);
        if self.lines.quote {
            return memchr::memchr2(b'\n', b'\r', rest);
        }
        let mut at = 0;
        loop {
            let hit = match self.lines.has_cr {
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
        let kind = line::line(w, self.pos)?;
        let foreign = match kind {
            Line::Bracket(p) => self.foreign_list(w, p)?,
            _ => false,
        };
        self.lines.start = false;
        match kind {
            Line::Plain => {}
            Line::Quote => self.lines.quote = true,
            Line::Bracket(_) if foreign || self.opts.thinking == Thinking::Off => {}
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
                    // Of a message that was cut, what might be quoted is not run (law 4).
                    SpanEnd::Open(_) if self.message.cut => w.end(),
                    SpanEnd::Open(p) => p,
                };
                self.text_upto(self.pos);
                Ok(())
            }
            Err(wait) => {
                let free = span.free(w);
                self.lines.span = Some(*span);
                self.text_upto(free);
                Err(wait)
            }
        }
    }

    /// A `<` in text.
    fn angle(&mut self, w: &Input<'_>, p: usize) -> Result<(), Incomplete> {
        // Of a message that was cut in what may be a thought, no call of a dialect is run.
        let dialects = self.opts.dialects.list();
        let dialects = if self.message.thought_open { &[] } else { dialects };
        let call = self.message.calls;
        if !may_begin(w, p)? {
            self.pos = p + 1;
        } else if let Some(reader) = Reader::begin(w, p, &self.opts, dialects, call, &self.queue)? {
            self.text_upto(p);
            self.queue.begin(call);
            self.mode = Mode::Block(reader);
        } else if let Some(end) = self.tool_tag(w, p)? {
            self.pos = end;
        } else if self.opts.thinking == Thinking::Off || !self.thinking_tag(w, p)? {
            self.foreign_at(w, p)?;
            self.pos = p + 1;
        }
        Ok(())
    }

    /// XT-10: a `<tool>` that is no opener, or `</tool>` in text; one past the tag.
    fn tool_tag(&mut self, w: &Input<'_>, p: usize) -> Result<Option<usize>, Incomplete> {
        if !names_tool(w, p)? {
            return Ok(None);
        }
        let tag = w.near(p + OPENER_MAX, |w| lex::tag(w, p))?;
        match tag {
            // It is too long to be waited for: what stands in it is read as text.
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

/// Whether something of note may begin at the `<` at `p`: a tag, or a token between bars.
fn may_begin(w: &Input<'_>, p: usize) -> Result<bool, Incomplete> {
    Ok(lex::need(w, p + 1)?
        .is_some_and(|b| b.is_ascii_alphabetic() || matches!(b, b'/' | b'|' | b'_' | 0x80..)))
}

/// Whether a tag at `p` begins with `tool` and nothing more.
fn names_tool(w: &Input<'_>, p: usize) -> Result<bool, Incomplete> {
    for tag in ["<tool", "</tool"] {
        if w.word(p, tag)? {
            return Ok(!lex::need(w, p + tag.len())?.is_some_and(|b| is_name_byte(b) || b >= 0x80));
        }
    }
    Ok(false)
}

/// Blanks from `pos` and then `>`: one past it. `None` for anything else.
pub(super) fn bare_end(w: &Input<'_>, pos: usize) -> Result<Option<usize>, Incomplete> {
    Ok(match w.after_blanks(pos)? {
        (p, Some(b'>')) => Some(p + 1),
        _ => None,
    })
}

/// A THINK word after `<` or `</`, and where it ends.
pub(super) fn think_word(
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

/// The first byte of a line's inside that may begin something or ends the line.
fn find_special(bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|&b| special(b) != 0)
}
