//! What is different between the blocks that are stored until their end has come: the native one, JSON in the tags of a
//! dialect (XT-34, XT-35, XT-40), and the element of a tool (XT-38). What they have in common is `extent`.

use super::draft::Done;
use super::extent::{Mark, Marks};
use super::grammar::{self, Head};
use super::opener::{OPENER_REACH, opener};
use super::tagged_json::JsonTags;
use super::tokens::Pending;
use super::tool_element;
use crate::input::{Incomplete, Input};
use crate::lex::{self, ARGS, Tag};
use crate::options::Options;
use crate::shape::{close_any, open_any};

/// The form of a block.
#[derive(Debug)]
pub(crate) enum Form {
    Native,
    Json(JsonTags),
    /// The element of this tool.
    Element(String),
}

impl Form {
    /// The block as far as the window shows it, and what that has cost, in readings of the window; `close` is the end of
    /// a close tag that balances its opener.
    #[inline]
    pub(super) fn read(
        &self,
        w: Input<'_>,
        head: Head,
        close: Option<usize>,
        opts: &Options,
        cut: bool,
    ) -> (Result<Done, Pending>, usize) {
        match self {
            Form::Native => grammar::read(w, head, opts, cut),
            Form::Json(tags) => (tags.read(w, head, opts, cut), 1),
            Form::Element(tool) => (tool_element::read(tool, w, head, close, opts), 1),
        }
    }

    /// One past the close tag at the `<` at `p`.
    pub(super) fn close_tag(&self, w: &Input<'_>, p: usize) -> Result<Option<usize>, Incomplete> {
        if let Form::Json(tags) = self {
            return close_any(&tags.shapes, w, p);
        }
        let Tag::Close(c) = lex::tag(w, p)? else { return Ok(None) };
        let is_own = match self {
            Form::Element(tool) => c.name == tool,
            _ => c.is_tool(),
        };
        Ok(is_own.then_some(c.end))
    }
}

impl Marks for Form {
    #[inline]
    fn mark(&self, w: &Input<'_>, p: usize) -> Option<Mark> {
        match self {
            Form::Native => native_mark(w, p),
            Form::Json(tags) => Some(match close_any(&tags.shapes, w, p).ok()? {
                Some(end) => Mark::Close(end),
                // The next block shows that this one is over.
                None => {
                    open_any(&tags.shapes, w, p).ok()?.map_or(Mark::Other, |it| Mark::Close(it.end))
                }
            }),
            Form::Element(_) if lex::marker(w, p).ok()? => Some(Mark::Section),
            Form::Element(tool) => Some(match lex::tag(w, p).ok()? {
                Tag::Open(t) if t.name == tool && !t.self_closing => Mark::Opener(t.end),
                Tag::Close(c) if c.name == tool => Mark::Close(c.end),
                _ => Mark::Other,
            }),
        }
    }

    fn is_exact(&self) -> bool {
        matches!(self, Form::Element(_))
    }
}

#[inline]
fn native_mark(w: &Input<'_>, p: usize) -> Option<Mark> {
    let close = usize::from(w.at(p + 1) == Some(b'/'));
    // Most tags differ in their first letter.
    match w.at(p + 1 + close).map(|b| b.to_ascii_lowercase()) {
        None => return None,
        Some(b'!') => {
            return Some(if lex::marker(w, p).ok()? { Mark::Section } else { Mark::Other });
        }
        Some(b't' | b'a' | b'p' | b'i') => {}
        Some(_) => return Some(Mark::Other),
    }
    let rest = w.str(p + 1 + close, w.end());
    let len = lex::name_len(rest);
    let next = *rest.as_bytes().get(len)?;
    match &rest[..len] {
        name if lex::same(name, "tool") => tool_mark(w, p),
        name if (close == 1 || next == b'/') && lex::is_word(name, &ARGS) => {
            Some(Mark::Args(p + 1 + close + len))
        }
        _ => Some(Mark::Other),
    }
}

/// How far a reading must go to know that an opener stands at `p`: as a rule to what follows it and no further, so that
/// openers one after another are not each read with thousands of bytes behind them.
fn decided(w: &Input<'_>, p: usize) -> usize {
    const NEAR: [usize; 2] = if cfg!(test) { [32, 128] } else { [128, 1024] };
    let is_enough = |it: &usize| matches!(opener(&w.upto(p + it), p), Ok(Some(_)));
    let reach = NEAR.into_iter().find(is_enough).unwrap_or(OPENER_REACH);
    w.end().min(p + reach)
}

/// `</tool`, or `<tool`, at `p`.
fn tool_mark(w: &Input<'_>, p: usize) -> Option<Mark> {
    Some(match lex::tag(w, p).ok()? {
        Tag::Close(c) if c.is_tool() => Mark::Close(c.end),
        Tag::Open(t) if t.is_tool() => match opener(w, p).ok()? {
            Some(_) => Mark::Opener(decided(w, p)),
            None => Mark::Other,
        },
        _ => Mark::Other,
    })
}
