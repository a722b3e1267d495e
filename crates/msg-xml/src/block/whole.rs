//! The block that is wholly there and as it should be: a name, arguments and nested elements without attributes,
//! nothing but blanks between them, each closed by its own tag. It is read in one pass that keeps no state. At the
//! first thing that is anything else the block is left to the scanner, whose answer this has to be.

use super::leaf::{Leaf, own_close, plain_section};
use super::{Arguments, Cx, Done, Draft, Note, Outcome};
use crate::call;
use crate::event::ArgPath;
use crate::json::{Json, Members};
use crate::lex;
use crate::look::Parent;
use crate::window::Win;

/// Reads the block whose opener, which has no attributes, stands at `start`; it announces its call under this number.
pub(crate) fn whole(cx: &mut Cx<'_, '_>, start: usize, call: u32) -> Option<Done> {
    let mark = cx.queue.mark();
    cx.queue.begin(call);
    let mut block = Whole { call, draft: Draft::new(start), notes: Vec::new() };
    let Some(end) = block.read(cx) else {
        cx.queue.back_to(mark);
        return None;
    };
    block.draft.end = end;
    Some(Done {
        start,
        end,
        outcome: Outcome::Calls(vec![block.draft]),
        notes: block.notes,
        at_eof: false,
        format: None,
        begun: 1,
    })
}

/// What has been read.
struct Whole {
    call: u32,
    draft: Draft,
    notes: Vec<Note>,
}

/// An object that is open.
struct Object<'a> {
    name: &'a str,
    path: ArgPath,
    content: usize,
    members: Members,
}

/// What an element holds.
enum Content {
    Leaf(Leaf),
    Elements,
}

impl Whole {
    /// Where the block ends.
    fn read(&mut self, cx: &mut Cx<'_, '_>) -> Option<usize> {
        let w = cx.w;
        let mut at = w.skip_blanks(after(w, self.draft.start, "<tool>")?);
        if let Some(from) = after(w, at, "<server_name>") {
            let (server, end) = name(w, from, "server_name")?;
            self.draft.server = Some(call::server(server)).filter(|it| !it.is_empty());
            at = w.skip_blanks(end);
        }
        let (tool, end) = name(w, after(w, at, "<tool_name>")?, "tool_name")?;
        if !lex::valid_tool_name(tool) {
            return None;
        }
        cx.queue.name(self.call, tool);
        self.draft.name = Some(tool.to_owned());
        at = after(w, w.skip_blanks(end), "<arguments>")?;
        at = w.skip_blanks(self.arguments(cx, at)?);
        let end = after(w, at, "</tool>")?;
        (end - self.draft.start <= cx.opts.limits.max_tool_bytes).then_some(end)
    }

    /// One past the close tag of the arguments whose content begins at `from`.
    fn arguments(&mut self, cx: &mut Cx<'_, '_>, from: usize) -> Option<usize> {
        let w = cx.w;
        let mut params = Members::default();
        let mut open: Vec<Object<'_>> = Vec::new();
        let mut at = from;
        loop {
            let p = w.skip_blanks(at);
            if let Some(object) = open.pop_if(|it| own_close(w, p, it.name).is_some()) {
                at = p + "</>".len() + object.name.len();
                let value = Json::Object(object.members);
                match open.last_mut() {
                    Some(outer) => outer.members.add(object.name.to_owned(), value),
                    None => {
                        self.source(&object.path, object.content, p);
                        params.add(object.name.to_owned(), value);
                    }
                }
                continue;
            }
            if open.is_empty()
                && let Some(end) = after(w, p, "</arguments>")
            {
                self.draft.add_args(Arguments::Object(params));
                self.draft.args_closed = true;
                return Some(end);
            }
            let name = open_tag(w, p)?;
            let content = p + "<>".len() + name.len();
            if open.len() >= cx.opts.limits.depth() {
                return None;
            }
            let root = ArgPath::root();
            let (above, members) = match open.last_mut() {
                Some(object) => (&object.path, &mut object.members),
                None => (&root, &mut params),
            };
            let path = cx.queue.paths.child(above, name, members.count(name));
            match content_of(cx, name, content)? {
                Content::Leaf(leaf) => {
                    members.add(name.to_owned(), self.leaf(cx, &path, content, &leaf));
                    if open.is_empty() {
                        self.source(&path, content, leaf.to);
                    }
                    at = leaf.end;
                }
                Content::Elements if self.wants_text(cx, &path) => return None,
                Content::Elements => {
                    open.push(Object { name, path, content, members: Members::default() });
                    at = content;
                }
            }
        }
    }

    /// The value of an element with text only, sent.
    fn leaf(&mut self, cx: &mut Cx<'_, '_>, path: &ArgPath, from: usize, leaf: &Leaf) -> Json {
        let (value, notes) = leaf.value(cx, self.call, path, from);
        self.draft.sent_any |= !value.is_empty();
        let note = |code| Note { code, start: from, end: leaf.to, call: 0 };
        self.notes.extend(notes.codes().map(note));
        Json::String(value)
    }

    /// XT-30: whether the schema takes these elements as text.
    fn wants_text(&self, cx: &Cx<'_, '_>, path: &ArgPath) -> bool {
        match (&cx.opts.schema, &self.draft.name) {
            (Some(schema), Some(tool)) => schema.wants_text(tool, path),
            _ => false,
        }
    }

    /// Where a parameter was written.
    fn source(&mut self, path: &ArgPath, from: usize, to: usize) {
        if let Some(key) = path.parameter() {
            self.draft.raws.push((key.clone(), from, to));
        }
    }
}

/// One past `word`, if it stands at `pos`.
fn after(w: &Win<'_>, pos: usize, word: &str) -> Option<usize> {
    w.from(pos).starts_with(word.as_bytes()).then(|| pos + word.len())
}

/// The text of a name element whose content begins at `from`, and its end.
fn name<'a>(w: &Win<'a>, from: usize, own: &str) -> Option<(&'a str, usize)> {
    let to = w.find(b'<', from)?;
    let text = w.str(from, to);
    let plain = memchr::memchr(b'&', text.as_bytes()).is_none();
    plain.then_some((lex::trim(text), own_close(w, to, own)?))
}

/// The name of the open tag at `pos`, if it is that of a parameter and has nothing else in it.
fn open_tag<'a>(w: &Win<'a>, pos: usize) -> Option<&'a str> {
    if w.at(pos) != Some(b'<') {
        return None;
    }
    let rest = w.str(pos + 1, w.end());
    let name = &rest[..lex::name_len(rest)];
    let ends = rest.as_bytes().get(name.len()) == Some(&b'>');
    let special = lex::same(name, "tool") || Parent::Args.closed_by(name);
    (ends && !name.is_empty() && !special).then_some(name)
}

/// What the element of this name holds.
fn content_of(cx: &mut Cx<'_, '_>, name: &str, from: usize) -> Option<Content> {
    let w = cx.w;
    let mut to = w.find(b'<', from)?;
    let mut section = None;
    match w.at(to + 1)? {
        b'/' => {}
        b'!' => {
            let (from, end) = plain_section(cx, from, to)?;
            section = Some((from, end));
            to = w.skip_blanks(end + "]]>".len());
        }
        _ if lex::all_blank(w.str(from, to)) => return Some(Content::Elements),
        _ => return None,
    }
    let end = own_close(w, to, name)?;
    Some(Content::Leaf(Leaf { to, end, section }))
}
