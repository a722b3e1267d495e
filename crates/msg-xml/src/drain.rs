//! The events of one chunk for the caller: text borrowed from the chunk or the stream, and machine positions converted
//! to input positions.

use std::borrow::Cow;

use crate::code::diagnostic;
use crate::event::{ArgPath, Ev, Event, Queue, ThinkingStyle};
use crate::input::Input;

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
    /// The short way: all of `text` is one piece.
    whole: Option<Whole<'a>>,
    /// What the machine has queued.
    events: std::slice::IterMut<'a, Ev>,
    /// Text of them that is not in the input.
    texts: &'a str,
    /// What places refer to: this text, which begins at `base`.
    text: &'a str,
    base: usize,
    shifts: &'a Shifts,
}

/// What a text is that goes out without the machine: plain data, so that the common chunk needs no code to drop it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Whole<'a> {
    Text,
    Thinking,
    /// Of the value of this call and path.
    Arg(u32, &'a ArgPath),
}

impl<'a> Drain<'a> {
    /// All of `text` as one event; none if it is empty.
    #[inline]
    pub(crate) fn whole(whole: Whole<'a>, text: &'a str, base: usize, shifts: &'a Shifts) -> Self {
        let whole = (!text.is_empty()).then_some(whole);
        Drain { whole, events: Default::default(), texts: "", text, base, shifts }
    }

    /// What has been queued about `text`.
    #[inline]
    pub(crate) fn queued(
        queue: &'a mut Queue,
        text: &'a str,
        base: usize,
        shifts: &'a Shifts,
    ) -> Self {
        let Queue { events, texts, .. } = queue;
        Drain { whole: None, events: events.iter_mut(), texts, text, base, shifts }
    }

    #[inline]
    fn whole_event(&self, whole: Whole<'a>) -> Event<'a> {
        let text = Cow::Borrowed(self.text);
        let span = || {
            let from = self.shifts.raw(self.base);
            from..from + self.text.len() as u64
        };
        match whole {
            Whole::Text => Event::Text { text, span: span() },
            Whole::Thinking => Event::Thinking { text, span: span(), style: ThinkingStyle::Tag },
            Whole::Arg(call, path) => Event::Arg { call, path: Cow::Borrowed(path), text },
        }
    }
}

impl<'a> Iterator for Drain<'a> {
    type Item = Event<'a>;

    #[inline]
    fn next(&mut self) -> Option<Event<'a>> {
        match self.whole.take() {
            Some(whole) => Some(self.whole_event(whole)),
            // By value: a drain whose address is never taken can stay in registers.
            None => Some(event(self.events.next()?, self.texts, self.text, self.base, self.shifts)),
        }
    }
}

/// The event that `ev` represents, which refers to `texts`, and to `text`, which begins at `base`.
#[inline(never)]
fn event<'a>(
    ev: &mut Ev,
    texts: &'a str,
    text: &'a str,
    base: usize,
    shifts: &Shifts,
) -> Event<'a> {
    let str = |from, to| Input { text, base, eof: false }.str(from, to);
    let places = |from, to| shifts.raw(from)..shifts.raw(to);
    // What is left over is cleared with the next chunk.
    match std::mem::replace(ev, Ev::Begin { call: 0 }) {
        Ev::Text { from, to } => Event::Text { text: str(from, to).into(), span: places(from, to) },
        Ev::Thinking { from, to, style } => {
            Event::Thinking { text: str(from, to).into(), span: places(from, to), style }
        }
        Ev::Begin { call } => Event::ToolBegin { call },
        Ev::Name { call, text } => Event::ToolName { call, name: texts[text].to_owned() },
        Ev::Arg { call, path, from, to } => {
            Event::Arg { call, path: Cow::Owned(path), text: str(from, to).into() }
        }
        Ev::ArgText { call, path, text } => {
            Event::Arg { call, path: Cow::Owned(path), text: texts[text].into() }
        }
        Ev::Reset { call, path } => Event::ArgReset { call, path },
        Ev::End { call, mut outcome } => {
            let it = outcome.call_mut();
            let (from, to) = (it.span.start as usize, it.span.end as usize);
            if it.source.is_empty() {
                str(from, to).clone_into(&mut it.source);
            }
            it.span = places(from, to);
            Event::ToolEnd { call, outcome }
        }
        Ev::Void { call, code } => Event::ToolVoid { call, code },
        Ev::Reclaim { from, to } => Event::Reclaim(places(from, to)),
        Ev::Report { code, from, to, detail } => {
            let span = places(from, to);
            Event::Diagnostic(Box::new(diagnostic(
                code,
                span.start as usize..span.end as usize,
                detail.as_deref(),
            )))
        }
    }
}
