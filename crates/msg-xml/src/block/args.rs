//! The content of `<arguments>` (XT-18): JSON, parameters, or text. What a parameter is, is `element`.
//!
//! ```text
//! <arguments>{"path": "."}</arguments>          JSON
//! <arguments><path>.</path> and </arguments>    parameters; the text is reported
//! <arguments>ls -l</arguments>                  text
//! ```

use super::close::Parent;
use super::draft::Arguments;
use super::grammar::{Grammar, Halt};
use super::tokens::{Kind, Stand, Token};
use crate::code::Code;
use crate::json::{self, Json, Stop};
use crate::lex;
use crate::value::{self, Section};

/// Text in an ARGS element that is open.
#[derive(Debug, Default)]
struct ArgsText {
    from: Option<usize>,
    sections: Vec<Section>,
    /// What was mended in the sections, which counts only if they are the value.
    mended: Vec<(Code, usize, usize)>,
}

impl<'a> Grammar<'a> {
    /// The ARGS element of this open tag.
    pub(super) fn args(&mut self, t: &Token<'a>) -> Result<(), Halt> {
        if !t.is("arguments") {
            self.calls.note(Code::FieldAlias, t.start, t.end);
        }
        if self.calls.cur.args.is_some() {
            self.calls.note(Code::DuplicateArguments, t.start, t.end);
        }
        self.at = t.end;
        if matches!(t.kind, Kind::Open { empty: true, .. }) {
            self.close_args(Arguments::Params(Vec::new()), t.end);
            return Ok(());
        }
        self.content_of_args(t.name)
    }

    /// What stands in the ARGS element of that name, up to its end.
    pub(super) fn content_of_args(&mut self, own: &str) -> Result<(), Halt> {
        self.args = Some(Vec::new());
        let from = self.at;
        if self.json_args()? {
            return Ok(());
        }
        let mut args_text = ArgsText::default();
        while let Some(token) = self.args_token(&mut args_text)? {
            let Token { start, end, .. } = token;
            match token.kind {
                Kind::Close { .. } if Parent::Args.closed_by(token.name) => {
                    self.end_args(from, &args_text, start, end);
                    return Ok(());
                }
                Kind::Opener | Kind::Close { tool: true } => {
                    self.end_args(from, &args_text, start, start);
                    return Ok(());
                }
                Kind::Close { .. } => self.skip(Code::MismatchedCloseTag, &token),
                Kind::Open { .. } => self.param(&token)?,
                Kind::Marker => self.args_section(own, &token, &mut args_text)?,
                _ => return Err(Halt::Eof),
            }
        }
        Err(Halt::Eof)
    }

    /// The next token that is no text; `None` at the end of input.
    fn args_token(&mut self, args_text: &mut ArgsText) -> Result<Option<Token<'a>>, Halt> {
        loop {
            let at = match self.peek()? {
                Stand::End => return Ok(None),
                Stand::Token(token) if token.kind != Kind::Other => return Ok(Some(token)),
                Stand::Token(token) => token.start,
                Stand::Text(at, _) => at,
            };
            args_text.from.get_or_insert(at);
            self.at = self.text_end(at)?;
        }
    }

    fn args_section(
        &mut self,
        own: &str,
        marker: &Token<'_>,
        args_text: &mut ArgsText,
    ) -> Result<(), Halt> {
        args_text.from.get_or_insert(marker.start);
        let ended = self.search.section(marker, own, Parent::Tool)?.ok_or(Halt::Eof)?;
        let it = ended.section;
        args_text.sections.push(it);
        args_text.mended.extend(ended.codes().map(|code| (code, it.start, it.end)));
        self.at = it.end;
        Ok(())
    }

    pub(super) fn close_args(&mut self, args: Arguments, end: usize) {
        self.calls.cur.add_args(args);
        self.calls.cur.args_closed = true;
        (self.last_end, self.at, self.args) = (end, end, None);
    }

    /// ARGS ends: its content goes from `from` to `to`, reading goes on at `end`.
    fn end_args(&mut self, from: usize, args_text: &ArgsText, to: usize, end: usize) {
        let params = self.args.take().unwrap_or_default();
        if end == to {
            self.calls.note(Code::MissingCloseTag, to, to);
        }
        let value = match args_text.from {
            Some(_) if params.is_empty() => self.text_args(from, args_text, to),
            Some(at) => {
                self.calls.note(Code::StrayTextInArguments, at, to);
                Arguments::Params(params)
            }
            None => Arguments::Params(params),
        };
        self.close_args(value, end);
    }

    /// A JSON value that stands first in ARGS counts if the close tag follows; whether it does.
    fn json_args(&mut self) -> Result<bool, Halt> {
        let Stand::Text(from, b'{') = self.search.tokens.behind_blanks(self.at)? else {
            return Ok(false);
        };
        let w = self.search.tokens.w;
        let read = match json::read(w.str(from, w.end()), self.opts.limits.json_depth()) {
            Ok(read) => read,
            Err(Stop::More(_)) if !w.eof => return Err(Halt::Pending),
            Err(Stop::More(_) | Stop::Error(_)) => return Ok(false),
            Err(Stop::Depth(at)) => return Err(Halt::Deep(from + at)),
        };
        let to = from + read.end;
        match self.search.tokens.behind_blanks(to)? {
            Stand::Token(t) if t.is_close() && Parent::Args.closed_by(t.name) => {
                let value = self.json_value(read.value, read.repaired, from, to);
                self.close_args(value, t.end);
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Text instead of parameters: a JSON object, else a string.
    fn text_args(&mut self, from: usize, args_text: &ArgsText, to: usize) -> Arguments {
        for &(code, from, to) in &args_text.mended {
            self.calls.note(code, from, to);
        }
        let sections: Vec<Section> = args_text.sections.iter().map(|s| s.relative(from)).collect();
        let (text, notes) = value::value(self.search.tokens.w.str(from, to), &sections);
        let text = lex::trim(&text);
        if let Some((value @ Json::Object(_), repaired)) =
            json::parse(text, self.opts.limits.json_depth())
        {
            return self.json_value(value, repaired, from, to);
        }
        self.value_notes(notes, from, to);
        self.calls.note(Code::ArgumentsNotObject, from, to);
        Arguments::Other(Json::String(text.to_owned()))
    }

    /// The reports of XT-25 and XT-26 for a text.
    pub(super) fn value_notes(&mut self, notes: value::Notes, from: usize, to: usize) {
        notes.codes().for_each(|code| self.calls.note(code, from, to));
    }
}
