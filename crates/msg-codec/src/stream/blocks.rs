//! The live writer for APIs that stream numbered blocks (Bedrock Converse, Gemini Interactions). Complete messages are
//! replayed through it.
//!
//! ```text
//! TextDelta "a"          begin, start 0, delta 0
//! ToolCallBegin          stop 0, start 1
//! ToolCallDelta          delta 1
//! Finish, and the end    stop 1, end
//! ```

use std::collections::BTreeMap;

use msg_core::{
    Code, Diagnostic, Extra, FinishReason, Origin, Part, Report, Severity, StreamEvent, ToolCall,
};

use super::channel::TextKind;
use crate::codec::Losses;
use crate::{Assembled, EventOptions};

/// What a writer of streams has sent of a call.
///
/// ```
/// use msg_codec::stream::SentCall;
/// use msg_core::ToolCall;
///
/// let mut sent = SentCall::begun(0, None, "ls");
/// assert_eq!(sent.id, "call_1");
/// sent.len += r#"{"path":"#.len();
/// let call = ToolCall::new("call_1", "ls", "{\"path\":\".\"}");
/// assert_eq!(sent.rest(&call), Some("\".\"}"));
/// assert_eq!(sent.lost(&call), None);
/// ```
#[derive(Debug, Clone, Default)]
pub struct SentCall {
    /// The id; empty if none was sent.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The number of bytes of the arguments.
    pub len: usize,
}

impl SentCall {
    /// The beginning of a call. A call without an id gets the id that readers of streams give it
    /// (OA-19).
    #[must_use]
    pub fn begun(index: u32, id: Option<&str>, name: &str) -> Self {
        let id = id.map_or_else(|| format!("call_{}", u64::from(index) + 1), str::to_owned);
        Self { id, name: name.to_owned(), len: 0 }
    }

    /// The arguments of the call that were not sent; `None` if all were.
    #[must_use]
    pub fn rest<'c>(&self, call: &'c ToolCall) -> Option<&'c str> {
        call.arguments.text().get(self.len..).filter(|it| !it.is_empty())
    }

    /// What is lost of a call that has ended, because it began with another id or name.
    #[must_use]
    pub fn lost(&self, call: &ToolCall) -> Option<&'static str> {
        let is_renamed = !call.id.is_empty() && call.id != self.id || call.name != self.name;
        let text = "the id or the name of a call came after its beginning, and is left out";
        is_renamed.then_some(text)
    }
}

/// How an API writes the events of its streams.
pub trait BlockForm {
    /// The format of the members of its messages.
    const ORIGIN: Origin;

    /// Writes the first events of a stream.
    fn begin(&self, about: &EventOptions, out: &mut Vec<u8>);

