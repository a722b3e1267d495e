//! The value of a text: CDATA sections, the block rule and entities (XT-25, XT-26).
//! Where a text ends is decided elsewhere.

use std::borrow::Cow;

use quick_xml::escape;

use crate::code::Code;
use crate::input::Input;
use crate::lex;
use crate::lex::{Tag, trim};

/// A CDATA section by its marker, content and end, relative to the text that holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Section {
    pub(crate) start: usize,
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) end: usize,
}

impl Section {
    /// The same by positions within the text that begins at `base`.
    pub(crate) fn relative(&self, base: usize) -> Self {
        Section {
            start: self.start - base,
            from: self.from - base,
            to: self.to - base,
            end: self.end - base,
        }
    }
}

/// The section among `sections`, which ascend, in which `pos` lies.
pub(crate) fn section_at(sections: &[Section], pos: usize) -> Option<&Section> {
    let n = sections.partition_point(|s| s.end <= pos);
    sections.get(n).filter(|s| s.start <= pos)
}

/// What reading a value found, to be reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Notes {
    pub(crate) escaped_cdata: bool,
    pub(crate) ambiguous: bool,
    pub(crate) bad_refs: usize,
}

impl Notes {
    /// The reports that it comes to.
    pub(crate) fn codes(self) -> impl Iterator<Item = Code> {
        let escaped = self.escaped_cdata.then_some(Code::EscapedCdata);
        let ambiguous = self.ambiguous.then_some(Code::AmbiguousEntities);
        let bad_refs = std::iter::repeat_n(Code::InvalidCharRef, self.bad_refs);
        escaped.into_iter().chain(ambiguous).chain(bad_refs)
    }

    fn add(&mut self, other: Notes) {
        self.escaped_cdata |= other.escaped_cdata;
        self.ambiguous |= other.ambiguous;
        self.bad_refs += other.bad_refs;
    }
}

/// Longest of the five entities.
const LONGEST_ENTITY: usize = "&quot;".len();
/// A character reference with more digits is not one.
const REFERENCE_DIGITS: usize = 10;
/// How the placeholder of a section begins.
pub(crate) const PLACEHOLDER: &str = "CDATA-START[";
/// A CDATA marker of which the bracket was escaped.
const ESCAPED_CDATA: &str = "&lt;![CDATA[";

/// XT-25.
pub(crate) fn value(text: &str, sections: &[Section]) -> (String, Notes) {
    if sections.is_empty() {
        return plain(text);
    }
    let is_exact = outside(text, sections).all(lex::all_blank);
    let (mut out, mut notes) = (String::with_capacity(text.len()), Notes::default());
    for (i, between) in outside(text, sections).enumerate() {
        match is_exact {
            true if i == 0 || i == sections.len() => {}
            true => out.push_str(between),
            false => notes.add(decode(between, &mut out)),
        }
        out.push_str(sections.get(i).map_or("", |s| &text[s.from..s.to]));
    }
    (out, notes)
}

/// The text before, between and after sections.
fn outside<'t>(text: &'t str, sections: &[Section]) -> impl Iterator<Item = &'t str> {
    let starts = sections.iter().map(|s| s.start).chain([text.len()]);
    let ends = [0].into_iter().chain(sections.iter().map(|s| s.end));
    ends.zip(starts).map(|(from, to)| &text[from..to])
}

fn plain(text: &str) -> (String, Notes) {
    let trimmed = trim(text);
    if let Some(inner) =
        trimmed.strip_prefix(PLACEHOLDER).and_then(|t| t.strip_suffix("]CDATA-END"))
    {
        return (inner.to_owned(), Notes::default());
    }
    let mut out = String::with_capacity(text.len());
    if let Some((marker, inner)) = trimmed.split_at_checked(ESCAPED_CDATA.len())
        && marker.starts_with("&lt;")
        && marker.eq_ignore_ascii_case(ESCAPED_CDATA)
        && let Some(inner) = inner.strip_suffix("]]&gt;")
    {
        let mut notes = decode(inner, &mut out);
        notes.escaped_cdata = true;
        return (out, notes);
    }
    let notes = decode(block_rule(text), &mut out);
    (out, notes)
}

/// Length of the spaces, tabs and the line break that the block rule takes from the front; 0 if it does not apply.
pub(crate) fn block_lead(text: &str) -> usize {
    let b = text.as_bytes();
    let n = b.iter().position(|c| !matches!(c, b' ' | b'\t')).unwrap_or(b.len());
    match (b.get(n), b.get(n + 1)) {
        (Some(b'\r'), Some(b'\n')) => n + 2,
        (Some(b'\r' | b'\n'), _) => n + 1,
        _ => 0,
    }
}

