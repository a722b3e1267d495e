//! JSON at the level of bytes, for the readers and writers of this workspace: a strict pull reader
//! that keeps exact source texts and offsets, and writers that append to a `Vec<u8>`.
//!
//! It differs from `serde_json` where these formats need it: a lone surrogate escape is read and
//! reported instead of refused, a raw value keeps its text and may nest to any depth, duplicated
//! members are seen, and every error has its byte offset. Nothing in it recurses but
//! [`JsonValue`], a tree for those who compare values, which is at most 128 levels deep.
//!
//! ```
//! use msg_json::{JsonError, Reader};
//!
//! let mut reader = Reader::new(br#"{"role": "user", "n": 1.0}"#)?;
//! reader.begin_object()?;
//! while let Some(key) = reader.next_key()? {
//!     match &*key.text {
//!         "role" => assert_eq!(reader.string()?.text, "user"),
//!         _ => assert_eq!(reader.raw()?, "1.0"),
//!     }
//! }
//! reader.finish()?;
//! # Ok::<(), JsonError>(())
//! ```

mod decimal;
mod reader;
mod relaxed;
mod scan;
mod value;
mod writer;

pub use decimal::decimal;
pub use reader::{JsonError, JsonStr, Kind, Problem, Reader, unescape, unescape_into};
pub use relaxed::{Edits, RelaxedEdit, RelaxedObject, complete, mend};
pub use scan::{skip_value, string_inside, string_member, validate};
pub use value::{JsonValue, RawJson, TextState, classify};
pub use writer::{
    Token, Tokens, Writer, to_text, tokens, value_end, write_compact, write_spaced, write_str,
};

/// The examples of the README run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
