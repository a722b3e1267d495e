//! Types from tool definitions (XT-30, XT-31): which values are kept verbatim, and the schema of each place;
//! converts texts to these types and reports missing and unknown parameters.
//!
//! ```text
//! {"f": {"properties": {"n": {"type": "integer"}}, "required": ["n"]}}
//!        coerce: "7" is 7                          missing: a call without n
//! ```

use std::collections::{BTreeMap, BTreeSet};

use msg_core::{Diagnostic, step_name};
use serde::de::Error as _;
use serde::ser::{Error as _, SerializeMap as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::code::Code;
use crate::json;
use crate::json::{Json, Members};
use crate::lex::trim;
use crate::parsed::{ParsedCall, ToolDefinition};

/// Nesting of schemas, and steps of references that are followed.
const MAX_STEPS: usize = 32;
/// Depth of a schema's own JSON.
const MAX_DEPTH: usize = 512;

/// The JSON Schemas of parameters, by tool.
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
    /// The schemas in tool definitions.
    pub fn from_definitions(definitions: &[ToolDefinition]) -> Self {
        let tools = definitions.iter().map(|d| (d.name.clone(), d.schema())).collect();
        SchemaSet { tools }
    }

    /// Whether there is a schema for the tool.
    pub fn contains(&self, tool: &str) -> bool {
        self.tools.contains_key(tool)
    }

    /// The names of the tools, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().map(String::as_str)
    }

    /// Converts the arguments of a call to the types in the schema (XT-31). Values that do not fit stay unchanged;
    /// returns their paths.
    pub(crate) fn coerce(&self, tool: &str, value: &mut Json) -> Vec<String> {
        match (self.tools.get(tool), &*value) {
            (Some(root), Json::Object(_)) => object(Node { root, schema: root }, value),
            _ => Vec::new(),
        }
    }

    /// XT-30: whether the schema wants a string, and nothing with members, for the value under these
    /// keys.
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

