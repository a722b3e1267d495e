//! The options of reading a stream, and the form of its message.

use std::str::FromStr;

use msg_anthropic::EventOptions;
use msg_codec::{Assembled, AssembledChoice, StreamFamily};
use msg_core::{Code, Diagnostic, FinishReason, Message, Report, Role};
use msg_formats::Refusal;
use serde::Deserialize;

use crate::stream;

/// Options for reading and answering a captured stream.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CaptureOptions {
    /// The provider of the stream.
    pub provider: Provider,
    /// The number of bytes per feed; 0 feeds everything at once. The answer is the same.
    pub chunk: usize,
    /// The form of the message.
    pub to: StreamForm,
    /// Also return the events.
    pub events: bool,
    /// Treat concatenated JSON objects as separate events.
    pub split_concatenated: bool,
    /// The maximum size of an event, in bytes.
    pub max_event_bytes: Option<usize>,
    /// Cut the stream off after this many bytes.
    pub interrupt_after: Option<usize>,
    /// The maximum size of a body in a column or a list of bodies [default: 256 MiB].
    pub max_bytes: Option<u64>,
}

impl CaptureOptions {
    msg_core::setters! {
        new;
        /// Sets the provider of the stream.
        with_provider(provider: Provider);
        /// Sets the form of the message.
        with_to(to: StreamForm);
    }
}

/// The provider of a stream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Provider {
    /// Recognised from the first event that is specific enough.
    #[default]
    Auto,
    /// Chat Completions, and everything compatible with it.
    OpenAi,
    /// OpenAI Responses.
    Responses,
    /// Anthropic Messages.
    Anthropic,
    /// Gemini, and Vertex AI.
    Gemini,
    /// Gemini Interactions.
    Interactions,
    /// Amazon Bedrock Converse.
    Bedrock,
}

impl Provider {
    /// All providers, the default first.
    pub const ALL: [Provider; 7] = [
        Provider::Auto,
        Provider::OpenAi,
        Provider::Responses,
        Provider::Anthropic,
        Provider::Gemini,
        Provider::Interactions,
        Provider::Bedrock,
    ];

    /// Its name in options.
    pub fn name(self) -> &'static str {
        self.row().0
    }

    /// A one-line description.
    pub fn about(self) -> &'static str {
        self.row().1
    }

    /// The families of streams to try, in this order.
    pub fn families(self) -> &'static [StreamFamily] {
        self.row().2
    }

    fn row(self) -> (&'static str, &'static str, &'static [StreamFamily]) {
        match self {
            Provider::Auto => ("auto", "Recognised from the first event that tells", &stream::ALL),
            Provider::OpenAi => {
                ("openai", "Chat Completions, and everything compatible with it", &stream::CHAT)
            }
            Provider::Responses => ("responses", "OpenAI Responses", &stream::RESPONSES),
            Provider::Anthropic => ("anthropic", "Anthropic Messages", &stream::ANTHROPIC),
            Provider::Gemini => ("gemini", "Gemini, and Vertex AI", &stream::GEMINI),
            Provider::Interactions => {
                ("interactions", "Gemini Interactions", &stream::INTERACTIONS)
            }
            Provider::Bedrock => ("bedrock", "Amazon Bedrock Converse", &stream::BEDROCK),
        }
    }
}

impl FromStr for Provider {
    type Err = Refusal;

    fn from_str(name: &str) -> Result<Self, Refusal> {
        Provider::ALL.into_iter().find(|it| it.name() == name).ok_or_else(|| {
            let known = Provider::ALL.map(Provider::name).join(", ");
            Refusal::bad_option(format!("no provider is called {name:?}, expected {known}"))
        })
    }
}

msg_core::serde_as_text!(read Provider);

