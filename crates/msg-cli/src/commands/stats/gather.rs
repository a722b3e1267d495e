//! The numbers of a conversation, in the form in which they are printed as JSON (CP-71).

use std::collections::BTreeMap;

use msg_chainast::ChainAst;
use msg_compact::{Tally, TokenCounter};
use msg_core::{Diagnostic, Message, Part, Role, ToolResult};
use serde::Serialize;

use crate::commands::fit::options::FitOptions;

/// What a conversation is made of. Tokens include what each message costs besides its texts.
#[derive(Debug, Serialize)]
pub(crate) struct Stats {
    pub(crate) counter: String,
    pub(crate) messages: usize,
    pub(crate) bytes: u64,
    /// What a request costs besides its messages.
    pub(crate) base: u64,
    pub(crate) tokens: u64,
    pub(crate) roles: BTreeMap<String, Totals>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sections: Option<Vec<SectionTotals>>,
    pub(crate) tools: Vec<ToolTotals>,
    pub(crate) largest: Vec<PartTotals>,
    /// The total after each message.
    pub(crate) growth: Vec<u64>,
}

#[derive(Debug, Default, Serialize)]
pub(crate) struct Totals {
    pub(crate) messages: usize,
    pub(crate) bytes: u64,
    pub(crate) tokens: u64,
}

#[derive(Debug, Default, Serialize)]
pub(crate) struct SectionTotals {
    pub(crate) messages: usize,
    pub(crate) pairs: usize,
    pub(crate) bytes: u64,
    pub(crate) tokens: u64,
}

#[derive(Debug, Default, Serialize)]
pub(crate) struct ToolTotals {
    pub(crate) name: String,
    pub(crate) calls: usize,
    pub(crate) results: usize,
    pub(crate) bytes: u64,
    pub(crate) tokens: u64,
}

#[derive(Debug, Serialize)]
pub(crate) struct PartTotals {
    pub(crate) message: usize,
    pub(crate) kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool: Option<String>,
    pub(crate) bytes: u64,
    pub(crate) tokens: u64,
    /// Who said it; for the table.
    #[serde(skip)]
    pub(crate) role: String,
    #[serde(skip)]
    part: usize,
}

impl Stats {
    /// Counts everything. Linear in the conversation.
    pub(crate) fn gather(
        messages: Vec<Message>,
        options: &FitOptions,
    ) -> Result<Self, Box<Diagnostic>> {
        let tools = options.tools();
        let counter = options.counter(None, &messages, &tools)?;
        let mut tally = Tally::new(counter, &tools);
        messages.iter().for_each(|it| tally.push(it));
        let (by_tool, parts) = Gatherer::new(tally.counter()).of(&messages);
        let total = tally.total();
        Ok(Stats {
            counter: tally.counter().name().to_owned(),
            messages: messages.len(),
            bytes: total.bytes,
            base: tally.base(),
            tokens: total.tokens,
            roles: roles(&tally),
            growth: growth(&tally),
            tools: by_tool,
            largest: largest(parts, options.top.unwrap_or(DEFAULT_TOP)),
            sections: sections(messages, &tally),
        })
    }
}

/// How many of the largest parts are listed.
const DEFAULT_TOP: usize = 10;

fn roles(tally: &Tally) -> BTreeMap<String, Totals> {
    let of = |it: msg_compact::RoleTotal| Totals {
        messages: it.messages,
        bytes: it.cost.bytes,
        tokens: it.cost.tokens,
    };
    tally.roles().map(|(role, it)| (role.to_string(), of(it))).collect()
}

fn growth(tally: &Tally) -> Vec<u64> {
    let costs = (0..tally.len()).filter_map(|it| tally.message(it));
    costs
        .scan(tally.base(), |sum, it| {
            *sum += it.tokens;
            Some(*sum)
        })
        .collect()
}

