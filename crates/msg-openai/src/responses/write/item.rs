//! Messages, calls and outputs as items.

use std::ops::Range;

use msg_core::{CallKind, Message, Role, ToolCall, ToolResult};

use super::{Writer, content};
use crate::responses::shape::{RESPONSES, item};
use msg_codec::codec::{NULL, bit, mask};

impl Writer<'_> {
    /// The message item that holds these parts; those that have no place are noted. Without any
    /// that has one there is no item.
    pub(super) fn message_item(
        &mut self,
        it: &Message,
        range: Range<usize>,
        list: &mut msg_json::Writer<'_>,
    ) {
        let contents = || range.clone().map(|at| (at, &it.parts[at]));
        for (at, part) in contents().filter(|it| !content::fits(it.1)) {
            self.objects.losses.part(at, part.kind());
        }
        let contents = || contents().filter(|it| content::fits(it.1));
        let Some((at, first)) = contents().next() else { return };
        for (at, part) in contents().skip(1) {
            for it in self.item_members(at, part.extra()) {
                self.objects.losses.raw(Some(at), &it.name);
            }
        }
        let plan = self.objects.plan(first.extra(), 0);
        let raw = self.item_members(at, first.extra());
        let want =
            mask(plan.may_have(item::TYPE), item::TYPE) | bit(item::ROLE) | bit(item::CONTENT);
        let is_string = plan.variant(item::CONTENT) == item::CONTENT_STRING
            && contents().nth(1).is_none()
            && self.is_plain(first);
        let is_assistant = it.role == Role::Assistant;
        self.n_items += 1;
        let lost = list.value(|out| {
            item::SHAPE.write(out, plan, want, &raw, |out, code| match code {
                item::TYPE => msg_json::write_str(out, "message"),
                item::ROLE => msg_json::write_str(out, it.role.as_str()),
                _ if is_string => msg_json::write_str(out, first.as_text().unwrap_or_default()),
                _ => self.parts(contents(), is_assistant, out),
            })
        });
        self.objects.losses.taken(Some(at), lost);
    }

    pub(super) fn call(&mut self, at: usize, it: &ToolCall, list: &mut msg_json::Writer<'_>) {
        self.objects.losses.foreign(&it.extra, Some(&RESPONSES), Some(at));
        let is_other = matches!(it.kind, CallKind::Other(_));
        let lost = [("signature", it.signature.is_some()), ("kind", is_other)];
        self.objects.losses.members(Some(at), &lost);
        let (kind, body) = match it.kind {
            CallKind::Custom => ("custom_tool_call", item::INPUT),
            _ => ("function_call", item::ARGUMENTS),
        };
        let plan = self.objects.plan(&it.extra, 0);
        let raw = self.all_members(at, &it.extra);
        let text = it.arguments.text();
        let want = bit(item::TYPE)
            | mask(plan.may_have(item::CALL_ID) || !it.id.is_empty(), item::CALL_ID)
            | mask(plan.may_have(item::NAME) || !it.name.is_empty(), item::NAME)
            | mask(plan.may_have(body) || !text.is_empty(), body);
        self.n_items += 1;
        let lost = list.value(|out| {
            item::SHAPE.write(out, plan, want, &raw, |out, code| match code {
                item::TYPE => msg_json::write_str(out, kind),
                item::CALL_ID => plan.write_id(out, code, &it.id),
                item::NAME => plan.write_text(out, code, &it.name),
                _ => plan.write_arguments(out, code, text),
            })
        });
        self.objects.losses.taken(Some(at), lost);
    }

    pub(super) fn output(&mut self, at: usize, it: &ToolResult, list: &mut msg_json::Writer<'_>) {
        self.objects.losses.foreign(&it.extra, Some(&RESPONSES), Some(at));
        let lost = [("is_error", it.is_error), ("name", it.name.is_some())];
        self.objects.losses.members(Some(at), &lost);
        let kind = match it.kind {
            CallKind::Custom => "custom_tool_call_output",
            _ => "function_call_output",
        };
        let plan = self.objects.plan(&it.extra, 0);
        let raw = self.all_members(at, &it.extra);
        let mut parts = Vec::with_capacity(it.content.parts().len());
        for part in it.content.parts() {
            if content::fits(part) {
                parts.push((at, part));
            } else {
                self.objects.losses.part(at, part.kind());
            }
        }
        let want = bit(item::TYPE)
            | mask(plan.may_have(item::CALL_ID) || !it.call_id.is_empty(), item::CALL_ID)
            | mask(plan.may_have(item::OUTPUT) || !parts.is_empty(), item::OUTPUT);
        self.n_items += 1;
        let lost = list.value(|out| {
            item::SHAPE.write(out, plan, want, &raw, |out, code| {
                let variant = plan.variant(code);
                match (code, parts.as_slice()) {
                    (item::TYPE, _) => msg_json::write_str(out, kind),
                    (item::CALL_ID, _) => plan.write_id(out, code, &it.call_id),
                    (_, []) if variant == NULL => out.extend_from_slice(b"null"),
                    (_, []) if variant == item::OUTPUT_ARRAY => out.extend_from_slice(b"[]"),
                    (_, []) => out.extend_from_slice(b"\"\""),
                    (_, [one]) if variant != item::OUTPUT_ARRAY && self.is_plain(one.1) => {
                        self.objects.joined(&parts, "", out);
                    }
                    (_, all) if self.options.joins(all) => {
                        self.objects.joined(all, &self.options.text_separator, out);
                    }
                    (_, all) => self.parts(all.iter().copied(), false, out),
                }
            })
        });
        self.objects.losses.taken(Some(at), lost);
    }
}
