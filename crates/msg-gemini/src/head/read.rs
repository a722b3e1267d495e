//! Members of a request into its head, in either spelling of their names (GE-2). What has no word, or a
//! value of another type, is its rest.

use msg_core::{
    RawJson,
    request::{
        Effort, Function, RequestHead, ResponseFormat, ResponseSchema, SchemaOrigin, Setting,
        Thinking, Tool, ToolChoice,
    },
};

use msg_codec::codec::Settings;

use super::hosted;
use super::write::SETTINGS;

/// The head of these members, which are all but the conversation.
pub(crate) fn read<'a>(members: impl Iterator<Item = (&'a str, &'a RawJson)>) -> RequestHead {
    RequestHead::of_members(members, |head, name, raw| match name {
        "model" => raw.parse().ok().map(|it| head.model = Some(it)),
        "tools" => tools(head, raw),
        "toolConfig" | "tool_config" => tool_config(head, name, raw),
        "generationConfig" | "generation_config" => generation_config(head, name, raw),
        "serviceTier" | "service_tier" => service_tier(head, name, raw),
        _ => None,
    })
}

/// The class of service; none for one that no other provider has.
fn service_tier(head: &mut RequestHead, name: &str, raw: &RawJson) -> Option<()> {
    let word = raw.parse::<String>().ok()?.to_ascii_lowercase();
    head.caller.service_tier = Some(match word.as_str() {
        "standard" => "default".to_owned(),
        "flex" | "priority" => word,
        _ => return None,
    });
    head.place("service_tier", format!("/{name}"));
    Some(())
}

/// The functions of all declarations; other tools are the provider's own.
fn tools(head: &mut RequestHead, raw: &RawJson) -> Option<()> {
    let tools: Vec<RawJson> = raw.parse().ok()?;
    for (at, tool) in tools.into_iter().enumerate() {
        let members = tool.present_members().unwrap_or_default();
        for (name, raw) in &members {
            let is_list = matches!(name.as_str(), "functionDeclarations" | "function_declarations");
            if let Some(kind) = hosted::kind(name) {
                let (tool, settings) = (format!("/tools/{at}"), raw.present_members());
                let inside = format!("{tool}/{name}");
                let read = hosted::read(kind, settings.unwrap_or_default(), (&tool, &inside));
                head.tools.push(Tool::Hosted(read));
                continue;
            }
            match raw.parse::<Vec<RawJson>>() {
                Ok(list) if is_list => {
                    let read = |(index, it): (usize, &RawJson)| {
                        let place = format!("/tools/{at}/{name}/{index}");
                        Tool::of(function(it, &place), place)
                    };
                    head.tools.extend(list.iter().enumerate().map(read));
                }
                _ => head.tools.push(Tool::Other(format!("/tools/{at}/{name}"))),
            }
        }
        if members.is_empty() {
            head.tools.push(Tool::Other(format!("/tools/{at}")));
        }
    }
    Some(())
}

fn function(raw: &RawJson, place: &str) -> Option<Function> {
    let mut res = Function { pointer: place.to_owned(), ..Function::default() };
    let mut has_name = false;
    for (name, raw) in raw.present_members()? {
        match name.as_str() {
            "name" => {
                res.name = raw.parse().ok()?;
                has_name = true;
            }
            "description" => res.description = Some(raw.parse().ok()?),
            "parametersJsonSchema" | "parameters_json_schema" => {
                res.origin = SchemaOrigin { pointer: format!("{place}/{name}"), openapi: None };
                res.parameters = Some(raw);
            }
            // The API's own subset of schemas, which yields to the whole one.
            "parameters" if res.parameters.is_none() => {
                res.parameters = Some(msg_schema::from_openapi(&raw));
                res.origin =
                    SchemaOrigin { pointer: format!("{place}/{name}"), openapi: Some(raw) };
            }
            "parameters" => {}
            _ => {
                let pointer = format!("{place}/{name}");
                res.rest.push(Setting { word: name, pointer, value: raw });
            }
        }
    }
    has_name.then_some(res)
}

fn tool_config(head: &mut RequestHead, name: &str, raw: &RawJson) -> Option<()> {
    for (member, raw) in raw.present_members()? {
        let is_calling =
            matches!(member.as_str(), "functionCallingConfig" | "function_calling_config");
        match choice(&raw).filter(|_| is_calling) {
            Some(choice) => {
                head.tool_choice = Some(choice);
                head.place("tool_choice", format!("/{name}"));
                // That calls are held to their schemas has no word elsewhere.
                let mode = raw.present_members().unwrap_or_default().into_iter();
                let said = |it: &RawJson| it.parse::<String>().unwrap_or_default();
                let validated = mode.filter(|it| it.0 == "mode" && said(&it.1) == "VALIDATED");
                let rest = validated.map(|(mode, raw)| (format!("{name}.{member}.{mode}"), raw));
                head.rest.extend(rest);
            }
            None => head.rest.push((format!("{name}.{member}"), raw)),
        }
    }
    Some(())
}

