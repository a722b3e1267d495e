//! The native `<tool>` block (XT-12 to XT-29). Its bytes are stored until the block may be complete, then lexed into a
//! flat list of tokens and read once. It does not know the text around the block.
//!
//! ```text
//! <tool>                                    opener: is this a block at all (XT-9)
//!   <tool_name>write_file</tool_name>       grammar: names, ARGS, what is next to them (XT-12 to XT-15, XT-18)
//!   <arguments>
//!     <path>a.go</path>                     element: object or text (XT-19, XT-20)
//!     <content><![CDATA[if a < b]]></content>   close: where a text ends (XT-21, XT-22, XT-24)
//!   </arguments>
//! </tool>                                   extent: when to read it; draft: the calls
//! ```
//!
//! `preview` sends pieces of the open value meanwhile (XT-42); it decides nothing.

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

pub(crate) use draft::{Arguments, Calls, Counts, Done, Draft, Note, Outcome, Sent};
pub(crate) use extent::{BEHIND, Block, Extent, Mark, Marks};
pub(crate) use form::{Form, JsonTags};
pub(crate) use grammar::{Head, REACH_MAX};
pub(crate) use json::read_arguments;
pub(crate) use preview::Preview;