/// The JSON Schema types of a place; empty if the schema does not restrict them.
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
    fn type_names(self) -> Vec<&'s str> {
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

    /// The node itself, its reference, and its alternatives.
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
        let key = step_name(step);
        at = match at {
            Json::Object(members) => members.get(&key)?,
            Json::Array(items) => items.get(key.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    Some(at)
}

// Converts texts to the types of a schema (XT-31) and reports missing and unknown parameters. It is not a validator: a
// value that does not fit is kept and reported.

/// Gives the members of an object their types; the paths of what does not fit.
pub(crate) fn object(node: Node<'_>, value: &mut Json) -> Vec<String> {
    let mut coercer = Coercer { mismatches: Vec::new(), path: Vec::new() };
    coercer.object(node, value);
    coercer.mismatches
}

struct Coercer {
    mismatches: Vec<String>,
    path: Vec<String>,
}

impl Coercer {
    fn mismatch(&mut self) {
        self.mismatches.push(self.path.join("."));
    }

    fn object(&mut self, node: Node<'_>, value: &mut Json) {
        let Json::Object(members) = value else { return };
        let mut done = Members::default();
        for (key, mut member) in std::mem::take(members).into_list() {
            if let Some(child) = node.property(&key) {
                self.path.push(key.clone());
                self.value(child, &mut member);
                self.path.pop();
            }
            done.set(key, member);
        }
        *members = done;
    }

    fn value(&mut self, node: Node<'_>, value: &mut Json) {
        let types = node.types();
        if types.is_empty()
            || types.has("string") && value.as_str().is_some()
            || fits(&types, value)
        {
            return;
        }
        match value {
            Json::String(text) => match scalar(&types, trim(text)) {
                Some(typed) => *value = typed,
                None if types.has("array") => self.wrap(node, value),
                None => self.mismatch(),
            },
            Json::Array(items) if types.has("array") => {
                if let Some(node) = node.items() {
                    items.iter_mut().for_each(|item| self.value(node, item));
                }
            }
            Json::Object(members) if types.has("array") => {
                let known =
                    |key: &str| node.items().is_some_and(|items| items.property(key).is_some());
                let wrapper = members.len() == 1 && members.iter().all(|(key, _)| !known(key));
                if wrapper && let Some((_, inner)) = std::mem::take(members).into_list().pop() {
                    *value = inner;
                    match value {
                        Json::Array(_) => self.value(node, value),
                        _ => self.wrap(node, value),
                    }
                } else {
                    self.wrap(node, value);
                }
            }
            Json::Object(_) if types.has("object") => self.object(node, value),
            Json::Number(_) | Json::Bool(_) | Json::Null if types.has("array") => {
                self.wrap(node, value);
            }
            _ => self.mismatch(),
        }
    }

    /// Any other value becomes a list of one.
    fn wrap(&mut self, node: Node<'_>, value: &mut Json) {
        let mut item = std::mem::replace(value, Json::Null);
        if let Some(node) = node.items() {
            self.value(node, &mut item);
        }
        *value = Json::Array(vec![item]);
    }
}

/// Whether a value that a dialect already typed has a wanted type.
fn fits(types: &Types<'_>, value: &Json) -> bool {
    match value {
        Json::Number(n) => {
            let whole = !n.contains(['.', 'e', 'E'])
                && (n.parse::<i64>().is_ok() || n.parse::<u64>().is_ok());
            let finite = msg_json::decimal(n).is_some_and(f64::is_finite);
            types.has("integer") && whole || types.has("number") && finite
        }
        Json::Bool(_) => types.has("boolean"),
        Json::Null => types.has("null"),
        _ => false,
    }
}

/// A text as a value of one of the wanted types, tried in the order of XT-31.
fn scalar(types: &Types<'_>, text: &str) -> Option<Json> {
    let parsed =
        json::parse(text, MAX_DEPTH).filter(|(_, repaired)| !repaired).map(|(value, _)| value);
    if matches!(&parsed, Some(number @ Json::Number(_)) if fits(types, number)) {
        return parsed;
    }
    if types.has("boolean")
        && (text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false"))
    {
        return Some(Json::Bool(text.eq_ignore_ascii_case("true")));
    }
    if types.has("null") && (text.is_empty() || text == "null") {
        return Some(Json::Null);
    }
    if types.has("array") && (text.is_empty() || matches!(parsed, Some(Json::Array(_)))) {
        return Some(parsed.unwrap_or(Json::Array(Vec::new())));
    }
    if types.has("object") && (text.is_empty() || matches!(parsed, Some(Json::Object(_)))) {
        return Some(parsed.unwrap_or(Json::Object(Members::default())));
    }
    None
}

// Missing and unknown parameters of a call (XT-31). This pass changes no value and checks no type.

impl SchemaSet {
    /// Reports required parameters that a call lacks (`xml::missing-parameter`) and parameters that its
    /// schema does not list (`xml::unknown-parameter`). Nested parameters are named by their path, such as
    /// `edits[1].path`.
    ///
    /// Parsing never makes these reports. The call is not changed, and remains a [`ParsedCall`]. A parameter is
    /// unknown if every object that the schema allows at its place lists `properties` (or has `additionalProperties:
    /// false`), none of them lists it, and none allows others by `additionalProperties`, `patternProperties` or
    /// `allOf`. Tools without a schema have no findings.
    ///
    /// ```
    /// use msg_xml::{ParsedCall, SchemaSet};
    /// let schema: SchemaSet = serde_json::from_str(
    ///     r#"{"f":{"type":"object","properties":{"path":{}},"required":["path"]}}"#,
    /// )?;
    /// let found = schema.check(&ParsedCall::new("f", r#"{"file":"a"}"#.to_owned()));
    /// let found: Vec<_> = found.iter().map(|it| it.message()).collect();
    /// assert_eq!(found, ["missing parameter: path", "unknown parameter: file"]);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn check(&self, call: &ParsedCall) -> Vec<Diagnostic> {
        let Some(root) = self.tools.get(&call.tool) else { return Vec::new() };
        let Some((value, _)) = json::parse(call.arguments.text(), MAX_DEPTH) else {
            return Vec::new();
        };
        let mut checker = Checker { found: Vec::new(), path: String::new() };
        checker.value(Node { root, schema: root }, &value);
        let span = call.span.start as usize..call.span.end as usize;
        let report =
            |(code, path): (Code, String)| crate::code::diagnostic(code, span.clone(), Some(&path));
        checker.found.into_iter().map(report).collect()
    }
}

struct Checker {
    found: Vec<(Code, String)>,
    path: String,
}

impl Checker {
    fn value(&mut self, node: Node<'_>, value: &Json) {
        match value {
            Json::Object(members) => self.object(node, members),
            Json::Array(items) => {
                let Some(node) = node.items() else { return };
                for (i, item) in items.iter().enumerate() {
                    self.below(&format!("[{i}]"), |it| it.value(node, item));
                }
            }
            _ => {}
        }
    }

    fn object(&mut self, node: Node<'_>, members: &Members) {
        let shape = Shape::of(node);
        for key in &shape.required {
            if members.get(key).is_none() {
                self.report(Code::MissingParameter, key);
            }
        }
        for (key, member) in members.iter() {
            match shape.known.iter().find_map(|(listed, at)| listed.get(key).map(|s| at.at(s))) {
                Some(child) => self.below(&dotted(&self.path, key), |it| it.value(child, member)),
                None if shape.closed => self.report(Code::UnknownParameter, key),
                None => {}
            }
        }
    }

    fn report(&mut self, code: Code, key: &str) {
        self.found.push((code, format!("{}{}", self.path, dotted(&self.path, key))));
    }

    fn below(&mut self, step: &str, go: impl FnOnce(&mut Self)) {
        let len = self.path.len();
        self.path.push_str(step);
        go(self);
        self.path.truncate(len);
    }
}

fn dotted(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!(".{key}") }
}

