//! A head into the members of a request; what they have no place for is reported.

use msg_core::{
    RawJson, Report,
    request::{Function, ReasoningSetting, RequestHead, ResponseFormat, ToolChoice},
};
use msg_json::Writer;

/// What documents of this format are called in a report.
const TARGET: &str = "anthropic requests";

/// The members in their order, but `max_tokens`, which a request must have, and `messages`.
pub(crate) fn write(head: &RequestHead, report: &mut Report) -> Vec<(&'static str, RawJson)> {
    let mut res = Vec::new();
    let mut set = |name, json: Option<String>| {
        let raw = json.map(|it| RawJson::new(it).expect("because a writer makes JSON"));
        res.extend(raw.map(|it| (name, it)));
    };
    let number = |it: &Option<RawJson>| it.as_ref().map(|it| it.text().to_owned());
    set("temperature", number(&head.sampling.temperature));
    set("top_p", number(&head.sampling.top_p));
    set("top_k", number(&head.sampling.top_k));
    set("stop_sequences", (!head.stop.is_empty()).then(|| texts(&head.stop)));
    set("stream", head.stream.map(|it| it.to_string()));
    set("tools", tools(head, report));
    set("tool_choice", choice(head));
    set("thinking", budget(head).map(thinking));
    set("output_config", output_config(head));
    head.lose(TARGET, &unsaid(head), report);
    res
}

fn texts(stop: &[String]) -> String {
    msg_json::to_text(|it| it.array(stop, |it, text| it.str(text)))
}

/// The functions; none if there are none. All else is reported.
fn tools(head: &RequestHead, report: &mut Report) -> Option<String> {
    let functions = head.functions(TARGET, |_| None, report);
    (!functions.is_empty()).then(|| msg_json::to_text(|it| it.array(functions, write_tool)))
}

fn write_tool(it: &mut Writer<'_>, tool: &Function) {
    it.object(|it| {
        it.key("name").str(&tool.name);
        if let Some(description) = &tool.description {
            it.key("description").str(description);
        }
        // The API wants a schema; one without parameters is that of an empty object.
        let schema = tool.parameters.as_ref().map_or(r#"{"type":"object"}"#, RawJson::text);
        it.key("input_schema").raw(schema);
        if let Some(strict) = tool.strict {
            it.key("strict").bool(strict);
        }
    });
}

/// The choice; where only the number of calls is asked for, with the choice that is the default.
fn choice(head: &RequestHead) -> Option<String> {
    let parallel = head.parallel_tool_calls;
    let choice = head.tool_choice.as_ref().or(parallel.is_some().then_some(&ToolChoice::Auto))?;
    Some(msg_json::to_text(|it| {
        it.object(|it| {
            it.key("type").str(match choice {
                ToolChoice::Auto => "auto",
                ToolChoice::None => "none",
                ToolChoice::Required => "any",
                ToolChoice::Tool(_) => "tool",
            });
            if let ToolChoice::Tool(name) = choice {
                it.key("name").str(name);
            }
            if let Some(parallel) = parallel.filter(|_| *choice != ToolChoice::None) {
                it.key("disable_parallel_tool_use").bool(!parallel);
            }
        });
    }))
}

fn budget(head: &RequestHead) -> Option<u64> {
    match head.reasoning {
        Some(ReasoningSetting::Budget(tokens)) => Some(tokens),
        _ => None,
    }
}

fn thinking(budget: u64) -> String {
    msg_json::to_text(|it| {
        it.object(|it| {
            it.key("type").str("enabled");
            it.key("budget_tokens").u64(budget);
        });
    })
}

fn output_config(head: &RequestHead) -> Option<String> {
    let text = msg_json::to_text(|it| {
        it.object(|it| {
            if let Some(format) = head.schema() {
                it.key("format").object(|it| {
                    it.key("type").str("json_schema");
                    it.key("schema").raw(format.schema.text());
                });
            }
            if let Some(ReasoningSetting::Effort(effort)) = &head.reasoning {
                it.key("effort").str(effort);
            }
        });
    });
    (text != "{}").then_some(text)
}

/// The members of the head that have no place.
fn unsaid(head: &RequestHead) -> Vec<&'static str> {
    let is_none = head.tool_choice == Some(ToolChoice::None);
    let schema = head.schema();
    let all = [
        ("parallel_tool_calls", is_none && head.parallel_tool_calls.is_some()),
        ("response_format", head.response_format == Some(ResponseFormat::Json)),
        ("response_format.name", schema.is_some_and(|it| it.name.is_some())),
        ("response_format.description", schema.is_some_and(|it| it.description.is_some())),
        ("response_format.strict", schema.is_some_and(|it| it.strict.is_some())),
    ];
    all.into_iter().filter(|it| it.1).map(|it| it.0).collect()
}
