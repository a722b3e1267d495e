//! Conversations in the attributes of spans, a value an attribute: OpenInference (Phoenix) and OpenLLMetry (Traceloop).
//!
//! ```text
//! llm.input_messages.0.message.role = "user"             gen_ai.prompt.0.role = "user"
//! llm.input_messages.0.message.content = "hi"            gen_ai.prompt.0.content = "hi"
//! llm.output_messages.0.message.tool_calls.0.tool_call.function.name = "f"
//! gen_ai.completion.0.tool_calls.0.name = "f"
//! ```
//!
//! The same names come nested (`{"llm":{"input_messages":[{"message":{…}}]}}`), and lists as texts of JSON.

use std::collections::BTreeMap;

use msg_core::{Image, Part, Role, ToolCall, ToolResult};

use crate::json::{Object, Value};
use crate::view::{Draft, PartOrigin, View};

/// The lists of messages, in the order in which they are said.
const LISTS: [&str; 4] =
    ["llm.input_messages.", "gen_ai.prompt.", "llm.output_messages.", "gen_ai.completion."];

/// Deeper than this no attribute is looked into.
const MAX_DEPTH: usize = 12;

/// The messages of a span that keeps them so; none of others. Linear in the attributes that name them.
pub(super) fn view(at: usize, span: &Object<'_>) -> View {
    let mut found: BTreeMap<(usize, usize), Message> = BTreeMap::new();
    let attributes = span.get("attributes");
    for (path, text) in attributes.iter().flat_map(|it| flat(*it)).chain(flat_of(span)) {
        let Some(list) = LISTS.iter().position(|it| path.starts_with(it)) else { continue };
        let rest = &path[LISTS[list].len()..];
        let Some((number, rest)) = rest.split_once('.') else { continue };
        let Ok(number) = number.parse() else { continue };
        let rest = rest.strip_prefix("message.").unwrap_or(rest);
        found.entry((list, number)).or_default().take(rest, text);
    }
    let mut view = View::default();
    found.into_values().for_each(|it| view.push(it.draft(at)));
    view
}

/// A message as its attributes come.
#[derive(Default)]
struct Message {
    role: String,
    name: Option<String>,
    text: Option<String>,
    call_id: Option<String>,
    contents: BTreeMap<usize, (Option<String>, Option<String>)>,
    calls: BTreeMap<usize, [String; 3]>,
}

impl Message {
    fn take(&mut self, name: &str, text: String) {
        match name {
            "role" => self.role = text,
            "name" => self.name = Some(text),
            "content" => self.text = Some(text),
            "tool_call_id" => self.call_id = Some(text),
            _ => self.take_inner(name, text),
        }
    }

    fn take_inner(&mut self, name: &str, text: String) {
        let mut words = name.splitn(3, '.');
        let (Some(list), Some(number), Some(rest)) = (words.next(), words.next(), words.next())
        else {
            return;
        };
        let Ok(number) = number.parse::<usize>() else { return };
        match list {
            "contents" => {
                let content = self.contents.entry(number).or_default();
                match rest.trim_start_matches("message_content.") {
                    "text" => content.0 = Some(text),
                    "image.image.url" | "image.url" => content.1 = Some(text),
                    _ => {}
                }
            }
            "tool_calls" => {
                let rest = rest.trim_start_matches("tool_call.").trim_start_matches("function.");
                let members = ["id", "name", "arguments"];
                if let Some(at) = members.iter().position(|it| *it == rest) {
                    self.calls.entry(number).or_default()[at] = text;
                }
            }
            _ => {}
        }
    }

