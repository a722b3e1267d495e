//! Chains for tests: the predefined ones, and two generators (CA-62 to CA-64).
//!
//! They are for the tests of whoever uses the crate; nothing in the crate depends on them.

use msg_core::{Message, Part, Role, ToolCall, ToolResult};

use crate::constants::{SUMMARIZATION_TOOL_ARGS, SUMMARIZATION_TOOL_NAME};

const SYSTEM: &str = "You are a helpful assistant.";
const GREETING: &str = "Hello, how are you?";
const WEATHER: &str = "What is the weather in New York?";

/// A predefined chain, by the name that the reference document gives it.
///
/// ```
/// use msg_chainast::{ChainAst, testing::Sample};
///
/// assert!(ChainAst::parse(Sample::BasicConversation.messages()).is_ok());
/// assert_eq!(Sample::Tool.name(), "chain_with_tool");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Sample {
    /// No message.
    #[doc(alias = "empty_chain")]
    Empty,
    /// A system message.
    #[doc(alias = "system_only_chain")]
    SystemOnly,
    /// A user message.
    #[doc(alias = "human_only_chain")]
    HumanOnly,
    /// A system and a user message.
    #[doc(alias = "system_human_chain")]
    SystemHuman,
    /// A question and its answer.
    #[doc(alias = "basic_conversation_chain")]
    BasicConversation,
    /// A tool call without a result.
    #[doc(alias = "chain_with_tool")]
    Tool,
    /// A tool call and its result.
    #[doc(alias = "chain_with_single_tool_response")]
    SingleToolResponse,
    /// Two tool calls without results.
    #[doc(alias = "chain_with_multiple_tools")]
    MultipleTools,
    /// Two tool calls and their results.
    #[doc(alias = "chain_with_multiple_tool_responses")]
    MultipleToolResponses,
    /// Two turns, the second with a tool call.
    #[doc(alias = "chain_with_multiple_sections")]
    MultipleSections,
    /// Two user messages in a row, which is an error.
    #[doc(alias = "chain_with_consecutive_humans")]
    ConsecutiveHumans,
    /// Two tool calls of which one has a result, which is an error.
    #[doc(alias = "chain_with_missing_tool_response")]
    MissingToolResponse,
    /// A tool result without a call, which is an error.
    #[doc(alias = "chain_with_unexpected_tool")]
    UnexpectedTool,
    /// A summarization pair alone.
    #[doc(alias = "chain_with_summarization")]
    Summarization,
    /// A summarization pair, then other pairs.
    #[doc(alias = "chain_with_summarization_and_other_pairs")]
    SummarizationAndOtherPairs,
}

impl Sample {
    /// All of them.
    pub const ALL: [Sample; 15] = [
        Sample::Empty,
        Sample::SystemOnly,
        Sample::HumanOnly,
        Sample::SystemHuman,
        Sample::BasicConversation,
        Sample::Tool,
        Sample::SingleToolResponse,
        Sample::MultipleTools,
        Sample::MultipleToolResponses,
        Sample::MultipleSections,
        Sample::ConsecutiveHumans,
        Sample::MissingToolResponse,
        Sample::UnexpectedTool,
        Sample::Summarization,
        Sample::SummarizationAndOtherPairs,
    ];

