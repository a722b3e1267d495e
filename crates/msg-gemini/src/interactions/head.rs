//! The head of a request (GI-24): what it asks besides its conversation, in words that providers share.
//!
//! ```text
//! {"tools":[{"type":"function","name":"f"}],"generation_config":{"max_output_tokens":9,"tool_choice":"any"}}
//! head   tools [f], max_tokens 9, choice required
//! ```

use msg_codec::codec::{Body, Settings};
use msg_core::{
    RawJson, Report,
    request::{
        Function, HostedTool, RequestHead, ResponseFormat, ResponseSchema, SchemaOrigin, Tool,
        ToolChoice,
    },
};
use msg_json::Writer;

use crate::head::{hosted, said_choice};

const CONFIG: &str = "generation_config";
const JSON: &str = "application/json";

/// What documents of this format are called in a report.
const TARGET: &str = "interactions";

/// The members of `generation_config`.
static SETTINGS: Settings = Settings {
    target: TARGET,
    members: &[
        ("max_output_tokens", "max_tokens", 0..=u64::MAX),
        ("temperature", "temperature", 0..=u64::MAX),
        ("top_p", "top_p", 0..=u64::MAX),
        ("stop_sequences", "stop", 0..=u64::MAX),
        ("thinking_level", "effort", 0..=3),
    ],
    elsewhere: &["stream"],
};

/// The head of these members, which are all but the conversation.
pub(super) fn read<'a>(members: impl Iterator<Item = (&'a str, &'a RawJson)>) -> RequestHead {
    // The older schema says the type of the answer beside its schema.
    let mut before: Option<(String, RawJson)> = None;
    let mut head = RequestHead::of_members(members, |head, name, raw| match name {
        "model" => raw.parse().ok().map(|it| head.model = Some(it)),
        "stream" => raw.parse().ok().map(|it| head.stream = Some(it)),
        "tools" => {
            let tools: Vec<RawJson> = raw.parse().ok()?;
            let read = |(at, it)| match hosted_tool(&it, at) {
                Some(tool) => Tool::Hosted(tool),
                None => {
                    let pointer = format!("/tools/{at}");
                    Tool::of(function(&it, &pointer), pointer)
                }
            };
            head.tools.extend(tools.into_iter().enumerate().map(read));
            Some(())
        }
        CONFIG => SETTINGS.take_all(head, CONFIG, raw, |head, name, raw| {
            let choice = choice(raw).filter(|_| name == "tool_choice")?;
            head.place("tool_choice", format!("/{CONFIG}/{name}"));
            head.tool_choice = Some(choice);
            Some(())
        }),
        "response_format" => format(head, raw),
        "response_mime_type" if raw.parse::<String>().ok()? == JSON => {
            before = Some((name.to_owned(), raw.clone()));
            Some(())
        }
        _ => None,
    });
    if before.is_some() && head.response_format.is_none() {
        let bare = head.rest.iter().position(|it| it.0 == "response_format");
        let is_object = |at: &usize| head.rest[*at].1.text().starts_with('{');
        head.response_format = Some(match bare.filter(is_object) {
            Some(at) => schema(head.rest.remove(at).1, "/response_format"),
            None => ResponseFormat::Json,
        });
    }
    head
}

fn hosted_tool(raw: &RawJson, index: usize) -> Option<HostedTool> {
    let mut members = raw.present_members()?;
    let at = members.iter().position(|it| it.0 == "type")?;
    let kind = hosted::kind(&members.remove(at).1.parse::<String>().ok()?)?;
    let pointer = format!("/tools/{index}");
    Some(hosted::read(kind, members, (&pointer, &pointer)))
}

fn function(raw: &RawJson, pointer: &str) -> Option<Function> {
    let mut members = raw.present_members()?;
    let at = members.iter().position(|it| it.0 == "type")?;
    (members.remove(at).1.parse::<String>().ok()? == "function").then_some(())?;
    Function::of_members(members, "parameters", pointer)
}

/// The choice; none for a mode without a word.
fn choice(raw: &RawJson) -> Option<ToolChoice> {
    if let Ok(word) = raw.parse::<String>() {
        return match word.to_ascii_lowercase().as_str() {
            "auto" => Some(ToolChoice::Auto),
            "none" => Some(ToolChoice::None),
            "any" => Some(ToolChoice::Required),
            _ => None,
        };
    }
    let members = raw.present_members()?;
    let [(name, allowed)] = members.as_slice() else { return None };
    (name == "allowed_tools").then_some(())?;
    let members = allowed.present_members()?;
    let find = |wanted: &str| members.iter().find(|it| it.0 == wanted).map(|it| &it.1);
    let mode = find("mode").and_then(|it| it.parse::<String>().ok()).unwrap_or_default();
    let tools: Vec<String> = find("tools")?.parse().ok()?;
    match (mode.to_ascii_lowercase().as_str(), tools.as_slice()) {
        ("any", [one]) => Some(ToolChoice::Tool(one.clone())),
        ("any", _) => Some(ToolChoice::required(tools)),
        _ => None,
    }
}

