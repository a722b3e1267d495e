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
        Function, HostedTool, RequestHead, ResponseFormat, ResponseSchema, Tool, ToolChoice,
    },
};
use msg_json::Writer;

use crate::head;
use crate::head::{said_choice, unsaid};

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
        "tools" => head.take_tools(raw, |it, at| {
            let hosted = hosted_tool(it, at).map(Tool::Hosted);
            hosted.or_else(|| function(it, at).map(Tool::Function))
        }),
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
            Some(at) => format_of(head.rest.remove(at).1, "/response_format"),
            None => ResponseFormat::Json,
        });
    }
    head
}

fn hosted_tool(raw: &RawJson, pointer: &str) -> Option<HostedTool> {
    let kind = head::kind(&raw.member_text("type")?)?;
    let mut settings = raw.present_members()?;
    settings.retain(|it| it.0 != "type");
    Some(head::read_hosted(kind, settings, (pointer, pointer)))
}

fn function(raw: &RawJson, pointer: &str) -> Option<Function> {
    (raw.member_text("type")? == "function").then_some(())?;
    let mut members = raw.present_members()?;
    members.retain(|it| it.0 != "type");
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
    let allowed = raw.only_member("allowed_tools")?;
    let mode = allowed.member_text("mode").unwrap_or_default();
    let tools: Vec<String> = allowed.member("tools")?.parse().ok()?;
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
    let (mime, schema) = (one.member_text("mime_type"), one.member("schema"));
    let is_typed = members.iter().any(|it| it.0 == "mime_type");
    let is_known =
        |it: &(String, RawJson)| matches!(it.0.as_str(), "type" | "mime_type" | "schema");
    let is_text = one.member_text("type")? == "text" && members.iter().all(is_known);
    is_text.then_some(())?;
    head.response_format = match (schema, mime.as_deref()) {
        (Some(it), mime) if mime == Some(JSON) || !is_typed => Some(format_of(it, pointer)),
        (None, Some(JSON)) => Some(ResponseFormat::Json),
        (None, Some("text/plain")) => None,
        _ => return None,
    };
    Some(())
}

fn format_of(schema: RawJson, pointer: &str) -> ResponseFormat {
    ResponseFormat::Schema(ResponseSchema::new(schema, pointer))
}

/// Puts the members of a head into a body that has `model` and `input`.
pub(super) fn write(head: &RequestHead, body: &mut Body) -> Report {
    let mut report = Report::new();
    let choice = said_choice(head);
    let tools = head.tools_for(TARGET, unsaid, |kind| head::places(head, kind), &mut report);
    let tools = Some(tools).filter(|it| !it.is_empty());
    body.write_optional("tools", tools, |it, all| it.array(all, write_tool));
    body.write_object(CONFIG, |it| settings(head, choice, it, &mut report));
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
    if let Some((_, name)) = head::names(tool) {
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
