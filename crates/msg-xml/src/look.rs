//! Lookahead of unbounded length: misc, real openers (XT-9) and structural close tags (XT-22).
//! Every question remembers how far it has read, so that a retry with more bytes goes on from there and a
//! row of close tags is read once, not once a tag.

mod memo;
mod misc;

use std::collections::HashMap;

use crate::block::{Index, Pass};
use crate::dialect::Known;
use crate::lex::{self, ARGS, CloseTag, NAME, OpenTag, Tag};
use crate::window::{MORE, Wait, Wake, Win, is_blank, is_name_byte};
use memo::{Places, Steps};
use misc::{Misc, closed};

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
/// A tag that is longer is not read for each close tag before it.
const LONG_TAG: usize = 256;

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
#[derive(Debug)]
pub(crate) enum After<'a> {
    /// No close tag: its strength.
    Known(Strength),
    /// A close tag, whose strength depends on names.
    Close(CloseTag<'a>),
}

/// A real `<tool>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Opener {
    /// After the `>`.
    pub(crate) end: usize,
}

/// The memory of all lookahead over one text.
#[derive(Debug, Default)]
pub(crate) struct Look {
    misc: Misc,
    terminators: Places,
    opener: Option<(usize, Option<Opener>)>,
    /// From the end of a close tag to that of the next one of its name.
    rows: Steps,
    /// The long tags that follow close tags, by where they begin.
    long_tags: HashMap<usize, LongTag>,
    /// The name that is looked at before a block begins, and how far it goes at least.
    pub(crate) name: (usize, usize),
    /// Where values of dialects end.
    pub(crate) values: Known,
    /// Where values of native blocks end that stand where others were read in vain.
    pub(crate) index: Index,
    /// One that is read while it waits for bytes.
    pub(crate) pass: Option<Box<Pass>>,
    /// How far parts of objects were read that turned out to be none.
    pub(crate) read_in_vain: usize,
}

impl Look {
    /// Skips misc from `pos`; stops at anything else or at the end of input.
    pub(crate) fn misc(&mut self, w: &Win<'_>, pos: usize) -> Result<usize, Wait> {
        self.misc.end(w, pos)
    }

    /// The declarations in misc that ends at `end`.
    pub(crate) fn declarations(
        &mut self,
        w: &Win<'_>,
        pos: usize,
        end: usize,
    ) -> Vec<(usize, usize)> {
        self.misc.declarations(w, pos, end)
    }

    /// The end of the comment that begins at `pos`; `None` if the input ends in it.
    pub(crate) fn comment_end(&mut self, w: &Win<'_>, pos: usize) -> Result<Option<usize>, Wait> {
        closed(w, &mut self.misc.comments, b"-->", pos + "<!--".len())
    }

    /// The end of the section whose content begins at `from`, by its first terminator.
    pub(crate) fn section_end(&mut self, w: &Win<'_>, from: usize) -> Result<Option<usize>, Wait> {
        closed(w, &mut self.terminators, b"]]>", from)
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
        let after = match parent.closed_by(own) {
            true => self.after_close(w, pos)?,
            false => self.after_row(w, pos, own)?.1,
        };
        Ok(match after {
            After::Known(strength) => strength,
            After::Close(c) if c.is_tool() || parent.closed_by(c.name) => Strength::Strong,
            After::Close(_) => Strength::No,
        })
    }

    /// Where the row of close tags of `own` ends of which one ends at `pos`, and what follows it.
    pub(crate) fn after_row<'w>(
        &mut self,
        w: &Win<'w>,
        pos: usize,
        own: &str,
    ) -> Result<(usize, After<'w>), Wait> {
        let mut end = self.rows.last(pos);
        loop {
            match self.after_close(w, end)? {
                After::Close(c) if c.is(own) && !c.is_tool() => {
                    self.rows.add(w, end, c.end);
                    end = self.rows.last(c.end);
                }
                after => return Ok((end, after)),
            }
        }
    }

    /// What follows a close tag that ends at `pos`, after misc.
    pub(crate) fn after_close<'w>(&mut self, w: &Win<'w>, pos: usize) -> Result<After<'w>, Wait> {
        #[cfg(test)]
        crate::steps::count();
        let p = self.misc(w, pos)?;
        match lex::need(w, p)? {
            None => return Ok(After::Known(Strength::Strong)),
            Some(b'<') => {}
            Some(_) => return Ok(After::Known(Strength::No)),
        }
        if let Some(known) = self.long_tags.get(&p) {
            return Ok(known.after(w));
        }
        let after = After::Known(match lex::tag(w, p)? {
            Tag::Close(c) => return Ok(self.keep(w, p, After::Close(c))),
            Tag::None => Strength::No,
            Tag::Open(t) if t.bare() || t.named_param() => Strength::Weak,
            Tag::Open(_) if self.opener(w, p)?.is_some() => Strength::Weak,
            Tag::Open(_) => Strength::No,
            Tag::Cut if w.end() - p <= CUT_TAG_MAX => Strength::Weak,
            Tag::Cut => Strength::No,
        });
        Ok(self.keep(w, p, after))
    }

    /// Remembers what the tag at `p` is, if it is long.
    fn keep<'w>(&mut self, w: &Win<'w>, p: usize, after: After<'w>) -> After<'w> {
        let head = w.from(p + 1);
        if head.len() > LONG_TAG && memchr::memchr2(b'<', b'>', &head[..LONG_TAG]).is_none() {
            self.long_tags.insert(p, LongTag::new(w, p, &after));
        }
        after
    }
}

