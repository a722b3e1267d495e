//! `key=value` attributes of a definition (MF-11), read leniently and never guessed a type.
//!
//! Values stay spans of the file; decoding happens when somebody asks for one.

use super::definition::key;
use crate::span::Span;
use crate::syntax::line::{is_blank, white_len};
use nom::IResult;
use nom::Parser;
use nom::branch::alt;
use nom::bytes::complete::tag;
use nom::combinator::map;

/// An attribute as it stands in the file: 16 bytes, since a hostile line holds millions.
///
/// ```text
/// history="exclude"
/// ▲        ▲     ▲
/// start    from  to      and one byte to close
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RawAttr {
    start: u32,
    from: u32,
    to: u32,
    /// Bytes of the closing quote, or of the comma behind it.
    close: u8,
    form: Form,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Flag,
    Plain,
    Escaped,
}

impl RawAttr {
    /// `whole` is key, equals sign and value with its quotes. Offsets are below 4 GiB, as those of every
    /// file that is read.
    pub(super) fn new(value: RawValue, whole: Span) -> Self {
        let (form, span) = match value {
            RawValue::Flag => (Form::Flag, Span::new(whole.end, whole.end)),
            RawValue::Plain(it) => (Form::Plain, it),
            RawValue::Escaped(it) => (Form::Escaped, it),
        };
        let [start, from, to] = [whole.start, span.start, span.end].map(|it| it as u32);
        Self { start, from, to, close: (whole.end - span.end) as u8, form }
    }

    /// The key, which ends where the equals sign or a blank before it stands.
    pub(crate) fn key<'a>(&self, source: &'a [u8]) -> &'a [u8] {
        let whole = self.whole().of(source);
        let len = whole.iter().position(|&b| b == b'=' || is_blank(b)).unwrap_or(whole.len());
        &whole[..len]
    }

    /// Key, equals sign and value with its quotes.
    pub(crate) fn whole(&self) -> Span {
        Span::new(self.start as usize, self.to as usize + usize::from(self.close))
    }

    pub(crate) fn value(&self) -> RawValue {
        let inner = Span::new(self.from as usize, self.to as usize);
        match self.form {
            Form::Flag => RawValue::Flag,
            Form::Plain => RawValue::Plain(inner),
            Form::Escaped => RawValue::Escaped(inner),
        }
    }
}

/// A value and how it is quoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RawValue {
    /// No equals sign.
    Flag,
    /// Bare, or in quotes that hold no escapes: `'…'`, `“…”`.
    Plain(Span),
    /// In `"…"`: `\"`, `\\` and numeric references are to be decoded.
    Escaped(Span),
}

/// What was read from one line of attributes.
#[derive(Debug, Default)]
pub(crate) struct Lexed {
    pub(crate) attrs: Vec<RawAttr>,
    /// Codes of what was odd, without repetition.
    pub(crate) codes: Vec<&'static str>,
}

impl Lexed {
    fn note(&mut self, code: &'static str) {
        if !self.codes.contains(&code) {
            self.codes.push(code);
        }
    }
}

struct Lexer<'a> {
    line: &'a [u8],
    at: usize,
    /// Open `[`s.
    depth: usize,
    /// No `”` from here on: looked for once.
    no_smart_end: bool,
}

/// Reads the attributes of `line[from..]`; `base` is the offset of `line` in the file.
///
/// Cost: linear in the line.
pub(crate) fn attributes(line: &[u8], from: usize, base: usize, out: &mut Lexed) {
    let mut lexer = Lexer { line, at: from, depth: 0, no_smart_end: false };
    while lexer.at < line.len() {
        lexer.item(base, out);
    }
}

/// Whether a line below a definition continues it: indented by two spaces or a tab, and nothing but
/// well-formed `key=value` (MF-9).
pub(crate) fn is_continuation(line: &[u8]) -> bool {
    if !(line.starts_with(b"  ") || line.starts_with(b"\t") || line.starts_with(b" \t")) {
        return false;
    }
    let mut at = 0;
    let mut some = false;
    loop {
        while let n @ 1.. = white_len(&line[at..]) {
            at += n;
        }
        if at == line.len() {
            return some;
        }
        let Ok((rest, _)) = key(&line[at..]) else { return false };
        let Ok((rest, _)) = equals(rest) else { return false };
        at = line.len() - rest.len();
        let mut lexer = Lexer { line, at, depth: 0, no_smart_end: false };
        let mut odd = Lexed::default();
        if lexer.value(&mut odd).is_none()
            || odd.codes.iter().any(|&c| c != "msgfile::smart-quotes")
        {
            return false;
        }
        at = lexer.at;
        if at < line.len() && white_len(&line[at..]) == 0 {
            return false;
        }
        some = true;
    }
}

fn equals(i: &[u8]) -> IResult<&[u8], &[u8]> {
    tag("=").parse(i)
}

