//! Vercel AI SDK: UI messages of versions 4 to 7, whose tool parts contain both call and result.
//!
//! ```text
//! {"id":"2","role":"assistant","parts":[{"type":"step-start"},
//!   {"type":"tool-weather","toolCallId":"c1","state":"output-available","input":{…},"output":{…}}]}
//! {"id":"2","role":"assistant","content":"","parts":[{"type":"tool-invocation",                          version 4
//!   "toolInvocation":{"state":"result","step":0,"toolCallId":"c1","toolName":"weather","args":{…},"result":{…}}}]}
//! ```

use msg_core::{File, Image, Message, Part, Report, Role, ToolCall, ToolResult};
use msg_json::{Writer, to_text};

use super::ai_sdk::{DENIED, Source, is_of_an_image};
use super::{Closing, Open, Records, Store, each};
use crate::dialects::frameworks::Seal;
use crate::dialects::frameworks::writing::{Media, role, write_seal};
use crate::edit::{Object, Value, quoted};
use crate::parts::INTERRUPTED;
use crate::view::{Draft, PartOrigin, View};
use crate::write::{
    WriteOptions, parts_but_results, results_after, spoken, text_of, write_arguments, write_given,
};
use crate::{Dialect, parts};

pub(crate) static STORE: Store = Store {
    members: &["content", "parts", "role"],
    blocks: &["parts", "toolInvocations"],
    style: |record| u8::from(is_of_v4(record)),
    ..Store::new(Dialect::VercelUi, read, close, write)
};

/// The version 4 style.
const V4: u8 = 1;

fn is_of_v4(record: &Object<'_>) -> bool {
    record.has("toolInvocations")
        || record.list("parts").iter().any(|it| it.get("toolInvocation").is_some())
}

fn read(records: &Records<'_>) -> View {
    each(records, message)
}

fn message(view: &mut View, at: usize, object: &Object<'_>) {
    let role = Role::from(&*parts::text(object, "role"));
    // Applications keep provenance under names of their own; these two are the usual ones.
    let metadata = object.inner("metadata");
    let said = |name: &str| metadata.as_ref().and_then(|it| it.text(name));
    let answer = || {
        let mut draft = Draft::new(role.clone());
        if role == Role::Assistant {
            draft.made_by(said("model").or_else(|| said("modelId")), said("provider"));
        }
        draft
    };
    let (results, item) = (Draft::new(Role::Tool), None);
    let mut step = Step { answer: answer(), results, item, number: 0 };
    let list = object.blocks("parts");
    if list.is_empty() {
        if let Some(text) = super::said(object, "content") {
            step.answer.push(Part::text(text), PartOrigin::record(at));
        }
        for (n, it) in object.list("toolInvocations").into_iter().enumerate() {
            step.invocation(it, PartOrigin::block(at, n), view, answer);
        }
    }
    for (n, value) in list {
        let origin = n.map_or(PartOrigin::record(at), |n| PartOrigin::block(at, n));
        let Some(part) = value.object() else {
            step.answer.push(parts::other(value), origin);
            continue;
        };
        let kind = part.text("type").unwrap_or_default();
        match &*kind {
            "step-start" => step.end(view, answer()),
            // Version 7: user input between two steps.
            "steering-message" => {
                step.end(view, answer());
                let mut said = Draft::new(Role::User);
                for it in part.list("parts") {
                    said.push(steered(it), origin);
                }
                view.push(said);
            }
            "tool-invocation" => {
                if let Some(it) = part.get("toolInvocation") {
                    step.invocation(it, origin, view, answer);
                }
            }
            _ => {
                // In version 4, text after calls belongs to the next step.
                if kind == "text" && step.number > 0 && !step.results.message.parts.is_empty() {
                    step.end(view, answer());
                }
                step.part(&kind, &part, value, origin);
            }
        }
    }
    for it in object.list("experimental_attachments") {
        let part = it.object().and_then(|it| file(&it)).unwrap_or_else(|| parts::other(it));
        step.answer.push(part, PartOrigin::record(at));
    }
    step.end(view, answer());
}

/// A step of an answer: the text and calls, then the tool results.
struct Step {
    answer: Draft,
    results: Draft,
    /// The item of the last part if that is reasoning; each summary of the item is a part here.
    item: Option<String>,
    /// The number of the step in version 4, from 1; 0 in later versions.
    number: u64,
}

/// The dialect's name, for parts that only it has.
const NAME: &str = "vercel-ui";

impl Step {
    fn end(&mut self, view: &mut View, next: Draft) {
        self.item = None;
        view.push(std::mem::replace(&mut self.answer, next));
        view.push(std::mem::replace(&mut self.results, Draft::new(Role::Tool)));
    }

