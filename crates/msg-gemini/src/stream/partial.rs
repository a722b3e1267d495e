//! Arguments that are streamed value by value (GE-17): `partialArgs` set what is at a path, and a
//! string may go on with the next piece.
//!
//! ```text
//! {"jsonPath":"$.a","stringValue":"x","willContinue":true}, {"jsonPath":"$.a","stringValue":"y"}
//!     {"a":"xy"}
//! ```

use std::borrow::Cow;
use std::collections::HashMap;

use msg_codec::stream::{AssemblerStep as Limits, Channel};
use msg_codec::{Json, Str};
use msg_json::write_str;

use super::BAD_PATH;

/// The arguments of a call while they arrive.
#[derive(Debug, Clone, Default)]
pub(super) struct Partial {
    root: Members,
    /// How many values there are, gaps included.
    n_values: usize,
}

/// More values than any call has.
const MAX_VALUES: usize = 1 << 16;

/// The members of an object in the order of their first appearance.
#[derive(Debug, Clone, Default)]
struct Members {
    list: Vec<(String, Value)>,
    places: HashMap<String, usize>,
}

#[derive(Debug, Clone)]
enum Value {
    /// A gap, or a container of which nothing is known yet.
    Empty,
    /// JSON text.
    Json(String),
    /// A string, and whether the last piece of it said that there is more.
    Text {
        text: Channel,
        is_open: bool,
    },
    Object(Members),
    Array(Vec<Value>),
}

impl Partial {
    /// Takes the arguments that came whole with the beginning of the call.
    pub(super) fn take_args(&mut self, args: Json<'_>, limits: &mut Limits<'_, '_>) {
        for (name, value) in args.members() {
            let fits = limits.argument_gauge().take(name.len() + value.source().len());
            if fits && let Some(place) = self.root.place(&name, &mut self.n_values) {
                *place = Value::Json(value.compact());
            }
        }
    }

    /// Takes one of the `partialArgs`; a path that does not parse or fit is skipped.
    pub(super) fn take(&mut self, piece: Json<'_>, limits: &mut Limits<'_, '_>) {
        let [path, goes_on, text, number, boolean, null] = piece.pick([
            "jsonPath",
            "willContinue",
            "stringValue",
            "numberValue",
            "boolValue",
            "nullValue",
        ]);
        let goes_on = goes_on.is_some_and(|it| it.source() == "true");
        let number = number.filter(|it| it.number().is_some());
        let boolean = boolean.filter(|it| matches!(it.source(), "true" | "false"));
        let value = number.or(boolean).or(null.map(|_| Json::from_valid("null")));
        let path = path.and_then(Json::text).unwrap_or_default();
        let steps = parse(&path).filter(|_| limits.argument_gauge().take(path.len()));
        let place = steps.and_then(|it| self.place(&it));
        let is_set = place.is_some_and(|place| match text.and_then(Json::string) {
            Some(text) => place.append(text, goes_on, limits),
            None => place.set(value, limits),
        });
        if !is_set {
            limits.note(BAD_PATH, || format!("an argument for the path {path} was skipped"));
        }
    }

    /// The arguments as JSON.
    pub(super) fn into_json(self) -> String {
        let mut out = Vec::new();
        Value::Object(self.root).write(&mut out);
        String::from_utf8(out).expect("because JSON of texts is UTF-8")
    }

    fn place(&mut self, steps: &[Step<'_>]) -> Option<&mut Value> {
        let (first, rest) = steps.split_first()?;
        let Step::Name(name) = first else { return None };
        let mut place = self.root.place(name, &mut self.n_values)?;
        for step in rest {
            place = place.step(step, &mut self.n_values)?;
        }
        Some(place)
    }
}

impl Members {
    fn place(&mut self, name: &str, n_values: &mut usize) -> Option<&mut Value> {
        let at = match self.places.get(name) {
            Some(at) => *at,
            None => {
                *n_values += 1;
                if *n_values > MAX_VALUES {
                    return None;
                }
                self.places.insert(name.to_owned(), self.list.len());
                self.list.push((name.to_owned(), Value::Empty));
                self.list.len() - 1
            }
        };
        self.list.get_mut(at).map(|it| &mut it.1)
    }
}

impl Value {
    /// The value one step further, which is made if nothing is there; none if something else is.
    fn step(&mut self, step: &Step<'_>, n_values: &mut usize) -> Option<&mut Self> {
        if let Self::Empty = self {
            *self = match step {
                Step::Name(_) => Self::Object(Members::default()),
                Step::Index(_) => Self::Array(Vec::new()),
            };
        }
        match (self, step) {
            (Self::Object(members), Step::Name(name)) => members.place(name, n_values),
            (Self::Array(list), Step::Index(at)) if *at <= MAX_INDEX => {
                if *at >= list.len() {
                    *n_values += *at + 1 - list.len();
                    if *n_values > MAX_VALUES {
                        return None;
                    }
                    list.resize_with(*at + 1, || Self::Empty);
                }
                list.get_mut(*at)
            }
            _ => None,
        }
    }

