//! ATIF trajectories (SE-154): one document, a list of steps; a step of an agent holds its calls and their results.
//!
//! ```text
//! {"schema_version":"ATIF-v1.8","agent":{…},"steps":[{"step_id":1,"source":"user","message":"two"},
//!   {"step_id":2,"source":"agent","message":"Calling.","tool_calls":[{"tool_call_id":"c1",…}],
//!    "observation":{"results":[{"source_call_id":"c1","content":"one"}]}}]}
//! ```

use std::collections::HashSet;

use msg_core::{Content, Image, Part, Reasoning, Role, ToolCall, ToolResult, Usage};

use super::{Checked, Format};
use crate::Error;
use crate::dialects::otel;
use crate::finding::Finding;
use crate::json::{Object, Value};
use crate::options::SessionOptions;
use crate::parts;
use crate::source::Blob;
use crate::view::{Draft, PartOrigin, View};

/// The dialect.
pub(crate) struct Atif;

impl Format for Atif {
    fn view(&self, blobs: &[Blob], options: &SessionOptions) -> Result<View, Error> {
        let array = otel::list(super::only(blobs), &["steps"]);
        let mut view = View { findings: array.findings.clone(), ..View::default() };
        let model = array
            .document()
            .and_then(|it| it.inner("agent")?.text("model_name").map(|it| it.into_owned()));
        let end = super::records_to_leaf(options, array.records.len())?;
        for at in 0..end {
            if let Some(step) = array.object(at) {
                push(&mut view, at, &step, model.as_deref());
            }
        }
        Ok(view)
    }

    fn check(&self, blobs: &[Blob], _: &SessionOptions) -> Result<Checked, Error> {
        let array = otel::list(super::only(blobs), &["steps"]);
        let mut findings = array.findings.clone();
        if !array.is_readable() {
            return Ok(Checked::unreadable(findings));
        }
        for (at, step) in (0..array.records.len()).filter_map(|it| Some((it, array.object(it)?))) {
            let number = step.get("step_id").and_then(|it| it.number());
            let mut bad = |message: String| {
                findings.push(Finding::error("session::bad-shape", array.place(at), message));
            };
            if number != Some(at as u64 + 1) {
                bad(format!("the number of the step is not {}", at + 1));
            }
            let calls = calls(&step);
            for id in results(&step).iter().filter_map(|it| it.text("source_call_id")) {
                if !calls.contains(&*id) {
                    bad("a result names a call that is not of its step".to_owned());
                }
            }
        }
        let count = array.records.len();
        Ok(Checked::of_text(&array.text, count, count, findings, Vec::new()))
    }
}

/// The ids of the calls of a step.
fn calls(step: &Object<'_>) -> HashSet<String> {
    let calls = step.list("tool_calls").into_iter();
    calls.filter_map(|it| Some(it.object()?.text("tool_call_id")?.into_owned())).collect()
}

fn results<'a>(step: &Object<'a>) -> Vec<Object<'a>> {
    let results = step.inner("observation").map(|it| it.list("results")).unwrap_or_default();
    results.into_iter().filter_map(|it| it.object()).collect()
}

fn push(view: &mut View, at: usize, step: &Object<'_>, model: Option<&str>) {
    let here = PartOrigin::record(at);
    let mut draft = Draft::new(match step.text("source").as_deref() {
        Some("system") => Role::System,
        Some("agent") => Role::Assistant,
        _ => Role::User,
    });
    if draft.message.role == Role::Assistant {
        let own = step.text("model_name");
        draft.made_by(own.or_else(|| model.map(Into::into)), None);
        thoughts(step).into_iter().for_each(|it| draft.push(Part::Reasoning(it), here));
    }
    content(step.get("message")).into_iter().for_each(|it| draft.push(it, here));
    for (n, call) in step.list("tool_calls").into_iter().enumerate() {
        let Some(call) = call.object() else { continue };
        let arguments = call.get("arguments").map(|it| it.plain()).unwrap_or_default();
        let (id, name) = (parts::text(&call, "tool_call_id"), parts::text(&call, "function_name"));
        draft.push(Part::ToolCall(ToolCall::new(id, name, arguments)), PartOrigin::block(at, n));
    }
    view.push(draft);
    let calls = calls(step);
    let (mut answers, mut words) = (Draft::new(Role::Tool), Draft::new(Role::User));
    for (n, result) in results(step).iter().enumerate() {
        let said = content(result.get("content"));
        let origin = PartOrigin::block(at, n);
        match result.text("source_call_id").filter(|it| calls.contains(&**it)) {
            Some(id) => {
                let is_error = result.inner("extra").is_some_and(|it| it.is_true("is_error"));
                let result = ToolResult::new(id, Content::from(said));
                answers.push(Part::ToolResult(ToolResult { is_error, ..result }), origin);
            }
            None => said.into_iter().for_each(|it| words.push(it, origin)),
        }
    }
    view.push(answers);
    view.push(words);
    if let Some(usage) = usage(step) {
        view.usage = super::add_usage(std::mem::take(&mut view.usage), usage);
    }
}

/// The thoughts of a step: one text, or those that the writer of `msg` keeps with what their provider signed.
fn thoughts(step: &Object<'_>) -> Vec<Reasoning> {
    let kept = step.inner("extra").map(|it| it.list("reasoning")).unwrap_or_default();
    let kept: Vec<_> = kept.into_iter().filter_map(|it| it.object()).collect();
    if kept.is_empty() {
        let text = step.text("reasoning_content").filter(|it| !it.is_empty());
        return text.map(Reasoning::new).into_iter().collect();
    }
    let one = |it: &Object<'_>| {
        let text = |name: &str| it.text(name).map(Into::into);
        Reasoning {
            text: text("text"),
            signature: text("signature"),
            redacted: text("redacted"),
            ..Reasoning::default()
        }
    };
    kept.iter().map(one).collect()
}

/// The parts of a content: a text, or a list of texts and images.
fn content(content: Option<Value<'_>>) -> Vec<Part> {
    let Some(content) = content else { return Vec::new() };
    if let Some(text) = content.text() {
        return if text.is_empty() { Vec::new() } else { vec![Part::text(text)] };
    }
    let part = |it: Value<'_>| {
        let Some(object) = it.object() else { return parts::other(it) };
        match &*parts::text(&object, "type") {
            "text" => Part::text(parts::text(&object, "text")),
            "image" => {
                let source = object.inner("source");
                let path = source.as_ref().map(|it| parts::text(it, "path"));
                let media_type = source.and_then(|it| it.text("media_type").map(Into::into));
                Part::Image(Image { media_type, ..Image::from_url(path.unwrap_or_default()) })
            }
            _ => parts::other(it),
        }
    };
    match content.array() {
        Some(list) => list.into_iter().map(part).collect(),
        None if content.is_null() => Vec::new(),
        None => vec![part(content)],
    }
}

fn usage(step: &Object<'_>) -> Option<Usage> {
    let tokens = step.inner("metrics")?;
    let number = |name: &str| tokens.get(name).and_then(|it| it.number());
    Some(Usage {
        input: number("prompt_tokens"),
        output: number("completion_tokens"),
        cached: number("cached_tokens"),
        ..Usage::default()
    })
}
