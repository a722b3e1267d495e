//! Tags, names and the words of the format (section 1 of the rules): single tokens, decided from a window.
//! Knows nothing of what a token means where it stands.

use crate::window::{MORE, Wait, Wake, Win, is_blank};

pub(crate) const ARGS: [&str; 5] = ["arguments", "args", "parameters", "params", "input"];
pub(crate) const PARAM: [&str; 3] = ["parameter", "param", "arg"];
pub(crate) const THINK: [&str; 5] = ["thinking", "think", "thought", "reasoning", "antThinking"];
pub(crate) const NAME: [&str; 2] = ["tool_name", "name"];
pub(crate) const SERVER: [&str; 2] = ["server_name", "server"];
pub(crate) const CDATA: &str = "<![CDATA[";

/// Whether two names are the same, case aside; most are written as the format has them.
pub(crate) fn same(a: &str, b: &str) -> bool {
    a.len() == b.len() && (a == b || a.eq_ignore_ascii_case(b))
}

/// Whether `name` is one of `words`, case aside.
pub(crate) fn is_word(name: &str, words: &[&str]) -> bool {
    words.iter().any(|w| same(w, name))
}

/// Any envelope word.
pub(crate) fn is_envelope(name: &str) -> bool {
    is_word(name, &NAME) || is_word(name, &SERVER) || is_word(name, &ARGS)
}

/// `<name …>`; positions are absolute.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenTag<'a> {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Without its prefix.
    pub(crate) name: &'a str,
    pub(crate) prefixed: bool,
    /// What stands between name and `>`, the closing `/` aside.
    pub(crate) attrs: &'a str,
    pub(crate) self_closing: bool,
}

/// `</name >`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CloseTag<'a> {
    pub(crate) end: usize,
    pub(crate) name: &'a str,
    pub(crate) prefixed: bool,
}

/// What stands at a `<`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Tag<'a> {
    Open(OpenTag<'a>),
    Close(CloseTag<'a>),
    /// The end of input cut something that could have become a tag.
    Cut,
    /// No tag of ours.
    None,
}

impl<'a> OpenTag<'a> {
    pub(crate) fn bare(&self) -> bool {
        self.attrs.bytes().all(is_blank)
    }

    pub(crate) fn is(&self, word: &str) -> bool {
        same(self.name, word)
    }

    /// `<tool …>`, without prefix.
    pub(crate) fn is_tool(&self) -> bool {
        !self.prefixed && self.is("tool")
    }

    /// A PARAM word with a `name` attribute.
    pub(crate) fn named_param(&self) -> bool {
        is_word(self.name, &PARAM) && attribute(self.attrs, &["name"]).is_some()
    }
}

impl CloseTag<'_> {
    pub(crate) fn is(&self, word: &str) -> bool {
        same(self.name, word)
    }

    /// `</tool>`, without prefix.
    pub(crate) fn is_tool(&self) -> bool {
        !self.prefixed && self.is("tool")
    }
}

/// End of the name at the start of `s`, in bytes; 0 if none begins here.
pub(crate) fn name_len(s: &str) -> usize {
    let bytes = s.as_bytes();
    let len = bytes.iter().position(|&b| !IN_NAME[usize::from(b)]).unwrap_or(bytes.len());
    match (bytes.first(), bytes.get(len)) {
        (_, Some(0x80..)) => unicode_name_len(s),
        (Some(b'A'..=b'Z' | b'a'..=b'z' | b'_'), _) => len,
        _ => 0,
    }
}

/// The ASCII characters of names.
static IN_NAME: [bool; 256] = {
    let mut table = [false; 256];
    let mut b = 0_u8;
    while b < 0x80 {
        table[b as usize] = b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-');
        b += 1;
    }
    table
};

fn unicode_name_len(s: &str) -> usize {
    let mut len = 0;
    for (i, c) in s.char_indices() {
        let fits = if i == 0 {
            c.is_alphabetic() || c == '_'
        } else {
            c.is_alphanumeric() || matches!(c, '_' | '.' | '-')
        };
        if !fits {
            break;
        }
        len = i + c.len_utf8();
    }
    len
}

/// Reads the tag at `pos`, where a `<` stands.
pub(crate) fn tag<'a>(w: &Win<'a>, pos: usize) -> Result<Tag<'a>, Wait> {
    let short = |wake| if w.eof { Ok(Tag::Cut) } else { Err(Wait::on(wake)) };
    let Some(next) = w.at(pos + 1) else { return short(Wake::Any) };
    let close = next == b'/';
    let first = pos + 1 + usize::from(close);
    let rest = w.str(first, w.end());
    let mut at = name_len(rest);
    if at == 0 {
        return if rest.is_empty() { short(Wake::Any) } else { Ok(Tag::None) };
    }
    let mut name = &rest[..at];
    let mut prefixed = false;
    if rest.as_bytes().get(at) == Some(&b':') {
        let len = name_len(&rest[at + 1..]);
        if len == 0 {
            return if at + 1 == rest.len() { short(Wake::Any) } else { Ok(Tag::None) };
        }
        name = &rest[at + 1..at + 1 + len];
        at += 1 + len;
        prefixed = true;
    }
    let Some(&after) = rest.as_bytes().get(at) else { return short(Wake::NameEnd) };
    if close {
        return close_tag(w, first + at, name, prefixed);
    }
    match after {
        b'>' => Ok(Tag::Open(OpenTag {
            start: pos,
            end: first + at + 1,
            name,
            prefixed,
            attrs: "",
            self_closing: false,
        })),
        b'/' => match rest.as_bytes().get(at + 1) {
            Some(b'>') => Ok(Tag::Open(OpenTag {
                start: pos,
                end: first + at + 2,
                name,
                prefixed,
                attrs: "",
                self_closing: true,
            })),
            Some(_) => Ok(Tag::None),
            None => short(Wake::Any),
        },
        b if is_blank(b) => match memchr::memchr2(b'<', b'>', &rest.as_bytes()[at..]) {
            None => short(Wake::Either(b'<', b'>')),
            Some(i) if rest.as_bytes()[at + i] == b'<' => Ok(Tag::None),
            Some(i) => {
                let attrs = &rest[at..at + i];
                let self_closing = attrs.ends_with('/');
                let attrs = attrs.strip_suffix('/').unwrap_or(attrs);
                Ok(Tag::Open(OpenTag {
                    start: pos,
                    end: first + at + i + 1,
                    name,
                    prefixed,
                    attrs,
                    self_closing,
                }))
            }
        },
        _ => Ok(Tag::None),
    }
}

