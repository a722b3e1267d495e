//! Mending a value that has no end of its own before the tail (XT-23). The search before the tail is
//! indexed, so that k unclosed values cost one pass over the block and not k.

use std::collections::HashMap;

use super::element::{Elem, Mode};
use super::text::Text;
use super::{Block, Cx, Done};
use crate::code::Code;
use crate::json::Json;
use crate::lex::{self, PARAM, Tag};
use crate::look::Strength;
use crate::value::{self, Section};
use crate::window::{Wait, Win, is_blank};

/// The tags between a value and the stop that it ran into. Whatever begins behind the last thing there that
/// nests, a sample call or a section, meets the same stop.
#[derive(Debug, Default)]
pub(super) struct Index {
    from: usize,
    stop: usize,
    /// From here to the stop nothing nests.
    plain_from: usize,
    /// Starts of close tags by lower-case name.
    closes: HashMap<String, Vec<usize>>,
    named_params: Vec<usize>,
}

impl Index {
    /// Whether a value of this name that has come to `pos` will find no close tag before the stop.
    pub(super) fn skips(&self, own: &str, pos: usize) -> bool {
        self.plain_from <= pos && pos < self.stop && !self.closes_after(own, pos)
    }

    pub(super) fn stop(&self) -> usize {
        self.stop
    }

    fn closes_after(&self, own: &str, pos: usize) -> bool {
        self.closes.get(own).and_then(|list| list.last()).is_some_and(|&last| last >= pos)
    }

    fn covers(&self, from: usize, stop: usize) -> bool {
        self.from <= from && self.stop == stop && from < stop
    }

    fn build(w: &Win<'_>, from: usize, stop: usize, plain_from: usize) -> Self {
        let mut index = Index { from, stop, plain_from, ..Index::default() };
        let mut at = from;
        while let Some(p) = w.find(b'<', at).filter(|&p| p < stop) {
            at = p + 1;
            match lex::tag(w, p) {
                Ok(Tag::Close(c)) => {
                    if c.is_tool() {
                        index.plain_from = index.plain_from.max(c.end);
                    }
                    index.closes.entry(c.name.to_ascii_lowercase()).or_default().push(p);
                    at = c.end;
                }
                Ok(Tag::Open(t)) => {
                    if t.is_tool() {
                        index.plain_from = index.plain_from.max(t.end);
                    }
                    if t.named_param() {
                        index.named_params.push(p);
                    }
                    at = t.end;
                }
                Ok(Tag::None) if lex::marker(w, p) == Ok(true) => {
                    index.plain_from = index.plain_from.max(at);
                }
                _ => {}
            }
        }
        index
    }
}

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

    fn mend(&mut self, cx: &mut Cx<'_, '_>, stop: usize) -> Result<Mended, Wait> {
        let Some(Elem { own, parent, mode: Mode::Text(text), .. }) = self.elems.last() else {
            return Ok(Mended::before(stop));
        };
        let from = text.from;
        if stop - self.start > cx.opts.limits.max_tool_bytes {
            return Ok(Mended::before(stop));
        }
        if !self.recovery.covers(from, stop) {
            // A sample that is still open leaves nothing plain.
            let plain_from = match text.sections.last() {
                _ if text.bal > 0 => stop,
                Some(last) => last.end,
                None => from,
            };
            self.recovery = Index::build(cx.w, from, stop, plain_from);
        }
        if lex::is_word(own, &PARAM) {
            let indexed = || self.recovery.named_params.iter().copied().find(|&p| p >= from);
            if let Some(p) = text.named_param.or_else(indexed).filter(|&p| p < stop) {
                return Ok(Mended::before(p));
            }
        }
        if let Some(tag) = text.last_structural.or(text.last_own) {
            return Ok(Mended::at(tag));
        }
        let sections = &text.sections;
        if let Some(p) = first_lt(cx.w, text, stop)
            && cx.look.opener(cx.w, p)?.is_none()
            && let Tag::Open(t) = lex::tag(cx.w, p)?
            && (t.bare() || t.named_param())
            && self
                .recovery
                .closes
                .get(&t.name.to_ascii_lowercase())
                .is_some_and(|l| has_outside(l, t.end, sections))
        {
            return Ok(Mended::before(p));
        }
        let mut opened: Vec<String> = Vec::new();
        let mut at = from;
        while let Some(p) = cx.w.find(b'<', at).filter(|&p| p < stop) {
            if let Some(s) = value::section_at(sections, p) {
                at = s.end;
                continue;
            }
            at = p + 1;
            match lex::tag(cx.w, p)? {
                Tag::Open(t) if !t.self_closing => {
                    let name = t.name.to_ascii_lowercase();
                    if !opened.contains(&name) && opened.len() < 64 {
                        opened.push(name);
                    }
                    at = t.end;
                }
                Tag::Close(c) if c.end <= stop => {
                    at = c.end;
                    let name = c.name.to_ascii_lowercase();
                    if !opened.contains(&name)
                        && cx.look.structural(cx.w, c.end, &name, parent)? != Strength::No
                    {
                        return Ok(Mended::at((p, c.end)));
                    }
                }
                _ => {}
            }
        }
        Ok(Mended::before(stop))
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

/// The first `<` of a text outside its sections, before the stop.
fn first_lt(w: &Win<'_>, text: &Text, stop: usize) -> Option<usize> {
    let mut at = text.from;
    loop {
        let p = w.find(b'<', at).filter(|&p| p < stop)?;
        match value::section_at(&text.sections, p) {
            Some(s) => at = s.end,
            None => return Some(p),
        }
    }
}

fn has_outside(closes: &[usize], from: usize, sections: &[Section]) -> bool {
    let first = closes.partition_point(|&p| p < from);
    closes[first..].iter().any(|&p| value::section_at(sections, p).is_none())
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
    let digits = tail.strip_prefix("&#").map(|d| d.strip_prefix('x').unwrap_or(d));
    let numeric = digits.is_some_and(|d| d.len() <= 10 && d.bytes().all(|b| b.is_ascii_hexdigit()));
    if named || numeric { i } else { raw.len() }
}

#[cfg(test)]
mod tests {
    use super::{Index, Win};

    #[test]
    fn what_begins_behind_the_last_sample_is_not_read_again() {
        let sample = "<a>see <tool>x</tool>";
        let text = format!("{sample}{}</arguments>", "<b>1<c>2</c>".repeat(3));
        let w = Win { text: &text, base: 0, eof: true };
        let stop = text.len() - "</arguments>".len();
        let index = Index::build(&w, 3, stop, 3);
        assert!(!index.skips("b", 3), "the sample lies ahead");
        assert!(index.skips("b", sample.len()));
        assert!(index.skips("b", stop - 1));
        assert!(!index.skips("c", sample.len()), "there is a close tag");
        assert!(!index.skips("b", stop), "nothing is known behind the stop");
    }

    #[test]
    fn sections_are_not_plain() {
        let text = "<a><![CDATA[x]]>y<b>z</arguments>";
        let w = Win { text, base: 0, eof: true };
        let index = Index::build(&w, 3, 21, 16);
        assert!(!index.skips("b", 15) && index.skips("b", 16));
    }
}
