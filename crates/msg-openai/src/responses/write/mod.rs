//! Writes Responses items from [`Message`]s directly into bytes (OA-15). Parts become items in
//! their order, so no order is lost. Unedited items are written unchanged.
//!
//! ```text
//! assistant: reasoning, text, call a   ─▶   {"type":"reasoning",…}, {"type":"message",…}, {"type":"function_call","call_id":"a",…}
//! ```

mod item;

use std::ops::Range;

use msg_core::{Extra, Message, Other, Part, Place, Report, Role};

use super::read::n_said;
use super::{ITEM, RESPONSES};
use crate::{ItemIds, WriteOptions};
use msg_codec::codec::{PartWriter, RawMember, SlotPlan, object_members, whole_in};

/// The document that the items belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ItemsOf {
    /// A request: the SDK types require an id for an earlier answer with a list of contents, and forbid it for a string
    /// (RQ-45).
    Request,
    /// A response, or a list of items.
    List,
}

/// Writes an array of items.
pub(crate) fn items(
    messages: &[Message],
    of: ItemsOf,
    options: &WriteOptions,
    out: &mut Vec<u8>,
    report: &mut Report,
) {
    let objects = PartWriter::new(RESPONSES, options.layout, report);
    let mut writer = Writer { of, options, objects, n_items: 0 };
    msg_json::Writer::new(out).list(|list| messages.iter().for_each(|it| writer.message(it, list)));
}

struct Writer<'a> {
    of: ItemsOf,
    options: &'a WriteOptions,
    objects: PartWriter<'a>,
    /// The number of items written.
    n_items: usize,
}

