//! Types from tool definitions (XT-30, XT-31): which values are kept verbatim, and the schema of each place. `coerce`
//! converts text to typed values and reports missing and unknown parameters.
//!
//! ```text
//! {"f": {"properties": {"n": {"type": "integer"}}, "required": ["n"]}}
//!        coerce: "7" is 7                          missing: a call without n
//! ```

mod coerce;

use std::collections::BTreeMap;

use msg_core::{Arguments, Diagnostic};
use serde::de::Error as _;
use serde::ser::{Error as _, SerializeMap as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::call::{ParsedCall, ToolDefinition};
use crate::code::Code;
use crate::json;
use crate::json::Json;

/// Nesting of schemas, and steps of references that are followed.
const MAX_STEPS: usize = 32;
/// Depth of a schema's own JSON.
const MAX_DEPTH: usize = 512;

/// JSON Schemas of parameters by tool.
///
/// ```
/// use msg_xml::{ParseOptions, SchemaSet, parse};
/// let schema: SchemaSet = serde_json::from_str(r#"{"f":{"type":"object","properties":{"n":{"type":"integer"}}}}"#)?;
/// let text = b"<tool><tool_name>f</tool_name><arguments><n>7</n></arguments></tool>";
/// let parsed = parse(text, None, &ParseOptions::new().with_schema(schema));
/// assert_eq!(parsed.calls().next().map(|c| c.arguments().text()), Some(r#"{"n":7}"#));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SchemaSet {
    tools: BTreeMap<String, Json>,
}

impl SchemaSet {
    /// The schemas of definitions.
    pub fn from_definitions(definitions: &[ToolDefinition]) -> Self {
        let tools = definitions.iter().map(|d| (d.name.clone(), d.schema())).collect();
        SchemaSet { tools }
    }

    /// Whether the tool is known.
    pub fn contains(&self, tool: &str) -> bool {
        self.tools.contains_key(tool)
    }

    /// The tools, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().map(String::as_str)
    }

    /// Gives the arguments of a call their types (XT-31); calls whose arguments came as JSON have them already.
    /// Each value that does not fit stays as it is and is reported.
    pub fn coerce(&self, call: &mut ParsedCall) -> Vec<Diagnostic> {
        if call.typed {
            return Vec::new();
        }
        let Some((mut value, _)) = json::parse(call.arguments.text(), MAX_DEPTH) else {
            return Vec::new();
        };
        let mismatches = self.coerce_value(&call.tool, &mut value);
        call.arguments = Arguments::from(value.text());
        let span = call.span.start as usize..call.span.end as usize;
        mismatches
            .into_iter()
            .map(|path| crate::code::diagnostic(Code::SchemaMismatch, span.clone(), Some(&path)))
            .collect()
    }

    /// The same for a tree; the paths of what does not fit.
    pub(crate) fn coerce_value(&self, tool: &str, value: &mut Json) -> Vec<String> {
        match (self.tools.get(tool), &*value) {
            (Some(root), Json::Object(_)) => coerce::object(Node { root, schema: root }, value),
            _ => Vec::new(),
        }
    }

    /// XT-30: whether the value under these keys is wanted as a string and as nothing that has members.
    pub(crate) fn wants_text(&self, tool: &str, keys: &[&str]) -> bool {
        let Some(root) = self.tools.get(tool) else { return false };
        let mut node = Node { root, schema: root };
        for key in keys {
            let Some(next) = node.child(key) else { return false };
            node = next;
        }
        let types = node.types();
        types.has("string") && !types.has("object") && !types.has("array")
    }
}

impl Serialize for SchemaSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw = |schema: &Json| RawValue::from_string(schema.text()).map_err(S::Error::custom);
        let mut map = serializer.serialize_map(Some(self.tools.len()))?;
        for (name, schema) in &self.tools {
            map.serialize_entry(name, &raw(schema)?)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for SchemaSet {
    /// A list of tool definitions, or an object from tool name to JSON Schema.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        if raw.get().trim_start().starts_with('[') {
            let definitions: Vec<ToolDefinition> =
                serde_json::from_str(raw.get()).map_err(D::Error::custom)?;
            return Ok(SchemaSet::from_definitions(&definitions));
        }
        match json::parse(raw.get(), MAX_DEPTH) {
            Some((Json::Object(members), _)) => {
                Ok(SchemaSet { tools: members.into_list().into_iter().collect() })
            }
            _ => Err(D::Error::custom(
                "expected a list of tool definitions or an object of JSON Schemas",
            )),
        }
    }
}

