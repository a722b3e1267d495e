//! Lookahead of unbounded length: misc, real openers (XT-9) and structural close tags (XT-22).
//! Every question remembers how far it has read, so that a retry with more bytes goes on from there and a
//! run of close tags is read once, not once a tag.

use crate::block::Index;
use crate::dialect::Known;
use crate::lex::{self, ARGS, CloseTag, NAME, OpenTag, Tag};
use crate::window::{MORE, Wait, Wake, Win, is_blank, is_name_byte};

/// Longest `<tool …>` that counts.
pub(crate) const OPENER_MAX: usize = 512;
/// Misc between opener and content.
const MISC_MAX: usize = 4096;
/// Prose between opener and the name.
const PROSE_MAX: usize = 256;
/// Longest name element after prose.
const PROSE_ELEMENT_MAX: usize = 512;
/// Longest tag that the end of input may cut and that still counts.
const CUT_TAG_MAX: usize = 80;

/// What closes the element around the one that is asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Parent {
    /// Any ARGS word.
    Args,
    /// `</tool>`.
    Tool,
    /// An element of this name.
    Name(String),
}

impl Parent {
    pub(crate) fn closed_by(&self, name: &str) -> bool {
        match self {
            Parent::Args => lex::is_word(name, &ARGS),
            Parent::Tool => name.eq_ignore_ascii_case("tool"),
            Parent::Name(own) => own.eq_ignore_ascii_case(name),
        }
    }
}

/// How surely a close tag is structure and not text (XT-22).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strength {
    No,
    Weak,
    Strong,
}

/// What follows a close tag.
pub(crate) enum After<'a> {
    /// No close tag: its strength.
    Known(Strength),
    /// A close tag, whose strength depends on names, and where it stands.
    Close(CloseTag<'a>, usize),
}

/// A real `<tool>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Opener {
    /// After the `>`.
    pub(crate) end: usize,
}

/// The next place of a fixed text, for positions that only grow.
#[derive(Debug, Default)]
struct Next {
    from: usize,
    scanned: usize,
    found: Option<usize>,
}

impl Next {
    fn find(&mut self, w: &Win<'_>, needle: &[u8], pos: usize) -> Option<usize> {
        let known =
            self.from <= pos && (pos <= self.scanned || self.found.is_some_and(|f| pos <= f));
        if !known {
            *self = Next { from: pos, scanned: pos, found: None };
        }
        if let Some(f) = self.found {
            if pos <= f {
                return Some(f);
            }
            *self = Next { from: pos, scanned: pos, found: None };
        }
        let start = self.scanned.max(pos);
        match memchr::memmem::find(w.from(start), needle) {
            Some(i) => self.found = Some(start + i),
            None => self.scanned = w.end().saturating_sub(needle.len() - 1).max(start),
        }
        self.found
    }
}

#[derive(Debug, Default)]
struct MiscMemo {
    start: usize,
    at: usize,
    doctypes: Vec<(usize, usize)>,
}

#[derive(Debug, Default)]
struct Run {
    own: String,
    parent: Option<Parent>,
    /// Where a question about this run may begin: after each of its close tags.
    starts: Vec<usize>,
    at: usize,
    result: Option<Strength>,
}

/// The memory of all lookahead over one text.
#[derive(Debug, Default)]
pub(crate) struct Look {
    comment: Next,
    instruction: Next,
    section: Next,
    misc: MiscMemo,
    doctypes: Doctype,
    opener: Option<(usize, Option<Opener>)>,
    run: Run,
    /// The name that is looked at before a block begins, and how far it goes at least.
    pub(crate) name: (usize, usize),
    /// Where values of dialects end.
    pub(crate) values: Known,
    /// Where values of native blocks end that stand where others were read in vain.
    pub(crate) index: Index,
    /// How far parts of objects were read that turned out to be none.
    pub(crate) read_in_vain: usize,
}

#[derive(Debug, Default)]
struct Doctype {
    start: usize,
    at: usize,
    depth: usize,
    /// Bytes of declarations that the end of input left open; a hostile text of openings costs no more than a few passes.
    wasted: usize,
}

