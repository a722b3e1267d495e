//! The content of `<arguments>` (XT-18): parameters, text, or JSON.

use super::ahead::Parent;
use super::draft::Arguments;
use super::grammar::{Grammar, Halt};
use super::opener::opener;
use super::section::{Holder, section};
use crate::code::Code;
use crate::input::Incomplete;
use crate::json::{self, Json, Members, Scan, Scanner};
use crate::lex::{self, OpenTag, Tag};
use crate::value::{self, Section};

/// Text in an ARGS element that is open.
#[derive(Debug, Default)]
struct Loose {
    from: Option<usize>,
    sections: Vec<Section>,
    /// What was mended in the sections, which counts only if they are the value.
    mended: Vec<(Code, usize, usize)>,
}

impl<'a> Grammar<'a> {
    /// The ARGS element of this open tag.
    pub(super) fn args(&mut self, t: &OpenTag<'a>) -> Result<(), Halt> {
        if !t.is("arguments") {
            self.note(Code::FieldAlias, t.start, t.end);
        }
        if self.cur.args.is_some() {
            self.note(Code::DuplicateArguments, t.start, t.end);
        }
        self.at = t.end;
        if t.self_closing {
            self.close_args(Arguments::Object(Members::default()), t.end);
            return Ok(());
        }
        self.args = Some(Members::default());
        if self.json_args()? {
            return Ok(());
        }
        let mut loose = Loose::default();
        while !self.args_part(t, &mut loose)? {}
        Ok(())
    }

    fn close_args(&mut self, args: Arguments, end: usize) {
        self.cur.add_args(args);
        self.cur.args_closed = true;
        self.last_end = end;
        self.at = end;
        self.args = None;
    }

    /// What stands next in ARGS; whether that ends it.
    fn args_part(&mut self, t: &OpenTag<'a>, loose: &mut Loose) -> Result<bool, Halt> {
        let w = self.ahead.w;
        let p = self.misc()?;
        match lex::need(&w, p)? {
            None => return Err(Halt::Eof),
            Some(b'<') => {}
            Some(_) => return self.args_text(p, loose),
        }
        if opener(&w, p)?.is_some() {
            return Ok(self.end_args(t, loose, p, p));
        }
        match lex::tag(&w, p)? {
            Tag::Close(c) if Parent::Args.closed_by(c.name) => {
                return Ok(self.end_args(t, loose, p, c.end));
            }
            Tag::Close(c) if c.is_tool() => return Ok(self.end_args(t, loose, p, p)),
            Tag::Close(c) => {
                self.note(Code::MismatchedCloseTag, p, c.end);
                self.at = c.end;
            }
            Tag::Open(t) => self.param(&t)?,
            Tag::Cut => return Err(Halt::Eof),
            Tag::None if lex::marker(&w, p)? => self.args_section(t, p, loose)?,
            Tag::None if lex::cut_markup(&w, p) => return Err(Halt::Eof),
            Tag::None => return self.args_text(p, loose),
        }
        Ok(false)
    }

    fn args_text(&mut self, p: usize, loose: &mut Loose) -> Result<bool, Halt> {
        loose.from.get_or_insert(p);
        self.at = match self.ahead.w.find(b'<', p + 1) {
            Some(q) => q,
            None if self.ahead.w.eof => self.ahead.w.end(),
            None => return Err(Incomplete::never().into()),
        };
        Ok(false)
    }

    fn args_section(&mut self, t: &OpenTag<'_>, p: usize, loose: &mut Loose) -> Result<(), Halt> {
        loose.from.get_or_insert(p);
        let holder = Holder { own: t.name, parent: Parent::Tool };
        let Some(ended) = section(&mut self.ahead, p, holder)? else { return Err(Halt::Eof) };
        let it = ended.section;
        loose.sections.push(it);
        loose.mended.extend(ended.codes().map(|code| (code, it.start, it.end)));
        self.at = it.end;
        Ok(())
    }

    /// ARGS ends: its content goes up to `to`, reading goes on at `end`.
    fn end_args(&mut self, t: &OpenTag<'_>, loose: &Loose, to: usize, end: usize) -> bool {
        let params = self.args.take().unwrap_or_default();
        if end == to {
            self.note(Code::MissingCloseTag, to, to);
        }
        let value = match loose.from {
            Some(_) if params.is_empty() => self.text_args(t.end, loose, to),
            Some(at) => {
                self.note(Code::StrayTextInArguments, at, to);
                Arguments::Object(params)
            }
            None => Arguments::Object(params),
        };
        self.close_args(value, end);
        true
    }

    /// Text instead of parameters: a JSON object, else a string.
    fn text_args(&mut self, from: usize, loose: &Loose, to: usize) -> Arguments {
        for &(code, from, to) in &loose.mended {
            self.note(code, from, to);
        }
        let sections: Vec<Section> = loose.sections.iter().map(|s| s.relative(from)).collect();
        let (text, notes) = value::value(self.ahead.w.str(from, to), &sections);
        let text = lex::trim(&text);
        if let Some((Json::Object(members), repaired)) =
            json::parse(text, self.ahead.opts.limits.json_depth())
        {
            self.json_notes(from, to, repaired);
            self.cur.typed = true;
            return Arguments::Json(members);
        }
        self.value_notes(notes, from, to);
        self.note(Code::ArgumentsNotObject, from, to);
        Arguments::Other(Json::String(text.to_owned()))
    }

    fn json_notes(&mut self, from: usize, to: usize, repaired: bool) {
        self.note(Code::JsonArguments, from, to);
        if repaired {
            self.note(Code::JsonRepaired, from, to);
        }
    }

    /// A JSON value that stands first in ARGS counts if the close tag follows; whether it does.
    fn json_args(&mut self) -> Result<bool, Halt> {
        let w = self.ahead.w;
        let (from, next) = w.after_blanks(self.at)?;
        if next != Some(b'{') {
            return Ok(false);
        }
        let mut scan = Scanner::new(from, self.ahead.opts.limits.json_depth());
        let to = match scan.feed(w.from(from)) {
            Scan::Done(to) => to,
            Scan::More if !w.eof => return Err(Incomplete::never().into()),
            Scan::More | Scan::Error(_) => return Ok(false),
            Scan::Depth(at) => return Err(Halt::Deep(at)),
        };
        let (p, next) = w.after_blanks(to)?;
        if next != Some(b'<') {
            return Ok(false);
        }
        let Tag::Close(c) = lex::tag(&w, p)? else { return Ok(false) };
        if !Parent::Args.closed_by(c.name) {
            return Ok(false);
        }
        self.json_notes(from, to, scan.repaired);
        self.cur.typed = true;
        let args = match json::build(w.str(from, to)) {
            Json::Object(members) => Arguments::Json(members),
            other => Arguments::Other(other),
        };
        self.close_args(args, c.end);
        Ok(true)
    }

    /// The reports of XT-25 and XT-26 for a text.
    pub(super) fn value_notes(&mut self, notes: value::Notes, from: usize, to: usize) {
        notes.codes().for_each(|code| self.note(code, from, to));
    }
}
