//! A tag of a dialect as data (XT-33): its spelling, and whether it occurs at a place. The tags that make up a dialect
//! are in `dialects`.
//!
//! ```text
//! <function=NAME>   <invoke name="NAME">   <｜DSML｜parameter name="NAME" string="false">
//!           equals   prefix      attribute        bars
//! ```

use nom::bytes::streaming::tag;
use nom::character::streaming::{char, one_of};
use nom::combinator::{map_opt, opt, peek, value};
use nom::sequence::delimited;
use nom::{IResult, Parser};
use serde::{Deserialize, Serialize};

use crate::input::{Incomplete, Input, MORE, Need, is_blank};
use crate::lex;

/// A tag: `<` prefix or bars, word, name `>`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct TagShape {
    /// The word, compared without regard to case.
    pub tag: String,
    /// A prefix that may be before the word.
    pub optional_prefix: Option<String>,
    /// A word between bars that is before the tag's own, such as `DSML`.
    pub bars: Option<String>,
    /// Where the name is; a wrapper has none.
    pub name: NameForm,
}

/// Where a tag has its name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NameForm {
    /// It has none.
    #[default]
    None,
    /// In this attribute.
    Attribute(String),
    /// After an equals sign: `<function=NAME>`.
    Equals,
}

impl TagShape {
    /// `<tag>`.
    pub fn bare(tag: &str) -> Self {
        TagShape { tag: tag.to_owned(), ..Self::default() }
    }

    /// `<tag attribute="NAME">`.
    pub fn attribute(tag: &str, attribute: &str) -> Self {
        TagShape { name: NameForm::Attribute(attribute.to_owned()), ..Self::bare(tag) }
    }

    /// `<tag=NAME>`.
    pub fn equals(tag: &str) -> Self {
        TagShape { name: NameForm::Equals, ..Self::bare(tag) }
    }

    /// Bars, prefix and word.
    fn word<'a>(&self, text: &'a str) -> IResult<&'a str, ()> {
        let mut rest = text;
        if let Some(word) = &self.bars {
            (rest, _) = bars(word, rest)?;
        }
        if let Some(prefix) = &self.optional_prefix {
            (rest, _) = opt(lex::word(prefix)).parse(rest)?;
        }
        lex::word(&self.tag).parse(rest)
    }

    /// An open tag; its end is the caller's.
    fn open_tag<'a>(&self, text: &'a str) -> IResult<&'a str, Opened<'a>> {
        let (rest, _) = char('<').parse(text)?;
        let (rest, ()) = self.word(rest)?;
        let opened = |name| Opened { end: 0, name, text: true };
        match &self.name {
            NameForm::None => value(opened(""), (lex::blanks, char('>'))).parse(rest),
            NameForm::Equals => {
                let name = delimited((lex::blanks, char('=')), lex::inside, char('>'));
                name.map(|name| opened(unquoted(lex::trim(name)))).parse(rest)
            }
            NameForm::Attribute(key) => {
                let attrs = delimited(peek(one_of(" \t\r\n")), lex::inside, char('>'));
                let name = |attrs| lex::attribute_any(attrs, key).map(|name| (name, attrs));
                let (rest, (name, attrs)) = map_opt(attrs, name).parse(rest)?;
                let json = lex::attribute_any(attrs, "string")
                    .is_some_and(|it| it.eq_ignore_ascii_case("false"));
                Ok((rest, Opened { text: !json, ..opened(lex::trim(name)) }))
            }
        }
    }

    fn close_tag<'a>(&self, text: &'a str) -> IResult<&'a str, ()> {
        let (rest, _) = tag("</").parse(text)?;
        let (rest, ()) = self.word(rest)?;
        value((), (lex::blanks, char('>'))).parse(rest)
    }

    /// The open tag at `p`, where a `<` is.
    pub(crate) fn open<'a>(
        &self,
        w: &Input<'a>,
        p: usize,
    ) -> Result<Option<Opened<'a>>, Incomplete> {
        let found = at(w, p, |text| self.open_tag(text))?;
        Ok(found.map(|(opened, end)| Opened { end, ..opened }))
    }

    /// The end of the close tag at `p`.
    pub(crate) fn close(&self, w: &Input<'_>, p: usize) -> Result<Option<usize>, Incomplete> {
        Ok(at(w, p, |text| self.close_tag(text))?.map(|((), end)| end))
    }

    /// Whether the end of input cut an open (or close) tag of this shape at `p`.
    pub(crate) fn cut(&self, w: &Input<'_>, p: usize) -> bool {
        let more = Input { eof: false, ..*w };
        w.eof && (self.open(&more, p).is_err() || self.close(&more, p).is_err())
    }

    pub(crate) fn valid(&self) -> bool {
        let word = |s: &str| !s.is_empty() && s.bytes().all(crate::input::is_name_byte);
        word(&self.tag)
            && self.tag.as_bytes()[0].is_ascii_alphabetic()
            && self.optional_prefix.as_deref().is_none_or(word)
            && self.bars.as_deref().is_none_or(word)
            && !matches!(&self.name, NameForm::Attribute(name) if !word(name))
    }
}

