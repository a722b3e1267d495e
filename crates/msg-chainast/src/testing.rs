//! Chains for tests: the predefined ones, and two generators (CA-62 to CA-64).
//!
//! They are for the tests of whoever uses the crate; nothing in the crate depends on them.

use msg_core::{Message, Part, Role, ToolCall, ToolResult};

use crate::constants::{SUMMARIZATION_TOOL_ARGS, SUMMARIZATION_TOOL_NAME};

const SYSTEM: &str = "You are a helpful assistant.";
const GREETING: &str = "Hello, how are you?";
const WEATHER: &str = "What is the weather in New York?";

/// No message.
pub fn empty_chain() -> Vec<Message> {
    Vec::new()
}

/// A system message.
pub fn system_only_chain() -> Vec<Message> {
    vec![Message::system(SYSTEM)]
}

/// A user message.
pub fn human_only_chain() -> Vec<Message> {
    vec![Message::user(GREETING)]
}

/// A system and a user message.
pub fn system_human_chain() -> Vec<Message> {
    vec![Message::system(SYSTEM), Message::user(GREETING)]
}

/// A question and its answer.
///
/// ```
/// use msg_chainast::{ChainAst, testing};
///
/// assert!(ChainAst::parse(testing::basic_conversation_chain()).is_ok());
/// ```
pub fn basic_conversation_chain() -> Vec<Message> {
    let answer = Message::assistant("I am well, thank you. How can I help you?");
    extended(system_human_chain(), [answer])
}

/// A tool call without a result.
pub fn chain_with_tool() -> Vec<Message> {
    extended(weather_question(), [calling([weather_call()])])
}

/// A tool call and its result.
pub fn chain_with_single_tool_response() -> Vec<Message> {
    extended(chain_with_tool(), [weather_result()])
}

/// Two tool calls without results.
pub fn chain_with_multiple_tools() -> Vec<Message> {
    extended(weather_question(), [calling([weather_call(), time_call()])])
}

/// Two tool calls and their results.
pub fn chain_with_multiple_tool_responses() -> Vec<Message> {
    let time = result("tool-2", "get_time", "It is 3:45 pm.");
    extended(chain_with_multiple_tools(), [weather_result(), time])
}

/// Two turns, the second with a tool call.
pub fn chain_with_multiple_sections() -> Vec<Message> {
    let second = [
        Message::assistant("I am well."),
        Message::user(WEATHER),
        calling([weather_call()]),
        weather_result(),
        Message::assistant("It is sunny."),
    ];
    extended(system_human_chain(), second)
}

/// Two user messages in a row, which is an error.
pub fn chain_with_consecutive_humans() -> Vec<Message> {
    extended(system_human_chain(), [Message::user(WEATHER)])
}

/// Two tool calls of which one has a result, which is an error.
pub fn chain_with_missing_tool_response() -> Vec<Message> {
    extended(chain_with_multiple_tools(), [weather_result()])
}

/// A tool result without a call, which is an error.
pub fn chain_with_unexpected_tool() -> Vec<Message> {
    extended(system_human_chain(), [Message::assistant("I am well."), weather_result()])
}

/// A summarization pair alone.
pub fn chain_with_summarization() -> Vec<Message> {
    let call = ToolCall::new("summary-1", SUMMARIZATION_TOOL_NAME, SUMMARIZATION_TOOL_ARGS);
    let text = "This is a summary of the earlier conversation.";
    let summary = result("summary-1", SUMMARIZATION_TOOL_NAME, text);
    extended(weather_question(), [calling([call]), summary])
}

/// A summarization pair, then other pairs.
pub fn chain_with_summarization_and_other_pairs() -> Vec<Message> {
    let others =
        [Message::assistant("Shall I go on?"), calling([weather_call()]), weather_result()];
    extended(chain_with_summarization(), others)
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
