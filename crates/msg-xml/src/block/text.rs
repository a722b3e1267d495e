//! Text where elements should stand: beside those of a block it is skipped, or ends the block (XT-12); as all there is of
//! ARGS it is the arguments (XT-18). The text of a parameter is the business of `element`.
//!
//! ```text
//! <tool>Now: <tool_name>ls</tool_name><arguments>-l</arguments></tool>
//!       skipped                                  the arguments, unless they are JSON
//! ```

use super::close::{Inside, Parent};
use super::draft::Arguments;
use super::grammar::{Grammar, Halt};
use super::tokens::{Kind, Pending, Token};
use crate::code::Code;
use crate::json::{self, Json};
use crate::lex;

/// How far text after the arguments is followed.
pub(super) const TEXT_MAX: usize = 256;

/// Text in an ARGS element that is open.
#[derive(Debug, Default)]
pub(super) struct ArgsText {
    /// Where it begins, if there is any.
    pub(super) from: Option<usize>,
    inside: Inside,
}

impl Grammar<'_> {
    /// CDATA where nothing should be, up to the first `]]>`.
    pub(super) fn stray_section(&mut self, marker: &Token<'_>) -> Result<(), Halt> {
        let tokens = &self.search.tokens;
        match tokens.terminator(marker.end) {
            Some(at) => self.skip_stray(marker.start, at + 3),
            None if tokens.w.eof => return Err(Halt::Eof),
            None => return Err(Halt::Pending),
        }
        Ok(())
    }

    /// Text at the top is skipped; whether it ends a block whose call is whole.
    pub(super) fn stray(&mut self, p: usize) -> Result<bool, Halt> {
        if self.calls.cur.args_closed && !self.envelope_follows(p)? {
            return Ok(true);
        }
        let end = self.text_end(p)?;
        self.skip_stray(p, end);
        Ok(false)
    }

    /// Where the text that begins at `p` ends: at the next `<`.
    pub(super) fn text_end(&self, p: usize) -> Result<usize, Halt> {
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
    pub(super) fn args_section(
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
    pub(super) fn text_args(&mut self, from: usize, args_text: &ArgsText, to: usize) -> Arguments {
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
