//! The native JSON form: the one that holds everything a [`Message`](crate::Message) holds (MS-7).
//!
//! Reader and writer go between bytes and messages directly; no tree of values is built. The forms
//! of others (plain, agent, turns) have modules of their own, the wire formats crates of their own.
//!
//! ```text
//! {"role":"user","parts":[{"type":"text","text":"hi","extra":{"openai":{"weight":1}}}],"name":"ann"}
//! ```

mod part;
mod read;
mod write;

pub use read::{read, read_part};
pub use write::{write, write_message, write_part};
