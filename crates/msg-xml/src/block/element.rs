//! Parameters and what is nested in them (XT-19, XT-20): an element is first tried as an object; if its
//! content is not exactly that, it is read again as text, at most once a level.

use std::ops::Range;
use std::sync::Arc;

use super::args::Args;
use super::leaf::Leaf;
use super::text::Text;
use super::{Block, Cx, Done, State};
use crate::code::Code;
use crate::event::{ArgPath, PathItem};
use crate::json::{Json, Members};
use crate::lex::{self, OpenTag, PARAM, Tag};
use crate::look::Parent;
use crate::window::{Wait, Win};

/// An open element.
#[derive(Debug)]
pub(super) struct Elem {
    key: String,
    /// The tag's name in lower case.
    pub(super) own: String,
    pub(super) parent: Parent,
    pub(super) content: usize,
    pub(super) path: ArgPath,
    pub(super) mode: Mode,
    /// Reports from here on are the element's.
    pub(super) notes: usize,
    pub(super) sent: bool,
}

#[derive(Debug)]
pub(super) enum Mode {
    Decide,
    Object(Members),
    Text(Box<Text>),
}

impl Elem {
    pub(super) fn cursor(&self) -> usize {
        match &self.mode {
            Mode::Text(text) => text.cursor(),
            Mode::Decide | Mode::Object(_) => 0,
        }
    }
}

/// What stands next inside an object.
enum Next<'a> {
    Child(OpenTag<'a>),
    Close(usize),
    NoFit,
}

impl Block {
    /// The open tag of a parameter has been read.
    pub(super) fn open_param(
        &mut self,
        cx: &mut Cx<'_, '_>,
        t: &OpenTag<'_>,
    ) -> Result<Option<Done>, Wait> {
        if cx.opts.limits.depth() == 0 {
            self.too_deep(t.start);
            return Ok(None);
        }
        let named = if lex::is_word(t.name, &PARAM) {
            lex::attribute(t.attrs, &["name"]).map(lex::trim)
        } else {
            None
        };
        let key = named.filter(|n| !n.is_empty()).unwrap_or(t.name);
        let params = self.args.as_ref().map_or(&self.cur.loose, Args::params);
        let path = cx.queue.paths.child(&ArgPath::root(), key, params.count(key));
        if self.args.is_none() && self.cur.args.is_some()
            || self.args.is_some() && !self.cur.loose.is_empty()
        {
            self.cur.resend = true;
        }
        let parent = self.param_parent();
        if let Some(leaf) = self.leaf(cx, t, &parent) {
            let value = self.leaf_value(cx, &path, t.end, &leaf);
            self.cur.sent_any |= cx.queue.on() && !value.is_empty();
            self.add_param(key.to_owned(), &path, Json::String(value), t.end..leaf.to, leaf.end);
            return Ok(None);
        }
        let elem = Elem {
            key: key.to_owned(),
            own: t.name.to_ascii_lowercase(),
            parent,
            content: t.end,
            path,
            mode: Mode::Decide,
            notes: self.notes.len(),
            sent: false,
        };
        self.at = t.end;
        self.elems.push(elem);
        self.state = State::Elem;
        if t.self_closing {
            return self.finish_elem(cx, Json::String(String::new()), t.end, t.end);
        }
        Ok(None)
    }

    fn leaf_value(
        &mut self,
        cx: &mut Cx<'_, '_>,
        path: &ArgPath,
        from: usize,
        leaf: &Leaf,
    ) -> String {
        let (value, notes) = leaf.value(cx, self.call(), path, from);
        self.value_notes(notes, from, leaf.to);
        value
    }