    /// Sets a value; false if there is none, or if it does not fit what is here.
    fn set(&mut self, value: Option<Json<'_>>, limits: &mut Limits<'_, '_>) -> bool {
        match (self, value) {
            (Self::Object(_) | Self::Array(_), _) | (_, None) => false,
            (place, Some(value)) => {
                let fits = limits.argument_gauge().take(value.source().len());
                if fits {
                    *place = Self::Json(value.source().to_owned());
                }
                fits
            }
        }
    }

    fn append(&mut self, piece: Str<'_>, goes_on: bool, limits: &mut Limits<'_, '_>) -> bool {
        if matches!(self, Self::Object(_) | Self::Array(_)) {
            return false;
        }
        if !matches!(self, Self::Text { is_open: true, .. }) {
            *self = Self::Text { text: Channel::default(), is_open: true };
        }
        if let Self::Text { text, is_open } = self {
            text.push(piece, &mut limits.argument_gauge());
            if !goes_on {
                text.end(&mut limits.argument_gauge());
            }
            *is_open = goes_on;
        }
        true
    }

    /// Containers nest no deeper than paths have steps.
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Empty => out.extend_from_slice(b"null"),
            Self::Json(text) => out.extend_from_slice(text.as_bytes()),
            Self::Text { text, .. } => write_str(out, text.text()),
            Self::Object(members) => msg_json::Writer::new(out).object(|it| {
                for (name, value) in &members.list {
                    it.key(name).value(|out| value.write(out));
                }
            }),
            Self::Array(list) => msg_json::Writer::new(out).array(list, |it, value| {
                it.value(|out| value.write(out));
            }),
        }
    }
}

// Paths into the arguments of a call (GE-17): the names and indices of RFC 9535, and nothing else of it.
//
// ```text
// $.a['k k'][1].q      Name a, Name "k k", Index 1, Name q
// ```

/// The largest index: gaps before it are made of nulls.
pub(super) const MAX_INDEX: usize = 4096;

/// More steps than any schema has.
const MAX_STEPS: usize = 128;

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step<'p> {
    Name(Cow<'p, str>),
    Index(usize),
}

/// The steps of a path; none if it is of another kind, or goes too far.
pub(super) fn parse(path: &str) -> Option<Vec<Step<'_>>> {
    let mut rest = path.strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        let (step, after) = match rest.as_bytes().first()? {
            b'.' => dotted(&rest[1..])?,
            b'[' => bracketed(&rest[1..])?,
            _ => return None,
        };
        steps.push(step);
        rest = after;
        if steps.len() > MAX_STEPS {
            return None;
        }
    }
    (!steps.is_empty()).then_some(steps)
}

fn dotted(rest: &str) -> Option<(Step<'_>, &str)> {
    let end = rest.find(['.', '[']).unwrap_or(rest.len());
    let (name, after) = rest.split_at(end);
    let is_name = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-' || !it.is_ascii();
    let is_plain = !name.is_empty() && name.chars().all(is_name);
    is_plain.then_some((Step::Name(Cow::Borrowed(name)), after))
}

fn bracketed(rest: &str) -> Option<(Step<'_>, &str)> {
    let quote = rest.chars().next().filter(|it| matches!(it, '\'' | '"'));
    let Some(quote) = quote else {
        let (digits, after) = rest.split_once(']')?;
        let is_index = !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit());
        // What is too large for a number is too large for an index.
        let index = digits.parse().unwrap_or(usize::MAX);
        return is_index.then_some((Step::Index(index), after));
    };
    let end = closing(&rest[1..], quote)?;
    let name = &rest[1..=end];
    let after = rest[end + 2..].strip_prefix(']')?;
    Some((Step::Name(unquoted(name, quote)?), after))
}

/// Where the quote is that ends a name.
fn closing(text: &str, quote: char) -> Option<usize> {
    let mut is_escaped = false;
    for (at, it) in text.char_indices() {
        match it {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            it if it == quote => return Some(at),
            _ => {}
        }
    }
    None
}

/// The name that a quoted text spells: escapes are those of JSON, and that of the quote.
fn unquoted(name: &str, quote: char) -> Option<Cow<'_, str>> {
    if !name.contains('\\') {
        return Some(Cow::Borrowed(name));
    }
    let json =
        if quote == '\'' { name.replace("\\'", "'").replace('"', "\\\"") } else { name.into() };
    msg_json::validate(&format!("\"{json}\"")).ok()?;
    Some(Cow::Owned(msg_json::unescape(&json).text.into_owned()))
}