/// The block rule of XT-25.
pub(crate) fn block_rule(text: &str) -> &str {
    let lead = block_lead(text);
    if lead == 0 {
        return text;
    }
    let text = &text[lead..];
    let end = text.trim_end_matches([' ', '\t']);
    end.strip_suffix("\r\n")
        .or_else(|| end.strip_suffix('\n'))
        .or_else(|| end.strip_suffix('\r'))
        .unwrap_or(text)
}

/// XT-26: `text` with its entities decoded once.
pub(crate) fn decoded(text: &str) -> Cow<'_, str> {
    if memchr::memchr(b'&', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    decode(text, &mut out);
    Cow::Owned(out)
}

/// XT-26: appends `text` with its entities decoded once, unless there is markup in it.
pub(crate) fn decode(text: &str, out: &mut String) -> Notes {
    let mut notes = Notes::default();
    if memchr::memchr(b'&', text.as_bytes()).is_none() {
        out.push_str(text);
        return notes;
    }
    if has_markup(text) {
        out.push_str(text);
        let is_entity = |i| matches!(entity(&text[i..]), Entity::Char(..));
        notes.ambiguous = memchr::memchr_iter(b'&', text.as_bytes()).any(is_entity);
        return notes;
    }
    let mut rest = text;
    while let Some(i) = memchr::memchr(b'&', rest.as_bytes()) {
        out.push_str(&rest[..i]);
        rest = &rest[i..];
        let (c, used) = match entity(rest) {
            Entity::Char(c, used) => (c, used),
            other => {
                notes.bad_refs += usize::from(matches!(other, Entity::Bad));
                ('&', 1)
            }
        };
        out.push(c);
        rest = &rest[used..];
    }
    out.push_str(rest);
    notes
}

enum Entity {
    Char(char, usize),
    /// A character reference to nothing.
    Bad,
    None,
}

/// The entity at the start of `s`, which begins with `&`.
fn entity(s: &str) -> Entity {
    let Some(number) = s.strip_prefix("&#") else { return named_entity(s) };
    let (digits, radix) = number.strip_prefix('x').map_or((number, 10), |hex| (hex, 16));
    let n = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    if n == 0 || digits.as_bytes().get(n) != Some(&b';') {
        return Entity::None;
    }
    let end = s.len() - digits.len() + n + 1;
    match escape::unescape(&s[..end]).ok().and_then(|text| text.chars().next()) {
        Some(c) if n <= REFERENCE_DIGITS => Entity::Char(c, end),
        _ => Entity::Bad,
    }
}

fn named_entity(s: &str) -> Entity {
    let head = &s.as_bytes()[..s.len().min(LONGEST_ENTITY)];
    let Some(end) = memchr::memchr(b';', head) else { return Entity::None };
    match escape::resolve_xml_entity(&s[1..end]).and_then(|text| text.chars().next()) {
        Some(c) => Entity::Char(c, end + 1),
        None => Entity::None,
    }
}

/// Whether `s`, which begins with `&`, is the beginning of an entity.
pub(crate) fn is_cut_entity(s: &str) -> bool {
    let Some(number) = s.strip_prefix("&#") else {
        let named = ["&amp;", "&lt;", "&gt;", "&quot;", "&apos;"];
        return named.iter().any(|entity| entity.len() > s.len() && entity.starts_with(s));
    };
    let (digits, radix) = number.strip_prefix('x').map_or((number, 10), |hex| (hex, 16));
    digits.len() <= REFERENCE_DIGITS && digits.chars().all(|c| c.is_digit(radix))
}

/// Whether markup is in a text: a tag, a comment, a declaration or an instruction.
fn has_markup(text: &str) -> bool {
    let w = Input { text, base: 0, eof: true };
    memchr::memchr_iter(b'<', text.as_bytes()).any(|i| match &text.as_bytes()[i + 1..] {
        [b'!', b'-', b'-', ..] => true,
        [b'!', word @ ..] => {
            word.get(..7).is_some_and(|word| word.eq_ignore_ascii_case(b"DOCTYPE"))
        }
        [b'?', next, ..] => next.is_ascii_alphabetic(),
        _ => matches!(lex::tag(&w, i), Ok(Tag::Open(_) | Tag::Close(_))),
    })
}
