//! Where the blocks of dialects begin that are stored until their end has come: JSON between tags (XT-34, XT-35, XT-40), and
//! the elements of tools (XT-38). How they are read is `block`.

use crate::block::{Block, Form, Head, JsonTags, Preview, opener};
use crate::input::{Incomplete, Input, MORE};
use crate::lex::{self, Tag};
use crate::options::Options;
use crate::shape::{TagShape, open_any};
use crate::tag_grammar::Grammar;

/// XT-34: the opener and an object or list of objects, or the end of input.
pub(super) fn hermes(w: &Input<'_>, p: usize, call: u32) -> Result<Option<Block>, Incomplete> {
    let shapes = [TagShape::bare("tool_call"), TagShape::bare("function_call")];
    let Some(body) = json_body(w, p, &shapes, &[Some(b'{'), Some(b'['), None])? else {
        return Ok(None);
    };
    let tags = JsonTags { format: "hermes".into(), shapes: shapes.into(), list: false };
    Ok(Some(Block::new(Form::Json(tags), Head { start: p, body }, call, None)))
}

/// XT-35 and XT-40: a wrapper that holds JSON objects.
pub(super) fn json_list(
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

/// One past the open tag at `p`, if one of `firsts` stands behind it.
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
pub(super) fn cline(
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
