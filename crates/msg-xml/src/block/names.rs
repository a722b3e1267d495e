//! What names something: name elements (XT-13), the attributes of an opener, a parameter's key (XT-18).

use std::borrow::Cow;

use crate::code::Code;
use crate::input::{Incomplete, Input, Need};
use crate::lex::{self, OpenTag, PARAM, Tag};
use crate::value;

/// A name element that has been read.
pub(super) struct Name<'a> {
    /// With the blanks around it.
    pub(super) content: Cow<'a, str>,
    pub(super) end: usize,
    pub(super) report: Option<Code>,
}

impl Name<'_> {
    /// That of an element which is closed at once.
    pub(super) fn empty(end: usize) -> Self {
        Name { content: "".into(), end, report: None }
    }
}

/// What stands between `<tool` and the `>` before `body`.
pub(super) fn opener_attributes<'a>(w: &Input<'a>, start: usize, body: usize) -> &'a str {
    let tag = w.str(start, body);
    tag.strip_suffix('>').and_then(|t| t.get("<tool".len()..)).unwrap_or_default()
}

/// XT-13: the content of the NAME or SERVER element `own`, which begins at `from`; `None` if the input ends in it.
pub(super) fn read_name<'a>(
    w: &Input<'a>,
    own: &str,
    from: usize,
) -> Result<Option<Name<'a>>, Incomplete> {
    let (p, next) = w.after_blanks(from)?;
    let mut section = "";
    let mut text = from;
    if next == Some(b'<') && lex::marker(w, p)? {
        let from = p + lex::CDATA.len();
        let Some(end) = w.find_text("]]>", from) else {
            return if w.eof { Ok(None) } else { Err(Incomplete::on(Need::Byte(b'>'))) };
        };
        section = w.str(from, end);
        text = end + "]]>".len();
    }
    let Some(lt) = w.find(b'<', text) else {
        return if w.eof { Ok(None) } else { Err(Incomplete::on(Need::Byte(b'<'))) };
    };
    let (end, report) = match lex::tag(w, lt)? {
        Tag::Close(c) if c.is(own) => (c.end, None),
        Tag::Close(c) => (c.end, Some(Code::MismatchedCloseTag)),
        Tag::Cut => return Ok(None),
        Tag::Open(_) | Tag::None => (lt, Some(Code::MissingCloseTag)),
    };
    let text = value::decoded(w.str(text, lt));
    let content = if section.is_empty() { text } else { Cow::Owned(format!("{section}{text}")) };
    Ok(Some(Name { content, end, report }))
}

/// The name of a parameter: its tag's, or what a PARAM word's attribute says.
pub(super) fn param_key<'a>(t: &OpenTag<'a>) -> &'a str {
    let named = match lex::is_word(t.name, &PARAM) {
        true => lex::attribute(t.attrs, &["name"]).map(lex::trim),
        false => None,
    };
    named.filter(|name| !name.is_empty()).unwrap_or(t.name)
}
