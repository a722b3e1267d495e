//! The head of a request (BR-24): what it asks besides its conversation, in words that providers share.
//!
//! ```text
//! {"toolConfig":{"tools":[{"toolSpec":{"name":"f"}}],"toolChoice":{"any":{}}},"inferenceConfig":{"maxTokens":9}}
//! head   tools [f], choice required, max_tokens 9
//! ```

use msg_codec::codec::{Body, Settings};
use msg_core::{
    RawJson, Report,
    request::{
        Effort, Function, RequestHead, ResponseFormat, ResponseSchema, SchemaOrigin, Setting,
        Thinking, Tool, ToolChoice,
    },
};
use msg_json::Writer;

use crate::write::of_cache_control;

/// What documents of this format are called in a report.
const TARGET: &str = "bedrock requests";

/// The members of `inferenceConfig`.
static SETTINGS: Settings = Settings {
    target: TARGET,
    members: &[
        ("maxTokens", "max_tokens", 1..=u64::MAX),
        ("temperature", "temperature", 0..=1),
        ("topP", "top_p", 0..=1),
        ("stopSequences", "stop", 0..=u64::MAX),
    ],
    elsewhere: &["effort"],
};

/// The member of a tool that says that what is before it is cached, in Anthropic's word.
const CACHE: &str = "cache_control";

/// The head of these members, which are all but the conversation.
pub(crate) fn read<'a>(members: impl Iterator<Item = (&'a str, &'a RawJson)>) -> RequestHead {
    RequestHead::of_members(members, |head, name, raw| match name {
        "modelId" => raw.parse().ok().map(|it| head.model = Some(it)),
        "inferenceConfig" => SETTINGS.take_all(head, name, raw, |_, _, _| None),
        "toolConfig" => Settings::take_members(head, name, raw, |head, name, raw| match name {
            "tools" => tools(head, raw),
            "toolChoice" => choice(raw).map(|it| head.tool_choice = Some(it)),
            _ => None,
        }),
        "outputConfig" => Settings::take_members(head, name, raw, |head, name, raw| match name {
            "effort" => Settings::set(head, "effort", raw),
            "textFormat" => schema(raw).map(|it| head.response_format = Some(it)),
            _ => None,
        }),
        // The model's own members, in which Claude's are Anthropic's.
        "additionalModelRequestFields" => {
            Settings::take_members(head, name, raw, |head, name, raw| match name {
                "top_k" => Settings::set(head, "top_k", raw),
                "thinking" => thinking(raw).map(|it| head.reasoning.thinking = Some(it)),
                _ => None,
            })
        }
        _ => None,
    })
}

/// The functions; a cache point after one is its own (BR-9).
fn tools(head: &mut RequestHead, raw: &RawJson) -> Option<()> {
    for (at, raw) in raw.parse::<Vec<RawJson>>().ok()?.into_iter().enumerate() {
        let pointer = format!("/toolConfig/tools/{at}");
        let members = raw.present_members().unwrap_or_default();
        if let ([(name, point)], Some(Tool::Function(last))) =
            (members.as_slice(), head.tools.last_mut())
            && name == "cachePoint"
            && !last.rest.iter().any(|it| it.word == CACHE)
        {
            let (word, pointer) = (CACHE.to_owned(), format!("{pointer}/{name}"));
            last.rest.push(Setting { word, pointer, value: of_cache_point(point) });
            continue;
        }
        head.tools.push(Tool::of(function(&raw, &pointer), pointer));
    }
    Some(())
}

/// What Anthropic calls a cache point.
pub(crate) fn of_cache_point(point: &RawJson) -> RawJson {
    let members = point.members().unwrap_or_default();
    let ttl = members.iter().find(|it| it.0 == "ttl").map(|it| &it.1);
    RawJson::written(|it| {
        it.object(|it| {
            it.key("type").str("ephemeral");
            it.optional("ttl", ttl, |it, raw| it.raw(raw.text()));
        });
    })
}

