//! A head into the members of a request; what they have no place for is reported.

use msg_core::{
    RawJson, Report,
    request::{Function, ReasoningSetting, RequestHead, ResponseFormat, ToolChoice},
};
use msg_json::Writer;

/// What documents of this format are called in a report.
const TARGET: &str = "gemini requests";

/// The members in their order, but the contents.
pub(crate) fn write(head: &RequestHead, report: &mut Report) -> Vec<(&'static str, RawJson)> {
    let mut res = Vec::new();
    let mut set = |name, json: Option<String>| {
        let raw = json.map(|it| RawJson::new(it).expect("because a writer makes JSON"));
        res.extend(raw.map(|it| (name, it)));
    };
    set("model", head.model.as_ref().map(|it| msg_json::to_text(|out| out.str(it))));
    set("tools", tools(head, report));
    set("toolConfig", head.tool_choice.as_ref().map(tool_config));
    set("generationConfig", generation_config(head));
    head.lose(TARGET, &unsaid(head), report);
    res
}

/// The functions; none if there are none. All else is reported.
fn tools(head: &RequestHead, report: &mut Report) -> Option<String> {
    let functions = head.functions(TARGET, |it| it.strict.map(|_| "strict"), report);
    if functions.is_empty() {
        return None;
    }
    Some(msg_json::to_text(|it| {
        it.array([functions], |it, functions| {
            it.object(|it| it.key("functionDeclarations").array(functions, declaration));
        });
    }))
}

fn declaration(it: &mut Writer<'_>, tool: &Function) {
    it.object(|it| {
        it.key("name").str(&tool.name);
        if let Some(description) = &tool.description {
            it.key("description").str(description);
        }
        if let Some(parameters) = &tool.parameters {
            it.key("parametersJsonSchema").raw(parameters.text());
        }
    });
}

fn tool_config(choice: &ToolChoice) -> String {
    let mode = match choice {
        ToolChoice::Auto => "AUTO",
        ToolChoice::None => "NONE",
        ToolChoice::Required | ToolChoice::Tool(_) => "ANY",
    };
    msg_json::to_text(|it| {
        it.object(|it| {
            it.key("functionCallingConfig").object(|it| {
                it.key("mode").str(mode);
                if let ToolChoice::Tool(name) = choice {
                    it.key("allowedFunctionNames").array([name], |it, name| it.str(name));
                }
            });
        });
    })
}

/// The settings; none if nothing is set.
fn generation_config(head: &RequestHead) -> Option<String> {
    let text = msg_json::to_text(|it| it.object(|it| settings(head, it)));
    (text != "{}").then_some(text)
}

fn settings(head: &RequestHead, it: &mut Writer<'_>) {
    let sampling = &head.sampling;
    for (name, value) in [
        ("temperature", &sampling.temperature),
        ("topP", &sampling.top_p),
        ("topK", &sampling.top_k),
    ] {
        if let Some(value) = value {
            it.key(name).raw(value.text());
        }
    }
    if let Some(tokens) = head.max_tokens {
        it.key("maxOutputTokens").u64(tokens);
    }
    if !head.stop.is_empty() {
        it.key("stopSequences").array(&head.stop, |it, text| it.str(text));
    }
    if let Some(format) = &head.response_format {
        it.key("responseMimeType").str("application/json");
        if let ResponseFormat::Schema(schema) = format {
            it.key("responseJsonSchema").raw(schema.schema.text());
        }
    }
    if let Some(setting) = &head.reasoning {
        it.key("thinkingConfig").object(|it| match setting {
            ReasoningSetting::Effort(word) => it.key("thinkingLevel").str(word),
            ReasoningSetting::Budget(tokens) => it.key("thinkingBudget").u64(*tokens),
        });
    }
}

/// The members of the head that have no place.
fn unsaid(head: &RequestHead) -> Vec<&'static str> {
    let schema = head.schema();
    let all = [
        ("parallel_tool_calls", head.parallel_tool_calls.is_some()),
        // Streaming is another method, not a member.
        ("stream", head.stream.is_some()),
        ("response_format.name", schema.is_some_and(|it| it.name.is_some())),
        ("response_format.description", schema.is_some_and(|it| it.description.is_some())),
        ("response_format.strict", schema.is_some_and(|it| it.strict.is_some())),
    ];
    all.iter().filter(|it| it.1).map(|it| it.0).collect()
}