/// What a long tag is for the close tags before it.
#[derive(Clone, Copy, Debug)]
enum LongTag {
    Known(Strength),
    /// Where its name stands, its end, and whether it has a prefix.
    Close((usize, usize), usize, bool),
}

impl LongTag {
    fn new(w: &Win<'_>, p: usize, after: &After<'_>) -> Self {
        match after {
            After::Known(strength) => LongTag::Known(*strength),
            After::Close(c) => {
                let colon = if c.prefixed { w.find(b':', p) } else { None };
                let name = colon.unwrap_or(p + 1) + 1;
                LongTag::Close((name, name + c.name.len()), c.end, c.prefixed)
            }
        }
    }

    fn after<'w>(self, w: &Win<'w>) -> After<'w> {
        match self {
            LongTag::Known(strength) => After::Known(strength),
            LongTag::Close((from, to), end, prefixed) => {
                After::Close(CloseTag { end, name: w.str(from, to), prefixed })
            }
        }
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
    use crate::steps::grow_with_input;
    use crate::{Options, parse};

    const HEAD: &str = "<tool><tool_name>t</tool_name><arguments><a>";
    const TAIL: &str = "</arguments></tool>";

    fn check(make: impl Fn(usize) -> String) {
        grow_with_input(make, |text| drop(parse(text.as_bytes(), None, &Options::default())));
    }

    #[test]
    fn declarations_are_read_once() {
        check(|k| format!("<tool><tool_name>t<a>{}</tool>", "<!DOCTYPE</b>".repeat(k)));
        check(|k| format!("{HEAD}{}{}{TAIL}", "</b><!DOCTYPE [".repeat(k), "]>".repeat(k)));
        check(|k| format!("{HEAD}{}{TAIL}", "</b><!DOCTYPE [".repeat(k)));
    }

    #[test]
    fn rows_of_close_tags_with_others_in_comments_are_read_once() {
        for unit in ["</a><!-- </a> x -->", "</a><!-- </b> x -->"] {
            check(|k| format!("{HEAD}{} y</a>{TAIL}", unit.repeat(k)));
            check(|k| format!("{HEAD}<b>{} y</a>{TAIL}", unit.repeat(k)));
        }
    }

    #[test]
    fn misc_that_is_cut_in_two_ways_is_read_once_in_each() {
        check(|k| format!("{HEAD}<b>{}y{TAIL}", "<!--]</b><!DOCTYPE[</a-->".repeat(k)));
    }

    #[test]
    fn a_long_tag_after_close_tags_is_read_once() {
        let long = " ".repeat(1000);
        for tag in [format!("<x y{long}>"), format!("</x{long}>"), format!("<x y{long}<")] {
            let text = format!("</a><!-- {tag}");
            let w = Win { text: &text, base: 0, eof: true };
            let mut look = Look::default();
            let first = look.after_close(&w, 9).map(|after| format!("{after:?}"));
            assert_eq!(look.long_tags.len(), 1);
            assert_eq!(look.after_close(&w, 9).map(|after| format!("{after:?}")), first);
        }
    }

    #[test]
    fn an_opener_looks_no_further_than_its_misc_may_reach() {
        let text = format!("<tool><!DOCTYPE [{}", "é".repeat(10_000));
        let mut look = Look::default();
        let w = Win { text: &text, base: 0, eof: false };
        assert_eq!(look.opener(&w, 0), Ok(None));
        assert!(
            look.misc.doctypes.at <= MISC_MAX + 16,
            "looked as far as {}",
            look.misc.doctypes.at
        );
    }
}