/// The form in which a stream is returned.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StreamForm {
    /// The result with a chat message.
    #[default]
    OpenAi,
    /// The result with the native form.
    Native,
    /// The result with turns.
    Turns,
    /// The stream that Chat Completions would send.
    #[serde(rename = "openai-chunks")]
    OpenAiChunks,
    /// The stream that OpenAI Responses would send.
    #[serde(rename = "responses-events")]
    ResponsesEvents,
    /// The stream that Anthropic would send.
    #[serde(rename = "anthropic-events")]
    AnthropicEvents,
    /// The stream that Gemini would send.
    #[serde(rename = "gemini-chunks")]
    GeminiChunks,
    /// The stream that the Gemini Interactions API would send.
    #[serde(rename = "interactions-events")]
    InteractionsEvents,
    /// The stream that Amazon Bedrock Converse would send, as lines of JSON.
    #[serde(rename = "bedrock-events")]
    BedrockEvents,
    /// The same in the binary frames that Bedrock sends.
    #[serde(rename = "bedrock-frames")]
    BedrockFrames,
}

/// Writes the stream that a provider would send, and reports what it cannot hold.
type WriteStream = fn(&Assembled, &mut Vec<u8>) -> Report;

impl StreamForm {
    /// The families of streams that can be written, by the name of their format.
    pub const FAMILIES: [(&'static str, Self); 7] = [
        ("openai", Self::OpenAiChunks),
        ("responses", Self::ResponsesEvents),
        ("anthropic", Self::AnthropicEvents),
        ("gemini", Self::GeminiChunks),
        ("interactions", Self::InteractionsEvents),
        ("bedrock", Self::BedrockEvents),
        ("bedrock-frames", Self::BedrockFrames),
    ];

    /// The id for a stream without one, if clients require it (RQ-27).
    pub(super) fn made_id(self) -> Option<&'static str> {
        match self {
            StreamForm::OpenAiChunks => Some("chatcmpl-0"),
            StreamForm::ResponsesEvents => Some("resp_0"),
            StreamForm::AnthropicEvents => Some("msg_0"),
            _ => None,
        }
    }

    /// The family of the stream that is written; empty if the result is a message.
    pub(super) fn families(self) -> &'static [StreamFamily] {
        match self {
            StreamForm::OpenAiChunks => &stream::CHAT,
            StreamForm::ResponsesEvents => &stream::RESPONSES,
            StreamForm::AnthropicEvents => &stream::ANTHROPIC,
            StreamForm::GeminiChunks => &stream::GEMINI,
            StreamForm::InteractionsEvents => &stream::INTERACTIONS,
            StreamForm::BedrockEvents | StreamForm::BedrockFrames => &stream::BEDROCK,
            StreamForm::OpenAi | StreamForm::Native | StreamForm::Turns => &[],
        }
    }

    /// The writer, if the result is a stream.
    pub(super) fn writer(self) -> Option<WriteStream> {
        match self {
            StreamForm::OpenAiChunks => Some(msg_openai::write_chunks),
            StreamForm::ResponsesEvents => Some(msg_openai::write_response_events),
            StreamForm::AnthropicEvents => Some(anthropic_events),
            StreamForm::GeminiChunks => Some(msg_gemini::write_chunks),
            StreamForm::InteractionsEvents => Some(msg_gemini::interactions::write_events),
            StreamForm::BedrockEvents => Some(msg_bedrock::write_events),
            StreamForm::BedrockFrames => Some(msg_bedrock::write_frames),
            StreamForm::OpenAi | StreamForm::Native | StreamForm::Turns => None,
        }
    }
}

/// Whether a call of another family was cut although the finish reason says that it is to be run. Anthropic clients
/// read partial input, so the stop reason must tell them (RQ-30).
fn has_cut_call(choice: &AssembledChoice) -> bool {
    let is_own = choice.raw_finish.as_deref() == Some("tool_use");
    let runs = matches!(choice.finish, Some(FinishReason::Stop | FinishReason::ToolCalls));
    !choice.incomplete.is_empty() && runs && !is_own
}

fn anthropic_events(res: &Assembled, out: &mut Vec<u8>) -> Report {
    let nothing = Message::new(Role::Assistant);
    let message = res.choices.first().map_or(&nothing, |it| &it.message);
    let mut options = EventOptions::of(res);
    if res.choices.first().is_some_and(has_cut_call) {
        options.finish = Some(FinishReason::Length);
    }
    let mut report = msg_anthropic::write_events(message, &options, out);
    for other in res.choices.iter().skip(1) {
        let text = format!("choice {} has no place in the stream", other.index);
        report.push(Diagnostic::warning(Code::new("convert::lost-part"), text));
    }
    report
}
