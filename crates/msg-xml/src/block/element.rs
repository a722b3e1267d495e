//! Parameters and what is nested in them (XT-19, XT-20): an element is first tried as an object; if its content is not
//! exactly that, it is read again as text, at most once a level.

use std::ops::Range;

use super::ahead::Parent;
use super::close::{End, Inside, Value, find_end};
use super::grammar::{Grammar, Halt};
use super::names::param_key;
use super::opener::opener;
use super::recover::{self, Mended};
use crate::input::Input;
use crate::json::{Json, Members};
use crate::lex::{self, OpenTag, Tag};
use crate::value::{self, Section};

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
    members: Members,
    /// Reports from here on are the object's.
    notes: usize,
}

/// What stands next in an object.
enum Next<'e> {
    Child(OpenTag<'e>),
    /// Its close tag: where that begins and ends.
    Close(usize, usize),
    NoFit,
}

impl<'a> Grammar<'a> {
    /// The parameter of this open tag.
    pub(super) fn param(&mut self, t: &OpenTag<'a>) -> Result<(), Halt> {
        if self.ahead.opts.limits.depth() == 0 {
            return Err(Halt::Deep(t.start));
        }
        let key = param_key(t);
        let parent = if self.args.is_some() { Parent::Args } else { Parent::Tool };
        let elem = Elem { own: t.name, parent, content: t.end, depth: 1 };
        let mut path = Path { outer: (t.name, parent), keys: vec![key] };
        let (value, to, end) = match t.self_closing {
            true => (Json::String(String::new()), t.end, t.end),
            false => match self.object(&elem, &mut path)? {
                Some(read) => read,
                None => self.text(&elem, key)?,
            },
        };
        self.add_param(key, value, t.end..to, end);
        Ok(())
    }

