//! What a conversation says, whatever form it is in: its texts, calls and results, as one number. By a generic parser, so
//! that a conversion is judged by none of our readers. As `benches/scripts/meaning.py`, but for the system prompt, which
//! some peers are not given.
//!
//! A call is known by its place among the calls, a result by the call that it answers. Thinking and media are left out:
//! not every form has a place for them. Neighbouring texts of one role are one, and white space does not count.

use std::collections::HashMap;

use serde_json::Value;

/// The hash of the content read so far.
#[derive(Default)]
struct Events {
    /// The speaker, `call` or `result`, with the content, in order.
    all: Vec<(String, String)>,
    /// The last call with each id, by its index among all calls.
    calls: HashMap<String, usize>,
    n_calls: usize,
}

/// The hash of an OpenAI request; 0 if it is not JSON.
///
/// ```
/// let chat = r#"{"messages":[{"role":"user","content":"h i"}]}"#;
/// let other = r#"{"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}"#;
/// assert_eq!(benches::meaning::of_chat(chat), benches::meaning::of_anthropic(other.as_bytes()));
/// ```
pub fn of_chat(document: &str) -> u64 {
    let mut events = Events::default();
    for it in messages(document.as_bytes()) {
        match it["role"].as_str() {
            Some("system" | "developer") if events.all.is_empty() => {}
            // A target may have to write a later system message as a user message.
            Some("system" | "developer") => events.text(Some("user"), &text(&it["content"])),
            Some("tool") => events.result(&it["tool_call_id"], &it["content"]),
            // Calls in old requests have no ids: the next message answers.
            Some("function") => events.result(&it["name"], &it["content"]),
            role => {
                events.text(role, &text(&it["content"]));
                events.text(role, &text(&it["refusal"]));
                if let call @ Value::Object(_) = &it["function_call"] {
                    events.call(&call["name"], &call["name"], &call["arguments"]);
                }
                for call in it["tool_calls"].as_array().into_iter().flatten() {
                    let function = &call["function"];
                    events.call(&call["id"], &function["name"], &function["arguments"]);
                }
            }
        }
    }
    events.number()
}

/// The hash of an Anthropic request; 0 if it is not JSON.
pub fn of_anthropic(document: &[u8]) -> u64 {
    let mut events = Events::default();
    for it in messages(document) {
        let role = it["role"].as_str();
        let Some(blocks) = it["content"].as_array() else {
            events.text(role, &text(&it["content"]));
            continue;
        };
        for block in blocks {
            match block["type"].as_str() {
                Some("text") => events.text(role, &text(&block["text"])),
                Some("tool_use") => events.call(&block["id"], &block["name"], &block["input"]),
                Some("tool_result") => events.result(&block["tool_use_id"], &block["content"]),
                _ => {}
            }
        }
    }
    events.number()
}

impl Events {
    fn text(&mut self, role: Option<&str>, said: &str) {
        let (role, said) = (role.unwrap_or_default(), without_blanks(said));
        match self.all.last_mut() {
            _ if said.is_empty() => {}
            Some((last, text)) if last == role => text.push_str(&said),
            _ => self.all.push((role.to_owned(), said)),
        }
    }

    fn call(&mut self, id: &Value, name: &Value, arguments: &Value) {
        // Old requests have no ids, and a target may write the same id for all of them.
        self.calls.insert(text(id), self.n_calls);
        self.n_calls += 1;
        self.all.push(("call".to_owned(), text(name) + &canonical(arguments)));
    }

    fn result(&mut self, id: &Value, content: &Value) {
        let call = self.calls.get(&text(id)).copied();
        let said = without_blanks(&text(content));
        self.all.push(("result".to_owned(), format!("{call:?}{said}")));
    }

    /// The FNV-1a hash of the whole content.
    fn number(self) -> u64 {
        if self.all.is_empty() {
            return 0;
        }
        let bytes = self.all.iter().flat_map(|(who, what)| who.bytes().chain(what.bytes()));
        bytes.fold(0xcbf2_9ce4_8422_2325, |hash, it| {
            (hash ^ u64::from(it)).wrapping_mul(0x100_0000_01b3)
        })
    }
}

fn messages(document: &[u8]) -> Vec<Value> {
    let mut value: Value = serde_json::from_slice(document).unwrap_or_default();
    serde_json::from_value(value["messages"].take()).unwrap_or_default()
}

/// The text of a content value: its text parts.
fn text(content: &Value) -> String {
    match content {
        Value::String(it) => it.clone(),
        Value::Array(parts) => parts.iter().filter_map(|it| it["text"].as_str()).collect(),
        _ => String::new(),
    }
}

fn without_blanks(text: &str) -> String {
    text.split_whitespace().collect()
}

/// Normalises arguments: missing ones become an empty object, and non-JSON ones stay as they are, which object-only
/// targets store under `_raw`.
fn canonical(arguments: &Value) -> String {
    match arguments {
        Value::Null => "{}".to_owned(),
        Value::String(it) if matches!(it.trim(), "" | "null") => "{}".to_owned(),
        Value::String(it) => match serde_json::from_str::<Value>(it) {
            Ok(it) => it.to_string(),
            Err(_) => it.clone(),
        },
        it => match it.as_object().filter(|it| it.len() == 1).and_then(|it| it.get("_raw")) {
            Some(raw) => canonical(&Value::String(text(raw))),
            None => it.to_string(),
        },
    }
}
