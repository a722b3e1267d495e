//! Any stream's events rewritten while they arrive (AN-18).

use std::collections::{BTreeMap, VecDeque};

use msg_core::{Code, Diagnostic, Extra, Report, Severity, StreamEvent, ToolCall};
use msg_wire::stream::Brackets;

use super::{
    EventOptions, frame,
    message::{INPUT, TEXT, THINKING, call_head, text_head, thinking_head},
};

/// Writes the events of any stream as an Anthropic stream, as they arrive.
///
/// Blocks go out one behind the other: one ends when another channel has something to say, a call when
/// its arguments have ended; what arrives for a later block in the meantime waits. No event says a
/// signature, so thinking goes out without. Only the first of several choices goes out.
///
/// ```
/// use msg_anthropic::{EventOptions, EventWriter};
/// use msg_core::{FinishReason, StreamEvent};
///
/// let mut writer = EventWriter::new(EventOptions::default());
/// let mut out = Vec::new();
/// writer.feed(&StreamEvent::TextDelta { choice: 0, text: "Hi".into() }, &mut out);
/// assert!(out.ends_with(b"\"delta\":{\"type\":\"text_delta\",\"text\":\"Hi\"}}\n\n"));
/// writer.feed(&StreamEvent::Finish { choice: 0, reason: FinishReason::Stop }, &mut out);
/// assert!(writer.finish(&mut out).is_empty());
/// assert!(out.ends_with(b"data: {\"type\":\"message_stop\"}\n\n"));
/// ```
#[derive(Debug, Clone)]
pub struct EventWriter {
    options: EventOptions,
    /// Blocks that have not ended; only the first has begun.
    blocks: VecDeque<Block>,
    /// The index of the first of them.
    index: u64,
    /// `message_start` is written.
    started: bool,
    /// An error is written, behind which nothing comes.
    failed: bool,
    report: Report,
    /// The place of the block of each call that has begun, counted as `index` is.
    calls: BTreeMap<u32, u64>,
    /// Codes that were reported: each once.
    reported: Vec<&'static str>,
}

#[derive(Debug, Clone)]
struct Block {
    kind: Kind,
    /// Its start is written.
    begun: bool,
    /// Nothing more comes.
    ended: bool,
    /// What is not written yet.
    pending: String,
}

#[derive(Debug, Clone)]
enum Kind {
    Text,
    Thinking,
    Call {
        id: String,
        name: String,
        brackets: Brackets,
        /// Bytes of the arguments that have come.
        len: usize,
    },
}

impl Block {
    fn new(kind: Kind) -> Self {
        Self { kind, begun: false, ended: false, pending: String::new() }
    }

    /// Whether it may end when another block waits.
    fn may_end(&self) -> bool {
        match &self.kind {
            Kind::Text | Kind::Thinking => true,
            Kind::Call { brackets, .. } => self.ended || brackets.closed(),
        }
    }

    fn begin(&self, index: u64, out: &mut Vec<u8>) {
        frame::block_start(out, index, |it| {
            it.object(|it| match &self.kind {
                Kind::Text => text_head(it),
                Kind::Thinking => thinking_head(it),
                Kind::Call { id, name, .. } => call_head(it, id, name),
            });
        });
    }

    /// Writes what has come of it.
    fn write(&mut self, index: u64, out: &mut Vec<u8>) {
        if !self.begun {
            self.begun = true;
            self.begin(index, out);
        }
        let delta = match self.kind {
            Kind::Text => TEXT,
            Kind::Thinking => THINKING,
            Kind::Call { .. } => INPUT,
        };
        if !self.pending.is_empty() {
            frame::block_delta(out, index, delta, &self.pending);
            self.pending.clear();
        }
    }
}

impl EventWriter {
    /// A writer at the start of a stream.
    #[must_use]
    pub fn new(options: EventOptions) -> Self {
        Self {
            options,
            blocks: VecDeque::new(),
            index: 0,
            started: false,
            failed: false,
            calls: BTreeMap::new(),
            report: Report::new(),
            reported: Vec::new(),
        }
    }