impl Lexer<'_> {
    fn rest(&self) -> &[u8] {
        &self.line[self.at..]
    }

    /// One attribute, or one thing to be skipped; always advances.
    fn item(&mut self, base: usize, out: &mut Lexed) {
        let rest = self.rest();
        let skip: IResult<&[u8], (usize, &'static str)> = alt((
            map(tag("..."), |_| (3, "msgfile::ellipsis-ignored")),
            map(tag("…"), |_| ("…".len(), "msgfile::ellipsis-ignored")),
            map(tag(","), |_| (1, "msgfile::comma-separator")),
        ))
        .parse(rest);
        if let n @ 1.. = white_len(rest) {
            self.at += n;
        } else if let Ok((_, (n, code))) = skip {
            self.at += n;
            out.note(code);
        } else if rest[0] == b'[' {
            self.depth += 1;
            self.at += 1;
        } else if rest[0] == b']' && self.depth > 0 {
            self.depth -= 1;
            self.at += 1;
        } else if let Ok((_, key)) = key(rest) {
            let len = key.len();
            self.attribute(len, base, out);
        } else {
            out.note("msgfile::attribute-junk");
            self.at += if rest[0] == 0xE2 { "“".len() } else { 1 };
        }
    }

    fn attribute(&mut self, key_len: usize, base: usize, out: &mut Lexed) {
        let start = self.at;
        let mut key = Span::new(start, start + key_len);
        self.at = key.end;
        let blanks = self.rest().iter().take_while(|&&b| is_blank(b)).count();
        if self.line.get(self.at + blanks) != Some(&b'=') {
            if self.line[key.end - 1] == b',' {
                // A flag may be followed by a comma like any other attribute.
                out.note("msgfile::comma-separator");
                key.end -= 1;
            }
            let whole = shift(key, base);
            out.attrs.push(RawAttr::new(RawValue::Flag, whole));
            return;
        }
        self.at += blanks + 1;
        self.at += self.rest().iter().take_while(|&&b| is_blank(b)).count();
        let value = match self.value(out) {
            Some(RawValue::Plain(s)) => RawValue::Plain(shift(s, base)),
            Some(RawValue::Escaped(s)) => RawValue::Escaped(shift(s, base)),
            _ => RawValue::Plain(shift(Span::new(self.at, self.at), base)),
        };
        let whole = shift(Span::new(start, self.at), base);
        out.attrs.push(RawAttr::new(value, whole));
    }

    /// The value at the current position; nothing if the line ends here.
    fn value(&mut self, out: &mut Lexed) -> Option<RawValue> {
        let rest = self.rest();
        match rest.first()? {
            b'"' => Some(self.quoted(1, double_end(&rest[1..]), 1, RawValue::Escaped, out)),
            b'\'' => {
                let end = memchr::memchr(b'\'', &rest[1..]);
                Some(self.quoted(1, end, 1, RawValue::Plain, out))
            }
            _ if rest.starts_with("“".as_bytes()) => {
                out.note("msgfile::smart-quotes");
                let end = if self.no_smart_end {
                    None
                } else {
                    memchr::memmem::find(&rest[3..], "”".as_bytes())
                };
                self.no_smart_end |= end.is_none();
                Some(self.quoted(3, end, 3, RawValue::Plain, out))
            }
            _ => Some(RawValue::Plain(self.bare(out))),
        }
    }

    /// A quoted value whose text ends `end` bytes behind the opening quote; without an end the quote
    /// is dropped and the value is bare, so that what follows still counts (MF-11).
    fn quoted(
        &mut self,
        open: usize,
        end: Option<usize>,
        close: usize,
        make: fn(Span) -> RawValue,
        out: &mut Lexed,
    ) -> RawValue {
        self.at += open;
        match end {
            Some(len) => {
                let span = Span::new(self.at, self.at + len);
                self.at = span.end + close;
                make(span)
            }
            None => {
                out.note("msgfile::unterminated-quote");
                RawValue::Plain(self.bare(out))
            }
        }
    }

    /// Up to the next white space, in brackets also to `]`; one trailing comma is dropped.
    fn bare(&mut self, out: &mut Lexed) -> Span {
        let start = self.at;
        while self.at < self.line.len() {
            let rest = self.rest();
            if white_len(rest) > 0 || (self.depth > 0 && rest[0] == b']') {
                break;
            }
            self.at += 1;
        }
        let mut end = self.at;
        if end > start && self.line[end - 1] == b',' {
            out.note("msgfile::comma-separator");
            end -= 1;
        }
        Span::new(start, end)
    }
}

fn shift(s: Span, base: usize) -> Span {
    Span::new(s.start + base, s.end + base)
}

/// Where `"…"` ends: the first quote that no backslash takes.
fn double_end(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += memchr::memchr2(b'"', b'\\', &text[at..])?;
        if text[at] == b'"' {
            return Some(at);
        }
        at += if matches!(text.get(at + 1), Some(b'"' | b'\\')) { 2 } else { 1 };
    }
}

/// Whether a key, written by us, reads back as itself (MF-34). A flag may moreover not end in a comma.
pub(crate) fn key_reads_back(text: &str, flag: bool) -> bool {
    let whole = key(text.as_bytes()).is_ok_and(|(rest, _)| rest.is_empty());
    let skipped = ["...", "…", ","].iter().any(|p| text.starts_with(p));
    let comma = flag && text.ends_with(',');
    whole && !skipped && !comma && !text.chars().any(char::is_control)
}