    fn part(&mut self, kind: &str, part: &Object<'_>, value: Value<'_>, origin: PartOrigin) {
        let name = match kind {
            "dynamic-tool" => Some(parts::text(part, "toolName")),
            _ => kind.strip_prefix("tool-").map(str::to_owned),
        };
        let item = self.item.take();
        if let Some(name) = name {
            // A call with incomplete input is not sent, and a provider-executed call is not a tool call.
            let is_begun = part.text("state").is_some_and(|it| it == "input-streaming");
            if is_begun || part.is_true("providerExecuted") {
                return self.answer.push(parts::own(value, NAME), origin);
            }
            return self.tool(&name, part, origin);
        }
        let seal = || Seal::by_provider(part.inner("providerMetadata"));
        let part = match kind {
            "text" => seal().text(parts::text(part, "text")),
            "reasoning" if part.has("details") || part.has("reasoning") => {
                return self.details(part, origin);
            }
            "reasoning" => return self.thought(item, parts::text(part, "text"), seal(), origin),
            "source" => parts::own(value, NAME),
            "file" => file(part).unwrap_or_else(|| parts::other(value)),
            kind if kind.starts_with("source-") || kind.starts_with("data-") => {
                parts::own(value, NAME)
            }
            // Reasoning files and provider-specific parts.
            "reasoning-file" | "custom" => parts::own(value, NAME),
            _ => parts::other(value),
        };
        self.answer.push(part, origin);
    }

    /// Adds reasoning; joins it with the previous reasoning if both belong to one item.
    fn thought(&mut self, before: Option<String>, text: String, seal: Seal, origin: PartOrigin) {
        self.item.clone_from(&seal.item);
        if seal.item.is_some()
            && before == seal.item
            && let Some(Part::Reasoning(last)) = self.answer.message.parts.last_mut()
        {
            last.summary.get_or_insert_default().extend(Some(text).filter(|it| !it.is_empty()));
            last.encrypted = last.encrypted.take().or(seal.encrypted);
            return;
        }
        self.answer.push(seal.thought(Some(text)), origin);
    }

    /// Reasoning of version 4: the visible text, or what the provider signed.
    fn details(&mut self, part: &Object<'_>, origin: PartOrigin) {
        let details = part.list("details");
        if details.is_empty() {
            let text = super::said(part, "reasoning");
            return self.answer.push(Seal::default().thought(text), origin);
        }
        for it in details.iter().filter_map(|it| it.object()) {
            let said = |name: &str| super::said(&it, name);
            let (signature, redacted) = (said("signature"), said("data"));
            let seal = Seal { signature, redacted, ..Seal::default() };
            self.answer.push(seal.thought(said("text")), origin);
        }
    }

    /// Adds a version 4 call with its result to the step that it names.
    fn invocation(
        &mut self,
        value: Value<'_>,
        origin: PartOrigin,
        view: &mut View,
        next: impl Fn() -> Draft,
    ) {
        let Some(it) = value.object() else { return };
        let number = it.get("step").and_then(|it| it.number()).unwrap_or(0).saturating_add(1);
        if self.number > 0 && self.number != number {
            self.end(view, next());
        }
        self.number = number;
        let state = it.text("state").unwrap_or_default();
        if state == "partial-call" {
            return self.answer.push(parts::own(value, NAME), origin);
        }
        let (id, name) = (parts::text(&it, "toolCallId"), parts::text(&it, "toolName"));
        let arguments = it.get("args").map(|it| it.plain()).unwrap_or_default();
        self.answer.push(Part::ToolCall(ToolCall::new(id.clone(), &*name, arguments)), origin);
        if let Some(result) = it.get("result") {
            let result = ToolResult { name: Some(name), ..ToolResult::new(id, result.plain()) };
            self.results.push(Part::ToolResult(result), origin);
        }
    }

    fn tool(&mut self, name: &str, part: &Object<'_>, origin: PartOrigin) {
        let input = part.get("input").or_else(|| part.get("rawInput"));
        let id = parts::text(part, "toolCallId");
        let call = ToolCall::new(id.clone(), name, input.map(|it| it.plain()).unwrap_or_default());
        let seal = Seal::by_provider(part.inner("callProviderMetadata"));
        let signature = seal.gemini().map(Into::into);
        self.answer.push(Part::ToolCall(ToolCall { signature, ..call }), origin);
        let approval = part.inner("approval");
        let is_denied = approval.as_ref().and_then(|it| it.get("approved"));
        let is_denied = is_denied.is_some_and(|it| it.source == "false");
        let denied = || {
            let reason = approval.as_ref().and_then(|it| super::said(it, "reason"));
            Some(reason.unwrap_or_else(|| DENIED.to_owned()))
        };
        let (content, is_error) = match part.text("state").as_deref() {
            Some("output-available") => (part.get("output").map(|it| it.plain()), false),
            Some("output-error") => (part.get("errorText").map(|it| it.plain()), true),
            Some("output-denied") => (denied(), true),
            Some("approval-responded") if is_denied => (denied(), true),
            _ => match part.get("output").filter(|it| !it.is_null()) {
                Some(output) => (Some(output.plain()), false),
                None => return,
            },
        };
        let result = ToolResult {
            name: Some(name.to_owned()),
            is_error,
            ..ToolResult::new(id, content.unwrap_or_default())
        };
        self.results.push(Part::ToolResult(result), origin);
    }
}