/// One step of misc.
enum Misc {
    To(usize),
    Doctype(usize),
    End,
}

impl Look {
    fn misc_step(&mut self, w: &Win<'_>, p: usize) -> Result<Misc, Wait> {
        match w.at(p) {
            None if w.eof => return Ok(Misc::End),
            None => return Err(Wait::on(Wake::NonBlank)),
            Some(b) if is_blank(b) => return Ok(Misc::To(w.skip_blanks(p))),
            Some(b'<') => {}
            Some(_) => return Ok(Misc::End),
        }
        match lex::need(w, p + 1)? {
            Some(b'!') => {}
            Some(b'?') => {
                return match self.instruction.find(w, b"?>", p + 2) {
                    Some(e) => Ok(Misc::To(e + 2)),
                    None if w.eof => Ok(Misc::End),
                    None => Err(Wait::on(Wake::Byte(b'>'))),
                };
            }
            _ => return Ok(Misc::End),
        }
        if w.word(p, "<!--")? {
            return match self.comment.find(w, b"-->", p + 4) {
                Some(e) => Ok(Misc::To(e + 3)),
                None if w.eof => Ok(Misc::End),
                None => Err(Wait::on(Wake::Byte(b'>'))),
            };
        }
        if w.word(p, "<!DOCTYPE")? {
            return self.doctype(w, p);
        }
        Ok(Misc::End)
    }

    fn doctype(&mut self, w: &Win<'_>, p: usize) -> Result<Misc, Wait> {
        let d = &mut self.doctypes;
        if d.start != p || d.at == 0 {
            (d.start, d.at, d.depth) = (p, p + 9, 0);
        }
        if w.eof && d.wasted > 8 * (w.text.len() + 4096) {
            return Ok(Misc::End);
        }
        while let Some(i) = memchr::memchr3(b'[', b']', b'>', w.from(d.at)) {
            let at = d.at + i;
            d.at = at + 1;
            match w.at(at) {
                Some(b'[') => d.depth += 1,
                Some(b']') => d.depth = d.depth.saturating_sub(1),
                _ if d.depth == 0 => {
                    (d.start, d.at) = (0, 0);
                    return Ok(Misc::Doctype(at + 1));
                }
                _ => {}
            }
        }
        d.at = w.end();
        if w.eof {
            d.wasted += w.end() - p;
            (d.start, d.at) = (0, 0);
            return Ok(Misc::End);
        }
        Err(Wait::on(Wake::Either(b'>', b']')))
    }

    /// Skips misc from `pos`; stops at anything else or at the end of input.
    pub(crate) fn misc(&mut self, w: &Win<'_>, pos: usize) -> Result<usize, Wait> {
        if self.misc.start != pos || self.misc.at < pos {
            (self.misc.start, self.misc.at) = (pos, pos);
            self.misc.doctypes.clear();
        }
        if let Some(p) = w.blank_misc(self.misc.at) {
            self.misc.at = p;
            return Ok(p);
        }
        loop {
            let p = self.misc.at;
            match self.misc_step(w, p)? {
                Misc::To(q) => self.misc.at = q,
                Misc::Doctype(q) => {
                    self.misc.doctypes.push((p, q));
                    self.misc.at = q;
                }
                Misc::End => return Ok(p),
            }
        }
    }

    /// The declarations in the misc that was skipped last.
    pub(crate) fn doctypes(&self) -> &[(usize, usize)] {
        &self.misc.doctypes
    }

    /// The end of the comment that begins at `pos`; `None` if the input ends in it.
    pub(crate) fn comment_end(&mut self, w: &Win<'_>, pos: usize) -> Result<Option<usize>, Wait> {
        ended(w, self.comment.find(w, b"-->", pos + "<!--".len()))
    }

    /// The end of the section whose content begins at `from`, by its first terminator.
    pub(crate) fn section_end(&mut self, w: &Win<'_>, from: usize) -> Result<Option<usize>, Wait> {
        ended(w, self.section.find(w, b"]]>", from))
    }

