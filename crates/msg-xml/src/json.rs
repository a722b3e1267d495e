//! JSON as models write it (XT-27): a reader that finds the end of a value, and a tree that keeps the order of members
//! and the spelling of numbers. Not a general JSON library: it repairs raw control characters, trailing commas and
//! Python's literals, nothing else.
//!
//! ```text
//! {"name": "ls", "arguments": {"all": True,}}</tool_call>
//!                                     |   |  the end of the value
//!                                     repaired
//! ```

use std::collections::HashMap;

use msg_json::{unescape_into, write_str};

use crate::input::is_blank;

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
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Members {
    list: Vec<(String, Json)>,
    /// The place of each member, built for objects with many. Most objects are small.
    index: Option<HashMap<String, usize>>,
}

/// The number of members from which an index is used.
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
        self.index.as_ref()?.get(key).copied()
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Json> {
        self.position(key).map(|i| &self.list[i].1)
    }

    /// The value of a word of the format, whose case does not count; of several the last.
    pub(crate) fn word(&self, word: &str) -> Option<&Json> {
        let found = self.list.iter().rev().find(|(key, _)| key.eq_ignore_ascii_case(word));
        found.map(|(_, value)| value)
    }

    fn push(&mut self, key: String, value: Json) {
        if self.list.len() + 1 >= INDEX_FROM {
            let index = self.index.get_or_insert_with(|| {
                let known = self.list.iter().enumerate();
                known.map(|(i, (key, _))| (key.clone(), i)).collect()
            });
            index.insert(key.clone(), self.list.len());
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
    pub(crate) fn grouped(list: Vec<(String, Json)>) -> Self {
        let is_new =
            |(i, (key, _)): (usize, &(String, Json))| list[..i].iter().all(|(k, _)| k != key);
        if list.len() < INDEX_FROM && list.iter().enumerate().all(is_new) {
            return Members { list, index: None };
        }
        let mut all = Members::default();
        let mut times: Vec<usize> = Vec::with_capacity(list.len());
        for (key, value) in list {
            let Some(i) = all.position(&key) else {
                all.push(key, value);
                times.push(1);
                continue;
            };
            let slot = &mut all.list[i].1;
            match slot {
                Json::Array(items) if times[i] > 1 => items.push(value),
                _ => {
                    let first = std::mem::replace(slot, Json::Null);
                    *slot = Json::Array(vec![first, value]);
                }
            }
            times[i] += 1;
        }
        all
    }
}

/// Whether a value can begin with this byte, Python's literals included.
pub(crate) fn begins(b: u8) -> bool {
    matches!(b, b'{' | b'[' | b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n' | b'T' | b'F' | b'N')
}

impl Json {
    /// The text of a string.
    pub(crate) fn as_str(&self) -> Option<&str> {
        if let Json::String(text) = self { Some(text) } else { None }
    }

    /// The items of an array.
    pub(crate) fn as_array(&self) -> Option<&[Json]> {
        if let Json::Array(items) = self { Some(items) } else { None }
    }

    /// The members of an object.
    pub(crate) fn as_object(&self) -> Option<&Members> {
        if let Json::Object(members) = self { Some(members) } else { None }
    }

    /// Appends its text. A function of its own and not `msg_core`'s writer with its closures: trees may be deep.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        match self {
            Json::Null => out.extend_from_slice(b"null"),
            Json::Bool(b) => out.extend_from_slice(if *b { b"true" } else { b"false" }),
            Json::Number(n) => out.extend_from_slice(n.as_bytes()),
            Json::String(s) => write_str(out, s),
            Json::Array(items) => {
                out.push(b'[');
                for (i, item) in items.iter().enumerate() {
                    out.extend((i > 0).then_some(b','));
                    item.write(out);
                }
                out.push(b']');
            }
            Json::Object(members) => {
                out.push(b'{');
                for (i, (key, value)) in members.iter().enumerate() {
                    out.extend((i > 0).then_some(b','));
                    write_str(out, key);
                    out.push(b':');
                    value.write(out);
                }
                out.push(b'}');
            }
        }
    }

    pub(crate) fn text(&self) -> String {
        let mut out = Vec::new();
        self.write(&mut out);
        String::from_utf8(out).expect("because only texts are written")
    }
}

