//! Foreign tool call syntaxes (section 6), read into the same segments as native blocks: finds which enabled dialect
//! begins at a place and which reader reads its block. Disabled dialects are only recognised (XT-11).
//!
//! ```text
//! <function_calls><invoke name="ls"><parameter name="p">.</parameter></invoke></function_calls>   tags by a grammar
//! <tool_call>{"name":"ls","arguments":{"p":"."}}</tool_call>                                      JSON
//! <ls><p>.</p></ls>                                                                               cline
//! ```

mod glm;
mod tag_value;
mod tags;

use crate::block::{Block, Done, Form, Head, JsonTags, Preview, opener};
use crate::dialects::{Dialect, Grammar};
use crate::event::Queue;
use crate::input::{Incomplete, Input, MORE};
use crate::lex;
use crate::lex::Tag;
use crate::options::Options;
use crate::passthrough::{FastPath, Kind};
use crate::shape::{TagShape, open_any};
use crate::special::{Spot, TokenReader};
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
    /// A call between special tokens.
    Tokens(Box<TokenReader>),
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
                Dialect::Tags(grammar) => match json_list(w, p, grammar, call)? {
                    Some(block) => Some(Reader::stored(block)),
                    None => tags::begin(w, p, grammar, call)?.map(Reader::tags),
                },
                Dialect::Glm(grammar) => glm::begin(w, p, grammar, call)?.map(Reader::tags),
                Dialect::Hermes => hermes(w, p, call)?.map(Reader::stored),
                Dialect::Cline => cline(w, p, opts, call)?.map(Reader::stored),
                Dialect::Tokens(family) => {
                    family.begin(w, p, Spot::Text, call)?.map(Reader::tokens)
                }
            };
            if reader.is_some() {
                return Ok(reader);
            }
        }
        Ok(None)
    }

    /// What reads the call of a token dialect that begins without a `<` at `p`, if one does.
    pub(crate) fn begin_value(
        w: &Input<'_>,
        p: usize,
        dialects: &[Dialect],
        spot: Spot,
        call: u32,
    ) -> Result<Option<Self>, Incomplete> {
        for dialect in dialects {
            if let Dialect::Tokens(family) = dialect
                && let Some(reader) = family.begin(w, p, spot, call)?
            {
                return Ok(Some(Reader::tokens(reader)));
            }
        }
        Ok(None)
    }

    pub(crate) fn tokens(reader: TokenReader) -> Self {
        Reader::Tokens(Box::new(reader))
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
            Reader::Tokens(reader) => reader.keep(opts),
        }
    }

    /// The fast path for the bytes from `end` on.
    pub(crate) fn fast_path(&self, end: usize, opts: &Options) -> FastPath {
        match self {
            Reader::Stored(block) => block.fast_path(end, opts),
            Reader::Tags(reader) => reader.fast_path(end, opts),
            Reader::Tokens(_) => FastPath::new(Kind::Closed),
        }
    }

    /// Moves to `end` over a value of which everything up to `to` has been sent.
    pub(crate) fn pass_on(&mut self, to: usize, end: usize) {
        match self {
            Reader::Stored(block) => block.pass_on(to, end),
            Reader::Tags(reader) => reader.pass_on(to, end),
            Reader::Tokens(_) => {}
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
            Reader::Tokens(reader) => reader.run(&mut Cx { w, queue, opts, cut }),
        }
    }
}

// Openers of stored dialect blocks: JSON between tags (XT-34, XT-35, XT-40) and tool elements (XT-38). `block` reads
// them.

/// XT-34: the opener and an object or list of objects, or the end of input.
pub(crate) fn hermes(w: &Input<'_>, p: usize, call: u32) -> Result<Option<Block>, Incomplete> {
    let shapes = [TagShape::bare("tool_call"), TagShape::bare("function_call")];
    let Some(body) = json_body(w, p, &shapes, &[Some(b'{'), Some(b'['), None])? else {
        return Ok(None);
    };
    let tags = JsonTags { format: "hermes".into(), shapes: shapes.into(), list: false };
    Ok(Some(Block::new(Form::Json(tags), Head { start: p, body }, call, None)))
}

/// XT-35 and XT-40: a wrapper that holds JSON objects.
pub(crate) fn json_list(
    w: &Input<'_>,
    p: usize,
    grammar: &Grammar,
    call: u32,
) -> Result<Option<Block>, Incomplete> {
    let shapes = &grammar.json_list;
    let Some(body) = json_body(w, p, shapes, &[Some(b'{')])? else { return Ok(None) };
    let format = grammar.name.as_str().into();
    let tags = JsonTags { format, shapes: shapes.as_slice().into(), list: true };
    Ok(Some(Block::new(Form::Json(tags), Head { start: p, body }, call, None)))
}

/// One past the open tag at `p`, if one of `firsts` is after it.
fn json_body(
    w: &Input<'_>,
    p: usize,
    shapes: &[TagShape],
    firsts: &[Option<u8>],
) -> Result<Option<usize>, Incomplete> {
    let Some(open) = open_any(shapes, w, p)? else { return Ok(None) };
    let (_, next) = w.after_blanks(open.end)?;
    Ok(firsts.contains(&next).then_some(open.end))
}

/// XT-38: the bare tag of a registered tool, followed by what can be its content.
pub(crate) fn cline(
    w: &Input<'_>,
    p: usize,
    opts: &Options,
    call: u32,
) -> Result<Option<Block>, Incomplete> {
    let rest = w.str(p + 1, w.end());
    let name = &rest[..lex::name_len(rest)];
    let is_cut = !w.eof && name.len() == rest.len();
    if is_cut && opts.tool_names().any(|tool| tool.starts_with(name)) {
        return Err(MORE);
    } else if is_cut || !opts.has_tool(name) {
        return Ok(None);
    }
    let Tag::Open(t) = lex::tag(w, p)? else { return Ok(None) };
    if t.prefixed || t.self_closing || !t.bare() {
        return Ok(None);
    }
    let Some(q) = opener::misc_near(w, t.end)? else { return Ok(None) };
    let fits = match lex::need(w, q)? {
        None | Some(b'{') => true,
        Some(b'<') => match lex::tag(w, q)? {
            Tag::Open(_) | Tag::Cut => true,
            Tag::Close(c) => c.name == t.name,
            Tag::None => false,
        },
        Some(_) => false,
    };
    let head = Head { start: p, body: t.end };
    let preview = Preview::of_arguments(t.end, name, call);
    Ok(fits.then(|| Block::new(Form::Element(name.to_owned()), head, call, Some(preview))))
}
