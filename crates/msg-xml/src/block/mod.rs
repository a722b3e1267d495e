//! The native `<tool>` block (XT-12 to XT-29). Its bytes are stored until its end may have come; then they are lexed
//! into one list of tokens, and read once from that. It does not know what stands around the block.
//!
//! ```text
//! <tool>                                    opener: is this a block at all (XT-9)
//!   <tool_name>write_file</tool_name>       grammar: names, ARGS, what is beside them (XT-12 to XT-15, XT-18)
//!   <arguments>
//!     <path>a.go</path>                     element: object or text (XT-19, XT-20)
//!     <content><![CDATA[if a < b]]></content>   close: where a text ends (XT-21, XT-22, XT-24); recover: else (XT-23)
//!   </arguments>
//! </tool>                                   extent: it is worth while to read it now; draft: what the calls come to
//! ```
//!
//! `preview` sends what it sees of the open value meanwhile (XT-42); it decides nothing.

mod close;
mod draft;
mod element;
mod extent;
mod form;
mod grammar;
mod json;
pub(crate) mod opener;
mod preview;
mod section;
mod tokens;

pub(crate) use draft::{Calls, Counts, Done, Draft, Note, Outcome, Sent};
pub(crate) use extent::{BEHIND, Block, Extent, Mark, Marks};
pub(crate) use form::{Form, JsonTags};
pub(crate) use grammar::{Head, REACH_MAX};
pub(crate) use json::read_arguments;
pub(crate) use preview::Preview;