/// The choice; none for a mode without a word.
fn choice(raw: &RawJson) -> Option<ToolChoice> {
    let members = raw.present_members()?;
    let mode = members.iter().find(|it| it.0 == "mode")?.1.parse::<String>().ok()?;
    let is_allowed = |it: &str| matches!(it, "allowedFunctionNames" | "allowed_function_names");
    let allowed = members.iter().find(|it| is_allowed(&it.0));
    let allowed: Vec<String> = allowed.map_or(Some(Vec::new()), |it| it.1.parse().ok())?;
    match (mode.to_ascii_uppercase().as_str(), allowed.as_slice()) {
        ("AUTO", []) => Some(ToolChoice::Auto),
        ("NONE", _) => Some(ToolChoice::None),
        ("ANY", []) => Some(ToolChoice::Required),
        ("ANY", [one]) => Some(ToolChoice::Tool(one.clone())),
        ("ANY", _) => Some(ToolChoice::required(allowed)),
        ("VALIDATED", [_, ..]) => Some(ToolChoice::allowed(allowed)),
        _ => None,
    }
}

fn generation_config(head: &mut RequestHead, name: &str, raw: &RawJson) -> Option<()> {
    let mut is_json = false;
    for (member, raw) in raw.present_members()? {
        let pointer = format!("/{name}/{member}");
        let camel = camel(&member);
        let taken = match camel.as_str() {
            "responseMimeType" => json_type(&raw).map(|it| is_json = it),
            "responseJsonSchema" => {
                let origin = SchemaOrigin { pointer: pointer.clone(), openapi: None };
                head.response_format = Some(schema(raw.clone(), origin));
                Some(())
            }
            "responseSchema" => {
                let origin = SchemaOrigin { pointer: pointer.clone(), openapi: Some(raw.clone()) };
                // The whole schema wins over the API's own subset.
                let has_whole = head.schema().is_some_and(|it| it.origin.openapi.is_none());
                if !has_whole {
                    head.response_format = Some(schema(msg_schema::from_openapi(&raw), origin));
                }
                Some(())
            }
            "thinkingConfig" => thinking(head, &format!("{name}.{member}"), &raw),
            _ => setting(head, &camel, &raw, &pointer),
        };
        match (taken, camel.as_str()) {
            (None, _) => head.rest.push((format!("{name}.{member}"), raw)),
            (Some(()), "responseMimeType") => head.place("response_format", pointer),
            _ => {}
        }
    }
    if is_json && head.response_format.is_none() {
        head.response_format = Some(ResponseFormat::Json);
    }
    Some(())
}

/// A setting that is a number, a switch or a list of words.
fn setting(head: &mut RequestHead, name: &str, raw: &RawJson, pointer: &str) -> Option<()> {
    let is_modalities = name == "responseModalities";
    let word = SETTINGS.word_of(name).or(is_modalities.then_some("modalities"))?;
    Settings::set(head, word, raw)?;
    if is_modalities {
        head.output.modalities.iter_mut().for_each(|it| it.make_ascii_lowercase());
    }
    head.place(word, pointer);
    Some(())
}

/// Whether answers are JSON; none for a type that no other provider has a word for.
fn json_type(raw: &RawJson) -> Option<bool> {
    match raw.parse::<String>().ok()?.as_str() {
        "application/json" => Some(true),
        "text/plain" => Some(false),
        _ => None,
    }
}

fn schema(schema: RawJson, origin: SchemaOrigin) -> ResponseFormat {
    ResponseFormat::Schema(ResponseSchema { origin, ..ResponseSchema::new(schema, "") })
}

/// A level and a budget, of which 0 is off and -1 as much as the model likes; other settings have no word.
fn thinking(head: &mut RequestHead, path: &str, raw: &RawJson) -> Option<()> {
    for (name, raw) in raw.present_members()? {
        let pointer = format!("/{}/{name}", path.replace('.', "/"));
        let level = raw.parse::<String>().ok().filter(|it| it != "THINKING_LEVEL_UNSPECIFIED");
        match (camel(&name).as_str(), level, raw.parse::<i64>().ok()) {
            ("thinkingLevel", Some(level), _) => {
                head.reasoning.effort = Some(Effort::of_word(&level));
                head.place("effort", pointer);
            }
            ("thinkingBudget", _, Some(tokens @ -1..)) => {
                head.reasoning.thinking = Some(match u64::try_from(tokens) {
                    Ok(0) => Thinking::Off,
                    Ok(tokens) => Thinking::Budget(tokens),
                    Err(_) => Thinking::Adaptive,
                });
                head.place("thinking", pointer);
            }
            _ => head.rest.push((format!("{path}.{name}"), raw)),
        }
    }
    Some(())
}

/// A name in camelCase, whichever spelling it has.
fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let mut res = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        res.extend(letters.next().map(|it| it.to_ascii_uppercase()));
        res.push_str(letters.as_str());
    }
    res
}
