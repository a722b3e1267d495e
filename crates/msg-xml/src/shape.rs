//! A tag of a dialect as data (XT-33): what it looks like, and whether one stands at a place. What a dialect is made of is
//! `tag_grammar`.
//!
//! ```text
//! <function=NAME>   <invoke name="NAME">   <｜DSML｜parameter name="NAME" string="false">
//!           equals   prefix      attribute        bars
//! ```

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
    /// A prefix that may stand before the word.
    pub optional_prefix: Option<String>,
    /// A word between bars that stands before the tag's own, such as `DSML`.
    pub bars: Option<String>,
    /// Where the name stands; a wrapper has none.
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

    pub(crate) fn prefixed(mut self, prefix: &str) -> Self {
        self.optional_prefix = Some(prefix.to_owned());
        self
    }

    pub(crate) fn barred(mut self, word: &str) -> Self {
        self.bars = Some(word.to_owned());
        self
    }

    /// After bars, prefix and word at `p`.
    fn word(&self, w: &Input<'_>, p: usize) -> Result<Option<usize>, Incomplete> {
        let mut at = p;
        if let Some(word) = &self.bars {
            match bars(w, p, word)? {
                Some(end) => at = end,
                None => return Ok(None),
            }
        }
        if let Some(prefix) = &self.optional_prefix
            && w.word(at, prefix)?
        {
            at += prefix.len();
        }
        Ok(w.word(at, &self.tag)?.then_some(at + self.tag.len()))
    }

    /// The open tag at `p`, where a `<` stands.
    pub(crate) fn open<'a>(
        &self,
        w: &Input<'a>,
        p: usize,
    ) -> Result<Option<Opened<'a>>, Incomplete> {
        let Some(at) = self.word(w, p + 1)? else { return Ok(None) };
        match &self.name {
            NameForm::None => match w.after_blanks(at)? {
                (q, Some(b'>')) => Ok(Some(Opened { end: q + 1, name: "", text: true })),
                _ => Ok(None),
            },
            NameForm::Equals => {
                let (equals, Some(b'=')) = w.after_blanks(at)? else { return Ok(None) };
                let Some(gt) = tag_end(w, equals)? else { return Ok(None) };
                Ok(Some(Opened {
                    end: gt + 1,
                    name: unquoted(lex::trim(w.str(equals + 1, gt))),
                    text: true,
                }))
            }
            NameForm::Attribute(key) => {
                if !lex::need(w, at)?.is_some_and(is_blank) {
                    return Ok(None);
                }
                let Some(gt) = tag_end(w, at)? else { return Ok(None) };
                let attrs = w.str(at, gt);
                let Some(name) = lex::attribute_any(attrs, key) else { return Ok(None) };
                let text = lex::attribute_any(attrs, "string")
                    .is_none_or(|v| !v.eq_ignore_ascii_case("false"));
                Ok(Some(Opened { end: gt + 1, name: lex::trim(name), text }))
            }
        }
    }

    /// The end of the close tag at `p`.
    pub(crate) fn close(&self, w: &Input<'_>, p: usize) -> Result<Option<usize>, Incomplete> {
        if lex::need(w, p + 1)? != Some(b'/') {
            return Ok(None);
        }
        let Some(at) = self.word(w, p + 2)? else { return Ok(None) };
        match w.after_blanks(at)? {
            (q, Some(b'>')) => Ok(Some(q + 1)),
            _ => Ok(None),
        }
    }

    /// Whether the end of input cut an open (or close) tag of this shape at `p`.
    pub(crate) fn cut(&self, w: &Input<'_>, p: usize) -> bool {
        if !w.eof {
            return false;
        }
        let rest = w.str(p, w.end());
        if rest.len() > 1 && rest[1..].contains(['<', '>']) {
            return false;
        }
        let body = rest.strip_prefix("</").or_else(|| rest.strip_prefix('<')).unwrap_or(rest);
        let mut forms = vec![self.tag.clone()];
        if let Some(prefix) = &self.optional_prefix {
            forms.push(format!("{prefix}{}", self.tag));
        }
        if let Some(word) = &self.bars {
            let all = std::mem::take(&mut forms);
            for bar in ["｜", "｜｜", "|", "||"] {
                forms.extend(all.iter().map(|form| format!("{bar}{word}{bar}{form}")));
            }
        }
        forms.iter().any(|form| {
            let n = body.len().min(form.len());
            body.as_bytes()[..n].eq_ignore_ascii_case(&form.as_bytes()[..n])
                && body
                    .as_bytes()
                    .get(form.len())
                    .is_none_or(|&b| is_blank(b) || b == b'=' && self.name == NameForm::Equals)
        })
    }

    pub(crate) fn words(&self) -> Vec<String> {
        match (&self.bars, &self.optional_prefix) {
            (Some(_), _) => Vec::new(),
            (None, Some(prefix)) => vec![self.tag.clone(), format!("{prefix}{}", self.tag)],
            (None, None) => vec![self.tag.clone()],
        }
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

/// The `>` of a tag, if no `<` comes first.
fn tag_end(w: &Input<'_>, at: usize) -> Result<Option<usize>, Incomplete> {
    let rest = w.from(at);
    match memchr::memchr2(b'<', b'>', rest) {
        Some(i) if rest[i] == b'>' => Ok(Some(at + i)),
        Some(_) => Ok(None),
        None if w.eof => Ok(None),
        None => Err(Incomplete::on(Need::Either(b'<', b'>'))),
    }
}

fn unquoted(name: &str) -> &str {
    let strip = |q: char| name.strip_prefix(q).and_then(|n| n.strip_suffix(q));
    strip('"').or_else(|| strip('\'')).unwrap_or(name)
}

/// The first of `shapes` whose open tag stands at `p`.
pub(crate) fn open_any<'a>(
    shapes: &[TagShape],
    w: &Input<'a>,
    p: usize,
) -> Result<Option<Opened<'a>>, Incomplete> {
    let mut waiting = None;
    for shape in shapes {
        match shape.open(w, p) {
            Ok(Some(opened)) => return Ok(Some(opened)),
            Ok(None) => {}
            Err(_) => waiting = Some(MORE),
        }
    }
    waiting.map_or(Ok(None), Err)
}

