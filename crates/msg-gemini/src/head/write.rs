//! A head into the members of a request; what they have no place for is reported.

use msg_codec::codec::Body;
use msg_core::{
    Report,
    request::{Function, ReasoningSetting, RequestHead, ResponseFormat, ToolChoice},
};
use msg_json::Writer;

/// What documents of this format are called in a report.
const TARGET: &str = "gemini requests";

/// Puts the members of a head into a body that has `contents`.
pub(crate) fn write(head: &RequestHead, body: &mut Body) -> Report {
    let mut report = Report::new();
    body.write_optional("model", head.model.as_ref(), |it, text| it.str(text));
    let functions = head.functions(TARGET, |it| it.strict.map(|_| "strict"), &mut report);
    let functions = Some(functions).filter(|it| !it.is_empty());
    body.write_optional("tools", functions, |it, functions| {
        it.array([functions], |it, functions| {
            it.object(|it| it.key("functionDeclarations").array(functions, declaration));
        });
    });
    body.write_optional("toolConfig", head.tool_choice.as_ref(), tool_config);
    let settings = Some(msg_json::to_text(|it| it.object(|it| settings(head, it))));
    let settings = settings.filter(|it| it != "{}");
    body.write_optional("generationConfig", settings, |it, json| it.raw(&json));
    let schema = head.schema();
    let placeless = [
        ("parallel_tool_calls", head.parallel_tool_calls.is_some()),
        // Streaming is another method, not a member.
        ("stream", head.stream.is_some()),
        ("response_format.name", schema.is_some_and(|it| it.name.is_some())),
        ("response_format.description", schema.is_some_and(|it| it.description.is_some())),
        ("response_format.strict", schema.is_some_and(|it| it.strict.is_some())),
    ];
    head.lose(TARGET, &placeless, &mut report);
    report
}

fn declaration(it: &mut Writer<'_>, tool: &Function) {
    it.object(|it| {
        it.key("name").str(&tool.name);
        it.optional("description", tool.description.as_ref(), |it, text| it.str(text));
        it.optional("parametersJsonSchema", tool.parameters.as_ref(), |it, raw| it.raw(raw.text()));
    });
}

fn tool_config(it: &mut Writer<'_>, choice: &ToolChoice) {
    let (mode, name) = match choice {
        ToolChoice::Auto => ("AUTO", None),
        ToolChoice::None => ("NONE", None),
        ToolChoice::Required => ("ANY", None),
        ToolChoice::Tool(name) => ("ANY", Some(name)),
    };
    it.object(|it| {
        it.key("functionCallingConfig").object(|it| {
            it.key("mode").str(mode);
            it.optional("allowedFunctionNames", name, |it, name| {
                it.array([name], |it, text| it.str(text));
            });
        });
    });
}

fn settings(head: &RequestHead, it: &mut Writer<'_>) {
    let sampling = &head.sampling;
    for (name, value) in [
        ("temperature", &sampling.temperature),
        ("topP", &sampling.top_p),
        ("topK", &sampling.top_k),
    ] {
        it.optional(name, value.as_ref(), |it, raw| it.raw(raw.text()));
    }
    it.optional("maxOutputTokens", head.max_tokens, |it, n| it.u64(n));
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
