//! The three texts of a cell: what the provider sees, what it means, and what it means without ids (CL-2 to CL-4).
//!
//! ```text
//! {"type":"tool_use","id":"a","name":"f","input":{"b":1,"a":2},"cache_control":{…}}
//! rendered     id:"a" input:{"b":1,"a":2} name:"f" type:"tool_use"     members sorted, values as they are
//! meaning      id:"a" input:{"a":2,"b":1} name:"f" type:"tool_use"     values sorted too
//! without ids  input:{"a":2,"b":1} name:"f" type:"tool_use"
//! ```

use std::borrow::Cow;

use msg_json::{self as json, JsonError, Reader};

/// Which text of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spelling {
    Rendered,
    Meaning,
    WithoutIds,
}

/// Members whose value goes to the model as it is: order of members and nulls count there.
const VALUES: &[&str] = &[
    "input",
    "input_schema",
    "inputSchema",
    "parameters",
    "parametersJsonSchema",
    "args",
    "response",
    "json",
    "schema",
];

/// Members that mark a cell for the cache and are not sent to the model.
const MARKS: &[&str] = &["cache_control", "cachePoint", "prompt_cache_breakpoint"];

/// Members that connect cells.
const IDS: &[&str] =
    &["id", "call_id", "tool_call_id", "tool_use_id", "toolUseId", "item_id", "thoughtSignature"];

/// Members whose list of one text says the same as the text.
const CONTENTS: &[&str] = &["content", "output", "result"];

/// Writes the text of a part. With `camel` names in snake case are written in camel case.
pub(crate) fn part(value: &Value<'_>, how: Spelling, camel: bool, out: &mut String) {
    match value {
        Value::Object(it) => members(it.iter().map(|it| (&*it.0, &it.1)), how, camel, out),
        Value::List(list) => {
            out.push('[');
            for it in list.iter().filter(|it| !is_empty_text(it)) {
                part(it, how, camel, out);
                out.push(',');
            }
            out.push(']');
        }
        other => whole(other, how, out),
    }
}

/// Writes the text of a part that is made of these members.
pub(crate) fn members<'v, 'a: 'v>(
    members: impl Iterator<Item = (&'v str, &'v Value<'a>)>,
    how: Spelling,
    camel: bool,
    out: &mut String,
) {
    let mut members: Vec<(Cow<'_, str>, &Value<'_>)> = members
        .map(|(name, it)| (if camel { in_camel_case(name) } else { name.into() }, it))
        .filter(|(name, it)| is_sent(name, it) && !(how == Spelling::WithoutIds && is_id(name)))
        .collect();
    members.sort_by(|one, other| one.0.cmp(&other.0));
    out.push('{');
    for (name, it) in members {
        text(&name, out);
        out.push(':');
        if VALUES.contains(&&*name) {
            whole(it, how, out);
        } else if name == "arguments" {
            arguments(it, how, out);
        } else if CONTENTS.contains(&&*name) {
            part(content(it), how, camel, out);
        } else {
            part(it, how, camel, out);
        }
        out.push(',');
    }
    out.push('}');
}

/// A list of one plain text is that text.
fn content<'v, 'a>(value: &'v Value<'a>) -> &'v Value<'a> {
    let mut parts = value.list().iter().filter(|it| !is_empty_text(it));
    match (parts.next(), parts.next()) {
        (Some(only), None) => plain_text(only).unwrap_or(value),
        _ => value,
    }
}

/// The text of a block that says nothing else.
pub(crate) fn plain_text<'v, 'a>(value: &'v Value<'a>) -> Option<&'v Value<'a>> {
    if matches!(value, Value::Text(_)) {
        return Some(value);
    }
    let is_plain = |(name, it): &(Cow<'_, str>, Value<'_>)| match &**name {
        "text" => true,
        "type" => it.text().is_some_and(|it| ["text", "input_text", "output_text"].contains(&it)),
        name => !is_sent(name, it),
    };
    let text = value.get("text").filter(|it| it.text().is_some());
    text.filter(|_| value.members().iter().all(is_plain))
}

pub(crate) fn is_empty_text(value: &Value<'_>) -> bool {
    plain_text(value).and_then(Value::text).is_some_and(str::is_empty)
}

/// Whether a member is sent to the model: neither null, nor a mark, nor a default that was written out.
fn is_sent(name: &str, value: &Value<'_>) -> bool {
    let is_empty_list = matches!(value, Value::List(it) if it.is_empty());
    match name {
        _ if *value == Value::Null || MARKS.contains(&name) => false,
        "annotations" | "logprobs" | "citations" => !is_empty_list,
        "is_error" | "strict" => *value != Value::Bool(false),
        "status" => value.text() == Some("error"),
        "detail" => value.text() != Some("auto"),
        _ => true,
    }
}

fn is_id(name: &str) -> bool {
    IDS.contains(&name)
}

fn in_camel_case(name: &str) -> Cow<'_, str> {
    if !name.contains('_') {
        return name.into();
    }
    let mut words = name.split('_');
    let mut res = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut chars = word.chars();
        res.extend(chars.next().map(|it| it.to_ascii_uppercase()));
        res.push_str(chars.as_str());
    }
    res.into()
}

