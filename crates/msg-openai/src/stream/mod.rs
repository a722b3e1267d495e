//! Event streams of Chat Completions and Responses (OA-18 to OA-22): events in, a message out. Bytes,
//! bodies and recognition are for [`StreamReader`](msg_codec::StreamReader); this is what it is given.
//!
//! ```text
//! {"choices":[{"index":0,"delta":{"content":"Hi"}}]}                        chat: one message a choice
//! {"type":"response.output_text.delta","output_index":0,"delta":"Hi"}       responses: one of items
//! ```

mod audio;
mod chat;
mod choice;
mod delta;
mod details;

mod items;
mod output;
mod responses;

mod family;
mod result;

pub use chat::ChatAssembler;
pub use family::{CHAT, RESPONSES};
pub use responses::ResponsesAssembler;
pub use result::{MessageForm, write_result};
