//! What a request asks besides its conversation, in words that providers share (AN-21): so that a
//! request of one provider can become one of another.
//!
//! ```text
//! {"model":…,"messages":[…],"tools":[…],"max_completion_tokens":512,"seed":7}     OpenAI chat
//!               │              └ Tool     └ max_tokens               └ rest: no word for it here
//!               └ the conversation: messages, not part of the head
//! ```
//!
//! Each wire crate reads a head out of its requests and makes requests of one. What is a provider's
//! own stays in [`RequestHead::rest`] and is not carried. Knows no wire format.

use crate::{Diagnostic, RawJson, Report};

/// What a request asks besides its conversation. What was not asked is none.
///
/// ```
/// use msg_core::Report;
/// use msg_core::request::RequestHead;
///
/// let head = RequestHead { max_tokens: Some(512), stop: vec!["END".into()], ..RequestHead::default() };
/// let mut report = Report::new();
/// head.lose("responses requests", &[("stop", true)], &mut report);
/// let codes: Vec<_> = report.iter().map(|it| it.code.as_str()).collect();
/// assert_eq!(codes, ["convert::lost-member"]);
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RequestHead {
    /// The model, by the name that its provider has for it.
    pub model: Option<String>,
    /// What the model may call, in order.
    pub tools: Vec<Tool>,
    /// Which of them it calls.
    pub tool_choice: Option<ToolChoice>,
    /// Whether it may make several calls at once.
    pub parallel_tool_calls: Option<bool>,
    /// The most tokens of the answer.
    pub max_tokens: Option<u64>,
    /// Temperature, `top_p`, `top_k`: numbers in the spelling of the source.
    pub sampling: Sampling,
    /// Texts at which the model stops.
    pub stop: Vec<String>,
    /// The shape of the answer.
    pub response_format: Option<ResponseFormat>,
    /// How much the model thinks.
    pub reasoning: Option<ReasoningSetting>,
    /// Whether the answer is streamed.
    pub stream: Option<bool>,
    /// Members that have no word here, by the name (or path, `text.verbosity`) that they have in the
    /// source.
    pub rest: Vec<(String, RawJson)>,
    /// The names of all members of the source but the conversation, in its order: what stays behind
    /// where the conversation alone is taken.
    pub members: Vec<String>,
}

/// How an answer is drawn, each number in the spelling of the source.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sampling {
    /// How random it is.
    pub temperature: Option<RawJson>,
    /// Which share of the likeliest tokens is considered.
    pub top_p: Option<RawJson>,
    /// How many of the likeliest tokens are considered.
    pub top_k: Option<RawJson>,
}

/// Something that the model may call.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Tool {
    /// A function with arguments in JSON.
    Function(Function),
    /// A tool of the provider's own, raw: no other provider has it.
    Other(RawJson),
}

/// A function that the model may call.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Function {
    /// The name that calls use.
    pub name: String,
    /// What it does, for the model.
    pub description: Option<String>,
    /// The JSON Schema of its arguments, as it is.
    pub parameters: Option<RawJson>,
    /// Whether the provider shall hold the model to the schema.
    pub strict: Option<bool>,
    /// Members that have no word here.
    pub rest: Vec<(String, RawJson)>,
}

/// Which tool the model calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolChoice {
    /// Any, or none.
    Auto,
    /// None.
    None,
    /// At least one.
    Required,
    /// The one of this name.
    Tool(String),
}

/// The shape of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum ResponseFormat {
    /// JSON, of any shape.
    Json,
    /// JSON of this schema.
    Schema(ResponseSchema),
}

/// The schema of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct ResponseSchema {
    /// What it is called; some providers want a name.
    pub name: Option<String>,
    /// What it is for, for the model.
    pub description: Option<String>,
    /// The JSON Schema, as it is.
    pub schema: RawJson,
    /// Whether the provider shall hold the model to it.
    pub strict: Option<bool>,
}

