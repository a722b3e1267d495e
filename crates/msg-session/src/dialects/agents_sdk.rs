//! OpenAI Agents SDK: Responses items, as a list, as rows, or inside a run state.
//!
//! ```text
//! [{"role":"user","content":"hi"},{"type":"function_call","call_id":"c1",…}]
//! {"message_data":"{\"role\":\"user\",\"content\":\"hi\"}"}                      a row a line
//! {"$schemaVersion":"1.15","original_input":"hi","session_items":[{"raw_item":{…}}],…}
//! ```

use super::{Checked, Format, document};
use crate::Error;
use crate::blob::Blob;
use crate::frame::{clean, read_lines};
use crate::json::{Object, Value};
use crate::options::RepairOptions;
use crate::parts::items::Items;
use crate::view::{Origin, View};

/// The dialect.
pub(crate) struct AgentsSdk;

impl Format for AgentsSdk {
    fn view(&self, blobs: &[Blob], options: &RepairOptions) -> Result<View, Error> {
        super::leaf_is_not_chosen(options)?;
        let mut findings = Vec::new();
        let text = clean(super::only(blobs), &mut findings);
        let sources = sources(&text, options);
        let mut items = Items::default();
        for (at, source) in sources.iter().enumerate() {
            let value = Value { source, at: 0 };
            match value.text() {
                Some(text) => items.user_text(&text, Origin::record(at)),
                None => items.item(value, Origin::record(at)),
            }
        }
        Ok(View { findings, ..items.finish() })
    }

    fn check(&self, blobs: &[Blob], options: &RepairOptions) -> Result<Checked, Error> {
        let bytes = super::only(blobs);
        let text = String::from_utf8_lossy(bytes);
        if Value::whole(&text, 0).is_some_and(|it| it.array().is_none()) {
            return Ok(document::check_text(bytes));
        }
        if text.trim_start().starts_with('[') {
            return Ok(document::check_list(bytes, &[]));
        }
        let lines = read_lines(bytes, options.max_record);
        let (count, findings) = (lines.records.len(), lines.findings.clone());
        Ok(Checked::of_text(&lines.text, count, count, findings, Vec::new()))
    }
}

/// The JSON of each item.
fn sources(text: &str, options: &RepairOptions) -> Vec<String> {
    let owned = |it: Vec<Value<'_>>| it.into_iter().map(|it| it.source.to_owned()).collect();
    match Value::whole(text, 0) {
        Some(value) => match (value.array(), value.object()) {
            (Some(list), _) => owned(list),
            (None, Some(object)) if object.has("message_data") => {
                row(&object).into_iter().collect()
            }
            (None, Some(object)) => run_state(&object),
            _ => Vec::new(),
        },
        None => {
            let lines = read_lines(text.as_bytes(), options.max_record);
            let objects = (0..lines.records.len()).filter_map(|it| lines.object(it));
            objects.filter_map(|it| row(&it)).collect()
        }
    }
}

/// The item of a row.
fn row(object: &Object<'_>) -> Option<String> {
    object.text("message_data").map(Into::into)
}

/// What a run began with, and the items that came.
fn run_state(state: &Object<'_>) -> Vec<String> {
    let input = state.get("original_input");
    let mut res: Vec<String> = match input.and_then(|it| it.array()) {
        Some(list) => list.into_iter().map(|it| it.source.to_owned()).collect(),
        None => input.into_iter().map(|it| it.source.to_owned()).collect(),
    };
    let items = ["session_items", "generated_items"]
        .iter()
        .find_map(|name| state.get(name)?.array().filter(|it| !it.is_empty()));
    let raw = items.into_iter().flatten().filter_map(|it| it.get("raw_item"));
    res.extend(raw.map(|it| it.source.to_owned()));
    res
}