    /// Writes the beginning of a block.
    fn start(&self, block: u64, start: &BlockStart<'_>, out: &mut Vec<u8>);

    /// Writes an addition to a block.
    fn delta(&self, block: u64, delta: &BlockDelta<'_>, out: &mut Vec<u8>);

    /// Writes the rest of a part, without its stop, and reports what does not fit. Returns false if the part has no
    /// block.
    fn part(&self, block: u64, part: &BlockPart<'_>, out: &mut Vec<u8>) -> (bool, Report);

    /// Writes the end of a block.
    fn stop(&self, block: u64, out: &mut Vec<u8>);

    /// Writes the last events of a stream. `extra` contains the members of its message.
    fn end(&self, about: &EventOptions, finish: &FinishReason, extra: &Extra, out: &mut Vec<u8>);

    /// Writes that the stream has failed.
    fn error(&self, message: &str, out: &mut Vec<u8>);
}

/// The beginning of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockStart<'a> {
    /// A text.
    Text,
    /// Reasoning.
    Thought,
    /// A call, whose arguments come later.
    Call {
        /// Its id.
        id: &'a str,
        /// The tool's name.
        name: &'a str,
    },
}

/// An addition to a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockDelta<'a> {
    /// To its text.
    Text(&'a str),
    /// To its thought.
    Thought(&'a str),
    /// To the arguments of its call.
    Arguments(&'a str),
}

/// A part that has ended.
#[derive(Debug, Clone)]
pub struct BlockPart<'a> {
    /// The whole part.
    pub part: &'a Part,
    /// The number of bytes of its text or arguments in the deltas; `None` if its block has not begun.
    pub said: Option<usize>,
}

impl BlockPart<'_> {
    /// The part without the arguments of its call, and the arguments that the deltas did not contain; `None` if it is
    /// not a call.
    #[must_use]
    pub fn without_arguments(&self) -> (Part, Option<String>) {
        let mut part = self.part.clone();
        let Part::ToolCall(call) = &mut part else { return (part, None) };
        let all = std::mem::replace(&mut call.arguments, "{}".into());
        let rest = all.text().get(self.said.unwrap_or(0)..).unwrap_or_default().to_owned();
        (part, Some(rest))
    }
}

/// Writes the events of any stream as those of an API with numbered blocks, while they arrive.
///
/// Texts and reasoning are successive blocks; calls may grow in parallel. Everything of a part besides its text is
/// written at its end. Only the first choice has a place. Memory: a few numbers per call.
#[derive(Debug, Clone)]
pub struct BlockWriter<F> {
    form: F,
    options: EventOptions,
    /// The members of the message.
    extra: Extra,
    is_begun: bool,
    has_failed: bool,
    /// The number of the next block.
    next: u64,
    /// The block of text or reasoning that has not ended.
    open: Option<Open>,
    /// Whether reasoning has ended and the next one must be separated from it.
    thought_ended: bool,
    /// The calls that have not ended.
    calls: BTreeMap<u32, Begun>,
    report: Report,
}

#[derive(Debug, Clone, Copy)]
struct Open {
    block: u64,
    is_thought: bool,
    /// The number of bytes written.
    len: usize,
}

/// The written part of a call.
#[derive(Debug, Clone)]
struct Begun {
    block: u64,
    sent: SentCall,
}

impl<F: BlockForm> BlockWriter<F> {
    /// A writer at the start of a stream.
    #[must_use]
    pub fn new(form: F, options: EventOptions) -> Self {
        Self {
            form,
            options,
            extra: Extra::default(),
            is_begun: false,
            has_failed: false,
            next: 0,
            open: None,
            thought_ended: false,
            calls: BTreeMap::new(),
            report: Report::new(),
        }
    }

    /// Writes a stream that would give this result, and reports what it cannot hold. Linear in the output.
    pub fn replay(form: F, res: &Assembled, out: &mut Vec<u8>) -> Report {
        let mut writer = Self::new(form, EventOptions::of(res));
        let Some(choice) = res.choices.first() else {
            res.failure().into_iter().for_each(|it| writer.fail(it, out));
            return writer.report;
        };
        let mut losses = Losses::new(&mut writer.report);
        for other in &res.choices[1..] {
            let text = format!("choice {} has no place in the stream", other.index);
            losses.warn("convert::lost-part", None, text);
        }
        losses.foreign(&choice.message.extra, Some(&F::ORIGIN), None);
        losses.flush();
        writer.extra = choice.message.extra.clone();
        writer.begin(out);
        let mut complete = choice.complete.iter();
        for (at, part) in choice.message.parts.iter().enumerate() {
            let (block, report) = writer.whole(part, out);
            writer.report.extend(report.into_iter().map(|it| it.at_part(0, at)));
            let is_call = matches!(part, Part::ToolCall(_));
            let is_whole = !is_call || complete.next().copied().unwrap_or(true);
            block.filter(|_| is_whole).into_iter().for_each(|it| writer.form.stop(it, out));
        }
        writer.finish(out)
    }

    /// Appends the output for an event.
    pub fn feed(&mut self, event: &StreamEvent<'_>, out: &mut Vec<u8>) {
        if self.has_failed {
            return;
        }
        if event.choice() != 0 {
            let text = "only the first choice has a place in the stream";
            return self.note(Severity::Warning, "convert::lost-part", text);
        }
        match event {
            StreamEvent::TextDelta { text, .. } => self.say(false, text, out),
            StreamEvent::RefusalDelta { text, .. } => {
                let note = "a refusal is written as text";
                self.note(Severity::Info, "convert::refusal-as-text", note);
                self.say(false, text, out);
            }
            StreamEvent::ReasoningDelta { text, .. } => {
                // Here reasoning is a separate block.
                let is_gap = text == TextKind::APART && std::mem::take(&mut self.thought_ended);
                if !is_gap {
                    self.say(true, text, out);
                }
            }
            StreamEvent::PartEnd { part, .. } => self.end_part(part, out),
            StreamEvent::ToolCallBegin { index, id, name, .. } => {
                self.begin_call(*index, id.as_deref(), name, out);
            }
            StreamEvent::ToolCallDelta { index, arguments, .. } => {
                if let Some(call) = self.calls.get_mut(index).filter(|_| !arguments.is_empty()) {
                    call.sent.len += arguments.len();
                    self.form.delta(call.block, &BlockDelta::Arguments(arguments), out);
                }
            }
            StreamEvent::ToolCall { index, call, complete, .. } => {
                let block = self.end_call(*index, call, out);
                block.filter(|_| *complete).into_iter().for_each(|it| self.form.stop(it, out));
            }
            StreamEvent::Usage { usage, .. } => self.options.usage = Some(usage.clone()),
            StreamEvent::Finish { reason, .. } => self.options.finish = Some(reason.clone()),
            StreamEvent::Error { message, .. } => self.fail(message, out),
            _ => {}
        }
    }

    /// Ends the stream, and reports what it could not hold. A stream without a finish reason was cut off and ends with
    /// an error; calls that have not ended have no stop.
    pub fn finish(mut self, out: &mut Vec<u8>) -> Report {
        if self.has_failed {
            return self.report;
        }
        self.begin(out);
        self.close(out);
        let is_end =
            |it: &FinishReason| !matches!(it, FinishReason::Error | FinishReason::Interrupted);
        match (self.options.error.take(), self.options.finish.take().filter(is_end)) {
            (None, Some(finish)) => {
                self.calls.values().for_each(|it| self.form.stop(it.block, out));
                self.form.end(&self.options, &finish, &self.extra, out);
            }
            (error, _) => {
                self.form.error(error.as_deref().unwrap_or(EventOptions::ENDED_EARLY), out);
            }
        }
        self.report
    }

    fn begin(&mut self, out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.is_begun, true) {
            self.form.begin(&self.options, out);
        }
    }

    fn fail(&mut self, message: &str, out: &mut Vec<u8>) {
        self.has_failed = true;
        self.form.error(message, out);
    }

    /// Ends the block of text or thought.
    fn close(&mut self, out: &mut Vec<u8>) {
        if let Some(open) = self.open.take() {
            self.form.stop(open.block, out);
        }
    }

    /// The number of a block that begins after the one that is open.
    fn next_block(&mut self, out: &mut Vec<u8>) -> u64 {
        self.begin(out);
        self.close(out);
        self.next += 1;
        self.next - 1
    }

    fn say(&mut self, is_thought: bool, text: &str, out: &mut Vec<u8>) {
        if text.is_empty() {
            return;
        }
        self.thought_ended = false;
        let same = self.open.filter(|it| it.is_thought == is_thought);
        let open = same.unwrap_or_else(|| {
            let block = self.next_block(out);
            let start = if is_thought { BlockStart::Thought } else { BlockStart::Text };
            self.form.start(block, &start, out);
            Open { block, is_thought, len: 0 }
        });
        self.open = Some(Open { len: open.len + text.len(), ..open });
        let delta = if is_thought { BlockDelta::Thought(text) } else { BlockDelta::Text(text) };
        self.form.delta(open.block, &delta, out);
    }

    /// A part without deltas; returns its block, which has no stop yet.
    fn whole(&mut self, part: &Part, out: &mut Vec<u8>) -> (Option<u64>, Report) {
        let mut events = Vec::new();
        let part = BlockPart { part, said: None };
        let (has_block, report) = self.form.part(self.next, &part, &mut events);
        let block = has_block.then(|| self.next_block(out));
        out.append(&mut events);
        (block, report)
    }

    /// Ends a part: what its deltas lacked is written with their block.
    fn end_part(&mut self, part: &Part, out: &mut Vec<u8>) {
        let (text, is_thought) = match part {
            Part::Text(it) => (it.text.len(), false),
            Part::Refusal(it) => (it.text.len(), false),
            Part::Reasoning(it) => (it.display_text().len(), true),
            _ => (0, false),
        };
        let own = self.open.filter(|it| (it.is_thought, it.len) == (is_thought, text));
        match own.filter(|_| text > 0) {
            Some(open) => {
                let part = BlockPart { part, said: Some(open.len) };
                let (_, report) = self.form.part(open.block, &part, out);
                self.note_once(report);
                self.close(out);
            }
            None if text > 0 => {
                let text = "what a part has besides its text has no place and is left out";
                self.note(Severity::Info, "convert::lost-member", text);
            }
            None => {
                let (block, report) = self.whole(part, out);
                self.note_once(report);
                block.into_iter().for_each(|it| self.form.stop(it, out));
            }
        }
        self.thought_ended = is_thought;
    }

    fn begin_call(&mut self, index: u32, id: Option<&str>, name: &str, out: &mut Vec<u8>) {
        let sent = SentCall::begun(index, id, name);
        let block = self.next_block(out);
        self.form.start(block, &BlockStart::Call { id: &sent.id, name }, out);
        self.calls.insert(index, Begun { block, sent });
    }

    /// Ends a call: writes what was missing. Returns its block, which has no stop yet.
    fn end_call(&mut self, index: u32, call: &ToolCall, out: &mut Vec<u8>) -> Option<u64> {
        let part = Part::ToolCall(call.clone());
        let Some(begun) = self.calls.remove(&index) else {
            let (block, report) = self.whole(&part, out);
            self.note_once(report);
            return block;
        };
        if let Some(text) = begun.sent.lost(call) {
            self.note(Severity::Warning, "convert::lost-member", text);
        }
        let part = BlockPart { part: &part, said: Some(begun.sent.len) };
        let (_, report) = self.form.part(begun.block, &part, out);
        self.note_once(report);
        Some(begun.block)
    }

    fn note(&mut self, severity: Severity, code: &'static str, text: &'static str) {
        self.note_once([Diagnostic::new(severity, Code::new(code), text)]);
    }

    /// Reports what a part lost, each sentence once: a stream has no part numbers.
    fn note_once(&mut self, found: impl IntoIterator<Item = Diagnostic>) {
        for mut it in found {
            (it.at.message, it.at.part) = (None, None);
            if !self.report.iter().any(|have| *have == it) {
                self.report.push(it);
            }
        }
    }
}
