//! Chat messages: from [`Message`]s straight into bytes (OA-2). An unedited message that was read here
//! goes out as it came in (OA-4); what the format cannot hold is reported, never dropped in silence.
//!
//! ```text
//! assistant: text, call a   ─▶   {"role":"assistant","content":"…","tool_calls":[{"id":"a",…}]}
//! tool: result a            ─▶   {"role":"tool","tool_call_id":"a","content":"ok"}
//! ```

mod call;
mod content;
mod message;
mod result;

pub(crate) use content::text_of;

use msg_core::{Extra, Message, Origin, Part, Report, Role};

use crate::{WriteOptions, chat};
use msg_codec::codec::{PartWriter, Plan};

const OPENAI: Origin = Origin::OpenAi;

/// Writes an array of messages.
pub(crate) fn messages(
    messages: &[Message],
    options: &WriteOptions,
    out: &mut Vec<u8>,
    report: &mut Report,
) {
    let mut writer = Writer::new(options, report);
    writer.is_alone = messages.len() == 1;
    msg_json::Writer::new(out).list(|list| messages.iter().for_each(|it| writer.one(it, list)));
}

/// Writes the messages of a list one by one, for a document that holds them apart. What becomes
/// several messages written one after the other.
pub(crate) struct Writer<'a> {
    options: &'a WriteOptions,
    objects: PartWriter<'a>,
    /// Whether a message stays of which nothing is left, since it has a place of its own.
    is_alone: bool,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(options: &'a WriteOptions, report: &'a mut Report) -> Self {
        Self { options, objects: PartWriter::new(OPENAI, options.layout, report), is_alone: false }
    }

    /// Writes a message where exactly one has its place; what would become several is cut down to
    /// the first, and what would become none is null.
    pub(crate) fn alone(&mut self, message: &Message, out: &mut Vec<u8>) {
        if let Some(source) = self.whole(message) {
            msg_json::Writer::new(out).raw(source);
            return self.objects.losses.next_message();
        }
        self.is_alone = true;
        let results = message.tool_results().count();
        let is_tool = message.role == Role::Tool || is_misspelt_tool(message);
        if results == usize::from(is_tool) {
            return self.one(message, &mut msg_json::Writer::new(out));
        }
        let mut rest = message.clone();
        let mut kept = usize::from(is_tool);
        for (at, part) in message.parts.iter().enumerate().rev() {
            if matches!(part, Part::ToolResult(_)) && std::mem::take(&mut kept) == 0 {
                self.objects.losses.part(at, part.kind());
                rest.parts.remove(at);
            }
        }
        let mut list = msg_json::Writer::new(out);
        self.one(&rest, &mut list);
        if list.is_empty() {
            list.null();
        }
    }

    /// Notes that the next message has no place among the choices of a response.
    pub(crate) fn no_choice(&mut self) {
        let text = "the response has no choice that holds this message";
        self.objects.losses.warn("convert::lost-message", None, text);
        self.objects.losses.next_message();
    }

    fn one(&mut self, message: &Message, list: &mut msg_json::Writer<'_>) {
        if let Some(source) = self.whole(message) {
            list.raw(source);
            return self.objects.losses.next_message();
        }
        match message.role {
            Role::Tool => self.tool_message(message, list),
            _ if is_misspelt_tool(message) => self.tool_message(message, list),
            _ => self.speech(message, list),
        }
        self.objects.losses.next_message();
    }

    /// The source of a message that is kept whole and was not edited.
    fn whole<'m>(&self, message: &'m Message) -> Option<&'m str> {
        let says =
            |source: &str| *self.options == WriteOptions::default() && chat::says(source, message);
        self.objects.whole(&message.extra, says)
    }

    fn plan<'b>(&self, extra: &'b Extra) -> Plan<'b> {
        self.objects.plan(extra, 0)
    }
}

/// Whether this is what a tool message is read as whose role is spelled otherwise (OA-1).
fn is_misspelt_tool(it: &Message) -> bool {
    matches!(it.role, Role::Other(_))
        && matches!(it.parts.as_slice(), [Part::ToolResult(_)])
        && chat::is_tool(&it.role)
}
