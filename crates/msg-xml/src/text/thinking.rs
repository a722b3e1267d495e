//! Thinking in tags (XT-6), and calls in thinking that was never closed (XT-7).

use super::scan::{bare_end, think_word};
use super::span::{Span, SpanEnd};
use super::{Machine, Mode, Ready};
use crate::block::Outcome;
use crate::call::Origin;
use crate::code::Code;
use crate::dialect::Reader;
use crate::event::ThinkingStyle;
use crate::event::{Ev, Queue};
use crate::input::{Incomplete, Input, MORE};
use crate::lex;
use crate::options::Thinking;

/// Thinking that is open.
#[derive(Debug)]
pub(super) struct Thought {
    tag: usize,
    pub(super) content: usize,
    /// The word that closes it; any, if the template opened it.
    word: Option<&'static str>,
    at: usize,
    sent: usize,
    span: Option<Span>,
}

impl Thought {
    pub(super) fn new(tag: usize, content: usize, word: Option<&'static str>) -> Self {
        Thought { tag, content, word, at: content, sent: content, span: None }
    }

    /// Nothing is pending in it before `end`.
    pub(super) fn plain_at(&self, end: usize) -> bool {
        self.at == end && self.sent == end && self.span.is_none()
    }

    /// Moves to `end` over what has been sent.
    pub(super) fn pass_on(&mut self, end: usize) {
        self.at = end;
        self.sent = end;
    }
}

/// What a scan through thinking came to.
enum Found {
    /// The close tag: where it begins and ends.
    Close(usize, usize),
    End,
}

impl Machine {
    /// A message that begins inside thinking: blanks and an open tag may come first.
    pub(super) fn implicit(&mut self, w: &Input<'_>) -> Result<(), Incomplete> {
        let (p, next) = w.after_blanks(self.pos)?;
        let mut thought = Thought::new(p, p, None);
        if next == Some(b'<')
            && lex::need(w, p + 1)?.is_some_and(|b| b.is_ascii_alphabetic())
            && let Some((word, after)) = think_word(w, p)?
            && let Some(end) = bare_end(w, after)?
        {
            thought = Thought::new(p, end, Some(word));
        }
        self.pos = thought.content;
        self.sent = thought.content;
        self.lines.start = false;
        self.mode = Mode::Thinking(thought);
        Ok(())
    }

    pub(super) fn thinking(&mut self, w: &Input<'_>) -> Result<(), Incomplete> {
        let Mode::Thinking(thought) = &mut self.mode else { return Ok(()) };
        let res = scan(w, thought);
        let safe = match &res {
            Ok(Found::Close(start, _)) => *start,
            Ok(Found::End) => w.end(),
            Err(_) => match &mut thought.span {
                Some(span) => span.free(w),
                None => thought.at,
            },
        };
        let (from, tag) = (thought.sent, thought.tag);
        thought.sent = safe.max(from);
        let to = thought.sent;
        self.think(from, to, ThinkingStyle::Tag);
        self.sent = to;
        match res? {
            Found::Close(_, end) => {
                self.pos = end;
                self.sent = end;
                self.mode = Mode::Text;
            }
            Found::End => {
                self.report(Code::UnclosedThinking, tag, w.end());
                self.unclosed(w);
            }
        }
        Ok(())
    }

    /// XT-7: the run of complete calls that ends the message is taken out of the thinking.
    fn unclosed(&mut self, w: &Input<'_>) {
        let Mode::Thinking(thought) = &self.mode else { return };
        let content = thought.content;
        self.pos = w.end();
        self.mode = Mode::Text;
        let mut queue = Queue::default();
        queue.mute(true);
        let mut run: Vec<(usize, Vec<Ready>)> = Vec::new();
        let mut run_end = content;
        let mut at = content;
        while let Some(p) = w.find(b'<', at) {
            at = p + 1;
            let dialects = self.opts.dialects.list();
            let reader = Reader::begin(w, p, &self.opts, dialects, 0, &queue).ok().flatten();
            let Some(mut reader) = reader else { continue };
            let Ok(done) = reader.run_with(w, &mut queue, &self.opts, self.message.cut) else {
                break;
            };
            if !lex::all_blank(w.str(run_end, p)) {
                run.clear();
            }
            at = done.end.max(p + 1);
            run_end = at;
            let retry = done.at_eof;
            let start = done.start;
            match &done.outcome {
                Outcome::Calls(calls) if calls.iter().all(|c| c.complete) => {
                    let origin = Origin { recovered: true, ..Origin::default() };
                    run.push((start, self.ready_later(w, done, origin)));
                }
                _ => run.clear(),
            }
            if retry && self.retried() {
                self.report(Code::RecoveryLimit, start, start);
                run.clear();
                break;
            }
        }
        if !lex::all_blank(w.str(run_end, w.end())) {
            run.clear();
        }
        let Some((first, _)) = run.first() else {
            self.end_of_message(w);
            return;
        };
        if self.opts.thinking == Thinking::Extract {
            self.queue.push(Ev::Reclaim { from: *first, to: w.end() });
        }
        self.message.call_outside = true;
        for (_, ready) in run {
            self.emit_ready(w, ready);
        }
        self.end_of_message(w);
    }
}

fn scan(w: &Input<'_>, thought: &mut Thought) -> Result<Found, Incomplete> {
    loop {
        if let Some(span) = &mut thought.span {
            thought.at = match span.run(w)? {
                SpanEnd::Closed(p) | SpanEnd::Text(p) | SpanEnd::Open(p) => p,
            };
            thought.span = None;
        }
        let Some(i) = memchr::memchr2(b'<', b'`', w.from(thought.at)) else {
            thought.at = w.end();
            return if w.eof { Ok(Found::End) } else { Err(MORE) };
        };
        let p = thought.at + i;
        thought.at = p;
        if w.at(p) == Some(b'`') {
            thought.span = Some(Span::new(p));
            continue;
        }
        if lex::need(w, p + 1)? == Some(b'/')
            && let Some(end) = close_tag(w, p, thought.word)?
        {
            return Ok(Found::Close(p, end));
        }
        thought.at = p + 1;
    }
}

/// The close tag at `p` if it closes `word`.
fn close_tag(
    w: &Input<'_>,
    p: usize,
    word: Option<&'static str>,
) -> Result<Option<usize>, Incomplete> {
    match word {
        None => match think_word(w, p)? {
            Some((_, after)) => bare_end(w, after),
            None => Ok(None),
        },
        Some(word) => {
            if !w.word(p + 2, word)? {
                return Ok(None);
            }
            bare_end(w, p + 2 + word.len())
        }
    }
}