/// The end of the close tag of one of `shapes` at `p`.
pub(crate) fn close_any(
    shapes: &[TagShape],
    w: &Input<'_>,
    p: usize,
) -> Result<Option<usize>, Incomplete> {
    let mut waiting = None;
    for shape in shapes {
        match shape.close(w, p) {
            Ok(Some(end)) => return Ok(Some(end)),
            Ok(None) => {}
            Err(_) => waiting = Some(MORE),
        }
    }
    waiting.map_or(Ok(None), Err)
}

/// A bar, `word`, a bar and blanks at `p` (XT-39): one past them.
pub(crate) fn bars(w: &Input<'_>, p: usize, word: &str) -> Result<Option<usize>, Incomplete> {
    let Some(at) = bar(w, p)? else { return Ok(None) };
    if !w.word(at, word)? {
        return Ok(None);
    }
    let Some(end) = bar(w, at + word.len())? else { return Ok(None) };
    Ok(Some(w.after_blanks(end)?.0))
}

/// One or two bars at `p`: one past them.
fn bar(w: &Input<'_>, p: usize) -> Result<Option<usize>, Incomplete> {
    let one = |p: usize| -> Result<Option<usize>, Incomplete> {
        match lex::need(w, p)? {
            Some(b'|') => Ok(Some(p + 1)),
            Some(0xEF) => Ok(w.str(p, w.end()).starts_with('｜').then_some(p + '｜'.len_utf8())),
            _ => Ok(None),
        }
    };
    let Some(end) = one(p)? else { return Ok(None) };
    Ok(Some(one(end)?.unwrap_or(end)))
}
