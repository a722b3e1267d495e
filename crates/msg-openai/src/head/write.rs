//! A head into the members of a request; what they have no place for is reported.

use msg_codec::codec::Body;
use msg_core::Report;
use msg_core::request::{RequestHead, ResponseFormat, ResponseSchema, Thinking, Tool};
use msg_json::Writer;

use super::{Spelling, tools};

/// The most texts at which a chat request stops (RQ-14).
const MOST_STOPS: usize = 4;

/// The fewest tokens that Responses take as the most of an answer: "Expected a value >= 16".
const FEWEST_TOKENS: u64 = 16;

/// Puts the members of a head into a body that has its model.
pub(crate) fn write(head: &RequestHead, spelling: Spelling, body: &mut Body) -> Report {
    let mut report = Report::new();
    let target = spelling.target();
    if head.model.is_none() {
        body.remove("model");
    }
    write_tools(head, spelling, body, &mut report);
    let sampling = &head.sampling;
    let temperature =
        head.clamped(target, "temperature", sampling.temperature.as_ref(), (0, 2), &mut report);
    for (name, number) in [("temperature", &temperature), ("top_p", &sampling.top_p)] {
        body.write_optional(name, number.as_ref(), |it, number| it.raw(number.text()));
    }
    let effort = effort(head);
    let format = head.response_format.as_ref();
    match spelling {
        Spelling::Chat => {
            body.write_optional("max_completion_tokens", head.max_tokens, |it, n| it.u64(n));
            body.write_optional("stream", head.stream, |it, is| it.bool(is));
            body.write_optional("response_format", format, chat_format);
            let stop = head.first_stops(target, MOST_STOPS, &mut report);
            let stop = Some(stop).filter(|it| !it.is_empty());
            body.write_optional("stop", stop, |it, all| it.array(all, |it, text| it.str(text)));
            body.write_optional("reasoning_effort", effort, |it, word| it.str(word));
            write_drawing(head, body);
            let verbosity = head.verbosity.as_ref();
            body.write_optional("verbosity", verbosity, |it, raw| it.raw(raw.text()));
        }
        Spelling::Responses => {
            let most = head.tokens_of_at_least(target, FEWEST_TOKENS, &mut report);
            body.write_optional("max_output_tokens", most, |it, n| it.u64(n));
            body.write_optional("stream", head.stream, |it, is| it.bool(is));
            let has_text = format.is_some() || head.verbosity.is_some();
            body.write_optional("text", Some(head).filter(|_| has_text), responses_text);
            body.write_optional("reasoning", effort, |it, word| {
                it.object(|it| it.key("effort").str(word));
            });
        }
    }
    write_shared(head, body);
    let is_flat = spelling == Spelling::Responses;
    let thinking = head.reasoning.thinking;
    let placeless = [
        ("top_k", sampling.top_k.is_some()),
        ("stop", is_flat && !head.stop.is_empty()),
        ("seed", is_flat && sampling.seed.is_some()),
        ("frequency_penalty", is_flat && sampling.frequency_penalty.is_some()),
        ("presence_penalty", is_flat && sampling.presence_penalty.is_some()),
        ("choices", is_flat && head.choices.is_some()),
        ("logprobs", is_flat && head.logprobs.is_some()),
        ("modalities", is_flat && !head.modalities.is_empty()),
        ("thinking", matches!(thinking, Some(Thinking::Budget(_) | Thinking::Adaptive))),
        ("effort", thinking == Some(Thinking::Off) && head.reasoning.effort.is_some()),
    ];
    head.lose(target, &placeless, &mut report);
    report
}

/// The tools, and which of them are called.
fn write_tools(head: &RequestHead, spelling: Spelling, body: &mut Body, report: &mut Report) {
    let unsaid = |it: &Tool| match it.function().and_then(|it| it.defer_loading) {
        Some(_) if spelling == Spelling::Chat => vec!["defer_loading"],
        _ => Vec::new(),
    };
    let all = head.tools_for(spelling.target(), unsaid, report);
    let all = Some(all).filter(|it| !it.is_empty());
    body.write_optional("tools", all, |it, all| tools::write_tools(&all, spelling, it));
    body.write_optional("tool_choice", head.tool_choice.as_ref(), |it, choice| {
        tools::write_choice(choice, spelling, it);
    });
    body.write_optional("parallel_tool_calls", head.parallel_tool_calls, |it, is| it.bool(is));
}

/// The word for how much it thinks: `none` for not at all.
fn effort(head: &RequestHead) -> Option<&str> {
    match head.reasoning.thinking {
        Some(Thinking::Off) => Some("none"),
        _ => head.reasoning.effort.as_ref().map(|it| it.word()),
    }
}

/// What chat requests say of drawing and Responses do not.
fn write_drawing(head: &RequestHead, body: &mut Body) {
    let sampling = &head.sampling;
    for (name, number) in [
        ("seed", &sampling.seed),
        ("frequency_penalty", &sampling.frequency_penalty),
        ("presence_penalty", &sampling.presence_penalty),
    ] {
        body.write_optional(name, number.as_ref(), |it, number| it.raw(number.text()));
    }
    body.write_optional("n", head.choices, |it, n| it.u64(n));
    body.write_optional("logprobs", head.logprobs, |it, is| it.bool(is));
    let modalities = Some(&head.modalities).filter(|it| !it.is_empty());
    body.write_optional("modalities", modalities, |it, all| it.array(all, |it, text| it.str(text)));
}

/// What both spell alike.
fn write_shared(head: &RequestHead, body: &mut Body) {
    body.write_optional("top_logprobs", head.top_logprobs, |it, n| it.u64(n));
    for (name, text) in [
        ("service_tier", &head.service_tier),
        ("user", &head.user),
        ("safety_identifier", &head.safety_identifier),
    ] {
        body.write_optional(name, text.as_ref(), |it, text| it.str(text));
    }
    for (name, raw) in &head.of_openai {
        body.set(name, raw.clone());
    }
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

fn responses_text(it: &mut Writer<'_>, head: &RequestHead) {
    let format = |it: &mut Writer<'_>, format: &ResponseFormat| match format {
        ResponseFormat::Json => it.key("type").str("json_object"),
        ResponseFormat::Schema(schema) => {
            it.key("type").str("json_schema");
            members(schema, it);
        }
    };
    it.object(|it| {
        it.optional("format", head.response_format.as_ref(), |it, found| {
            it.object(|it| format(it, found));
        });
        it.optional("verbosity", head.verbosity.as_ref(), |it, raw| it.raw(raw.text()));
    });
}

fn members(schema: &ResponseSchema, it: &mut Writer<'_>) {
    // Both refuse a schema without a name.
    it.key("name").str(schema.name.as_deref().unwrap_or("response"));
    it.optional("description", schema.description.as_ref(), |it, text| it.str(text));
    it.key("schema").raw(schema.schema.text());
    it.optional("strict", schema.strict, |it, is| it.bool(is));
}
