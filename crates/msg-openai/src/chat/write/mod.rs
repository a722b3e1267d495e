//! Writes chat messages from [`Message`]s directly into bytes (OA-2). An unedited message that was
//! read here is written unchanged (OA-4). What the format cannot hold is reported.
//!
//! ```text
//! assistant: text, call a   ─▶   {"role":"assistant","content":"…","tool_calls":[{"id":"a",…}]}
//! tool: result a            ─▶   {"role":"tool","tool_call_id":"a","content":"ok"}
//! ```

mod content;

use msg_codec::codec::{PartWriter, RawMember, SlotPlan, bit, mask};
use msg_core::{Audio, Extra, Message, Origin, Part, Place, Report, Role, ToolCall, ToolResult};

use crate::chat::shape::{message, part};
use crate::chat::spells_tool;
use crate::chat::write::content::{fits, is_reply};
use crate::{EmptyContent, WriteOptions, chat};

pub(crate) use content::text_of;

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

/// Writes the messages of a list one by one, for a document that holds them apart. A message that becomes several is
/// written as several.
pub(crate) struct Writer<'a> {
    options: &'a WriteOptions,
    objects: PartWriter<'a>,
    /// Whether an empty message is still written, because it has a place of its own.
    is_alone: bool,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(options: &'a WriteOptions, report: &'a mut Report) -> Self {
        Self { options, objects: PartWriter::new(OPENAI, options.layout, report), is_alone: false }
    }

    /// Writes exactly one message: of several, only the first; if there would be none, null.
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
                self.objects.losses.part(at, &part.kind_of_source());
                rest.parts.remove(at);
            }
        }
        let mut list = msg_json::Writer::new(out);
        self.one(&rest, &mut list);
        if list.is_empty() {
            list.null();
        }
    }

    /// Reports that the next message does not fit into the choices of a response.
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

    /// The source of an unedited message that is kept whole.
    fn whole<'m>(&self, message: &'m Message) -> Option<&'m str> {
        let says =
            |source: &str| *self.options == WriteOptions::default() && chat::says(source, message);
        self.objects.whole(&message.extra, says)
    }

    fn plan<'b>(&self, extra: &'b Extra) -> SlotPlan<'b> {
        self.objects.plan(extra, 0)
    }
}

/// Whether this was read from a tool message with another spelling of the role (OA-1).
fn is_misspelt_tool(it: &Message) -> bool {
    matches!(it.role, Role::Other(_))
        && matches!(it.parts.as_slice(), [Part::ToolResult(_)])
        && chat::is_tool(&it.role)
}

// Messages of all roles except tool.

