//! Calls in Python's syntax (XT-53): names with keyword arguments that are literals. Anything else, such as an
//! expression or an argument without a name, is not a call.
//!
//! ```text
//! [get_weather(city="Paris", days=3), now()]
//! ```

use crate::code::Code;
use crate::input::is_blank;
use crate::json::{Json, Members};

/// The names and arguments of calls.
pub(crate) type PythonCalls = Vec<(String, Members)>;

/// Reads a list of calls, or a single call, that goes up to the end of `text`.
///
/// # Errors
/// Why it is none.
pub(crate) fn read(text: &str, max_depth: usize) -> Result<PythonCalls, Code> {
    let mut reader = Reader { text, at: 0, depth: max_depth };
    let mut calls = Vec::new();
    if reader.takes(b'[') {
        loop {
            if reader.takes(b']') {
                break;
            }
            calls.push(reader.call()?);
            if !reader.takes(b',') && reader.byte() != Some(b']') {
                return Err(Code::InvalidToolBody);
            }
        }
    } else {
        calls.push(reader.call()?);
    }
    match calls.is_empty() || reader.byte().is_some() {
        true => Err(Code::InvalidToolBody),
        false => Ok(calls),
    }
}

/// What an escape in a Python string represents; what is none is itself.
pub(crate) fn unescaped(source: &str) -> String {
    let Some(kind) = source.as_bytes().get(1) else { return source.to_owned() };
    let number = |digits: usize| {
        let code = source.get(2..).filter(|it| it.len() == digits)?;
        u32::from_str_radix(code, 16).ok().and_then(char::from_u32)
    };
    let found = match kind {
        b'n' => Some('\n'),
        b't' => Some('\t'),
        b'r' => Some('\r'),
        b'b' => Some('\u{8}'),
        b'f' => Some('\u{c}'),
        b'v' => Some('\u{b}'),
        b'a' => Some('\u{7}'),
        b'0' => Some('\0'),
        b'\\' | b'\'' | b'"' => Some(char::from(*kind)),
        b'\n' => return String::new(),
        b'x' => number(2),
        b'u' => number(4),
        b'U' => number(8),
        _ => None,
    };
    found.map_or_else(|| source.to_owned(), String::from)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// Brackets that may still be opened.
    depth: usize,
}

/// Python's words for values, and those of JSON that models write in their place.
const WORDS: [(&str, Json); 6] = [
    ("True", Json::Bool(true)),
    ("False", Json::Bool(false)),
    ("None", Json::Null),
    ("true", Json::Bool(true)),
    ("false", Json::Bool(false)),
    ("null", Json::Null),
];

impl Reader<'_> {
    /// The next byte after blanks.
    fn byte(&mut self) -> Option<u8> {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().position(|&b| !is_blank(b)).unwrap_or(rest.len());
        self.text.as_bytes().get(self.at).copied()
    }

    fn takes(&mut self, b: u8) -> bool {
        let found = self.byte() == Some(b);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, b: u8) -> Result<(), Code> {
        if self.takes(b) { Ok(()) } else { Err(Code::InvalidToolBody) }
    }

    /// A word: a name, or what a number is made of.
    fn word(&mut self) -> &str {
        self.byte();
        let rest = &self.text[self.at..];
        let inside = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '+');
        let len = rest.find(|c| !inside(c)).unwrap_or(rest.len());
        self.at += len;
        &rest[..len]
    }

    fn call(&mut self) -> Result<(String, Members), Code> {
        let name = self.word().to_owned();
        self.expect(b'(')?;
        let mut arguments = Members::default();
        while !self.takes(b')') {
            let key = self.word().to_owned();
            if key.is_empty() {
                return Err(Code::InvalidToolBody);
            }
            self.expect(b'=')?;
            let value = self.value()?;
            if arguments.get(&key).is_some() {
                return Err(Code::InvalidToolBody);
            }
            arguments.set(key, value);
            if !self.takes(b',') && self.byte() != Some(b')') {
                return Err(Code::InvalidToolBody);
            }
        }
        Ok((name, arguments))
    }

    fn value(&mut self) -> Result<Json, Code> {
        match self.byte() {
            Some(b'"' | b'\'') => self.string().map(Json::String),
            Some(b'[') => self.list(b']'),
            Some(b'(') => self.list(b')'),
            Some(b'{') => self.dict(),
            _ => {
                let word = self.word();
                let known = WORDS.iter().find(|(known, _)| *known == word);
                known
                    .map(|(_, value)| value.clone())
                    .or_else(|| number(word))
                    .ok_or(Code::InvalidToolBody)
            }
        }
    }

    fn list(&mut self, close: u8) -> Result<Json, Code> {
        self.nest()?;
        self.at += 1;
        let mut items = Vec::new();
        while !self.takes(close) {
            items.push(self.value()?);
            if !self.takes(b',') && self.byte() != Some(close) {
                return Err(Code::InvalidToolBody);
            }
        }
        self.depth += 1;
        Ok(Json::Array(items))
    }

    fn dict(&mut self) -> Result<Json, Code> {
        self.nest()?;
        self.at += 1;
        let mut members = Members::default();
        while !self.takes(b'}') {
            self.byte().filter(|b| matches!(b, b'"' | b'\'')).ok_or(Code::InvalidToolBody)?;
            let key = self.string()?;
            self.expect(b':')?;
            let value = self.value()?;
            members.set(key, value);
            if !self.takes(b',') && self.byte() != Some(b'}') {
                return Err(Code::InvalidToolBody);
            }
        }
        self.depth += 1;
        Ok(Json::Object(members))
    }

    fn nest(&mut self) -> Result<(), Code> {
        self.depth = self.depth.checked_sub(1).ok_or(Code::DepthLimit)?;
        Ok(())
    }

    /// The string whose quote is here.
    fn string(&mut self) -> Result<String, Code> {
        let rest = &self.text[self.at..];
        let mark = &rest[..1];
        let triple = mark.repeat(3);
        let close = if rest.starts_with(&triple) { triple.as_str() } else { mark };
        let mut out = String::new();
        let mut at = close.len();
        loop {
            let tail = &rest[at..];
            let Some(i) = tail.find(|c| c == '\\' || mark.starts_with(c)) else {
                return Err(Code::InvalidToolBody);
            };
            out.push_str(&tail[..i]);
            at += i;
            if rest[at..].starts_with(close) {
                self.at += at + close.len();
                return Ok(out);
            }
            let len = match &rest.as_bytes()[at..] {
                [b'\\', kind, ..] if *kind < 0x80 => escape_len(&rest[at..], *kind),
                _ => 1,
            };
            let source = &rest[at..at + len];
            if source.len() > 1 {
                out.push_str(&unescaped(source));
            } else {
                out.push_str(source);
            }
            at += len;
        }
    }
}

/// How long an escape of this kind is at the beginning of `text`.
fn escape_len(text: &str, kind: u8) -> usize {
    let most = match kind {
        b'x' => 2,
        b'u' => 4,
        b'U' => 8,
        _ => 0,
    };
    let digits = text.as_bytes()[2..].iter().take(most).take_while(|b| b.is_ascii_hexdigit());
    2 + digits.count()
}

/// A number in the form that JSON has too.
fn number(word: &str) -> Option<Json> {
    let word = word.strip_prefix('+').unwrap_or(word);
    match crate::json::parse(word, 0) {
        Some((value @ Json::Number(_), false)) => Some(value),
        _ => None,
    }
}
