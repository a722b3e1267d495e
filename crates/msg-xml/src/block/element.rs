//! Parameters and what is nested in them (XT-19, XT-20): an element is first tried as an object; if its content is not
//! exactly that, it is read again as text, at most once a level.

use std::ops::Range;

use super::close::{End, Inside, Parent, Value};
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

    /// XT-20: the element as an object, if it is one. It calls itself for each level, of which the limits allow few.
    fn object(&mut self, elem: &Elem<'a>, path: &mut Path<'a>) -> Result<Option<Read>, Halt> {
        if !self.is_object(elem, path)? {
            return Ok(None);
        }
        let (mark, mut members, mut at) = (self.calls.mark(), Vec::new(), elem.content);
        while let Some(t) = self.object_token(at)? {
            if t.is_close() && t.is(elem.own) {
                return Ok(Some((Json::Object(Members::grouped(members)), t.start, t.end)));
            }
            let Some((value, end)) = self.child(&t, elem, path)? else { break };
            members.push((t.name.to_owned(), value));
            at = end;
        }
        self.calls.forget(mark);
        self.search.vain += at - elem.content;
        Ok(None)
    }

    /// An element in the object `of`, and where it ends; nothing if it fits none.
    fn child(
        &mut self,
        t: &Token<'a>,
        of: &Elem<'a>,
        path: &mut Path<'a>,
    ) -> Result<Option<(Json, usize)>, Halt> {
        match t.kind {
            Kind::Open { bare: true, empty: true, .. } => {
                return Ok(Some((Json::String(String::new()), t.end)));
            }
            Kind::Open { bare: true, .. } => {}
            _ => return Ok(None),
        }
        let (parent, depth) = (Parent::Name(of.own), of.depth + 1);
        let elem = Elem { own: t.name, parent, content: t.end, depth };
        path.keys.push(t.name);
        let object = self.object(&elem, path)?;
        path.keys.pop();
        match object {
            Some((value, _, end)) => Ok(Some((value, end))),
            None => self.strict_text(&elem, path.outer),
        }
    }

    /// Whether the element is to be read as an object.
    fn is_object(&mut self, elem: &Elem<'a>, path: &Path<'a>) -> Result<bool, Halt> {
        let before = elem.content - self.head.start;
        if self.search.vain > VAIN_TIMES * before + VAIN_BYTES
            || self.wants_text(path)
            || !self.begins_object(elem)?
        {
            return Ok(false);
        }
        if elem.depth >= self.opts.limits.depth() {
            return Err(Halt::Deep(elem.content));
        }
        Ok(true)
    }

    fn begins_object(&self, elem: &Elem<'_>) -> Result<bool, Halt> {
        let first = self.object_token(elem.content)?;
        Ok(matches!(first, Some(Token { kind: Kind::Open { bare: true, .. }, .. })))
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
    pub(super) fn text_value(&mut self, from: usize, to: usize, inside: &Inside) -> String {
        let ended = inside.sections.iter().filter(|s| s.end <= to);
        let sections: Vec<Section> = ended.map(|s| s.relative(from)).collect();
        let (text, notes) = value::value(self.search.tokens.w.str(from, to), &sections);
        notes.codes().for_each(|code| self.calls.note(code, from, to));
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

/// Length of a text without an unfinished tag or entity at its end.
fn unfinished(w: &Input<'_>, raw: &str, from: usize) -> usize {
    match raw.rfind('<') {
        Some(i) if lex::cut_markup(w, from + i) => i,
        _ => raw.rfind('&').filter(|i| value::is_cut_entity(&raw[*i..])).unwrap_or(raw.len()),
    }
}
