//! Where a text value ends (XT-21). Mending a value that has no end of its own is `recover`, sending what is known of
//! it before that is `flow`.

use super::args::relative;
use super::cdata::{Cdata, Ended, Holder};
use super::element::{Elem, Mode};
use super::flow::{Flow, send_rest};
use super::index::{Asked, Edge, Fate, Index};
use super::{Block, Cx, Done};
use crate::code::Code;
use crate::json::Json;
use crate::lex::{self, OpenTag, Tag};
use crate::look::{Parent, Strength};
use crate::value::{self, Section};
use crate::window::{MORE, Turn, Wait, Win};

/// A text value that is open.
#[derive(Debug)]
pub(super) struct Text {
    /// The content begins here (later than the element's beyond the size limit).
    pub(super) from: usize,
    pub(super) at: usize,
    own: usize,
    pub(super) bal: usize,
    /// Last own close tags that did not end the value: start and end.
    pub(super) last_structural: Option<(usize, usize)>,
    pub(super) last_own: Option<(usize, usize)>,
    bare_end: Option<BareEnd>,
    pub(super) named_param: Option<usize>,
    pub(super) sections: Vec<Section>,
    /// From here on the index has its sections.
    pub(super) looked_up: Option<usize>,
    /// Reports of sections, by the section's start.
    pub(super) reports: Vec<(usize, usize, Code)>,
    pub(super) cdata: Option<Box<Cdata>>,
    /// A section is sent while its reading waits.
    pub(super) cdata_turn: Turn,
    pub(super) flow: Flow,
}

/// The bare end, and the own close tags before it: those behind it do not count for a value that ends there.
#[derive(Clone, Copy, Debug)]
struct BareEnd {
    at: usize,
    last_structural: Option<(usize, usize)>,
    last_own: Option<(usize, usize)>,
}

impl Text {
    pub(super) fn new(from: usize) -> Self {
        Text {
            from,
            at: from,
            own: 1,
            bal: 0,
            last_structural: None,
            last_own: None,
            bare_end: None,
            named_param: None,
            sections: Vec::new(),
            looked_up: None,
            reports: Vec::new(),
            cdata: None,
            cdata_turn: Turn::default(),
            flow: Flow::default(),
        }
    }

    pub(super) fn cursor(&self) -> usize {
        self.cdata.as_ref().map_or(self.at, |c| c.at)
    }
}

/// What a token of the text leads to.
enum Flowed {
    On,
    /// The value ends: content up to, source up to.
    End(usize, usize),
    /// The tail, or the bare end, of the block; `usize::MAX` is the end of input.
    Stop(usize),
    /// The outermost parameter ends in a part of it: one past that close tag.
    Barrier(usize),
    NoFit,
}

impl Block {
    pub(super) fn text(&mut self, cx: &mut Cx<'_, '_>) -> Result<Option<Done>, Wait> {
        let strict = self.elems.len() > 1;
        let Some(mut elem) = self.elems.pop() else { return Ok(None) };
        let res = self.scan(cx, &mut elem, strict);
        if cx.queue.on() {
            self.send(cx, &mut elem);
        }
        self.elems.push(elem);
        match res? {
            Flowed::On => Ok(None),
            Flowed::End(to, end) => self.finish_text(cx, to, end),
            Flowed::NoFit => {
                self.reject_text(cx);
                Ok(None)
            }
            Flowed::Barrier(end) => self.in_vain(cx, end, Edge::Open),
            Flowed::Stop(usize::MAX) if strict => self.in_vain(cx, cx.w.end(), Edge::Input),
            Flowed::Stop(stop) if strict => self.in_vain(cx, stop, self.edge()),
            Flowed::Stop(stop) => self.recover(cx, stop),
        }
    }

    /// A strict value was read up to `to` to no end. What is read so a second time is indexed.
    fn in_vain(
        &mut self,
        cx: &mut Cx<'_, '_>,
        to: usize,
        edge: Edge,
    ) -> Result<Option<Done>, Wait> {
        let from = self.elems.last().map_or(to, |elem| elem.content);
        if from < cx.look.read_in_vain && from >= cx.w.base && !cx.look.index.spans(from, to) {
            cx.look.index = Index::build(cx, from, (to, edge), None)?;
        }
        cx.look.read_in_vain = to.max(cx.look.read_in_vain);
        self.reject_text(cx);
        Ok(None)
    }

    /// A strict value that does not fit: the object around it is none.
    fn reject_text(&mut self, cx: &mut Cx<'_, '_>) {
        let sent = self.elems.pop().is_some_and(|e| e.sent);
        if let Some(parent) = self.elems.last_mut() {
            parent.sent |= sent;
        }
        self.no_fit(cx);
    }

