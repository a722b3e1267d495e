//! The set of enabled dialects, by name or described as data, in the order in which they are tried (XT-32). It does not
//! read blocks.
//!
//! A tag of a dialect as data (XT-33): its spelling, and whether it occurs at a place. The tags that make up a dialect
//! are in `dialects.json`.
//!
//! ```text
//! <function=NAME>   <invoke name="NAME">   <｜DSML｜parameter name="NAME" string="false">
//!           equals   prefix      attribute        bars
//! ```

use std::sync::{Arc, LazyLock};

use nom::{
    IResult, Parser,
    bytes::streaming::tag,
    character::streaming::{char, one_of},
    combinator::{map_opt, opt, peek, value},
    sequence::delimited,
};
use serde::{Deserialize, Serialize};

use crate::code::Error;
use crate::input::{Incomplete, Input, MORE, Need, is_blank};
use crate::lex;

/// The built-in dialects of tags: XT-35 to XT-37, XT-39, XT-40. The reader of GLM's dialect distinguishes keys and
/// values.
static GRAMMARS: LazyLock<Vec<Arc<Grammar>>> = LazyLock::new(|| {
    let all: Vec<Grammar> = serde_json::from_str(include_str!("dialects.json"))
        .expect("because the tests read all of them");
    all.into_iter().map(Arc::new).collect()
});

/// A built-in dialect, or one that is defined by data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// XT-35, XT-37, XT-39, XT-40 and those of users: tags by a grammar.
    Tags(Arc<Grammar>),
    /// XT-34.
    Hermes,
    /// XT-36.
    Glm(Arc<Grammar>),
    /// XT-38.
    Cline,
    /// XT-48 to XT-55: calls between special tokens.
    Tokens(&'static Family),
}

/// The dialects to read; none by default.
///
/// ```
/// use msg_xml::{Dialects, ParseOptions, parse};
/// let opts = ParseOptions::new().with_dialects(Dialects::by_names(["hermes"])?);
/// let parsed = parse(br#"<tool_call>{"name":"ls","arguments":{}}</tool_call>"#, None, &opts);
/// assert_eq!(parsed.calls().next().map(|call| call.tool_name()), Some("ls"));
/// # Ok::<(), msg_xml::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Entry>", into = "Vec<Entry>")]
pub struct Dialects {
    /// In the order in which they are tried.
    list: Vec<Dialect>,
}

/// The name of all built-in dialects together.
const ALL: &str = "all";
/// The name of no dialect at all.
const NOTHING: &str = "none";

impl Dialects {
    /// The names of the built-in dialects, in the order in which they are tried (XT-32).
    pub const NAMES: [&'static str; 14] = [
        "invoke", "hermes", "glm", "qwen", "cline", "dsml", "minimax", "harmony", "kimi",
        "deepseek", "llama", "pythonic", "mistral", "fenced",
    ];

    /// All built-in dialects.
    ///
    /// ```
    /// use msg_xml::{Dialects, ParseOptions, parse};
    /// let text = br#"<|channel|>commentary to=functions.ls <|constrain|>json<|message|>{"path":"."}<|call|>"#;
    /// let parsed = parse(text, None, &ParseOptions::new().with_dialects(Dialects::all()));
    /// assert_eq!(parsed.calls().next().map(|call| call.tool_name()), Some("ls"));
    /// ```
    pub fn all() -> Self {
        Dialects { list: Self::NAMES.into_iter().filter_map(built_in).collect() }
    }