    /// Its name in the reference document.
    pub fn name(self) -> &'static str {
        match self {
            Sample::Empty => "empty_chain",
            Sample::SystemOnly => "system_only_chain",
            Sample::HumanOnly => "human_only_chain",
            Sample::SystemHuman => "system_human_chain",
            Sample::BasicConversation => "basic_conversation_chain",
            Sample::Tool => "chain_with_tool",
            Sample::SingleToolResponse => "chain_with_single_tool_response",
            Sample::MultipleTools => "chain_with_multiple_tools",
            Sample::MultipleToolResponses => "chain_with_multiple_tool_responses",
            Sample::MultipleSections => "chain_with_multiple_sections",
            Sample::ConsecutiveHumans => "chain_with_consecutive_humans",
            Sample::MissingToolResponse => "chain_with_missing_tool_response",
            Sample::UnexpectedTool => "chain_with_unexpected_tool",
            Sample::Summarization => "chain_with_summarization",
            Sample::SummarizationAndOtherPairs => "chain_with_summarization_and_other_pairs",
        }
    }

    /// The messages.
    pub fn messages(self) -> Vec<Message> {
        match self {
            Sample::Empty => Vec::new(),
            Sample::SystemOnly => vec![Message::system(SYSTEM)],
            Sample::HumanOnly => vec![Message::user(GREETING)],
            Sample::SystemHuman => vec![Message::system(SYSTEM), Message::user(GREETING)],
            Sample::BasicConversation => {
                let answer = "I am well, thank you. How can I help you?";
                Sample::SystemHuman.and([Message::assistant(answer)])
            }
            Sample::Tool => extended(weather_question(), [calling([weather_call()])]),
            Sample::SingleToolResponse => Sample::Tool.and([weather_result()]),
            Sample::MultipleTools => {
                extended(weather_question(), [calling([weather_call(), time_call()])])
            }
            Sample::MultipleToolResponses => {
                let time = result("tool-2", "get_time", "It is 3:45 pm.");
                Sample::MultipleTools.and([weather_result(), time])
            }
            Sample::MultipleSections => Sample::SystemHuman.and(second_section()),
            Sample::ConsecutiveHumans => Sample::SystemHuman.and([Message::user(WEATHER)]),
            Sample::MissingToolResponse => Sample::MultipleTools.and([weather_result()]),
            Sample::UnexpectedTool => {
                Sample::SystemHuman.and([Message::assistant("I am well."), weather_result()])
            }
            Sample::Summarization => extended(weather_question(), summarization()),
            Sample::SummarizationAndOtherPairs => {
                let others = [calling([weather_call()]), weather_result()];
                let asked = Message::assistant("Shall I go on?");
                extended(Sample::Summarization.and([asked]), others)
            }
        }
    }

    fn and<const N: usize>(self, more: [Message; N]) -> Vec<Message> {
        extended(self.messages(), more)
    }
}

fn second_section() -> [Message; 5] {
    [
        Message::assistant("I am well."),
        Message::user(WEATHER),
        calling([weather_call()]),
        weather_result(),
        Message::assistant("It is sunny."),
    ]
}

fn summarization() -> [Message; 2] {
    let call = ToolCall::new("summary-1", SUMMARIZATION_TOOL_NAME, SUMMARIZATION_TOOL_ARGS);
    let text = "This is a summary of the earlier conversation.";
    [calling([call]), result("summary-1", SUMMARIZATION_TOOL_NAME, text)]
}

/// What [`generate_chain`] makes (CA-63).
///
/// The lists are read at the index of the section, and of the pair in its section; behind their end the
/// default counts: one pair, no tools, one call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[doc(alias = "DefaultChainConfig")]
pub struct ChainConfig {
    /// Whether a system message comes first.
    pub include_system: bool,
    /// How many turns there are, each with a user message.
    pub sections: usize,
    /// How many pairs each section has.
    pub body_pairs_per_section: Vec<usize>,
    /// Which pairs call tools.
    pub tools_for_body_pairs: Vec<bool>,
    /// How many calls those make; at least one.
    pub tool_calls_per_body_pair: Vec<usize>,
    /// Whether calls have results.
    pub include_all_tool_responses: bool,
}

impl Default for ChainConfig {
    /// System message, one section, one pair, no tools.
    fn default() -> Self {
        ChainConfig {
            include_system: true,
            sections: 1,
            body_pairs_per_section: vec![1],
            tools_for_body_pairs: vec![false],
            tool_calls_per_body_pair: vec![0],
            include_all_tool_responses: true,
        }
    }
}

