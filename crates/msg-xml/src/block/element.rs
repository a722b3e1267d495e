//! Reads parameters and their nested elements (XT-19, XT-20). An element is first read as an object; if its content is
//! anything else, it is read again as text, at most once per level. Text between elements (XT-12, XT-18) and values
//! without a close tag (XT-23) are at the end of this file.

use std::collections::HashSet;
use std::ops::Range;

use super::close::{End, Inside, Parent, Search, Strength, Value};
use super::draft::Arguments;
use super::grammar::{Grammar, Halt};
use super::tokens::{Ahead, Kind, Pending, Token};
use crate::code::Code;
use crate::input::{Input, is_blank};
use crate::json::{Json, Members};
use crate::lex::{PARAM, Section};
use crate::{json, lex};

/// Bounds the bytes that are read as objects in vain: this factor times the bytes before, plus this many bytes. Smaller
/// in unit tests, which count steps.
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
    pub(crate) fn param(&mut self, t: &Token<'a>) -> Result<(), Halt> {
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

    /// XT-20: reads the element as an object, if it is one. Recursive, because the limits allow only a few levels.
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

    /// An element in the object `of`, and its end; `None` if it does not fit.
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

    /// Whether to read the element as an object.
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

    /// The next token in an object, where only blanks and comments may be before it.
    fn object_token(&self, at: usize) -> Result<Option<Token<'a>>, Halt> {
        match self.search.tokens.after(at, |t| t.kind == Kind::Comment)? {
            Ahead::Token(token) => Ok(Some(token)),
            Ahead::Text(..) | Ahead::End => Ok(None),
        }
    }

    /// Text in an object. It is not repaired.
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
            // Text that is not stored (XT-28) cannot be used for a repair.
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
        let (text, notes) = lex::value_of(self.search.tokens.w.str(from, to), &sections);
        notes.codes().for_each(|code| self.calls.note(code, from, to));
        for &(start, end, code) in inside.reports.iter().filter(|(_, end, _)| *end <= to) {
            self.calls.note(code, start, end);
        }
        text
    }

    /// The message ends in a value: its text so far, without an unfinished tag, entity or terminator
    /// (XT-16).
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
        let (text, _) = lex::value_of(raw, &sections);
        self.add_param(key, Json::String(text), from..from + raw.len(), w.end());
        // Half a value is never run, even next to arguments that are closed.
        self.calls.cur.args_closed = false;
    }
}

/// Length of a text without an unfinished tag or entity at its end.
fn unfinished(w: &Input<'_>, raw: &str, from: usize) -> usize {
    match raw.rfind('<') {
        Some(i) if lex::cut_markup(w, from + i) => i,
        _ => raw.rfind('&').filter(|i| lex::is_cut_entity(&raw[*i..])).unwrap_or(raw.len()),
    }
}

// Text in place of elements: between the elements of a block it is skipped or ends the block (XT-12); as the whole
// content of ARGS it is the arguments (XT-18).
//
// ```text
// <tool>Now: <tool_name>ls</tool_name><arguments>-l</arguments></tool>
//       skipped                                  the arguments, unless they are JSON
// ```

/// How far text after the arguments is followed.
pub(crate) const TEXT_MAX: usize = 256;

/// Text in an ARGS element that is open.
#[derive(Debug, Default)]
pub(crate) struct ArgsText {
    /// Its beginning, if there is any text.
    pub(crate) from: Option<usize>,
    inside: Inside,
}