    fn open_child(&mut self, cx: &mut Cx<'_, '_>, t: &OpenTag<'_>) -> Result<Option<Done>, Wait> {
        let Some(Elem { mode: Mode::Object(members), path, own, .. }) = self.elems.last() else {
            return Ok(None);
        };
        let parent = Parent::Name(own.clone());
        let path = cx.queue.paths.child(path, t.name, members.count(t.name));
        if let Some(leaf) = self.leaf(cx, t, &parent) {
            let value = self.leaf_value(cx, &path, t.end, &leaf);
            let sent = cx.queue.on() && !value.is_empty();
            self.add_member(t.name.to_owned(), Json::String(value), sent);
            self.at = leaf.end;
            return Ok(None);
        }
        let elem = Elem {
            key: t.name.to_owned(),
            own: t.name.to_ascii_lowercase(),
            parent,
            content: t.end,
            path,
            mode: Mode::Decide,
            notes: self.notes.len(),
            sent: false,
        };
        self.at = t.end;
        self.elems.push(elem);
        if t.self_closing {
            return self.finish_elem(cx, Json::String(String::new()), t.end, t.end);
        }
        Ok(None)
    }

    /// One step of the innermost element.
    pub(super) fn elem(&mut self, cx: &mut Cx<'_, '_>) -> Result<Option<Done>, Wait> {
        match self.elems.last().map(|e| &e.mode) {
            None => {
                self.state = if self.args.is_some() { State::Args } else { State::Top };
                Ok(None)
            }
            Some(Mode::Decide) => self.decide(cx),
            Some(Mode::Object(_)) => self.object(cx),
            Some(Mode::Text(_)) => self.text(cx),
        }
    }

    fn set_mode(&mut self, mode: Mode) {
        if let Some(elem) = self.elems.last_mut() {
            elem.mode = mode;
        }
    }

    /// Object or text.
    fn decide(&mut self, cx: &mut Cx<'_, '_>) -> Result<Option<Done>, Wait> {
        let Some(elem) = self.elems.last() else { return Ok(None) };
        let content = elem.content;
        let verbatim = match (&cx.opts.schema, &self.cur.name) {
            (Some(schema), Some(name)) => schema.wants_text(name, &elem.path),
            _ => false,
        };
        let object = !verbatim && self.begins_object(cx)?;
        if object {
            if self.elems.len() >= cx.opts.limits.depth() {
                self.too_deep(content);
                return Ok(None);
            }
            self.set_mode(Mode::Object(Members::default()));
        } else {
            self.set_mode(Mode::Text(Box::new(Text::new(content))));
        }
        self.at = content;
        Ok(None)
    }

    fn begins_object(&mut self, cx: &mut Cx<'_, '_>) -> Result<bool, Wait> {
        // Only blanks and comments may stand before the first child.
        let Some(p) = blanks_and_comments(cx, &mut self.at)? else { return Ok(false) };
        if cx.w.at(p) != Some(b'<') || cx.look.opener(cx.w, p)?.is_some() {
            return Ok(false);
        }
        Ok(matches!(lex::tag(cx.w, p)?, Tag::Open(t) if t.bare()))
    }

    fn object(&mut self, cx: &mut Cx<'_, '_>) -> Result<Option<Done>, Wait> {
        let Some(elem) = self.elems.last() else { return Ok(None) };
        let next = match blanks_and_comments(cx, &mut self.at)? {
            Some(p) if cx.w.at(p) == Some(b'<') => {
                self.at = p;
                if cx.look.opener(cx.w, p)?.is_some() {
                    Next::NoFit
                } else {
                    next_in(cx.w, p, &elem.own)?
                }
            }
            _ => Next::NoFit,
        };
        match next {
            Next::NoFit => {
                self.no_fit(cx);
                Ok(None)
            }
            Next::Child(t) => {
                if self.elems.len() >= cx.opts.limits.depth() {
                    self.too_deep(t.start);
                    return Ok(None);
                }
                self.open_child(cx, &t)
            }
            Next::Close(end) => {
                let to = self.at;
                let value = match self.elems.last_mut().map(|e| &mut e.mode) {
                    Some(Mode::Object(members)) => Json::Object(std::mem::take(members)),
                    _ => Json::Null,
                };
                self.finish_elem(cx, value, to, end)
            }
        }
    }

