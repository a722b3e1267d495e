//! Members of a request into its head. What has no word, or a value of another type, is its rest.

use msg_core::RawJson;
use msg_core::request::{
    Effort, RequestHead, ResponseFormat, ResponseSchema, SchemaOrigin, Thinking, ToolChoice,
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

/// Members that both have under one name, and no other: they go along as they are.
const OF_OPENAI: [&str; 5] =
    ["metadata", "store", "prompt_cache_key", "prompt_cache_retention", "moderation"];

/// Members that both spell alike. None if it is another, or of another type.
fn shared(head: &mut RequestHead, name: &str, raw: &RawJson) -> Option<()> {
    match name {
        "model" => head.model = Some(raw.parse().ok()?),
        "tools" => head.tools.extend(tools::read(raw)?),
        "tool_choice" => head.tool_choice = Some(choice(raw)?),
        "parallel_tool_calls" => head.parallel_tool_calls = Some(raw.parse().ok()?),
        "temperature" => head.sampling.temperature = Some(raw.number()?),
        "top_p" => head.sampling.top_p = Some(raw.number()?),
        "top_logprobs" => head.top_logprobs = Some(raw.parse().ok()?),
        "stream" => head.stream = Some(raw.parse().ok()?),
        "service_tier" => head.service_tier = Some(raw.parse().ok()?),
        "user" => head.user = Some(raw.parse().ok()?),
        "safety_identifier" => head.safety_identifier = Some(raw.parse().ok()?),
        name if OF_OPENAI.contains(&name) => head.of_openai.push((name.to_owned(), raw.clone())),
        _ => return None,
    }
    Some(())
}

fn chat(head: &mut RequestHead, name: &str, raw: &RawJson) -> Option<()> {
    match name {
        "max_completion_tokens" => {
            head.max_tokens = Some(raw.parse().ok()?);
            head.place("max_tokens", "/max_completion_tokens");
        }
        // The older member, which yields to the newer one.
        "max_tokens" => head.max_tokens = head.max_tokens.or(Some(raw.parse().ok()?)),
        "stop" => head.stop = raw.parse().or_else(|_| raw.parse().map(|it| vec![it])).ok()?,
        "seed" => head.sampling.seed = Some(raw.number()?),
        "frequency_penalty" => head.sampling.frequency_penalty = Some(raw.number()?),
        "presence_penalty" => head.sampling.presence_penalty = Some(raw.number()?),
        "n" => {
            head.choices = Some(raw.parse().ok()?);
            head.place("choices", "/n");
        }
        "logprobs" => head.logprobs = Some(raw.parse().ok()?),
        "modalities" => head.modalities = raw.parse().ok()?,
        "verbosity" => head.verbosity = Some(raw.clone()),
        "response_format" => format(head, chat_format(raw)?),
        "reasoning_effort" => effort(head, raw, "/reasoning_effort")?,
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
                    ("format", Some(found)) => {
                        head.place("response_format", "/text/format");
                        format(head, found);
                    }
                    ("verbosity", _) => {
                        head.place("verbosity", "/text/verbosity");
                        head.verbosity = Some(raw);
                    }
                    _ => head.rest.push((format!("text.{name}"), raw)),
                }
            }
        }
        "reasoning" => {
            for (name, raw) in raw.present_members()? {
                if name != "effort" || effort(head, &raw, "/reasoning/effort").is_none() {
                    head.rest.push((format!("reasoning.{name}"), raw));
                }
            }
        }
        _ => return None,
    }
    Some(())
}

/// `none` is not an effort but thinking that is off.
fn effort(head: &mut RequestHead, raw: &RawJson, pointer: &str) -> Option<()> {
    let word: String = raw.parse().ok()?;
    match word.as_str() {
        "none" => {
            head.reasoning.thinking = Some(Thinking::Off);
            head.place("thinking", pointer);
        }
        word => {
            head.reasoning.effort = Some(Effort::of_word(word));
            head.place("effort", pointer);
        }
    }
    Some(())
}

/// What is read of a format: that of text is what an answer has without one.
enum Format {
    Text,
    Of(ResponseFormat),
}

fn format(head: &mut RequestHead, found: Format) {
    if let Format::Of(it) = found {
        head.response_format = Some(it);
    }
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
        #[serde(default)]
        custom: Option<Inner>,
        #[serde(default)]
        allowed_tools: Option<Allowed>,
    }
    #[derive(Deserialize)]
    struct Inner {
        name: String,
    }
    #[derive(Deserialize)]
    struct Allowed {
        mode: String,
        tools: Vec<Named>,
    }
    if let Ok(word) = raw.parse::<String>() {
        return match word.as_str() {
            "auto" => Some(ToolChoice::Auto),
            "none" => Some(ToolChoice::None),
            "required" => Some(ToolChoice::Required),
            _ => None,
        };
    }
    let function = |it: Named| {
        let is_function = it.r#type.is_none_or(|it| it == "function");
        it.function.map(|it| it.name).or(it.name).filter(|_| is_function)
    };
    let named: Named = raw.parse().ok()?;
    match named.r#type.as_deref() {
        Some("custom") => named.custom.map(|it| it.name).or(named.name).map(ToolChoice::Custom),
        Some("allowed_tools") => {
            let Allowed { mode, tools } = named.allowed_tools.or_else(|| raw.parse().ok())?;
            let required = match mode.as_str() {
                "auto" => false,
                "required" => true,
                _ => return None,
            };
            let names = tools.into_iter().map(function).collect::<Option<Vec<_>>>()?;
            Some(ToolChoice::Allowed { required, names })
        }
        _ => function(named).map(ToolChoice::Tool),
    }
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

impl Schema {
    /// The format of this schema, which is at a pointer of the source.
    fn at(self, pointer: &str) -> Format {
        let Schema { name, description, schema, strict } = self;
        let origin = SchemaOrigin { pointer: pointer.to_owned(), openapi: None };
        let schema = ResponseSchema { name, description, schema, origin, strict };
        Format::Of(ResponseFormat::Schema(schema))
    }
}

fn chat_format(raw: &RawJson) -> Option<Format> {
    #[derive(Deserialize)]
    struct Members {
        r#type: String,
        #[serde(default)]
        json_schema: Option<RawJson>,
    }
    let format: Members = raw.parse().ok()?;
    match (format.r#type.as_str(), format.json_schema) {
        ("text", None) => Some(Format::Text),
        ("json_object", None) => Some(Format::Of(ResponseFormat::Json)),
        ("json_schema", Some(schema)) => {
            let schema = schema.parse::<Schema>().ok()?;
            Some(schema.at("/response_format/json_schema/schema"))
        }
        _ => None,
    }
}

fn responses_format(raw: &RawJson) -> Option<Format> {
    #[derive(Deserialize)]
    struct Members {
        r#type: String,
    }
    match raw.parse::<Members>().ok()?.r#type.as_str() {
        "text" => Some(Format::Text),
        "json_object" => Some(Format::Of(ResponseFormat::Json)),
        "json_schema" => Some(raw.parse::<Schema>().ok()?.at("/text/format/schema")),
        _ => None,
    }
}