    /// The built-in dialects with these names; `all` means all of them, a single `none` means no
    /// dialect.
    ///
    /// # Errors
    /// A name that is not one of [`Dialects::NAMES`].
    pub fn by_names<'n>(names: impl IntoIterator<Item = &'n str>) -> Result<Self, Error> {
        let names: Vec<&str> = names.into_iter().collect();
        if names.contains(&ALL) {
            return Ok(Self::all());
        }
        if names == [NOTHING] {
            return Ok(Self::default());
        }
        if let Some(unknown) = names.iter().find(|name| !Self::NAMES.contains(name)) {
            let reason = format!("expected one of {}, {ALL}, {NOTHING}", Self::NAMES.join(", "));
            return Err(Error::InvalidDialect { name: (*unknown).to_owned(), reason });
        }
        let wanted = Self::NAMES.into_iter().filter(|name| names.contains(name));
        Ok(Dialects { list: wanted.filter_map(built_in).collect() })
    }

    /// Adds a dialect that is described by data. It is tried after the built-in ones.
    ///
    /// # Errors
    /// The name is taken, or two tags of the grammar cannot be distinguished.
    pub fn add(&mut self, grammar: Grammar) -> Result<(), Error> {
        grammar.check()?;
        if self.names().any(|name| name == grammar.name)
            || Self::NAMES.contains(&grammar.name.as_str())
        {
            return Err(Error::InvalidDialect {
                name: grammar.name,
                reason: "the name is taken".to_owned(),
            });
        }
        self.list.push(Dialect::Tags(Arc::new(grammar)));
        Ok(())
    }

    /// Adds a dialect that is described in TOML.
    ///
    /// # Errors
    /// The TOML does not describe a [`Grammar`], and as [`Dialects::add`].
    ///
    /// ```
    /// # use msg_xml::{Dialects, ParseOptions, parse};
    /// let mut dialects = Dialects::default();
    /// dialects.add_toml(r#"
    ///     name = "actions"
    ///     call = [{ tag = "action", name = { attribute = "do" } }]
    ///     parameter = [{ tag = "with", name = { attribute = "key" } }]
    /// "#)?;
    /// let text = br#"<action do="ls"><with key="path">src</with></action>"#;
    /// let parsed = parse(text, None, &ParseOptions::new().with_dialects(dialects));
    /// assert_eq!(parsed.calls().next().map(|call| call.arguments().text()), Some(r#"{"path":"src"}"#));
    /// # Ok::<(), msg_xml::Error>(())
    /// ```
    #[cfg(feature = "toml")]
    pub fn add_toml(&mut self, text: &str) -> Result<(), Error> {
        self.add(toml::from_str(text).map_err(|error| invalid_grammar(text, &error))?)
    }

    /// The names of the enabled dialects, in the order in which they are tried.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(Dialect::name)
    }

    /// Whether no dialect is enabled.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether a token dialect is enabled.
    pub(crate) fn reads(&self, family: &'static Family) -> bool {
        self.list.contains(&Dialect::Tokens(family))
    }

    /// Whether a whole message may be a call without tokens.
    pub(crate) fn reads_bare(&self) -> bool {
        self.list.iter().any(|it| matches!(it, Dialect::Tokens(family) if family.is_bare))
    }

    /// The dialects in that order.
    pub(crate) fn list(&self) -> &[Dialect] {
        &self.list
    }
}

#[cfg(feature = "toml")]
fn invalid_grammar(text: &str, error: &toml::de::Error) -> Error {
    let at = error.span().map_or(0, |span| span.start.min(text.len()));
    let before = text.get(..at).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(0, |i| i + 1);
    Error::InvalidGrammar {
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
        reason: error.message().to_owned(),
    }
}

impl Dialect {
    fn name(&self) -> &str {
        match self {
            Dialect::Tags(grammar) | Dialect::Glm(grammar) => &grammar.name,
            Dialect::Hermes => "hermes",
            Dialect::Cline => "cline",
            Dialect::Tokens(family) => family.name,
        }
    }
}

fn built_in(name: &str) -> Option<Dialect> {
    if let Some(family) = FAMILIES.into_iter().find(|it| it.name == name) {
        return Some(Dialect::Tokens(family));
    }
    let grammar = GRAMMARS.iter().find(|it| it.name == name).cloned();
    match name {
        "hermes" => Some(Dialect::Hermes),
        "cline" => Some(Dialect::Cline),
        "glm" => grammar.map(Dialect::Glm),
        _ => grammar.map(Dialect::Tags),
    }
}

/// A name, or a grammar.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Entry {
    Name(String),
    Grammar(Box<Grammar>),
}

impl From<Dialects> for Vec<Entry> {
    fn from(dialects: Dialects) -> Self {
        let entry = |dialect: Dialect| match dialect {
            Dialect::Tags(grammar) if !Dialects::NAMES.contains(&grammar.name.as_str()) => {
                Entry::Grammar(Box::new(Arc::unwrap_or_clone(grammar)))
            }
            other => Entry::Name(other.name().to_owned()),
        };
        dialects.list.into_iter().map(entry).collect()
    }
}

