//! The native `<tool>` block (XT-12 to XT-29) as a push machine: a cursor, a stack of open elements and the
//! little that each of them must remember. It stops wherever the bytes do not decide and goes on there.
//! It does not know what stands around the block.

mod args;
mod cdata;
mod closers;
mod draft;
mod element;
mod end;
mod flow;
mod index;
mod json_body;
mod leaf;
mod recover;
mod text;
mod top;
mod whole;

pub(crate) use draft::{Arguments, Draft};
pub(crate) use index::{Index, Pass};
pub(crate) use json_body::{partial_name, read_arguments, read_calls};
pub(crate) use whole::whole;

use std::sync::Arc;

use crate::call::Server;
use crate::code::Code;
use crate::event::Queue;
use crate::json::Scanner;
use crate::look::{Look, Parent};
use crate::options::Options;
use crate::window::{Wait, Win, until_done};
use args::Args;
use element::Elem;

/// What a step may look at and write to.
pub(crate) struct Cx<'a, 'w> {
    pub(crate) w: &'a Win<'w>,
    pub(crate) look: &'a mut Look,
    pub(crate) queue: &'a mut Queue,
    pub(crate) opts: &'a Options,
    /// The finish reason says that the message was cut; meaningful at the end of input only.
    pub(crate) cut: bool,
}

/// A report about a place, in machine positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) code: Code,
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// The call within the block that it is about.
    pub(crate) call: usize,
}

/// How a block ended.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// One or more calls; only the last can be incomplete.
    Calls(Vec<Draft>),
    /// It stays text.
    Rejected(Code),
    /// A limit removed it.
    Dropped(Code),
}

/// A block that has been read.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) outcome: Outcome,
    pub(crate) notes: Vec<Note>,
    /// Only the end of input decided it (XT-29).
    pub(crate) at_eof: bool,
    /// The dialect, for other than the native form.
    pub(crate) format: Option<Arc<str>>,
    /// How many calls have been announced.
    pub(crate) begun: u32,
}

#[derive(Debug)]
enum State {
    Body,
    Top,
    Args,
    Elem,
    Json(Scanner, Why),
    JsonTail {
        from: usize,
        to: usize,
        fence: bool,
    },
    BesideTail {
        from: usize,
        to: usize,
    },
    ArgsTail {
        from: usize,
        to: usize,
        repaired: bool,
    },
    /// After a syntax error in JSON: to the next `</tool>`.
    SkipRejected(usize),
    /// After too much depth: to the first tail, else the first `</tool>`.
    SkipDepth {
        at: usize,
        close: Option<usize>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    Body { fence: bool },
    Beside,
    Args,
}

/// A block that is being read.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) start: usize,
    pub(crate) at: usize,
    /// The number of its first call.
    first_call: u32,
    state: State,
    done: Vec<Draft>,
    cur: Draft,
    args: Option<Args>,
    elems: Vec<Elem>,
    notes: Vec<Note>,
    reject: Option<Code>,
    stray_noted: bool,
    pending_server: Option<(Server, usize)>,
    /// End of the last element, where a block without close tag ends.
    last_end: usize,
    bare_end: Option<usize>,
    at_eof: bool,
    rewinds: usize,
    is_json: bool,
}

impl Block {
    /// A block whose opener at `start` ends at `body`.
    pub(crate) fn new(
        start: usize,
        body: usize,
        attrs: &str,
        first_call: u32,
        queue: &mut Queue,
    ) -> Self {
        let mut block = Block {
            start,
            at: body,
            first_call,
            state: State::Body,
            done: Vec::new(),
            cur: Draft::new(start),
            args: None,
            elems: Vec::new(),
            notes: Vec::new(),
            reject: None,
            stray_noted: false,
            pending_server: None,
            last_end: body,
            bare_end: None,
            at_eof: false,
            rewinds: 0,
            is_json: false,
        };
        queue.begin(first_call);
        block.attributes(attrs, queue);
        block
    }

    /// Reads on until the block ends or more bytes are needed.
    pub(crate) fn run(&mut self, cx: &mut Cx<'_, '_>) -> Result<Done, Wait> {
        until_done(|| self.step(cx))
    }

    fn step(&mut self, cx: &mut Cx<'_, '_>) -> Result<Option<Done>, Wait> {
        match self.state {
            State::Elem => self.elem(cx),
            State::Args => self.args(cx),
            State::Top => self.top(cx),
            State::Body => self.body(cx),
            State::Json(..) => self.json(cx),
            State::JsonTail { from, to, fence } => self.json_tail(cx, from, to, fence),
            State::BesideTail { from, to } => self.beside_tail(cx, from, to),
            State::ArgsTail { from, to, repaired } => self.args_tail(cx, from, to, repaired),
            State::SkipRejected(at) => self.skip_rejected(cx, at),
            State::SkipDepth { at, close } => self.skip_depth(cx, at, close),
        }
    }

    /// Whether `pos` is beyond what is stored of a block (XT-28).
    fn over(&self, cx: &Cx<'_, '_>, pos: usize) -> bool {
        pos - self.start > cx.opts.limits.max_tool_bytes
    }

    /// Whether `pos` is beyond what is kept to be read again: an object that turns out to be text, up to twice the size.
    fn beyond_rereading(&self, opts: &Options, pos: usize) -> bool {
        pos - self.start > opts.limits.max_tool_bytes.saturating_mul(2)
    }

    /// The first byte that may still be needed.
    pub(crate) fn keep(&self, opts: &Options) -> usize {
        let cursor = self.cursor();
        let object = self.elems.iter().any(|elem| matches!(elem.mode, element::Mode::Object(_)));
        if cursor - self.start <= opts.limits.max_tool_bytes
            || object && !self.beyond_rereading(opts, cursor)
        {
            return self.start;
        }
        match self.state {
            State::SkipDepth { at, close } => close.unwrap_or(at),
            State::SkipRejected(_) => self.start,
            _ => self.cursor(),
        }
    }

    fn cursor(&self) -> usize {
        match (&self.state, self.elems.last()) {
            (State::Elem, Some(elem)) => elem.cursor().max(self.at),
            (State::Json(scan, _), _) => scan.at,
            (State::Args, _) => self.args.as_ref().map_or(self.at, |a| a.cursor(self.at)),
            _ => self.at,
        }
    }

    fn call(&self) -> u32 {
        self.first_call + self.done.len() as u32
    }

    fn note(&mut self, code: Code, start: usize, end: usize) {
        let call = self.done.len();
        self.notes.push(Note { code, start, end, call });
    }

    fn refuse(&mut self, code: Code) {
        self.reject.get_or_insert(code);
    }

    /// The parent of a parameter at the level where the machine stands.
    fn param_parent(&self) -> Parent {
        if self.args.is_some() { Parent::Args } else { Parent::Tool }
    }
}
