//! The tokens of a block as one flat list by position. Each `<` is lexed once and records what follows it. The grammar
//! decides what a token means.
//!
//! ```text
//! <x>a <!-- </x> --> b</x> </x></arguments>
//! Open Comment Close   Close Close Close      the close tag in the comment is a token like any other
//!                      after: Close (x)       what is after it, misc aside
//!                      row: Close (arguments) what is after all close tags of its name
//! ```
//!
//! Decides whether a `<tool>` in text begins a block (XT-9). It looks ahead a bounded distance and keeps no state.

use std::cell::OnceCell;

use super::grammar::param_key;
use crate::input::{Incomplete, Input, MORE, Need, is_blank, is_name_byte};
use crate::lex;
use crate::lex::{ARGS, NAME, OpenTag, SERVER, Tag};

/// Longest tag that the end of input may cut and that still counts (XT-22).
const CUT_TAG_MAX: usize = 80;

/// Room for the tokens of most calls.
const FEW: usize = 24;

/// The kind of a token that begins with `<`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An open tag; `named` is a PARAM word with a `name`.
    Open { bare: bool, named: bool, empty: bool },
    /// A real opener (XT-9).
    Opener,
    /// A close tag; that of `<tool>`, or another.
    Close { tool: bool },
    /// A CDATA marker.
    Marker,
    /// A closed comment.
    Comment,
    /// A closed instruction.
    Instruction,
    /// A closed DOCTYPE.
    Declaration,
    /// One of these three, of which the end has not come.
    Unclosed,
    /// A tag that the end of input cut.
    CutTag,
    /// A marker or comment that it cut.
    CutMarkup,
    /// More bytes are needed to say what it is.
    Undecided,
    /// Text.
    Other,
}

/// The text after a place, blanks and misc aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// The token of this index.
    Token(u32),
    Text,
    /// The end of input.
    End,
    /// Undecided until more input arrives.
    Pending,
}

/// One `<`, and what begins there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'a> {
    pub(crate) start: usize,
    /// One past it; one past the `<` if it is not a tag.
    pub(crate) end: usize,
    /// A tag's name, without its prefix.
    pub(crate) name: &'a str,
    pub(crate) kind: Kind,
    /// The token after a close tag or misc.
    pub(crate) after: Next,
    /// The token after the row of close tags with the same name to which it belongs.
    pub(crate) row: Next,
}

impl Token<'_> {
    pub(crate) fn is(&self, word: &str) -> bool {
        lex::same(self.name, word)
    }

    pub(crate) fn is_close(&self) -> bool {
        matches!(self.kind, Kind::Close { .. })
    }

    /// An open tag without attributes, or of a PARAM word with a name.
    pub(crate) fn is_plain_open(&self) -> bool {
        matches!(self.kind, Kind::Open { bare, named, .. } if bare || named)
    }

    /// The end of input cut it, and it is short enough to count.
    pub(crate) fn is_short_cut(&self, end: usize) -> bool {
        self.kind == Kind::CutTag && end - self.start <= CUT_TAG_MAX
    }

    pub(crate) fn is_misc(&self) -> bool {
        matches!(self.kind, Kind::Comment | Kind::Instruction | Kind::Declaration)
    }
}

/// The token at a place that the grammar asks about.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ahead<'a> {
    Token(Token<'a>),
    /// Its first byte, and where that is.
    Text(usize, u8),
    /// The end of input.
    End,
}

/// More bytes are needed to decide, and another try is worth its cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pending;

/// The list, and the bytes that it was made of.
pub(crate) struct Tokens<'a> {
    pub(crate) w: Input<'a>,
    list: Vec<Token<'a>>,
    from: usize,
    /// The places of all `]]>`, searched for when the first section needs them.
    terminators: OnceCell<Vec<usize>>,
}

impl<'a> Tokens<'a> {
    /// The tokens of the window from `from` on.
    pub(crate) fn lex(w: Input<'a>, from: usize) -> Self {
        let mut list = Vec::with_capacity(FEW);
        let mut ends = Ends { w, comment: None, instruction: None };
        list.extend(memchr::memchr_iter(b'<', w.from(from)).map(|i| ends.token(from + i)));
        let mut tokens = Tokens { w, list, from, terminators: OnceCell::new() };
        tokens.link();
        tokens
    }