impl TryFrom<Vec<Entry>> for Dialects {
    type Error = Error;

    fn try_from(entries: Vec<Entry>) -> Result<Self, Error> {
        let name = |it: &Entry| if let Entry::Name(name) = it { Some(name.clone()) } else { None };
        let names: Vec<String> = entries.iter().filter_map(name).collect();
        let mut dialects = Dialects::by_names(names.iter().map(String::as_str))?;
        for entry in entries {
            if let Entry::Grammar(grammar) = entry {
                dialects.add(*grammar)?;
            }
        }
        Ok(dialects)
    }
}

// A tag dialect as data (XT-33): the shapes of its wrapper, call and parameter tags. The built-in dialects in
// `dialects.json` use the same format as those of users.

/// The grammar of a dialect of the form `W? (C (P value /P)* /C)+ /W?`.
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
    /// The name, which becomes the `format` of a call.
    pub name: String,
    /// Tags that may surround calls.
    pub wrapper: Vec<TagShape>,
    /// Whether calls are read only inside of a wrapper.
    pub wrapper_required: bool,
    /// Tags that open a call.
    pub call: Vec<TagShape>,
    /// Tags that open a parameter.
    pub parameter: Vec<TagShape>,
    /// Wrappers that may contain JSON objects with `name` and `arguments` instead of calls.
    pub json_list: Vec<TagShape>,
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

    /// Whether its tags can be distinguished.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let Grammar { wrapper, call, parameter, json_list, .. } = self;
        let mut shapes = wrapper.iter().chain(call).chain(parameter).chain(json_list);
        let same_tag =
            |a: &TagShape, b: &TagShape| a.tag.eq_ignore_ascii_case(&b.tag) && a.bars == b.bars;
        let reason = if self.name.is_empty() || call.is_empty() {
            "it needs a name and a call tag"
        } else if !shapes.all(TagShape::valid) {
            "a tag, attribute, prefix or word between bars is not of ASCII letters, digits, '_', '.', '-' and ':'"
        } else if call.iter().chain(parameter).any(|shape| shape.name == NameForm::None) {
            "call and parameter tags need a name"
        } else if call.iter().any(|shape| same_tag(shape, &TagShape::bare("tool"))) {
            "<tool> is the native block"
        } else if call.iter().any(|a| parameter.iter().any(|b| same_tag(a, b))) {
            "a call and a parameter have the same tag"
        } else {
            return Ok(());
        };
        Err(Error::InvalidDialect { name: self.name.clone(), reason: reason.to_owned() })
    }
}

// The families of models whose calls are between special tokens (XT-48 to XT-55), as data: what reads them is `special`.
//
// ```text
// kimi   <|tool_call_begin|>functions.ls:0<|tool_call_argument_begin|>{"path":"."}<|tool_call_end|>
// open               name           separators                  Syntax       close
// ```

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Syntax {
    /// The arguments, as JSON.
    Arguments,
    /// Objects with a name and arguments, as JSON.
    Objects,
    /// Calls in Python's syntax.
    Python,
}

/// The tokens of a family of models. In a pattern `｜` is either bar, and `▁` is that, `_` or a space.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Family {
    /// The dialect's name.
    pub(crate) name: &'static str,
    /// The tokens before the first call, which are optional.
    pub(crate) section: &'static [&'static str],
    /// The tokens that begin a call.
    pub(crate) open: &'static [&'static str],
    /// The tokens between name and arguments.
    pub(crate) separators: &'static [&'static str],
    /// The tokens that end a call.
    pub(crate) close: &'static [&'static str],
    /// The tokens that may follow an unclosed call. They are ignored after a call.
    pub(crate) after: &'static [&'static str],
    /// How the value is written.
    pub(crate) syntax: Syntax,
    /// The value may also be the whole message, without tokens.
    pub(crate) is_bare: bool,
}

const NONE: &[&str] = &[];

/// XT-48: the calls of harmony; its headers are read apart.
pub(crate) static HARMONY: Family = Family {
    name: "harmony",
    section: NONE,
    open: NONE,
    separators: NONE,
    close: &["<|call|>", "<|end|>", "<|return|>"],
    after: &["<|start|>", "<|channel|>"],
    syntax: Syntax::Arguments,
    is_bare: false,
};

