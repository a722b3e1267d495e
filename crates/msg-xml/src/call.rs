//! Calls, tool results and tool definitions. Complete calls and partial calls are two types, so that only complete ones
//! can be run. Nothing here runs a call.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use msg_core::{Arguments, IdSource, RawJson, ToolCall};
use serde::{Deserialize, Deserializer};

use crate::code::Error;
use crate::json;
use crate::json::{Json, Members};

/// Where a call came from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallOrigin {
    /// The dialect (`json` for the JSON body), none for `<tool>` with elements.
    pub format: Option<Arc<str>>,
    /// It was in a code fence (XT-5).
    pub fenced: bool,
    /// It was in thinking that was never closed (XT-7): a policy may ask first.
    pub recovered: bool,
}

/// The name of a server; most calls share it and own no text.
pub(crate) type Server = Cow<'static, str>;

/// The server of calls that name none.
pub(crate) const LOCAL: Server = Cow::Borrowed("local");

/// The server of this name.
pub(crate) fn server(name: &str) -> Server {
    if name == LOCAL { LOCAL } else { Cow::Owned(name.to_owned()) }
}

/// A complete call: what an executor takes. Equality is that of server, tool and arguments.
///
/// ```
/// let call = msg_xml::ParsedCall::new("read_file", r#"{"path":"a.txt"}"#.to_owned());
/// assert_eq!(call.server_name(), "local");
/// ```
#[derive(Clone, Debug)]
pub struct ParsedCall {
    pub(crate) server: Server,
    pub(crate) tool: String,
    pub(crate) arguments: Arguments,
    pub(crate) raws: Vec<(Arc<str>, Range<usize>)>,
    pub(crate) source: String,
    pub(crate) origin: CallOrigin,
    /// In the input.
    pub(crate) span: Range<u64>,
    /// The arguments came as JSON and have their types.
    pub(crate) typed: bool,
}

impl PartialEq for ParsedCall {
    fn eq(&self, other: &Self) -> bool {
        self.server == other.server
            && self.tool == other.tool
            && self.arguments.text() == other.arguments.text()
    }
}

impl ParsedCall {
    /// A call of a local tool.
    pub fn new(tool: impl Into<String>, arguments: impl Into<Arguments>) -> Self {
        ParsedCall {
            server: LOCAL,
            tool: tool.into(),
            arguments: arguments.into(),
            raws: Vec::new(),
            source: String::new(),
            origin: CallOrigin::default(),
            span: 0..0,
            typed: true,
        }
    }

    /// The same call, of another server.
    #[must_use]
    pub fn with_server(mut self, server: impl Into<String>) -> Self {
        self.server = Cow::Owned(server.into());
        self
    }

    /// The server; `local` if none was named.
    pub fn server_name(&self) -> &str {
        &self.server
    }

    /// The tool.
    pub fn tool_name(&self) -> &str {
        &self.tool
    }

    /// The arguments as JSON text, members in order of appearance.
    pub fn arguments(&self) -> &Arguments {
        &self.arguments
    }

    /// The inner source of a parameter as it was written, of the first of that name.
    pub fn raw_str(&self, parameter: &str) -> Option<&str> {
        let (_, range) = self.raws.iter().find(|(key, _)| **key == *parameter)?;
        self.source.get(range.clone())
    }

    /// The source of the call; empty if it was not read from text.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Where it came from.
    pub fn origin(&self) -> &CallOrigin {
        &self.origin
    }

    /// The neutral form. A server other than `local` goes to `extra` as `xml.server_name`.
    pub fn to_core(&self, id: impl Into<String>) -> ToolCall {
        let mut call = ToolCall::new(id, self.tool.as_str(), self.arguments.clone());
        if self.server != LOCAL {
            call.extra.insert(msg_core::Origin::Xml, "server_name", RawJson::string(&self.server));
        }
        call
    }
}

/// A call that the end of the message cut off. It cannot be turned into a [`ParsedCall`].
#[derive(Clone, Debug, PartialEq)]
pub struct PartialCall {
    /// What is known of it; without a name, if that had not been closed.
    pub(crate) known: ParsedCall,
    pub(crate) has_name: bool,
}

impl PartialCall {
    /// The server; `local` if none is known.
    pub fn server_name(&self) -> &str {
        self.known.server_name()
    }

    /// The tool, if the name had been closed.
    pub fn tool_name(&self) -> Option<&str> {
        self.has_name.then(|| self.known.tool_name())
    }

    /// What there is of the arguments.
    pub fn arguments(&self) -> &Arguments {
        self.known.arguments()
    }

    /// What there is of a parameter's inner source.
    pub fn raw_str(&self, parameter: &str) -> Option<&str> {
        self.known.raw_str(parameter)
    }

    /// The source from the opener to the end of the message.
    pub fn source(&self) -> &str {
        self.known.source()
    }

    /// Where it came from.
    pub fn origin(&self) -> &CallOrigin {
        self.known.origin()
    }
}

/// An id from the caller's source of numbers.
pub(crate) fn fresh_id(ids: &mut dyn IdSource) -> String {
    format!("call_{:016x}", ids.next_u64())
}

/// The text of a tree as arguments.
pub(crate) fn arguments_of(value: &Json) -> Arguments {
    Arguments::from(value.text())
}

// Tool results as text, both ways (XT-45). Where an API has no tool role, the text goes as a user message.

/// What a tool gave back.
///
/// ```
/// use msg_xml::ParsedResult;
/// let result = ParsedResult::parse("Tool: calculator\nError: division by zero");
/// assert_eq!(result.map(|r| (r.name, r.is_error)), Some(("calculator".to_owned(), true)));
/// let quoted = ParsedResult::parse("Tool 'calculator' result:\n8");
/// assert_eq!(quoted.map(|r| (r.name, r.content)), Some(("calculator".to_owned(), "8".to_owned())));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedResult {
    /// The tool.
    pub name: String,
    /// What it said; of an error, with its `Error:`.
    pub content: String,
    /// Whether it failed.
    pub is_error: bool,
}

impl ParsedResult {
    /// Reads `Tool: NAME` or `Tool 'NAME' result:`, a line break and the content; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let (head, content) = text.split_once('\n')?;
        let head = head.strip_suffix('\r').unwrap_or(head);
        let quoted = || head.strip_prefix("Tool '")?.strip_suffix("' result:");
        let name = head.strip_prefix("Tool: ").or_else(quoted)?;
        if !valid(name) {
            return None;
        }
        Some(ParsedResult {
            name: name.to_owned(),
            content: content.to_owned(),
            is_error: content.starts_with("Error:"),
        })
    }

    /// The text of the result.
    ///
    /// # Errors
    /// A name that is empty, has a line break, or white space at its ends.
    ///
    /// ```
    /// let result = msg_xml::ParsedResult { name: "ls".into(), content: "none".into(), is_error: true };
    /// assert_eq!(result.render()?, "Tool: ls\nError: none");
    /// # Ok::<(), msg_xml::Error>(())
    /// ```
    pub fn render(&self) -> Result<String, Error> {
        if !valid(&self.name) {
            return Err(Error::InvalidToolName { name: self.name.clone() });
        }
        let mark =
            if self.is_error && !self.content.starts_with("Error:") { "Error: " } else { "" };
        Ok(format!("Tool: {}\n{mark}{}", self.name, self.content))
    }
}

fn valid(name: &str) -> bool {
    !name.is_empty() && name.trim() == name && !name.contains(['\n', '\r'])
}

// Tool definitions: they describe tools to a model and give the types of its arguments.

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
