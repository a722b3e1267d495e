//! Foreign tool call syntaxes (section 6), read into the same segments as native blocks: finds which enabled dialect
//! begins at a place and which reader reads its block. Disabled dialects are only recognised (XT-11).
//!
//! ```text
//! <function_calls><invoke name="ls"><parameter name="p">.</parameter></invoke></function_calls>   tags by a grammar
//! <tool_call>{"name":"ls","arguments":{"p":"."}}</tool_call>                                      JSON
//! <ls><p>.</p></ls>                                                                               cline
//! ```

mod tag_value;
mod tags;

use std::sync::Arc;

use tags::TagReader;

use crate::block::{Block, Done, Form, Head, JsonTags, Preview, tokens};
use crate::code::Code;
use crate::dialect::tags::State;
use crate::dialects::{Dialect, Grammar, Opened, TagShape, close_any, open_any};
use crate::event::Queue;
use crate::input::{Incomplete, Input, MORE, Need};
use crate::json::Json;
use crate::lex;
use crate::lex::Tag;
use crate::options::ParseOptions;
use crate::special::{Spot, TokenReader};
use crate::stream::{FastPath, Kind};

/// The input and the outputs of a reader.
pub(crate) struct Cx<'a, 'w> {
    pub(crate) w: &'a Input<'w>,
    pub(crate) queue: &'a mut Queue,
    pub(crate) opts: &'a ParseOptions,
    /// Whether the finish reason says that the message was cut. Meaningful only at the end of
    /// input.
    pub(crate) cut: bool,
}

/// Whatever reads a block.
#[derive(Debug)]
pub(crate) enum Reader {
    /// A block that is stored until its end arrives.
    Stored(Box<Block>),
    Tags(Box<TagReader>),
    /// A call between special tokens.
    Tokens(Box<TokenReader>),
}

