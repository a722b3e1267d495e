//! The GLM dialect (XT-36): the name of a call is text directly after the opener, and each parameter name has its own
//! element. The rest is `tags`.
//!
//! ```text
//! <tool_call>ls
//! <arg_key>p</arg_key><arg_value>.</arg_value></tool_call>
//! ```

use std::sync::Arc;

use super::Cx;
use super::tags::{State, TagReader};
use crate::block::Done;
use crate::code::Code;
use crate::dialects::Grammar;
use crate::input::{Incomplete, Input, MORE, Need};
use crate::json::Json;
use crate::lex;
use crate::shape::{Opened, TagShape, close_any, open_any};

/// A longer word after the opener is not a name.
const NAME_MAX: usize = 512;
/// How far text after a name is followed.
const TEXT_MAX: usize = 256;

/// XT-36: `<tool_call>`, a name, and a key or the close tag.
pub(crate) fn begin(
    w: &Input<'_>,
    p: usize,
    grammar: &Arc<Grammar>,
    first_call: u32,
) -> Result<Option<TagReader>, Incomplete> {
    let Some(open) = open_any(&grammar.call, w, p)? else { return Ok(None) };
    let reader = |at, name: Option<&str>| {
        let mut reader = TagReader::new(p, at, grammar, false, first_call);
        (reader.glm, reader.state) = (true, State::Glm);
        reader.calls.cur.name = name.map(str::to_owned);
        Ok(Some(reader))
    };
    let q = w.after_blanks(open.end)?.0;
    let stop = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | ':' | '/'));
    match w.str(q, w.end()).find(stop) {
        None if w.end() - q > NAME_MAX => Ok(None),
        None if w.eof => reader(w.end(), None),
        None => Err(MORE),
        Some(n) if n == 0 || n > NAME_MAX || !goes_on(w, q + n, grammar)? => Ok(None),
        Some(n) => reader(q + n, Some(w.str(q, q + n))),
    }
}

/// Whether a key, the close tag or the end of input follows the name that ends at `from`; text before them is the
/// call's (XT-33), so that a name in prose begins nothing.
fn goes_on(w: &Input<'_>, from: usize, grammar: &Grammar) -> Result<bool, Incomplete> {
    let (r, next) = w.after_blanks(from)?;
    if next.is_none() {
        return Ok(true);
    }
    let mut at = r;
    while let Some(p) = w.find(b'<', at).filter(|p| p - r <= TEXT_MAX) {
        if close_any(&grammar.call, w, p)?.is_some()
            || open_any(&grammar.parameter, w, p)?.is_some()
            || lex::cut_markup(w, p)
        {
            return Ok(true);
        }
        if open_any(&grammar.call, w, p)?.is_some() {
            return Ok(false);
        }
        at = p + 1;
    }
    match w.eof || w.end() > r + TEXT_MAX {
        true => Ok(false),
        false => Err(Incomplete::on(Need::Byte(b'<')).by(r + TEXT_MAX + 1)),
    }
}

impl TagReader {
    /// Says the name that came with the opener.
    pub(crate) fn announce_glm(&mut self, cx: &mut Cx<'_, '_>) -> Result<Option<Done>, Incomplete> {
        self.state = State::Call;
        match self.calls.cur.name.clone() {
            Some(name) if lex::valid_tool_name(&name) => self.announce(cx.queue, Some(&name)),
            Some(_) => self.calls.refuse(Code::InvalidToolName),
            None => {}
        }
        Ok(None)
    }

    /// A parameter's open tag; of GLM the key, its close tag and the value's open tag. A key without value is stored.
    pub(crate) fn parameter<'w>(
        &mut self,
        cx: &mut Cx<'_, 'w>,
        p: usize,
    ) -> Result<Option<Opened<'w>>, Incomplete> {
        let Some(opened) = open_any(&self.grammar.parameter, cx.w, p)? else { return Ok(None) };
        if !self.glm {
            return Ok(Some(opened));
        }
        let w = cx.w;
        let Some(lt) = w.find(b'<', opened.end) else {
            return if w.eof { Ok(None) } else { Err(Incomplete::on(Need::Byte(b'<'))) };
        };
        let Some(end) = close_any(&self.grammar.parameter, w, lt)? else { return Ok(None) };
        let key = lex::trim(w.str(opened.end, lt));
        let (q, next) = w.after_blanks(end)?;
        if next == Some(b'<')
            && let Some(value) = TagShape::bare("arg_value").open(w, q)?
        {
            return Ok(Some(Opened { end: value.end, name: key, text: true }));
        }
        if next.is_none() || lex::cut_markup(w, q) {
            return Ok(None);
        }
        self.calls.note(Code::MissingCloseTag, end, end);
        self.counts.add(key);
        self.calls.cur.unwrapped.push((key.to_owned(), Json::String(String::new())));
        self.at = end;
        Ok(None)
    }

    pub(crate) fn close_param(&self, w: &Input<'_>, p: usize) -> Result<Option<usize>, Incomplete> {
        if self.glm {
            TagShape::bare("arg_value").close(w, p)
        } else {
            close_any(&self.grammar.parameter, w, p)
        }
    }

    pub(crate) fn cut(&self, w: &Input<'_>, p: usize) -> bool {
        let grammar = &self.grammar;
        let shapes = grammar.parameter.iter().chain(&grammar.call).chain(&grammar.wrapper);
        let value = TagShape::bare("arg_value");
        shapes.chain(self.glm.then_some(&value)).any(|shape| shape.cut(w, p))
    }

    /// Whether the end of input cut a key at `p`, or what follows it.
    pub(crate) fn cut_key(&self, w: &Input<'_>, p: usize) -> bool {
        let parameter = &self.grammar.parameter;
        let Ok(Some(opened)) = open_any(parameter, w, p) else { return false };
        if !self.glm || !w.eof {
            return false;
        }
        let Some(lt) = w.find(b'<', opened.end) else { return true };
        match close_any(parameter, w, lt) {
            Ok(Some(end)) => {
                let q = w.skip_blanks(end);
                q == w.end() || lex::cut_markup(w, q)
            }
            _ => lex::cut_markup(w, lt),
        }
    }
}