    /// Reads on from token to token.
    fn scan(&mut self, cx: &mut Cx<'_, '_>, elem: &mut Elem, strict: bool) -> Result<Flowed, Wait> {
        let Elem { own, parent, mode: Mode::Text(text), .. } = elem else { return Ok(Flowed::On) };
        loop {
            if text.cdata.is_some() {
                match run_cdata(cx, text, own, parent)? {
                    Some(ended) => self.cdata_ended(&ended),
                    None => text.at = cx.w.end(),
                }
                if self.rewinds > cx.opts.limits.max_retries {
                    cx.cut = true;
                }
                continue;
            }
            let Some(i) = memchr::memchr(b'<', cx.w.from(text.at)) else {
                text.at = cx.w.end();
                return if cx.w.eof { Ok(self.text_at_end(cx, text, strict)) } else { Err(MORE) };
            };
            text.at += i;
            let p = text.at;
            if let Some(stop) = self.bare_end.filter(|&b| p >= b) {
                return Ok(Flowed::Stop(stop));
            }
            if text.own == 1
                && text.bal == 0
                && let Some(flowed) = self.look_up(cx, text, own, parent, p)
            {
                return Ok(flowed);
            }
            #[cfg(test)]
            crate::steps::count();
            match lex::need(cx.w, p + 1)? {
                Some(b'!') if lex::marker(cx.w, p)? => {
                    text.cdata = Some(Box::new(Cdata::new(p)));
                    text.cdata_turn = Turn::default();
                    continue;
                }
                Some(b) if b < 0x80 && b != b'/' && b != b'_' && !b.is_ascii_alphabetic() => {
                    text.at = p + 1;
                    continue;
                }
                _ => {}
            }
            let flowed = match lex::tag(cx.w, p)? {
                Tag::Close(c) => self.close_in_text(
                    cx,
                    text,
                    own,
                    parent,
                    p,
                    c.end,
                    strict,
                    c.name,
                    c.is_tool(),
                )?,
                Tag::Open(t) => {
                    open_in_text(cx, text, own, &t)?;
                    Flowed::On
                }
                Tag::Cut | Tag::None => {
                    text.at = p + 1;
                    Flowed::On
                }
            };
            if !matches!(flowed, Flowed::On) {
                return Ok(flowed);
            }
        }
    }