    /// The same for the content of an element up to `to`. Its close tag, up to `end`, is read as the tail of a block.
    pub(crate) fn lex_content(w: Input<'a>, from: usize, to: usize, end: usize) -> Self {
        let mut tokens = Tokens::lex(Input { eof: true, ..w.upto(end) }, from);
        let at = tokens.index(to);
        let close = |start, name, tool| token(start, end, name, Kind::Close { tool });
        tokens.list.truncate(at);
        tokens.list.extend([close(to, "arguments", false), close(end, "tool", true)]);
        tokens.link();
        tokens
    }

    /// Says of each close tag and misc what follows it, last first: what follows a comment is known by then.
    fn link(&mut self) {
        for i in (0..self.list.len()).rev() {
            let token = self.list[i];
            if !token.is_close() && !token.is_misc() {
                continue;
            }
            #[cfg(test)]
            crate::growth::count();
            let after = self.next_at(token.end, i + 1);
            let row = match after {
                Next::Token(n) if self.is_row(&token, &self.list[n as usize]) => {
                    self.list[n as usize].row
                }
                after => after,
            };
            (self.list[i].after, self.list[i].row) = (after, row);
        }
    }

    fn is_row(&self, a: &Token<'_>, b: &Token<'_>) -> bool {
        b.kind == Kind::Close { tool: false } && b.is(a.name)
    }

    /// The token at `pos`. The tokens from `first` on are known.
    fn next_at(&self, pos: usize, first: usize) -> Next {
        let p = self.w.skip_blanks(pos);
        // Mostly it is the first of them; others are in a comment.
        let i = match self.list.get(first) {
            Some(t) if t.start < p => self.index(p),
            _ => first,
        };
        match (self.list.get(i).filter(|t| t.start == p), self.w.at(p)) {
            (Some(t), _) if t.is_misc() => t.after,
            (Some(t), _) if t.kind == Kind::Unclosed => Next::Pending,
            (Some(_), _) => Next::Token(i as u32),
            (None, Some(_)) => Next::Text,
            (None, None) if self.w.eof => Next::End,
            (None, None) => Next::Pending,
        }
    }

    /// The index of the first token at or after `pos`.
    pub(crate) fn index(&self, pos: usize) -> usize {
        self.list.partition_point(|t| t.start < pos)
    }

    pub(crate) fn get(&self, index: usize) -> Option<&Token<'a>> {
        self.list.get(index)
    }

    pub(crate) fn of(&self, next: Next) -> Option<&Token<'a>> {
        match next {
            Next::Token(n) => self.list.get(n as usize),
            _ => None,
        }
    }

    /// The first token at or after `pos`.
    pub(crate) fn next(&self, pos: usize) -> Option<&Token<'a>> {
        self.list.get(self.index(pos))
    }

    /// The name of a parameter (XT-18).
    pub(crate) fn key(&self, token: &Token<'a>) -> &'a str {
        match token.kind {
            Kind::Open { named: true, .. } => match lex::tag(&self.w, token.start) {
                Ok(Tag::Open(tag)) => param_key(&tag),
                _ => token.name,
            },
            _ => token.name,
        }
    }

    /// The token at `pos`, after blanks.
    pub(crate) fn after_blanks(&self, pos: usize) -> Result<Ahead<'a>, Pending> {
        let p = self.w.skip_blanks(pos);
        match (self.next(p).filter(|t| t.start == p), self.w.at(p)) {
            (Some(t), _) if t.kind == Kind::Undecided => Err(Pending),
            (Some(t), _) => Ok(Ahead::Token(*t)),
            (None, Some(b)) => Ok(Ahead::Text(p, b)),
            (None, None) if self.w.eof => Ok(Ahead::End),
            (None, None) => Err(Pending),
        }
    }

    /// The token at `pos`, after blanks and tokens that `skips` accepts.
    pub(crate) fn after(
        &self,
        pos: usize,
        mut skips: impl FnMut(&Token<'a>) -> bool,
    ) -> Result<Ahead<'a>, Pending> {
        let mut at = pos;
        loop {
            match self.after_blanks(at)? {
                Ahead::Token(t) if t.kind == Kind::Unclosed => return Err(Pending),
                Ahead::Token(t) if skips(&t) => at = t.end,
                ahead => return Ok(ahead),
            }
        }
    }

    /// The tokens at or after `pos`.
    pub(crate) fn iter_from(&self, pos: usize) -> impl Iterator<Item = &Token<'a>> {
        self.list[self.index(pos)..].iter()
    }

    /// The first `]]>` at or after `pos`.
    pub(crate) fn terminator(&self, pos: usize) -> Option<usize> {
        let all = self.terminators.get_or_init(|| {
            let found = memchr::memmem::find_iter(self.w.from(self.from), b"]]>");
            found.map(|i| self.from + i).collect()
        });
        all.get(all.partition_point(|&at| at < pos)).copied()
    }
}

