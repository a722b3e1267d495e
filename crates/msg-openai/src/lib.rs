//! OpenAI wire formats both ways, and the streams that providers really send: chat messages,
//! Responses items, requests and responses, and event streams into messages.
//!
//! Bytes go straight into [`Message`](msg_core::Message)s and back into bytes; what the model does
//! not know survives, in order. Nothing here opens a socket, reads a clock or judges a conversation.

mod body;
mod wire;

pub mod chat;
pub mod responses;

mod stream;

mod headers;
mod llm;
mod options;

mod codes;
mod error;

pub use chat::{ChatMessages, ChatRequest, ChatResponse, Tool, ToolChoice};
pub use codes::CODES;
pub use error::Error;
pub use headers::ClientHeaders;
pub use llm::{LlmMessages, to_llm_messages, to_llm_messages_with};
pub use msg_core::{LowerCache, LowerOptions, Lowered, Profile, ReasoningPolicy, lower};
pub use options::{
    EmptyContent, EncodeOptions, ItemIds, Layout, ReadOptions, ReasoningField, TextParts,
};
pub use responses::{ResponsesRequest, ResponsesResponse};
pub use stream::{
    AnthropicAssembler, Assembled, AssembledChoice, Assembler, ChatAssembler, Events, MessageForm,
    Provider, ProviderError, ResponsesAssembler, SseDecoder, SseEvent, StreamLimits, StreamOptions,
    StreamReader, StreamState,
};