    /// Appends what an event adds.
    pub fn feed(&mut self, event: &StreamEvent<'_>, out: &mut Vec<u8>) {
        if self.failed {
            return;
        }
        if event.choice() != 0 {
            let text = "only the first choice has a place in the stream";
            return self.note(Severity::Warning, "convert::lost-part", text);
        }
        match event {
            StreamEvent::TextDelta { text, .. } => self.say(Kind::Text, text),
            StreamEvent::ReasoningDelta { text, .. } => self.say(Kind::Thinking, text),
            StreamEvent::RefusalDelta { text, .. } => {
                let note = "a refusal is written as text";
                self.note(Severity::Info, "convert::refusal-as-text", note);
                self.say(Kind::Text, text);
            }
            StreamEvent::ToolCallBegin { index, id, name, .. } => {
                self.call(*index, id.as_deref(), name);
            }
            StreamEvent::ToolCallDelta { index, arguments, .. } => self.argue(*index, arguments),
            StreamEvent::ToolCall { index, call, .. } => self.end_call(*index, call),
            StreamEvent::Usage { usage, .. } => self.options.usage = Some(usage.clone()),
            StreamEvent::Finish { reason, .. } => self.options.finish = Some(reason.clone()),
            StreamEvent::Error { message, .. } => {
                self.start(out);
                self.failed = true;
                frame::error(out, message);
            }
            _ => {}
        }
        if !self.failed {
            self.write(out);
        }
    }

    /// Ends the stream, and says what it could not hold. A stream that did not say why it stopped is left
    /// without an end, as it was cut.
    pub fn finish(mut self, out: &mut Vec<u8>) -> Report {
        if self.failed {
            return self.report;
        }
        self.blocks.iter_mut().for_each(|it| it.ended = true);
        self.write(out);
        if self.blocks.pop_front().is_some() {
            frame::block_stop(out, self.index);
        }
        if let Some(finish) = self.options.finish.take().filter(frame::is_end) {
            self.start(out);
            let usage = self.options.usage.as_ref();
            frame::message_end(out, &finish, usage, &Extra::default());
        }
        self.report
    }

    fn start(&mut self, out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.started, true) {
            frame::message_start(out, &self.options, &Extra::default());
        }
    }

    /// Appends to the last block if it is of this kind, or to a new one.
    fn say(&mut self, kind: Kind, text: &str) {
        let is_same =
            |it: &Block| std::mem::discriminant(&it.kind) == std::mem::discriminant(&kind);
        if !self.blocks.back().is_some_and(is_same) {
            self.blocks.push_back(Block::new(kind));
        }
        if let Some(last) = self.blocks.back_mut() {
            last.pending.push_str(text);
        }
    }

    fn call(&mut self, number: u32, id: Option<&str>, name: &str) {
        // As the readers of streams do for a call without an id (OA-19).
        let id = id.map_or_else(|| format!("call_{}", u64::from(number) + 1), str::to_owned);
        let name = name.to_owned();
        let brackets = Brackets::default();
        self.calls.insert(number, self.index + self.blocks.len() as u64);
        self.blocks.push_back(Block::new(Kind::Call { id, name, brackets, len: 0 }));
    }

    /// The block of a call, unless it has ended.
    fn block_of(&mut self, number: u32) -> Option<&mut Block> {
        let place = self.calls.get(&number)?.checked_sub(self.index)?;
        self.blocks.get_mut(usize::try_from(place).ok()?)
    }

    /// Appends to the arguments of a call.
    fn argue(&mut self, number: u32, text: &str) {
        let Some(block) = self.block_of(number) else {
            let note = "arguments behind the end of a call have no place";
            return self.note(Severity::Warning, "convert::lost-member", note);
        };
        if let Kind::Call { brackets, len, .. } = &mut block.kind {
            brackets.feed(text.as_bytes());
            *len += text.len();
        }
        block.pending.push_str(text);
    }

    /// A call is whole: what of it was not told yet follows.
    fn end_call(&mut self, number: u32, call: &ToolCall) {
        if !self.calls.contains_key(&number) {
            self.call(number, Some(&call.id), &call.name);
        }
        let Some(block) = self.block_of(number) else { return };
        block.ended = true;
        if let Kind::Call { len, .. } = &mut block.kind
            && let Some(rest) = call.arguments.text().get(*len..)
        {
            block.pending.push_str(rest);
            *len += rest.len();
        }
    }

    /// Writes as much as may go out.
    fn write(&mut self, out: &mut Vec<u8>) {
        if self.blocks.is_empty() {
            return;
        }
        self.start(out);
        while let Some(first) = self.blocks.front_mut() {
            first.write(self.index, out);
            if self.blocks.len() == 1 || !self.blocks[0].may_end() {
                return;
            }
            frame::block_stop(out, self.index);
            self.blocks.pop_front();
            self.index += 1;
        }
    }

    fn note(&mut self, severity: Severity, code: &'static str, text: &'static str) {
        if !self.reported.contains(&code) {
            self.reported.push(code);
            self.report.push(Diagnostic::new(severity, Code::new(code), text));
        }
    }
}
