//! The ids and arguments of tool calls: id patterns, fresh ids, replacing all ids of a chain (CA-50 to CA-52); the
//! classification of argument texts, and repairing text that is almost JSON (CA-55, CA-56).
//!
//! All random numbers come from the caller's id source. Text that was cut off is completed only on request.
//!
//! ```text
//! pattern  call_{r:24:x}      r: so many random characters, x: of the hexadecimal digits
//! fresh    call_9f86d081884c7d659a2feaa0
//! normalize  functions.f:0 ─▶ call_…, in the call and in each of its results
//! ```

use std::{borrow::Cow, collections::HashMap, fmt, str::FromStr};

use msg_core::{IdSource, Message, UsedIds};
use msg_json::{RelaxedEdit, RelaxedObject, TextState};

use crate::Error;
use crate::constants::FALLBACK_REQUEST_ARGS;
use crate::options::BadArguments;

// Fresh tool call ids: of the pattern, and unused in the whole chain (CA-26, CA-52).

/// How often an id is drawn before a number is appended to the last one.
const DRAWS: u64 = 64;

/// Draws ids of one pattern that the chain does not use yet.
pub(crate) struct FreshIds<'a> {
    pattern: &'a IdPattern,
    source: &'a mut dyn IdSource,
    used: UsedIds,
}

/// A drawn id, and whether the pattern was exhausted.
pub(crate) struct FreshId {
    pub(crate) id: String,
    pub(crate) exhausted: bool,
}

impl<'a> FreshIds<'a> {
    /// Draws from this source; `messages` are all whose ids are in use.
    pub(crate) fn new<'m>(
        pattern: &'a IdPattern,
        source: &'a mut dyn IdSource,
        messages: impl IntoIterator<Item = &'m Message>,
    ) -> Self {
        FreshIds { pattern, source, used: UsedIds::of(messages) }
    }

    /// A fresh id for a function of this name; `index` is the call's place among all calls.
    pub(crate) fn next(&mut self, name: &str, index: usize) -> FreshId {
        let draws = if self.pattern.varies() { DRAWS } else { 1 };
        let draw = |it| self.pattern.generate(name, index as u64 + it, self.source);
        let (id, is_drawn) = self.used.fresh(draws, draw);
        FreshId { id, exhausted: !is_drawn }
    }
}

// Which ids of a chain may stay: those of the pattern, and those numbered because the pattern had no other (CA-52).

/// The ids of a chain, as they are before any is replaced.
pub(crate) struct KeptIds<'p> {
    pattern: &'p IdPattern,
    used: UsedIds,
}

impl<'p> KeptIds<'p> {
    pub(crate) fn new<'m>(
        pattern: &'p IdPattern,
        messages: impl IntoIterator<Item = &'m Message>,
    ) -> Self {
        KeptIds { pattern, used: UsedIds::of(messages) }
    }

    /// Whether the id of a call to this function can stay.
    pub(crate) fn stays(&self, id: &str, name: &str) -> bool {
        let numbered = |base: &str| self.used.contains(base) && self.pattern.matches(base, name);
        self.pattern.matches(id, name) || without_number(id).is_some_and(numbered)
    }
}

/// The text before the number that was appended to an id.
fn without_number(id: &str) -> Option<&str> {
    let (base, number) = id.rsplit_once('_')?;
    let counts = number.bytes().all(|it| it.is_ascii_digit())
        && !number.starts_with('0')
        && !matches!(number, "" | "1");
    counts.then_some(base)
}

// Giving the calls of a whole chain ids of one pattern (CA-51). Ids that are of the pattern already are
// left alone.

/// The old and the new id of each call, in chain order.
///
/// Use it to find the old id of an answer that has a new one, and vice versa.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct IdMap {
    changes: Vec<IdChange>,
    by_old: HashMap<String, usize>,
    by_new: HashMap<String, usize>,
}

/// The old and the new id of one call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct IdChange {
    /// The index of its message in the chain.
    pub message: usize,
    /// Its index among the parts of the message.
    pub part: usize,
    /// The old id.
    pub old: String,
    /// The new id; equal to the old one if that matched the pattern.
    pub new: String,
    /// Whether a number was appended, because the pattern gave no unused id (CA-52).
    pub numbered: bool,
}

impl IdMap {
    /// All calls, in chain order.
    pub fn iter(&self) -> std::slice::Iter<'_, IdChange> {
        self.changes.iter()
    }

    /// The new id of the newest call that had this old id.
    pub fn new_id(&self, old: &str) -> Option<&str> {
        self.by_old.get(old).map(|it| self.changes[*it].new.as_str())
    }

    /// The old id of the newest call that has this new id.
    pub fn old_id(&self, new: &str) -> Option<&str> {
        self.by_new.get(new).map(|it| self.changes[*it].old.as_str())
    }

    pub(crate) fn push(&mut self, change: IdChange) {
        self.by_old.insert(change.old.clone(), self.changes.len());
        self.by_new.insert(change.new.clone(), self.changes.len());
        self.changes.push(change);
    }
}