/// What a schema requires of the members of an object.
struct Shape<'s> {
    /// The lists of properties, each with its place.
    known: Vec<(&'s Members, Node<'s>)>,
    required: BTreeSet<&'s str>,
    /// Whether only the known members are allowed.
    closed: bool,
}

impl<'s> Shape<'s> {
    fn of(node: Node<'s>) -> Self {
        let (mut known, mut closed, mut open) = (Vec::new(), false, false);
        let alternatives = node.alternatives();
        // A search that was broken off has not seen every list.
        open |= alternatives.len() >= MAX_STEPS;
        for it in alternatives.into_iter().filter(|it| it.takes_objects()) {
            let listed = it.member("properties").and_then(Json::as_object);
            known.extend(listed.map(|members| (members, it)));
            match it.member("additionalProperties") {
                Some(Json::Bool(false)) => closed = true,
                Some(_) => open = true,
                None if listed.is_some() => closed = true,
                None => open |= !it.refers(),
            }
            open |= it.member("patternProperties").is_some() || it.member("allOf").is_some();
        }
        let required = node.required(&mut MAX_STEPS.clone()).unwrap_or_default();
        Shape { known, required, closed: closed && !open }
    }
}

impl<'s> Node<'s> {
    /// Whether the `type` here, if there is one, has `object`.
    fn takes_objects(self) -> bool {
        self.member("type").is_none_or(|it| !matches!(it, Json::String(_) | Json::Array(_)))
            || self.type_names().contains(&"object")
    }

    /// Whether it only refers to other schemas.
    fn refers(self) -> bool {
        ["oneOf", "anyOf"].iter().any(|key| self.member(key).is_some()) || self.target().is_some()
    }

    /// The members that every object here must have; `None` if no object is allowed. `steps` bounds the
    /// number of schemas that are read; beyond it, nothing is required.
    fn required(self, steps: &mut usize) -> Option<BTreeSet<&'s str>> {
        let mut keys = BTreeSet::new();
        if *steps == 0 {
            return Some(keys);
        }
        *steps -= 1;
        if !self.takes_objects() {
            return None;
        }
        let list = |key| self.member(key).and_then(Json::as_array).unwrap_or_default();
        keys.extend(list("required").iter().filter_map(Json::as_str));
        let all = list("allOf").iter().map(|schema| self.at(schema));
        for node in self.target().into_iter().chain(all) {
            keys.extend(node.required(steps)?);
        }
        for items in self.unions() {
            let choices = items.iter().filter_map(|item| self.at(item).required(steps));
            let shared = choices.reduce(|a, b| a.intersection(&b).copied().collect());
            keys.extend(shared?);
        }
        Some(keys)
    }
}
