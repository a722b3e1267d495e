//! Calls and their results (GE-6, GE-8, GE-13).

use std::borrow::Cow;

use msg_core::{CallKind, Origin, Part, RawJson, ToolCall, ToolResult, json};
use msg_wire::codec::{Plan, bit, mask};

use super::{Writer, content::DATA};
use crate::{
    Ids,
    read::text_in,
    shape::{GEMINI, call, part, response},
};

const CALL: &str = "functionCall";
const RESPONSE: &str = "functionResponse";

impl<'a> Writer<'a> {
    pub(super) fn call(&mut self, at: usize, it: &'a ToolCall, out: &mut Vec<u8>) {
        self.names.insert(&it.id, &it.name);
        self.kind_losses(at, &it.kind);
        let plan = self.inner_plan(&it.extra);
        let inner = self.inner_members(&it.extra, at, CALL);
        let has_args = plan.may_have(call::ARGS) || !it.arguments.text().trim_ascii().is_empty();
        let args = self.args(at, it, plan.variant(call::ARGS));
        let has_raw = |name| inner.iter().any(|it| it.name == name);
        let has_id = self.has_id(&it.id, plan, call::ID) && !has_raw("id");
        let want = mask(has_id, call::ID) | bit(call::NAME) | mask(has_args, call::ARGS);
        let mut object = Vec::new();
        let lost = call::SHAPE.write(&mut object, plan, want, &inner, |out, code| match code {
            call::ID => json::write_str(out, &it.id),
            call::NAME => json::write_str(out, &it.name),
            _ => out.extend_from_slice(&args),
        });
        self.losses.taken(Some(at), lost);
        let raw = self.members(&it.extra, at, CALL);
        let want = DATA | mask(it.signature.is_some(), part::SIGNATURE);
        let signature = it.signature.as_deref().unwrap_or_default();
        self.object(at, (&it.extra, &raw), (&part::CALL, want), out, |out, code| match code {
            part::DATA => out.extend_from_slice(&object),
            _ => json::write_str(out, signature),
        });
    }

    /// Whether an id goes out; an empty one only where the source had it.
    fn has_id(&self, id: &str, plan: Plan<'_>, code: u8) -> bool {
        self.options.ids == Ids::Keep && (!id.is_empty() || plan.has(code))
    }

    fn kind_losses(&mut self, at: usize, kind: &CallKind) {
        if !matches!(kind, CallKind::Function | CallKind::Unspecified) {
            self.losses.member(Some(at), "kind");
        }
    }

    /// The `args` of a call: its arguments if they are an object, or what stands for them (GE-13); in the
    /// spelling of the source where that still fits.
    fn args(&mut self, at: usize, it: &ToolCall, variant: u8) -> Vec<u8> {
        let text = it.arguments.text();
        let mut out = Vec::new();
        // Not `Arguments::state`, which calls very deep values invalid: here any object is one.
        let is_json = json::validate(text).is_ok();
        match variant {
            call::ARGS_NULL if text.is_empty() => out.extend_from_slice(b"null"),
            call::ARGS_VALUE if is_json => out.extend_from_slice(text.as_bytes()),
            _ if it.kind == CallKind::Custom => wrap("input", text, &mut out),
            _ if text.trim_ascii().is_empty() => out.extend_from_slice(b"{}"),
            _ if is_json && text.trim_ascii().starts_with('{') => {
                out.extend_from_slice(text.trim_ascii().as_bytes());
            }
            _ => {
                let note = "arguments that are no JSON object are wrapped into one";
                self.losses.warn("convert::invalid-arguments", Some(at), note);
                wrap("_raw", text, &mut out);
            }
        }
        out
    }

    pub(super) fn response(&mut self, at: usize, it: &'a ToolResult, out: &mut Vec<u8>) {
        self.kind_losses(at, &it.kind);
        let plan = self.inner_plan(&it.extra);
        let inner = self.inner_members(&it.extra, at, RESPONSE);
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
        let want = mask(has_id, response::ID)
            | mask(name.is_some(), response::NAME)
            | mask(has_output, response::RESPONSE)
            | mask(has_parts, response::PARTS);
        let mut object = Vec::new();
        let lost = response::SHAPE.write(&mut object, plan, want, &inner, |out, code| match code {
            response::ID => json::write_str(out, &it.call_id),
            response::NAME => json::write_str(out, name.as_deref().unwrap_or_default()),
            response::RESPONSE => out.extend_from_slice(&output),
            _ => json::Writer::new(out).array(&media, |out, one| {
                out.value(|out| self.part(at, one, out));
            }),
        });
        self.losses.taken(Some(at), lost);
        let raw = self.members(&it.extra, at, RESPONSE);
        self.object(at, (&it.extra, &raw), (&part::RESPONSE, DATA), out, |out, _| {
            out.extend_from_slice(&object);
        });
    }

    /// The name of the tool that gave a result: its own, else that of its call.
    fn name(&mut self, at: usize, it: &'a ToolResult) -> Cow<'a, str> {
        let of_call = || self.names.get(&*it.call_id).filter(|_| !it.call_id.is_empty());
        let name = it.name.as_deref().or_else(|| of_call().copied());
        if name.is_none() {
            let text = "the result of no call has no name, which the format demands";
            self.losses.warn("convert::orphan-result", Some(at), text);
        }
        Cow::Borrowed(name.unwrap_or("unknown_tool"))
    }

    /// The parts of a result that are said in `response`, and the media beside it; the rest is lost.
    fn sorted(&mut self, at: usize, it: &'a ToolResult) -> (Vec<&'a Part>, Vec<&'a Part>) {
        let (mut said, mut media) = (Vec::new(), Vec::new());
        for part in it.content.parts() {
            let is_ours = matches!(part, Part::Other(it) if it.format == GEMINI);
            if self.text_of(part).is_some() {
                if media.len() == 1 && said.is_empty() || !media.is_empty() {
                    let text = "text behind media of a result is moved before it";
                    self.losses.warn("convert::order-lost", Some(at), text);
                }
                said.push(part);
            } else if part.is_media() || is_ours {
                if self.fits(at, part) {
                    media.push(part);
                }
            } else {
                self.losses.part(at, part.kind());
            }
        }
        (said, media)
    }

    /// The value of `response`; the variant is the one that the source had.
    fn output(&mut self, at: usize, it: &ToolResult, said: &[&Part], variant: u8) -> Vec<u8> {
        let mut out = Vec::new();
        said.iter().for_each(|it| self.losses.foreign(it.extra(), None, Some(at)));
        match said {
            [] if variant == response::RESPONSE_NULL => out.extend_from_slice(b"null"),
            [Part::Other(json)]
                if json.format == Origin::Json && is_whole(&json.value, variant) =>
            {
                if it.is_error {
                    self.losses.member(Some(at), "is_error");
                }
                out.extend_from_slice(json.value.text().as_bytes());
            }
            all => {
                all.iter().for_each(|it| self.text_losses(at, it));
                if all.len() > 1 {
                    let text = "the texts of a result are joined by line breaks";
                    self.losses.warn("convert::merged-parts", Some(at), text);
                }
                let texts: Vec<_> = all.iter().filter_map(|it| self.text_of(it)).collect();
                wrap(if it.is_error { "error" } else { "output" }, &texts.join("\n"), &mut out);
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

/// An object of one text.
fn wrap(name: &str, text: &str, out: &mut Vec<u8>) {
    json::Writer::new(out).object(|it| it.key(name).str(text));
}
