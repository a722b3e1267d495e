//! From texts to types (XT-31). It is no validator: what does not fit stays, reported.

use super::{MAX_DEPTH, Node, Types};
use crate::json::{self, Json, Members};
use crate::lex::trim;

/// Gives the members of an object their types; the paths of what does not fit.
pub(super) fn object(node: Node<'_>, value: &mut Json) -> Vec<String> {
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
