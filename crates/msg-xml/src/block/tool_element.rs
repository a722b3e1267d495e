//! A tool called by a tag of its own name (XT-38): the element's content is read as that of `<arguments>`, with another
//! close tag.
//!
//! ```text
//! <ls><path>.</path></ls>
//!    what <arguments> would hold
//! ```

use std::sync::Arc;

use super::draft::{Done, Note, Outcome};
use super::grammar::{Head, read_arguments_of};
use super::tokens::Pending;
use crate::code::Code;
use crate::input::Input;
use crate::options::Options;

/// The element of `tool`, whose close tag ends at `close`; without one its call is incomplete.
pub(super) fn read(
    tool: &str,
    w: Input<'_>,
    head: Head,
    close: Option<usize>,
    opts: &Options,
) -> Result<Done, Pending> {
    let tag = |end| w.str(head.body, end).rfind('<').map(|i| (head.body + i, end));
    let close = close.and_then(tag);
    let end = close.map_or(w.end(), |(_, end)| end);
    let mut done = read_arguments_of(tool, w, head, close, opts)?;
    // A real opener or `</tool>` ended the block: what follows is read as what it is (XT-29).
    let is_over = close.is_some_and(|(to, _)| done.end < to);
    let end = if is_over { done.end } else { end };
    if let Outcome::Calls(calls) = &mut done.outcome {
        if close.is_none() {
            calls.truncate(1);
            calls.iter_mut().for_each(|call| call.complete = false);
            let code = Code::TruncatedToolCall;
            done.notes = vec![Note { code, start: head.start, end, call: 0 }];
        }
        calls.iter_mut().next_back().into_iter().for_each(|last| last.end = end);
        done.end = end;
    } else {
        done = Done::new(head.start, end, done.outcome, Vec::new());
    }
    Ok(Done { at_eof: is_over, format: Some(Arc::from("cline")), ..done })
}
