//! Decides whether a `<tool>` in text begins a block (XT-9). It looks ahead a bounded distance and keeps no state.

use crate::input::{Incomplete, Input, MORE, Need, is_blank, is_name_byte};
use crate::lex;
use crate::lex::{ARGS, NAME, OpenTag, SERVER, Tag};

/// Longest `<tool …>` that counts.
pub(crate) const OPENER_MAX: usize = 512;
/// Misc between opener and content.
const MISC_MAX: usize = 4096;
/// Prose between opener and the name.
const PROSE_MAX: usize = 256;
/// Longest name element after prose.
const PROSE_ELEMENT_MAX: usize = 512;
/// Longest declaration.
const DOCTYPE_MAX: usize = if cfg!(test) { 256 } else { 4096 };
/// So much after its `<` says whether an opener is real.
pub(crate) const OPENER_REACH: usize =
    OPENER_MAX + MISC_MAX + OPENER_MAX + PROSE_MAX + PROSE_ELEMENT_MAX + 1;
const DOCTYPE: &str = "<!DOCTYPE";

/// A part of misc that is not a blank: its end, and whether it is a declaration.
pub(crate) type Part = Option<(usize, bool)>;

/// XT-9: one past the opener's `>`, if a real one is at `pos` (a `<`).
pub(crate) fn opener(w: &Input<'_>, pos: usize) -> Result<Option<usize>, Incomplete> {
    if !matches!(w.at(pos + 1), Some(b't' | b'T') | None)
        || !w.word(pos, "<tool")? && !w.cut_word(pos, "<tool")
        || w.at(pos + "<tool".len()).is_some_and(is_name_byte)
    {
        return Ok(None);
    }
    let Some(Tag::Open(open)) = w.near(pos + OPENER_MAX, |w| lex::tag(w, pos))? else {
        return Ok(None);
    };
    if !open.is_tool() || open.self_closing {
        return Ok(None);
    }
    let Some(p) = misc_near(w, open.end)? else { return Ok(None) };
    let real = match lex::need(w, p)? {
        None | Some(b'{') => true,
        Some(b'<') => child(w, &open, p)?,
        Some(b'[') if w.after_blanks(p + 1)?.1 == Some(b'{') => true,
        Some(b'`') => json_fence(w, p)?.is_some(),
        Some(_) => prose(w, p)?,
    };
    Ok(real.then_some(open.end))
}

/// Where the misc at `pos` ends, if that is within 4096 bytes.
pub(crate) fn misc_near(w: &Input<'_>, pos: usize) -> Result<Option<usize>, Incomplete> {
    let limit = pos + MISC_MAX;
    Ok(w.near(limit + 1, |w| misc(w, pos, Input::find_text))?.filter(|p| *p <= limit))
}

/// Where misc ends; `find` looks for terminators.
pub(crate) fn misc<'a>(
    w: &Input<'a>,
    pos: usize,
    mut find: impl FnMut(&Input<'a>, &'static str, usize) -> Option<usize>,
) -> Result<usize, Incomplete> {
    let mut p = pos;
    loop {
        p = w.skip_blanks(p);
        match part(w, p, &mut find)? {
            Some((end, _)) => p = end,
            None => return Ok(p),
        }
    }
}

/// The comment, instruction or declaration at `p`.
pub(crate) fn part<'a>(
    w: &Input<'a>,
    p: usize,
    mut find: impl FnMut(&Input<'a>, &'static str, usize) -> Option<usize>,
) -> Result<Part, Incomplete> {
    match w.at(p) {
        None if !w.eof => return Err(Incomplete::on(Need::NonBlank)),
        Some(b'<') => {}
        _ => return Ok(None),
    }
    let mut closed = |needle: &'static str, from| match find(w, needle, from) {
        Some(at) => Ok(Some((at + needle.len(), false))),
        None if w.eof => Ok(None),
        None => Err(Incomplete::on(Need::Byte(b'>'))),
    };
    match lex::need(w, p + 1)? {
        Some(b'?') => closed("?>", p + 2),
        Some(b'!') if w.word(p, "<!--")? => closed("-->", p + 4),
        Some(b'!') if w.word(p, DOCTYPE)? => Ok(doctype_end(w, p)?.map(|end| (end, true))),
        _ => Ok(None),
    }
}

