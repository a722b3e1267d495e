//! Members of a request into its head, in either spelling of their names (GE-2). What has no word, or a
//! value of another type, is its rest.

use msg_core::{
    RawJson,
    request::{
        Function, ReasoningSetting, RequestHead, ResponseFormat, ResponseSchema, Tool, ToolChoice,
    },
};

/// The head of these members, which are all but the conversation.
pub(crate) fn read<'a>(members: impl Iterator<Item = (&'a str, &'a RawJson)>) -> RequestHead {
    RequestHead::of_members(members, |head, name, raw| match name {
        "model" => raw.parse().ok().map(|it| head.model = Some(it)),
        "tools" => tools(head, raw),
        "toolConfig" | "tool_config" => tool_config(head, name, raw),
        "generationConfig" | "generation_config" => generation_config(head, name, raw),
        _ => None,
    })
}

/// The functions of all declarations; other tools are the provider's own.
fn tools(head: &mut RequestHead, raw: &RawJson) -> Option<()> {
    let tools: Vec<RawJson> = raw.parse().ok()?;
    for tool in tools {
        let members = tool.present_members().unwrap_or_default();
        for (name, raw) in &members {
            let is_list = matches!(name.as_str(), "functionDeclarations" | "function_declarations");
            match raw.parse::<Vec<RawJson>>() {
                Ok(list) if is_list => {
                    head.tools.extend(list.into_iter().map(|it| Tool::of(it, function)));
                }
                _ => head.tools.push(Tool::Other(tool.clone())),
            }
        }
        if members.is_empty() {
            head.tools.push(Tool::Other(tool));
        }
    }
    Some(())
}

fn function(raw: &RawJson) -> Option<Function> {
    let mut res = Function::default();
    let mut has_name = false;
    for (name, raw) in raw.present_members()? {
        match name.as_str() {
            "name" => {
                res.name = raw.parse().ok()?;
                has_name = true;
            }
            "description" => res.description = Some(raw.parse().ok()?),
            "parametersJsonSchema" | "parameters_json_schema" => res.parameters = Some(raw),
            // The API's own subset of schemas, which yields to the whole one.
            "parameters" => res.parameters = res.parameters.or(Some(raw)),
            _ => res.rest.push((name, raw)),
        }
    }
    has_name.then_some(res)
}

fn tool_config(head: &mut RequestHead, name: &str, raw: &RawJson) -> Option<()> {
    for (member, raw) in raw.present_members()? {
        let is_calling =
            matches!(member.as_str(), "functionCallingConfig" | "function_calling_config");
        match choice(&raw).filter(|_| is_calling) {
            Some(choice) => head.tool_choice = Some(choice),
            None => head.rest.push((format!("{name}.{member}"), raw)),
        }
    }
    Some(())
}

/// The choice; none for a mode without a word, or several tools to choose from.
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
        _ => None,
    }
}

fn generation_config(head: &mut RequestHead, name: &str, raw: &RawJson) -> Option<()> {
    let mut is_json = false;
    for (member, raw) in raw.present_members()? {
        let taken = match camel(&member).as_str() {
            "maxOutputTokens" => raw.parse().ok().map(|it| head.max_tokens = Some(it)),
            "temperature" => raw.number().map(|it| head.sampling.temperature = Some(it)),
            "topP" => raw.number().map(|it| head.sampling.top_p = Some(it)),
            "topK" => raw.number().map(|it| head.sampling.top_k = Some(it)),
            "stopSequences" => raw.parse().ok().map(|it| head.stop = it),
            "responseMimeType" => json_type(&raw).map(|it| is_json = it),
            "responseJsonSchema" | "responseSchema" => {
                head.response_format = Some(schema(raw.clone()));
                Some(())
            }
            "thinkingConfig" => thinking(head, &format!("{name}.{member}"), &raw),
            _ => None,
        };
        if taken.is_none() {
            head.rest.push((format!("{name}.{member}"), raw));
        }
    }
    if is_json && head.response_format.is_none() {
        head.response_format = Some(ResponseFormat::Json);
    }
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

fn schema(schema: RawJson) -> ResponseFormat {
    ResponseFormat::Schema(ResponseSchema { name: None, description: None, schema, strict: None })
}

/// A level or a budget, whichever comes first; other settings have no word.
fn thinking(head: &mut RequestHead, path: &str, raw: &RawJson) -> Option<()> {
    for (name, raw) in raw.present_members()? {
        let level = || raw.parse::<String>().ok().map(|it| it.to_ascii_lowercase());
        let setting = match camel(&name).as_str() {
            "thinkingLevel" => level().map(ReasoningSetting::Effort),
            "thinkingBudget" => raw.parse().ok().map(ReasoningSetting::Budget),
            _ => None,
        };
        match setting {
            Some(it) if head.reasoning.is_none() => head.reasoning = Some(it),
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