/// How much the model thinks. Neither is made from the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReasoningSetting {
    /// By a word: `low`, `medium`, `high`, or another of the provider's.
    Effort(String),
    /// By the most tokens.
    Budget(u64),
}

impl RequestHead {
    /// A head whose members are still to be read.
    pub fn new() -> Self {
        Self::default()
    }

    /// The head of these members, which are all but the conversation: `take` takes those that it has a word for,
    /// the others are the rest. A member that is null asks for nothing.
    pub fn of_members<'a>(
        members: impl Iterator<Item = (&'a str, &'a RawJson)>,
        mut take: impl FnMut(&mut Self, &str, &RawJson) -> Option<()>,
    ) -> Self {
        let mut head = Self::new();
        for (name, raw) in members.filter(|it| it.1.text() != "null") {
            head.members.push(name.to_owned());
            if take(&mut head, name, raw).is_none() {
                head.rest.push((name.to_owned(), raw.clone()));
            }
        }
        head
    }

    /// The schema of the answer, if one is asked for.
    pub fn schema(&self) -> Option<&ResponseSchema> {
        match &self.response_format {
            Some(ResponseFormat::Schema(it)) => Some(it),
            _ => None,
        }
    }

    /// The functions among the tools. What `target` has no place for is reported: other tools, and of functions
    /// their members without a word and those that `unsaid` names.
    pub fn functions(
        &self,
        target: &str,
        unsaid: impl Fn(&Function) -> Option<&'static str>,
        report: &mut Report,
    ) -> Vec<&Function> {
        for (at, tool) in self.tools.iter().enumerate() {
            let Tool::Function(it) = tool else {
                report.push(lost(target, &format!("tools[{at}]")));
                continue;
            };
            let rest = it.rest.iter().map(|it| it.0.as_str());
            let names = rest.chain(unsaid(it));
            names.for_each(|name| report.push(lost(target, &format!("tools[{at}].{name}"))));
        }
        self.tools.iter().filter_map(Tool::function).collect()
    }

    /// Reports those of the members of this head that are said and that `target` has no place for, and all of the
    /// rest.
    pub fn lose(&self, target: &str, placeless: &[(&str, bool)], report: &mut Report) {
        let rest = self.rest.iter().map(|it| it.0.as_str());
        let lost_ones = placeless.iter().filter(|it| it.1).map(|it| it.0);
        for name in lost_ones.chain(rest) {
            report.push(lost(target, name));
        }
    }
}

/// `target` (a plural) has no place for the member `name` of a request.
fn lost(target: &str, name: &str) -> Diagnostic {
    let text = format!("{target} have no place for `{name}`");
    Diagnostic::warning("convert::lost-member".into(), text)
}

impl Function {
    /// The function that these members say, none of them null; its parameters are the member of this name, and what has
    /// no word is its rest. None if one is of another type, or there is no name.
    pub fn of_members(members: Vec<(String, RawJson)>, parameters: &str) -> Option<Self> {
        let (mut res, mut has_name) = (Self::default(), false);
        for (name, raw) in members {
            match name.as_str() {
                "name" => {
                    res.name = raw.parse().ok()?;
                    has_name = true;
                }
                "description" => res.description = Some(raw.parse().ok()?),
                "strict" => res.strict = Some(raw.parse().ok()?),
                name if name == parameters => res.parameters = Some(raw),
                _ => res.rest.push((name, raw)),
            }
        }
        has_name.then_some(res)
    }
}

impl Tool {
    /// A function, if `read` finds one; else a tool of the provider's own.
    pub fn of(raw: RawJson, read: impl FnOnce(&RawJson) -> Option<Function>) -> Self {
        match read(&raw) {
            Some(function) => Self::Function(function),
            None => Self::Other(raw),
        }
    }

    /// The function, if it is one.
    pub fn function(&self) -> Option<&Function> {
        if let Tool::Function(it) = self { Some(it) } else { None }
    }
}