    /// A parameter whose content is `source` and which ends at `end`.
    fn add_param(&mut self, key: &str, value: Json, source: Range<usize>, end: usize) {
        self.at = end;
        self.cur.raws.push((key.into(), source.start, source.end.max(source.start)));
        match self.args.as_mut() {
            Some(args) => args.add(key.to_owned(), value),
            None => {
                self.cur.loose.add(key.to_owned(), value);
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
                    let value = Json::Object(std::mem::take(&mut level.members));
                    open.pop();
                    match open.last_mut() {
                        None => return Ok(Some((value, to, end))),
                        Some(_) => add_child(&mut open, path, value, end),
                    }
                }
                Next::NoFit => self.no_fit(&mut open, path)?,
            }
        }
        Ok(None)
    }

    fn level(&self, elem: Elem<'a>) -> Level<'a> {
        let (at, notes) = (elem.content, self.notes.len());
        Level { elem, at, members: Members::default(), notes }
    }

    /// Whether the element is to be read as an object.
    fn is_object(&mut self, elem: &Elem<'a>, path: &Path<'a>) -> Result<bool, Halt> {
        if self.wants_text(path) || !self.begins_object(elem.content)? {
            return Ok(false);
        }
        if elem.depth >= self.ahead.opts.limits.depth() {
            return Err(Halt::Deep(elem.content));
        }
        Ok(true)
    }

    /// XT-30: whether the schema takes the element as text.
    fn wants_text(&self, path: &Path<'_>) -> bool {
        match (&self.ahead.opts.schema, &self.cur.name) {
            (Some(schema), Some(name)) => schema.wants_text(name, &path.keys),
            _ => false,
        }
    }

    /// Only blanks and comments may stand before the first child.
    fn begins_object(&mut self, content: usize) -> Result<bool, Halt> {
        let w = self.ahead.w;
        let Some(p) = self.ahead.comments(content)? else { return Ok(false) };
        if w.at(p) != Some(b'<') || opener(&w, p)?.is_some() {
            return Ok(false);
        }
        Ok(matches!(lex::tag(&w, p)?, Tag::Open(t) if t.bare()))
    }

    /// What stands next in an object.
    fn next(&mut self, level: &Level<'a>) -> Result<Next<'a>, Halt> {
        let w = self.ahead.w;
        let Some(p) = self.ahead.comments(level.at)? else { return Ok(Next::NoFit) };
        if w.at(p) != Some(b'<') || opener(&w, p)?.is_some() {
            return Ok(Next::NoFit);
        }
        Ok(match lex::tag(&w, p)? {
            Tag::Close(c) if c.is(level.elem.own) => Next::Close(p, c.end),
            Tag::Open(t) if t.bare() => Next::Child(t),
            _ => Next::NoFit,
        })
    }

    /// The element of this open tag in the innermost object.
    fn child(
        &mut self,
        t: &OpenTag<'a>,
        open: &mut Vec<Level<'a>>,
        path: &mut Path<'a>,
    ) -> Result<(), Halt> {
        let Some(of) = open.last().map(|level| level.elem) else { return Ok(()) };
        path.keys.push(t.name);
        if t.self_closing {
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
            self.notes.truncate(level.notes);
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
        let (end, inside) = find_end(&mut self.ahead, &value)?;
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
        let (end, inside) = find_end(&mut self.ahead, &value)?;
        if let End::Bare(stop) = end {
            (self.bare_end, self.at_eof) = (Some(stop), true);
        }
        let mended = match end {
            End::At(to, end) => {
                return Ok((Json::String(self.text_value(elem.content, to, &inside)), to, end));
            }
            // What is not stored (XT-28) mends nothing.
            End::Stop(stop) | End::Bare(stop) if self.is_large(stop) => Mended::before(stop),
            End::Stop(stop) | End::Bare(stop) => {
                recover::mend(&mut self.ahead, &value, &inside, stop)?
            }
            End::Far => recover::cut_short(&self.ahead.w, &value, &inside),
            End::Open | End::NoFit => {
                self.open_value(key, &value, &inside);
                return Err(Halt::Eof);
            }
        };
        Ok(self.mended(elem.content, &inside, &mended))
    }

    fn mended(&mut self, from: usize, inside: &Inside, mended: &Mended) -> Read {
        self.note(mended.report, mended.to, mended.end);
        let to = mended.text_end(&self.ahead.w, from);
        (Json::String(self.text_value(from, to, inside)), to, mended.end)
    }

    /// The value of a text that ends at `to`, reported on.
    fn text_value(&mut self, from: usize, to: usize, inside: &Inside) -> String {
        let ended = inside.sections.iter().filter(|s| s.end <= to);
        let sections: Vec<Section> = ended.map(|s| s.relative(from)).collect();
        let (text, notes) = value::value(self.ahead.w.str(from, to), &sections);
        self.value_notes(notes, from, to);
        for &(start, end, code) in inside.reports.iter().filter(|(_, end, _)| *end <= to) {
            self.note(code, start, end);
        }
        text
    }

    /// The message ends in a value: what is there, without an unfinished tag, entity or terminator (XT-16).
    fn open_value(&mut self, key: &str, value: &Value<'_>, inside: &Inside) {
        let (w, from) = (self.ahead.w, value.from);
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
        self.cur.args_closed = false;
    }
}

/// The innermost object has one member more, which ends at `end`.
fn add_child(open: &mut [Level<'_>], path: &mut Path<'_>, value: Json, end: usize) {
    if let (Some(level), Some(key)) = (open.last_mut(), path.keys.pop()) {
        level.members.add(key.to_owned(), value);
        level.at = end;
    }
}

/// Length of a text without an unfinished tag or entity at its end.
fn unfinished(w: &Input<'_>, raw: &str, from: usize) -> usize {
    if let Some(i) = raw.rfind('<')
        && lex::cut_markup(w, from + i)
    {
        return i;
    }
    let Some(i) = raw.rfind('&') else { return raw.len() };
    let tail = &raw[i..];
    let named = ["&amp;", "&lt;", "&gt;", "&quot;", "&apos;"]
        .iter()
        .any(|e| e.len() > tail.len() && e.starts_with(tail));
    let numeric = tail.strip_prefix("&#").is_some_and(|digits| match digits.strip_prefix('x') {
        Some(hex) => hex.len() <= 10 && hex.bytes().all(|b| b.is_ascii_hexdigit()),
        None => digits.len() <= 10 && digits.bytes().all(|b| b.is_ascii_digit()),
    });
    if named || numeric { i } else { raw.len() }
}