/// The places of the parts of a message, except reasoning.
#[derive(Default)]
struct Sorted<'m> {
    contents: Vec<(usize, &'m Part)>,
    refusals: Vec<(usize, &'m Part)>,
    audio: Option<(usize, &'m Audio)>,
    /// Calls, and raw elements among them.
    calls: Vec<(usize, &'m Part)>,
    legacy: Option<(usize, &'m ToolCall)>,
    results: usize,
    /// The first part that comes after one written after it.
    order_lost: Option<usize>,
}

impl Sorted<'_> {
    fn has_calls(&self) -> bool {
        !self.calls.is_empty() || self.legacy.is_some()
    }

    /// Whether no part can be written.
    fn is_empty(&self) -> bool {
        let has_said =
            !self.contents.is_empty() || !self.refusals.is_empty() || self.audio.is_some();
        !has_said && !self.has_calls() && self.results == 0
    }

    fn note_order(&mut self, at: usize, is_kept: bool) {
        if !is_kept && self.order_lost.is_none() {
            self.order_lost = Some(at);
        }
    }
}

impl Writer<'_> {
    /// Writes the message, with its results before or after it (OA-2).
    fn speech(&mut self, it: &Message, list: &mut msg_json::Writer<'_>) {
        let has_results = it.tool_results().next().is_some();
        let is_assistant = it.role == Role::Assistant;
        if has_results && !is_assistant {
            self.results(it, list);
        }
        if has_results && it.parts.iter().all(|it| matches!(it, Part::ToolResult(_))) {
            self.objects.losses.foreign(&it.extra, None, None);
            self.objects.losses.members(None, &[("name", it.name.is_some())]);
        } else {
            self.spoken(it, list);
        }
        if has_results && is_assistant {
            self.results(it, list);
        }
    }

    fn spoken(&mut self, it: &Message, list: &mut msg_json::Writer<'_>) {
        self.objects.losses.foreign(&it.extra, Some(&OPENAI), None);
        let role = self.speaker(it);
        let plan = self.plan(&it.extra);
        let keeps_reasoning = self.options.keeps_reasoning(it);
        let skip: &[&str] = if keeps_reasoning { &[] } else { &content::MEMBERS };
        let raw = RawMember::all_of(&it.extra, &OPENAI, skip);
        let sorted = self.sort(it, plan, keeps_reasoning);
        let thoughts = if keeps_reasoning {
            self.thoughts(it, plan, &raw)
        } else {
            self.drop_reasoning(it);
            content::Thoughts::default()
        };
        let refusal = self.refusal_text(&sorted);
        let is_lost = raw.is_empty() && sorted.is_empty() && thoughts.want() == 0;
        if is_lost && !it.parts.is_empty() && !self.is_alone {
            return self.objects.losses.nothing_left();
        }
        let name = it.name.as_deref().filter(|it| !it.is_empty());
        let has_calls = sorted.has_calls();
        let beside = has_calls || !refusal.is_empty() || sorted.audio.is_some();
        let beside = beside && it.role == Role::Assistant;
        let has_raw_content = raw.iter().any(|it| it.name == "content");
        let content = match sorted.contents.is_empty() {
            false => Some(plan.variant(message::CONTENT)),
            true if has_raw_content => None,
            true => self.empty_content(plan, beside, has_calls),
        };
        let want = bit(message::ROLE)
            | mask(name.is_some(), message::NAME)
            | mask(content.is_some(), message::CONTENT)
            | mask(!refusal.is_empty(), message::REFUSAL)
            | mask(sorted.audio.is_some(), message::AUDIO)
            | mask(!sorted.calls.is_empty(), message::CALLS)
            | thoughts.want()
            | mask(sorted.legacy.is_some(), message::FUNCTION_CALL);
        let lost = list.value(|out| {
            message::SHAPE.write(out, plan, want, &raw, |out, code| match code {
                message::ROLE => msg_json::write_str(out, role),
                message::NAME => msg_json::write_str(out, name.unwrap_or_default()),
                message::CONTENT => {
                    self.content(&sorted.contents, content.unwrap_or_default(), out);
                }
                message::REFUSAL => msg_json::write_str(out, &refusal),
                message::AUDIO => {
                    sorted.audio.iter().for_each(|(at, it)| self.audio(*at, it, out));
                }
                message::CALLS => self.calls(&sorted.calls, out),
                message::THINKING_BLOCKS => self.blocks(&thoughts.blocks, out),
                message::FUNCTION_CALL => {
                    sorted.legacy.iter().for_each(|(at, it)| self.legacy_call(*at, it, out));
                }
                _ => msg_json::write_str(out, &thoughts.text),
            })
        });
        self.objects.losses.taken(None, lost);
    }

    /// The role of a message that is not a result. An unknown role that this format reads as that of a result
    /// (`function` of another format) would turn the content into a result.
    fn speaker<'m>(&mut self, it: &'m Message) -> &'m str {
        let role = it.role.as_str();
        if role != "function" && !spells_tool(role) {
            return role;
        }
        let text =
            format!("role {role} is a tool's in this format, the message is written as user");
        self.objects.losses.warn("convert::role-changed", None, text);
        "user"
    }

    /// Finds the place of each part, and reports those without one.
    fn sort<'m>(&mut self, it: &'m Message, plan: SlotPlan<'_>, reasons: bool) -> Sorted<'m> {
        let mut res = Sorted::default();
        for (at, part) in it.parts.iter().enumerate() {
            match part {
                Part::ToolResult(_) => res.results += 1,
                Part::Reasoning(it) => {
                    if reasons && self.is_in_content(it) {
                        res.contents.push((at, part));
                    } else if reasons {
                        res.note_order(at, res.is_empty());
                    }
                }
                Part::Refusal(_) if self.is_refusal_member(&it.role, part, plan) => {
                    res.note_order(at, !res.has_calls());
                    res.refusals.push((at, part));
                }
                Part::Audio(audio)
                    if is_reply(audio) && res.audio.is_none() && it.role == Role::Assistant =>
                {
                    res.audio = Some((at, audio));
                }
                Part::ToolCall(call)
                    if res.legacy.is_none()
                        && plan.has(message::FUNCTION_CALL)
                        && self.is_legacy(call) =>
                {
                    res.legacy = Some((at, call));
                }
                Part::ToolCall(_) => res.calls.push((at, part)),
                Part::Other(other)
                    if other.format == OPENAI && other.place == Some(Place::ToolCalls) =>
                {
                    res.calls.push((at, part));
                }
                // Audio given to the model has no member of its own.
                Part::Audio(audio) if it.role != Role::Assistant && audio.data.is_some() => {
                    res.contents.push((at, part));
                }
                _ if fits(part) => {
                    res.note_order(at, !res.has_calls() && res.refusals.is_empty());
                    res.contents.push((at, part));
                }
                _ => self.objects.losses.part(at, &part.kind_of_source()),
            }
        }
        if let Some(at) = res.order_lost {
            let text = match &it.parts[at] {
                Part::Reasoning(_) => "thinking between other parts is written apart from them",
                _ => "content after a tool call or a refusal is written before it",
            };
            self.objects.losses.warn("convert::order-lost", Some(at), text);
        }
        res
    }

    /// Whether a refusal is a member. That of an assistant is one, and others are content, unless the source differed.
    fn is_refusal_member(&self, role: &Role, it: &Part, plan: SlotPlan<'_>) -> bool {
        let variant = self.plan(it.extra()).variant(part::TYPE);
        match role {
            Role::Assistant => variant != part::TYPE_IN_CONTENT,
            _ => variant == part::TYPE_MEMBER && plan.has(message::REFUSAL),
        }
    }

    fn refusal_text(&mut self, sorted: &Sorted<'_>) -> String {
        let mut res = String::new();
        if let Some((at, _)) = sorted.refusals.get(1) {
            let text = "several refusals become one";
            self.objects.losses.warn("convert::merged-parts", Some(*at), text);
        }
        for (at, it) in &sorted.refusals {
            self.objects.losses.foreign(it.extra(), None, Some(*at));
            if let Part::Refusal(it) = it {
                res.push_str(&it.text);
            }
        }
        res
    }

    /// The variant of an empty content; `None` if it is left out.
    fn empty_content(&self, plan: SlotPlan<'_>, beside: bool, has_calls: bool) -> Option<u8> {
        let variant = plan.variant(message::CONTENT);
        if !beside {
            return plan.may_have(message::CONTENT).then_some(variant);
        }
        match self.options.content_when_empty {
            EmptyContent::Null if has_calls => Some(message::CONTENT_NULL),
            EmptyContent::Empty if has_calls => Some(0),
            // It was a string before an edit; this shape is dropped.
            _ => (variant != 0).then_some(variant),
        }
    }

    fn calls(&mut self, calls: &[(usize, &Part)], out: &mut Vec<u8>) {
        msg_json::Writer::new(out).array(calls, |list, &(at, part)| match part {
            Part::ToolCall(it) => list.value(|out| self.call(at, it, out)),
            Part::Other(it) => list.raw(it.value.text()),
            _ => {}
        });
    }
}