/// The sections; none if the messages are no chain, an open tail allowed.
fn sections(messages: Vec<Message>, tally: &Tally) -> Option<Vec<SectionTotals>> {
    let ast = ChainAst::parse_open(messages).ok()?;
    let mut next = 0;
    let totals = ast.sections().iter().map(|section| {
        let messages = section.messages().len();
        let costs = (next..next + messages).filter_map(|it| tally.message(it));
        next += messages;
        let start = SectionTotals { messages, pairs: section.body().len(), ..Default::default() };
        costs.fold(start, |sum, it| SectionTotals {
            bytes: sum.bytes + it.bytes,
            tokens: sum.tokens + it.tokens,
            ..sum
        })
    });
    Some(totals.collect())
}

fn largest(mut parts: Vec<PartTotals>, top: usize) -> Vec<PartTotals> {
    parts.sort_by_key(|it| {
        (std::cmp::Reverse((it.tokens, it.bytes)), it.message, it.part)
    });
    parts.truncate(top);
    parts
}

/// Walks the messages once and counts parts and tools.
struct Gatherer<'a> {
    counter: &'a dyn TokenCounter,
    /// The name of the latest call of each id.
    names: BTreeMap<String, String>,
    tools: BTreeMap<String, ToolTotals>,
    parts: Vec<PartTotals>,
}

impl<'a> Gatherer<'a> {
    fn new(counter: &'a dyn TokenCounter) -> Self {
        Self { counter, names: BTreeMap::new(), tools: BTreeMap::new(), parts: Vec::new() }
    }

    fn of(mut self, messages: &[Message]) -> (Vec<ToolTotals>, Vec<PartTotals>) {
        for (number, message) in messages.iter().enumerate() {
            if message.role == Role::Tool {
                self.tool_message(number, message);
            } else {
                self.message(number, message);
            }
        }
        let mut tools: Vec<ToolTotals> = self.tools.into_values().collect();
        tools.sort_by(|a, b| b.tokens.cmp(&a.tokens).then_with(|| a.name.cmp(&b.name)));
        (tools, self.parts)
    }

    fn message(&mut self, number: usize, message: &Message) {
        for (place, part) in message.parts.iter().enumerate() {
            let (kind, tool, tokens) = match part {
                Part::Text(it) => ("text", None, self.counter.text(&it.text)),
                Part::Reasoning(it) => ("reasoning", None, self.counter.text(&it.display_text())),
                Part::ToolCall(it) => {
                    let texts = self.counter.text(&it.name) + self.counter.text(it.arguments.text());
                    self.names.insert(it.id.clone(), it.name.clone());
                    let tool = self.tool(&it.name);
                    tool.calls += 1;
                    tool.bytes += it.size() as u64;
                    tool.tokens += texts;
                    ("tool-call", Some(it.name.clone()), texts)
                }
                Part::ToolResult(it) => {
                    let (name, tokens) = self.result(it);
                    ("tool-result", Some(name), tokens)
                }
                Part::Image(_) => ("image", None, self.image(part)),
                // Refusals, sound and files have no kind of their own on the page.
                _ => continue,
            };
            let bytes = match part {
                Part::Reasoning(_) => part.reasoning_size() as u64,
                _ => part.size() as u64,
            };
            let role = message.role.to_string();
            self.parts.push(PartTotals { message: number, kind, tool, bytes, tokens, role, part: place });
        }
    }

    /// A tool message is one part, with the tokens of its content.
    fn tool_message(&mut self, number: usize, message: &Message) {
        let mut tool = None;
        let mut tokens = 0;
        for result in message.tool_results() {
            let (name, content) = self.result(result);
            tool.get_or_insert(name);
            tokens += content;
        }
        let bytes = message.size() as u64;
        let tool = Some(tool.unwrap_or_default());
        let (kind, role) = ("tool-result", message.role.to_string());
        self.parts.push(PartTotals { message: number, kind, tool, bytes, tokens, role, part: 0 });
    }

    /// Counts a result to its tool: its call's, without a call its own.
    fn result(&mut self, result: &ToolResult) -> (String, u64) {
        let called = self.names.get(&result.call_id).cloned();
        let name = called.unwrap_or_else(|| result.name.clone().unwrap_or_default());
        let tokens = self.counter.tool_output(result);
        let tool = self.tool(&name);
        tool.results += 1;
        tool.bytes += result.size() as u64;
        tool.tokens += tokens;
        (name, tokens)
    }

    /// What an image costs: the message of it alone, without the frame.
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