impl Grammar<'_> {
    /// A CDATA section in a wrong place, up to the first `]]>`.
    pub(crate) fn stray_section(&mut self, marker: &Token<'_>) -> Result<(), Halt> {
        let tokens = &self.search.tokens;
        match tokens.terminator(marker.end) {
            Some(at) => self.skip_stray(marker.start, at + 3),
            None if tokens.w.eof => return Err(Halt::Eof),
            None => return Err(Halt::Pending),
        }
        Ok(())
    }

    /// Text at the top is skipped; whether it ends a block whose call is whole.
    pub(crate) fn stray(&mut self, p: usize) -> Result<bool, Halt> {
        if self.calls.cur.args_closed && !self.envelope_follows(p)? {
            return Ok(true);
        }
        let end = self.text_end(p)?;
        self.skip_stray(p, end);
        Ok(false)
    }

    /// The end of the text that begins at `p`: the next `<`.
    pub(crate) fn text_end(&self, p: usize) -> Result<usize, Halt> {
        let tokens = &self.search.tokens;
        match tokens.next(p + 1) {
            Some(token) => Ok(token.start),
            None if tokens.w.eof => Ok(tokens.w.end()),
            None => Err(Halt::Pending),
        }
    }

    fn skip_stray(&mut self, from: usize, to: usize) {
        self.calls.note_once(Code::StrayTextInTool, from, to);
        self.calls.cur.stray_after_name |= self.calls.cur.name.is_some();
        self.at = to;
    }

    /// Whether `</tool>` or an envelope open tag follows within 256 bytes.
    fn envelope_follows(&self, p: usize) -> Result<bool, Pending> {
        let tokens = &self.search.tokens;
        for token in tokens.iter_from(p).take_while(|t| t.start - p <= TEXT_MAX) {
            match token.kind {
                Kind::Undecided => return Err(Pending),
                Kind::Opener => return Ok(false),
                Kind::Close { tool: true } => return Ok(true),
                Kind::Open { .. } if lex::is_envelope(token.name) => return Ok(true),
                _ => {}
            }
        }
        if tokens.w.eof || tokens.w.end() > p + TEXT_MAX { Ok(false) } else { Err(Pending) }
    }

    /// A section in the ARGS element `own`.
    pub(crate) fn args_section(
        &mut self,
        own: &str,
        marker: &Token<'_>,
        args_text: &mut ArgsText,
    ) -> Result<(), Halt> {
        args_text.from.get_or_insert(marker.start);
        let ended = self.search.section(marker, own, Parent::Tool)?.ok_or(Halt::Eof)?;
        args_text.inside.add(&ended);
        self.at = ended.section.end;
        Ok(())
    }

    /// Text instead of parameters: a JSON object, else a string.
    pub(crate) fn text_args(&mut self, from: usize, args_text: &ArgsText, to: usize) -> Arguments {
        let text = self.text_value(from, to, &args_text.inside);
        let text = lex::trim(&text);
        match json::parse(text, self.opts.limits.json_depth()) {
            Some((value @ Json::Object(_), repaired)) => self.json_value(value, repaired, from, to),
            _ => {
                self.calls.note(Code::ArgumentsNotObject, from, to);
                Arguments::Other(Json::String(text.to_owned()))
            }
        }
    }
}

// Recovers a value without a close tag before its stop (XT-23).

/// The end of a value without a proper end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mended {
    pub(crate) to: usize,
    pub(crate) end: usize,
    pub(crate) report: Code,
    trim: bool,
}

impl Mended {
    pub(crate) fn before(pos: usize) -> Self {
        Mended { to: pos, end: pos, report: Code::MissingCloseTag, trim: true }
    }

    fn at((to, end): (usize, usize)) -> Self {
        Mended { to, end, report: Code::MismatchedCloseTag, trim: false }
    }

    /// The end of the value's text that begins at `from`, without blanks before the place that ends it.
    pub(crate) fn text_end(&self, w: &Input<'_>, from: usize) -> usize {
        let mut to = self.to;
        while self.trim && to > from && w.at(to - 1).is_some_and(is_blank) {
            to -= 1;
        }
        to
    }
}

impl Search<'_> {
    /// The end of a value that ran into `stop`, by the first rule that applies.
    fn mend(&self, value: &Value<'_>, inside: &Inside, stop: usize) -> Result<Mended, Pending> {
        if lex::is_word(value.own, &PARAM)
            && let Some(p) = inside.named_param.filter(|&p| p < stop)
        {
            return Ok(Mended::before(p));
        }
        if let Some(tag) = inside.own.structural.or(inside.own.any) {
            return Ok(Mended::at(tag));
        }
        self.look_through(value, inside, stop)
    }

    /// The end of a value whose end is not searched for: before its first tag.
    fn cut_short(&self, value: &Value<'_>, inside: &Inside) -> Mended {
        let first = self.outside(value.from, inside, usize::MAX).next();
        Mended::before(first.map_or(self.tokens.w.end(), |token| token.start))
    }

    /// The tokens from `from` on before `stop`, those in sections aside.
    fn outside<'s>(
        &'s self,
        from: usize,
        inside: &'s Inside,
        stop: usize,
    ) -> impl Iterator<Item = &'s Token<'s>> {
        self.tokens
            .iter_from(from)
            .take_while(move |token| token.start < stop)
            .filter(|token| lex::section_at(&inside.sections, token.start).is_none())
    }

    /// Rule (3): the first tag, if it opens an element that is closed before the stop. Rule (4): the first
    /// structural close tag without an opener inside. Otherwise the stop.
    fn look_through(
        &self,
        value: &Value<'_>,
        inside: &Inside,
        stop: usize,
    ) -> Result<Mended, Pending> {
        let mut opened: HashSet<String> = HashSet::new();
        let (mut first, mut unopened) = (None, None);
        for token in self.outside(value.from, inside, stop) {
            #[cfg(test)]
            crate::growth::count();
            let first = *first.get_or_insert(token);
            match token.kind {
                Kind::Open { .. } | Kind::Opener => {
                    opened.insert(token.name.to_ascii_lowercase());
                }
                Kind::Close { .. } if first.is_plain_open() && token.is(first.name) => {
                    return Ok(Mended::before(first.start));
                }
                Kind::Close { .. }
                    if unopened.is_none()
                        && token.end <= stop
                        && !opened.contains(&token.name.to_ascii_lowercase())
                        && self.structural(token, value.parent)? != Strength::No =>
                {
                    unopened = Some((token.start, token.end));
                }
                _ => {}
            }
        }
        Ok(unopened.map_or(Mended::before(stop), Mended::at))
    }
}