    /// XT-9: whether a real opener stands at `pos` (a `<`).
    pub(crate) fn opener(&mut self, w: &Win<'_>, pos: usize) -> Result<Option<Opener>, Wait> {
        if let Some((p, known)) = self.opener
            && p == pos
        {
            return Ok(known);
        }
        if !matches!(w.at(pos + 1), Some(b't' | b'T') | None)
            || !w.word(pos, "<tool")? && !w.cut_word(pos, "<tool")
            || w.at(pos + "<tool".len()).is_some_and(is_name_byte)
        {
            return Ok(None);
        }
        let res = self.opener_at(w, pos)?;
        self.opener = Some((pos, res));
        Ok(res)
    }

    fn opener_at(&mut self, w: &Win<'_>, pos: usize) -> Result<Option<Opener>, Wait> {
        let open = match lex::tag(w, pos) {
            Ok(Tag::Open(t)) if t.is_tool() && !t.self_closing && t.end - pos <= OPENER_MAX => t,
            Ok(_) => return Ok(None),
            Err(_) if w.end() - pos >= OPENER_MAX => return Ok(None),
            Err(wait) => return Err(wait.by(pos + OPENER_MAX)),
        };
        let limit = open.end + MISC_MAX;
        let near = w.upto(limit + 1);
        let p = match self.misc(&near, open.end) {
            Ok(p) if p <= limit => p,
            Ok(_) => return Ok(None),
            Err(_) if w.end() > limit => return Ok(None),
            Err(wait) => return Err(wait.by(limit + 1)),
        };
        let real = match lex::need(w, p)? {
            None | Some(b'{') => true,
            Some(b'<') => child(w, &open, p)?,
            Some(b'[') if w.after_blanks(p + 1)?.1 == Some(b'{') => true,
            Some(b'`') => json_fence(w, p)?.is_some(),
            Some(_) => prose(w, p)?,
        };
        Ok(real.then_some(Opener { end: open.end }))
    }

    /// XT-22: what follows a close tag of `own` that ends at `pos`.
    pub(crate) fn structural(
        &mut self,
        w: &Win<'_>,
        pos: usize,
        own: &str,
        parent: &Parent,
    ) -> Result<Strength, Wait> {
        let run = &mut self.run;
        let same = run.own == own
            && run.parent.as_ref() == Some(parent)
            && run.starts.binary_search(&pos).is_ok();
        if !same {
            run.own.clear();
            run.own.push_str(own);
            run.parent = Some(parent.clone());
            run.starts.clear();
            run.starts.push(pos);
            run.at = pos;
            run.result = None;
        }
        if let Some(known) = self.run.result {
            return Ok(known);
        }
        let res = loop {
            match self.after_close(w, self.run.at)? {
                After::Known(strength) => break strength,
                After::Close(c, _) if c.is_tool() || parent.closed_by(c.name) => {
                    break Strength::Strong;
                }
                After::Close(c, _) if c.is(own) => {
                    self.run.at = c.end;
                    self.run.starts.push(c.end);
                }
                After::Close(..) => break Strength::No,
            }
        };
        self.run.result = Some(res);
        Ok(res)
    }

    /// What follows a close tag that ends at `pos`, after misc.
    pub(crate) fn after_close<'w>(&mut self, w: &Win<'w>, pos: usize) -> Result<After<'w>, Wait> {
        let p = self.misc(w, pos)?;
        match lex::need(w, p)? {
            None => return Ok(After::Known(Strength::Strong)),
            Some(b'<') => {}
            Some(_) => return Ok(After::Known(Strength::No)),
        }
        Ok(After::Known(match lex::tag(w, p)? {
            Tag::Close(c) => return Ok(After::Close(c, p)),
            Tag::None => Strength::No,
            Tag::Open(t) if t.bare() || t.named_param() => Strength::Weak,
            Tag::Open(_) if self.opener(w, p)?.is_some() => Strength::Weak,
            Tag::Open(_) => Strength::No,
            Tag::Cut if w.end() - p <= CUT_TAG_MAX => Strength::Weak,
            Tag::Cut => Strength::No,
        }))
    }
}