    fn draft(self, at: usize) -> Draft {
        let origin = PartOrigin::record(at);
        let role = match self.role.as_str() {
            "model" => Role::Assistant,
            "function" => Role::Tool,
            role => Role::from(role),
        };
        let mut draft = Draft::new(role.clone());
        if role == Role::Tool {
            let content = self.text.unwrap_or_default();
            let result = ToolResult::new(self.call_id.unwrap_or_default(), content);
            draft.push(Part::ToolResult(ToolResult { name: self.name, ..result }), origin);
            return draft;
        }
        let has_contents = !self.contents.is_empty();
        for (text, image) in self.contents.into_values() {
            let image = image.map(|it| Part::Image(Image::from_url(it)));
            text.map(Part::text).or(image).into_iter().for_each(|it| draft.push(it, origin));
        }
        let text = self.text.filter(|it| !it.is_empty() && !has_contents);
        for it in text.iter().flat_map(|it| texts(it)) {
            draft.push(Part::text(it), origin);
        }
        for [id, name, arguments] in self.calls.into_values().filter(|it| !it[1].is_empty()) {
            draft.push(Part::ToolCall(ToolCall::new(id, name, arguments)), origin);
        }
        draft
    }
}

/// The texts of a content, which may be a list of parts as JSON.
fn texts(content: &str) -> Vec<String> {
    let text = |it: &Value<'_>| {
        let object = it.object()?;
        let is_text = object.text("type").is_some_and(|it| it == "text");
        object.text("text").filter(|_| is_text).map(Into::into)
    };
    let list = Value::whole(content, 0).and_then(|it| it.array()).filter(|it| !it.is_empty());
    let parts = list.filter(|it| it.iter().all(|it| it.get("type").is_some()));
    match parts {
        Some(parts) => parts.iter().filter_map(text).collect(),
        None => vec![content.to_owned()],
    }
}

/// The attributes of a span under their whole names, of a map or of a list of keys and typed values.
fn flat(attributes: Value<'_>) -> Vec<(String, String)> {
    if let Some(object) = attributes.object() {
        return flat_of(&object).collect();
    }
    let pairs = attributes.array().unwrap_or_default();
    pairs.into_iter().filter_map(pair).flat_map(|(name, it)| leaves(&name, it)).collect()
}

fn pair(value: Value<'_>) -> Option<(String, Value<'_>)> {
    let object = value.object()?;
    let typed = object.get("value")?;
    let inner = typed.object().and_then(|it| it.iter().next().map(|it| it.1));
    Some((object.text("key")?.into_owned(), inner.unwrap_or(typed)))
}

fn flat_of(object: &Object<'_>) -> impl Iterator<Item = (String, String)> {
    let is_asked = |name: &str| {
        let begins = |it: &&str| it.starts_with(name) || name.starts_with(&it[..it.len() - 1]);
        !name.is_empty() && LISTS.iter().any(begins)
    };
    let asked: Vec<_> = object.iter().filter(|it| is_asked(it.0)).collect();
    let leaves = asked.into_iter().flat_map(|(name, it)| leaves(name, it));
    leaves.collect::<Vec<_>>().into_iter()
}

/// The texts and other values in a value, each under its path.
fn leaves(name: &str, value: Value<'_>) -> Vec<(String, String)> {
    let mut res = Vec::new();
    let text = value.text().filter(|it| it.starts_with(['[', '{'])).map(|it| it.into_owned());
    let is_list = LISTS.iter().any(|it| it.trim_end_matches('.') == name);
    // A list that an exporter made a text of.
    let inner = text.as_deref().filter(|_| is_list).and_then(|it| Value::whole(it, 0));
    let mut open = vec![(name.to_owned(), inner.unwrap_or(value), 0)];
    while let Some((path, value, depth)) = open.pop() {
        // What a tool is called with stays as it is.
        let is_whole = path.ends_with(".arguments") || depth >= MAX_DEPTH;
        let (object, list) = match is_whole {
            true => (None, None),
            false => (value.object(), value.array()),
        };
        if let Some(object) = object {
            open.extend(object.iter().map(|(name, it)| (format!("{path}.{name}"), it, depth + 1)));
        } else if let Some(list) = list {
            let list = list.into_iter().enumerate();
            open.extend(list.map(|(at, it)| (format!("{path}.{at}"), it, depth + 1)));
        } else if !value.is_null() {
            res.push((path, value.plain()));
        }
    }
    res
}
