//! Events of any upstream, written as the client's API streams them.

use msg_codec::EventOptions;
use msg_core::{Report, StreamEvent};

use crate::api::Api;
use crate::blocks::BlockWriter;

/// The live writer of an API.
#[derive(Debug)]
pub(crate) enum EventStream {
    Chat(msg_openai::ChunkWriter),
    Responses(msg_openai::ResponseEventWriter),
    Messages(msg_anthropic::EventWriter),
    Gemini(msg_gemini::ChunkWriter),
    Blocks(Box<BlockWriter>),
}

impl EventStream {
    /// A stream that begins.
    pub(crate) fn new(api: Api, options: EventOptions) -> Self {
        match api {
            Api::Chat => Self::Chat(msg_openai::ChunkWriter::new(options)),
            Api::Responses => Self::Responses(msg_openai::ResponseEventWriter::new(options)),
            Api::Messages => Self::Messages(msg_anthropic::EventWriter::new(options)),
            Api::Gemini => Self::Gemini(msg_gemini::ChunkWriter::new(options)),
            Api::Interactions | Api::Bedrock => {
                Self::Blocks(Box::new(BlockWriter::new(api, options)))
            }
        }
    }

    pub(crate) fn feed(&mut self, event: &StreamEvent<'_>, out: &mut Vec<u8>) {
        match self {
            Self::Chat(it) => it.feed(event, out),
            Self::Responses(it) => it.feed(event, out),
            Self::Messages(it) => it.feed(event, out),
            Self::Gemini(it) => it.feed(event, out),
            Self::Blocks(it) => it.feed(event, out),
        }
    }

    /// The bytes at hand are over: what waits for the next event goes out.
    pub(crate) fn flush(&mut self, out: &mut Vec<u8>) {
        if let Self::Gemini(it) = self {
            it.flush(out);
        }
    }

    pub(crate) fn finish(self, out: &mut Vec<u8>) -> Report {
        match self {
            Self::Chat(it) => it.finish(out),
            Self::Responses(it) => it.finish(out),
            Self::Messages(it) => it.finish(out),
            Self::Gemini(it) => it.finish(out),
            Self::Blocks(it) => it.finish(out),
        }
    }
}