// Tool results: one message each.

/// The message that gives a tool message its name, unknown members and layout.
#[derive(Clone, Copy)]
struct Envelope<'m> {
    role: &'m str,
    name: Option<&'m str>,
    message: Option<&'m Message>,
}

impl Writer<'_> {
    /// Writes a tool message: one per result.
    fn tool_message(&mut self, it: &Message, list: &mut msg_json::Writer<'_>) {
        let count = it.tool_results().count();
        if count == 0 {
            return self.objects.losses.no_result();
        }
        if count > 1 {
            self.split();
        }
        self.objects.losses.foreign(&it.extra, Some(&OPENAI), None);
        let name = it.name.as_deref();
        if name.is_some() && it.tool_results().all(|it| it.name.is_some()) {
            self.objects.losses.member(None, "name");
        }
        let mut envelope = Envelope { role: it.role.as_str(), name, message: Some(it) };
        for (at, part) in it.parts.iter().enumerate() {
            match part {
                Part::ToolResult(result) => {
                    self.result(at, result, envelope, list);
                    envelope.message = None;
                }
                _ => self.objects.losses.part(at, &part.kind_of_source()),
            }
        }
    }

    /// The results of a message that is not a tool message.
    fn results(&mut self, it: &Message, list: &mut msg_json::Writer<'_>) {
        self.split();
        let envelope = Envelope { role: "tool", name: None, message: None };
        for (at, part) in it.parts.iter().enumerate() {
            if let Part::ToolResult(result) = part {
                self.result(at, result, envelope, list);
            }
        }
    }

    fn split(&mut self) {
        let text = "each tool result becomes a message of its own";
        self.objects.losses.warn("convert::split-message", None, text);
    }

    fn result(
        &mut self,
        at: usize,
        it: &ToolResult,
        envelope: Envelope<'_>,
        list: &mut msg_json::Writer<'_>,
    ) {
        self.objects.losses.foreign(&it.extra, Some(&OPENAI), Some(at));
        self.objects.losses.members(Some(at), &[("is_error", it.is_error)]);
        let mut raw = Vec::new();
        let mut plan = SlotPlan::default();
        if let Some(message) = envelope.message {
            raw = RawMember::all_of(&message.extra, &OPENAI, &[]);
            plan = self.plan(&message.extra);
        }
        raw.extend(RawMember::all_of(&it.extra, &OPENAI, &[]));
        let contents = self.result_contents(at, it);
        // An empty result gives way to raw content.
        let is_empty = contents.iter().all(|it| it.1.as_text() == Some(""))
            && (contents.is_empty() || raw.iter().any(|it| it.name == "content"));
        let name = it.name.as_deref().or(envelope.name).filter(|it| !it.is_empty());
        let want = bit(message::ROLE)
            | mask(wants(&raw, plan, message::CALL_ID, it.call_id.is_empty()), message::CALL_ID)
            | mask(name.is_some(), message::NAME)
            | mask(wants(&raw, plan, message::CONTENT, is_empty), message::CONTENT);
        let lost = list.value(|out| {
            message::SHAPE.write(out, plan, want, &raw, |out, code| match code {
                message::ROLE => msg_json::write_str(out, role(plan, envelope, &it.call_id)),
                message::CALL_ID => plan.write_id(out, code, &it.call_id),
                message::NAME => msg_json::write_str(out, name.unwrap_or_default()),
                _ => self.content(&contents, plan.variant(code), out),
            })
        });
        self.objects.losses.taken(Some(at), lost);
    }

    fn result_contents<'m>(&mut self, at: usize, it: &'m ToolResult) -> Vec<(usize, &'m Part)> {
        let mut parts = Vec::with_capacity(it.content.parts().len());
        for part in it.content.parts() {
            let is_thought = matches!(part, Part::Reasoning(it) if self.is_in_content(it));
            if fits(part) || is_thought {
                parts.push((at, part));
            } else {
                self.objects.losses.part(at, &part.kind_of_source());
            }
        }
        parts
    }
}

/// Whether a member is written although the model has no value for it: unless the source had none, or a raw one.
fn wants(raw: &[RawMember<'_>], plan: SlotPlan<'_>, code: u8, is_empty: bool) -> bool {
    let name = message::SHAPE.name(code);
    !is_empty || (plan.may_have(code) && raw.iter().all(|it| it.name != name))
}

/// The role of a result. A result of role `function` that got an id answers a call in `tool_calls`, which only `tool`
/// can.
fn role<'m>(plan: SlotPlan<'_>, envelope: Envelope<'m>, id: &str) -> &'m str {
    let is_old = plan.variant(message::ROLE) == message::ROLE_FUNCTION;
    let has_new_id = !id.is_empty() && !plan.has(message::CALL_ID);
    if is_old && !has_new_id { "function" } else { envelope.role }
}