/// The types of JSON Schema that a place takes; none if it says nothing of them.
struct Types<'s>(Vec<&'s str>);

impl Types<'_> {
    const NAMES: [&'static str; 7] =
        ["string", "integer", "number", "boolean", "null", "array", "object"];

    fn has(&self, name: &str) -> bool {
        self.0.contains(&name)
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A place in a schema, with the root for references.
#[derive(Clone, Copy)]
pub(crate) struct Node<'s> {
    pub(crate) root: &'s Json,
    pub(crate) schema: &'s Json,
}

impl<'s> Node<'s> {
    pub(crate) fn member(self, key: &str) -> Option<&'s Json> {
        self.schema.as_object()?.get(key)
    }

    /// The names in its own `type`, which is one or a list.
    pub(crate) fn type_names(self) -> Vec<&'s str> {
        match self.member("type") {
            Some(Json::String(name)) => vec![name],
            Some(Json::Array(names)) => names.iter().filter_map(Json::as_str).collect(),
            _ => Vec::new(),
        }
    }

    /// The place that it refers to.
    fn target(self) -> Option<Self> {
        let target = self.member("$ref")?.as_str()?;
        resolve(self.root, target).map(|schema| self.at(schema))
    }

    /// The lists of `oneOf` and `anyOf`.
    fn unions(self) -> impl DoubleEndedIterator<Item = &'s [Json]> {
        ["oneOf", "anyOf"].into_iter().filter_map(move |key| self.member(key)?.as_array())
    }

    pub(crate) fn at(self, schema: &'s Json) -> Self {
        Node { schema, ..self }
    }

    /// The node itself, what it refers to, and its alternatives.
    fn alternatives(self) -> Vec<Node<'s>> {
        let mut found = Vec::new();
        let mut open = vec![self];
        while let Some(node) = open.pop() {
            if found.len() >= MAX_STEPS {
                break;
            }
            found.push(node);
            open.extend(node.target());
            for items in node.unions() {
                open.extend(items.iter().rev().map(|item| node.at(item)));
            }
        }
        found
    }

    /// Follows references only.
    pub(crate) fn resolved(self) -> Self {
        let mut node = self;
        for _ in 0..MAX_STEPS {
            let Some(target) = node.target() else { break };
            node = target;
        }
        node
    }

    fn types(self) -> Types<'s> {
        let names = self.alternatives().into_iter().flat_map(Node::type_names);
        Types(names.filter(|name| Types::NAMES.contains(name)).collect())
    }

    fn property(self, key: &str) -> Option<Self> {
        let listed = |node: Node<'s>| {
            let schema = node.member("properties")?.as_object()?.get(key)?;
            Some(node.at(schema))
        };
        self.alternatives().into_iter().find_map(listed)
    }

    fn items(self) -> Option<Self> {
        self.alternatives()
            .into_iter()
            .find_map(|node| node.member("items").map(|schema| node.at(schema)))
    }

    /// The node of an element below this one: a property; under a list a property of its items, else the item itself.
    fn child(self, key: &str) -> Option<Self> {
        self.property(key).or_else(|| {
            let items = self.items()?;
            Some(items.property(key).unwrap_or(items))
        })
    }
}

fn resolve<'s>(root: &'s Json, target: &str) -> Option<&'s Json> {
    let mut at = root;
    for step in target.strip_prefix('#')?.split('/').skip(1) {
        let key = step.replace("~1", "/").replace("~0", "~");
        at = match at {
            Json::Object(members) => members.get(&key)?,
            Json::Array(items) => items.get(key.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    Some(at)
}
