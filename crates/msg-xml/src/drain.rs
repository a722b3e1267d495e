//! The events of one chunk as the caller takes them: text borrowed from the chunk or from the stream, and positions
//! of the machine turned into positions of the input.

use std::borrow::Cow;
use std::ops::Range;

use msg_core::{Diagnostic, Severity};

use crate::code::Code;
use crate::event::{ArgPath, Ev, Event, Outcome};
use crate::parsed::ThinkingStyle;
use crate::window::Win;

/// How positions of the machine and of the input differ: from each position on, by so much.
#[derive(Debug, Default)]
pub(crate) struct Shifts(Vec<(usize, i64)>);

impl Shifts {
    /// The position of the input that is `pos` for the machine.
    #[inline]
    pub(crate) fn raw(&self, pos: usize) -> u64 {
        if self.0.is_empty() { pos as u64 } else { self.shifted(pos) }
    }

    fn shifted(&self, pos: usize) -> u64 {
        let n = self.0.partition_point(|&(p, _)| p <= pos);
        let by = n.checked_sub(1).map_or(0, |i| self.0[i].1);
        pos.checked_add_signed(by as isize).unwrap_or_default() as u64
    }

    pub(crate) fn add(&mut self, pos: usize, by: i64) {
        let total = self.0.last().map_or(0, |&(_, by)| by) + by;
        match self.0.last_mut() {
            Some(last) if last.0 == pos => last.1 = total,
            _ => self.0.push((pos, total)),
        }
    }
}

/// The events of one `feed` or `finish`. What is not taken is lost.
#[derive(Debug)]
pub struct Drain<'a> {
    /// Plain data, so that the one piece of a common chunk needs no code to drop it.
    piece: Option<Piece<'a>>,
    /// What the machine has queued; none if it was not woken.
    rest: Option<Rest<'a>>,
}

/// A piece that goes out without the machine.
#[derive(Clone, Copy, Debug)]
struct Piece<'a> {
    text: &'a str,
    of: PieceOf<'a>,
}

#[derive(Clone, Copy, Debug)]
enum PieceOf<'a> {
    /// From this position of the input on.
    Text(u64),
    Thinking(u64),
    Arg(u32, &'a ArgPath),
}

/// Queued events and what their places refer to.
#[derive(Debug)]
pub(crate) struct Rest<'a> {
    pub(crate) events: std::slice::IterMut<'a, Ev>,
    pub(crate) texts: &'a str,
    pub(crate) text: &'a str,
    pub(crate) base: usize,
    pub(crate) shifts: &'a Shifts,
}

impl<'a> Drain<'a> {
    #[inline]
    pub(crate) fn none() -> Self {
        Drain { piece: None, rest: None }
    }

    #[inline]
    pub(crate) fn text(from: u64, text: &'a str) -> Self {
        Drain { piece: Some(Piece { text, of: PieceOf::Text(from) }), rest: None }
    }

    #[inline]
    pub(crate) fn thinking(from: u64, text: &'a str) -> Self {
        Drain { piece: Some(Piece { text, of: PieceOf::Thinking(from) }), rest: None }
    }

    /// A piece of a value, which may be empty: then there is no event.
    #[inline]
    pub(crate) fn arg(call: u32, path: &'a ArgPath, text: &'a str) -> Self {
        let piece = Piece { text, of: PieceOf::Arg(call, path) };
        Drain { piece: (!text.is_empty()).then_some(piece), rest: None }
    }

    pub(crate) fn queued(rest: Rest<'a>) -> Self {
        Drain { piece: None, rest: Some(rest) }
    }
}

impl<'a> Iterator for Drain<'a> {
    type Item = Event<'a>;

    #[inline]
    fn next(&mut self) -> Option<Event<'a>> {
        match self.rest.take() {
            None => self.piece.take().map(Piece::event),
            // By value, so that the piece of the other case can stay in registers.
            Some(mut rest) => {
                let event = rest.next();
                self.rest = Some(rest);
                event
            }
        }
    }
}

impl<'a> Piece<'a> {
    #[inline]
    fn event(self) -> Event<'a> {
        let text = Cow::Borrowed(self.text);
        let span = |from: u64| from..from + self.text.len() as u64;
        match self.of {
            PieceOf::Text(from) => Event::Text { text, span: span(from) },
            PieceOf::Thinking(from) => {
                Event::Thinking { text, span: span(from), style: ThinkingStyle::Tag }
            }
            PieceOf::Arg(call, path) => Event::Arg { call, path: path.clone(), text },
        }
    }
}

impl<'a> Rest<'a> {
    fn next(&mut self) -> Option<Event<'a>> {
        // What is left behind is cleared with the next chunk.
        let ev = std::mem::replace(self.events.next()?, Ev::Begin { call: 0 });
        Some(self.event(ev))
    }

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
            Ev::Name { call, text } => Event::ToolName { call, name: self.texts[text].to_owned() },
            Ev::Arg { call, path, from, to } => {
                Event::Arg { call, path, text: self.str(from, to).into() }
            }
            Ev::ArgText { call, path, text } => {
                Event::Arg { call, path, text: self.texts[text].into() }
            }
            Ev::Reset { call, path } => Event::ArgReset { call, path },
            Ev::End { call, mut outcome } => {
                let (source, span) = match &mut *outcome {
                    Outcome::Complete(call) => (&mut call.source, &mut call.span),
                    Outcome::Partial(call) => (&mut call.source, &mut call.span),
                };
                let (from, to) = (span.start as usize, span.end as usize);
                if source.is_empty() {
                    self.str(from, to).clone_into(source);
                }
                *span = self.span(from, to);
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
    let message: Cow<'static, str> = match detail.filter(|d| !d.is_empty()) {
        Some(detail) => format!("{}: {detail}", code.as_str().replace('_', " ")).into(),
        None => code.summary().into(),
    };
    Diagnostic::new(severity, msg_core::Code::new(code.kebab()), message)
        .at_span(span)
        .with_fix(code.hint())
}
