//! From stored turns to the bytes of a request's `messages`: lowering, then canonical writing.

use msg_core::Diagnostic;
use msg_forms::{
    Turn,
    turns::{LowerOptions, lower},
};

use crate::{WriteOptions, chat};

/// The `messages` of a request, and what was left out or changed on the way.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LlmMessages {
    /// A JSON array.
    pub json: Vec<u8>,
    /// What lowering reported, by turn, then what the wire format cannot hold, by message.
    pub report: Vec<Diagnostic>,
}

impl LlmMessages {
    /// The array as text.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.json).unwrap_or_default()
    }
}

/// Makes the `messages` of a request from turns: [`lower`] and the canonical form of OA-2. Linear.
///
/// ```
/// use msg_forms::{Turn, TurnPart, turns::LowerOptions};
///
/// let mut turn = Turn::new("m1", "user");
/// turn.parts.push(TurnPart::text("t1", "Hello"));
/// let res = msg_openai::to_llm_messages(&[turn], &LowerOptions::strict());
/// assert_eq!(res.as_str(), r#"[{"role":"user","content":"Hello"}]"#);
/// assert!(res.report.is_empty());
/// ```
pub fn to_llm_messages(turns: &[Turn], options: &LowerOptions) -> LlmMessages {
    to_llm_messages_with(turns, options, &WriteOptions::canonical())
}

/// As [`to_llm_messages`], encoded as the caller says.
pub fn to_llm_messages_with(
    turns: &[Turn],
    options: &LowerOptions,
    encode: &WriteOptions,
) -> LlmMessages {
    let lowered = lower(turns, options);
    let mut json = Vec::new();
    let report = chat::write(&lowered.messages, encode, &mut json);
    let mut all = lowered.report;
    all.extend(report.into_vec());
    LlmMessages { json, report: all }
}