/// A part of user input between two steps: a text or a file.
fn steered(value: Value<'_>) -> Part {
    let part = value.object();
    let read = part.as_ref().and_then(|part| match &*part.text("type")? {
        "text" => Some(Part::text(parts::text(part, "text"))),
        "file" => file(part),
        _ => None,
    });
    read.unwrap_or_else(|| parts::other(value))
}

fn file(part: &Object<'_>) -> Option<Part> {
    let names = ["mediaType", "mimeType", "contentType"];
    let media_type: Option<String> = names.iter().find_map(|it| part.text(it)).map(Into::into);
    let is_image = media_type.as_deref().is_some_and(is_of_an_image);
    if let Some(it) = part.get("providerReference").and_then(|it| Source::reference(&it)) {
        return Some(it.part(is_image, media_type, super::said(part, "filename")));
    }
    let data = || {
        let data = part.text("data")?;
        Some(parts::data_url(media_type.as_deref(), &data).into())
    };
    let url = part.text("url").or_else(data)?;
    let media_type = media_type.filter(|it| it.contains('/'));
    if is_image {
        return Some(Part::Image(Image { media_type, ..Image::from_url(url) }));
    }
    let filename = part.text("filename").or_else(|| part.text("name")).map(Into::into);
    let (data, url) = match url.starts_with("data:") {
        true => (Some(url.into_owned()), None),
        false => (None, Some(url.into_owned())),
    };
    Some(Part::File(File { url, data, filename, media_type, ..File::default() }))
}

fn close(open: &Open<'_>) -> Closing {
    let text = quoted(INTERRUPTED);
    let invocation = vec![("state", quoted("result")), ("result", text.clone())];
    let of_later = vec![("state", quoted("output-error")), ("errorText", text)];
    let Some(block) = open.block else { return Closing::Members(of_later) };
    match (block.get("toolInvocation").is_some(), block.get("type").is_some()) {
        (true, _) => Closing::MembersOf("toolInvocation", invocation),
        // In version 4, a call beside the text is not a part.
        (false, false) => Closing::Members(invocation),
        (false, true) => Closing::Members(of_later),
    }
}

fn write(messages: &[Message], options: &WriteOptions, _: &mut Report) -> Vec<u8> {
    let text = to_text(|it| {
        it.array(spoken(messages), |it, at| {
            it.object(|it| said_by(it, messages, at, options.style == V4));
        });
    });
    text.into_bytes()
}

fn said_by(it: &mut Writer<'_>, messages: &[Message], at: usize, is_v4: bool) {
    let message = &messages[at];
    it.key("id").str(&format!("msg-{at}"));
    it.key("role").str(role(message));
    if is_v4 {
        it.key("content").str(&text_of(message));
    }
    let results: Vec<_> = results_after(messages, at).collect();
    it.key("parts").array(parts_but_results(message), |it, part| {
        it.object(|it| match part {
            Part::ToolCall(call) if is_v4 => {
                it.key("type").str("tool-invocation");
                it.key("toolInvocation").object(|it| invocation(it, call, &results));
            }
            Part::ToolCall(call) => tool(it, (call, part), &results),
            Part::Reasoning(thought) => {
                it.key("type").str("reasoning");
                it.key(if is_v4 { "reasoning" } else { "text" }).str(&thought.display_text());
                if !is_v4 {
                    write_seal(it, "providerMetadata", part);
                }
            }
            part => write_part(it, part, is_v4),
        });
    });
}

fn write_part(it: &mut Writer<'_>, part: &Part, is_v4: bool) {
    let Some(media) = Media::of(part) else {
        it.key("type").str("text");
        it.key("text").str(part.as_text().unwrap_or_default());
        if !is_v4 {
            write_seal(it, "providerMetadata", part);
        }
        return;
    };
    it.key("type").str("file");
    it.key(if is_v4 { "mimeType" } else { "mediaType" }).str(media.media_type);
    match is_v4 {
        true => it.key("data").str(media.source()),
        false => it.key("url").str(&media.as_url()),
    }
    if let Some(name) = media.filename {
        it.key("filename").str(name);
    }
}

fn tool(it: &mut Writer<'_>, (call, part): (&ToolCall, &Part), results: &[&ToolResult]) {
    it.key("type").str(&format!("tool-{}", call.name));
    it.key("toolCallId").str(&call.id);
    let result = results.iter().find(|it| it.call_id == call.id);
    let state = match result {
        None => "input-available",
        Some(it) if it.is_error => "output-error",
        Some(_) => "output-available",
    };
    it.key("state").str(state);
    write_arguments(it.key("input"), call);
    if let Some(result) = result {
        let member = if result.is_error { "errorText" } else { "output" };
        write_given(it.key(member), result);
    }
    write_seal(it, "callProviderMetadata", part);
}

fn invocation(it: &mut Writer<'_>, call: &ToolCall, results: &[&ToolResult]) {
    let result = results.iter().find(|it| it.call_id == call.id);
    it.key("state").str(if result.is_some() { "result" } else { "call" });
    it.key("toolCallId").str(&call.id);
    it.key("toolName").str(&call.name);
    write_arguments(it.key("args"), call);
    if let Some(result) = result {
        write_given(it.key("result"), result);
    }
}