/// One past a terminator of three bytes, which only a `>` can complete.
fn ended(w: &Win<'_>, found: Option<usize>) -> Result<Option<usize>, Wait> {
    match found {
        Some(at) => Ok(Some(at + 3)),
        None if w.eof => Ok(None),
        None => Err(Wait::on(Wake::Byte(b'>'))),
    }
}

/// The children that make an opener real.
fn child(w: &Win<'_>, open: &OpenTag<'_>, p: usize) -> Result<bool, Wait> {
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
pub(crate) fn json_fence(w: &Win<'_>, p: usize) -> Result<Option<usize>, Wait> {
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
fn prose(w: &Win<'_>, p: usize) -> Result<bool, Wait> {
    let rest = w.from(p);
    let seen = &rest[..rest.len().min(PROSE_MAX + 1)];
    let Some(n) = seen.iter().position(|b| matches!(b, b'<' | b'>' | b'`')) else {
        let decided = w.eof || seen.len() > PROSE_MAX;
        return if decided { Ok(false) } else { Err(MORE) };
    };
    if seen[n] != b'<' {
        return Ok(false);
    }
    let start = p + n;
    let word = match bounded(w, start, start)? {
        Some((_, Some((name, true)))) if name.eq_ignore_ascii_case("tool_name") => "tool_name",
        Some((_, Some((name, true)))) if name.eq_ignore_ascii_case("server_name") => "server_name",
        _ => return Ok(false),
    };
    let Ok(Tag::Open(open)) = lex::tag(w, start) else { return Ok(false) };
    let Some(lt) = w.find(b'<', open.end) else {
        let decided = w.eof || w.end() - start > PROSE_ELEMENT_MAX;
        return if decided {
            Ok(false)
        } else {
            Err(Wait::on(Wake::Byte(b'<')).by(start + PROSE_ELEMENT_MAX + 1))
        };
    };
    let Some((end, Some((name, false)))) = bounded(w, lt, start)? else { return Ok(false) };
    let content = lex::trim(w.str(open.end, lt));
    Ok(name.eq_ignore_ascii_case(word)
        && end - start <= PROSE_ELEMENT_MAX
        && lex::valid_tool_name(content))
}

/// The end of a tag, and its name with whether it is a bare open tag.
type Bounded<'a> = (usize, Option<(&'a str, bool)>);

/// End and name of the tag at `at`, if the element that began at `start` does not grow too long for it.
fn bounded<'a>(w: &Win<'a>, at: usize, start: usize) -> Result<Option<Bounded<'a>>, Wait> {
    match lex::tag(w, at) {
        Err(_) if w.end() - start > PROSE_ELEMENT_MAX => Ok(None),
        Err(wait) => Err(wait.by(start + PROSE_ELEMENT_MAX + 1)),
        Ok(tag) => Ok(Some((tag_end(&tag), tag_name(&tag)))),
    }
}

fn tag_end(tag: &Tag<'_>) -> usize {
    match tag {
        Tag::Open(t) => t.end,
        Tag::Close(c) => c.end,
        Tag::Cut | Tag::None => 0,
    }
}

/// Name and whether it is a bare open tag.
fn tag_name<'a>(tag: &Tag<'a>) -> Option<(&'a str, bool)> {
    match tag {
        Tag::Open(t) if t.bare() && !t.self_closing && !t.prefixed => Some((t.name, true)),
        Tag::Close(c) => Some((c.name, false)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Look, MISC_MAX, Win};

    #[test]
    fn an_opener_looks_no_further_than_its_misc_may_reach() {
        let text = format!("<tool><!DOCTYPE [{}", "é".repeat(10_000));
        let mut look = Look::default();
        let w = Win { text: &text, base: 0, eof: false };
        assert_eq!(look.opener(&w, 0), Ok(None));
        assert!(look.doctypes.at <= MISC_MAX + 16, "looked as far as {}", look.doctypes.at);
    }
}