/// The text of arguments is sent byte by byte; what it means is what it says as JSON.
fn arguments(value: &Value<'_>, how: Spelling, out: &mut String) {
    let read = value.text().filter(|_| how != Spelling::Rendered);
    match read.and_then(|it| Value::read(it.as_bytes())) {
        Some(read) => whole(&read, how, out),
        None => whole(value, how, out),
    }
}

/// A value in which every member counts; sorted where only the meaning is asked for.
pub(crate) fn whole(value: &Value<'_>, how: Spelling, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(it) => out.push_str(if *it { "true" } else { "false" }),
        Value::Number(it) => out.push_str(it),
        Value::Text(it) => text(it, out),
        Value::List(list) => {
            out.push('[');
            for it in list {
                whole(it, how, out);
                out.push(',');
            }
            out.push(']');
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            if how != Spelling::Rendered {
                members.sort_by(|one, other| one.0.cmp(&other.0));
            }
            out.push('{');
            for (name, it) in members {
                text(name, out);
                out.push(':');
                whole(it, how, out);
                out.push(',');
            }
            out.push('}');
        }
    }
}

/// A text in quotes, escaped as far as it takes to tell it from others.
fn text(it: &str, out: &mut String) {
    out.push('"');
    let mut from = 0;
    for at in memchr::memchr2_iter(b'"', b'\\', it.as_bytes()) {
        out.push_str(&it[from..at]);
        out.push('\\');
        from = at;
    }
    out.push_str(&it[from..]);
    out.push('"');
}

// JSON as a prompt is compared: the order of members stays, numbers are compared by value, texts are borrowed.

/// A JSON value. An integer and a fraction differ, as they do for a tokenizer (`1`, `1.0`).
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value<'a> {
    Null,
    Bool(bool),
    Number(String),
    Text(Cow<'a, str>),
    List(Vec<Value<'a>>),
    Object(Vec<(Cow<'a, str>, Value<'a>)>),
}

impl<'a> Value<'a> {
    /// Reads a text; `None` if it is not one JSON value, or is nested more than 128 levels deep.
    pub(crate) fn read(json: &'a [u8]) -> Option<Self> {
        let mut reader = Reader::new(json).ok()?;
        let res = value(&mut reader).ok()?;
        reader.finish().ok().map(|()| res)
    }

    /// The same with texts of its own.
    pub(crate) fn into_owned(self) -> Value<'static> {
        let own = |it: Cow<'a, str>| Cow::Owned(it.into_owned());
        match self {
            Value::Null => Value::Null,
            Value::Bool(it) => Value::Bool(it),
            Value::Number(it) => Value::Number(it),
            Value::Text(it) => Value::Text(own(it)),
            Value::List(it) => Value::List(it.into_iter().map(Value::into_owned).collect()),
            Value::Object(it) => {
                Value::Object(it.into_iter().map(|it| (own(it.0), it.1.into_owned())).collect())
            }
        }
    }

    /// The member of an object that is not null; of one that is there twice the last.
    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        let Value::Object(members) = self else { return None };
        let found = members.iter().rev().find(|it| it.0 == name).map(|it| &it.1);
        found.filter(|it| **it != Value::Null)
    }

    /// The first of these members that is there.
    pub(crate) fn any(&self, names: &[&str]) -> Option<&Self> {
        names.iter().find_map(|it| self.get(it))
    }

    /// The value at the end of a path of members.
    pub(crate) fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |it, name| it.get(name))
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Value::Text(it) => Some(it),
            _ => None,
        }
    }

    /// The text of a member.
    pub(crate) fn text_of(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(Value::text)
    }

    pub(crate) fn list(&self) -> &[Self] {
        match self {
            Value::List(it) => it,
            _ => &[],
        }
    }

    pub(crate) fn members(&self) -> &[(Cow<'a, str>, Self)] {
        match self {
            Value::Object(it) => it,
            _ => &[],
        }
    }

    /// A count of tokens: 0 for a value that is not a number, or below zero; never so large that sums overflow.
    pub(crate) fn count(&self, name: &str) -> u64 {
        self.number(name).map_or(0, |it| it.clamp(0.0, 1e12) as u64)
    }

    /// A number of a member.
    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        match self.get(name) {
            Some(Value::Number(it)) => it.parse().ok(),
            _ => None,
        }
    }
}

/// Reads the next value; the order of members and members that are there twice stay.
fn value<'a>(reader: &mut Reader<'a>) -> Result<Value<'a>, JsonError> {
    Ok(match reader.peek()? {
        json::Kind::Null => reader.null().map(|()| Value::Null)?,
        json::Kind::Bool => Value::Bool(reader.boolean()?),
        json::Kind::Number => Value::Number(number(reader.number()?)),
        json::Kind::String => Value::Text(reader.string()?.text),
        json::Kind::Array => {
            let mut list = Vec::new();
            reader.begin_array()?;
            while reader.next_element()? {
                list.push(value(reader)?);
            }
            Value::List(list)
        }
        json::Kind::Object => {
            let mut members = Vec::new();
            reader.begin_object()?;
            while let Some(name) = reader.next_key()? {
                members.push((name.text, value(reader)?));
            }
            Value::Object(members)
        }
    })
}

/// One spelling of a number: `1e2` and `100.0` are equal, `100` is an integer.
fn number(text: &str) -> String {
    let is_integer = !text.contains(['.', 'e', 'E']);
    match text.parse::<f64>() {
        Ok(it) if !is_integer => format!("{it:?}"),
        _ => text.to_owned(),
    }
}
