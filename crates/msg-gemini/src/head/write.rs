//! A head into the members of a request; what they have no place for is reported.

use msg_codec::codec::{Body, Settings};
use msg_core::{
    RawJson, Report,
    request::{Effort, Function, RequestHead, ResponseFormat, Thinking, Tool, ToolChoice},
};
use msg_json::Writer;

use super::{hosted, said_choice, unsaid};

/// What documents of this format are called in a report.
const TARGET: &str = "gemini requests";

/// The members of `generationConfig` that are one value each.
pub(super) static SETTINGS: Settings = Settings {
    target: TARGET,
    members: &[
        ("temperature", "temperature", 0..=2),
        ("topP", "top_p", 0..=1),
        ("topK", "top_k", 0..=u64::MAX),
        ("seed", "seed", 0..=u64::MAX),
        ("frequencyPenalty", "frequency_penalty", 0..=u64::MAX),
        ("presencePenalty", "presence_penalty", 0..=u64::MAX),
        ("maxOutputTokens", "max_tokens", 0..=u64::MAX),
        // RQ-14
        ("stopSequences", "stop", 0..=5),
        ("candidateCount", "choices", 0..=u64::MAX),
        ("responseLogprobs", "logprobs", 0..=u64::MAX),
        ("logprobs", "top_logprobs", 0..=u64::MAX),
    ],
    elsewhere: &["effort", "modalities"],
};

/// Puts the members of a head into a body that has `contents`.
pub(crate) fn write(head: &RequestHead, body: &mut Body) -> Report {
    let mut report = Report::new();
    body.write_optional("model", head.model.as_ref(), |it, text| it.str(text));
    let places = |kind| hosted::places(head, kind);
    let tools = head.tools_for(TARGET, unsaid, places, &mut report);
    body.write_optional("tools", Some(&tools).filter(|it| !it.is_empty()), write_tools);
    let lost_all = !head.tools.is_empty() && tools.is_empty();
    let choice = said_choice(head).filter(|_| !lost_all);
    body.write_optional("toolConfig", choice, tool_config);
    body.write_object("generationConfig", |it| settings(head, it, &mut report));
    let tier = match head.caller.service_tier.as_deref() {
        Some("default") => Some("standard"),
        Some("fast" | "priority") => Some("priority"),
        Some("flex") => Some("flex"),
        _ => None,
    };
    body.write_optional("serviceTier", tier, |it, word| it.str(word));
    let placeless = [
        ("tool_choice", head.tool_choice.is_some() && choice.is_none()),
        ("service_tier", head.caller.service_tier.is_some() && tier.is_none()),
    ];
    head.lose_schema_notes(TARGET, &mut report);
    SETTINGS.lose(head, &placeless, &mut report);
    report
}

/// The functions in one tool, each tool of the provider in one of its own.
fn write_tools(it: &mut Writer<'_>, tools: &Vec<&Tool>) {
    let functions: Vec<_> = tools.iter().filter_map(|it| it.function()).collect();
    it.list(|it| {
        if !functions.is_empty() {
            it.object(|it| it.key("functionDeclarations").array(functions, declaration));
        }
        for (name, _) in tools.iter().filter_map(|it| hosted::names(it)) {
            it.object(|it| it.key(name).object(|_| {}));
        }
    });
}

fn declaration(it: &mut Writer<'_>, tool: &Function) {
    it.object(|it| {
        it.key("name").str(&tool.name);
        it.optional("description", tool.description.as_ref(), |it, text| it.str(text));
        it.optional("parametersJsonSchema", tool.parameters.as_ref(), write_schema);
    });
}

/// A schema as the API reads it: it ignores `const` (RQ-3).
fn write_schema(it: &mut Writer<'_>, schema: &RawJson) {
    it.raw(msg_schema::for_gemini(schema).text());
}

fn tool_config(it: &mut Writer<'_>, (choice, mode): (&ToolChoice, &str)) {
    it.object(|it| {
        it.key("functionCallingConfig").object(|it| {
            it.key("mode").str(&mode.to_ascii_uppercase());
            let names = choice.functions().filter(|it| !it.is_empty());
            it.optional("allowedFunctionNames", names, |it, names| {
                it.array(names, |it, text| it.str(text));
            });
        });
    });
}

fn settings(head: &RequestHead, it: &mut Writer<'_>, report: &mut Report) {
    SETTINGS.write(head, report, |name, raw| it.key(name).raw(raw.text()));
    if !head.output.modalities.is_empty() {
        it.key("responseModalities").array(&head.output.modalities, |it, word| {
            it.str(&word.to_ascii_uppercase());
        });
    }
    if let Some(format) = &head.response_format {
        it.key("responseMimeType").str("application/json");
        if let ResponseFormat::Schema(schema) = format {
            write_schema(it.key("responseJsonSchema"), &schema.schema);
        }
    }
    thinking(head, it, report);
}

/// A level or a budget: the API refuses both at once.
fn thinking(head: &RequestHead, it: &mut Writer<'_>, report: &mut Report) {
    let (effort, thinking) = (&head.reasoning.effort, head.reasoning.thinking);
    let is_off = thinking == Some(Thinking::Off);
    let level = match effort {
        Some(_) if !is_off => head.effort_between(TARGET, Effort::Minimal, Effort::High, report),
        _ => None,
    };
    let lost = [
        ("effort", is_off && effort.is_some()),
        ("thinking", level.is_some() && thinking.is_some()),
    ];
    for (word, _) in lost.iter().filter(|it| it.1) {
        head.lose_word(TARGET, word, report);
    }
    let budget = match thinking.filter(|_| level.is_none()) {
        Some(Thinking::Off) => Some("0".to_owned()),
        Some(Thinking::Adaptive) => Some("-1".to_owned()),
        Some(Thinking::Budget(tokens)) => Some(tokens.to_string()),
        None => None,
    };
    if level.is_some() || budget.is_some() {
        it.key("thinkingConfig").object(|it| {
            it.optional("thinkingLevel", level, |it, level| {
                it.str(&level.word().to_ascii_uppercase());
            });
            it.optional("thinkingBudget", budget.as_ref(), |it, number| it.raw(number));
        });
    }
}
