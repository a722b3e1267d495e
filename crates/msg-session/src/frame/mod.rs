//! From bytes to records: the frame rules (SE-20 to SE-28), the same for all dialects of one form. What
//! they mend is mended in the text that a dialect sees; a text without faults is borrowed.
//!
//! ```text
//! {"type":"user",…}\n        record 0, line 1
//! {"type":"ass               bad-line: no record
//! {"a":1}{"b":2}\n           joined-lines: records 1 and 2, both of line 3
//! ```
//!
//! Here is nothing that knows what a record says.

mod array;
mod line;
mod lines;

pub(crate) use crate::excerpt::read_whole as read_lines;
pub(crate) use crate::frame::line::{clean, clean_all_lines, clean_record};
pub(crate) use array::{Array, read as read_array, read_at, read_others};
pub(crate) use line::{RUN, Torn, TornRecord, is_a_record, join};
pub(crate) use lines::{Lines, Record, byte_order_mark, clean_lines, save_lines, too_large};
