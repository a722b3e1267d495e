//! Foreign tool call syntaxes behind the same segments (section 6): which of those that are on begins where, and what
//! reads a block. What is not read is only recognised (XT-11).
//!
//! ```text
//! <function_calls><invoke name="ls"><parameter name="p">.</parameter></invoke></function_calls>   tags by a grammar
//! <tool_call>{"name":"ls","arguments":{"p":"."}}</tool_call>                                      JSON
//! <ls><p>.</p></ls>                                                                               cline
//! ```

mod awaited;
mod cline;
mod gather;
mod glm;
mod json;
mod tag_value;
mod tags;

use crate::block::{Block, Done, Head};
use crate::dialects::Dialect;
use crate::event::Queue;
use crate::input::{Incomplete, Input};
use crate::options::Options;
use crate::passthrough::{FastPath, Kind};
use cline::Cline;
use gather::Cx;
use json::JsonReader;
use tags::TagReader;

/// Whatever reads a block; boxed where it is kept.
#[derive(Debug)]
pub(crate) enum Reader {
    Native(Block),
    Tags(Box<TagReader>),
    Json(JsonReader),
    Cline(Cline),
}

impl Reader {
    /// A reader for the native block at `start`, whose opener ends at `body`.
    pub(crate) fn native(
        w: &Input<'_>,
        start: usize,
        body: usize,
        first_call: u32,
        queue: &mut Queue,
    ) -> Self {
        Reader::Native(Block::new(w, Head { start, body }, first_call, queue))
    }

    pub(crate) fn start(&self) -> usize {
        match self {
            Reader::Native(block) => block.start(),
            Reader::Tags(reader) => reader.start(),
            Reader::Json(reader) => reader.start(),
            Reader::Cline(reader) => reader.start,
        }
    }

    /// The first byte that may still be needed.
    pub(crate) fn keep(&self, opts: &Options) -> usize {
        match self {
            Reader::Native(block) => block.keep(),
            Reader::Tags(reader) => reader.out.keep(reader.cursor(), opts),
            Reader::Json(reader) => reader.out.keep(reader.cursor(), opts),
            Reader::Cline(reader) => reader.keep(opts),
        }
    }

    /// The fast path for the bytes from `end` on.
    pub(crate) fn fast_path(&self, end: usize, opts: &Options) -> FastPath {
        match self {
            Reader::Native(block) => block.fast_path(end, opts),
            Reader::Tags(reader) => reader.fast_path(end, opts),
            Reader::Cline(reader) => reader.fast_path(end, opts),
            Reader::Json(_) => FastPath::new(Kind::Closed),
        }
    }

    /// Moves to `end` over a value of which everything up to `to` has been sent.
    pub(crate) fn pass_on(&mut self, to: usize, end: usize) {
        match self {
            Reader::Native(block) => block.pass_on(to, end),
            Reader::Tags(reader) => reader.pass_on(to, end),
            Reader::Cline(reader) => reader.pass_on(to, end),
            Reader::Json(_) => {}
        }
    }

    /// Reads on.
    pub(crate) fn run_with(
        &mut self,
        w: &Input<'_>,
        queue: &mut Queue,
        opts: &Options,
        cut: bool,
    ) -> Result<Done, Incomplete> {
        let mut cx = Cx { w, queue, opts, cut };
        match self {
            Reader::Native(block) => block.run(w, cx.queue, opts, cut),
            Reader::Tags(reader) => reader.run(&mut cx),
            Reader::Json(reader) => reader.run(&mut cx),
            Reader::Cline(reader) => reader.run(&mut cx),
        }
    }
}

/// Tries the dialects that are on at the `<` at `p`, in the order of XT-32.
pub(crate) fn begin(
    w: &Input<'_>,
    p: usize,
    opts: &Options,
    first_call: u32,
    queue: &mut Queue,
) -> Result<Option<Reader>, Incomplete> {
    for dialect in opts.dialects.list() {
        let reader = match dialect {
            Dialect::Tags(grammar) => match json::begin_list(w, p, grammar, first_call)? {
                Some(reader) => Some(Reader::Json(reader)),
                None => {
                    tags::begin(w, p, grammar, first_call)?.map(|it| Reader::Tags(Box::new(it)))
                }
            },
            Dialect::Glm(grammar) => {
                glm::begin(w, p, grammar, first_call)?.map(|it| Reader::Tags(Box::new(it)))
            }
            Dialect::Hermes => json::begin_hermes(w, p, first_call)?.map(Reader::Json),
            Dialect::Cline => cline::begin(w, p, opts, first_call)?.map(Reader::Cline),
        };
        if let Some(reader) = reader {
            queue.begin(first_call);
            return Ok(Some(reader));
        }
    }
    Ok(None)
}
