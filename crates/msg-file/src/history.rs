//! Converts a file to the messages that a model gets (MF-27 to MF-33). Results, payloads and texts of outputs are built
//! in `answers`.
//!
//! ```text
//! # %% Question      ─▶ user: What is 2 + 2?
//! ## %%% [bot]        ─▶ assistant: 4
//! text after the record's section ─▶ nothing
//! ```

pub(crate) mod answers;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use msg_core::{Message, Part, Reasoning, Role, ToolCall, native};
use serde::Deserialize;

use crate::document::{MessageFile, Span};
use crate::error::Error;
use crate::model::agents::AgentKind;
use crate::model::content::{Cell, Encoding, FenceState};
use crate::model::kinds::CellKind;
use crate::model::{CellView, content};
use crate::syntax::attributes::RawCell;
use crate::syntax::grammar;
use crate::syntax::grammar::{Line, closed_fences, lines, trim_empty_end, within};
use answers::Answer;

/// Options of a history.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HistoryOptions {
    /// The agent that answers [default: the addressee of the last message, else the default agent]
    /// (MF-28).
    pub agent: Option<String>,
    /// Whether calls at the end may stay without results (MF-30).
    pub open: bool,
}

impl HistoryOptions {
    msg_core::setters! {
        new;
        /// Sets the agent that answers.
        with_agent(agent: impl Into<String>) agent = Some(agent.into());
        /// Allows calls without results at the end.
        with_open_end() open = true;
    }
}

/// The messages for a model, and the cells that they come from.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    /// The agent that answers.
    pub agent: Option<String>,
    /// The messages.
    pub messages: Vec<Message>,
    /// The ordinals of the cells of each message.
    pub sources: Vec<Vec<usize>>,
}

impl History {
    /// Content of a private result whose call is sent (MF-30).
    pub const OMITTED_RESULT: &str = "this result is not part of the history";

    /// The beginning of a summary of several cells (MF-33).
    pub const SUMMARY_PREFIX: &str = "Summary of earlier messages:\n\n";
}

/// The first paragraph of a cell; for base64 data, its placeholder (MF-20).
pub(crate) fn first_paragraph(cell: &Cell) -> String {
    use crate::model::kinds::CellKind::{ExecDisplay, ExecOutput, ToolResult};
    let output = matches!(cell.kind, ExecDisplay(_) | ExecOutput(_) | ToolResult(_));
    if output && cell.encoding() == Encoding::Base64 {
        return answers::bracket(cell);
    }
    String::from_utf8_lossy(content::first_paragraph(&cell.body())).into_owned()
}

// One message per cell, calls in the message of their turn, results after it (MF-28 to MF-30, MF-33).

/// The text for a call that never got a result (MF-30).
const MISSING_RESULT: &str = "the call was not handled, please try again";

/// Makes the history of a document.
pub(crate) fn project(doc: &MessageFile, options: &HistoryOptions) -> Result<History, Error> {
    let (agent, messages, sources) = projected(doc, options, Some(Vec::new()))?;
    Ok(History { agent, messages, sources: sources.unwrap_or_default() })
}

/// Only the messages. This takes half the memory if the cells are very small.
pub(crate) fn messages(doc: &MessageFile, options: &HistoryOptions) -> Result<Vec<Message>, Error> {
    projected(doc, options, None).map(|it| it.1)
}

/// The cells of each message, if the caller wants them.
type Sources = Option<Vec<Vec<usize>>>;