impl Reader {
    /// The reader of the block that begins at the `<` at `p`, if there is one: the native reader, or the first of
    /// `dialects`.
    pub(crate) fn begin(
        w: &Input<'_>,
        p: usize,
        opts: &ParseOptions,
        dialects: &[Dialect],
        call: u32,
        queue: &Queue,
    ) -> Result<Option<Self>, Incomplete> {
        if let Some(body) = tokens::opener(w, p)? {
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
                Dialect::Glm(grammar) => begin(w, p, grammar, call)?.map(Reader::tags),
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

    /// The reader of a token dialect's call that begins at `p` without a `<`, if there is one.
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
    pub(crate) fn keep(&self, opts: &ParseOptions) -> usize {
        match self {
            Reader::Stored(block) => block.keep(),
            Reader::Tags(reader) => reader.keep(opts),
            Reader::Tokens(reader) => reader.keep(opts),
        }
    }

    /// The fast path for the bytes from `end` on.
    pub(crate) fn fast_path(&self, end: usize, opts: &ParseOptions) -> FastPath {
        match self {
            Reader::Stored(block) => block.fast_path(end, opts),
            Reader::Tags(reader) => reader.fast_path(end, opts),
            Reader::Tokens(_) => FastPath::new(Kind::Closed),
        }
    }

    /// Moves to `end`, past a value that was sent up to `to`.
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
        opts: &ParseOptions,
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

/// XT-35 and XT-40: a wrapper that holds JSON objects, or a list of them.
pub(crate) fn json_list(
    w: &Input<'_>,
    p: usize,
    grammar: &Grammar,
    call: u32,
) -> Result<Option<Block>, Incomplete> {
    let shapes = &grammar.json_list;
    let Some(body) = json_body(w, p, shapes, &[Some(b'{'), Some(b'[')])? else { return Ok(None) };
    let format = grammar.name.as_str().into();
    // One JSON list is one value, as in XT-34.
    let list = w.after_blanks(body)?.1 == Some(b'{');
    let tags = JsonTags { format, shapes: shapes.as_slice().into(), list };
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
    opts: &ParseOptions,
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
    let Some(q) = tokens::misc_near(w, t.end)? else { return Ok(None) };
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

// The GLM dialect (XT-36): the name of a call is text directly after the opener, and each parameter name has its own
// element. The rest is `tags`.
//
// ```text
// <tool_call>ls
// <arg_key>p</arg_key><arg_value>.</arg_value></tool_call>
// ```

/// A longer word after the opener is not a name.
const NAME_MAX: usize = 512;
/// How far text after a name is followed.
const TEXT_MAX: usize = 256;

/// XT-36: `<tool_call>`, a name, and a key or the close tag.
pub(crate) fn begin(
    w: &Input<'_>,
    p: usize,
    grammar: &Arc<Grammar>,
    first_call: u32,
) -> Result<Option<TagReader>, Incomplete> {
    let Some(open) = open_any(&grammar.call, w, p)? else { return Ok(None) };
    let reader = |at, name: Option<&str>| {
        let mut reader = TagReader::new(p, at, grammar, false, first_call);
        (reader.glm, reader.state) = (true, State::Glm);
        reader.calls.cur.name = name.map(str::to_owned);
        Ok(Some(reader))
    };
    let q = w.after_blanks(open.end)?.0;
    let stop = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | ':' | '/'));
    match w.str(q, w.end()).find(stop) {
        None if w.end() - q > NAME_MAX => Ok(None),
        None if w.eof => reader(w.end(), None),
        None => Err(MORE),
        Some(n) if n == 0 || n > NAME_MAX || !goes_on(w, q + n, grammar)? => Ok(None),
        Some(n) => reader(q + n, Some(w.str(q, q + n))),
    }
}

/// Whether the name that ends at `from` is followed by a key, the close tag or the end of input. Text before them
/// belongs to the call (XT-33), so a name in prose begins nothing.
fn goes_on(w: &Input<'_>, from: usize, grammar: &Grammar) -> Result<bool, Incomplete> {
    let (r, next) = w.after_blanks(from)?;
    if next.is_none() {
        return Ok(true);
    }
    let mut at = r;
    while let Some(p) = w.find(b'<', at).filter(|p| p - r <= TEXT_MAX) {
        if close_any(&grammar.call, w, p)?.is_some()
            || open_any(&grammar.parameter, w, p)?.is_some()
            || lex::cut_markup(w, p)
        {
            return Ok(true);
        }
        if open_any(&grammar.call, w, p)?.is_some() {
            return Ok(false);
        }
        at = p + 1;
    }
    match w.eof || w.end() > r + TEXT_MAX {
        true => Ok(false),
        false => Err(Incomplete::on(Need::Byte(b'<')).by(r + TEXT_MAX + 1)),
    }
}

impl TagReader {
    /// Announces the name in the opener.
    pub(crate) fn announce_glm(&mut self, cx: &mut Cx<'_, '_>) -> Result<Option<Done>, Incomplete> {
        self.state = State::Call;
        match self.calls.cur.name.clone() {
            Some(name) if lex::valid_tool_name(&name) => self.announce(cx.queue, Some(&name)),
            Some(_) => self.calls.refuse(Code::InvalidToolName),
            None => {}
        }
        Ok(None)
    }

    /// A parameter's open tag; of GLM the key, its close tag and the value's open tag. A key without value is stored.
    pub(crate) fn parameter<'w>(
        &mut self,
        cx: &mut Cx<'_, 'w>,
        p: usize,
    ) -> Result<Option<Opened<'w>>, Incomplete> {
        let Some(opened) = open_any(&self.grammar.parameter, cx.w, p)? else { return Ok(None) };
        if !self.glm {
            return Ok(Some(opened));
        }
        let w = cx.w;
        let Some(lt) = w.find(b'<', opened.end) else {
            return if w.eof { Ok(None) } else { Err(Incomplete::on(Need::Byte(b'<'))) };
        };
        let Some(end) = close_any(&self.grammar.parameter, w, lt)? else { return Ok(None) };
        let key = lex::trim(w.str(opened.end, lt));
        let (q, next) = w.after_blanks(end)?;
        if next == Some(b'<')
            && let Some(value) = TagShape::bare("arg_value").open(w, q)?
        {
            return Ok(Some(Opened { end: value.end, name: key, text: true }));
        }
        if next.is_none() || lex::cut_markup(w, q) {
            return Ok(None);
        }
        self.calls.note(Code::MissingCloseTag, end, end);
        self.counts.add(key);
        self.calls.cur.unwrapped.push((key.to_owned(), Json::String(String::new())));
        self.at = end;
        Ok(None)
    }

    pub(crate) fn close_param(&self, w: &Input<'_>, p: usize) -> Result<Option<usize>, Incomplete> {
        if self.glm {
            TagShape::bare("arg_value").close(w, p)
        } else {
            close_any(&self.grammar.parameter, w, p)
        }
    }

    pub(crate) fn cut(&self, w: &Input<'_>, p: usize) -> bool {
        let grammar = &self.grammar;
        let shapes = grammar.parameter.iter().chain(&grammar.call).chain(&grammar.wrapper);
        let value = TagShape::bare("arg_value");
        shapes.chain(self.glm.then_some(&value)).any(|shape| shape.cut(w, p))
    }

    /// Whether the end of input cut a key at `p`, or what follows it.
    pub(crate) fn cut_key(&self, w: &Input<'_>, p: usize) -> bool {
        let parameter = &self.grammar.parameter;
        let Ok(Some(opened)) = open_any(parameter, w, p) else { return false };
        if !self.glm || !w.eof {
            return false;
        }
        let Some(lt) = w.find(b'<', opened.end) else { return true };
        match close_any(parameter, w, lt) {
            Ok(Some(end)) => {
                let q = w.skip_blanks(end);
                q == w.end() || lex::cut_markup(w, q)
            }
            _ => lex::cut_markup(w, lt),
        }
    }
}
