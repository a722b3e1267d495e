//! Where a value of a tag dialect ends, and what it is (XT-33). What surrounds values is `tags`.

use std::sync::Arc;

use super::closes::{Closes, Fate, Kind, Seen};
use super::grammar::{close_any, open_any};
use super::tags::{State, TagReader};
use crate::block::{Cx, Done};
use crate::code::Code;
use crate::json::{self, Json};
use crate::value;
use crate::window::{MORE, Wait, Win, is_blank};

/// A value that is open.
#[derive(Debug)]
pub(super) struct Value {
    pub(super) key: String,
    pub(super) from: usize,
    pub(super) at: usize,
    pub(super) params: usize,
    pub(super) calls: usize,
    pub(super) first_param: Option<usize>,
    pub(super) last_close: Option<(usize, usize)>,
    pub(super) text: bool,
    /// The tags of parameters and calls in it.
    pub(super) seen: Vec<Seen>,
}

impl Value {
    pub(super) fn new(key: String, from: usize, text: bool) -> Self {
        Value {
            key,
            from,
            at: from,
            params: 0,
            calls: 0,
            first_param: None,
            last_close: None,
            text,
            seen: Vec::new(),
        }
    }
}

impl TagReader {
    /// Where the value ends.
    pub(super) fn value(&mut self, cx: &mut Cx<'_, '_>) -> Result<Option<Done>, Wait> {
        let state = std::mem::replace(&mut self.state, State::Call);
        let State::Value(mut value) = state else { return Ok(None) };
        if value.at == value.from
            && let Some(fate) = cx.look.values.fate(&self.grammar, value.from)
        {
            let ends = match fate {
                Fate::Closed(to, end) => Ends { to, end, report: None, trim: false },
                Fate::Unclosed(first_param, last_close, stop) => {
                    (value.first_param, value.last_close) = (first_param, last_close);
                    unclosed(&value, stop)
                }
            };
            self.end_value(cx, &value, ends);
            return Ok(None);
        }
        loop {
            let Some(p) = cx.w.find(b'<', value.at) else {
                value.at = cx.w.end();
                if !cx.w.eof {
                    self.state = State::Value(value);
                    return Err(MORE);
                }
                return Ok(Some(self.open_value(cx, value)));
            };
            value.at = p;
            match self.value_tag(cx, &mut value, p) {
                Ok(None) => {}
                Ok(Some(ends)) => {
                    self.end_value(cx, &value, ends);
                    return Ok(None);
                }
                Err(wait) => {
                    self.state = State::Value(value);
                    return Err(wait);
                }
            }
        }
    }

    /// A `<` in a value: whether it ends there.
    fn value_tag(
        &mut self,
        cx: &mut Cx<'_, '_>,
        value: &mut Value,
        p: usize,
    ) -> Result<Option<Ends>, Wait> {
        let w = cx.w;
        #[cfg(test)]
        crate::steps::count();
        let grammar = Arc::clone(&self.grammar);
        let seen = |value: &mut Value, end, kind| {
            value.seen.push(Seen { at: p, end, kind });
            value.at = end;
        };
        if let Some(end) = self.close_param(w, p)? {
            let followed = self.followed(w, end)?;
            if value.params == 0 && value.calls == 0 && followed {
                return Ok(Some(Ends { to: p, end, report: None, trim: false }));
            }
            value.params = value.params.saturating_sub(1);
            value.last_close = Some((p, end));
            seen(value, end, Kind::CloseParam(followed));
        } else if let Some(opened) = open_any(&grammar.parameter, w, p)? {
            value.params += 1;
            value.first_param.get_or_insert(p);
            seen(value, opened.end, Kind::OpenParam);
        } else if let Some(opened) = open_any(&grammar.call, w, p)? {
            value.calls += 1;
            seen(value, opened.end, Kind::OpenCall);
        } else if let Some(end) = close_any(&grammar.call, w, p)? {
            seen(value, end, Kind::CloseCall);
            if value.calls == 0 {
                // What was seen is kept for the values that begin in this one.
                let closes = Closes::new(value.from, std::mem::take(&mut value.seen));
                cx.look.values.keep(&grammar, closes);
                return Ok(Some(unclosed(value, p)));
            }
            value.calls -= 1;
        } else {
            value.at = p + 1;
        }
        Ok(None)
    }

    /// Whether blanks and a tag of the block, or the end of input, follow a parameter's close tag.
    fn followed(&self, w: &Win<'_>, end: usize) -> Result<bool, Wait> {
        let (q, next) = w.after_blanks(end)?;
        let grammar = &self.grammar;
        Ok(match next {
            None => true,
            Some(b'<') => {
                open_any(&grammar.parameter, w, q)?.is_some()
                    || close_any(&grammar.call, w, q)?.is_some()
                    || open_any(&grammar.call, w, q)?.is_some()
                    || close_any(&grammar.wrapper, w, q)?.is_some()
                    || self.cut(w, q)
            }
            Some(_) => false,
        })
    }

    fn end_value(&mut self, cx: &Cx<'_, '_>, value: &Value, ends: Ends) {
        let mut to = ends.to;
        while ends.trim && to > value.from && cx.w.at(to - 1).is_some_and(is_blank) {
            to -= 1;
        }
        if let Some(code) = ends.report {
            self.out.note(code, to, ends.end);
        }
        self.store(cx, value, to);
        self.at = ends.end;
    }

    fn store(&mut self, cx: &Cx<'_, '_>, value: &Value, to: usize) {
        let text = value::block_rule(cx.w.str(value.from, to));
        let typed = if value.text { None } else { json::parse(text, cx.opts.limits.json_depth()) };
        let item = match typed {
            Some((item, _)) => item,
            None => {
                if !value.text {
                    self.out.note(Code::ValueNotJson, value.from, to);
                }
                Json::String(text.to_owned())
            }
        };
        self.cur.raws.push((value.key.as_str().into(), value.from, to));
        self.add(value.key.clone(), item);
    }

    /// The input ends in a value: what is there, without an unfinished tag.
    fn open_value(&mut self, cx: &mut Cx<'_, '_>, value: Value) -> Done {
        let end = cx.w.end();
        let raw = cx.w.str(value.from, end);
        let cut = raw.rfind('<').map(|i| value.from + i).filter(|&p| self.cut(cx.w, p));
        self.store(cx, &value, cut.unwrap_or(end));
        self.incomplete(cx)
    }
}

/// Where a value ends that the call's close tag at `p` cuts off.
fn unclosed(value: &Value, p: usize) -> Ends {
    let before = |pos| Ends { to: pos, end: pos, report: Some(Code::MissingCloseTag), trim: true };
    match (value.first_param, value.last_close) {
        (Some(first), _) => before(first),
        (None, Some((to, end))) => {
            Ends { to, end, report: Some(Code::MismatchedCloseTag), trim: false }
        }
        (None, None) => before(p),
    }
}

/// Where a value ends, and what is to be said about it.
struct Ends {
    to: usize,
    end: usize,
    report: Option<Code>,
    trim: bool,
}
