//! The native `<tool>` block (XT-12 to XT-29). Its bytes are stored until its end is known, then it is read once, from
//! the slice. It does not know what stands around the block.
//!
//! ```text
//! <tool>                                    opener: is this a block at all (XT-9)
//!   <tool_name>write_file</tool_name>       top: names, ARGS, what is beside them (XT-12 to XT-15)
//!   <arguments>                             args: parameters, text or JSON (XT-18)
//!     <path>a.go</path>                     element: object or text (XT-19, XT-20)
//!     <content><![CDATA[if a < b]]></content>   close, section: where a text ends (XT-21, XT-22, XT-24)
//!   </arguments>
//! </tool>                                   extent: it is worth while to read it now
//! ```
//!
//! `preview` sends what it sees of the open value meanwhile (XT-42); it decides nothing.

mod ahead;
mod args;
mod close;
mod draft;
mod element;
mod end;
mod extent;
mod grammar;
#[cfg(test)]
mod growth;
mod json_body;
mod json_calls;
mod names;
pub(crate) mod opener;
mod preview;
mod recover;
mod section;
mod sent;
mod stored;
mod top;

pub(crate) use draft::{Done, Draft, Note, Outcome};
pub(crate) use end::REACH_MAX;
pub(crate) use grammar::{Head, read};
pub(crate) use json_calls::{partial_name, read_arguments, read_calls};
pub(crate) use sent::Sent;
pub(crate) use stored::Block;