fn function(raw: &RawJson, pointer: &str) -> Option<Function> {
    let members = raw.present_members()?;
    let [(name, spec)] = members.as_slice() else { return None };
    (name == "toolSpec").then_some(())?;
    let mut members = spec.present_members()?;
    if let Some(it) = members.iter_mut().find(|it| it.0 == "inputSchema") {
        let inner = it.1.present_members()?;
        let [(name, schema)] = inner.as_slice() else { return None };
        (name == "json").then_some(())?;
        it.1 = schema.clone();
    }
    let mut res = Function::of_members(members, "inputSchema", &format!("{pointer}/toolSpec"))?;
    res.origin.pointer.push_str("/json");
    Some(res)
}

fn choice(raw: &RawJson) -> Option<ToolChoice> {
    let members = raw.present_members()?;
    let [(name, value)] = members.as_slice() else { return None };
    match name.as_str() {
        "auto" => Some(ToolChoice::Auto),
        "any" => Some(ToolChoice::Required),
        "tool" => {
            let members = value.present_members()?;
            let name = members.iter().find(|it| it.0 == "name")?;
            Some(ToolChoice::Tool(name.1.parse().ok()?))
        }
        _ => None,
    }
}

/// The schema of the answer, which is in a string.
fn schema(raw: &RawJson) -> Option<ResponseFormat> {
    let member = |raw: &RawJson, name: &str| {
        let members = raw.present_members()?;
        members.into_iter().find(|it| it.0 == name).map(|it| it.1)
    };
    (member(raw, "type")?.parse::<String>().ok()? == "json_schema").then_some(())?;
    let inner = member(&member(raw, "structure")?, "jsonSchema")?;
    let schema = RawJson::new(member(&inner, "schema")?.parse::<String>().ok()?).ok()?;
    let text = |name| member(&inner, name).and_then(|it| it.parse().ok());
    let (name, description) = (text("name"), text("description"));
    Some(ResponseFormat::Schema(ResponseSchema {
        name,
        description,
        schema,
        origin: SchemaOrigin::default(),
        strict: None,
    }))
}

fn thinking(raw: &RawJson) -> Option<Thinking> {
    let members = raw.present_members()?;
    let find = |name: &str| members.iter().find(|it| it.0 == name).map(|it| &it.1);
    let (kind, n_members) = (find("type")?.parse::<String>().ok()?, members.len());
    match kind.as_str() {
        "disabled" if n_members == 1 => Some(Thinking::Off),
        "adaptive" if n_members == 1 => Some(Thinking::Adaptive),
        "enabled" if n_members == 2 => Some(Thinking::Budget(find("budget_tokens")?.parse().ok()?)),
        _ => None,
    }
}

