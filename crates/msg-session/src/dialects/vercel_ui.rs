//! Vercel AI SDK: UI messages, whose tool parts are call and result in one.
//!
//! ```text
//! {"id":"2","role":"assistant","parts":[{"type":"step-start"},
//!   {"type":"tool-weather","toolCallId":"c1","state":"output-available","input":{…},"output":{…}}]}
//! ```

use msg_core::{File, Image, Part, Role, ToolCall, ToolResult};

use super::{Checked, Format, document};
use crate::Error;
use crate::blob::Blob;
use crate::json::{Object, Value};
use crate::options::RepairOptions;
use crate::parts::{self, seals::Seal};
use crate::view::{Draft, Origin, View};

/// The dialect.
pub(crate) struct VercelUi;

impl Format for VercelUi {
    fn view(&self, blobs: &[Blob], options: &RepairOptions) -> Result<View, Error> {
        super::leaf_is_not_chosen(options)?;
        let array = document::list(super::only(blobs), &["messages"]);
        let mut view = View { findings: array.findings.clone(), ..View::default() };
        for (at, value) in array.values().enumerate() {
            if let Some(object) = value.object() {
                message(&mut view, at, &object);
            }
        }
        Ok(view)
    }

    fn check(&self, blobs: &[Blob], _: &RepairOptions) -> Result<Checked, Error> {
        Ok(document::check_list(super::only(blobs), &["messages"]))
    }
}

fn message(view: &mut View, at: usize, object: &Object<'_>) {
    let role = Role::from(&*object.text("role").unwrap_or_default());
    // What an application keeps of an answer is its own; these two names are the usual ones.
    let metadata = object.inner("metadata");
    let said = |name: &str| metadata.as_ref().and_then(|it| it.text(name));
    let answer = || {
        let mut draft = Draft::new(role.clone());
        if role == Role::Assistant {
            draft.made_by(said("model").or_else(|| said("modelId")), said("provider"));
        }
        draft
    };
    let mut step = Step { answer: answer(), results: Draft::new(Role::Tool), item: None };
    let list = object.list("parts");
    if list.is_empty()
        && let Some(text) = object.text("content").filter(|it| !it.is_empty())
    {
        step.answer.push(Part::text(text), Origin::record(at));
    }
    for (n, value) in list.into_iter().enumerate() {
        let Some(part) = value.object() else { continue };
        let kind = part.text("type").unwrap_or_default();
        if kind == "step-start" {
            step.end(view, answer());
        } else {
            step.part(&kind, &part, value, Origin::block(at, n));
        }
    }
    step.end(view, answer());
}

/// A step of an answer: what is said, then what its tools gave back.
struct Step {
    answer: Draft,
    results: Draft,
    /// The item that the last part is a thought of: each of its summaries is a part here.
    item: Option<String>,
}

/// The name of this dialect, for parts that only it has.
const NAME: &str = "vercel-ui";

/// What a model is told of a call that the user refused without a word.
const DENIED: &str = "Tool execution denied.";

impl Step {
    fn end(&mut self, view: &mut View, next: Draft) {
        self.item = None;
        view.push(std::mem::replace(&mut self.answer, next));
        view.push(std::mem::replace(&mut self.results, Draft::new(Role::Tool)));
    }

    fn part(&mut self, kind: &str, part: &Object<'_>, value: Value<'_>, origin: Origin) {
        let name = match kind {
            "dynamic-tool" => Some(parts::text(part, "toolName")),
            _ => kind.strip_prefix("tool-").map(str::to_owned),
        };
        let item = self.item.take();
        if let Some(name) = name {
            if part.is_true("providerExecuted") {
                return self.answer.push(parts::own(value, NAME), origin);
            }
            return self.tool(&name, part, origin);
        }
        let seal = || Seal::by_provider(part.inner("providerMetadata"));
        let part = match kind {
            "text" => seal().text(parts::text(part, "text")),
            "reasoning" => return self.thought(item, parts::text(part, "text"), seal(), origin),
            "file" => file(part).unwrap_or_else(|| parts::other(value)),
            kind if kind.starts_with("source-") || kind.starts_with("data-") => {
                parts::own(value, NAME)
            }
            _ => parts::other(value),
        };
        self.answer.push(part, origin);
    }

    /// A thought, which is one with the thought before if both are of one item.
    fn thought(&mut self, before: Option<String>, text: String, seal: Seal, origin: Origin) {
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

    fn tool(&mut self, name: &str, part: &Object<'_>, origin: Origin) {
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
            let reason = approval.as_ref().and_then(|it| parts::seals::said(it, "reason"));
            Some(reason.unwrap_or_else(|| DENIED.to_owned()))
        };
        let (content, is_error) = match part.text("state").as_deref() {
            Some("output-available") => (part.get("output").map(|it| it.plain()), false),
            Some("output-error") => (part.get("errorText").map(|it| it.plain()), true),
            Some("output-denied") => (denied(), true),
            Some("approval-responded") if is_denied => (denied(), true),
            _ => return,
        };
        let result = ToolResult {
            name: Some(name.to_owned()),
            is_error,
            ..ToolResult::new(id, content.unwrap_or_default())
        };
        self.results.push(Part::ToolResult(result), origin);
    }
}

fn file(part: &Object<'_>) -> Option<Part> {
    let media_type: Option<String> = part.text("mediaType").map(Into::into);
    let url = part.text("url")?;
    if media_type.as_deref().is_some_and(|it| it.starts_with("image/")) {
        return Some(Part::Image(Image { media_type, ..Image::from_url(url) }));
    }
    let filename = part.text("filename").map(Into::into);
    let (data, url) = match url.starts_with("data:") {
        true => (Some(url.into_owned()), None),
        false => (None, Some(url.into_owned())),
    };
    Some(Part::File(File { url, data, filename, media_type, ..File::default() }))
}
