//! What a tool is called and takes: the definitions that teach a model and type its answers.

use msg_core::RawJson;
use serde::{Deserialize, Deserializer};

use crate::json::{self, Json, Members};

/// A tool as its definition describes it: OpenAI's form, or name, description and parameters at the top.
///
/// ```
/// let tool: msg_xml::ToolDefinition = serde_json::from_str(r#"{"type":"function","function":{"name":"ls"}}"#)?;
/// assert_eq!(tool.name, "ls");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ToolDefinition {
    /// The name.
    pub name: String,
    /// The server that has it; none for a local tool.
    pub server_name: Option<String>,
    /// What it does.
    pub description: Option<String>,
    /// The JSON Schema of its parameters, members in their order.
    pub parameters: Option<RawJson>,
}

impl ToolDefinition {
    /// A local tool.
    pub fn new(name: impl Into<String>) -> Self {
        ToolDefinition { name: name.into(), server_name: None, description: None, parameters: None }
    }

    /// The schema as a tree.
    pub(crate) fn schema(&self) -> Json {
        let parsed = self.parameters.as_ref().and_then(|raw| json::parse(raw.text(), 512));
        parsed.map_or(Json::Object(Members::default()), |(value, _)| value)
    }
}

#[derive(Deserialize)]
struct Flat {
    name: Option<String>,
    server_name: Option<String>,
    description: Option<String>,
    parameters: Option<Box<serde_json::value::RawValue>>,
    input_schema: Option<Box<serde_json::value::RawValue>>,
    function: Option<Box<Flat>>,
}

impl<'de> Deserialize<'de> for ToolDefinition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        let mut flat = Flat::deserialize(deserializer)?;
        if let Some(function) = flat.function.take() {
            let server_name = flat.server_name.take();
            flat = *function;
            flat.server_name = flat.server_name.or(server_name);
        }
        let name = flat.name.ok_or_else(|| D::Error::missing_field("name"))?;
        let raw = flat.parameters.or(flat.input_schema).filter(|raw| raw.get() != "null");
        let parameters =
            raw.map(|raw| RawJson::new(raw.get())).transpose().map_err(D::Error::custom)?;
        Ok(ToolDefinition {
            name,
            server_name: flat.server_name,
            description: flat.description,
            parameters,
        })
    }
}