    /// The innermost object attempt failed: its element is text, from its beginning.
    pub(super) fn no_fit(&mut self, cx: &mut Cx<'_, '_>) {
        let here = self.cursor();
        while self.elems.last().is_some_and(|e| !matches!(e.mode, Mode::Object(_))) {
            self.elems.pop();
        }
        let beyond = self.beyond_rereading(cx.opts, here);
        let call = self.call();
        let Some(elem) = self.elems.last_mut() else { return };
        if elem.sent {
            cx.queue.reset(call, &elem.path);
            elem.sent = false;
        }
        let from = if beyond { here } else { elem.content };
        elem.mode = Mode::Text(Box::new(Text::new(from)));
        let notes = elem.notes;
        self.notes.truncate(notes);
        self.at = from;
    }

    /// The innermost element has its value: its content ends at `to`, its source at `end`.
    pub(super) fn finish_elem(
        &mut self,
        cx: &mut Cx<'_, '_>,
        value: Json,
        to: usize,
        end: usize,
    ) -> Result<Option<Done>, Wait> {
        let _ = cx;
        let Some(elem) = self.elems.pop() else { return Ok(None) };
        self.at = end;
        if self.elems.is_empty() {
            self.cur.sent_any |= elem.sent;
            self.add_param(elem.key, &elem.path, value, elem.content.min(to)..to, end);
        } else {
            self.add_member(elem.key, value, elem.sent);
        }
        Ok(None)
    }

    /// A parameter whose content is `source` and which ends at `end`.
    fn add_param(
        &mut self,
        key: String,
        path: &ArgPath,
        value: Json,
        source: Range<usize>,
        end: usize,
    ) {
        self.at = end;
        if let Some(name) = path.parameter() {
            self.cur.raws.push((Arc::clone(name), source.start, source.end));
        }
        match self.args.as_mut() {
            Some(args) => {
                args.add(key, value);
                self.state = State::Args;
            }
            None => {
                self.cur.loose.add(key, value);
                self.last_end = end;
                self.state = State::Top;
            }
        }
    }

    /// A member of the object that is open.
    fn add_member(&mut self, key: String, value: Json, was_sent: bool) {
        if let Some(Elem { mode: Mode::Object(members), sent, .. }) = self.elems.last_mut() {
            *sent |= was_sent;
            members.add(key, value);
        }
    }

    /// XT-28: nested deeper than is allowed.
    pub(super) fn too_deep(&mut self, at: usize) {
        self.refuse(Code::DepthLimit);
        self.state = State::SkipDepth { at, close: None };
    }
}

/// Skips blanks and comments from `at`, which moves over each comment; `None` at anything else that is misc, at the
/// end of input too.
fn blanks_and_comments(cx: &mut Cx<'_, '_>, at: &mut usize) -> Result<Option<usize>, Wait> {
    loop {
        let (q, next) = cx.w.after_blanks(*at)?;
        if next != Some(b'<') || !cx.w.word(q, "<!--")? {
            return Ok(next.map(|_| q));
        }
        match cx.look.comment_end(cx.w, q)? {
            Some(end) => *at = end,
            None => return Ok(Some(q)),
        }
    }
}

fn next_in<'a>(w: &Win<'a>, p: usize, own: &str) -> Result<Next<'a>, Wait> {
    Ok(match lex::tag(w, p)? {
        Tag::Close(c) if c.is(own) => Next::Close(c.end),
        Tag::Open(t) if t.bare() => Next::Child(t),
        _ => Next::NoFit,
    })
}

/// Keys and sibling numbers of the elements from the parameter down.
impl ArgPath {
    /// The keys only.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.items().iter().filter_map(|item| match item {
            PathItem::Key(key) => Some(&**key),
            PathItem::Index(_) => None,
        })
    }
}
