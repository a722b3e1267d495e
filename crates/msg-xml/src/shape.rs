//! A tag dialect as data (XT-33): what its wrapper, call and parameter tags look like. The built-in ones are
//! written in the same terms that users have. How a block is read by one is the business of `dialect::tags`.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::input::{Incomplete, Input, MORE, Need, is_blank};
use crate::lex;

/// A dialect of the form `W? (C (P value /P)* /C)+ /W?`.
///
/// ```
/// use msg_xml::{Grammar, TagShape};
/// let grammar = Grammar::new("actions").with_call(TagShape::attribute("action", "do")).with_parameter(TagShape::attribute("with", "key"));
/// assert_eq!(grammar.name, "actions");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Grammar {
    /// The name: a call's `format`.
    pub name: String,
    /// Tags that may stand around calls.
    pub wrapper: Vec<TagShape>,
    /// Calls are read inside a wrapper only.
    pub wrapper_required: bool,
    /// Tags that open a call.
    pub call: Vec<TagShape>,
    /// Tags that open a parameter.
    pub parameter: Vec<TagShape>,
    /// Wrappers that may hold JSON objects with `name` and `arguments` instead of calls.
    pub json_list: Vec<TagShape>,
}

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

    fn prefixed(mut self, prefix: &str) -> Self {
        self.optional_prefix = Some(prefix.to_owned());
        self
    }

    fn barred(mut self, word: &str) -> Self {
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

    fn words(&self) -> Vec<String> {
        match (&self.bars, &self.optional_prefix) {
            (Some(_), _) => Vec::new(),
            (None, Some(prefix)) => vec![self.tag.clone(), format!("{prefix}{}", self.tag)],
            (None, None) => vec![self.tag.clone()],
        }
    }

    fn valid(&self) -> bool {
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

impl Grammar {
    /// A dialect without tags.
    pub fn new(name: &str) -> Self {
        Grammar { name: name.to_owned(), ..Self::default() }
    }

    /// Adds a wrapper tag.
    #[must_use]
    pub fn with_wrapper(mut self, shape: TagShape) -> Self {
        self.wrapper.push(shape);
        self
    }

    /// Adds a tag that opens a call.
    #[must_use]
    pub fn with_call(mut self, shape: TagShape) -> Self {
        self.call.push(shape);
        self
    }

    /// Adds a tag that opens a parameter.
    #[must_use]
    pub fn with_parameter(mut self, shape: TagShape) -> Self {
        self.parameter.push(shape);
        self
    }

    /// XT-35.
    pub(crate) fn invoke() -> Self {
        let wrapper = TagShape::bare("function_calls").prefixed("antml:");
        Grammar { json_list: vec![wrapper.clone()], ..Self::new("invoke") }
            .with_wrapper(wrapper)
            .with_call(TagShape::attribute("invoke", "name").prefixed("antml:"))
            .with_parameter(TagShape::attribute("parameter", "name").prefixed("antml:"))
    }

    /// XT-36: keys and values are told apart in `tags`.
    pub(crate) fn glm() -> Self {
        Self::new("glm")
            .with_call(TagShape::bare("tool_call"))
            .with_parameter(TagShape::bare("arg_key"))
    }

    /// XT-37.
    pub(crate) fn qwen() -> Self {
        Self::new("qwen")
            .with_wrapper(TagShape::bare("tool_call"))
            .with_call(TagShape::equals("function"))
            .with_call(TagShape::attribute("function", "name"))
            .with_parameter(TagShape::equals("parameter"))
            .with_parameter(TagShape::attribute("parameter", "name"))
    }

    /// XT-39.
    pub(crate) fn dsml() -> Self {
        Self::new("dsml")
            .with_wrapper(TagShape::bare("function_calls").barred("DSML"))
            .with_wrapper(TagShape::bare("tool_calls").barred("DSML"))
            .with_wrapper(TagShape::bare("calls").barred("DSML"))
            .with_call(TagShape::attribute("invoke", "name").barred("DSML"))
            .with_parameter(TagShape::attribute("parameter", "name").barred("DSML"))
    }

    /// XT-40.
    pub(crate) fn minimax() -> Self {
        Grammar {
            wrapper_required: true,
            json_list: vec![TagShape::bare("tool_calls")],
            ..Self::new("minimax")
        }
        .with_wrapper(TagShape::bare("minimax:tool_call"))
        .with_call(TagShape::attribute("invoke", "name"))
        .with_parameter(TagShape::attribute("parameter", "name"))
    }

    pub(crate) fn opener_words(&self) -> Vec<String> {
        self.wrapper
            .iter()
            .chain(&self.call)
            .chain(&self.json_list)
            .flat_map(TagShape::words)
            .collect()
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        let bad = |reason: &str| {
            Err(Error::InvalidDialect { name: self.name.clone(), reason: reason.to_owned() })
        };
        if self.name.is_empty() || self.call.is_empty() {
            return bad("it needs a name and a call tag");
        }
        let shapes =
            || self.wrapper.iter().chain(&self.call).chain(&self.parameter).chain(&self.json_list);
        if !shapes().all(TagShape::valid) {
            return bad(
                "a tag, attribute, prefix or word between bars is not of ASCII letters, digits, '_', '.', '-' and ':'",
            );
        }
        if self.call.iter().chain(&self.parameter).any(|shape| shape.name == NameForm::None) {
            return bad("call and parameter tags need a name");
        }
        if self.call.iter().any(|c| c.tag.eq_ignore_ascii_case("tool") && c.bars.is_none()) {
            return bad("<tool> is the native block");
        }
        if self.call.iter().any(|c| {
            self.parameter.iter().any(|p| c.tag.eq_ignore_ascii_case(&p.tag) && c.bars == p.bars)
        }) {
            return bad("a call and a parameter have the same tag");
        }
        Ok(())
    }
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
