//! Converts texts to the types of a schema (XT-31) and reports missing and unknown parameters. It is not a validator: a
//! value that does not fit is kept and reported.

use std::collections::BTreeSet;

use msg_core::Diagnostic;

use super::{MAX_DEPTH, MAX_STEPS, Node, SchemaSet, Types};
use crate::call::ParsedCall;
use crate::code::Code;
use crate::json;
use crate::json::{Json, Members};
use crate::lex::trim;

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

/// Whether a value that a dialect typed already is of a wanted type.
fn fits(types: &Types<'_>, value: &Json) -> bool {
    match value {
        Json::Number(n) => {
            let whole = !n.contains(['.', 'e', 'E'])
                && (n.parse::<i64>().is_ok() || n.parse::<u64>().is_ok());
            let finite = n.parse::<f64>().is_ok_and(f64::is_finite);
            types.has("integer") && whole || types.has("number") && finite
        }
        Json::Bool(_) => types.has("boolean"),
        Json::Null => types.has("null"),
        _ => false,
    }
}

/// What a text is in one of the wanted types, tried in the order of XT-31.
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
    /// schema does not list (`xml::unknown-parameter`), nested ones by their path, such as `edits[1].path`.
    ///
    /// A step of its own: reading a message never makes these reports, the call stays as it is, and it stays a
    /// [`ParsedCall`]. A parameter is unknown if every object that the schema allows at its place lists `properties`
    /// (or has `additionalProperties: false`), none of them lists it, and none is open to others by
    /// `additionalProperties`, `patternProperties` or `allOf`. Of a tool without a schema nothing is reported.
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
