//! Foreign tool call syntaxes behind the same segments (section 6): which of those that are on begins where, and what
//! reads a block. What is not read is only recognised (XT-11).
//!
//! ```text
//! <function_calls><invoke name="ls"><parameter name="p">.</parameter></invoke></function_calls>   tags by a grammar
//! <tool_call>{"name":"ls","arguments":{"p":"."}}</tool_call>                                      JSON
//! <ls><p>.</p></ls>                                                                               cline
//! ```

mod glm;
mod stored;
mod tag_json;
mod tag_value;
mod tags;

use crate::block::{Block, Done, Form, Head, Preview, opener};
use crate::dialects::Dialect;
use crate::event::Queue;
use crate::input::{Incomplete, Input};
use crate::options::Options;
use crate::passthrough::FastPath;
use tags::TagReader;

/// What a reader may look at and write to.
pub(crate) struct Cx<'a, 'w> {
    pub(crate) w: &'a Input<'w>,
    pub(crate) queue: &'a mut Queue,
    pub(crate) opts: &'a Options,
    /// The finish reason says that the message was cut; meaningful at the end of input only.
    pub(crate) cut: bool,
}

/// Whatever reads a block.
#[derive(Debug)]
pub(crate) enum Reader {
    /// What is stored until its end has come.
    Stored(Box<Block>),
    Tags(Box<TagReader>),
}

impl Reader {
    /// What reads the block that begins at the `<` at `p`, if one does: the native one, or the first of `dialects`.
    pub(crate) fn begin(
        w: &Input<'_>,
        p: usize,
        opts: &Options,
        dialects: &[Dialect],
        call: u32,
        queue: &Queue,
    ) -> Result<Option<Self>, Incomplete> {
        if let Some(body) = opener::opener(w, p)? {
            let head = Head { start: p, body };
            let preview = queue.wants_values().then(|| Preview::new(w, p, body, call));
            return Ok(Some(Reader::stored(Block::new(Form::Native, head, call, preview))));
        }
        for dialect in dialects {
            let reader = match dialect {
                Dialect::Tags(grammar) => match stored::json_list(w, p, grammar, call)? {
                    Some(block) => Some(Reader::stored(block)),
                    None => tags::begin(w, p, grammar, call)?.map(Reader::tags),
                },
                Dialect::Glm(grammar) => glm::begin(w, p, grammar, call)?.map(Reader::tags),
                Dialect::Hermes => stored::hermes(w, p, call)?.map(Reader::stored),
                Dialect::Cline => stored::cline(w, p, opts, call)?.map(Reader::stored),
            };
            if reader.is_some() {
                return Ok(reader);
            }
        }
        Ok(None)
    }

    fn stored(block: Block) -> Self {
        Reader::Stored(Box::new(block))
    }

    fn tags(reader: TagReader) -> Self {
        Reader::Tags(Box::new(reader))
    }

    /// The first byte that may still be needed.
    pub(crate) fn keep(&self, opts: &Options) -> usize {
        match self {
            Reader::Stored(block) => block.keep(),
            Reader::Tags(reader) => reader.keep(opts),
        }
    }

    /// The fast path for the bytes from `end` on.
    pub(crate) fn fast_path(&self, end: usize, opts: &Options) -> FastPath {
        match self {
            Reader::Stored(block) => block.fast_path(end, opts),
            Reader::Tags(reader) => reader.fast_path(end, opts),
        }
    }

    /// Moves to `end` over a value of which everything up to `to` has been sent.
    pub(crate) fn pass_on(&mut self, to: usize, end: usize) {
        match self {
            Reader::Stored(block) => block.pass_on(to, end),
            Reader::Tags(reader) => reader.pass_on(to, end),
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
        match self {
            Reader::Stored(block) => block.run(w, queue, opts, cut),
            Reader::Tags(reader) => reader.run(&mut Cx { w, queue, opts, cut }),
        }
    }
}