/// Reads a whole text as one value with blanks around it. The flag says whether it was repaired.
pub(crate) fn parse(text: &str, max_depth: usize) -> Option<(Json, bool)> {
    let text = crate::lex::trim(text);
    let read = read(text, max_depth).ok()?;
    (read.end == text.len()).then_some((read.value, read.repaired))
}

// Reads one value and finds its end in the same pass (XT-27). It does not recurse, because the caller sets the depth.

/// A value that was read.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) value: Json,
    /// One past it.
    pub(crate) end: usize,
    /// Whether anything was repaired.
    pub(crate) repaired: bool,
}

/// Why a value is missing.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The text ends in it; what there is of its members, if it is an object.
    More(Members),
    /// The first byte that fits no value.
    Error(usize),
    /// The bracket that is one too deep.
    Depth(usize),
}

/// Python's literals, which are repaired.
const WORDS: [(&str, Json, bool); 6] = [
    ("true", Json::Bool(true), false),
    ("false", Json::Bool(false), false),
    ("null", Json::Null, false),
    ("True", Json::Bool(true), true),
    ("False", Json::Bool(false), true),
    ("None", Json::Null, true),
];

/// Reads the value at the start of `text`, after blanks. A number may be ended by the end of the text.
pub(crate) fn read(text: &str, max_depth: usize) -> Result<Read, Stop> {
    let mut reader = Reader { text, at: 0, repaired: false, open: Vec::new(), max_depth };
    match reader.value() {
        Ok(value) => Ok(Read { value, end: reader.at, repaired: reader.repaired }),
        Err(Halt::More) => Err(Stop::More(reader.members())),
        Err(Halt::Error) => Err(Stop::Error(reader.at)),
        Err(Halt::Depth) => Err(Stop::Depth(reader.at)),
    }
}

/// Why reading stops, at the reader's place.
enum Halt {
    More,
    Error,
    Depth,
}

/// A container that is open; of an object with the name of the member that is being read.
enum Container {
    Array(Vec<Json>),
    Object(Members, String),
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    repaired: bool,
    open: Vec<Container>,
    max_depth: usize,
}

