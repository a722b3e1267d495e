//! The sizes of a conversation (CP-71): messages, bytes and tokens by role, section and tool, the
//! largest parts, and the growth, in the form of the printed JSON.
//!
//! `msg-compact` counts; this file collects.

use std::{borrow::Cow, cmp::Reverse, collections::BTreeMap};

use msg_chainast::ChainAst;
use msg_compact::{MediaRates, TokenCounter, TokenIndex, Totals};
use msg_core::{Message, Part, Role, ToolResult};
use msg_formats::{Format, ReadOptions, Refusal};
use serde::Serialize;

use crate::document::{Document, has_media};
use crate::fit::{Counter, StatsOptions, counter, document_of_line, tool_specs};
use crate::json::to_json;
use crate::lead::JoinedUsers;
use crate::rows::Row;

/// The size of a conversation. Tokens include the fixed costs of each message.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Stats {
    /// The counter.
    pub counter: String,
    /// The number of messages.
    pub messages: usize,
    /// Their bytes.
    pub bytes: u64,
    /// The fixed costs of a request, in tokens.
    pub base: u64,
    /// Their tokens.
    pub tokens: u64,
    /// What the tokens consist of, and which of them are exact.
    pub made_of: MadeOf,
    /// The sizes by role.
    pub roles: BTreeMap<String, Totals>,
    /// The sizes by section; `None` if the messages are not a chain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sections: Option<Vec<SectionTotals>>,
    /// The sizes by tool, largest first.
    pub tools: Vec<ToolTotals>,
    /// Images, sound and files; `None` if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub media: Option<MediaTotals>,
    /// The largest parts.
    pub largest: Vec<PartTotals>,
    /// The total after each message.
    pub growth: Vec<u64>,
}

/// What the tokens consist of. The four numbers add up to the total.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct MadeOf {
    /// Texts, thinking, calls and results.
    pub texts: u64,
    /// Whether the texts were counted with the vocabulary of the provider that defines the format. Everything else is
    /// always an estimate: no provider documents an exact rule.
    pub exact_texts: bool,
    /// The fixed costs of a request and its messages.
    pub frames: u64,
    /// Tool definitions.
    pub tool_definitions: u64,
    /// Images, sound and files.
    pub media: u64,
}

/// The size of a section.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct SectionTotals {
    /// The number of messages.
    pub messages: usize,
    /// The number of body pairs.
    pub pairs: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Their tokens.
    pub tokens: u64,
}

/// The size of the calls and results of a tool.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ToolTotals {
    /// The name of the tool.
    pub name: String,
    /// The number of calls.
    pub calls: usize,
    /// The number of results.
    pub results: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Their tokens.
    pub tokens: u64,
}

/// The size of images, sound and files.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct MediaTotals {
    /// The number of parts.
    pub parts: usize,
    /// Their tokens.
    pub tokens: u64,
    /// The provider whose documented formula was used.
    pub formula: &'static str,
}

impl MediaTotals {
    fn of(messages: &[Message], counter: &dyn TokenCounter) -> Option<Self> {
        let rates = counter.media();
        let mut res = MediaTotals { formula: rates.provider(), ..MediaTotals::default() };
        let parts = messages.iter().flat_map(|it| &it.parts).flat_map(|it| match it {
            Part::ToolResult(it) => it.content.parts(),
            other => std::slice::from_ref(other),
        });
        for part in parts.filter(|it| has_media(it)) {
            res.parts += 1;
            res.tokens += rates.tokens(part);
        }
        (res.parts > 0).then_some(res)
    }
}

/// A part and its size.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PartTotals {
    /// The index of its message.
    pub message: usize,
    /// Its kind.
    pub kind: &'static str,
    /// The tool of a call or a result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Their bytes.
    pub bytes: u64,
    /// Their tokens.
    pub tokens: u64,
    /// The role of its message, for the table.
    #[serde(skip)]
    pub role: String,
    #[serde(skip)]
    part: usize,
}

/// Counts a document. `options` and `tools` in the document take precedence.
///
/// Fails if it cannot be read, and for invalid options. Linear in the document.
///
/// ```
/// use msg_document::{StatsOptions, stats};
///
/// let counted = stats(br#"[{"role":"user","content":"hi"}]"#, &StatsOptions::default())?;
/// assert_eq!((counted.messages, counted.roles["user"].bytes), (1, 2));
/// # Ok::<(), msg_document::Refusal>(())
/// ```
pub fn stats(json: &[u8], options: &StatsOptions) -> Result<Stats, Refusal> {
    let (all, options) = read(json, options)?;
    Ok(Stats::counted(all.messages, &options, all.media, all.format))
}

