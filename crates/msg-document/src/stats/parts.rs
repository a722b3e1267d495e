//! One walk over the messages, which counts their parts and the tools in them.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use msg_compact::{TokenCounter, TokenIndex};
use msg_core::{Message, Part, Role, ToolResult};

use super::{PartTotals, ToolTotals};

/// The largest of the parts that it is given. Memory: twice as many as are wanted.
struct Largest {
    top: usize,
    parts: Vec<PartTotals>,
}

impl Largest {
    fn push(&mut self, part: PartTotals) {
        self.parts.push(part);
        if self.parts.len() > self.top.saturating_mul(2) {
            self.cut();
        }
    }

    fn cut(&mut self) {
        self.parts.sort_by_key(|it| (Reverse((it.tokens, it.bytes)), it.message, it.part));
        self.parts.truncate(self.top);
    }
}

/// Walks the messages once and counts parts and tools.
pub(super) struct Gatherer<'a> {
    index: &'a TokenIndex,
    counter: &'a dyn TokenCounter,
    /// The name of the latest call of each id.
    names: BTreeMap<String, String>,
    tools: BTreeMap<String, ToolTotals>,
    largest: Largest,
}

impl<'a> Gatherer<'a> {
    pub(super) fn new(index: &'a TokenIndex, top: usize) -> Self {
        let largest = Largest { top, parts: Vec::new() };
        Self {
            index,
            counter: index.counter(),
            names: BTreeMap::new(),
            tools: BTreeMap::new(),
            largest,
        }
    }

    pub(super) fn of(mut self, messages: &[Message]) -> (Vec<ToolTotals>, Vec<PartTotals>) {
        for (number, message) in messages.iter().enumerate() {
            if message.role == Role::Tool {
                self.tool_message(number, message);
            } else {
                self.message(number, message);
            }
        }
        let mut tools: Vec<ToolTotals> = self.tools.into_values().collect();
        tools.sort_by(|a, b| b.tokens.cmp(&a.tokens).then_with(|| a.name.cmp(&b.name)));
        self.largest.cut();
        (tools, self.largest.parts)
    }

    /// The tokens of the only part of a message, which the index has counted: most parts are the only one.
    fn only_part(&self, number: usize, message: &Message) -> Option<u64> {
        let is_alone = message.parts.len() == 1 && message.name.is_none();
        let frame = is_alone.then(|| self.counter.frame(&message.role)).flatten()?;
        self.index.message(number)?.tokens.checked_sub(frame)
    }

    fn message(&mut self, number: usize, message: &Message) {
        let only = self.only_part(number, message);
        for (place, part) in message.parts.iter().enumerate() {
            let (kind, tool, tokens) = match part {
                Part::Text(it) => {
                    ("text", None, only.unwrap_or_else(|| self.counter.text(&it.text)))
                }
                Part::Reasoning(it) => ("reasoning", None, self.counter.text(&it.display_text())),
                Part::ToolCall(it) => {
                    let texts =
                        self.counter.text(&it.name) + self.counter.text(it.arguments.text());
                    self.names.insert(it.id.clone(), it.name.clone());
                    let tool = self.tool(&it.name);
                    tool.calls += 1;
                    tool.bytes += it.size() as u64;
                    tool.tokens += texts;
                    ("tool-call", Some(it.name.clone()), texts)
                }
                Part::ToolResult(it) => {
                    let (name, tokens) = self.result(it, only);
                    ("tool-result", Some(name), tokens)
                }
                Part::Image(_) => ("image", None, only.unwrap_or_else(|| self.image(part))),
                Part::Audio(_) => ("audio", None, only.unwrap_or_else(|| self.image(part))),
                Part::File(_) => ("file", None, only.unwrap_or_else(|| self.image(part))),
                // Refusals and parts of other providers have no kind of their own on the page.
                _ => continue,
            };
            let bytes = match part {
                Part::Reasoning(_) => part.reasoning_size() as u64,
                _ => part.size() as u64,
            };
            let role = message.role.to_string();
            self.largest.push(PartTotals {
                message: number,
                kind,
                tool,
                bytes,
                tokens,
                role,
                part: place,
            });
        }
    }

    /// A tool message is one part, with the tokens of its content.
    fn tool_message(&mut self, number: usize, message: &Message) {
        let mut tool = None;
        let mut tokens = 0;
        let only = self.only_part(number, message);
        for result in message.tool_results() {
            let (name, content) = self.result(result, only);
            tool.get_or_insert(name);
            tokens += content;
        }
        let bytes = message.size() as u64;
        let tool = Some(tool.unwrap_or_default());
        let (kind, role) = ("tool-result", message.role.to_string());
        self.largest.push(PartTotals { message: number, kind, tool, bytes, tokens, role, part: 0 });
    }

    /// Counts a result to its tool: its call's, without a call its own. `only` is what the result costs where
    /// that is known, its name included.
    fn result(&mut self, result: &ToolResult, only: Option<u64>) -> (String, u64) {
        let called = self.names.get(&result.call_id).cloned();
        let name = called.unwrap_or_else(|| result.name.clone().unwrap_or_default());
        let known = only.filter(|_| result.name.is_none());
        let tokens = known.unwrap_or_else(|| self.counter.tool_output(result));
        let tool = self.tool(&name);
        tool.results += 1;
        tool.bytes += result.size() as u64;
        tool.tokens += tokens;
        (name, tokens)
    }

    /// What an image, sound or a file costs: the message of it alone, without the frame.
    fn image(&self, part: &Part) -> u64 {
        let frame = self.counter.message(&Message::new(Role::User));
        let whole = self.counter.message(&Message::new(Role::User).with_part(part.clone()));
        whole.saturating_sub(frame)
    }

    fn tool(&mut self, name: &str) -> &mut ToolTotals {
        let new = || ToolTotals { name: name.to_owned(), ..ToolTotals::default() };
        self.tools.entry(name.to_owned()).or_insert_with(new)
    }
}