fn close_tag<'a>(w: &Win<'a>, at: usize, name: &'a str, prefixed: bool) -> Result<Tag<'a>, Wait> {
    let p = w.skip_blanks(at);
    match w.at(p) {
        Some(b'>') => Ok(Tag::Close(CloseTag { end: p + 1, name, prefixed })),
        Some(_) => Ok(Tag::None),
        None if w.eof => Ok(Tag::Cut),
        None => Err(Wait::on(Wake::NonBlank)),
    }
}

/// Whether a CDATA marker stands at `pos`, in any case.
pub(crate) fn marker(w: &Win<'_>, pos: usize) -> Result<bool, Wait> {
    w.word(pos, CDATA)
}

/// The quoted value of the first of `keys` among `attrs`; `None` if there is none.
pub(crate) fn attribute<'a>(attrs: &'a str, keys: &[&str]) -> Option<&'a str> {
    attributes(attrs, keys).next()
}

/// The quoted values of all of `keys` among `attrs`.
pub(crate) fn attributes<'a>(attrs: &'a str, keys: &[&str]) -> impl Iterator<Item = &'a str> {
    Attributes { attrs, at: 0 }.filter_map(|a| a.value.filter(|_| a.quoted && is_word(a.key, keys)))
}

/// The value of `key`, quoted or not.
pub(crate) fn attribute_any<'a>(attrs: &'a str, key: &str) -> Option<&'a str> {
    Attributes { attrs, at: 0 }.find_map(|a| a.value.filter(|_| a.key.eq_ignore_ascii_case(key)))
}

struct Attribute<'a> {
    key: &'a str,
    value: Option<&'a str>,
    quoted: bool,
}

/// Attributes in order; blanks around `=` are allowed, keys without value too.
struct Attributes<'a> {
    attrs: &'a str,
    at: usize,
}

impl<'a> Attributes<'a> {
    fn skip_blanks(&mut self) -> Option<u8> {
        let rest = &self.attrs.as_bytes()[self.at..];
        self.at += rest.iter().position(|&b| !is_blank(b)).unwrap_or(rest.len());
        self.attrs.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, stop: impl Fn(u8) -> bool) -> &'a str {
        let rest = &self.attrs[self.at..];
        let n = rest.bytes().position(stop).unwrap_or(rest.len());
        self.at += n;
        &rest[..n]
    }
}

impl<'a> Iterator for Attributes<'a> {
    type Item = Attribute<'a>;

    fn next(&mut self) -> Option<Attribute<'a>> {
        self.skip_blanks()?;
        let key = self.take(|b| is_blank(b) || b == b'=');
        if self.skip_blanks() != Some(b'=') {
            return Some(Attribute { key, value: None, quoted: false });
        }
        self.at += 1;
        let Some(q @ (b'"' | b'\'')) = self.skip_blanks() else {
            let value = self.take(is_blank);
            return Some(Attribute { key, value: Some(value), quoted: false });
        };
        self.at += 1;
        let value = self.take(|b| b == q);
        let closed = self.at < self.attrs.len();
        self.at += usize::from(closed);
        Some(Attribute { key, value: closed.then_some(value), quoted: true })
    }
}

/// XT-13: `[\w.\-:/]{1,128}` with Unicode letters and digits.
pub(crate) fn valid_tool_name(name: &str) -> bool {
    let n = name.chars().take(129).count();
    (1..=128).contains(&n)
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | ':' | '/'))
}

/// Blanks only; a no-break space is not a blank.
pub(crate) fn all_blank(s: &str) -> bool {
    s.bytes().all(is_blank)
}

/// Trims blanks at both ends.
pub(crate) fn trim(s: &str) -> &str {
    s.trim_matches([' ', '\t', '\r', '\n'])
}

/// Whether the `<` at `pos` begins something that the end of input cut: a tag, a marker, a comment (XT-16, XT-22).
pub(crate) fn cut_markup(w: &Win<'_>, pos: usize) -> bool {
    w.eof
        && (matches!(tag(w, pos), Ok(Tag::Cut))
            || w.cut_word(pos, CDATA)
            || w.cut_word(pos, "<!--"))
}

/// Asks for the byte at `pos`; `None` only at the end of input.
pub(crate) fn need(w: &Win<'_>, pos: usize) -> Result<Option<u8>, Wait> {
    match w.at(pos) {
        None if !w.eof => Err(MORE),
        b => Ok(b),
    }
}