/// Makes tokens in ascending order. The ends of comments and instructions are searched for once.
struct Ends<'a> {
    w: Input<'a>,
    /// The next end, if it was searched for; `Some(None)` if it does not exist.
    comment: Option<Option<usize>>,
    instruction: Option<Option<usize>>,
}

impl<'a> Ends<'a> {
    fn token(&mut self, p: usize) -> Token<'a> {
        #[cfg(test)]
        crate::growth::count();
        let (kind, name, end) = match lex::tag(&self.w, p) {
            Ok(Tag::Open(t)) if t.is_tool() && !t.self_closing => {
                (tool_kind(&self.w, p, t.bare()), t.name, t.end)
            }
            Ok(Tag::Open(t)) => {
                let kind =
                    Kind::Open { bare: t.bare(), named: t.named_param(), empty: t.self_closing };
                (kind, t.name, t.end)
            }
            Ok(Tag::Close(c)) => (Kind::Close { tool: c.is_tool() }, c.name, c.end),
            Ok(Tag::Cut) => (Kind::CutTag, "", p + 1),
            Err(_) => (Kind::Undecided, "", p + 1),
            Ok(Tag::None) => {
                let (kind, end) = self.markup(p);
                (kind, "", end)
            }
        };
        token(p, end, name, kind)
    }

    /// Not a tag.
    fn markup(&mut self, p: usize) -> (Kind, usize) {
        let w = self.w;
        match lex::marker(&w, p) {
            Ok(true) => return (Kind::Marker, p + lex::CDATA.len()),
            Ok(false) if lex::cut_markup(&w, p) => return (Kind::CutMarkup, p + 1),
            Ok(false) => {}
            Err(_) => return (Kind::Undecided, p + 1),
        }
        let kind = match w.from(p) {
            [b'<', b'?', ..] => Kind::Instruction,
            [b'<', b'!', b'-', ..] => Kind::Comment,
            _ => Kind::Declaration,
        };
        match part(&w, p, |_, needle, from| self.find(needle, from)) {
            Ok(Some((end, _))) => (kind, end),
            Ok(None) => (Kind::Other, p + 1),
            Err(_) => (Kind::Unclosed, p + 1),
        }
    }

    /// The first end at or after `from`; found once and kept until it has been passed.
    fn find(&mut self, needle: &'static str, from: usize) -> Option<usize> {
        let known = if needle == "?>" { &mut self.instruction } else { &mut self.comment };
        match *known {
            Some(found) if found.is_none_or(|at| at >= from) => found,
            _ => {
                let found = self.w.find_text(needle, from);
                *known = Some(found);
                found
            }
        }
    }
}

/// A token whose successor is not known yet.
fn token(start: usize, end: usize, name: &str, kind: Kind) -> Token<'_> {
    Token { start, end, name, kind, after: Next::Pending, row: Next::Pending }
}

/// Whether a `<tool>` is a real opener.
fn tool_kind(w: &Input<'_>, p: usize, bare: bool) -> Kind {
    match opener(w, p) {
        Ok(Some(_)) => Kind::Opener,
        Ok(None) => Kind::Open { bare, named: false, empty: false },
        Err(_) => Kind::Undecided,
    }
}

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
/// The number of bytes after a `<` that decide whether an opener is real.
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

/// The end of the misc at `pos`, if it is within 4096 bytes.
pub(crate) fn misc_near(w: &Input<'_>, pos: usize) -> Result<Option<usize>, Incomplete> {
    let limit = pos + MISC_MAX;
    Ok(w.near(limit + 1, |w| misc(w, pos, Input::find_text))?.filter(|p| *p <= limit))
}

/// The end of misc; `find` searches for terminators.
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