fn projected(
    doc: &MessageFile,
    options: &HistoryOptions,
    sources: Sources,
) -> Result<(Option<String>, Vec<Message>, Sources), Error> {
    let doc = &up_to_it(doc);
    let agent = who_answers(doc, options)?;
    let mut out = Projection {
        doc,
        answering: agent.as_deref(),
        messages: Vec::new(),
        sources,
        call_ids: HashMap::new(),
        native_results: native_results(doc),
        open_from: 0,
        missing: Vec::new(),
        unanswered: Arc::new([Part::text(MISSING_RESULT)]),
    };
    let system =
        agent.as_deref().and_then(|name| doc.agent(name).ok()?.config.system_prompt.clone());
    if let Some(prompt) = system {
        out.push(Message::system(prompt), Vec::new());
    }
    let placed = summaries_by_place(doc);
    let mut reasoning: Option<&Cell> = None;
    for (i, cell) in doc.cells().iter().enumerate() {
        for &s in placed.get(&(i + 1)).map_or(&[][..], Vec::as_slice) {
            out.summary(&doc.cells()[s - 1]);
        }
        out.cell(cell, &mut reasoning);
    }
    if options.open {
        out.leave_open();
    }
    let Projection { messages, sources, .. } = out;
    Ok((agent, messages, sources))
}

fn who_answers(doc: &MessageFile, options: &HistoryOptions) -> Result<Option<String>, Error> {
    if let Some(name) = &options.agent {
        return doc.agent(name).map(|it| Some(it.name.to_string()));
    }
    let last = doc.cells().iter().rev().find_map(|c| c.kind().ask());
    let addressed = last.filter(|ask| ask.addressed).and_then(|ask| ask.agent.as_deref());
    Ok(addressed.or_else(|| doc.default_agent_at(usize::MAX)).map(str::to_owned))
}

/// The summaries that are sent, by the ordinal of the first cell that they cover.
fn summaries_by_place(doc: &MessageFile) -> HashMap<usize, Vec<usize>> {
    let mut placed: HashMap<usize, Vec<usize>> = HashMap::new();
    for cell in doc.cells() {
        if let CellKind::Summary(summary) = cell.kind()
            && cell.view() != CellView::None
            && let Some(first) = summary.covers.as_ref().and_then(|c| c.first())
        {
            placed.entry(*first.start()).or_default().push(cell.ordinal());
        }
    }
    placed
}

pub(crate) struct Projection<'a> {
    pub(crate) doc: &'a MessageFile,
    pub(crate) answering: Option<&'a str>,
    messages: Vec<Message>,
    sources: Sources,
    /// How often a call id was used.
    pub(crate) call_ids: HashMap<String, usize>,
    /// The calls that cells with JSON messages answer.
    pub(crate) native_results: HashSet<String>,
    /// Index of the message after the last one that is not a result.
    open_from: usize,
    /// Indices of results that are placeholders only.
    missing: Vec<usize>,
    /// The parts of these placeholders, shared by all of them.
    pub(crate) unanswered: Arc<[Part]>,
}

impl<'a> Projection<'a> {
    fn push(&mut self, message: Message, sources: Vec<usize>) {
        self.push_result(message, sources);
        self.open_from = self.messages.len();
    }

    fn push_result(&mut self, message: Message, from: Vec<usize>) {
        self.messages.push(message);
        if let Some(sources) = &mut self.sources {
            sources.push(from);
        }
    }

    /// Omits placeholder results if nothing follows their turn.
    fn leave_open(&mut self) {
        let open_from = self.open_from;
        for at in self.missing.drain(..).rev().take_while(|&at| at >= open_from) {
            self.messages.remove(at);
            if let Some(sources) = &mut self.sources {
                sources.remove(at);
            }
        }
    }

    fn cell(&mut self, cell: &'a Cell, reasoning: &mut Option<&'a Cell>) {
        if cell.view() == CellView::None {
            return;
        }
        match cell.kind() {
            CellKind::User(_) | CellKind::Raw(_) => self.user(cell),
            CellKind::Code(_) => self.code(cell),
            CellKind::Agent(turn) => return self.turn(cell, turn, reasoning),
            CellKind::ToolCall(_) if cell.parent().is_none() => self.calls_alone(&[cell]),
            CellKind::ExecOutput(_) | CellKind::ExecDisplay(_) => {
                let mut message = Message::new(Role::User);
                message.parts = answers::execution(cell, self.doc.summary_text(cell));
                self.push(message, vec![cell.ordinal()]);
            }
            _ => return,
        }
        let calls = self.sent_calls(cell);
        if !calls.is_empty() {
            self.calls_alone(&calls);
        }
    }