/// The end of the declaration at `p`: the first `>` outside of its brackets, if it is near.
fn doctype_end(w: &Input<'_>, p: usize) -> Result<Option<usize>, Incomplete> {
    let rest = w.from(p);
    let rest = &rest[..rest.len().min(DOCTYPE_MAX)];
    let mut depth = 0_usize;
    for (i, b) in rest.iter().enumerate() {
        match b {
            b'[' => depth += 1,
            b']' => depth = depth.saturating_sub(1),
            b'>' if depth == 0 => return Ok(Some(p + i + 1)),
            _ => {}
        }
    }
    match w.eof || rest.len() == DOCTYPE_MAX {
        true => Ok(None),
        false => Err(Incomplete::on(Need::Byte(b'>')).by(p + DOCTYPE_MAX)),
    }
}

/// The children that make an opener real.
fn child(w: &Input<'_>, open: &OpenTag<'_>, p: usize) -> Result<bool, Incomplete> {
    Ok(match lex::tag(w, p)? {
        Tag::Close(c) => c.is_tool(),
        Tag::Open(t) => lex::is_envelope(t.name) || lex::attribute(open.attrs, &NAME).is_some(),
        Tag::Cut => cut_envelope(w.str(p + 1, w.end())),
        Tag::None => false,
    })
}

/// An envelope open tag that the end of input cut, shorter than 16 bytes with its `<`.
fn cut_envelope(rest: &str) -> bool {
    if rest.len() + 1 >= 16 {
        return false;
    }
    let words = lex::NAME.iter().chain(&lex::SERVER).chain(&ARGS);
    words.into_iter().any(|word| {
        let n = rest.len().min(word.len());
        let same = rest.as_bytes()[..n].eq_ignore_ascii_case(&word.as_bytes()[..n]);
        same && rest.as_bytes().get(word.len()).is_none_or(|&b| is_blank(b) || b == b'/')
    })
}

/// Three backticks, a word, blanks and a JSON start: the position of the latter.
pub(crate) fn json_fence(w: &Input<'_>, p: usize) -> Result<Option<usize>, Incomplete> {
    if !w.word(p, "```")? {
        return Ok(None);
    }
    let rest = w.from(p + 3);
    let n =
        rest.iter().position(|b| !b.is_ascii_alphanumeric() && !matches!(b, b'_' | b'-' | b'+'));
    let Some(n) = n else {
        return if w.eof { Ok(None) } else { Err(MORE) };
    };
    let (q, b) = w.after_blanks(p + 3 + n)?;
    Ok(matches!(b, Some(b'{' | b'[')).then_some(q))
}

/// At most 256 bytes of prose and then a complete, bare name element.
fn prose(w: &Input<'_>, p: usize) -> Result<bool, Incomplete> {
    let rest = w.from(p);
    let seen = &rest[..rest.len().min(PROSE_MAX + 1)];
    let Some(n) = seen.iter().position(|b| matches!(b, b'<' | b'>' | b'`')) else {
        let decided = w.eof || seen.len() > PROSE_MAX;
        return if decided { Ok(false) } else { Err(MORE) };
    };
    match seen[n] {
        b'<' => Ok(w.near(p + n + PROSE_ELEMENT_MAX, |w| name_element(w, p + n))?.unwrap_or(false)),
        _ => Ok(false),
    }
}

/// Whether a bare element at `p` names a tool or a server.
fn name_element(w: &Input<'_>, p: usize) -> Result<bool, Incomplete> {
    let Tag::Open(open) = lex::tag(w, p)? else { return Ok(false) };
    let plain = open.bare() && !open.self_closing && !open.prefixed;
    if !plain || !lex::is_word(open.name, &[NAME[0], SERVER[0]]) {
        return Ok(false);
    }
    let Some(lt) = w.find(b'<', open.end) else {
        return if w.eof { Ok(false) } else { Err(Incomplete::on(Need::Byte(b'<'))) };
    };
    let closed = matches!(lex::tag(w, lt)?, Tag::Close(close) if close.is(open.name));
    Ok(closed && lex::valid_tool_name(lex::trim(w.str(open.end, lt))))
}
