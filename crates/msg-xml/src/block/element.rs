//! Parameters and what is nested in them (XT-19, XT-20): an element is first tried as an object; if its content is not
//! exactly that, it is read again as text, at most once a level.

use std::ops::Range;

use super::close::{End, Inside, Parent, Value};
use super::draft::Params;
use super::grammar::{Grammar, Halt};
use super::recover::Mended;
use super::tokens::{Kind, Stand, Token};
use crate::input::Input;
use crate::json::{Json, Members};
use crate::lex;
use crate::value::{self, Section};

/// What is read in vain as objects may add up to so many times what stands before, and so many bytes; less in unit tests,
/// which count steps.
const VAIN_TIMES: usize = 64;
const VAIN_BYTES: usize = if cfg!(test) { 1 << 10 } else { 64 << 10 };

/// An element that has been opened.
#[derive(Clone, Copy, Debug)]
struct Elem<'e> {
    own: &'e str,
    parent: Parent<'e>,
    content: usize,
    /// The parameter has depth 1.
    depth: usize,
}

/// A value with where its content and its element end.
type Read = (Json, usize, usize);

/// The parameter that an element is part of, and the keys from there to the element.
struct Path<'e> {
    outer: (&'e str, Parent<'e>),
    keys: Vec<&'e str>,
}

/// An object that is open.
struct Level<'e> {
    elem: Elem<'e>,
    at: usize,
    members: Params,
    /// Reports from here on are the object's.
    mark: usize,
}

/// What stands next in an object.
enum Next<'e> {
    Child(Token<'e>),
    /// Its close tag: where that begins and ends.
    Close(usize, usize),
    NoFit,
}

impl<'a> Grammar<'a> {
    /// The parameter of this open tag.
    pub(super) fn param(&mut self, t: &Token<'a>) -> Result<(), Halt> {
        if self.opts.limits.depth() == 0 {
            return Err(Halt::Deep(t.start));
        }
        let key = self.search.tokens.key(t);
        if matches!(t.kind, Kind::Open { empty: true, .. }) {
            self.add_param(key, Json::String(String::new()), t.end..t.end, t.end);
            return Ok(());
        }
        let parent = if self.args.is_some() { Parent::Args } else { Parent::Tool };
        let elem = Elem { own: t.name, parent, content: t.end, depth: 1 };
        let mut path = Path { outer: (t.name, parent), keys: vec![key] };
        let (value, to, end) = match self.object(&elem, &mut path)? {
            Some(read) => read,
            None => self.text(&elem, key)?,
        };
        self.add_param(key, value, t.end..to, end);
        Ok(())
    }

    /// A parameter whose content is `source` and which ends at `end`.
    fn add_param(&mut self, key: &str, value: Json, source: Range<usize>, end: usize) {
        self.at = end;
        self.calls.cur.raws.push((key.into(), source.start, source.end.max(source.start)));
        let param = (key.to_owned(), value);
        match self.args.as_mut() {
            Some(args) => args.push(param),
            None => {
                self.calls.cur.unwrapped.push(param);
                self.last_end = end;
            }
        }
    }

    /// XT-20: the element as an object, if it is one. Without recursion: the nesting is the caller's choice.
    fn object(&mut self, elem: &Elem<'a>, path: &mut Path<'a>) -> Result<Option<Read>, Halt> {
        if !self.is_object(elem, path)? {
            return Ok(None);
        }
        let mut open = vec![self.level(*elem)];
        while let Some(level) = open.last_mut() {
            match self.next(level)? {
                Next::Child(t) => self.child(&t, &mut open, path)?,
                Next::Close(to, end) => {
                    let members = std::mem::take(&mut level.members);
                    let value = Json::Object(Members::grouped(members));
                    open.pop();
                    if open.is_empty() {
                        return Ok(Some((value, to, end)));
                    }
                    add_child(&mut open, path, value, end);
                }
                Next::NoFit => self.no_fit(&mut open, path)?,
            }
        }
        Ok(None)
    }

