//! Patterns of tool call ids: `call_{r:24:x}`, `functions.{f}:{n}` (CA-50).
//!
//! A pattern matches whole ids byte for byte, without a regex engine, and in linear time.

use std::{fmt, str::FromStr};

use msg_core::IdSource;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::Error;

/// The largest LEN of a random field.
pub(crate) const MAX_FIELD: usize = 256;

/// A pattern of tool call ids (CA-50).
///
/// Literal text, and fields in braces: `{r:LEN:SET}` random characters, `{f}` the function's name
/// (`function` if it has none), `{n}` a decimal counter. Anything else in braces is literal. SET is
/// one of `d` digits, `l` lower case, `u` upper case, `a` letters, `x` or `b` letters and digits, `h`
/// and `H` hexadecimal, or the long name of these.
///
/// ```
/// use msg_chainast::{IdPattern, SeededIds};
///
/// let pattern: IdPattern = "toolu_{r:24:b}".parse()?;
/// let id = pattern.generate("get_weather", 0, &mut SeededIds::new(1));
/// assert_eq!(id.len(), 30);
/// assert!(pattern.matches(&id, "get_weather"));
///
/// let kimi: IdPattern = "functions.{f}:{n}".parse()?;
/// assert!(kimi.matches("functions.read:12", "read"));
/// assert!(!kimi.matches("functions.read:12", "write"));
/// # Ok::<(), msg_chainast::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[doc(alias = "tcIDTemplate")]
pub struct IdPattern {
    text: String,
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Literal(String),
    Random { len: usize, alphabet: &'static [u8] },
    Name,
    Counter,
}

impl IdPattern {
    /// The pattern's text, as it was parsed.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether the whole id is one of this pattern, for a function of this name. O(id).
    pub fn matches(&self, id: &str, name: &str) -> bool {
        let id = id.as_bytes();
        // Each piece maps the set of positions reached so far to the next one.
        let mut reached = vec![false; id.len() + 1];
        reached[0] = true;
        for piece in &self.pieces {
            reached = piece.reached_from(&reached, id, name);
        }
        reached[id.len()]
    }

    /// An id of this pattern, for a function of this name; `counter` fills `{n}`.
    pub fn generate(&self, name: &str, counter: u64, ids: &mut dyn IdSource) -> String {
        let mut out = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Literal(text) => out.push_str(text),
                Piece::Random { len, alphabet } => push_random(&mut out, *len, alphabet, ids),
                Piece::Name => out.push_str(name_or_default(name)),
                Piece::Counter => out.push_str(&counter.to_string()),
            }
        }
        out
    }

    /// Whether another draw can give another id.
    pub(crate) fn varies(&self) -> bool {
        let varies = |it: &Piece| match it {
            Piece::Counter => true,
            Piece::Random { len, .. } => *len > 0,
            Piece::Literal(_) | Piece::Name => false,
        };
        self.pieces.iter().any(varies)
    }
}

impl FromStr for IdPattern {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        if text.is_empty() {
            return Err(Error::EmptyPattern);
        }
        let mut pieces = Vec::new();
        let mut at = 0;
        let mut literal = 0;
        while let Some(open) = text[at..].find('{').map(|it| at + it) {
            at = open + 1;
            let Some(close) = text[at..].find(['{', '}']).map(|it| at + it) else { break };
            if text.as_bytes()[close] != b'}' {
                continue;
            }
            if let Some(piece) = Piece::field(&text[at..close], open)? {
                push_literal(&mut pieces, &text[literal..open]);
                pieces.push(piece);
                literal = close + 1;
            }
            at = close + 1;
        }
        push_literal(&mut pieces, &text[literal..]);
        Ok(IdPattern { text: text.to_owned(), pieces })
    }
}

impl fmt::Display for IdPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// From its text.
impl<'de> Deserialize<'de> for IdPattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

/// As its text.
impl Serialize for IdPattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl Piece {
    /// The field between two braces, if it is one.
    fn field(inner: &str, offset: usize) -> Result<Option<Piece>, Error> {
        match inner {
            "f" => return Ok(Some(Piece::Name)),
            "n" => return Ok(Some(Piece::Counter)),
            _ => {}
        }
        let Some((len, set)) = inner.strip_prefix("r:").and_then(|it| it.split_once(':')) else {
            return Ok(None);
        };
        let Some(alphabet) = alphabet(set) else { return Ok(None) };
        if len.is_empty() || !len.bytes().all(|it| it.is_ascii_digit()) {
            return Ok(None);
        }
        match len.parse::<usize>() {
            Ok(len) if len <= MAX_FIELD => Ok(Some(Piece::Random { len, alphabet })),
            _ => Err(Error::LongField { offset }),
        }
    }

    /// The bytes that this piece takes, unless it is a counter.
    fn fixed_len(&self, name: &str) -> Option<usize> {
        match self {
            Piece::Literal(text) => Some(text.len()),
            Piece::Random { len, .. } => Some(*len),
            Piece::Name => Some(name_or_default(name).len()),
            Piece::Counter => None,
        }
    }

    /// The positions after this piece, where it begins at one of those reached so far.
    fn reached_from(&self, reached: &[bool], id: &[u8], name: &str) -> Vec<bool> {
        let mut next = vec![false; id.len() + 1];
        for at in 0..=id.len() {
            match self.fixed_len(name) {
                Some(len) => {
                    let fits = |it: &[u8]| reached[at] && self.accepts(it, name);
                    if id.get(at..at + len).is_some_and(fits) {
                        next[at + len] = true;
                    }
                }
                None if at == id.len() => {}
                None => next[at + 1] = id[at].is_ascii_digit() && (reached[at] || next[at]),
            }
        }
        next
    }

    fn accepts(&self, bytes: &[u8], name: &str) -> bool {
        match self {
            Piece::Literal(text) => text.as_bytes() == bytes,
            Piece::Random { len, alphabet } => {
                bytes.len() == *len && bytes.iter().all(|it| alphabet.contains(it))
            }
            Piece::Name => name_or_default(name).as_bytes() == bytes,
            Piece::Counter => !bytes.is_empty() && bytes.iter().all(u8::is_ascii_digit),
        }
    }
}

/// The characters of a set, by its short or long name.
fn alphabet(set: &str) -> Option<&'static [u8]> {
    const ALNUM: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    Some(match set {
        "d" | "digit" => &ALNUM[..10],
        "l" | "lower" => &ALNUM[10..36],
        "u" | "upper" => &ALNUM[36..],
        "a" | "alpha" => &ALNUM[10..],
        "x" | "alnum" | "b" | "base62" => ALNUM,
        "h" | "hex" => &ALNUM[..16],
        "H" | "HEX" => b"0123456789ABCDEF",
        _ => return None,
    })
}

fn name_or_default(name: &str) -> &str {
    if name.is_empty() { "function" } else { name }
}

fn push_literal(pieces: &mut Vec<Piece>, text: &str) {
    if !text.is_empty() {
        pieces.push(Piece::Literal(text.to_owned()));
    }
}

/// One number of the source gives as many characters as it has entropy for.
fn push_random(out: &mut String, len: usize, alphabet: &[u8], ids: &mut dyn IdSource) {
    let base = alphabet.len() as u64;
    let mut left = 0_u64;
    let mut number = 0;
    for _ in 0..len {
        if left < base {
            number = ids.next_u64();
            left = u64::MAX;
        }
        out.push(char::from(alphabet[(number % base) as usize]));
        number /= base;
        left /= base;
    }
}