/// The format of a text, alone or in an array; others, of images and sounds, have no word.
fn format(head: &mut RequestHead, raw: &RawJson) -> Option<()> {
    if let Ok(list) = raw.parse::<Vec<RawJson>>() {
        let mut is_told = false;
        for (at, one) in list.iter().enumerate() {
            let pointer = format!("/response_format/{at}/schema");
            if !is_told && one_format(head, one, &pointer).is_some() {
                is_told = true;
            } else {
                head.rest.push((format!("response_format.{at}"), one.clone()));
            }
        }
        return Some(());
    }
    one_format(head, raw, "/response_format/schema")
}

/// The format of a text; a schema says that it is JSON.
fn one_format(head: &mut RequestHead, one: &RawJson, pointer: &str) -> Option<()> {
    let members = one.present_members()?;
    let find = |wanted: &str| members.iter().find(|it| it.0 == wanted).map(|it| &it.1);
    let is =
        |name, word| find(name).and_then(|it| it.parse::<String>().ok()).as_deref() == Some(word);
    let is_known =
        |it: &(String, RawJson)| matches!(it.0.as_str(), "type" | "mime_type" | "schema");
    (is("type", "text") && members.iter().all(is_known)).then_some(())?;
    head.response_format = match find("schema") {
        Some(it) if is("mime_type", JSON) || find("mime_type").is_none() => {
            Some(schema(it.clone(), pointer))
        }
        None if is("mime_type", JSON) => Some(ResponseFormat::Json),
        None if is("mime_type", "text/plain") => None,
        _ => return None,
    };
    Some(())
}

fn schema(schema: RawJson, pointer: &str) -> ResponseFormat {
    let origin = SchemaOrigin { pointer: pointer.to_owned(), openapi: None };
    let (name, description, strict) = (None, None, None);
    ResponseFormat::Schema(ResponseSchema { name, description, schema, origin, strict })
}

/// Puts the members of a head into a body that has `model` and `input`.
pub(super) fn write(head: &RequestHead, body: &mut Body) -> Report {
    let mut report = Report::new();
    let choice = said_choice(head);
    let tools = head.tools_for(TARGET, unsaid, |kind| hosted::places(head, kind), &mut report);
    let tools = Some(tools).filter(|it| !it.is_empty());
    body.write_optional("tools", tools, |it, all| it.array(all, write_tool));
    let settings =
        Some(msg_json::to_text(|it| it.object(|it| settings(head, choice, it, &mut report))));
    body.write_optional(CONFIG, settings.filter(|it| it != "{}"), |it, json| it.raw(&json));
    body.write_optional("response_format", head.response_format.as_ref(), |it, format| {
        it.object(|it| {
            it.key("type").str("text");
            it.key("mime_type").str(JSON);
            if let ResponseFormat::Schema(format) = format {
                it.key("schema").raw(format.schema.text());
            }
        });
    });
    body.write_optional("stream", head.stream, |it, is| it.bool(is));
    let placeless = [
        ("tool_choice", head.tool_choice.is_some() && choice.is_none()),
        ("thinking", head.reasoning.thinking.is_some()),
    ];
    head.lose_schema_notes(TARGET, &mut report);
    SETTINGS.lose(head, &placeless, &mut report);
    report
}

fn write_tool(it: &mut Writer<'_>, tool: &Tool) {
    if let Some((_, name)) = hosted::names(tool) {
        return it.object(|it| it.key("type").str(name));
    }
    let Some(tool) = tool.function() else { return it.null() };
    it.object(|it| {
        it.key("type").str("function");
        it.key("name").str(&tool.name);
        it.optional("description", tool.description.as_ref(), |it, text| it.str(text));
        it.optional("parameters", tool.parameters.as_ref(), |it, raw| it.raw(raw.text()));
    });
}

/// What a tool has no place for.
fn unsaid(tool: &Tool) -> Vec<&'static str> {
    let Some(tool) = tool.function() else { return vec!["type"] };
    let strict = tool.strict.map(|_| "strict");
    strict.into_iter().chain(tool.defer_loading.map(|_| "defer_loading")).collect()
}

fn settings(
    head: &RequestHead,
    choice: Option<(&ToolChoice, &'static str)>,
    it: &mut Writer<'_>,
    report: &mut Report,
) {
    it.optional("tool_choice", choice, |it, (choice, mode)| {
        let names = choice.functions().unwrap_or_default();
        if names.is_empty() {
            return it.str(mode);
        }
        it.object(|it| {
            it.key("allowed_tools").object(|it| {
                it.key("mode").str(mode);
                it.key("tools").array(names, |it, name| it.str(name));
            });
        });
    });
    SETTINGS.write(head, report, |name, raw| it.key(name).raw(raw.text()));
}
