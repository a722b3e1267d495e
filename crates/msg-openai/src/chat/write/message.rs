//! Messages of every role but tool.

use msg_core::{Audio, Message, Part, Place, Role, ToolCall};

use super::content::{fits, is_reply};
use super::{OPENAI, Writer};
use crate::chat::write::content;
use crate::{
    EmptyContent,
    chat::{
        shape::{message, part},
        spells_tool,
    },
};
use msg_codec::codec::{Plan, bit, mask, members_of};

/// Where the parts of a message go, the reasoning aside.
#[derive(Default)]
struct Sorted<'m> {
    contents: Vec<(usize, &'m Part)>,
    refusals: Vec<(usize, &'m Part)>,
    audio: Option<(usize, &'m Audio)>,
    /// Calls, and raw elements that were among them.
    calls: Vec<(usize, &'m Part)>,
    legacy: Option<(usize, &'m ToolCall)>,
    results: usize,
    /// The first part after one that is written after it.
    order_lost: Option<usize>,
}

impl Sorted<'_> {
    fn has_calls(&self) -> bool {
        !self.calls.is_empty() || self.legacy.is_some()
    }

    /// Whether no part has a place.
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
    /// Writes the message, its results before or after it (OA-2).
    pub(super) fn speech(&mut self, it: &Message, list: &mut msg_json::Writer<'_>) {
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
        let raw = members_of(&it.extra, &OPENAI, skip);
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

    /// The role of a message that is not a result's. An unknown one that this format reads as a result's
    /// (`function` of another format) would make a result of what was said.
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

    /// Finds the place of each part and notes those that have none.
    fn sort<'m>(&mut self, it: &'m Message, plan: Plan<'_>, reasons: bool) -> Sorted<'m> {
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
                // What was said to the model has no member of its own.
                Part::Audio(audio) if it.role != Role::Assistant && audio.data.is_some() => {
                    res.contents.push((at, part));
                }
                _ if fits(part) => {
                    res.note_order(at, !res.has_calls() && res.refusals.is_empty());
                    res.contents.push((at, part));
                }
                _ => self.objects.losses.part(at, part.kind()),
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

    /// Refusals of an assistant are a member, those of others content, unless the source had them
    /// the other way round.
    fn is_refusal_member(&self, role: &Role, it: &Part, plan: Plan<'_>) -> bool {
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

    /// The variant of a content that is empty; none if it is left out.
    fn empty_content(&self, plan: Plan<'_>, beside: bool, has_calls: bool) -> Option<u8> {
        let variant = plan.variant(message::CONTENT);
        if !beside {
            return plan.may_have(message::CONTENT).then_some(variant);
        }
        match self.options.content_when_empty {
            EmptyContent::Null if has_calls => Some(message::CONTENT_NULL),
            EmptyContent::Empty if has_calls => Some(0),
            // A string was there before an edit: nothing of it is left to keep.
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
