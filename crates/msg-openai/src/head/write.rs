//! A head into the members of a request; what they have no place for is reported.

use msg_core::request::{ReasoningSetting, RequestHead, ResponseFormat, ResponseSchema};
use msg_core::{RawJson, Report};
use msg_json::Writer;

use super::{Spelling, tools};

/// The members, in the order in which they are set, but `model`.
pub(crate) fn write(
    head: &RequestHead,
    spelling: Spelling,
    report: &mut Report,
) -> Vec<(&'static str, RawJson)> {
    let mut res = Vec::new();
    let mut set = |name, json: Option<String>| {
        let raw = json.map(|it| RawJson::new(it).expect("because a writer makes JSON"));
        res.extend(raw.map(|it| (name, it)));
    };
    let sampling = &head.sampling;
    let choice = |it| msg_json::to_text(|out| tools::write_choice(it, spelling, out));
    let number = |it: &Option<RawJson>| it.as_ref().map(|it| it.text().to_owned());
    let boolean = |it: Option<bool>| it.map(|it| it.to_string());
    set("tools", tools::write(head, spelling, report));
    set("tool_choice", head.tool_choice.as_ref().map(choice));
    set("parallel_tool_calls", boolean(head.parallel_tool_calls));
    set("temperature", number(&sampling.temperature));
    set("top_p", number(&sampling.top_p));
    let tokens = head.max_tokens.map(|it| it.to_string());
    match spelling {
        Spelling::Chat => {
            set("max_completion_tokens", tokens);
            set("stream", boolean(head.stream));
            set("response_format", head.response_format.as_ref().map(chat_format));
            set("stop", (!head.stop.is_empty()).then(|| texts(&head.stop)));
            set("reasoning_effort", effort(head).map(|it| msg_json::to_text(|out| out.str(it))));
        }
        Spelling::Responses => {
            set("max_output_tokens", tokens);
            set("stream", boolean(head.stream));
            set("text", head.response_format.as_ref().map(responses_format));
            set("reasoning", effort(head).map(reasoning));
        }
    }
    head.lose(spelling.target(), &unsaid(head, spelling), report);
    res
}

/// The members of the head that have no place.
fn unsaid(head: &RequestHead, spelling: Spelling) -> Vec<&'static str> {
    let all = [
        ("top_k", head.sampling.top_k.is_some()),
        ("stop", spelling == Spelling::Responses && !head.stop.is_empty()),
        ("reasoning budget", matches!(head.reasoning, Some(ReasoningSetting::Budget(_)))),
    ];
    all.into_iter().filter(|it| it.1).map(|it| it.0).collect()
}

fn effort(head: &RequestHead) -> Option<&str> {
    match &head.reasoning {
        Some(ReasoningSetting::Effort(it)) => Some(it),
        _ => None,
    }
}

fn reasoning(effort: &str) -> String {
    msg_json::to_text(|it| it.object(|it| it.key("effort").str(effort)))
}

fn texts(stop: &[String]) -> String {
    msg_json::to_text(|it| it.array(stop, |it, text| it.str(text)))
}

fn chat_format(format: &ResponseFormat) -> String {
    msg_json::to_text(|it| {
        it.object(|it| match format {
            ResponseFormat::Json => it.key("type").str("json_object"),
            ResponseFormat::Schema(schema) => {
                it.key("type").str("json_schema");
                it.key("json_schema").object(|it| members(schema, it));
            }
        });
    })
}

fn responses_format(format: &ResponseFormat) -> String {
    msg_json::to_text(|it| {
        it.object(|it| {
            it.key("format").object(|it| match format {
                ResponseFormat::Json => it.key("type").str("json_object"),
                ResponseFormat::Schema(schema) => {
                    it.key("type").str("json_schema");
                    members(schema, it);
                }
            });
        });
    })
}

fn members(schema: &ResponseSchema, it: &mut Writer<'_>) {
    // Both refuse a schema without a name.
    it.key("name").str(schema.name.as_deref().unwrap_or("response"));
    if let Some(description) = &schema.description {
        it.key("description").str(description);
    }
    it.key("schema").raw(schema.schema.text());
    if let Some(strict) = schema.strict {
        it.key("strict").bool(strict);
    }
}
