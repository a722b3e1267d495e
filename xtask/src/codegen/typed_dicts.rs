//! Writes the JSON Schemas of the documented forms as `TypedDict`s for the Python package (PY-18).
//!
//! ```text
//! {"properties": {"type": {"const": "text"}, "text": {"type": "string"}}, "required": ["type"]}
//!
//! class _Text(TypedDict):                      what is required
//!     type: Literal["text"]
//! class Text(_Text, total=False):              and what is not
//!     text: str
//! ```
//!
//! It knows the words that these schemas use, and fails for any other.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::Output;
use crate::Res;
use crate::workspace::Workspace;

const PATH: &str = "crates/msg-python/python/msg/schema.py";
/// The schemas, what their names begin with, and the name of the outermost object.
const SCHEMAS: &[(&str, &str, &str)] = &[
    ("native", "", "Message"),
    ("agent", "Agent", "AgentMessage"),
    ("turns", "Turn", "Turn"),
    ("diagnostic", "Diagnostic", "DiagnosticDict"),
];
const HEAD: &str = r#""""The documented JSON forms as types: ``messages: list[msg.schema.Message]``.

Written by `cargo xtask codegen` from the schemas that `msg schema` prints. They cost nothing at run time; readers take more
members than these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Union

if TYPE_CHECKING:
    from typing import TypedDict
else:
    try:
        from typing_extensions import TypedDict  # pydantic asks for it before Python 3.12
    except ImportError:
        from typing import TypedDict
"#;

pub(crate) fn generate(workspace: &Workspace) -> Res<Vec<Output>> {
    let mut file = File::default();
    for (name, prefix, root) in SCHEMAS {
        let text = workspace.read(&format!("crates/msg-forms/schemas/{name}.schema.json"))?;
        let schema: Value = serde_json::from_str(&text)?;
        file.prefix = prefix;
        let items = schema.get("items").unwrap_or(&schema);
        if items.get("$ref").is_none() {
            file.kind(items, root)?;
        }
        let defs = schema.get("$defs").and_then(Value::as_object).into_iter().flatten();
        for (name, def) in defs {
            let class = file.named(name);
            let kind = file.kind(def, &class)?;
            if kind != class {
                writeln!(file.aliases, "{class} = {kind}")?;
            }
        }
    }
    let File { classes, aliases, .. } = file;
    let text = format!("{HEAD}{classes}\n\n{}\n", aliases.trim_end());
    Ok(vec![Output { path: PATH.to_owned(), text }])
}

/// The file under construction.
#[derive(Default)]
struct File {
    prefix: &'static str,
    classes: String,
    aliases: String,
}

impl File {
    /// The name of a definition.
    fn named(&self, name: &str) -> String {
        format!("{}{}", self.prefix, camel(name))
    }

    /// The type of a schema; objects with members become a class that is called `name`.
    fn kind(&mut self, schema: &Value, name: &str) -> Res<String> {
        let object = schema.as_object().ok_or("a schema is not an object")?;
        let word = |it: &str| object.get(it).and_then(Value::as_str);
        if let Some(place) = word("$ref") {
            return Ok(self.named(place.trim_start_matches("#/$defs/")));
        }
        if let Some(only) = object.get("const") {
            let only =
                if only == &Value::Bool(true) { "True".to_owned() } else { only.to_string() };
            return Ok(format!("Literal[{only}]"));
        }
        if let Some(values) = object.get("enum").and_then(Value::as_array) {
            let values: Vec<_> = values.iter().map(Value::to_string).collect();
            return Ok(format!("Literal[{}]", values.join(", ")));
        }
        match word("type") {
            Some("string") => Ok("str".to_owned()),
            Some("integer") => Ok("int".to_owned()),
            Some("number") => Ok("float".to_owned()),
            Some("boolean") => Ok("bool".to_owned()),
            Some("array") => {
                let item =
                    object.get("items").map_or(Ok("Any".to_owned()), |it| self.kind(it, name))?;
                Ok(format!("list[{item}]"))
            }
            Some("object") => self.object(object, name),
            Some(other) => Err(format!("{name}: no type of Python is known for {other:?}").into()),
            None => self.either(object, name),
        }
    }

    /// One of several, or anything.
    fn either(&mut self, object: &Map<String, Value>, name: &str) -> Res<String> {
        let Some(kinds) = ["anyOf", "oneOf"].iter().find_map(|it| object.get(*it)?.as_array())
        else {
            return Ok("Any".to_owned());
        };
        let mut res: Vec<String> = Vec::new();
        for (at, kind) in kinds.iter().enumerate() {
            let kind = self.kind(kind, &format!("{name}{}", marked(kind, at)))?;
            if !res.contains(&kind) {
                res.push(kind);
            }
        }
        Ok(format!("Union[{}]", res.join(", ")))
    }

    fn object(&mut self, object: &Map<String, Value>, name: &str) -> Res<String> {
        let Some(members) = object.get("properties").and_then(Value::as_object) else {
            let value = match object.get("additionalProperties") {
                Some(it @ Value::Object(_)) => self.kind(it, name)?,
                _ => "Any".to_owned(),
            };
            return Ok(format!("dict[str, {value}]"));
        };
        let required = object.get("required").and_then(Value::as_array);
        let is_required = |name: &str| required.is_some_and(|it| it.iter().any(|it| it == name));
        let [mut must, mut may] = [String::new(), String::new()];
        for (member, schema) in members {
            let kind = self.kind(schema, &format!("{name}{}", camel(member)))?;
            let list = if is_required(member) { &mut must } else { &mut may };
            writeln!(list, "    {member}: {kind}")?;
        }
        self.class(name, &must, &may)?;
        Ok(name.to_owned())
    }

    fn class(&mut self, name: &str, must: &str, may: &str) -> Res {
        let out = &mut self.classes;
        if may.is_empty() || must.is_empty() {
            let total = if must.is_empty() { ", total=False" } else { "" };
            write!(out, "\n\nclass {name}(TypedDict{total}):\n{must}{may}")?;
        } else {
            write!(out, "\n\nclass _{name}(TypedDict):\n{must}")?;
            write!(out, "\n\nclass {name}(_{name}, total=False):\n{may}")?;
        }
        Ok(())
    }
}

/// What tells one of several from the others: its `type`, or its only member.
fn marked(schema: &Value, at: usize) -> String {
    let members = schema.get("properties").and_then(Value::as_object);
    let kind = schema.pointer("/properties/type/const").and_then(Value::as_str);
    let only = members.filter(|it| it.len() == 1).and_then(|it| it.keys().next());
    match kind.or(only.map(String::as_str)) {
        Some("type") => "Other".to_owned(),
        Some(name) => camel(name),
        None => at.to_string(),
    }
}

fn camel(name: &str) -> String {
    let first = |it: &str| it[..1].to_uppercase() + &it[1..];
    name.split('_').filter(|it| !it.is_empty()).map(first).collect()
}