/// The tokens of a document: those of [`stats`], without the other numbers.
///
/// Fails as [`stats`] does. Linear in the document.
///
/// ```
/// use msg_document::{Counter, StatsOptions, stats, tokens};
///
/// let (json, options) = (br#"[{"role":"user","content":"hi"}]"#, StatsOptions::default());
/// assert_eq!(tokens(json, &options)?, stats(json, &options)?.tokens);
/// # Ok::<(), msg_document::Refusal>(())
/// ```
pub fn tokens(json: &[u8], options: &StatsOptions) -> Result<u64, Refusal> {
    let (all, options) = read(json, options)?;
    Ok(index(&all.messages, &options, all.media).total().tokens)
}

/// The messages that are counted.
struct Counted {
    messages: Vec<Message>,
    /// How media are counted: as in the first conversation.
    media: MediaRates,
    /// The format of the one conversation.
    format: Option<Format>,
}

impl Counted {
    fn of(document: Document) -> Self {
        let (format, media) = (Some(document.format()), document.media_rates());
        Counted { messages: document.into_messages(), media, format }
    }

    /// The conversations of a row, one after the other (RW-4).
    fn of_row(row: &Row, read: &ReadOptions) -> Result<Self, Refusal> {
        let mut res: Option<Self> = None;
        for (at, document) in row.documents().enumerate() {
            let it = Document::read(document, read).map_err(|it| row.refused(at, it))?;
            match &mut res {
                None => res = Some(Counted::of(it)),
                Some(all) => {
                    all.messages.extend(it.into_messages());
                    all.format = None;
                }
            }
        }
        Ok(res.expect("because a row has a conversation"))
    }
}

/// The messages of a document, and the options with what it says of its own.
fn read<'a>(
    json: &[u8],
    options: &'a StatsOptions,
) -> Result<(Counted, Cow<'a, StatsOptions>), Refusal> {
    let (options, json) = match options.of_line(json)? {
        Some(own) => (Cow::Owned(own), document_of_line(json)),
        None => (Cow::Borrowed(options), Cow::Borrowed(json)),
    };
    let (read, json) = (&options.read, &*json);
    let all = match Row::of(json, read)? {
        Some(row) => Counted::of_row(&row, read),
        None => match Document::read(json, read) {
            Ok(document) => Ok(Counted::of(document)),
            Err(refusal) => Counted::of_row(&Row::instead(json, read, refusal)?, read),
        },
    }?;
    let with_tools = match options.count.for_document(json) {
        Some(count) => Cow::Owned(StatsOptions { count, ..options.into_owned() }),
        None => options,
    };
    Ok((all, with_tools))
}

fn index(messages: &[Message], options: &StatsOptions, media: MediaRates) -> TokenIndex {
    let count = &options.count;
    let tools = tool_specs(count.tools.as_deref());
    let name = count.counter.unwrap_or(Counter::Script);
    let mut index =
        TokenIndex::new(counter((name, media), count.usage, messages.iter(), &tools), &tools);
    // `replace` allocates once; pushing would reserve room for more.
    index.replace(0..0, messages);
    index
}

impl Stats {
    /// The line of `msg stats --jsonl`, without its line end.
    pub fn to_json(&self) -> Vec<u8> {
        to_json(self)
    }

    /// Counts the messages of a document, by the rules of its format. Linear in the conversation.
    pub fn of(document: Document, options: &StatsOptions) -> Self {
        let (format, media) = (document.format(), document.media_rates());
        Stats::counted(document.into_messages(), options, media, Some(format))
    }

    /// Counts all messages, media with these formulas ([`Document::media_rates`]). Linear in the
    /// conversation.
    pub fn gather(messages: Vec<Message>, options: &StatsOptions, media: MediaRates) -> Self {
        Stats::counted(messages, options, media, None)
    }

