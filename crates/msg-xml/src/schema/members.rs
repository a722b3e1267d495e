//! Which parameters a call lacks and which its schema does not know (XT-31). It changes no value and looks at
//! no type: types are the business of the pass beside it.

use std::collections::BTreeSet;

use msg_core::Diagnostic;

use super::{MAX_DEPTH, MAX_STEPS, Node, SchemaSet};
use crate::call::Call;
use crate::code::Code;
use crate::json::{self, Json, Members};

impl SchemaSet {
    /// Reports required parameters that a call lacks (`xml::missing-parameter`) and parameters that its
    /// schema does not list (`xml::unknown-parameter`), nested ones by their path, such as `edits[1].path`.
    ///
    /// A step of its own: reading a message never makes these reports, the call stays as it is, and it stays a
    /// [`Call`]. A parameter is unknown if every object that the schema allows at its place lists `properties`
    /// (or has `additionalProperties: false`), none of them lists it, and none is open to others by
    /// `additionalProperties`, `patternProperties` or `allOf`. Of a tool without a schema nothing is reported.
    ///
    /// ```
    /// use msg_xml::{Call, SchemaSet};
    /// let schema: SchemaSet = serde_json::from_str(
    ///     r#"{"f":{"type":"object","properties":{"path":{}},"required":["path"]}}"#,
    /// )?;
    /// let found = schema.check(&Call::new("f", r#"{"file":"a"}"#.to_owned()));
    /// let found: Vec<_> = found.iter().map(|it| it.message()).collect();
    /// assert_eq!(found, ["missing parameter: path", "unknown parameter: file"]);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn check(&self, call: &Call) -> Vec<Diagnostic> {
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

/// What a place of a schema says about the members of an object there.
struct Shape<'s> {
    /// The lists of properties, each with its place.
    known: Vec<(&'s Members, Node<'s>)>,
    required: BTreeSet<&'s str>,
    /// Nothing but what is known belongs here.
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

    /// Whether it leaves the description to others that are read.
    fn refers(self) -> bool {
        ["oneOf", "anyOf"].iter().any(|key| self.member(key).is_some()) || self.target().is_some()
    }

    /// What every object here must have; none if no object can be here. `steps` bounds the schemas that are
    /// read, beyond them nothing is required.
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
