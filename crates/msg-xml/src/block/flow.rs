//! What of a text value can be sent before its end is known (XT-42), and the rest once it is. Where the value ends is
//! `text`.

use super::element::{Elem, Mode};
use super::text::Text;
use super::{Block, Cx, State};
use crate::event::ArgPath;
use crate::lane::{Kind, Lane};
use crate::lex;
use crate::options::Options;
use crate::value;
use crate::window::{Turn, Win, is_blank};

/// What has been sent of a value.
#[derive(Debug, Default)]
pub(super) struct Flow {
    state: FlowState,
    /// Blanks at the beginning end here, or later.
    lead: usize,
    /// In the source.
    sent: Ranges,
}

/// Ranges of which touching ones are joined.
#[derive(Debug, Default)]
struct Ranges(Vec<(usize, usize)>);

impl Ranges {
    fn push_joined(&mut self, (from, to): (usize, usize)) {
        match self.0.last_mut() {
            Some(last) if last.1 == from => last.1 = to,
            _ => self.0.push((from, to)),
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum FlowState {
    /// Only blanks so far.
    #[default]
    Lead,
    /// Plain text, looked through up to here.
    Plain(usize),
    /// In this section of a value of sections only; the range from here on may go.
    Section(usize, usize),
    /// The rest comes with the value.
    Held,
}

impl Text {
    /// Marker and content start of the n-th section, open or closed.
    fn section_start(&self, n: usize) -> Option<(usize, usize)> {
        match self.sections.get(n) {
            Some(s) => Some((s.start, s.from)),
            None if n == self.sections.len() => self.cdata.as_ref().map(|c| (c.start, c.from)),
            None => None,
        }
    }
}

impl Block {
    /// The lane for the bytes from `end` on, if a value is being sent there.
    pub(crate) fn lane(&self, end: usize, opts: &Options) -> Lane {
        let (State::Elem, Some(Elem { mode: Mode::Text(text), path, .. })) =
            (&self.state, self.elems.last())
        else {
            return Lane::new(Kind::Closed);
        };
        let (kind, sent) = match (text.flow.state, &text.cdata) {
            (FlowState::Section(_, sent), Some(cdata)) if sent == end && cdata.at == end => {
                (Kind::Cdata, sent)
            }
            (FlowState::Plain(sent), None) if text.at == end => (Kind::Plain, sent),
            _ => return Lane::new(Kind::Closed),
        };
        let until = self.start.saturating_add(opts.limits.max_tool_bytes);
        Lane::value(kind, self.call(), path.clone(), sent, until)
    }

    /// Moves to `end` over a value of which everything up to `to` has been sent.
    pub(crate) fn went_on(&mut self, to: usize, end: usize) {
        let Some(Elem { mode: Mode::Text(text), sent, .. }) = self.elems.last_mut() else { return };
        let Text { flow, cdata, at, .. } = &mut **text;
        let (FlowState::Section(_, from) | FlowState::Plain(from)) = &mut flow.state else {
            return;
        };
        if to > *from {
            flow.sent.push_joined((*from, to));
            *from = to;
            *sent = true;
        }
        match cdata {
            Some(cdata) => cdata.at = end,
            None => *at = end,
        }
        text.cdata_turn = Turn::default();
    }

    /// Sends what can no longer change.
    pub(super) fn send(&self, cx: &mut Cx<'_, '_>, elem: &mut Elem) {
        let call = self.call();
        let Elem { mode: Mode::Text(text), path, sent, .. } = elem else { return };
        if text.flow.state == FlowState::Held {
            return;
        }
        while let Some((from, to)) = next_piece(cx.w, text) {
            cx.queue.arg(call, path, from, to);
            *sent = true;
            text.flow.sent.push_joined((from, to));
        }
    }
}

/// The piece of the source that may be sent now.
fn next_piece(w: &Win<'_>, text: &mut Text) -> Option<(usize, usize)> {
    loop {
        match text.flow.state {
            FlowState::Held => return None,
            FlowState::Lead => {
                let p = w.skip_blanks(text.flow.lead.max(text.from));
                text.flow.lead = p;
                let rest = w.from(p);
                let placeholder = b"CDATA-START[";
                let n = rest.len().min(placeholder.len());
                text.flow.state = match rest.first() {
                    None => return None,
                    Some(b'<') if text.section_start(0).is_some_and(|(start, _)| start == p) => {
                        FlowState::Section(0, p + lex::CDATA.len())
                    }
                    Some(b'<') if rest.len() < lex::CDATA.len() => return None,
                    Some(b'<' | b'&') => FlowState::Held,
                    Some(_) if rest[..n] == placeholder[..n] => {
                        if n < placeholder.len() {
                            return None;
                        }
                        FlowState::Held
                    }
                    Some(_) => FlowState::Plain(text.from + value::block_lead(w.str(text.from, p))),
                };
            }
            FlowState::Plain(seen) => {
                let rest = w.from(seen);
                let stop = memchr::memchr2(b'<', b'&', rest);
                let piece = &rest[..stop.unwrap_or(rest.len())];
                let kept = piece.iter().rposition(|b| !is_blank(*b)).map_or(0, |i| i + 1);
                // A character is never cut: the window ends on a boundary and blanks are ASCII.
                text.flow.state =
                    if stop.is_some() { FlowState::Held } else { FlowState::Plain(seen + kept) };
                return (kept > 0).then_some((seen, seen + kept));
            }
            FlowState::Section(n, from) => {
                let closed = text.sections.get(n).copied();
                let to = match (closed, &text.cdata) {
                    (Some(s), _) => s.to,
                    (None, Some(c)) => c.content_upto(w, from),
                    (None, None) => return None,
                };
                if to > from {
                    text.flow.state = FlowState::Section(n, to);
                    return Some((from, to));
                }
                let (Some(closed), Some((start, next))) = (closed, text.section_start(n + 1))
                else {
                    return None;
                };
                if !lex::all_blank(w.str(closed.end, start)) {
                    text.flow.state = FlowState::Held;
                    return None;
                }
                text.flow.state = FlowState::Section(n + 1, next);
                if start > closed.end {
                    return Some((closed.end, start));
                }
            }
        }
    }
}

/// Sends what is missing of a value; starts again if what was sent is not its beginning.
pub(super) fn send_rest(
    cx: &mut Cx<'_, '_>,
    call: u32,
    path: &ArgPath,
    flow: &Flow,
    value: &str,
) -> bool {
    let mut rest = Some(value);
    for &(from, to) in &flow.sent.0 {
        rest = rest.and_then(|r| r.strip_prefix(cx.w.str(from, to)));
    }
    match rest {
        Some("") => !flow.sent.0.is_empty(),
        Some(rest) => {
            cx.queue.arg_text(call, path, rest);
            true
        }
        None => {
            cx.queue.reset(call, path);
            if !value.is_empty() {
                cx.queue.arg_text(call, path, value);
            }
            true
        }
    }
}
