//! Calls and their results (GE-6, GE-8, GE-13).

use msg_codec::codec::{SlotPlan, Value, text_of_part};
use msg_core::{Message, Origin, Part, RawJson, Role, ToolCall, ToolResult};

use super::Writer;
use crate::{
    Ids,
    read::text_in,
    shape::{GEMINI, call, part, response},
};

const CALL: &str = "functionCall";
const RESPONSE: &str = "functionResponse";

impl<'a> Writer<'a, '_> {
    /// Notes the calls and results of a content that is written as its source.
    pub(super) fn note_calls(&mut self, message: &'a Message) {
        if message.role == Role::Assistant {
            self.waiting.clear();
        }
        message.tool_calls().for_each(|it| self.note_call(it));
        for it in message.tool_results() {
            if it.call_id.is_empty() {
                self.first_waiting(it.name.as_deref());
            }
            self.answered.insert(&it.call_id);
        }
    }

    fn note_call(&mut self, it: &'a ToolCall) {
        self.names.insert(&it.id, &it.name);
        self.waiting.push_back((&it.id, &it.name));
    }

    pub(super) fn call(&mut self, at: usize, it: &'a ToolCall, out: &mut Vec<u8>) {
        self.note_call(it);
        self.objects.kind_losses(at, &it.kind);
        let (inner, plan) = self.objects.inner(at, &it.extra, CALL);
        let has_args = plan.may_have(call::ARGS) || !it.arguments.text().trim_ascii().is_empty();
        let args = self.objects.arguments(at, it, plan.variant(call::ARGS));
        let has_raw = |name| inner.iter().any(|it| it.name == name);
        let has_id = self.has_id(&it.id, plan, call::ID) && !has_raw("id");
        let values =
            [has_id.then_some(&*it.id).into(), (&it.name).into(), has_args.then_some(&args).into()];
        let object = self.objects.inner_object(at, (&inner, plan), &call::SHAPE, &values);
        let raw = self.members(&it.extra, at, Some(CALL));
        let values = [Value::Json(&object), Value::Absent, it.signature.as_deref().into()];
        self.objects.object(at, (&raw, self.plan(&it.extra)), &part::CALL, &values, out);
    }

    /// Whether an id goes out; an empty one only where the source had it.
    fn has_id(&self, id: &str, plan: SlotPlan<'_>, code: u8) -> bool {
        self.options.ids == Ids::Keep && (!id.is_empty() || plan.has(code))
    }

    pub(super) fn response(&mut self, at: usize, it: &'a ToolResult, out: &mut Vec<u8>) {
        self.objects.kind_losses(at, &it.kind);
        let (inner, plan) = self.objects.inner(at, &it.extra, RESPONSE);
        let has_raw = |name| inner.iter().any(|it| it.name == name);
        let name = match has_raw("name") || (it.name.is_none() && !plan.may_have(response::NAME)) {
            true => None,
            false => Some(self.name(at, it)),
        };
        let (said, media) = self.sorted(at, it);
        let has_output = !said.is_empty() || plan.may_have(response::RESPONSE);
        let output = self.output(at, it, &said, plan.variant(response::RESPONSE));
        let has_parts = !media.is_empty() || plan.has(response::PARTS) && !has_raw("parts");
        let has_id = self.has_id(&it.call_id, plan, response::ID) && !has_raw("id");
        let mut parts = Vec::new();
        msg_json::Writer::new(&mut parts).array(&media, |out, one| {
            out.value(|out| self.part(at, one, out));
        });
        let values = [
            has_id.then_some(&*it.call_id).into(),
            name.into(),
            has_output.then_some(&output).into(),
            has_parts.then_some(&parts).into(),
        ];
        let object = self.objects.inner_object(at, (&inner, plan), &response::SHAPE, &values);
        let raw = self.members(&it.extra, at, Some(RESPONSE));
        self.objects.object(
            at,
            (&raw, self.plan(&it.extra)),
            &part::RESPONSE,
            &[Value::Json(&object)],
            out,
        );
    }

    /// The name of the tool that gave a result: its own, else that of its call; a result without an id
    /// answers the first call that waits.
    fn name(&mut self, at: usize, it: &'a ToolResult) -> &'a str {
        let of_call = match it.call_id.is_empty() {
            true => self.first_waiting(it.name.as_deref()),
            false => self.names.get(&*it.call_id).copied(),
        };
        self.answered.insert(&it.call_id);
        let name = it.name.as_deref().or(of_call);
        if name.is_none() {
            let text = "the result of no call has no name, which the format demands";
            self.objects.losses.warn("convert::orphan-result", Some(at), text);
        }
        name.unwrap_or("unknown_tool")
    }

    /// Takes the call that a result without an id answers, if that is one of its tool.
    fn first_waiting(&mut self, tool: Option<&str>) -> Option<&'a str> {
        while self
            .waiting
            .front()
            .is_some_and(|it| !it.0.is_empty() && self.answered.contains(it.0))
        {
            self.waiting.pop_front();
        }
        let (_, name) = *self.waiting.front().filter(|it| tool.is_none_or(|tool| tool == it.1))?;
        self.waiting.pop_front();
        Some(name)
    }

    /// The parts of a result that are said in `response`, and the media beside it; the rest is lost.
    fn sorted(&mut self, at: usize, it: &'a ToolResult) -> (Vec<&'a Part>, Vec<&'a Part>) {
        let (mut said, mut media) = (Vec::new(), Vec::new());
        for part in it.content.parts() {
            let is_ours = matches!(part, Part::Other(it) if it.format == GEMINI);
            if text_of_part(part).is_some() {
                if !media.is_empty() {
                    let text = "text after media of a result is moved before it";
                    self.objects.losses.warn("convert::order-lost", Some(at), text);
                }
                said.push(part);
            } else if part.is_media() || is_ours {
                if self.fits(at, part) {
                    media.push(part);
                }
            } else {
                self.objects.losses.part(at, part.kind());
            }
        }
        (said, media)
    }

    /// The value of `response`; the variant is the one that the source had.
    fn output(&mut self, at: usize, it: &ToolResult, said: &[&Part], variant: u8) -> Vec<u8> {
        let mut out = Vec::new();
        said.iter().for_each(|it| self.objects.losses.foreign(it.extra(), None, Some(at)));
        match said {
            [] if variant == response::RESPONSE_NULL => out.extend_from_slice(b"null"),
            [Part::Other(json)]
                if json.format == Origin::Json && is_whole(&json.value, variant) =>
            {
                if it.is_error {
                    self.objects.losses.member(Some(at), "is_error");
                }
                out.extend_from_slice(json.value.text().as_bytes());
            }
            all => {
                all.iter().for_each(|it| self.objects.text_losses(at, it));
                if all.len() > 1 {
                    let text = "the texts of a result are joined by line breaks";
                    self.objects.losses.warn("convert::merged-parts", Some(at), text);
                }
                let texts: Vec<_> = all.iter().filter_map(|it| text_of_part(it)).collect();
                let member = if it.is_error { "error" } else { "output" };
                msg_json::Writer::new(&mut out).object(|it| it.key(member).str(&texts.join("\n")));
            }
        }
        out
    }
}

/// Whether a JSON value is written as the response itself, and is read as that again.
fn is_whole(value: &RawJson, variant: u8) -> bool {
    let is_object = value.text().starts_with('{') && text_in(value).is_none();
    is_object || (variant == response::RESPONSE_VALUE && !value.text().starts_with('{'))
}