/// XT-49.
pub(crate) static KIMI: Family = Family {
    name: "kimi",
    section: &["<|tool_calls_section_begin|>", "<|tool_call_section_begin|>"],
    open: &["<|tool_call_begin|>"],
    separators: &["<|tool_call_argument_begin|>"],
    close: &["<|tool_call_end|>"],
    after: &["<|tool_calls_section_end|>", "<|tool_call_section_end|>", "<|im_end|>"],
    syntax: Syntax::Arguments,
    is_bare: false,
};

/// XT-50.
pub(crate) static DEEPSEEK: Family = Family {
    name: "deepseek",
    section: &["<｜tool▁calls▁begin｜>"],
    open: &["<｜tool▁call▁begin｜>"],
    separators: &["<｜tool▁sep｜>"],
    close: &["<｜tool▁call▁end｜>"],
    after: &["<｜tool▁calls▁end｜>", "<｜end▁of▁sentence｜>"],
    syntax: Syntax::Arguments,
    is_bare: false,
};

/// XT-51.
pub(crate) static LLAMA: Family = Family {
    name: "llama",
    section: NONE,
    open: &["<|python_tag|>"],
    separators: NONE,
    close: NONE,
    after: &["<|eom_id|>", "<|eot_id|>", "<|eot|>"],
    syntax: Syntax::Objects,
    is_bare: true,
};

/// XT-52, XT-53.
static PYTHONIC: Family = Family {
    name: "pythonic",
    section: NONE,
    open: &["<|python_start|>", "<|tool_call_start|>"],
    separators: NONE,
    close: &["<|python_end|>", "<|tool_call_end|>"],
    after: &["<|eom|>", "<|eot|>", "<|eot_id|>", "<|im_end|>"],
    syntax: Syntax::Python,
    is_bare: true,
};

/// XT-54.
pub(crate) static MISTRAL: Family = Family {
    name: "mistral",
    section: NONE,
    open: &[MISTRAL_OPEN],
    separators: &["[CALL_ID]", "[ARGS]"],
    close: NONE,
    after: &["</s>"],
    syntax: Syntax::Arguments,
    is_bare: false,
};

/// XT-55.
pub(crate) static FENCED: Family = Family {
    name: "fenced",
    section: NONE,
    open: NONE,
    separators: NONE,
    close: NONE,
    after: NONE,
    syntax: Syntax::Objects,
    is_bare: false,
};

/// All of them.
pub(crate) static FAMILIES: [&Family; 7] =
    [&HARMONY, &KIMI, &DEEPSEEK, &LLAMA, &PYTHONIC, &MISTRAL, &FENCED];

/// The token that begins the calls of Mistral's models.
pub(crate) const MISTRAL_OPEN: &str = "[TOOL_CALLS]";

/// A tag: `<`, a prefix or a word between bars, the word, the name, `>`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct TagShape {
    /// The word; case is ignored.
    pub tag: String,
    /// An optional prefix of the word.
    pub optional_prefix: Option<String>,
    /// A word between bars before the tag's own word, such as `DSML`.
    pub bars: Option<String>,
    /// Where the name is. A wrapper has no name.
    pub name: NameForm,
}

/// The place of the name in a tag.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NameForm {
    /// The tag has no name.
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
    /// Whether `string="false"` was absent.
    pub(crate) text: bool,
}

/// The result of `parser` at `p`, and the offset after it. Waits for more input while the result is undecided.
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

/// The bytes that can complete an unfinished tag: after its blanks, or at the end of its name.
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

#[cfg(test)]
mod tests {
    use super::{Dialects, FAMILIES, GRAMMARS};

    #[test]
    fn every_built_in_dialect_is_in_the_list_of_names() {
        let rows = GRAMMARS.iter().map(|it| it.name.as_str());
        let mut known: Vec<&str> = rows.chain(FAMILIES.map(|it| it.name)).collect();
        known.extend(["hermes", "cline"]);
        known.sort_unstable();
        let mut names = Dialects::NAMES.to_vec();
        names.sort_unstable();
        assert_eq!(
            known, names,
            "left: dialects.json, FAMILIES and those read by hand; right: Dialects::NAMES"
        );
        assert_eq!(Dialects::all().names().collect::<Vec<_>>(), Dialects::NAMES);
    }
}