    fn level(&self, elem: Elem<'a>) -> Level<'a> {
        Level { elem, at: elem.content, members: Vec::new(), mark: self.calls.mark() }
    }

    /// Whether the element is to be read as an object.
    fn is_object(&mut self, elem: &Elem<'a>, path: &Path<'a>) -> Result<bool, Halt> {
        let before = elem.content - self.head.start;
        if self.search.vain > VAIN_TIMES * before + VAIN_BYTES
            || self.wants_text(path)
            || !matches!(self.object_token(elem.content)?, Some(t) if is_bare_open(&t))
        {
            return Ok(false);
        }
        if elem.depth >= self.opts.limits.depth() {
            return Err(Halt::Deep(elem.content));
        }
        Ok(true)
    }

    /// XT-30: whether the schema takes the element as text.
    fn wants_text(&self, path: &Path<'_>) -> bool {
        match (&self.opts.schema, &self.calls.cur.name) {
            (Some(schema), Some(name)) => schema.wants_text(name, &path.keys),
            _ => false,
        }
    }

    /// The next token in an object, where only blanks and comments may stand before it.
    fn object_token(&self, at: usize) -> Result<Option<Token<'a>>, Halt> {
        match self.search.tokens.behind(at, |t| t.kind == Kind::Comment)? {
            Stand::Token(token) => Ok(Some(token)),
            Stand::Text(..) | Stand::End => Ok(None),
        }
    }

    /// What stands next in an object.
    fn next(&self, level: &Level<'a>) -> Result<Next<'a>, Halt> {
        Ok(match self.object_token(level.at)? {
            Some(t) if t.is_close() && t.is(level.elem.own) => Next::Close(t.start, t.end),
            Some(t) if is_bare_open(&t) => Next::Child(t),
            _ => Next::NoFit,
        })
    }

    /// The element of this open tag in the innermost object.
    fn child(
        &mut self,
        t: &Token<'a>,
        open: &mut Vec<Level<'a>>,
        path: &mut Path<'a>,
    ) -> Result<(), Halt> {
        let Some(of) = open.last().map(|level| level.elem) else { return Ok(()) };
        path.keys.push(t.name);
        if matches!(t.kind, Kind::Open { empty: true, .. }) {
            add_child(open, path, Json::String(String::new()), t.end);
            return Ok(());
        }
        let parent = Parent::Name(of.own);
        let elem = Elem { own: t.name, parent, content: t.end, depth: of.depth + 1 };
        let object = self.is_object(&elem, path)?;
        open.push(self.level(elem));
        if object { Ok(()) } else { self.no_fit(open, path) }
    }

    /// The innermost element is no object: it is text, or what it stands in is no object either.
    fn no_fit(&mut self, open: &mut Vec<Level<'a>>, path: &mut Path<'a>) -> Result<(), Halt> {
        while let Some(level) = open.pop() {
            self.calls.forget(level.mark);
            self.search.vain += level.at - level.elem.content;
            if open.is_empty() {
                return Ok(());
            }
            if let Some((value, end)) = self.strict_text(&level.elem, path.outer)? {
                add_child(open, path, value, end);
                return Ok(());
            }
            path.keys.pop();
        }
        Ok(())
    }

    /// Text in an object, which nothing mends.
    fn strict_text(
        &mut self,
        elem: &Elem<'_>,
        outer: (&str, Parent<'_>),
    ) -> Result<Option<(Json, usize)>, Halt> {
        let value = self.value_of(elem, Some(outer));
        let (end, inside) = self.search.find_end(&value)?;
        Ok(match end {
            End::At(to, end) => {
                let text = self.text_value(elem.content, to, &inside);
                Some((Json::String(text), end))
            }
            _ => None,
        })
    }

    fn value_of<'e>(&self, elem: &Elem<'e>, outer: Option<(&'e str, Parent<'e>)>) -> Value<'e> {
        let Elem { own, parent, content, .. } = *elem;
        Value { own, parent, from: content, outer, bare_end: self.bare_end }
    }

