//! Reads one value as models write it (XT-27) and finds its end in the same pass. Without recursion: how deep brackets
//! nest is the caller's choice.

use msg_json::unescape_into;

use super::{Json, Members};
use crate::input::is_blank;

/// A value that was read.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) value: Json,
    /// One past it.
    pub(crate) end: usize,
    /// Something was mended.
    pub(crate) repaired: bool,
}

/// Why there is no value.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The text ends in it; what there is of its members, if it is an object.
    More(Members),
    /// The first byte that fits no value.
    Error(usize),
    /// The bracket that is one too deep.
    Depth(usize),
}

/// Python's literals are mended.
const WORDS: [(&str, Json, bool); 6] = [
    ("true", Json::Bool(true), false),
    ("false", Json::Bool(false), false),
    ("null", Json::Null, false),
    ("True", Json::Bool(true), true),
    ("False", Json::Bool(false), true),
    ("None", Json::Null, true),
];

/// Reads the value at the start of `text`, behind blanks. A number may be ended by the end of the text.
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
            // What ends with it, up to the next value.
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

    /// Behind a member or item: the container if it ends here.
    fn end(&mut self) -> Result<Option<Json>, Halt> {
        if self.byte()? != b',' {
            return self.close().map(Some);
        }
        self.at += 1;
        let container = self.close_or_next()?;
        self.repaired |= container.is_some();
        Ok(container)
    }

    /// The container if it ends here; otherwise its next value follows, in an object behind its name.
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

    /// The next byte behind blanks.
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

    /// The string whose opening quote stands here. Raw control characters are mended.
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

    /// Behind a backslash: appends what that and the escapes of code units next to it stand for. Half a surrogate pair
    /// is no character.
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

    /// `u` and four digits, and further escapes of this form; of a pair that may be cut nothing is known.
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
