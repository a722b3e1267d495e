//! A head into the members of a request; what they have no place for is reported.

use msg_codec::codec::Body;
use msg_core::{
    RawJson, Report,
    request::{Function, ReasoningSetting, RequestHead, ResponseFormat, ToolChoice},
};
use msg_json::Writer;

/// What documents of this format are called in a report.
const TARGET: &str = "anthropic requests";

/// Puts the members of a head into a body that has `model`, `max_tokens` and `messages`.
pub(crate) fn write(head: &RequestHead, body: &mut Body) -> Report {
    let mut report = Report::new();
    let sampling = &head.sampling;
    for (name, number) in [
        ("temperature", &sampling.temperature),
        ("top_p", &sampling.top_p),
        ("top_k", &sampling.top_k),
    ] {
        body.write_optional(name, number.as_ref(), |it, raw| it.raw(raw.text()));
    }
    let stop = Some(&head.stop).filter(|it| !it.is_empty());
    body.write_optional("stop_sequences", stop, |it, all| it.array(all, |it, text| it.str(text)));
    body.write_optional("stream", head.stream, |it, is| it.bool(is));
    let functions = head.functions(TARGET, |_| None, &mut report);
    let functions = Some(functions).filter(|it| !it.is_empty());
    body.write_optional("tools", functions, |it, all| it.array(all, write_tool));
    write_choice(head, body);
    let budget = match head.reasoning {
        Some(ReasoningSetting::Budget(tokens)) => Some(tokens),
        _ => None,
    };
    body.write_optional("thinking", budget, write_thinking);
    write_output_config(head, body);
    let is_none = head.tool_choice == Some(ToolChoice::None);
    let schema = head.schema();
    let placeless = [
        ("parallel_tool_calls", is_none && head.parallel_tool_calls.is_some()),
        ("response_format", head.response_format == Some(ResponseFormat::Json)),
        ("response_format.name", schema.is_some_and(|it| it.name.is_some())),
        ("response_format.description", schema.is_some_and(|it| it.description.is_some())),
        ("response_format.strict", schema.is_some_and(|it| it.strict.is_some())),
    ];
    head.lose(TARGET, &placeless, &mut report);
    report
}

fn write_tool(it: &mut Writer<'_>, tool: &Function) {
    it.object(|it| {
        it.key("name").str(&tool.name);
        it.optional("description", tool.description.as_ref(), |it, text| it.str(text));
        // The API wants a schema; one without parameters is that of an empty object.
        let schema = tool.parameters.as_ref().map_or(r#"{"type":"object"}"#, RawJson::text);
        it.key("input_schema").raw(schema);
        it.optional("strict", tool.strict, |it, is| it.bool(is));
    });
}

/// The choice; where only the number of calls is asked for, with the choice that is the default.
fn write_choice(head: &RequestHead, body: &mut Body) {
    let parallel = head.parallel_tool_calls;
    let default = parallel.is_some().then_some(&ToolChoice::Auto);
    body.write_optional("tool_choice", head.tool_choice.as_ref().or(default), |it, choice| {
        it.object(|it| {
            let (kind, name) = match choice {
                ToolChoice::Auto => ("auto", None),
                ToolChoice::None => ("none", None),
                ToolChoice::Required => ("any", None),
                ToolChoice::Tool(name) => ("tool", Some(name)),
            };
            it.key("type").str(kind);
            it.optional("name", name, |it, text| it.str(text));
            let parallel = parallel.filter(|_| *choice != ToolChoice::None);
            it.optional("disable_parallel_tool_use", parallel, |it, is| it.bool(!is));
        });
    });
}

fn write_thinking(it: &mut Writer<'_>, budget: u64) {
    it.object(|it| {
        it.key("type").str("enabled");
        it.key("budget_tokens").u64(budget);
    });
}

fn write_output_config(head: &RequestHead, body: &mut Body) {
    let effort = match &head.reasoning {
        Some(ReasoningSetting::Effort(word)) => Some(word),
        _ => None,
    };
    let schema = head.schema();
    if schema.is_none() && effort.is_none() {
        return;
    }
    body.write_member("output_config", |it| {
        it.object(|it| {
            it.optional("format", schema, |it, schema| {
                it.object(|it| {
                    it.key("type").str("json_schema");
                    it.key("schema").raw(schema.schema.text());
                });
            });
            it.optional("effort", effort, |it, text| it.str(text));
        });
    });
}