impl Writer<'_> {
    fn message(&mut self, it: &Message, list: &mut msg_json::Writer<'_>) {
        self.objects.losses.foreign(&it.extra, None, None);
        self.objects.losses.members(None, &[("name", it.name.is_some())]);
        self.note_roles(it);
        let before = self.n_items;
        let keeps_reasoning = self.options.keeps_reasoning(it);
        let mut at = 0;
        while let Some(part) = it.parts.get(at) {
            if let Some((source, n)) = self.whole(&it.parts[at..]) {
                self.n_items += 1;
                list.raw(source);
                at += n;
                continue;
            }
            let end = self.end_of_group(it, at);
            match part {
                _ if end > at && it.role == Role::Tool && !self.begins_item(part.extra()) => {
                    self.no_result(it, at..end);
                }
                _ if end > at => self.message_item(it, at..end, list),
                Part::ToolCall(call) => self.call(at, call, list),
                Part::ToolResult(result) => self.output(at, result, list),
                Part::Reasoning(thought) if keeps_reasoning => self.reasoning(at, thought, list),
                Part::Reasoning(_) => {
                    self.objects.losses.as_asked(at, "reasoning is");
                }
                Part::Other(other) => self.verbatim(at, other, list),
                _ => {}
            }
            at = end.max(at + 1);
        }
        if self.n_items == before {
            self.nothing_left(it);
        }
        self.objects.losses.next_message();
    }

    /// The unedited source of the item that these parts begin with, if it is kept whole, and how many of them it
    /// covers.
    fn whole<'m>(&self, parts: &'m [Part]) -> Option<(&'m str, usize)> {
        let mut n = None;
        let source = self.objects.whole(parts.first()?.extra(), |source| {
            n = n_said(source, parts).filter(|_| *self.options == WriteOptions::default());
            n.is_some_and(|it| it > 0)
        });
        source.zip(n)
    }

    /// Notes role changes. Items determine the role by their type: calls are the model's, results are the tools'. Each
    /// result is an item; a message with several results, even a user's, is not changed by that (AN-19).
    fn note_roles(&mut self, it: &Message) {
        let speaks_otherwise = |part: &Part| match part {
            Part::ToolCall(_) | Part::Reasoning(_) => it.role != Role::Assistant,
            Part::ToolResult(_) => matches!(it.role, Role::Other(_)),
            _ => false,
        };
        if let Some(at) = it.parts.iter().position(speaks_otherwise) {
            let text = match it.parts[at] {
                Part::ToolResult(_) => "results have no role in this format, they are a tool's",
                _ => "calls and reasoning have no role in this format, they are the assistant's",
            };
            self.objects.losses.warn("convert::role-changed", Some(at), text);
        }
    }

    /// Reports parts of a tool message outside results, which have no item.
    fn no_result(&mut self, it: &Message, range: Range<usize>) {
        // Without any result, the whole message is lost and reported once.
        for at in range.filter(|_| it.tool_results().next().is_some()) {
            self.objects.losses.part(at, &it.parts[at].kind_of_source());
        }
    }

    fn nothing_left(&mut self, it: &Message) {
        if !it.parts.is_empty() {
            return self.objects.losses.nothing_left();
        }
        let text = "a message without parts is not an item";
        self.objects.losses.warn("convert::lost-message", None, text);
    }

    /// The end of the run of content parts that starts at `at` and forms one message item. Parts that do not fit are
    /// part of the run, so the parts around them stay in one item.
    fn end_of_group(&self, it: &Message, at: usize) -> usize {
        let mut end = at;
        while it
            .parts
            .get(end)
            .is_some_and(|part| is_content(part) && (end == at || !Self::divides(it, part.extra())))
        {
            end += 1;
        }
        end
    }

    /// Whether a part begins another item. User or system content is one item, however many were merged into it; only
    /// the model's content consists of several. This does not depend on the layout: adjacent model messages are read as
    /// one, and give the same items when written again.
    fn divides(it: &Message, extra: &Extra) -> bool {
        it.role == Role::Assistant && was_first(extra, extra.layout(&RESPONSES))
    }

    /// Whether a tool's part is written as the message item that it was read from, which the API does not have.
    fn begins_item(&self, extra: &Extra) -> bool {
        was_first(extra, self.objects.layout(extra))
    }

    /// Writes an item that is carried whole.
    fn verbatim(&mut self, at: usize, it: &Other, list: &mut msg_json::Writer<'_>) {
        self.objects.losses.foreign(&it.extra, Some(&RESPONSES), Some(at));
        let members = match self.options.item_ids {
            ItemIds::Keep => None,
            ItemIds::Drop => object_members(&it.value),
        };
        let Some(members) = members else {
            self.n_items += 1;
            return list.raw(it.value.text());
        };
        let kind = members.iter().find(|it| it.name == "type").map(|it| it.value);
        if matches!(kind, None | Some("null" | r#""item_reference""#)) {
            return self.objects.losses.as_asked(at, "a reference to a stored item is");
        }
        self.n_items += 1;
        let members = self.without_ids(at, members);
        list.object(|item| members.iter().for_each(|it| item.key(&it.name).raw(it.value)));
    }

    /// The other members of the item that a part begins.
    fn item_members<'b>(&mut self, at: usize, extra: &'b Extra) -> Vec<RawMember<'b>> {
        let Some(raw) = extra.get(&RESPONSES, ITEM) else { return Vec::new() };
        match object_members(raw) {
            Some(members) if self.options.item_ids == ItemIds::Drop => {
                self.without_ids(at, members)
            }
            Some(members) => members,
            None => {
                self.objects.losses.raw(Some(at), ITEM);
                Vec::new()
            }
        }
    }

    /// [`Writer::item_members`] with the members of the part itself, which is the item.
    fn all_members<'b>(&mut self, at: usize, extra: &'b Extra) -> Vec<RawMember<'b>> {
        let mut res = self.item_members(at, extra);
        res.extend(RawMember::all_of(extra, &RESPONSES, &[ITEM]));
        res
    }

    fn without_ids<'b>(
        &mut self,
        at: usize,
        mut members: Vec<RawMember<'b>>,
    ) -> Vec<RawMember<'b>> {
        members.retain(|it| {
            let goes = matches!(&*it.name, "id" | "status");
            if goes {
                self.objects.losses.raw(Some(at), &it.name);
            }
            !goes
        });
        members
    }
}

/// Whether a part is not an item of its own.
fn is_content(it: &Part) -> bool {
    match it {
        Part::ToolCall(_) | Part::ToolResult(_) | Part::Reasoning(_) => false,
        Part::Other(it) => it.format != RESPONSES || it.place != Some(Place::Item),
        _ => true,
    }
}

/// Whether a part was the first of its item.
fn was_first(extra: &Extra, layout: Option<&[u8]>) -> bool {
    extra.get(&RESPONSES, ITEM).is_some()
        || SlotPlan::in_layout(layout, 0).slots().is_some()
        || whole_in(layout).is_some()
}
