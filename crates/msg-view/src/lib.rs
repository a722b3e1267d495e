//! A conversation as HTML pages to read, to keep or to send: what `msg view` shows, as a library.
//!
//! A page needs nothing else: no script, no font, no network. Markdown is rendered, HTML of the conversation is
//! text, results are at their calls, problems at the messages that they concern; edits are diffs, plans are lists. It
//! opens no file, checks no chain and calls no model: the caller passes what is wrong with the messages.
//!
//! ```
//! use msg_core::Message;
//!
//! let messages = [Message::user("What is **a**?"), Message::assistant("<b onclick=x>")];
//! let mut page = Vec::new();
//! msg_view::write(&messages, &[], &msg_view::ViewOptions::default(), &mut page);
//! let page = String::from_utf8(page).expect("because pages are text");
//! assert!(page.contains("What is <strong>a</strong>?") && page.contains("&lt;b onclick=x&gt;"));
//! ```

mod call;
mod message;
mod page;
mod pages;

pub use pages::{Error, Pages, Recorded, TokenPrice, ViewOptions, write};

/// The examples of the README run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