    /// XT-21 to XT-23: a parameter as text.
    fn text(&mut self, elem: &Elem<'_>, key: &str) -> Result<Read, Halt> {
        let value = self.value_of(elem, None);
        let (end, inside) = self.search.find_end(&value)?;
        if let End::Bare(stop) = end {
            (self.bare_end, self.at_eof) = (Some(stop), true);
        }
        let mended = match end {
            End::At(to, end) => {
                return Ok((Json::String(self.text_value(elem.content, to, &inside)), to, end));
            }
            // What is not stored (XT-28) mends nothing.
            End::Stop(stop) | End::Bare(stop) if self.is_large(stop) => Mended::before(stop),
            End::Stop(stop) | End::Bare(stop) => self.search.mend(&value, &inside, stop)?,
            End::Far => self.search.cut_short(&value, &inside),
            End::Open | End::NoFit => {
                self.open_value(key, &value, &inside);
                return Err(Halt::Eof);
            }
        };
        self.calls.note(mended.report, mended.to, mended.end);
        let to = mended.text_end(&self.search.tokens.w, elem.content);
        Ok((Json::String(self.text_value(elem.content, to, &inside)), to, mended.end))
    }

    /// The value of a text that ends at `to`, reported on.
    fn text_value(&mut self, from: usize, to: usize, inside: &Inside) -> String {
        let ended = inside.sections.iter().filter(|s| s.end <= to);
        let sections: Vec<Section> = ended.map(|s| s.relative(from)).collect();
        let (text, notes) = value::value(self.search.tokens.w.str(from, to), &sections);
        self.value_notes(notes, from, to);
        for &(start, end, code) in inside.reports.iter().filter(|(_, end, _)| *end <= to) {
            self.calls.note(code, start, end);
        }
        text
    }

    /// The message ends in a value: what is there, without an unfinished tag, entity or terminator (XT-16).
    fn open_value(&mut self, key: &str, value: &Value<'_>, inside: &Inside) {
        let (w, from) = (self.search.tokens.w, value.from);
        let mut raw = w.str(from, w.end());
        let mut sections: Vec<Section> = inside.sections.iter().map(|s| s.relative(from)).collect();
        match sections.last_mut() {
            Some(s) if s.end == raw.len() && s.to == s.end => {
                for _ in 0..2 {
                    raw = raw.strip_suffix(']').filter(|r| r.len() >= s.from).unwrap_or(raw);
                }
                (s.to, s.end) = (raw.len(), raw.len());
            }
            _ => raw = &raw[..unfinished(&w, raw, from)],
        }
        let (text, _) = value::value(raw, &sections);
        self.add_param(key, Json::String(text), from..from + raw.len(), w.end());
        // Half a value is never run, also beside arguments that are closed.
        self.calls.cur.args_closed = false;
    }
}

fn is_bare_open(t: &Token<'_>) -> bool {
    matches!(t.kind, Kind::Open { bare: true, .. })
}

/// The innermost object has one member more, which ends at `end`.
fn add_child(open: &mut [Level<'_>], path: &mut Path<'_>, value: Json, end: usize) {
    if let (Some(level), Some(key)) = (open.last_mut(), path.keys.pop()) {
        level.members.push((key.to_owned(), value));
        level.at = end;
    }
}

/// Length of a text without an unfinished tag or entity at its end.
fn unfinished(w: &Input<'_>, raw: &str, from: usize) -> usize {
    match raw.rfind('<') {
        Some(i) if lex::cut_markup(w, from + i) => i,
        _ => raw.rfind('&').filter(|i| value::is_cut_entity(&raw[*i..])).unwrap_or(raw.len()),
    }
}
