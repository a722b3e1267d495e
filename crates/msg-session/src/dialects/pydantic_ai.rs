//! Pydantic AI: requests and responses, each with parts.
//!
//! ```text
//! {"kind":"request","parts":[{"part_kind":"user-prompt","content":"hi"}],"instructions":null}
//! {"kind":"response","parts":[{"part_kind":"tool-call","tool_name":"f","args":"{}","tool_call_id":"c1"}]}
//! ```

use msg_core::{Content, File, Image, Maker, Part, Role, ToolCall, ToolResult, Usage};

use super::{Checked, Format, document};
use crate::Error;
use crate::blob::Blob;
use crate::json::{Object, Value};
use crate::options::RepairOptions;
use crate::parts::{
    self,
    seals::{Seal, said},
};
use crate::view::{Draft, Origin, View};

/// The dialect.
pub(crate) struct PydanticAi;

impl Format for PydanticAi {
    fn view(&self, blobs: &[Blob], options: &RepairOptions) -> Result<View, Error> {
        super::leaf_is_not_chosen(options)?;
        let array = document::list(super::only(blobs), &["messages"]);
        let mut view = View { findings: array.findings.clone(), ..View::default() };
        let objects: Vec<_> = array.values().filter_map(|it| it.object()).collect();
        instructions(&mut view, &objects);
        for (at, message) in objects.iter().enumerate() {
            match message.text("kind").as_deref() {
                Some("response") => response(&mut view, at, message),
                _ => request(&mut view, at, message),
            }
        }
        Ok(view)
    }

    fn check(&self, blobs: &[Blob], _: &RepairOptions) -> Result<Checked, Error> {
        Ok(document::check_list(super::only(blobs), &["messages"]))
    }
}

/// The instructions of the last request are the system text.
fn instructions(view: &mut View, messages: &[Object<'_>]) {
    let last = messages
        .iter()
        .enumerate()
        .rev()
        .find(|it| it.1.text("kind").is_some_and(|it| it == "request"));
    let Some((at, text)) = last.and_then(|(at, it)| Some((at, it.text("instructions")?))) else {
        return;
    };
    let mut draft = Draft::new(Role::System);
    draft.push(Part::text(text), Origin::record(at));
    view.push(draft);
}

fn parts_of<'a>(message: &Object<'a>) -> Vec<Object<'a>> {
    let list = message.list("parts");
    list.into_iter().filter_map(|it| it.object()).collect()
}

fn request(view: &mut View, at: usize, message: &Object<'_>) {
    // Neighbours of one role are one message.
    let mut draft = Draft::new(Role::Tool);
    for (n, part) in parts_of(message).iter().enumerate() {
        let (role, said) = match result(part) {
            Some(result) => (Role::Tool, vec![Part::ToolResult(result)]),
            None if part.text("part_kind").is_some_and(|it| it == "system-prompt") => {
                (Role::System, prompt(part))
            }
            None => (Role::User, prompt(part)),
        };
        if role != draft.message.role {
            view.push(std::mem::replace(&mut draft, Draft::new(role)));
        }
        said.into_iter().for_each(|it| draft.push(it, Origin::block(at, n)));
    }
    view.push(draft);
}

/// What a tool gave back; a retry that names no tool is a word of the user.
fn result(part: &Object<'_>) -> Option<ToolResult> {
    let is_error = match &*part.text("part_kind")? {
        "tool-return" | "builtin-tool-return" => {
            part.text("outcome").is_some_and(|it| it != "success")
        }
        "retry-prompt" | "retry-feedback" if part.text("tool_name").is_some() => true,
        _ => return None,
    };
    let content = part.get("content").map(|it| it.plain()).unwrap_or_default();
    Some(ToolResult {
        name: part.text("tool_name").map(Into::into),
        is_error,
        ..ToolResult::new(parts::text(part, "tool_call_id"), Content::from(content))
    })
}

fn prompt(part: &Object<'_>) -> Vec<Part> {
    let Some(content) = part.get("content") else { return Vec::new() };
    match content.array() {
        Some(list) if part.text("part_kind").is_some_and(|it| it == "user-prompt") => {
            list.into_iter().filter_map(item).collect()
        }
        _ => vec![Part::text(content.plain())],
    }
}

