//! SWE-agent: a trajectory with the history that was sent.
//!
//! ```text
//! {"history":[{"role":"tool","content":"…","tool_call_ids":["call_1"],"agent":"main"}],"trajectory":[…],"info":{…}}
//! ```

use msg_core::{Content, Message, Part, Role, ToolResult};

use super::{Checked, Format};
use crate::dialects::otel;
use crate::json::Object;
use crate::options::SessionOptions;
use crate::parts::{self, openai};
use crate::source::Blob;
use crate::view::{Draft, PartOrigin, View};
use crate::{Dialect, Error};

/// The dialect.
pub(crate) struct SweAgent;

impl Format for SweAgent {
    fn view(&self, blobs: &[Blob], options: &SessionOptions) -> Result<View, Error> {
        super::leaf_is_not_chosen(options)?;
        let (text, findings) = otel::text(super::only(blobs));
        let document = otel::object(&text, Dialect::SweAgent)?;
        let mut view = View { findings, ..View::default() };
        let history = document.list("history");
        for (at, value) in history.into_iter().enumerate() {
            let Some(object) = value.object() else { continue };
            let message = match object.text("role").as_deref() {
                Some("tool") => result(&object),
                _ => openai::chat(&format!("[{}]", value.source)).into_iter().next(),
            };
            let Some(message) = message else { continue };
            let mut draft = Draft::new(message.role);
            message.parts.into_iter().for_each(|it| draft.push(it, PartOrigin::record(at)));
            view.push(draft);
        }
        Ok(view)
    }

    fn check(&self, blobs: &[Blob], _: &SessionOptions) -> Result<Checked, Error> {
        Ok(otel::check_text(super::only(blobs)))
    }
}

/// A result: the ids of its calls are in a list.
fn result(object: &Object<'_>) -> Option<Message> {
    let ids = object.list("tool_call_ids");
    let id = ids.first().and_then(|it| it.text()).or_else(|| object.text("tool_call_id"));
    let content = match object.get("content") {
        Some(it) if it.text().is_none() && !it.is_null() => {
            let list = it.array().into_iter().flatten();
            let texts = list.filter_map(|it| Some(Part::text(parts::text(&it.object()?, "text"))));
            Content::from(texts.collect::<Vec<_>>())
        }
        _ => Content::from(parts::text(object, "content")),
    };
    let result = ToolResult::new(id.unwrap_or_default(), content);
    Some(Message::new(Role::Tool).with_part(Part::ToolResult(result)))
}
