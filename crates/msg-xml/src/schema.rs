//! Types from tool definitions (XT-30, XT-31): which values are kept verbatim, and what a schema says about a place. How
//! text becomes numbers, booleans and lists is `coerce`; parameters that are missing or unknown are the business of
//! `members`.
//!
//! ```text
//! {"f": {"properties": {"n": {"type": "integer"}}, "required": ["n"]}}
//!        coerce: "7" is 7                          members: a call without n
//! ```

mod coerce;
mod members;

use std::collections::BTreeMap;

use msg_core::{Arguments, Diagnostic};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::call::Call;
use crate::code::Code;
use crate::definition::ToolDefinition;
use crate::json::{self, Json};

/// Nesting of schemas, and steps of references that are followed.
const MAX_STEPS: usize = 32;
/// Depth of a schema's own JSON.
const MAX_DEPTH: usize = 512;

/// JSON Schemas of parameters by tool.
///
/// ```
/// use msg_xml::{Options, SchemaSet, parse};
/// let schema: SchemaSet = serde_json::from_str(r#"{"f":{"type":"object","properties":{"n":{"type":"integer"}}}}"#)?;
/// let text = b"<tool><tool_name>f</tool_name><arguments><n>7</n></arguments></tool>";
/// let parsed = parse(text, None, &Options::new().with_schema(schema));
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
    pub fn coerce(&self, call: &mut Call) -> Vec<Diagnostic> {
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
        types.string && !types.object && !types.array
    }
}

impl Serialize for SchemaSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let tools: BTreeMap<&str, Box<serde_json::value::RawValue>> = self
            .tools
            .iter()
            .filter_map(|(name, schema)| {
                serde_json::value::RawValue::from_string(schema.text())
                    .ok()
                    .map(|raw| (name.as_str(), raw))
            })
            .collect();
        tools.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for SchemaSet {
    /// A list of tool definitions, or an object from tool name to JSON Schema.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<serde_json::value::RawValue>::deserialize(deserializer)?;
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

#[derive(Clone, Copy, Default)]
struct Types {
    string: bool,
    integer: bool,
    number: bool,
    boolean: bool,
    null: bool,
    array: bool,
    object: bool,
}

impl Types {
    fn none(self) -> bool {
        !(self.string
            || self.integer
            || self.number
            || self.boolean
            || self.null
            || self.array
            || self.object)
    }

    fn add(&mut self, name: &str) {
        match name {
            "string" => self.string = true,
            "integer" => self.integer = true,
            "number" => self.number = true,
            "boolean" => self.boolean = true,
            "null" => self.null = true,
            "array" => self.array = true,
            "object" => self.object = true,
            _ => {}
        }
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
        match self.schema {
            Json::Object(members) => members.get(key),
            _ => None,
        }
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
            if let Some(Json::String(target)) = node.member("$ref")
                && let Some(schema) = resolve(node.root, target)
            {
                open.push(node.at(schema));
            }
            for union in ["oneOf", "anyOf"] {
                if let Some(Json::Array(items)) = node.member(union) {
                    open.extend(items.iter().rev().map(|item| node.at(item)));
                }
            }
        }
        found
    }

    /// Follows references only.
    pub(crate) fn resolved(self) -> Self {
        let mut node = self;
        for _ in 0..MAX_STEPS {
            let Some(Json::String(target)) = node.member("$ref") else { break };
            let Some(schema) = resolve(node.root, target) else { break };
            node = node.at(schema);
        }
        node
    }

    fn types(self) -> Types {
        let mut types = Types::default();
        for node in self.alternatives() {
            match node.member("type") {
                Some(Json::String(name)) => types.add(name),
                Some(Json::Array(names)) => names.iter().for_each(|n| {
                    if let Json::String(name) = n {
                        types.add(name);
                    }
                }),
                _ => {}
            }
        }
        types
    }

    fn property(self, key: &str) -> Option<Self> {
        self.alternatives().into_iter().find_map(|node| match node.member("properties") {
            Some(Json::Object(members)) => members.get(key).map(|schema| node.at(schema)),
            _ => None,
        })
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
