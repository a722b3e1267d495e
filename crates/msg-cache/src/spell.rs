//! The three texts of a cell: what the provider sees, what it means, and what it means without ids (CL-2 to CL-4).
//!
//! ```text
//! {"type":"tool_use","id":"a","name":"f","input":{"b":1,"a":2},"cache_control":{…}}
//! rendered     id:"a" input:{"b":1,"a":2} name:"f" type:"tool_use"     members sorted, values as they are
//! meaning      id:"a" input:{"a":2,"b":1} name:"f" type:"tool_use"     values sorted too
//! without ids  input:{"a":2,"b":1} name:"f" type:"tool_use"
//! ```

use std::borrow::Cow;

use msg_json::JsonValue as Value;

/// Which text of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spelling {
    Rendered,
    Meaning,
    WithoutIds,
}

/// Members whose value goes to the model as it is: order of members and nulls count there.
fn is_value(name: &str) -> bool {
    let is_schema =
        matches!(name, "input_schema" | "inputSchema" | "parametersJsonSchema" | "schema");
    is_schema || matches!(name, "input" | "parameters" | "args" | "response" | "json")
}

/// Members that connect cells.
const IDS: &[&str] =
    &["id", "call_id", "tool_call_id", "tool_use_id", "toolUseId", "item_id", "thoughtSignature"];

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
        .filter(|(name, it)| {
            is_sent(name, it) && !(how == Spelling::WithoutIds && IDS.contains(&&**name))
        })
        .collect();
    members.sort_by(|one, other| one.0.cmp(&other.0));
    out.push('{');
    for (name, it) in members {
        text(&name, out);
        out.push(':');
        match &*name {
            "arguments" => arguments(it, how, out),
            "content" | "output" | "result" => part(content(it), how, camel, out),
            name if is_value(name) => whole(it, how, out),
            _ => part(it, how, camel, out),
        }
        out.push(',');
    }
    out.push('}');
}

/// A list of one plain text says the same as that text.
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
    match name {
        _ if *value == Value::Null => false,
        "cache_control" | "cachePoint" | "prompt_cache_breakpoint" => false,
        "annotations" | "logprobs" | "citations" => *value != Value::List(Vec::new()),
        "is_error" | "strict" => *value != Value::Bool(false),
        "status" => value.text() == Some("error"),
        "detail" => value.text() != Some("auto"),
        _ => true,
    }
}

fn in_camel_case(name: &str) -> Cow<'_, str> {
    if !name.contains('_') {
        return name.into();
    }
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    let rest =
        words.map(|it| it.get(..1).unwrap_or("").to_ascii_uppercase() + it.get(1..).unwrap_or(it));
    rest.fold(first, |res, it| res + &it).into()
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