/// A chain of this shape; the same for the same configuration (CA-63).
///
/// ```
/// use msg_chainast::testing::{ChainConfig, generate_chain};
///
/// let config = ChainConfig { sections: 2, tools_for_body_pairs: vec![true], ..ChainConfig::default() };
/// assert_eq!(generate_chain(&config).len(), 1 + 2 * 3);
/// ```
pub fn generate_chain(config: &ChainConfig) -> Vec<Message> {
    let mut chain = Vec::new();
    if config.include_system {
        chain.push(Message::system(SYSTEM));
    }
    let mut n_calls = 0;
    for section in 0..config.sections {
        chain.push(Message::user(format!("Question {}", section + 1)));
        let n_pairs = config.body_pairs_per_section.get(section).copied().unwrap_or(1);
        for pair in 0..n_pairs {
            if config.tools_for_body_pairs.get(pair).copied().unwrap_or(false) {
                let wanted = config.tool_calls_per_body_pair.get(pair).copied().unwrap_or(1).max(1);
                push_tool_pair(&mut chain, n_calls, wanted, config.include_all_tool_responses);
                n_calls += wanted;
            } else {
                let answer = format!("Response to question {}", section + 1);
                chain.push(Message::assistant(answer));
            }
        }
    }
    chain
}

/// A chain of turns with one pair of `calls` tool calls each; the last `missing` results of the chain, or
/// all there are, are left out (CA-64).
///
/// ```
/// use msg_chainast::{CheckOptions, check, testing::generate_complex_chain};
///
/// let chain = generate_complex_chain(5, 3, 7);
/// assert_eq!(check(&chain, None, &CheckOptions::new()).len(), 7);
/// ```
pub fn generate_complex_chain(sections: usize, calls: usize, missing: usize) -> Vec<Message> {
    let config = ChainConfig {
        sections,
        tools_for_body_pairs: vec![calls > 0],
        tool_calls_per_body_pair: vec![calls],
        ..ChainConfig::default()
    };
    let mut chain = generate_chain(&config);
    let mut kept = (sections * calls).saturating_sub(missing);
    chain.retain(|it| {
        if it.role != Role::Tool {
            return true;
        }
        let keeps = kept > 0;
        kept -= usize::from(keeps);
        keeps
    });
    chain
}

fn push_tool_pair(chain: &mut Vec<Message>, before: usize, n_calls: usize, answered: bool) {
    let calls = (1..=n_calls).map(|nth| {
        let arguments = format!(r#"{{"query": "Test query {nth}"}}"#);
        ToolCall::new(format!("tool-{}", before + nth), format!("get_data_{nth}"), arguments)
    });
    chain.push(calling(calls));
    if answered {
        chain.extend((1..=n_calls).map(|nth| {
            let id = format!("tool-{}", before + nth);
            result(&id, &format!("get_data_{nth}"), &format!("Response for {id}"))
        }));
    }
}

fn weather_question() -> Vec<Message> {
    vec![Message::system(SYSTEM), Message::user(WEATHER)]
}

fn weather_call() -> ToolCall {
    ToolCall::new("tool-1", "get_weather", r#"{"location": "New York"}"#)
}

fn time_call() -> ToolCall {
    ToolCall::new("tool-2", "get_time", r#"{"timezone": "EST"}"#)
}

fn weather_result() -> Message {
    result("tool-1", "get_weather", "The weather in New York is sunny.")
}

fn calling(calls: impl IntoIterator<Item = ToolCall>) -> Message {
    let mut message = Message::new(Role::Assistant);
    message.parts.extend(calls.into_iter().map(Part::ToolCall));
    message
}

fn result(id: &str, name: &str, content: &str) -> Message {
    let mut it = ToolResult::new(id, content);
    it.name = Some(name.to_owned());
    Message::new(Role::Tool).with_part(Part::ToolResult(it))
}

fn extended(mut chain: Vec<Message>, more: impl IntoIterator<Item = Message>) -> Vec<Message> {
    chain.extend(more);
    chain
}