impl<'a> IntoIterator for &'a IdMap {
    type Item = &'a IdChange;
    type IntoIter = std::slice::Iter<'a, IdChange>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

// Patterns of tool call ids: `call_{r:24:x}`, `functions.{f}:{n}` (CA-50).
//
// A pattern matches whole ids byte for byte, without a regex engine, and in linear time.

/// The largest LEN of a random field.
pub(crate) const MAX_FIELD: usize = 256;

/// A pattern of tool call ids (CA-50).
///
/// It consists of literal text and fields in braces: `{r:LEN:SET}` random characters, `{f}` the name
/// of the function (`function` if it has none), `{n}` a decimal counter. Anything else in braces is
/// literal. SET is one of `d` digits, `l` lower case, `u` upper case, `a` letters, `x` or `b` letters
/// and digits, `h` and `H` hexadecimal, or the long name of one of these.
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
    /// The text of the pattern.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether the whole id matches this pattern, for a function with this name. O(id).
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

    /// A new id, for a function with this name; `counter` fills `{n}`.
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

    /// Whether a second draw can return another id.
    fn varies(&self) -> bool {
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

msg_core::serde_as_text!(IdPattern);

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

    /// The positions after this piece, if it begins at one of the reached positions.
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

/// Draws as many characters from each number as its entropy allows.
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

/// Escapes the control characters inside the strings of a JSON text (CA-56).
///
/// Characters below U+0020 become `\n`, `\r`, `\t`, `\b`, `\f` or `\u00xx`. A character after a
/// backslash is copied, and text outside of strings stays unchanged. Borrows if there is nothing to
/// escape.
///
/// ```
/// use msg_chainast::sanitize_json_control_chars;
///
/// assert_eq!(sanitize_json_control_chars("{\"a\": \"x\ny\"}"), r#"{"a": "x\ny"}"#);
/// assert_eq!(sanitize_json_control_chars("{\n}"), "{\n}");
/// ```
pub fn sanitize_json_control_chars(text: &str) -> Cow<'_, str> {
    if !text.bytes().any(|it| it < 0x20) {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    let mut copied = 0;
    let mut in_string = false;
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        if escaped {
            escaped = false;
        } else if in_string && byte < 0x20 {
            out.push_str(&text[copied..at]);
            push_escape(&mut out, byte);
            copied = at + 1;
        } else if in_string && byte == b'\\' {
            escaped = true;
        } else if byte == b'"' {
            in_string = !in_string;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

/// Whether the whole text is JSON (CA-55). O(text), without recursion.
pub(crate) fn is_json(text: &str) -> bool {
    matches!(msg_json::classify(text), msg_json::TextState::Object | msg_json::TextState::Value)
}

/// The replacement for an argument text that is not JSON (CA-56).
pub(crate) fn sanitized(text: &str) -> Option<String> {
    if is_json(text) {
        return None;
    }
    match sanitize_json_control_chars(text) {
        Cow::Owned(escaped) if is_json(&escaped) => Some(escaped),
        _ => Some(FALLBACK_REQUEST_ARGS.to_owned()),
    }
}

/// The object that an argument text means, if it is none and has one reading (CA-56b, CA-56c).
pub(crate) fn mended(text: &str, how: BadArguments) -> Option<RelaxedObject> {
    let state = msg_json::classify(text);
    // A string may hold an object; another value has one reading, itself.
    let is_settled = state == TextState::Object
        || state == TextState::Value && !text.trim_start().starts_with('"');
    let mended = match how {
        _ if is_settled => return None,
        BadArguments::Mend => msg_json::mend(text),
        BadArguments::Complete => msg_json::mend(text).or_else(|_| msg_json::complete(text)),
        BadArguments::Keep | BadArguments::Sanitize => return None,
    };
    mended.ok().filter(|it| !it.edits.is_empty())
}

/// The code of the repair.
pub(crate) fn mended_code(edits: msg_json::Edits) -> &'static str {
    if edits.contains(RelaxedEdit::Completed) {
        "arguments::completed"
    } else {
        "arguments::mended"
    }
}

fn push_escape(out: &mut String, byte: u8) {
    match byte {
        b'\n' => out.push_str("\\n"),
        b'\r' => out.push_str("\\r"),
        b'\t' => out.push_str("\\t"),
        0x08 => out.push_str("\\b"),
        0x0c => out.push_str("\\f"),
        _ => {
            const HEX: &[u8; 16] = b"0123456789abcdef";
            out.push_str("\\u00");
            out.push(char::from(HEX[usize::from(byte >> 4)]));
            out.push(char::from(HEX[usize::from(byte & 15)]));
        }
    }
}
