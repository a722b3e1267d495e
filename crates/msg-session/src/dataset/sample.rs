//! A sample and its forms: a fine-tuning line of OpenAI, a ShareGPT conversation, an ATIF trajectory (SE-161).

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use msg_core::{Message, Part, Report};
use msg_json::to_text;
use msg_openai::chat;

use super::DatasetOptions;
use super::views::Candidate;
use crate::frame::read_lines;
use crate::json::{Object, Value};
use crate::write::atif::Extras;
use crate::write::{WriteOptions, atif, data_sets, in_a_line};
use crate::{Dialect, RepairOptions, Session};

/// A training sample.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// The name of its session.
    pub session: String,
    /// The leaf of the view in its session; none of what a resume sends.
    pub leaf: Option<String>,
    /// What the model saw and said; the last one is an answer.
    pub messages: Vec<Message>,
    /// Of each answer whether it is supervised (weight 1); none of other messages.
    pub weights: Vec<Option<bool>>,
    /// The tools that the model had, each as JSON in the form of OpenAI's chat requests.
    pub tools: Vec<String>,
}

/// The forms of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum SampleFormat {
    /// A fine-tuning line of OpenAI, with `weight` in each answer and `tools`.
    #[default]
    OpenAiJsonl,
    /// A ShareGPT conversation, with `weight` in each turn of the model and `tools` as a text.
    ShareGpt,
    /// An ATIF 1.8 trajectory; answers with weight 0 have `is_copied_context`.
    Atif,
}

impl FromStr for SampleFormat {
    type Err = crate::Error;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Ok(match name {
            "openai-jsonl" => SampleFormat::OpenAiJsonl,
            "sharegpt" => SampleFormat::ShareGpt,
            "atif" => SampleFormat::Atif,
            _ => return Err(crate::Error::NoDialect(name.to_owned())),
        })
    }
}

impl fmt::Display for SampleFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SampleFormat::OpenAiJsonl => "openai-jsonl",
            SampleFormat::ShareGpt => "sharegpt",
            SampleFormat::Atif => "atif",
        })
    }
}

impl Sample {
    pub(super) fn new(
        candidate: Candidate,
        weights: Vec<Option<bool>>,
        options: &DatasetOptions,
    ) -> Self {
        let Candidate { name, leaf, messages, tools, .. } = candidate;
        let mut res = Self { session: name, leaf, messages, weights, tools };
        if options.drop_thinking {
            res.drop_thinking();
        }
        if options.tool_names && res.tools.is_empty() {
            res.tools = res.tool_names();
        }
        res
    }

    fn drop_thinking(&mut self) {
        for message in &mut self.messages {
            message.parts.retain(|it| !matches!(it, Part::Reasoning(_)));
        }
        let mut stays = self.messages.iter().map(|it| !it.parts.is_empty());
        let mut weights = std::mem::take(&mut self.weights);
        weights.retain(|_| stays.next().unwrap_or(true));
        self.weights = weights;
        self.messages.retain(|it| !it.parts.is_empty());
    }

    /// The tools that were called, by name alone.
    fn tool_names(&self) -> Vec<String> {
        let names = self.messages.iter().flat_map(Message::tool_calls).map(|it| it.name.as_str());
        let names: BTreeSet<_> = names.collect();
        let tool = |name: &str| {
            to_text(|it| {
                it.object(|it| {
                    it.key("type").str("function");
                    it.key("function").object(|it| it.key("name").str(name));
                });
            })
        };
        names.into_iter().map(tool).collect()
    }

    /// The sample as one line of JSON without a line end, and what the form has no place for.
    pub fn to_json(&self, format: SampleFormat) -> (String, Report) {
        match format {
            SampleFormat::OpenAiJsonl => self.openai_jsonl(),
            SampleFormat::ShareGpt => {
                let text = data_sets::conversation(&self.messages, &self.weights, &self.tools);
                (text, Report::new())
            }
            SampleFormat::Atif => {
                let copied: Vec<bool> = self.weights.iter().map(|it| *it == Some(false)).collect();
                let extras = Extras { tools: &self.tools, copied: &copied };
                let options = WriteOptions::default().with_session_id(self.session.as_str());
                let bytes = atif::document(&self.messages, &options, &extras);
                (String::from_utf8(bytes).unwrap_or_default(), Report::new())
            }
        }
    }

    fn openai_jsonl(&self) -> (String, Report) {
        let mut report = Report::new();
        let mut list = Vec::new();
        for (at, (message, weight)) in self.messages.iter().zip(&self.weights).enumerate() {
            let mut json = Vec::new();
            let options = msg_openai::WriteOptions::canonical();
            let found = chat::write(std::slice::from_ref(message), &options, &mut json);
            for mut it in found.into_vec() {
                it.at.message = Some(at);
                report.push(it);
            }
            let json = String::from_utf8(json).unwrap_or_default();
            let written = Value::whole(&json, 0).and_then(|it| it.array()).unwrap_or_default();
            list.extend(written.iter().map(|it| weighed(*it, *weight)));
        }
        let text = to_text(|it| {
            it.object(|it| {
                it.key("messages").array(&list, |it, message| it.raw(&in_a_line(message)));
                if !self.tools.is_empty() {
                    it.key("tools").array(&self.tools, |it, tool| it.raw(&in_a_line(tool)));
                }
            });
        });
        (text, report)
    }
}

/// A chat message with its weight as the last member, where it is the answer.
fn weighed(message: Value<'_>, weight: Option<bool>) -> String {
    let is_answer =
        message.get("role").and_then(|it| it.text()).is_some_and(|it| it == "assistant");
    match (weight, message.source.strip_suffix('}')) {
        (Some(weight), Some(head)) if is_answer => {
            format!("{head},\"weight\":{}}}", u8::from(weight))
        }
        _ => message.source.to_owned(),
    }
}

/// The tools that a session defines, each as JSON in the form of OpenAI's chat requests.
pub(super) fn tools(session: &Session) -> Vec<String> {
    let Some(blob) = session.blobs().first() else { return Vec::new() };
    match session.dialect() {
        Dialect::Codex => {
            let lines = read_lines(&blob.bytes, RepairOptions::default().max_record);
            let payload = lines.object(0).and_then(|it| it.inner("payload"));
            let tools = payload.map(|it| it.list("dynamic_tools")).unwrap_or_default();
            tools.into_iter().filter_map(|it| Some(dynamic_tool(&it.object()?))).collect()
        }
        Dialect::Atif => {
            let text = String::from_utf8_lossy(&blob.bytes);
            let agent = Object::whole(&text, 0).and_then(|it| it.inner("agent"));
            let tools = agent.map(|it| it.list("tool_definitions")).unwrap_or_default();
            tools.into_iter().map(|it| it.source.to_owned()).collect()
        }
        _ => Vec::new(),
    }
}

/// A tool that the client of Codex brought along.
fn dynamic_tool(tool: &Object<'_>) -> String {
    to_text(|it| {
        it.object(|it| {
            it.key("type").str("function");
            it.key("function").object(|it| {
                it.key("name").str(&tool.text("name").unwrap_or_default());
                if let Some(text) = tool.text("description") {
                    it.key("description").str(&text);
                }
                if let Some(schema) = tool.get("inputSchema") {
                    it.key("parameters").raw(schema.source);
                }
            });
        });
    })
}
