//! OpenAI Agents SDK: Responses items, as a list, as rows, or inside a run state.
//!
//! ```text
//! [{"role":"user","content":"hi"},{"type":"function_call","call_id":"c1",…}]
//! {"message_data":"{\"role\":\"user\",\"content\":\"hi\"}"}                      a row a line
//! {"$schemaVersion":"1.15","original_input":"hi","session_items":[{"raw_item":{…}}],…}
//! ```

use msg_core::{Message, Report};

use super::{Closing, Open, Records, Store, Wrap};
use crate::Dialect;
use crate::edit::{apply, set_member};
use crate::json::{Object, Value, quoted};
use crate::parts::INTERRUPTED;
use crate::parts::items::Items;
use crate::view::{PartOrigin, View};
use crate::write::WriteOptions;

pub(crate) static STORE: Store = Store {
    members: &["content", "message_data", "raw_item", "role", "type"],
    lists: &["session_items", "generated_items", "items"],
    has_lines: true,
    blocks: &[],
    // The API takes a result anywhere after its call.
    finds_late: false,
    wrap: Wrap::new(wrap),
    ..Store::new(Dialect::AgentsSdk, read, close, write)
};

fn read(records: &Records<'_>) -> View {
    let mut items = Items::default();
    let state = records.document.as_ref().filter(|it| it.has("original_input"));
    let input = state.and_then(|it| it.get("original_input"));
    // What a run began with has no record of its own.
    let begun = input.map(|it| it.array().unwrap_or_else(|| vec![it])).unwrap_or_default();
    begun.into_iter().for_each(|it| item(&mut items, it, usize::MAX));
    for (at, value) in records.values.iter().enumerate() {
        let object = value.object();
        let row = object.as_ref().and_then(row);
        let raw = object.as_ref().and_then(|it| it.get("raw_item"));
        match &row {
            Some(source) => item(&mut items, Value { source, at: 0 }, at),
            None => item(&mut items, raw.unwrap_or(*value), at),
        }
    }
    items.finish()
}

fn item(items: &mut Items, value: Value<'_>, at: usize) {
    match value.text() {
        Some(text) => items.user_text(&text, PartOrigin::record(at)),
        None => items.item(value, PartOrigin::record(at)),
    }
}

/// The item of a row.
fn row(object: &Object<'_>) -> Option<String> {
    object.text("message_data").map(Into::into)
}

fn close(open: &Open<'_>) -> Closing {
    let (id, text) = (quoted(open.id), quoted(INTERRUPTED));
    let raw = row(open.record);
    let kind = match raw.as_deref().unwrap_or_default().contains("custom_tool_call")
        || open.record.text("type").is_some_and(|it| it == "custom_tool_call")
    {
        true => "custom_tool_call_output",
        false => "function_call_output",
    };
    Closing::Result(format!(r#"{{"type":"{kind}","call_id":{id},"output":{text}}}"#))
}

/// An item as the store has it: alone, in a row with the columns of the one beside it, or in an item of a run.
fn wrap(item: &str, beside: &Object<'_>) -> String {
    if beside.has("message_data") {
        let columns = beside.iter().filter(|it| it.0 != "id").map(|(name, value)| match name {
            "message_data" => format!(r#""message_data":{}"#, quoted(item)),
            name => format!("{}:{}", quoted(name), value.source),
        });
        return format!("{{{}}}", columns.collect::<Vec<_>>().join(","));
    }
    if !beside.has("raw_item") {
        return item.to_owned();
    }
    let agent = beside.get("agent").map(|it| format!(r#""agent":{},"#, it.source));
    let agent = agent.unwrap_or_default();
    format!(r#"{{{agent}"raw_item":{item},"type":"tool_call_output_item"}}"#)
}

/// Items as the types of the SDK have them: an answer that came from no response has no id, and is a text.
fn write(messages: &[Message], _: &WriteOptions, report: &mut Report) -> Vec<u8> {
    let items = crate::write::codex::items(messages, report);
    let items: Vec<String> = items.iter().flat_map(|it| input_items(it)).collect();
    format!("[{}]", items.join(",")).into_bytes()
}

fn input_items(item: &str) -> Vec<String> {
    let as_it_is = || vec![item.to_owned()];
    let Some(object) = Object::whole(item, 0) else { return as_it_is() };
    let Some(content) = object.get("content").and_then(|it| it.array()) else { return as_it_is() };
    if let Some(texts) = content.iter().map(output_text).collect::<Option<Vec<_>>>()
        && !texts.is_empty()
        && !object.has("id")
    {
        let said = |it: Value<'_>| {
            format!(r#"{{"type":"message","role":"assistant","content":{}}}"#, it.source)
        };
        return texts.into_iter().map(said).collect();
    }
    let is_image =
        |it: &Value<'_>| it.get("type").is_some_and(|it| it.source == r#""input_image""#);
    let images = content.iter().filter(|it| is_image(it) && it.get("detail").is_none());
    let edits = images.filter_map(|it| Some(set_member(&it.object()?, "detail", quoted("auto"))));
    vec![apply(item, edits.collect())]
}

/// The text that a part of an answer is.
fn output_text<'a>(part: &Value<'a>) -> Option<Value<'a>> {
    let is_text = part.get("type").is_some_and(|it| it.source == r#""output_text""#);
    part.get("text").filter(|_| is_text)
}