impl Reader<'_> {
    fn value(&mut self) -> Result<Json, Halt> {
        loop {
            let mut value = match self.byte()? {
                b @ (b'{' | b'[') => match self.begin(b)? {
                    Some(empty) => empty,
                    None => continue,
                },
                b'"' => Json::String(self.string()?),
                b'-' | b'0'..=b'9' => self.number()?,
                _ => self.word()?,
            };
            // Closes the values that end with it, up to the next value.
            loop {
                match self.open.last_mut() {
                    None => return Ok(value),
                    Some(Container::Array(items)) => items.push(value),
                    Some(Container::Object(members, key)) => {
                        members.set(std::mem::take(key), value);
                    }
                }
                match self.end()? {
                    Some(container) => value = container,
                    None => break,
                }
            }
        }
    }

    /// A bracket; the value if it closes at once.
    fn begin(&mut self, bracket: u8) -> Result<Option<Json>, Halt> {
        if self.open.len() >= self.max_depth {
            return Err(Halt::Depth);
        }
        self.at += 1;
        self.open.push(match bracket {
            b'[' => Container::Array(Vec::new()),
            _ => Container::Object(Members::default(), String::new()),
        });
        self.close_or_next()
    }

    /// After a member or item: the container if it ends here.
    fn end(&mut self) -> Result<Option<Json>, Halt> {
        if self.byte()? != b',' {
            return self.close().map(Some);
        }
        self.at += 1;
        let container = self.close_or_next()?;
        self.repaired |= container.is_some();
        Ok(container)
    }

    /// The container if it ends here; otherwise its next value follows, in an object after its name.
    fn close_or_next(&mut self) -> Result<Option<Json>, Halt> {
        let next = self.byte()?;
        match self.open.last() {
            Some(Container::Array(_)) if next != b']' => return Ok(None),
            Some(Container::Object(..)) if next == b'"' => {}
            _ => return self.close().map(Some),
        }
        let name = self.string()?;
        if self.byte()? != b':' {
            return Err(Halt::Error);
        }
        self.at += 1;
        if let Some(Container::Object(_, key)) = self.open.last_mut() {
            *key = name;
        }
        Ok(None)
    }

    fn close(&mut self) -> Result<Json, Halt> {
        let value = match (self.text.as_bytes()[self.at], self.open.pop()) {
            (b']', Some(Container::Array(items))) => Json::Array(items),
            (b'}', Some(Container::Object(members, _))) => Json::Object(members),
            _ => return Err(Halt::Error),
        };
        self.at += 1;
        Ok(value)
    }

    /// The next byte after blanks.
    fn byte(&mut self) -> Result<u8, Halt> {
        let rest = &self.text.as_bytes()[self.at..];
        let blanks = rest.iter().position(|&b| !is_blank(b)).ok_or(Halt::More)?;
        self.at += blanks;
        Ok(rest[blanks])
    }

    fn word(&mut self) -> Result<Json, Halt> {
        let rest = &self.text[self.at..];
        for (word, value, repaired) in WORDS {
            if rest.starts_with(word) {
                self.at += word.len();
                self.repaired |= repaired;
                return Ok(value);
            }
        }
        let cut = WORDS.iter().any(|(word, ..)| word.starts_with(rest));
        Err(if cut { Halt::More } else { Halt::Error })
    }

    fn number(&mut self) -> Result<Json, Halt> {
        let from = self.at;
        self.at += usize::from(self.peek() == Some(b'-'));
        match self.peek() {
            Some(b'0') => self.at += 1,
            _ => self.digits()?,
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            self.digits()?;
        }
        Ok(Json::Number(self.text[from..self.at].into()))
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn digits(&mut self) -> Result<(), Halt> {
        let rest = &self.text.as_bytes()[self.at..];
        let n = rest.iter().position(|b| !b.is_ascii_digit()).unwrap_or(rest.len());
        self.at += n;
        match (n, rest.is_empty()) {
            (0, true) => Err(Halt::More),
            (0, false) => Err(Halt::Error),
            _ => Ok(()),
        }
    }

    /// Reads the string whose opening quote is here. Raw control characters are repaired.
    fn string(&mut self) -> Result<String, Halt> {
        let mut out = String::new();
        self.at += 1;
        loop {
            let rest = &self.text[self.at..];
            let special = |&b: &u8| b < 0x20 || b == b'"' || b == b'\\';
            let Some(n) = rest.as_bytes().iter().position(special) else {
                self.at = self.text.len();
                return Err(Halt::More);
            };
            out.push_str(&rest[..n]);
            self.at += n + 1;
            match rest.as_bytes()[n] {
                b'"' => return Ok(out),
                b'\\' => self.escapes(&mut out)?,
                control => {
                    self.repaired = true;
                    out.push(char::from(control));
                }
            }
        }
    }

    /// After a backslash: appends what that and the escapes of code units next to it represent. Half a surrogate pair
    /// is not a character.
    fn escapes(&mut self, out: &mut String) -> Result<(), Halt> {
        let from = self.at - 1;
        match self.peek().ok_or(Halt::More)? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.at += 1,
            b'u' => self.units()?,
            _ => return Err(Halt::Error),
        }
        match unescape_into(&self.text[from..self.at], out) {
            true => Err(Halt::Error),
            false => Ok(()),
        }
    }

    /// Reads `u` and four digits, and further escapes of this form. A pair that may be cut is undecided.
    fn units(&mut self) -> Result<(), Halt> {
        self.at -= 1;
        while self.text[self.at..].starts_with("\\u") {
            self.at += 2;
            let rest = &self.text.as_bytes()[self.at..];
            let digits = rest.iter().take(4).take_while(|b| b.is_ascii_hexdigit()).count();
            self.at += digits;
            match digits {
                4 => {}
                n if n == rest.len() => return Err(Halt::More),
                _ => return Err(Halt::Error),
            }
        }
        match &self.text[self.at..] {
            "" | "\\" => Err(Halt::More),
            _ => Ok(()),
        }
    }

    /// The whole members of the outermost object.
    fn members(self) -> Members {
        match self.open.into_iter().next() {
            Some(Container::Object(members, _)) => members,
            _ => Members::default(),
        }
    }
}
