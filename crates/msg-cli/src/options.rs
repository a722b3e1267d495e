//! The library's options out of the flags of a command.
//!
//! Flags are written as the JSON object that a line's `options`, Python and a column hold too, and the library
//! reads that: what a flag says is what the member of its name says, and a flag that is not a member is refused
//! whenever the command runs.
//!
//! ```text
//! --max-tokens 4k --include-system     {"max_tokens":4000,"include_system":true}    TrimOptions
//! a line's {"max_tokens":500} over it  {"max_tokens":500,"include_system":true}     TrimOptions of the line
//! ```
//!
//! What a flag names and a member holds (a file of tools, of profiles) is read by the command.

use std::borrow::Cow;

use msg_core::RawJson;
use msg_document::Refusal;
use msg_json::{JsonError, Kind, Reader, write_str};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::exit::Failure;

/// The flags of a command that were given, as members.
pub(crate) struct Flags(Map<String, Value>);

impl Flags {
    /// These flags.
    pub(crate) fn of(flags: &impl Serialize) -> Self {
        Flags(Map::new()).and(flags)
    }

    /// And these.
    pub(crate) fn and(mut self, flags: &impl Serialize) -> Self {
        let Ok(Value::Object(given)) = serde_json::to_value(flags) else { return self };
        self.0.extend(given.into_iter().filter(|(_, it)| match it {
            Value::Null => false,
            Value::Array(it) => !it.is_empty(),
            Value::Object(it) => !it.is_empty(),
            _ => true,
        }));
        self
    }

    /// The first of them, as it is typed.
    pub(crate) fn first(&self) -> Option<String> {
        self.0.keys().next().map(|it| format!("--{}", it.replace('_', "-")))
    }

    /// The options that they say. Fails for values that an option cannot have.
    pub(crate) fn options<T: DeserializeOwned>(self) -> Result<T, Failure> {
        read(self.0).map_err(|it| Failure::Usage(it.to_string()))
    }

    /// The options of `line`: those of the flags, member by member under its own.
    ///
    /// Fails for an option that does not exist and for a value that it cannot have.
    pub(crate) fn options_of_line<T: DeserializeOwned>(
        mut self,
        line: &[u8],
    ) -> Result<T, Refusal> {
        self.0.extend(own(line).map_err(|it| bad(&it))?);
        read(self.0).map_err(|it| bad(&it))
    }
}

/// A line without the options that it brought: they are not part of the document.
pub(crate) fn without_own(line: &[u8]) -> Cow<'_, [u8]> {
    match cut(line) {
        Ok(Some(left)) => Cow::Owned(left),
        // What cannot be read is refused by the reader of the document.
        _ => Cow::Borrowed(line),
    }
}

fn cut(line: &[u8]) -> Result<Option<Vec<u8>>, JsonError> {
    let mut reader = Reader::new(line)?;
    if reader.peek()? != Kind::Object {
        return Ok(None);
    }
    reader.begin_object()?;
    let (mut left, mut is_cut) = (b"{".to_vec(), false);
    while let Some(key) = reader.next_key()? {
        let name = key.text.into_owned();
        let value = reader.raw()?;
        if name == "options" {
            is_cut = true;
            continue;
        }
        if left.len() > 1 {
            left.push(b',');
        }
        write_str(&mut left, &name);
        left.push(b':');
        left.extend_from_slice(value.as_bytes());
    }
    reader.finish()?;
    left.push(b'}');
    Ok(is_cut.then_some(left))
}

/// Pairs of a flag that is given several times, as an object.
pub(crate) fn as_object<T: Serialize, S: Serializer>(
    pairs: &[(String, T)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(name, value)| (name, value)))
}

/// What a line says in its member `options`. Anything but an object is refused by the reader of the document, with a
/// better place.
fn own(line: &[u8]) -> serde_json::Result<Map<String, Value>> {
    #[derive(Deserialize)]
    struct Line {
        #[serde(default)]
        options: Option<RawJson>,
    }
    let is_object = line.trim_ascii_start().starts_with(b"{");
    let line = serde_json::from_slice::<Line>(line).ok().filter(|_| is_object);
    line.and_then(|it| it.options).map_or(Ok(Map::new()), |it| it.parse())
}

fn read<T: DeserializeOwned>(members: Map<String, Value>) -> serde_json::Result<T> {
    serde_json::from_value(Value::Object(members))
}

fn bad(error: &serde_json::Error) -> Refusal {
    Refusal::bad_option(format!("options are not understood: {error}"))
}