    /// What the index says of a value that has come to `p` with nothing open in it.
    fn look_up(
        &self,
        cx: &mut Cx<'_, '_>,
        text: &mut Text,
        own: &str,
        parent: &Parent,
        p: usize,
    ) -> Option<Flowed> {
        let outer = self.elems.first().map(|elem| (elem.own.as_str(), &elem.parent));
        let index = &mut cx.look.index;
        let stale = self.bare_end.is_some_and(|stop| index.to() != stop);
        if p >= index.to() || stale || !index.covers(cx.w, own, p) {
            return None;
        }
        #[cfg(test)]
        crate::steps::count();
        Some(match index.fate(Asked { own, parent, outer }, p)? {
            Fate::Closed(to, end) => {
                text.sections.extend(index.sections(p, to));
                Flowed::End(to, end)
            }
            Fate::Stopped { stop, structural, own } => {
                match index.spans(text.from, stop) {
                    true => text.looked_up = Some(p),
                    false => text.sections.extend(index.sections(p, stop)),
                }
                text.last_structural = structural.or(text.last_structural);
                text.last_own = own.or(text.last_own);
                Flowed::Stop(stop)
            }
            Fate::NoFit => Flowed::NoFit,
        })
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "the parts of one element, borrowed apart from the block"
    )]
    fn close_in_text(
        &mut self,
        cx: &mut Cx<'_, '_>,
        text: &mut Text,
        own: &str,
        parent: &Parent,
        p: usize,
        end: usize,
        strict: bool,
        name: &str,
        is_tool: bool,
    ) -> Result<Flowed, Wait> {
        if let Some(tail) = tail(cx.w, name, end)? {
            if text.bal == 0 {
                return Ok(Flowed::Stop(p));
            }
            text.bal -= 1;
            text.at = tail;
            return Ok(Flowed::On);
        }
        if name.eq_ignore_ascii_case(own) {
            let structural = cx.look.structural(cx.w, end, own, parent)? != Strength::No;
            text.own -= 1;
            if text.own == 0 && structural {
                return Ok(Flowed::End(p, end));
            }
            text.own = text.own.max(1);
            text.last_own = Some((p, end));
            if structural {
                text.last_structural = Some((p, end));
            }
            text.at = end;
            return Ok(Flowed::On);
        }
        if strict
            && text.bal == 0
            && let Some(outer) = self.elems.first()
            && name.eq_ignore_ascii_case(&outer.own)
        {
            if cx.look.structural(cx.w, end, &outer.own, &outer.parent)? != Strength::No {
                return Ok(Flowed::Barrier(end));
            }
        } else if is_tool {
            if text.bal > 0 {
                text.bal -= 1;
            } else if text.bare_end.is_none() && self.bare_end.is_none() {
                let (q, next) = cx.w.after_blanks(end)?;
                let bare =
                    next.is_none() || next == Some(b'<') && cx.look.opener(cx.w, q)?.is_some();
                let (last_structural, last_own) = (text.last_structural, text.last_own);
                text.bare_end = bare.then_some(BareEnd { at: p, last_structural, last_own });
            }
        }
        text.at = end;
        Ok(Flowed::On)
    }

    /// The end of input in a text.
    fn text_at_end(&mut self, cx: &mut Cx<'_, '_>, text: &mut Text, strict: bool) -> Flowed {
        if strict {
            return Flowed::Stop(usize::MAX);
        }
        if let (Some(bare), false) = (text.bare_end, cx.cut) {
            (text.last_structural, text.last_own) = (bare.last_structural, bare.last_own);
            self.bare_end.get_or_insert(bare.at);
        }
        match self.bare_end {
            Some(stop) if !cx.cut => {
                self.at_eof = true;
                Flowed::Stop(stop)
            }
            _ => Flowed::Stop(usize::MAX),
        }
    }

    /// The value is the text up to `to`; reading goes on at `end`.
    pub(super) fn finish_text(
        &mut self,
        cx: &mut Cx<'_, '_>,
        to: usize,
        end: usize,
    ) -> Result<Option<Done>, Wait> {
        let whole = !self.over(cx, to);
        let call = self.call();
        let Some(Elem { content, mode: Mode::Text(text), path, sent, .. }) = self.elems.last_mut()
        else {
            return Ok(None);
        };
        let (from, content, path) = (text.from, *content, path.clone());
        let sections: Vec<Section> =
            text.sections.iter().filter(|s| s.end <= to).map(|s| relative(s, from)).collect();
        let reports = std::mem::take(&mut text.reports);
        let flow = std::mem::take(&mut text.flow);
        let (value, notes) =
            if whole { value::value(cx.w.str(from, to), &sections) } else { Default::default() };
        if cx.queue.on() && whole {
            *sent |= send_rest(cx, call, &path, &flow, &value);
        }
        self.value_notes(notes, content, to);
        for (start, stop, code) in reports {
            if stop <= to {
                self.note(code, start, stop);
            }
        }
        self.finish_elem(cx, Json::String(value), to, end)
    }
}

fn run_cdata(
    cx: &mut Cx<'_, '_>,
    text: &mut Text,
    own: &str,
    parent: &Parent,
) -> Result<Option<Ended>, Wait> {
    if !text.cdata_turn.comes(cx.w) {
        return Err(MORE);
    }
    let Some(mut cdata) = text.cdata.take() else { return Ok(None) };
    match cdata.run(cx, Holder { own, parent }) {
        Err(wait) => {
            text.cdata = Some(cdata);
            Err(text.cdata_turn.put_off(cx.w, wait))
        }
        Ok(None) => {
            text.sections.push(Section {
                start: cdata.start,
                from: cdata.from,
                to: cx.w.end(),
                end: cx.w.end(),
            });
            Ok(None)
        }
        Ok(Some(ended)) => {
            let s = ended.section;
            text.sections.push(s);
            text.at = s.end;
            text.reports.extend(ended.codes().map(|code| (s.start, s.end, code)));
            Ok(Some(ended))
        }
    }
}

fn open_in_text(
    cx: &mut Cx<'_, '_>,
    text: &mut Text,
    own: &str,
    t: &OpenTag<'_>,
) -> Result<(), Wait> {
    if t.is_tool() && cx.look.opener(cx.w, t.start)?.is_some() {
        text.bal += 1;
    } else if t.is(own) && !t.self_closing {
        text.own += 1;
    }
    if text.named_param.is_none() && t.named_param() {
        text.named_param = Some(t.start);
    }
    text.at = t.end;
    Ok(())
}

/// The end of a tail whose ARGS close tag, `name`, ends at `end`.
pub(super) fn tail(w: &Win<'_>, name: &str, end: usize) -> Result<Option<usize>, Wait> {
    if !Parent::Args.closed_by(name) {
        return Ok(None);
    }
    let (q, next) = w.after_blanks(end)?;
    if next != Some(b'<') {
        return Ok(None);
    }
    match lex::tag(w, q)? {
        Tag::Close(c) if c.is_tool() => Ok(Some(c.end)),
        _ => Ok(None),
    }
}
