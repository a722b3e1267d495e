//! Streams written (GE-20): one response a delta, calls whole, the signature on its part, finish and usage
//! in the last. Any sequence of stream events can be rewritten while it comes.
//!
//! ```text
//! TextDelta "Hi"   data: {"candidates":[{"content":{"role":"model","parts":[{"text":"Hi"}]},"index":0}]}
//! the end          data: {"candidates":[{"finishReason":"STOP","index":0}],"usageMetadata":{..}}
//! ```

use std::collections::BTreeMap;

use msg_core::{
    FinishReason, Message, Part, Reasoning, Report, Role, StreamEvent, Usage,
    json::Writer as JsonWriter,
};
use msg_wire::stream::{AssembledChoice, EventOptions};
use msg_wire::{Assembled, Json};

use crate::{
    WriteOptions,
    stream::meaning,
    write::{Purpose, Writer},
};

/// Writes what an assembler read as the stream that Gemini would send, and says what that cannot hold.
/// Linear in the output.
///
/// ```
/// use msg_gemini::{GEMINI, write_chunks};
/// use msg_wire::{StreamOptions, StreamReader};
///
/// let read = |bytes: &[u8]| {
///     let mut reader = StreamReader::new(&[GEMINI], StreamOptions::default());
///     reader.feed(bytes, &mut |_| {});
///     reader.finish(&mut |_| {})
/// };
/// let res = read(br#"{"candidates":[{"content":{"parts":[{"text":"Hi"}]},"finishReason":"STOP"}],"responseId":"r"}"#);
/// let mut out = Vec::new();
/// assert!(write_chunks(&res, &mut out).is_empty());
/// assert_eq!(read(&out).choices, res.choices);
/// ```
pub fn write_chunks(res: &Assembled, out: &mut Vec<u8>) -> Report {
    let mut writer = ChunkWriter::new(EventOptions::of(res));
    for choice in &res.choices {
        writer.message(choice.index, &choice.message, out);
        writer.choices.insert(choice.index, End::of(choice));
    }
    if let Some(error) = &res.error {
        writer.error = Some(error.message.clone());
    }
    writer.finish(out)
}

/// Rewrites stream events as Gemini chunks while they come.
///
/// ```
/// use msg_core::StreamEvent;
/// use msg_gemini::ChunkWriter;
/// use msg_wire::EventOptions;
///
/// let mut writer = ChunkWriter::new(EventOptions::default());
/// let mut out = Vec::new();
/// writer.feed(&StreamEvent::TextDelta { choice: 0, text: "Hi".into() }, &mut out);
/// assert!(out.starts_with(br#"data: {"candidates":[{"content":{"role":"model","parts":[{"text":"Hi"}]}"#));
/// writer.finish(&mut out);
/// ```
#[derive(Debug, Default)]
pub struct ChunkWriter {
    options: EventOptions,
    /// What the last chunk says of each choice.
    choices: BTreeMap<u32, End>,
    error: Option<String>,
    report: Report,
}

/// How a choice ends.
#[derive(Debug, Default)]
struct End {
    /// The finish reason in Gemini's word.
    reason: Option<String>,
    /// Members of the candidate.
    members: Vec<(String, String)>,
}

impl End {
    fn of(choice: &AssembledChoice) -> Self {
        let own = choice.raw_finish.as_deref().filter(|raw| {
            let meant = meaning(raw);
            let is_call = choice.finish == Some(FinishReason::ToolCalls);
            Some(&meant) == choice.finish.as_ref() || (is_call && meant == FinishReason::Stop)
        });
        let own = own.map(str::to_owned);
        let reason = own.or_else(|| choice.finish.as_ref().and_then(word));
        let extra = choice.message.extra.iter(&crate::shape::GEMINI);
        let members = extra.map(|(name, value)| (name.to_owned(), value.text().to_owned()));
        Self { reason, members: members.collect() }
    }
}

impl ChunkWriter {
    /// A writer at the start of a stream.
    #[must_use]
    pub fn new(options: EventOptions) -> Self {
        Self { options, ..Self::default() }
    }

    /// Writes what an event says; finish reasons and usage wait for the end.
    pub fn feed(&mut self, event: &StreamEvent<'_>, out: &mut Vec<u8>) {
        match event {
            StreamEvent::TextDelta { choice, text }
            | StreamEvent::RefusalDelta { choice, text } => {
                self.part(*choice, Part::text(&**text), out);
            }
            StreamEvent::ReasoningDelta { choice, text } => {
                self.part(*choice, Part::Reasoning(Reasoning::new(&**text)), out);
            }
            StreamEvent::ToolCall { choice, call, .. } => {
                self.part(*choice, Part::ToolCall(call.clone().into_owned()), out);
            }
            StreamEvent::Finish { choice, reason } => {
                self.choices.entry(*choice).or_default().reason = word(reason);
            }
            StreamEvent::Usage { usage, .. } => self.options.usage = Some(usage.clone()),
            StreamEvent::Error { message, .. } => self.error = Some(message.to_string()),
            // Calls go out whole.
            _ => {}
        }
    }

