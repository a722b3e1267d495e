//! The grammars of one line, each a complete nom parser over the line's bytes.
//!
//! No parser here sees a second line; what lines mean to each other is decided by `scan` and `cells`.
//!
//! ```text
//! ## %%% Title[^3]           heading
//! [^3]: [code] lang="py"     definition, attributes
//! ~~~py                      fence
//! ```

mod attributes;
mod definition;
mod fence;
mod heading;
mod quoted;
mod small;

pub(crate) use attributes::{Form, Lexed, RawAttr, attributes, is_continuation, key_reads_back};
pub(crate) use definition::{Definition, definition, is_id};
pub(crate) use fence::{Fence, fence};
pub use heading::Kind;
pub(crate) use heading::{escaped_marker, marker, near_marker, section_heading, title_type};
pub(crate) use quoted::{decode_double, numeric_reference};
pub(crate) use small::{
    Stream, covers_range, duration, integer, integer_base, ordinal, stream_line,
};
