//! The documents of Converse: a bare list, a request, a response or one message (BR-1).

use msg_codec::codec;
use msg_core::{Message, Report};

use crate::{ConverseRequest, ReadOptions, WriteOptions};

/// A document that holds Converse messages.
pub type Document = codec::Document<ConverseRequest>;

/// Reads a document of Converse messages (BR-1 to BR-12), and says what is odd about it. It fails only for text that is
/// not JSON and for what is not a conversation. Linear in the input.
///
/// # Errors
/// [`Error::Read`](crate::Error::Read) with message and byte, or [`Error::TooLarge`](crate::Error::TooLarge).
pub fn read(json: &[u8], options: &ReadOptions) -> Result<(Document, Report), crate::Error> {
    Document::read(json, options)
}

/// Appends messages as what is sent to Bedrock, `{"system"?,"messages"}` (BR-1, BR-13), and says what the format cannot
/// hold (MS-24). Linear in the output.
pub fn write(messages: &[Message], options: &WriteOptions, out: &mut Vec<u8>) -> Report {
    ConverseRequest::write_conversation(messages, options, out)
}