    /// The content of a cell, or its summary.
    pub(crate) fn text(&self, cell: &Cell) -> String {
        self.doc.summary_text(cell).unwrap_or_else(|| cell.content().into_owned())
    }

    pub(crate) fn sent_calls(&self, cell: &Cell) -> Vec<&'a Cell> {
        let cells = self.doc.cells();
        cell.kind()
            .calls()
            .iter()
            .map(|&c| &cells[c - 1])
            .filter(|c| c.view() != CellView::None)
            .collect()
    }

    fn user(&mut self, cell: &Cell) {
        if let Some(message) = native(cell) {
            return self.push(message, vec![cell.ordinal()]);
        }
        let role = match cell.attr("role").as_deref() {
            Some("system") => Role::System,
            Some("developer") => Role::Developer,
            _ => Role::User,
        };
        let mut message = Message::new(role).with_text(self.text(cell));
        message.name = cell.raw.said("from");
        self.push(message, vec![cell.ordinal()]);
    }

    fn code(&mut self, cell: &Cell) {
        let from = cell.raw.said("from");
        let agent = from.as_deref().and_then(|name| self.doc.agent(name).ok());
        let registered = agent.is_some_and(|it| it.kind != AgentKind::Implicit);
        let whole = cell.view() == CellView::Full;
        let block = cell.code_block();
        let mut message = Message::new(if registered { Role::Assistant } else { Role::User });
        if registered && whole && !block.reasoning.is_empty() {
            message = message.with_part(Part::Reasoning(Reasoning::new(block.reasoning)));
        }
        // The text around the code is an agent's reasoning; a person's is part of the message.
        let is_fenced = block.fence != FenceState::Absent;
        let text = if registered && whole && is_fenced { block.fenced } else { self.text(cell) };
        message = message.with_text(text);
        message.name = match registered {
            true => self.name_of(cell, from.as_deref()),
            false => from,
        };
        self.push(message, vec![cell.ordinal()]);
    }

    fn calls_alone(&mut self, calls: &[&'a Cell]) {
        self.with_calls(Message::new(Role::Assistant), Vec::new(), calls);
    }

    pub(crate) fn with_calls(&mut self, message: Message, sources: Vec<usize>, calls: &[&'a Cell]) {
        self.with_answers(message, sources, calls, Vec::new());
    }

    /// Adds a message with calls, directly followed by their results. `answers` are the results
    /// that calls already have.
    pub(crate) fn with_answers(
        &mut self,
        mut message: Message,
        mut sources: Vec<usize>,
        calls: &[&'a Cell],
        mut answers: Vec<Answer>,
    ) {
        let before = answers.len();
        // A vector grows to four elements by itself; most messages need one.
        message.parts.reserve_exact(calls.len());
        sources.reserve_exact(calls.len());
        for (i, cell) in calls.iter().enumerate() {
            let i = before + i;
            let id = self.call_id(cell);
            let (name, text) = answers::of(cell);
            message.parts.push(Part::ToolCall(ToolCall::new(id.clone(), name, text)));
            sources.push(cell.ordinal());
            let answer = self.answer(cell, id.clone(), i);
            // A result that is in a cell with a JSON message comes where that cell is.
            let is_elsewhere =
                answer.missing && answer.sources.is_empty() && self.native_results.contains(&id);
            if !is_elsewhere {
                answers.push(answer);
            }
        }
        self.push(message, sources);
        answers.sort_by_key(|a| a.order);
        for answer in answers {
            if answer.missing {
                self.missing.push(self.messages.len());
            }
            let message = Message::new(Role::Tool).with_part(Part::ToolResult(answer.result));
            self.push_result(message, answer.sources);
        }
    }

    fn call_id(&mut self, cell: &Cell) -> String {
        let base = cell.raw.said("call_id").unwrap_or_else(|| cell.reference());
        let mut id = base.clone();
        let mut n = *self.call_ids.get(&base).unwrap_or(&0);
        while self.call_ids.contains_key(&id) {
            n += 1;
            id = format!("{base}-{}", n + 1);
        }
        self.call_ids.insert(base, n);
        self.call_ids.entry(id.clone()).or_insert(0);
        id
    }

    fn summary(&mut self, cell: &Cell) {
        let text = History::SUMMARY_PREFIX.to_owned() + &self.text(cell);
        self.push(Message::user(text), vec![cell.ordinal()]);
    }
}

/// The ids of the calls that cells with JSON messages answer.
fn native_results(doc: &MessageFile) -> HashSet<String> {
    let says =
        |it: &&Cell| matches!(it.kind(), CellKind::User(_) | CellKind::Raw(_) | CellKind::Agent(_));
    let messages = doc.cells().iter().filter(says).filter_map(native);
    let ids = |it: Message| it.tool_results().map(|it| it.call_id.clone()).collect::<Vec<_>>();
    messages.flat_map(ids).collect()
}

/// The message of a `format="native"` cell, if it is readable (MF-29).
pub(crate) fn native(cell: &Cell) -> Option<Message> {
    if cell.attr("format").as_deref() != Some("native") || cell.view() != CellView::Full {
        return None;
    }
    let json = format!("[{}]", cell.payload());
    native::read(json.as_bytes()).ok()?.0.pop()
}

// Where the record of a Markdown file ends: text after it is never sent to a model (MF-5, MF-29).
//
// ```text
// # Discussion                      the section, of level 1
// ## %% [^1]                        a cell
// hi
// # Appendix                        ends the section for every reader of Markdown
// notes outside any message       in the cell's bytes, but not sent
// ```
//
// An answer may hold such headings itself. What writes it says how many, in `headings`; one more than
// that is not the answer's.

/// The attribute with the number of headings that belong to a body.
pub(crate) const HEADINGS: &str = "headings";

/// The heading in a cell that ends the record's section.
pub(crate) fn end_in(doc: &MessageFile, cell: &Cell) -> Option<usize> {
    let section = doc.section()?;
    let own = cell.attr(HEADINGS).and_then(|it| it.trim().parse().ok()).unwrap_or(0);
    let all = headings(doc.bytes(), cell.raw.bodies(), section.level, &doc.syntax.fences);
    // Under a heading of its own name the section goes on.
    let name = section.title.trim().to_lowercase();
    let other = |title: &[u8]| String::from_utf8_lossy(title).to_lowercase() != name;
    all.skip(own).find(|it| other(it.1)).map(|it| it.0)
}

/// The number of headings in a body that would end a section of this level.
pub(crate) fn count(body: &[u8], level: u8) -> usize {
    if memchr::memchr(b'#', body).is_none() {
        return 0;
    }
    let spans = [Span::new(0, body.len()), Span::default()];
    headings(body, spans, level, &closed_fences(body)).count()
}

/// Place and text of the headings of this level or above, outside fences.
pub(crate) fn headings<'a>(
    source: &'a [u8],
    spans: [Span; 2],
    level: u8,
    fences: &'a [Span],
) -> impl Iterator<Item = (usize, &'a [u8])> {
    let heading = move |line: Line| {
        let (found, title) = grammar::section_heading(line.text(source))?;
        (found <= level && !within(fences, line.start)).then_some((line.start, title))
    };
    let all = spans.into_iter().flat_map(|it| lines(source, it.start, it.end));
    all.filter_map(heading)
}

/// The document, restricted to what a model may see.
fn up_to_it(doc: &MessageFile) -> MessageFile {
    let mut doc = doc.clone();
    let ends: Vec<(usize, usize)> =
        doc.cells().iter().filter_map(|it| Some((it.ordinal() - 1, end_in(&doc, it)?))).collect();
    if !ends.is_empty() {
        let model = Arc::make_mut(&mut doc.model);
        for (i, end) in ends {
            cut(&mut model.cells[i].raw, end);
        }
    }
    doc
}

fn cut(cell: &mut RawCell, end: usize) {
    let source = Arc::clone(&cell.source);
    let shorter = |it: Span| {
        let to = it.end.min(end).max(it.start);
        Span::new(it.start, trim_empty_end(&source, it.start, to))
    };
    let [first, second] = cell.bodies().map(shorter);
    cell.at.body = (first.into(), second.into());
}
