//! Tool calls, and the `function_call` that came before them.

use msg_core::{CallKind, ToolCall};

use super::{OPENAI, Writer};
use crate::chat::shape;
use crate::chat::shape::{call, function};
use msg_codec::codec::{RawMember, Shape, SlotPlan, mask};

impl Writer<'_> {
    /// Whether a call came as the `function_call` of its message and still fits there.
    pub(super) fn is_legacy(&self, it: &ToolCall) -> bool {
        self.plan(&it.extra).variant(call::FUNCTION) == call::FUNCTION_LEGACY
            && it.id.is_empty()
            && it.kind == CallKind::Function
            && it.signature.is_none()
    }

    pub(super) fn legacy_call(&mut self, at: usize, it: &ToolCall, out: &mut Vec<u8>) {
        self.objects.losses.foreign(&it.extra, Some(&OPENAI), Some(at));
        let (raw, plan) = self.objects.inner(at, &it.extra, "function");
        for (name, _) in it.extra.iter(&OPENAI).filter(|it| it.0 != "function") {
            self.objects.losses.raw(Some(at), name);
        }
        let lost = function(it, &function::SHAPE, plan, &raw, out);
        self.objects.losses.taken(Some(at), lost);
    }

    pub(super) fn call(&mut self, at: usize, it: &ToolCall, out: &mut Vec<u8>) {
        self.objects.losses.foreign(&it.extra, Some(&OPENAI), Some(at));
        if let CallKind::Other(_) = it.kind {
            self.objects.losses.member(Some(at), "kind");
        }
        let is_custom = it.kind == CallKind::Custom;
        let in_custom = is_custom && !self.came_as_function(it);
        let body = if in_custom { call::CUSTOM } else { call::FUNCTION };
        let shape = if in_custom { &function::CUSTOM } else { &function::SHAPE };
        let name = call::SHAPE.name(body);
        let (inner_raw, inner_plan) = self.objects.inner(at, &it.extra, name);
        let plan = self.call_plan(it, body);
        let signature = self.extra_content(it);
        let skip: &[&str] = if signature.is_some() { &[name, "extra_content"] } else { &[name] };
        let raw = RawMember::all_of(&it.extra, &OPENAI, skip);
        // The `custom` of a source tells the kind without a type.
        let is_untyped = it.kind == CallKind::Unspecified || (is_custom && plan.has(call::CUSTOM));
        let has_own_type = it.kind == CallKind::Unspecified
            && self.options.keeps_layout()
            && raw.iter().any(|it| it.name == "type");
        let has_body = !is_empty(it) || !inner_raw.is_empty();
        let want = mask(plan.may_have(call::ID) || !it.id.is_empty(), call::ID)
            | mask((plan.may_have(call::TYPE) || !is_untyped) && !has_own_type, call::TYPE)
            | mask(plan.may_have(body) || has_body, body)
            | mask(signature.is_some(), call::EXTRA_CONTENT);
        let mut inner_lost = 0;
        let lost = call::SHAPE.write(out, plan, want, &raw, |out, code| match code {
            call::ID => plan.write_id(out, call::ID, &it.id),
            call::TYPE if plan.variant(call::TYPE) == call::TYPE_NULL && is_untyped => {
                out.extend_from_slice(b"null");
            }
            call::TYPE => msg_json::write_str(out, if is_custom { "custom" } else { "function" }),
            call::EXTRA_CONTENT => {
                out.extend_from_slice(signature.as_deref().unwrap_or("{}").as_bytes());
            }
            _ if plan.variant(body) == call::FUNCTION_NULL && !has_body => {
                out.extend_from_slice(b"null");
            }
            _ => inner_lost = function(it, shape, inner_plan, &inner_raw, out),
        });
        self.objects.losses.taken(Some(at), lost + inner_lost);
    }

    /// Whether a custom call came with a `function` instead of a `custom`.
    fn came_as_function(&self, it: &ToolCall) -> bool {
        let plan = self.plan(&it.extra);
        // A `function` that is not an object was never read as one; it is among the raw members.
        let is_raw =
            it.extra.get(&OPENAI, "function").is_some_and(|it| !it.text().starts_with('{'));
        plan.has(call::FUNCTION) && !plan.has(call::CUSTOM) && !is_raw
    }

    /// The plan of a call; that of a `function_call` says nothing about a call with an id.
    fn call_plan<'b>(&self, it: &'b ToolCall, body: u8) -> SlotPlan<'b> {
        let plan = self.plan(&it.extra);
        let is_legacy = plan.variant(body) == call::FUNCTION_LEGACY;
        if is_legacy { SlotPlan::default() } else { plan }
    }

    /// The `extra_content` of a signed call: as it came, or with the signature put into it.
    fn extra_content(&self, it: &ToolCall) -> Option<String> {
        let signature = it.signature.as_deref()?;
        let rest = it.extra.get(&OPENAI, "extra_content");
        let source = self.objects.source(&it.extra, 2).filter(|source| {
            shape::split(source)
                .is_some_and(|it| it.signature == signature && it.rest.as_ref() == rest)
        });
        Some(source.map_or_else(|| shape::join(signature, rest), str::to_owned))
    }
}

fn is_empty(it: &ToolCall) -> bool {
    it.name.is_empty() && it.arguments.text().is_empty()
}

fn function(
    it: &ToolCall,
    shape: &Shape,
    plan: SlotPlan<'_>,
    raw: &[RawMember<'_>],
    out: &mut Vec<u8>,
) -> usize {
    let text = it.arguments.text();
    let want = mask(plan.may_have(function::NAME) || !it.name.is_empty(), function::NAME)
        | mask(plan.may_have(function::ARGUMENTS) || !text.is_empty(), function::ARGUMENTS);
    shape.write(out, plan, want, raw, |out, code| match code {
        function::NAME => plan.write_text(out, code, &it.name),
        _ => plan.write_arguments(out, code, text),
    })
}