    /// Writes the last chunk, and says what had no place.
    pub fn finish(mut self, out: &mut Vec<u8>) -> Report {
        let choices = std::mem::take(&mut self.choices);
        let usage = self.options.usage.take();
        if !choices.is_empty() || usage.is_some() {
            self.chunk(out, |it| {
                it.key("candidates").array(&choices, |it, (index, end)| {
                    it.object(|it| {
                        if let Some(reason) = &end.reason {
                            it.key("finishReason").str(reason);
                        }
                        it.key("index").u64(u64::from(*index));
                        end.members.iter().for_each(|(name, value)| it.key(name).raw(value));
                    });
                });
                if let Some(usage) = &usage {
                    usage_metadata(usage, it.key("usageMetadata"));
                }
            });
        }
        // A reason that is an error said so itself.
        let is_said = |it: &End| it.reason.as_deref().map(meaning) == Some(FinishReason::Error);
        if let Some(message) = self.error.take()
            && !choices.values().any(is_said)
        {
            self.failed(&message, out);
        }
        self.report
    }

    fn part(&mut self, choice: u32, part: Part, out: &mut Vec<u8>) {
        self.message(choice, &Message::new(Role::Assistant).with_part(part), out);
        self.choices.entry(choice).or_default();
    }

    /// A chunk for each part of a message.
    fn message(&mut self, choice: u32, message: &Message, out: &mut Vec<u8>) {
        let content = content(message, &mut self.report);
        let parts = Json::from_valid(&content).get("parts");
        for part in parts.into_iter().flat_map(Json::elements) {
            self.chunk(out, |it| {
                it.key("candidates").array([part], |it, part| {
                    it.object(|it| {
                        it.key("content").object(|it| {
                            it.key("role").str("model");
                            it.key("parts").array([part], |it, part| it.raw(&part.compact()));
                        });
                        it.key("index").u64(u64::from(choice));
                    });
                });
            });
        }
    }

    /// An event: a response with these members, and who answers.
    fn chunk(&self, out: &mut Vec<u8>, members: impl FnOnce(&mut JsonWriter<'_>)) {
        out.extend_from_slice(b"data: ");
        JsonWriter::new(out).object(|it| {
            members(it);
            for (name, value) in
                [("modelVersion", &self.options.model), ("responseId", &self.options.id)]
            {
                if !value.is_empty() {
                    it.key(name).str(value);
                }
            }
        });
        out.extend_from_slice(b"\n\n");
    }

    fn failed(&self, message: &str, out: &mut Vec<u8>) {
        out.extend_from_slice(b"data: ");
        JsonWriter::new(out).object(|it| {
            it.key("error").object(|it| {
                it.key("code").u64(500);
                it.key("message").str(message);
                it.key("status").str("INTERNAL");
            });
        });
        out.extend_from_slice(b"\n\n");
    }
}

/// The content of a message, as it is sent.
fn content(message: &Message, report: &mut Report) -> String {
    // Its members are those of the candidate.
    let mut bare = Message { parts: message.parts.clone(), ..Message::new(Role::Assistant) };
    bare.name.clone_from(&message.name);
    let options = WriteOptions::canonical();
    let mut writer = Writer::new(&options, Purpose::Convert, report);
    let mut out = Vec::new();
    writer.candidate(&bare, 0, &mut out);
    writer.finish();
    String::from_utf8(out).expect("because only strings are written")
}

/// Gemini's word for a finish reason; none for a stream that was stopped.
fn word(reason: &FinishReason) -> Option<String> {
    let word = match reason {
        FinishReason::Stop | FinishReason::ToolCalls => "STOP",
        FinishReason::Length => "MAX_TOKENS",
        FinishReason::ContentFilter => "SAFETY",
        FinishReason::Interrupted => return None,
        FinishReason::Error => "OTHER",
        other => other.as_str(),
    };
    Some(word.to_owned())
}

/// The provider's own object where it is Gemini's, else one of the numbers.
fn usage_metadata(usage: &Usage, it: &mut JsonWriter<'_>) {
    let own = usage.raw.as_ref().filter(|raw| {
        let members = msg_wire::codec::object_members(raw).unwrap_or_default();
        members.iter().any(|it| it.name.ends_with("TokenCount"))
    });
    if let Some(own) = own {
        let mut compact = Vec::new();
        own.write_compact(&mut compact);
        return it.value(|out| out.extend_from_slice(&compact));
    }
    it.object(|it| {
        for (name, count) in [
            ("promptTokenCount", usage.input),
            ("candidatesTokenCount", usage.output),
            ("totalTokenCount", usage.total),
            ("cachedContentTokenCount", usage.cached),
            ("thoughtsTokenCount", usage.reasoning),
        ] {
            if let Some(count) = count {
                it.key(name).u64(count);
            }
        }
    });
}
