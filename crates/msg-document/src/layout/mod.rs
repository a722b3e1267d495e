//! JSON as its author laid it out: what an edit left as it was keeps its source text, with white space and
//! escapes; what is new is laid out as its neighbours are.
//!
//! ```text
//! the source                    as a format writes it            with the layout of the source
//! [                             [{"role":"user",…},              [
//!   {"role": "user", …},         {"role":"assistant",…},           {"role": "user", …},      as it was
//!   {                            {"role":"tool",…}]                {
//!     "role": "assistant",                                           "role": "assistant",
//!     "content": "\u00e9"                                            "content": "\u00e9"     as it was
//!   }                                                              },
//! ]                                                                {
//!                                                                    "role": "tool", …       new
//!                                                                  }
//!                                                                ]
//! ```
//!
//! It knows JSON only, no format: it is given two texts, and gives the value of the second. `level` splits
//! a list or an object, `align` finds which element of the one is which of the other, `same` says what is
//! equal, `style` lays out what is new, `merge` walks. `carried` is another walk, over what is written before and after
//! an edit; `splice` puts mended messages into their list where it is known which they are.

mod align;
mod carried;
mod level;
mod merge;
mod same;
mod steps;
mod style;

use msg_json::validate;

pub(crate) use self::carried::carried;
use self::merge::Merge;
pub(crate) use self::steps::{Steps, joined_steps};
use self::style::Style;
pub(crate) use crate::layout::merge::{MessageList, Piece};

/// As `Format::keep_layout`, of texts that are known to be JSON: `source` has been read, and `written` is ours.
pub(crate) fn keep_layout_of_json(source: &[u8], written: Vec<u8>) -> Vec<u8> {
    match std::str::from_utf8(source).ok().zip(std::str::from_utf8(&written).ok()) {
        Some((source, written)) if source != written => merged(source, written),
        _ => written,
    }
}

/// The elements of a list, as they are written.
pub(crate) fn elements(list: &str) -> impl Iterator<Item = &str> {
    let level = level::Level::of(list);
    level.into_iter().flat_map(|it| it.entries).map(|it| it.value)
}

/// The walk over two texts of JSON that differ.
pub(crate) fn merged(source: &str, written: &str) -> Vec<u8> {
    let value = source.trim_start_matches('\u{feff}').trim_ascii();
    let start = source.len() - source.trim_start_matches('\u{feff}').trim_ascii_start().len();
    let written = written.trim_start_matches('\u{feff}').trim_ascii();
    let mut merge = Merge::new(Style::of(value), source.len().max(written.len()));
    merge.push(&source[..start]);
    merge.document(value, written);
    merge.push(&source[start + value.len()..]);
    merge.finish()
}

/// A JSON document over several lines, indented by two spaces, with a line end. The spelling of numbers
/// and strings stays.
///
/// What is not JSON comes back as it is. Linear; deeper than 64 levels lines are indented no further.
///
/// ```
/// let pretty = msg_document::pretty(br#"{"n":1.0,"list":[],"of":["a"]}"#);
/// assert_eq!(pretty, b"{\n  \"n\": 1.0,\n  \"list\": [],\n  \"of\": [\n    \"a\"\n  ]\n}\n");
/// ```
pub fn pretty(json: &[u8]) -> Vec<u8> {
    let text = std::str::from_utf8(json).ok().filter(|it| validate(it).is_ok());
    let Some(text) = text else { return json.to_vec() };
    let mut out = Vec::with_capacity(json.len() * 2);
    Style::PRETTY.write(text, Some(""), &mut out);
    out.push(b'\n');
    out
}