/// An open tag of a dialect.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opened<'a> {
    pub(crate) end: usize,
    pub(crate) name: &'a str,
    /// `string="false"` was not said.
    pub(crate) text: bool,
}

/// What `parser` finds at `p`, and one past it; it waits while that is undecided find something.
fn at<'a, T>(
    w: &Input<'a>,
    p: usize,
    parser: impl Fn(&'a str) -> IResult<&'a str, T>,
) -> Result<Option<(T, usize)>, Incomplete> {
    let text = w.str(p, w.end());
    match parser(text) {
        Ok((rest, found)) => Ok(Some((found, w.end() - rest.len()))),
        Err(nom::Err::Incomplete(_)) if !w.eof => Err(Incomplete::on(awaited(text))),
        Err(_) => Ok(None),
    }
}

/// What can complete an unfinished tag: what follows its blanks, or what ends its name.
fn awaited(text: &str) -> Need {
    let inside = |c: char| c == '=' || c.is_ascii() && is_blank(c as u8);
    match lex::trim_end(text) {
        whole if whole.contains(inside) => Need::Either(b'<', b'>'),
        begun if begun.len() < text.len() => Need::NonBlank,
        _ => Need::Any,
    }
}

fn unquoted(name: &str) -> &str {
    let strip = |q: char| name.strip_prefix(q).and_then(|n| n.strip_suffix(q));
    strip('"').or_else(|| strip('\'')).unwrap_or(name)
}

/// The first of `shapes` whose open tag is at `p`.
pub(crate) fn open_any<'a>(
    shapes: &[TagShape],
    w: &Input<'a>,
    p: usize,
) -> Result<Option<Opened<'a>>, Incomplete> {
    any(shapes, |shape| shape.open(w, p))
}

/// The end of the close tag of one of `shapes` at `p`.
pub(crate) fn close_any(
    shapes: &[TagShape],
    w: &Input<'_>,
    p: usize,
) -> Result<Option<usize>, Incomplete> {
    any(shapes, |shape| shape.close(w, p))
}

fn any<T>(
    shapes: &[TagShape],
    found: impl Fn(&TagShape) -> Result<Option<T>, Incomplete>,
) -> Result<Option<T>, Incomplete> {
    let mut waiting: Option<Incomplete> = None;
    for shape in shapes {
        match found(shape) {
            Ok(None) => {}
            Ok(found) => return Ok(found),
            Err(wait) => waiting = Some(waiting.filter(|it| *it != wait).map_or(wait, |_| MORE)),
        }
    }
    waiting.map_or(Ok(None), Err)
}

/// A bar, `word`, a bar and blanks (XT-39).
fn bars<'a>(word: &str, text: &'a str) -> IResult<&'a str, ()> {
    let bar = || (one_of("|｜"), opt(one_of("|｜")));
    value((), (bar(), lex::word(word), bar(), lex::blanks)).parse(text)
}
