//! JSON as models write it (XT-27): a grammar scanner that finds the end of a value as its bytes arrive, and
//! a tree that keeps the order of members and the spelling of numbers. Not a general JSON library: what is
//! repaired is raw control characters, trailing commas and Python's literals, nothing else.

use std::collections::HashMap;

/// A value; members in order of first appearance.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    /// As spelled.
    Number(Box<str>),
    String(String),
    Array(Vec<Json>),
    Object(Members),
}

/// Members in order of first appearance, found by name in O(1).
#[derive(Clone, Debug, Default)]
pub(crate) struct Members {
    list: Vec<(String, Json)>,
    /// Built once there are many.
    index: HashMap<String, usize>,
}

impl PartialEq for Members {
    fn eq(&self, other: &Self) -> bool {
        self.list == other.list
    }
}

const INDEX_FROM: usize = 12;

impl Members {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &(String, Json)> {
        self.list.iter()
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(crate) fn into_list(self) -> Vec<(String, Json)> {
        self.list
    }

    fn position(&self, key: &str) -> Option<usize> {
        if self.list.len() < INDEX_FROM {
            return self.list.iter().position(|(k, _)| k == key);
        }
        self.index.get(key).copied()
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Json> {
        self.position(key).map(|i| &self.list[i].1)
    }

    fn push(&mut self, key: String, value: Json) {
        if self.list.len() + 1 == INDEX_FROM {
            self.index = self.list.iter().enumerate().map(|(i, (k, _))| (k.clone(), i)).collect();
        }
        if self.list.len() + 1 >= INDEX_FROM {
            self.index.insert(key.clone(), self.list.len());
        }
        self.list.push((key, value));
    }

    /// The last of repeated members counts (JSON bodies).
    pub(crate) fn set(&mut self, key: String, value: Json) {
        match self.position(&key) {
            Some(i) => self.list[i].1 = value,
            None => self.push(key, value),
        }
    }

    /// Repeated names become an array, in order (elements).
    pub(crate) fn add(&mut self, key: String, value: Json) {
        match self.position(&key) {
            None => self.push(key, value),
            Some(i) => {
                let slot = &mut self.list[i].1;
                match slot {
                    Json::Array(items) => items.push(value),
                    _ => {
                        let first = std::mem::replace(slot, Json::Null);
                        *slot = Json::Array(vec![first, value]);
                    }
                }
            }
        }
    }

    /// How many values `key` has when only `add` was used.
    pub(crate) fn count(&self, key: &str) -> usize {
        match self.get(key) {
            None => 0,
            Some(Json::Array(items)) => items.len(),
            Some(_) => 1,
        }
    }
}

impl Json {
    pub(crate) fn write(&self, out: &mut String) {
        match self {
            Json::Null => out.push_str("null"),
            Json::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
            Json::Number(n) => out.push_str(n),
            Json::String(s) => write_string(s, out),
            Json::Array(items) => {
                out.push('[');
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    item.write(out);
                }
                out.push(']');
            }
            Json::Object(members) => {
                out.push('{');
                for (i, (key, value)) in members.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    write_string(key, out);
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
        }
    }

