//! The content of `<arguments>` (XT-18): parameters, text, or JSON.

use super::{Arguments, Block, Cx, Done, State, Why};
use crate::block::cdata::{Cdata, Holder};
use crate::code::Code;
use crate::json::{self, Json, Members, Scanner};
use crate::lex::{self, OpenTag, Tag};
use crate::look::Parent;
use crate::value::{self, Section};
use crate::window::{Wait, Wake};

/// An ARGS element that is open.
#[derive(Debug)]
pub(super) struct Args {
    own: String,
    content: usize,
    params: Members,
    text: Option<usize>,
    sections: Vec<Section>,
    /// What was mended in the sections, which counts only if they are the value.
    mended: Vec<(Code, usize, usize)>,
    cdata: Option<Box<Cdata>>,
    looked_for_json: bool,
}

impl Args {
    pub(super) fn params(&self) -> &Members {
        &self.params
    }

    pub(super) fn add(&mut self, key: String, value: Json) {
        self.params.add(key, value);
    }

    pub(super) fn into_params(self) -> Members {
        self.params
    }

    /// Where reading stands, given the block's cursor.
    pub(super) fn cursor(&self, at: usize) -> usize {
        self.cdata.as_ref().map_or(at, |c| c.at)
    }
}

impl Block {
    pub(super) fn open_args(&mut self, cx: &mut Cx<'_, '_>, t: &OpenTag<'_>) {
        if !t.is("arguments") {
            self.note(Code::FieldAlias, t.start, t.end);
        }
        if self.cur.args.is_some() {
            self.note(Code::DuplicateArguments, t.start, t.end);
        }
        self.at = t.end;
        if t.self_closing {
            return self.close_args(Arguments::Object(Members::default()), t.end);
        }
        let _ = cx;
        self.args = Some(Args {
            own: t.name.to_ascii_lowercase(),
            content: t.end,
            params: Members::default(),
            text: None,
            sections: Vec::new(),
            mended: Vec::new(),
            cdata: None,
            looked_for_json: false,
        });
        self.state = State::Args;
    }

    fn close_args(&mut self, args: Arguments, end: usize) {
        self.cur.add_args(args);
        self.cur.args_closed = true;
        self.last_end = end;
        self.at = end;
        self.args = None;
        self.state = State::Top;
    }

    pub(super) fn args(&mut self, cx: &mut Cx<'_, '_>) -> Result<Option<Done>, Wait> {
        let Some(args) = self.args.as_mut() else {
            self.state = State::Top;
            return Ok(None);
        };
        if args.cdata.is_some() {
            return self.args_cdata(cx);
        }
        if !args.looked_for_json {
            let (p, next) = cx.w.after_blanks(self.at)?;
            args.looked_for_json = true;
            if next == Some(b'{') {
                self.state = State::Json(Scanner::new(p, cx.opts.limits.json_depth()), Why::Args);
                return Ok(None);
            }
        }
        let p = self.misc(cx)?;
        match lex::need(cx.w, p)? {
            None => return Ok(Some(self.end_of_input(cx, p))),
            Some(b'<') => {}
            Some(_) => return self.args_text(cx, p),
        }
        if cx.look.opener(cx.w, p)?.is_some() {
            self.end_args(cx, p, p, Some(Code::MissingCloseTag));
            return Ok(None);
        }
        match lex::tag(cx.w, p)? {
            Tag::Close(c) if Parent::Args.closed_by(c.name) => self.end_args(cx, p, c.end, None),
            Tag::Close(c) if c.is_tool() => self.end_args(cx, p, p, Some(Code::MissingCloseTag)),
            Tag::Close(c) => {
                self.note(Code::MismatchedCloseTag, p, c.end);
                self.at = c.end;
            }
            Tag::Open(t) => {
                self.at = t.end;
                return self.open_param(cx, &t);
            }
            Tag::Cut => return Ok(Some(self.end_of_input(cx, p))),
            Tag::None if lex::marker(cx.w, p)? => {
                if let Some(args) = self.args.as_mut() {
                    args.text.get_or_insert(p);
                    args.cdata = Some(Box::new(Cdata::new(p)));
                }
            }
            Tag::None if lex::cut_markup(cx.w, p) => return Ok(Some(self.end_of_input(cx, p))),
            Tag::None => return self.args_text(cx, p),
        }
        Ok(None)
    }

