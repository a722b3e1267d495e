//! Mending a value that has no end of its own before the tail (XT-23). What stands before the tail is looked up in
//! the index that the values before the same tail share.

use super::element::{Elem, Mode};
use super::index::{Edge, Index};
use super::text::Text;
use super::{Block, Cx, Done};
use crate::code::Code;
use crate::json::Json;
use crate::lex::{self, PARAM, Tag};
use crate::look::Parent;
use crate::value::{self, Section};
use crate::window::{Wait, Win, is_blank};

/// Where a mended value ends.
struct Mended {
    to: usize,
    end: usize,
    report: Code,
    trim: bool,
}

impl Mended {
    fn before(pos: usize) -> Self {
        Mended { to: pos, end: pos, report: Code::MissingCloseTag, trim: true }
    }

    fn at((to, end): (usize, usize)) -> Self {
        Mended { to, end, report: Code::MismatchedCloseTag, trim: false }
    }
}

impl Block {
    /// The value ran into the stop; `usize::MAX` is the end of input with nothing to go back to.
    pub(super) fn recover(
        &mut self,
        cx: &mut Cx<'_, '_>,
        stop: usize,
    ) -> Result<Option<Done>, Wait> {
        if stop == usize::MAX {
            return Ok(Some(self.open_value(cx)));
        }
        let mended = self.mend(cx, stop)?;
        self.note(mended.report, mended.to, mended.end);
        let mut to = mended.to;
        if mended.trim {
            let from = self.elems.last().map_or(to, |e| e.content);
            while to > from && cx.w.at(to - 1).is_some_and(is_blank) {
                to -= 1;
            }
        }
        self.finish_text(cx, to, mended.end)
    }

    /// What the stop of a value of this block is.
    pub(super) fn edge(&self) -> Edge {
        if self.bare_end.is_some() { Edge::BareEnd } else { Edge::Tail }
    }

    fn mend(&mut self, cx: &mut Cx<'_, '_>, stop: usize) -> Result<Mended, Wait> {
        let large = stop - self.start > cx.opts.limits.max_tool_bytes;
        let (bare_end, edge) = (self.bare_end, self.edge());
        let Some(Elem { own, parent, mode: Mode::Text(text), .. }) = self.elems.last_mut() else {
            return Ok(Mended::before(stop));
        };
        if large {
            return Ok(Mended::before(stop));
        }
        let from = text.from;
        if !cx.look.index.spans(from, stop)
            || bare_end.is_some_and(|stop| cx.look.index.to() != stop)
        {
            cx.look.index = Index::build(cx, from, (stop, edge), None)?;
        }
        let mut index = std::mem::take(&mut cx.look.index);
        let mended = if index.covers(cx.w, own, from) {
            mend_by(cx, &index, (own, parent), text, stop)
        } else {
            Index::build(cx, from, (stop, edge), Some(&text.sections))
                .and_then(|index| mend_by(cx, &index, (own, parent), text, stop))
        };
        if let (Ok(mended), Some(at)) = (&mended, text.looked_up) {
            text.sections.extend(index.sections(at, mended.to));
        }
        cx.look.index = index;
        mended
    }

    /// The message ends in a value: what is there, without an unfinished tag, entity or terminator (XT-16).
    fn open_value(&mut self, cx: &mut Cx<'_, '_>) -> Done {
        let end = cx.w.end();
        if let Some(Elem { content, mode: Mode::Text(text), .. }) = self.elems.last_mut()
            && end - self.start <= cx.opts.limits.max_tool_bytes
        {
            let content = *content;
            let mut sections: Vec<Section> =
                text.sections.iter().map(|s| super::args::relative(s, text.from)).collect();
            let mut raw = cx.w.str(text.from, end);
            match sections.last_mut() {
                Some(s) if s.end == raw.len() && s.to == s.end => {
                    for _ in 0..2 {
                        raw = raw.strip_suffix(']').filter(|r| r.len() >= s.from).unwrap_or(raw);
                    }
                    (s.to, s.end) = (raw.len(), raw.len());
                }
                _ => raw = &raw[..unfinished(cx.w, raw, text.from)],
            }
            let (value, _) = value::value(raw, &sections);
            let _ = content;
            let to = text.from + raw.len();
            let _ = self.finish_elem(cx, Json::String(value), to, end);
        }
        self.elems.clear();
        // Half a value is never run, also beside arguments that are closed.
        self.cur.args_closed = false;
        self.end_of_input(cx, end)
    }
}

/// XT-23, by what stands before the stop.
fn mend_by(
    cx: &mut Cx<'_, '_>,
    index: &Index,
    (own, parent): (&str, &Parent),
    text: &Text,
    stop: usize,
) -> Result<Mended, Wait> {
    let from = text.from;
    if lex::is_word(own, &PARAM) {
        let named = text.named_param.or_else(|| index.named_param(from));
        if let Some(p) = named.filter(|&p| p < stop) {
            return Ok(Mended::before(p));
        }
    }
    if let Some(tag) = text.last_structural.or(text.last_own) {
        return Ok(Mended::at(tag));
    }
    if let Some(p) = index.first_lt(cx.w, from, stop)
        && cx.look.opener(cx.w, p)?.is_none()
        && let Tag::Open(t) = lex::tag(cx.w, p)?
        && (t.bare() || t.named_param())
        && index.closes(t.name, t.end, stop)
    {
        return Ok(Mended::before(p));
    }
    Ok(index.unopened(parent, from, stop).map_or(Mended::before(stop), Mended::at))
}

/// Length of a text without an unfinished tag or entity at its end.
fn unfinished(w: &Win<'_>, raw: &str, from: usize) -> usize {
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