    pub(crate) fn text(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }
}

/// A JSON string literal, non-ASCII characters as they are.
pub(crate) fn write_string(s: &str, out: &mut String) {
    out.reserve(s.len() + 2);
    out.push('"');
    let mut from = 0;
    for (i, b) in s.bytes().enumerate() {
        if b >= 0x20 && b != b'"' && b != b'\\' {
            continue;
        }
        out.push_str(&s[from..i]);
        from = i + 1;
        match b {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            _ => {
                out.push_str("\\u00");
                out.push(char::from(b"0123456789abcdef"[usize::from(b >> 4)]));
                out.push(char::from(b"0123456789abcdef"[usize::from(b & 15)]));
            }
        }
    }
    out.push_str(&s[from..]);
    out.push('"');
}

/// Where a scan stands after the bytes it was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scan {
    More,
    /// One past the value.
    Done(usize),
    /// The first byte that fits no value.
    Error(usize),
    /// The bracket that is one too deep.
    Depth(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Value,
    /// After `[`.
    First,
    /// After a comma in an array.
    Next,
    /// After `{`.
    FirstKey,
    /// After a comma in an object.
    NextKey,
    Colon,
    After,
    Text,
    Escape,
    Hex(u8, u16),
    LowSlash,
    LowU,
    LowHex(u8, u16),
    Number(Num),
    Word(&'static str, u8),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Num {
    Minus,
    Zero,
    Int,
    Dot,
    Frac,
    Exp,
    ExpSign,
    ExpInt,
}

/// An incremental scan over one value; positions are the caller's.
#[derive(Clone, Debug)]
pub(crate) struct Scanner {
    pub(crate) start: usize,
    /// The next byte to read.
    pub(crate) at: usize,
    state: State,
    stack: Vec<u8>,
    max_depth: usize,
    key: bool,
    pub(crate) repaired: bool,
}

impl Scanner {
    pub(crate) fn new(start: usize, max_depth: usize) -> Self {
        Scanner {
            start,
            at: start,
            state: State::Value,
            stack: Vec::new(),
            max_depth,
            key: false,
            repaired: false,
        }
    }

    /// Reads on; `bytes` are what follows position `at`.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Scan {
        let mut i = 0;
        while i < bytes.len() {
            if self.state == State::Text {
                let n = bytes[i..]
                    .iter()
                    .position(|&b| b < 0x20 || b == b'"' || b == b'\\')
                    .unwrap_or(bytes.len() - i);
                i += n;
                self.at += n;
                if i == bytes.len() {
                    break;
                }
            }
            match self.byte(bytes[i]) {
                Step::Eat => {
                    i += 1;
                    self.at += 1;
                    if self.stack.is_empty() && self.state == State::After {
                        return Scan::Done(self.at);
                    }
                }
                Step::Again if self.stack.is_empty() => return Scan::Done(self.at),
                Step::Again => {}
                Step::Error => return Scan::Error(self.at),
                Step::Depth => return Scan::Depth(self.at),
            }
        }
        Scan::More
    }

    fn byte(&mut self, b: u8) -> Step {
        use State as S;
        let blank = matches!(b, b' ' | b'\t' | b'\r' | b'\n');
        match self.state {
            S::Value | S::First | S::Next | S::FirstKey | S::NextKey | S::Colon | S::After
                if blank =>
            {
                Step::Eat
            }
            S::First if b == b']' => self.close(b),
            S::Next if b == b']' => {
                self.repaired = true;
                self.close(b)
            }
            S::Value | S::First | S::Next => self.value(b),
            S::FirstKey if b == b'}' => self.close(b),
            S::NextKey if b == b'}' => {
                self.repaired = true;
                self.close(b)
            }
            S::FirstKey | S::NextKey if b == b'"' => {
                self.key = true;
                self.to(S::Text)
            }
            S::Colon if b == b':' => self.to(S::Value),
            S::After => match (b, self.stack.last()) {
                (b',', Some(b'[')) => self.to(S::Next),
                (b',', Some(b'{')) => self.to(S::NextKey),
                (b']' | b'}', _) => self.close(b),
                _ => Step::Error,
            },
            S::Text => self.text(b),
            S::Escape => match b {
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.to(S::Text),
                b'u' => self.to(S::Hex(0, 0)),
                _ => Step::Error,
            },
            S::Hex(n, v) => match hex(b) {
                Some(d) if n < 3 => self.to(S::Hex(n + 1, v << 4 | d)),
                Some(d) => match v << 4 | d {
                    0xD800..=0xDBFF => self.to(S::LowSlash),
                    0xDC00..=0xDFFF => Step::Error,
                    _ => self.to(S::Text),
                },
                None => Step::Error,
            },
            S::LowSlash if b == b'\\' => self.to(S::LowU),
            S::LowU if b == b'u' => self.to(S::LowHex(0, 0)),
            S::LowHex(n, v) => match hex(b) {
                Some(d) if n < 3 => self.to(S::LowHex(n + 1, v << 4 | d)),
                Some(d) if (0xDC00..=0xDFFF).contains(&(v << 4 | d)) => self.to(S::Text),
                _ => Step::Error,
            },
            S::Number(num) => self.number(num, b),
            S::Word(word, n) => {
                if word.as_bytes().get(usize::from(n)) != Some(&b) {
                    return Step::Error;
                }
                if usize::from(n) + 1 == word.len() {
                    self.to(S::After)
                } else {
                    self.to(S::Word(word, n + 1))
                }
            }
            _ => Step::Error,
        }
    }

    fn to(&mut self, state: State) -> Step {
        self.state = state;
        Step::Eat
    }

    fn text(&mut self, b: u8) -> Step {
        match b {
            b'"' => {
                let next = if std::mem::take(&mut self.key) { State::Colon } else { State::After };
                self.to(next)
            }
            b'\\' => self.to(State::Escape),
            _ => {
                self.repaired |= b < 0x20;
                Step::Eat
            }
        }
    }

    fn value(&mut self, b: u8) -> Step {
        match b {
            b'{' | b'[' => {
                if self.stack.len() >= self.max_depth {
                    return Step::Depth;
                }
                self.stack.push(b);
                self.to(if b == b'{' { State::FirstKey } else { State::First })
            }
            b'"' => {
                self.key = false;
                self.to(State::Text)
            }
            b'-' => self.to(State::Number(Num::Minus)),
            b'0' => self.to(State::Number(Num::Zero)),
            b'1'..=b'9' => self.to(State::Number(Num::Int)),
            b't' => self.to(State::Word("true", 1)),
            b'f' => self.to(State::Word("false", 1)),
            b'n' => self.to(State::Word("null", 1)),
            b'T' | b'F' | b'N' => {
                self.repaired = true;
                self.to(State::Word(
                    if b == b'T' {
                        "True"
                    } else if b == b'F' {
                        "False"
                    } else {
                        "None"
                    },
                    1,
                ))
            }
            _ => Step::Error,
        }
    }

    fn number(&mut self, num: Num, b: u8) -> Step {
        let next = match (num, b) {
            (Num::Minus, b'0') => Num::Zero,
            (Num::Minus, b'1'..=b'9') | (Num::Int, b'0'..=b'9') => Num::Int,
            (Num::Zero | Num::Int, b'.') => Num::Dot,
            (Num::Dot | Num::Frac, b'0'..=b'9') => Num::Frac,
            (Num::Zero | Num::Int | Num::Frac, b'e' | b'E') => Num::Exp,
            (Num::Exp, b'+' | b'-') => Num::ExpSign,
            (Num::Exp | Num::ExpSign | Num::ExpInt, b'0'..=b'9') => Num::ExpInt,
            (Num::Zero | Num::Int | Num::Frac | Num::ExpInt, _) => {
                self.state = State::After;
                return Step::Again;
            }
            _ => return Step::Error,
        };
        self.to(State::Number(next))
    }

    fn close(&mut self, b: u8) -> Step {
        let open = if b == b']' { b'[' } else { b'{' };
        if self.stack.pop() != Some(open) {
            return Step::Error;
        }
        self.to(State::After)
    }

    /// Whether the bytes so far are a whole value, for a number at the end of its text.
    fn complete_at_end(&self) -> bool {
        self.stack.is_empty()
            && matches!(
                self.state,
                State::After | State::Number(Num::Zero | Num::Int | Num::Frac | Num::ExpInt)
            )
    }
}

enum Step {
    Eat,
    Again,
    Error,
    Depth,
}

fn hex(b: u8) -> Option<u16> {
    char::from(b).to_digit(16).and_then(|d| u16::try_from(d).ok())
}

/// Reads a whole text as one value with blanks around it. The flag tells of repairs.
pub(crate) fn parse(text: &str, max_depth: usize) -> Option<(Json, bool)> {
    let t = crate::lex::trim(text);
    let mut scan = Scanner::new(0, max_depth);
    match scan.feed(t.as_bytes()) {
        Scan::Done(end) if end == t.len() => {}
        Scan::More if scan.complete_at_end() => {}
        _ => return None,
    }
    Some((build(t), scan.repaired))
}

/// Builds the tree of a text that the scanner has accepted.
pub(crate) fn build(text: &str) -> Json {
    let mut stack: Vec<(Json, Option<String>)> = Vec::new();
    let b = text.as_bytes();
    let mut i = 0;
    let mut done = Json::Null;
    while i < b.len() {
        let value = match b[i] {
            b'{' => {
                stack.push((Json::Object(Members::default()), None));
                i += 1;
                continue;
            }
            b'[' => {
                stack.push((Json::Array(Vec::new()), None));
                i += 1;
                continue;
            }
            b'}' | b']' => {
                i += 1;
                match stack.pop() {
                    Some((value, _)) => value,
                    None => break,
                }
            }
            b'"' => {
                let (s, n) = string(&text[i..]);
                i += n;
                if let Some((Json::Object(_), key @ None)) = stack.last_mut() {
                    *key = Some(s);
                    continue;
                }
                Json::String(s)
            }
            b'-' | b'0'..=b'9' => {
                let n = b[i..]
                    .iter()
                    .position(|c| !matches!(c, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'))
                    .unwrap_or(b.len() - i);
                i += n;
                Json::Number(text[i - n..i].into())
            }
            c @ (b't' | b'T' | b'f' | b'F' | b'n' | b'N') => {
                i += if c.eq_ignore_ascii_case(&b'f') { 5 } else { 4 };
                match c {
                    b't' | b'T' => Json::Bool(true),
                    b'f' | b'F' => Json::Bool(false),
                    _ => Json::Null,
                }
            }
            _ => {
                i += 1;
                continue;
            }
        };
        match stack.last_mut() {
            Some((Json::Object(members), key)) => {
                members.set(key.take().unwrap_or_default(), value);
            }
            Some((Json::Array(items), _)) => items.push(value),
            _ => done = value,
        }
    }
    done
}

/// The string literal at the start of `s` and its length.
fn string(s: &str) -> (String, usize) {
    let b = s.as_bytes();
    let mut out = String::new();
    let mut i = 1;
    let mut from = 1;
    while i < b.len() && b[i] != b'"' {
        if b[i] != b'\\' {
            i += 1;
            continue;
        }
        out.push_str(&s[from..i]);
        let c = b.get(i + 1).copied().unwrap_or_default();
        i += 2;
        out.push(match c {
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let unit = |at: usize| {
                    s.get(at..at + 4)
                        .and_then(|h| u32::from_str_radix(h, 16).ok())
                        .unwrap_or(0xFFFD)
                };
                let hi = unit(i);
                i += 4;
                if (0xD800..0xDC00).contains(&hi) {
                    let lo = unit(i + 2);
                    i += 6;
                    char::from_u32(
                        0x10000 + ((hi - 0xD800) << 10) + (lo.wrapping_sub(0xDC00) & 0x3FF),
                    )
                    .unwrap_or('\u{FFFD}')
                } else {
                    char::from_u32(hi).unwrap_or('\u{FFFD}')
                }
            }
            other => char::from(other),
        });
        from = i;
    }
    out.push_str(s.get(from..i).unwrap_or_default());
    (out, i + 1)
}

/// Whether a text fails only because its brackets nest deeper than `max`.
pub(crate) fn too_deep(text: &str, max: usize) -> bool {
    let t = crate::lex::trim(text);
    matches!(Scanner::new(0, max).feed(t.as_bytes()), Scan::Depth(_))
}
