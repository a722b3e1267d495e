//! Case files hold messages in the shape of OpenAI's chat API; this reads as much of it as they use. The
//! wire format itself is another crate's.

use msg_chainast::{Message, Part, ToolCall};
use msg_core::{
    Audio, CallKind, File, Image, Origin, Other, Place, RawJson, Reasoning, Role, ToolResult,
};
use serde_json::Value;

pub(crate) fn messages(json: &Value) -> Vec<Message> {
    json.as_array().unwrap().iter().map(message).collect()
}

pub(crate) fn text(json: &Value) -> String {
    json.as_str().unwrap_or_default().to_owned()
}

fn message(json: &Value) -> Message {
    let role = Role::from(json["role"].as_str().unwrap());
    if role.as_str().trim().eq_ignore_ascii_case("tool") {
        return tool(role, json);
    }
    let mut out = Message::new(role);
    if let Some(it) = json["reasoning_content"].as_str().filter(|it| !it.is_empty()) {
        out.parts.push(Part::Reasoning(Reasoning::new(it)));
    }
    out.parts.extend(content(&json["content"]));
    if let Some(it) = json["refusal"].as_str() {
        out.parts.push(Part::refusal(it));
    }
    out.parts.extend(json["tool_calls"].as_array().into_iter().flatten().map(call));
    out.name = json["name"].as_str().map(str::to_owned);
    out
}

fn tool(role: Role, json: &Value) -> Message {
    let mut it = ToolResult::new(text(&json["tool_call_id"]), content(&json["content"]));
    it.name = json["name"].as_str().map(str::to_owned);
    Message::new(role).with_part(Part::ToolResult(it))
}

fn content(json: &Value) -> Vec<Part> {
    match json {
        Value::String(it) => vec![Part::text(it)],
        Value::Array(parts) => parts.iter().map(part).collect(),
        _ => Vec::new(),
    }
}

fn part(json: &Value) -> Part {
    let option = |it: &Value| it.as_str().map(str::to_owned);
    match json["type"].as_str().unwrap() {
        "text" => Part::text(text(&json["text"])),
        "image_url" => Part::Image(Image {
            url: option(&json["image_url"]["url"]),
            detail: option(&json["image_url"]["detail"]),
            ..Image::default()
        }),
        "input_audio" => Part::Audio(Audio {
            data: option(&json["input_audio"]["data"]),
            format: option(&json["input_audio"]["format"]),
            ..Audio::default()
        }),
        "file" => Part::File(File {
            file_id: option(&json["file"]["file_id"]),
            data: option(&json["file"]["file_data"]),
            filename: option(&json["file"]["filename"]),
            ..File::default()
        }),
        "tool_result" => Part::ToolResult(ToolResult::new(
            text(&json["tool_call_id"]),
            content(&json["content"]),
        )),
        kind => {
            let value = RawJson::new(json.to_string()).unwrap();
            // Items of Responses have calls and results of their own.
            match kind.ends_with("_call") || kind.ends_with("_output") {
                true => Part::Other(Other {
                    place: Some(Place::Item),
                    ..Other::new(Origin::Responses, value)
                }),
                false => Part::Other(Other::new(Origin::OpenAi, value)),
            }
        }
    }
}

fn call(json: &Value) -> Part {
    let function = &json["function"];
    let mut it =
        ToolCall::new(text(&json["id"]), text(&function["name"]), text(&function["arguments"]));
    it.kind = CallKind::from(json["type"].as_str().unwrap_or_default());
    it.signature = json["extra_content"]["google"]["thought_signature"].as_str().map(str::to_owned);
    Part::ToolCall(it)
}