/// Puts the members of a head into a body that has `modelId` and `messages`.
pub(crate) fn write(head: &RequestHead, has_calls: bool, body: &mut Body) -> Report {
    let mut report = Report::new();
    let settings = msg_json::to_text(|it| {
        it.object(|it| {
            SETTINGS.write(head, &mut report, |name, raw| it.key(name).raw(raw.text()));
        });
    });
    let settings = Some(settings).filter(|it| it != "{}");
    body.write_optional("inferenceConfig", settings, |it, json| it.raw(&json));
    let is_none = head.tool_choice == Some(ToolChoice::None);
    let mut known = head.clone();
    for tool in &mut known.tools {
        if let Tool::Function(it) = tool {
            it.rest.retain(|it| it.word != CACHE || of_cache_control(&it.value).is_none());
        }
    }
    let tools = known.tools_for(
        TARGET,
        |it| match it.function() {
            Some(it) => it.defer_loading.map(|_| "defer_loading").into_iter().collect(),
            None => vec!["type"],
        },
        |_| None,
        &mut report,
    );
    let functions: Vec<_> = tools.into_iter().filter_map(Tool::function).collect();
    // The format cannot say "no calls": without tools none can be made, but a history of calls needs them.
    let withheld = is_none && !has_calls;
    if !functions.is_empty() && !withheld {
        body.write_member("toolConfig", |it| {
            it.object(|it| {
                it.key("tools").list(|it| {
                    for tool in head.tools.iter().filter_map(Tool::function) {
                        write_tool(it, tool);
                    }
                });
                it.optional(
                    "toolChoice",
                    head.tool_choice.as_ref().filter(|_| !is_none),
                    write_choice,
                );
            });
        });
    }
    let schema = head.schema();
    let effort = head.reasoning.effort.as_ref().map(Effort::word);
    if schema.is_some() || effort.is_some() {
        body.write_member("outputConfig", |it| {
            it.object(|it| {
                it.optional("textFormat", schema, write_schema);
                it.optional("effort", effort, |it, text| it.str(text));
            });
        });
    }
    let is_claude = head.model.as_deref().is_some_and(|it| it.contains("claude"));
    let thinking = head.reasoning.thinking;
    let top_k = head.sampling.top_k.as_ref();
    if is_claude && (top_k.is_some() || thinking.is_some()) {
        body.write_member("additionalModelRequestFields", |it| {
            it.object(|it| {
                it.optional("top_k", top_k, |it, raw| it.raw(raw.text()));
                it.optional("thinking", thinking, write_thinking);
            });
        });
    }
    let placeless = [
        ("tools", withheld && !functions.is_empty()),
        (
            "tool_choice",
            is_none
                || matches!(
                    head.tool_choice.as_ref().map(ToolChoice::narrowed),
                    Some(
                        ToolChoice::Custom(_) | ToolChoice::Hosted(_) | ToolChoice::Allowed { .. }
                    )
                )
                || head.tool_choice.is_some() && functions.is_empty(),
        ),
        ("top_k", !is_claude && top_k.is_some()),
        ("response_format", head.response_format == Some(ResponseFormat::Json)),
        ("response_format.strict", schema.is_some_and(|it| it.strict.is_some())),
        ("thinking", !is_claude && thinking.is_some()),
    ];
    SETTINGS.lose(head, &placeless, &mut report);
    report
}

/// Thinking in the words of Anthropic, which Claude takes here too.
fn write_thinking(it: &mut Writer<'_>, thinking: Thinking) {
    it.object(|it| {
        it.key("type").str(match thinking {
            Thinking::Off => "disabled",
            Thinking::Adaptive => "adaptive",
            Thinking::Budget(_) => "enabled",
        });
        if let Thinking::Budget(tokens) = thinking {
            it.key("budget_tokens").u64(tokens);
        }
    });
}

fn write_tool(it: &mut Writer<'_>, tool: &Function) {
    it.object(|it| {
        it.key("toolSpec").object(|it| {
            it.key("name").str(&tool.name);
            let description = tool.description.as_ref().filter(|it| !it.is_empty());
            it.optional("description", description, |it, text| it.str(text));
            let schema = tool.parameters.as_ref().map_or(r#"{"type":"object"}"#, RawJson::text);
            it.key("inputSchema").object(|it| it.key("json").raw(schema));
            it.optional("strict", tool.strict, |it, is| it.bool(is));
        });
    });
    let point = tool.rest.iter().find(|it| it.word == CACHE);
    let point = point.and_then(|it| of_cache_control(&it.value));
    if let Some(point) = point {
        it.object(|it| it.key("cachePoint").raw(point.text()));
    }
}

fn write_choice(it: &mut Writer<'_>, choice: &ToolChoice) {
    it.object(|it| match choice.narrowed() {
        ToolChoice::Auto | ToolChoice::None => it.key("auto").object(|_| {}),
        ToolChoice::Required => it.key("any").object(|_| {}),
        ToolChoice::Custom(_) | ToolChoice::Hosted(_) | ToolChoice::Allowed { .. } => {
            it.key("auto").object(|_| {});
        }
        ToolChoice::Tool(name) => it.key("tool").object(|it| it.key("name").str(name)),
    });
}

fn write_schema(it: &mut Writer<'_>, schema: &ResponseSchema) {
    it.object(|it| {
        it.key("type").str("json_schema");
        it.key("structure").object(|it| {
            it.key("jsonSchema").object(|it| {
                it.key("schema").str(schema.schema.text());
                it.optional("name", schema.name.as_ref(), |it, text| it.str(text));
                it.optional("description", schema.description.as_ref(), |it, text| it.str(text));
            });
        });
    });
}
