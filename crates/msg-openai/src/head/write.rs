//! A head into the members of a request; what they have no place for is reported.

use msg_codec::codec::Body;
use msg_core::Report;
use msg_core::request::{ReasoningSetting, RequestHead, ResponseFormat, ResponseSchema};
use msg_json::Writer;

use super::{Spelling, tools};

/// Puts the members of a head into a body that has its model.
pub(crate) fn write(head: &RequestHead, spelling: Spelling, body: &mut Body) -> Report {
    let mut report = Report::new();
    if head.model.is_none() {
        body.remove("model");
    }
    let functions = head.functions(spelling.target(), |_| None, &mut report);
    let functions = Some(functions).filter(|it| !it.is_empty());
    body.write_optional("tools", functions, |it, all| tools::write_tools(all, spelling, it));
    body.write_optional("tool_choice", head.tool_choice.as_ref(), |it, choice| {
        tools::write_choice(choice, spelling, it);
    });
    body.write_optional("parallel_tool_calls", head.parallel_tool_calls, |it, is| it.bool(is));
    let sampling = &head.sampling;
    for (name, number) in [("temperature", &sampling.temperature), ("top_p", &sampling.top_p)] {
        body.write_optional(name, number.as_ref(), |it, number| it.raw(number.text()));
    }
    let effort = match &head.reasoning {
        Some(ReasoningSetting::Effort(word)) => Some(word),
        _ => None,
    };
    let format = head.response_format.as_ref();
    let stop = Some(&head.stop).filter(|it| !it.is_empty());
    match spelling {
        Spelling::Chat => {
            body.write_optional("max_completion_tokens", head.max_tokens, |it, n| it.u64(n));
            body.write_optional("stream", head.stream, |it, is| it.bool(is));
            body.write_optional("response_format", format, chat_format);
            body.write_optional("stop", stop, |it, all| it.array(all, |it, text| it.str(text)));
            body.write_optional("reasoning_effort", effort, |it, word| it.str(word));
        }
        Spelling::Responses => {
            body.write_optional("max_output_tokens", head.max_tokens, |it, n| it.u64(n));
            body.write_optional("stream", head.stream, |it, is| it.bool(is));
            body.write_optional("text", format, responses_format);
            body.write_optional("reasoning", effort, |it, word| {
                it.object(|it| it.key("effort").str(word));
            });
        }
    }
    let placeless = [
        ("top_k", sampling.top_k.is_some()),
        ("stop", spelling == Spelling::Responses && stop.is_some()),
        ("reasoning budget", matches!(head.reasoning, Some(ReasoningSetting::Budget(_)))),
    ];
    head.lose(spelling.target(), &placeless, &mut report);
    report
}

fn chat_format(it: &mut Writer<'_>, format: &ResponseFormat) {
    it.object(|it| match format {
        ResponseFormat::Json => it.key("type").str("json_object"),
        ResponseFormat::Schema(schema) => {
            it.key("type").str("json_schema");
            it.key("json_schema").object(|it| members(schema, it));
        }
    });
}

fn responses_format(it: &mut Writer<'_>, format: &ResponseFormat) {
    let format = |it: &mut Writer<'_>| match format {
        ResponseFormat::Json => it.key("type").str("json_object"),
        ResponseFormat::Schema(schema) => {
            it.key("type").str("json_schema");
            members(schema, it);
        }
    };
    it.object(|it| it.key("format").object(format));
}

fn members(schema: &ResponseSchema, it: &mut Writer<'_>) {
    // Both refuse a schema without a name.
    it.key("name").str(schema.name.as_deref().unwrap_or("response"));
    it.optional("description", schema.description.as_ref(), |it, text| it.str(text));
    it.key("schema").raw(schema.schema.text());
    it.optional("strict", schema.strict, |it, is| it.bool(is));
}
