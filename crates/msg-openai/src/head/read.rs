//! Members of a request into its head. What has no word, or a value of another type, is its rest.

use msg_core::RawJson;
use msg_core::request::{
    ReasoningSetting, RequestHead, ResponseFormat, ResponseSchema, ToolChoice,
};
use serde::Deserialize;

use super::Spelling;
use super::tools;

/// The head of these members, which are all but the conversation.
pub(crate) fn read<'a>(
    members: impl Iterator<Item = (&'a str, &'a RawJson)>,
    spelling: Spelling,
) -> RequestHead {
    RequestHead::of_members(members, |head, name, raw| {
        shared(head, name, raw).or_else(|| match spelling {
            Spelling::Chat => chat(head, name, raw),
            Spelling::Responses => responses(head, name, raw),
        })
    })
}

/// Members that both spell alike. None if it is another, or of another type.
fn shared(head: &mut RequestHead, name: &str, raw: &RawJson) -> Option<()> {
    match name {
        "model" => head.model = Some(raw.parse().ok()?),
        "tools" => head.tools.extend(tools::read(raw)?),
        "tool_choice" => head.tool_choice = Some(choice(raw)?),
        "parallel_tool_calls" => head.parallel_tool_calls = Some(raw.parse().ok()?),
        "temperature" => head.sampling.temperature = Some(raw.number()?),
        "top_p" => head.sampling.top_p = Some(raw.number()?),
        "stream" => head.stream = Some(raw.parse().ok()?),
        _ => return None,
    }
    Some(())
}

fn chat(head: &mut RequestHead, name: &str, raw: &RawJson) -> Option<()> {
    match name {
        "max_completion_tokens" => head.max_tokens = Some(raw.parse().ok()?),
        // The older member, which yields to the newer one.
        "max_tokens" => head.max_tokens = head.max_tokens.or(Some(raw.parse().ok()?)),
        "stop" => head.stop = raw.parse().or_else(|_| raw.parse().map(|it| vec![it])).ok()?,
        "response_format" => head.response_format = Some(chat_format(raw)?),
        "reasoning_effort" => {
            head.reasoning = Some(ReasoningSetting::Effort(raw.parse().ok()?));
        }
        "functions" => head.tools.extend(tools::read_functions(raw)?),
        "function_call" => head.tool_choice = Some(choice(raw)?),
        _ => return None,
    }
    Some(())
}

fn responses(head: &mut RequestHead, name: &str, raw: &RawJson) -> Option<()> {
    match name {
        "max_output_tokens" => head.max_tokens = Some(raw.parse().ok()?),
        "text" => {
            for (name, raw) in raw.present_members()? {
                match (name.as_str(), responses_format(&raw)) {
                    ("format", Some(format)) => head.response_format = Some(format),
                    _ => head.rest.push((format!("text.{name}"), raw)),
                }
            }
        }
        "reasoning" => {
            for (name, raw) in raw.present_members()? {
                match (name.as_str(), raw.parse::<String>()) {
                    ("effort", Ok(word)) => head.reasoning = Some(ReasoningSetting::Effort(word)),
                    _ => head.rest.push((format!("reasoning.{name}"), raw)),
                }
            }
        }
        _ => return None,
    }
    Some(())
}

/// A word, or the tool that is named, in either spelling and in the older one of functions.
fn choice(raw: &RawJson) -> Option<ToolChoice> {
    #[derive(Deserialize)]
    struct Named {
        #[serde(default)]
        r#type: Option<String>,
        #[serde(default)]
        name: Option<String>,
        #[serde(default)]
        function: Option<Inner>,
    }
    #[derive(Deserialize)]
    struct Inner {
        name: String,
    }
    if let Ok(word) = raw.parse::<String>() {
        return match word.as_str() {
            "auto" => Some(ToolChoice::Auto),
            "none" => Some(ToolChoice::None),
            "required" => Some(ToolChoice::Required),
            _ => None,
        };
    }
    let named: Named = raw.parse().ok()?;
    let is_function = named.r#type.is_none_or(|it| it == "function");
    let name = named.function.map(|it| it.name).or(named.name).filter(|_| is_function)?;
    Some(ToolChoice::Tool(name))
}

#[derive(Deserialize)]
struct Schema {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    description: Option<String>,
    schema: RawJson,
    #[serde(default)]
    strict: Option<bool>,
}

impl From<Schema> for ResponseFormat {
    fn from(it: Schema) -> Self {
        let Schema { name, description, schema, strict } = it;
        ResponseFormat::Schema(ResponseSchema { name, description, schema, strict })
    }
}

fn chat_format(raw: &RawJson) -> Option<ResponseFormat> {
    #[derive(Deserialize)]
    struct Format {
        r#type: String,
        #[serde(default)]
        json_schema: Option<RawJson>,
    }
    let format: Format = raw.parse().ok()?;
    match (format.r#type.as_str(), format.json_schema) {
        ("json_object", None) => Some(ResponseFormat::Json),
        ("json_schema", Some(schema)) => schema.parse::<Schema>().ok().map(Into::into),
        _ => None,
    }
}

fn responses_format(raw: &RawJson) -> Option<ResponseFormat> {
    #[derive(Deserialize)]
    struct Format {
        r#type: String,
    }
    match raw.parse::<Format>().ok()?.r#type.as_str() {
        "json_object" => Some(ResponseFormat::Json),
        "json_schema" => raw.parse::<Schema>().ok().map(Into::into),
        _ => None,
    }
}