    fn counted(
        messages: Vec<Message>,
        options: &StatsOptions,
        media: MediaRates,
        format: Option<Format>,
    ) -> Self {
        let index = index(&messages, options, media);
        let top = options.top.unwrap_or(DEFAULT_TOP);
        let media = MediaTotals::of(&messages, index.counter());
        let (by_tool, largest, parts) = Gatherer::new(&index, top).of(&messages);
        let total = index.total();
        let made_of = made_of(&index, total.tokens, parts, media.as_ref());
        Stats {
            counter: index.counter().name().to_owned(),
            messages: messages.len(),
            bytes: total.bytes,
            base: index.base(),
            tokens: total.tokens,
            made_of,
            roles: index.roles().map(|(role, it)| (role.to_string(), it)).collect(),
            growth: growth(&index),
            tools: by_tool,
            media,
            largest,
            sections: sections(messages, &index, format),
        }
    }
}

/// Splits the tokens by kind. `parts` are the tokens of all parts, media included.
fn made_of(index: &TokenIndex, tokens: u64, parts: u64, media: Option<&MediaTotals>) -> MadeOf {
    let counter = index.counter();
    let media = media.map_or(0, |it| it.tokens).min(parts);
    let tool_definitions = index.base().saturating_sub(counter.request(&[]));
    let frames = tokens.saturating_sub(parts + tool_definitions);
    let exact_texts = counter.error_bar().is_none() && counter.media().provider() == "openai";
    MadeOf { texts: parts - media, exact_texts, frames, tool_definitions, media }
}

/// The number of largest parts that are listed.
const DEFAULT_TOP: usize = 10;

fn growth(index: &TokenIndex) -> Vec<u64> {
    let costs = (0..index.len()).filter_map(|it| index.message(it));
    costs
        .scan(index.base(), |sum, it| {
            *sum += it.tokens;
            Some(*sum)
        })
        .collect()
}

/// The sections; `None` if the messages are not a chain. Open calls at the end are allowed.
fn sections(
    mut messages: Vec<Message>,
    index: &TokenIndex,
    format: Option<Format>,
) -> Option<Vec<SectionTotals>> {
    let joined = format.map(|it| JoinedUsers::of(it, &mut messages)).unwrap_or_default();
    let ast = ChainAst::parse_open(messages).ok()?;
    let mut next = 0;
    let totals = ast.sections().iter().map(|section| {
        let end = next + section.messages().len();
        let places = joined.place(next)..joined.place(end);
        next = end;
        let messages = places.len();
        let costs = places.filter_map(|it| index.message(it));
        let start = SectionTotals { messages, pairs: section.body().len(), ..Default::default() };
        costs.fold(start, |sum, it| SectionTotals {
            bytes: sum.bytes + it.bytes,
            tokens: sum.tokens + it.tokens,
            ..sum
        })
    });
    Some(totals.collect())
}

// One pass over the messages, which counts parts and tools.

/// Collects the largest parts. Holds at most twice as many as requested.
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
struct Gatherer<'a> {
    index: &'a TokenIndex,
    counter: &'a dyn TokenCounter,
    /// The name of the latest call of each id.
    names: BTreeMap<String, String>,
    tools: BTreeMap<String, ToolTotals>,
    largest: Largest,
    /// Tokens of all parts.
    tokens: u64,
}

impl<'a> Gatherer<'a> {
    fn new(index: &'a TokenIndex, top: usize) -> Self {
        let largest = Largest { top, parts: Vec::new() };
        Self {
            index,
            counter: index.counter(),
            names: BTreeMap::new(),
            tools: BTreeMap::new(),
            largest,
            tokens: 0,
        }
    }

    /// Counts the messages. Returns the tools, the largest parts, and the tokens of all parts.
    fn of(mut self, messages: &[Message]) -> (Vec<ToolTotals>, Vec<PartTotals>, u64) {
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
        (tools, self.largest.parts, self.tokens)
    }

    /// The tokens of a part that is the only one of its message, from the index. Most parts are.
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
                // The statistics have no kind for refusals and unread parts.
                _ => continue,
            };
            let bytes = match part {
                Part::Reasoning(_) => part.reasoning_size() as u64,
                _ => part.size() as u64,
            };
            let role = message.role.to_string();
            self.tokens += tokens;
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

    /// Counts a tool message as one part, with the tokens of its content.
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
        self.tokens += tokens;
        let (kind, role) = ("tool-result", message.role.to_string());
        self.largest.push(PartTotals { message: number, kind, tool, bytes, tokens, role, part: 0 });
    }

    /// Adds a result to the tool of its call, or else the tool that it names. `only` is its size with the name, if
    /// known.
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

    /// The tokens of an image, sound or file: those of a message with only this part, minus the frame.
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