/// An item of a user's prompt: text, or media.
fn item(value: Value<'_>) -> Option<Part> {
    if let Some(text) = value.text() {
        return Some(Part::text(text));
    }
    let object = value.object()?;
    let media_type: Option<String> = object.text("media_type").map(Into::into);
    let is_image = media_type.as_deref().is_some_and(|it| it.starts_with("image/"));
    Some(match &*object.text("kind").unwrap_or_default() {
        "image-url" => Part::Image(Image { media_type, ..Image::from_url(object.text("url")?) }),
        "binary" if is_image => {
            let url = parts::data_url(media_type.as_deref(), &object.text("data")?);
            Part::Image(Image { media_type, ..Image::from_url(url) })
        }
        "binary" => {
            let data = Some(object.text("data")?.into_owned());
            Part::File(File { data, media_type, ..File::default() })
        }
        kind if kind.ends_with("-url") => {
            let url = Some(object.text("url")?.into_owned());
            Part::File(File { url, media_type, ..File::default() })
        }
        _ => parts::other(value),
    })
}

fn response(view: &mut View, at: usize, message: &Object<'_>) {
    let mut draft = Draft::new(Role::Assistant);
    let list = message.list("parts");
    for (n, value) in list.into_iter().enumerate() {
        if let Some(part) = value.object().and_then(|it| answer(&it, value, message)) {
            draft.push(part, Origin::block(at, n));
        }
    }
    draft.made_by(message.text("model_name"), message.text("provider_name"));
    view.push(draft);
    if let Some(usage) = message.get("usage") {
        let usage = Usage::from_raw(usage.raw_json());
        view.usage = super::add_usage(std::mem::take(&mut view.usage), usage);
    }
}

fn answer(part: &Object<'_>, value: Value<'_>, message: &Object<'_>) -> Option<Part> {
    let details = part.inner("provider_details");
    let signature = details.and_then(|it| said(&it, "thought_signature"));
    let provider = said(part, "provider_name").or_else(|| said(message, "provider_name"));
    let maker = provider.as_deref().and_then(Maker::of);
    // The seal of a provider that is not known stays in the source: another one must not get it.
    let is_known = provider.is_none() || maker.is_some();
    let signature = signature.filter(|_| is_known);
    Some(match &*part.text("part_kind")? {
        "text" => {
            let text = part.text("content").filter(|it| !it.is_empty())?.into_owned();
            Seal { maker, signature, ..Seal::default() }.text(text)
        }
        "thinking" => {
            let sealed = said(part, "signature").or(signature).filter(|_| is_known);
            thought(part, maker, sealed)
        }
        "tool-call" => {
            let arguments = part.get("args").filter(|it| !it.is_null()).map(|it| it.plain());
            let (id, name) = (parts::text(part, "tool_call_id"), parts::text(part, "tool_name"));
            let call = ToolCall::new(id, name, arguments.unwrap_or_default());
            // Gemini alone signs calls.
            let is_signed = matches!(maker, None | Some(Maker::Gemini));
            Part::ToolCall(ToolCall { signature: signature.filter(|_| is_signed), ..call })
        }
        kind if kind.starts_with("builtin-tool-") => parts::own(value, "pydantic-ai"),
        _ => parts::other(value),
    })
}

/// A thought: its `signature` is what the provider sealed, whatever that calls it.
fn thought(part: &Object<'_>, maker: Option<Maker>, sealed: Option<String>) -> Part {
    let id = said(part, "id");
    let seal = match maker {
        Some(Maker::OpenAi) => {
            let item = id.filter(|it| it.starts_with("rs_"));
            Seal { encrypted: sealed, item, ..Seal::default() }
        }
        _ if id.as_deref() == Some("redacted_thinking") => {
            Seal { redacted: sealed, ..Seal::default() }
        }
        _ => Seal { signature: sealed, ..Seal::default() },
    };
    Seal { maker, ..seal }.thought(part.text("content").map(Into::into))
}
