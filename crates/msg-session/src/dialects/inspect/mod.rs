//! Inspect: evaluation logs, as one document or as an archive (`.eval`).
//!
//! ```text
//! {"eval":{…},"samples":[{"id":1,"epoch":1,"messages":[{"role":"assistant","tool_calls":[{"id":"c","function":"bash","arguments":{}}]}],
//!                         "attachments":{"HASH":"…"}}]}      a text `attachment://HASH` represents that
//! ```

mod zip;

use msg_core::{Content, Image, Part, Reasoning, Role, ToolCall, ToolResult};

use super::{Checked, Format, document};
use crate::blob::Blob;
use crate::json::{Object, Value};
use crate::options::RepairOptions;
use crate::parts;
use crate::view::{Draft, Origin, View};
use crate::{Dialect, Error};

pub(crate) use zip::{is_archive, unpacked_size};

/// The dialect.
pub(crate) struct Inspect;

impl Format for Inspect {
    fn view(&self, blobs: &[Blob], options: &RepairOptions) -> Result<View, Error> {
        let bytes = super::only(blobs);
        if bytes.starts_with(zip::MAGIC) {
            let samples = zip::samples(bytes).map_err(|reason| unreadable(&reason))?;
            let at = document::number(options, samples.len())?;
            return Ok(samples.get(at).map(|it| sample(it)).unwrap_or_default());
        }
        let (text, findings) = document::text(bytes);
        let log = document::object(&text, Dialect::Inspect)?;
        let samples = log.list("samples");
        let at = document::number(options, samples.len())?;
        let view = samples.get(at).map(|it| sample(it.source)).unwrap_or_default();
        Ok(View { findings, ..view })
    }

    fn check(&self, blobs: &[Blob], _: &RepairOptions) -> Result<Checked, Error> {
        let bytes = super::only(blobs);
        if bytes.starts_with(zip::MAGIC) {
            zip::samples(bytes).map_err(|reason| unreadable(&reason))?;
            return Ok(Checked::default());
        }
        Ok(document::check_text(bytes))
    }
}

fn unreadable(reason: &str) -> Error {
    Error::Unreadable { dialect: Dialect::Inspect, offset: 0, reason: reason.to_owned() }
}

/// The messages of a sample.
fn sample(source: &str) -> View {
    let mut view = View::default();
    let Some(sample) = (Value { source, at: 0 }).object() else { return view };
    let attachments = sample.inner("attachments");
    let reader = Reader { attachments: attachments.as_ref() };
    let messages = sample.list("messages");
    for (at, message) in messages.into_iter().filter_map(|it| it.object()).enumerate() {
        view.push(reader.message(at, &message));
    }
    view
}

struct Reader<'r, 'a> {
    attachments: Option<&'r Object<'a>>,
}

impl Reader<'_, '_> {
    /// A text, or the attachment that it represents.
    fn text(&self, text: &str) -> String {
        let attached = text.strip_prefix("attachment://");
        let found = attached.and_then(|it| self.attachments?.text(it));
        found.map_or_else(|| text.to_owned(), Into::into)
    }

    fn message(&self, at: usize, message: &Object<'_>) -> Draft {
        let role = Role::from(&*message.text("role").unwrap_or_default());
        let mut draft = Draft::new(role.clone());
        let parts = self.content(message.get("content"));
        if role == Role::Tool {
            let result = self.result(message, Content::from(parts));
            draft.push(Part::ToolResult(result), Origin::record(at));
            return draft;
        }
        parts.into_iter().for_each(|it| draft.push(it, Origin::record(at)));
        let calls = message.list("tool_calls");
        for (n, call) in calls.iter().filter_map(|it| it.object()).enumerate() {
            let arguments = call.get("arguments").map_or("", |it| it.source);
            let (id, name) = (parts::text(&call, "id"), parts::text(&call, "function"));
            let call = ToolCall::new(id, name, arguments);
            draft.push(Part::ToolCall(call), Origin::block(at, n));
        }
        draft.made_by(message.text("model").filter(|_| role == Role::Assistant), None);
        draft
    }

    fn result(&self, message: &Object<'_>, content: Content) -> ToolResult {
        let error = message.get("error").filter(|it| !it.is_null());
        let text = error.and_then(|it| it.object()).map(|it| parts::text(&it, "message"));
        let content = match text {
            Some(text) if content.text().is_empty() => Content::from(text),
            _ => content,
        };
        ToolResult {
            name: message.text("function").map(Into::into),
            is_error: error.is_some(),
            ..ToolResult::new(parts::text(message, "tool_call_id"), content)
        }
    }

    fn content(&self, content: Option<Value<'_>>) -> Vec<Part> {
        let Some(content) = content else { return Vec::new() };
        match content.text() {
            Some(text) if text.is_empty() => Vec::new(),
            Some(text) => vec![Part::text(self.text(&text))],
            None => content.array().into_iter().flatten().map(|it| self.part(it)).collect(),
        }
    }

    fn part(&self, value: Value<'_>) -> Part {
        let Some(object) = value.object() else { return parts::other(value) };
        match &*object.text("type").unwrap_or_default() {
            "text" => Part::text(self.text(&object.text("text").unwrap_or_default())),
            "reasoning" if object.is_true("redacted") => Part::Reasoning(Reasoning {
                redacted: object.text("reasoning").map(Into::into),
                ..Reasoning::default()
            }),
            "reasoning" => Part::Reasoning(Reasoning {
                text: object.text("reasoning").map(|it| self.text(&it)),
                signature: object.text("signature").map(Into::into),
                ..Reasoning::default()
            }),
            "image" => {
                let url = self.text(&object.text("image").unwrap_or_default());
                let detail = object.text("detail").map(Into::into);
                Part::Image(Image { detail, ..Image::from_url(url) })
            }
            _ => parts::other(value),
        }
    }
}
