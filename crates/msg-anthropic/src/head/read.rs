//! Members of a request into its head. What has no word, or a value of another type, is its rest.

use msg_core::{
    RawJson,
    request::{
        Effort, Function, RequestHead, ResponseFormat, ResponseSchema, SchemaOrigin, Thinking,
        Tool, ToolChoice,
    },
};

/// The head of these members, which are all but the conversation.
pub(crate) fn read<'a>(members: impl Iterator<Item = (&'a str, &'a RawJson)>) -> RequestHead {
    RequestHead::of_members(members, member)
}

/// Takes a member; none if it has no word, or another type.
fn member(head: &mut RequestHead, name: &str, raw: &RawJson) -> Option<()> {
    match name {
        "model" => head.model = Some(raw.parse().ok()?),
        "max_tokens" => head.max_tokens = Some(raw.parse().ok()?),
        "temperature" => head.sampling.temperature = Some(raw.number()?),
        "top_p" => head.sampling.top_p = Some(raw.number()?),
        "top_k" => head.sampling.top_k = Some(raw.number()?),
        "stop_sequences" => {
            head.stop = raw.parse().ok()?;
            head.place("stop", "/stop_sequences");
        }
        "stream" => head.stream = Some(raw.parse().ok()?),
        "tools" => {
            let tools: Vec<RawJson> = raw.parse().ok()?;
            let read = |(at, it)| Tool::of(it, |it| function(it, at));
            head.tools.extend(tools.into_iter().enumerate().map(read));
        }
        "tool_choice" => choice(head, raw)?,
        "thinking" => thinking(head, raw)?,
        "output_config" => output_config(head, raw)?,
        "output_format" => head.response_format = Some(format(raw, "/output_format/schema")?),
        "service_tier" => {
            head.service_tier = Some(match raw.parse::<String>().ok()?.as_str() {
                "auto" => "auto".to_owned(),
                "standard_only" => "default".to_owned(),
                _ => return None,
            });
        }
        "metadata" => {
            for (name, raw) in raw.present_members()? {
                match (name.as_str(), raw.parse::<String>()) {
                    ("user_id", Ok(id)) => {
                        head.user = Some(id);
                        head.place("user", "/metadata/user_id");
                    }
                    _ => head.rest.push((format!("metadata.{name}"), raw)),
                }
            }
        }
        _ => return None,
    }
    Some(())
}

/// A function: a tool of no type, or of type `custom`; the others are the provider's own.
fn function(raw: &RawJson, at: usize) -> Option<Function> {
    let mut members = raw.present_members()?;
    if let Some(at) = members.iter().position(|it| it.0 == "type") {
        (members.remove(at).1.parse::<String>().ok()? == "custom").then_some(())?;
    }
    Some(Function::of_members(members, "input_schema")?.at(format!("/tools/{at}/input_schema")))
}

/// The choice, and in it whether several calls may come at once.
fn choice(head: &mut RequestHead, raw: &RawJson) -> Option<()> {
    let members = raw.present_members()?;
    let text = |wanted: &str| {
        let found = members.iter().find(|it| it.0 == wanted)?;
        found.1.parse::<String>().ok()
    };
    let choice = match text("type")?.as_str() {
        "auto" => ToolChoice::Auto,
        "none" => ToolChoice::None,
        "any" => ToolChoice::Required,
        "tool" => ToolChoice::Tool(text("name")?),
        _ => return None,
    };
    for (name, raw) in &members {
        match (name.as_str(), raw.parse::<bool>()) {
            ("type" | "name", _) => {}
            ("disable_parallel_tool_use", Ok(it)) => head.parallel_tool_calls = Some(!it),
            _ => head.rest.push((format!("tool_choice.{name}"), raw.clone())),
        }
    }
    head.tool_choice = Some(choice);
    Some(())
}

/// Whether it thinks, and how many tokens at most; other settings have no word.
fn thinking(head: &mut RequestHead, raw: &RawJson) -> Option<()> {
    let members = raw.present_members()?;
    let find = |wanted: &str| members.iter().find(|it| it.0 == wanted).map(|it| &it.1);
    head.reasoning.thinking = Some(match find("type")?.parse::<String>().ok()?.as_str() {
        "enabled" => Thinking::Budget(find("budget_tokens")?.parse().ok()?),
        "disabled" => Thinking::Off,
        "adaptive" => Thinking::Adaptive,
        _ => return None,
    });
    let others = members.iter().filter(|it| !matches!(it.0.as_str(), "type" | "budget_tokens"));
    head.rest.extend(others.map(|it| (format!("thinking.{}", it.0), it.1.clone())));
    Some(())
}

fn output_config(head: &mut RequestHead, raw: &RawJson) -> Option<()> {
    for (name, raw) in raw.present_members()? {
        let format = format(&raw, "/output_config/format/schema");
        match (name.as_str(), format, raw.parse::<String>()) {
            ("format", Some(format), _) => head.response_format = Some(format),
            ("effort", _, Ok(word)) => {
                head.reasoning.effort = Some(Effort::of_word(&word));
                head.place("effort", "/output_config/effort");
            }
            _ => head.rest.push((format!("output_config.{name}"), raw)),
        }
    }
    Some(())
}

/// The format of an answer, which the API always holds the model to.
fn format(raw: &RawJson, pointer: &str) -> Option<ResponseFormat> {
    let members = raw.present_members()?;
    let find = |wanted: &str| members.iter().find(|it| it.0 == wanted).map(|it| &it.1);
    (find("type")?.parse::<String>().ok()? == "json_schema").then_some(())?;
    let schema = find("schema")?.clone();
    (members.len() == 2).then_some(())?;
    let origin = SchemaOrigin { pointer: pointer.to_owned(), openapi: None };
    let (name, description, strict) = (None, None, Some(true));
    Some(ResponseFormat::Schema(ResponseSchema { name, description, schema, origin, strict }))
}