    fn args_text(&mut self, cx: &mut Cx<'_, '_>, p: usize) -> Result<Option<Done>, Wait> {
        if let Some(args) = self.args.as_mut() {
            args.text.get_or_insert(p);
        }
        match cx.w.find(b'<', p + 1) {
            Some(q) => self.at = q,
            None if cx.w.eof => self.at = cx.w.end(),
            None => return Err(Wait::on(Wake::Byte(b'<'))),
        }
        Ok(None)
    }

    fn args_cdata(&mut self, cx: &mut Cx<'_, '_>) -> Result<Option<Done>, Wait> {
        let Some(args) = self.args.as_mut() else { return Ok(None) };
        let Some(mut cdata) = args.cdata.take() else { return Ok(None) };
        let holder = Holder { own: &args.own, parent: &Parent::Tool };
        match cdata.run(cx, holder) {
            Err(wait) => {
                args.cdata = Some(cdata);
                Err(wait)
            }
            Ok(None) => Ok(Some(self.end_of_input(cx, cx.w.end()))),
            Ok(Some(end)) => {
                let section = end.section;
                args.sections.push(section);
                args.mended.extend(end.codes().map(|code| (code, section.start, section.end)));
                self.at = section.end;
                self.cdata_ended(&end);
                Ok(None)
            }
        }
    }

    /// ARGS ends: its content is `..to`, reading goes on at `end`.
    fn end_args(&mut self, cx: &mut Cx<'_, '_>, to: usize, end: usize, report: Option<Code>) {
        let Some(args) = self.args.take() else { return };
        if let Some(code) = report {
            self.note(code, to, to);
        }
        if let (Some(at), false) = (args.text, args.params.is_empty()) {
            self.note(Code::StrayTextInArguments, at, to);
        }
        let value = match args.text {
            Some(_) if args.params.is_empty() => self.text_args(cx, &args, to),
            _ => Arguments::Object(args.params),
        };
        self.close_args(value, end);
    }

    /// Text instead of parameters: a JSON object, else a string.
    fn text_args(&mut self, cx: &mut Cx<'_, '_>, args: &Args, to: usize) -> Arguments {
        self.cur.resend = true;
        if self.over(cx, to) {
            return Arguments::Other(Json::Null);
        }
        for &(code, from, to) in &args.mended {
            self.note(code, from, to);
        }
        let text = cx.w.str(args.content, to);
        let sections: Vec<Section> =
            args.sections.iter().map(|s| relative(s, args.content)).collect();
        let (text, notes) = value::value(text, &sections);
        let text = lex::trim(&text);
        if let Some((Json::Object(members), repaired)) =
            json::parse(text, cx.opts.limits.json_depth())
        {
            self.note(Code::JsonArguments, args.content, to);
            if repaired {
                self.note(Code::JsonRepaired, args.content, to);
            }
            self.cur.typed = true;
            return Arguments::Json(members);
        }
        self.value_notes(notes, args.content, to);
        self.note(Code::ArgumentsNotObject, args.content, to);
        Arguments::Other(Json::String(text.to_owned()))
    }

    /// A JSON value stood first in ARGS: it counts if the close tag follows.
    pub(super) fn args_tail(
        &mut self,
        cx: &mut Cx<'_, '_>,
        from: usize,
        to: usize,
        repaired: bool,
    ) -> Result<Option<Done>, Wait> {
        let (p, next) = cx.w.after_blanks(to)?;
        let close = match next {
            Some(b'<') => match lex::tag(cx.w, p)? {
                Tag::Close(c) if Parent::Args.closed_by(c.name) => Some(c.end),
                _ => None,
            },
            _ => None,
        };
        self.state = State::Args;
        let Some(end) = close else { return Ok(None) };
        self.note(Code::JsonArguments, from, to);
        if repaired {
            self.note(Code::JsonRepaired, from, to);
        }
        let value = if self.over(cx, to) { Json::Null } else { json::build(cx.w.str(from, to)) };
        self.cur.typed = true;
        self.cur.resend = true;
        let args = match value {
            Json::Object(members) => Arguments::Json(members),
            other => Arguments::Other(other),
        };
        self.close_args(args, end);
        Ok(None)
    }

    /// The reports of XT-25 and XT-26 for a text.
    pub(super) fn value_notes(&mut self, notes: value::Notes, from: usize, to: usize) {
        notes.codes().for_each(|code| self.note(code, from, to));
    }
}

/// A section by positions within the text that begins at `base`.
pub(super) fn relative(s: &Section, base: usize) -> Section {
    Section { start: s.start - base, from: s.from - base, to: s.to - base, end: s.end - base }
}
