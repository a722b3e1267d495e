//! Tool definitions of a request, and which of them a model may call (OA-5).

use msg_core::{RawJson, json};

/// A function that the model may call.
///
/// ```
/// use msg_core::RawJson;
/// use msg_openai::Tool;
///
/// let tool = Tool::new("now", RawJson::new(r#"{"type":"object"}"#)?).description("The time.");
/// assert_eq!(
///     tool.to_json().text(),
///     r#"{"type":"function","function":{"name":"now","description":"The time.","parameters":{"type":"object"}}}"#,
/// );
/// # Ok::<(), msg_core::json::JsonError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// The name that calls use.
    pub name: String,
    /// What it does, for the model.
    pub description: Option<String>,
    /// The JSON Schema of its arguments, as it is.
    pub parameters: RawJson,
    /// Whether the provider shall hold the model to the schema.
    pub strict: Option<bool>,
}

impl Tool {
    /// A tool without a description.
    pub fn new(name: impl Into<String>, parameters: RawJson) -> Self {
        Self { name: name.into(), description: None, parameters, strict: None }
    }

    /// Says what it does.
    #[must_use]
    pub fn description(self, description: impl Into<String>) -> Self {
        Self { description: Some(description.into()), ..self }
    }

    /// Holds the model to the schema, or not.
    #[must_use]
    pub fn strict(self, strict: bool) -> Self {
        Self { strict: Some(strict), ..self }
    }

    /// The element of a chat request's `tools`.
    pub fn to_json(&self) -> RawJson {
        let mut out = br#"{"type":"function","function":{"name":"#.to_vec();
        self.write_members(&mut out);
        out.extend_from_slice(b"}}");
        finished(out)
    }

    /// The element of a Responses request's `tools`.
    pub fn to_responses_json(&self) -> RawJson {
        let mut out = br#"{"type":"function","name":"#.to_vec();
        self.write_members(&mut out);
        out.push(b'}');
        finished(out)
    }

    fn write_members(&self, out: &mut Vec<u8>) {
        json::write_str(out, &self.name);
        if let Some(description) = &self.description {
            out.extend_from_slice(br#","description":"#);
            json::write_str(out, description);
        }
        out.extend_from_slice(br#","parameters":"#);
        out.extend_from_slice(self.parameters.text().as_bytes());
        if let Some(strict) = self.strict {
            out.extend_from_slice(if strict {
                br#","strict":true"#
            } else {
                br#","strict":false"#
            });
        }
    }
}

/// Which tool the model calls.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolChoice {
    /// Any, or none.
    Auto,
    /// None.
    None,
    /// At least one.
    Required,
    /// The one of this name.
    Tool(String),
}

impl ToolChoice {
    /// The value of a chat request's `tool_choice`.
    pub fn to_json(&self) -> RawJson {
        self.json(br#"{"type":"function","function":{"name":"#, b"}}")
    }

    /// The value of a Responses request's `tool_choice`.
    pub fn to_responses_json(&self) -> RawJson {
        self.json(br#"{"type":"function","name":"#, b"}")
    }

    fn json(&self, before: &[u8], behind: &[u8]) -> RawJson {
        let name = match self {
            ToolChoice::Auto => return RawJson::string("auto"),
            ToolChoice::None => return RawJson::string("none"),
            ToolChoice::Required => return RawJson::string("required"),
            ToolChoice::Tool(name) => name,
        };
        let mut out = before.to_vec();
        json::write_str(&mut out, name);
        out.extend_from_slice(behind);
        finished(out)
    }
}

fn finished(out: Vec<u8>) -> RawJson {
    let text = String::from_utf8(out).expect("escaped texts and raw JSON are UTF-8");
    RawJson::new(text).expect("the pieces are JSON")
}
