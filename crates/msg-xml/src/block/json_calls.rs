//! What a JSON value means as calls (XT-27). Where the value ends is the business of whoever finds one.

use super::draft::{Arguments, Draft};
use crate::call;
use crate::code::Code;
use crate::json::{self, Json, Members, Scan, Scanner};
use crate::lex::{self, ARGS, SERVER};

/// The calls of a JSON value.
#[derive(Debug)]
pub(crate) struct JsonCalls {
    pub(crate) calls: Vec<Draft>,
    /// Code and index of the call.
    pub(crate) notes: Vec<(Code, usize)>,
}

/// XT-27: the calls that a JSON value names; `names` are the members for the name, the expected one first.
pub(crate) fn read_calls(
    value: Json,
    names: &[&str],
    start: usize,
    depth: usize,
) -> Result<JsonCalls, Code> {
    let items = match value {
        Json::Object(_) => vec![value],
        Json::Array(items) if !items.is_empty() => items,
        _ => return Err(Code::InvalidJson),
    };
    let mut out = JsonCalls { calls: Vec::new(), notes: Vec::new() };
    for (i, item) in items.into_iter().enumerate() {
        let Json::Object(members) = item else { return Err(Code::InvalidJson) };
        let mut draft = Draft::new(start);
        draft.typed = true;
        draft.args_closed = true;
        if several(&members, names) || several(&members, &SERVER) {
            return Err(Code::DuplicateToolName);
        }
        let found = names.iter().enumerate().find_map(|(n, key)| members.word(key).map(|v| (n, v)));
        match found {
            None | Some((_, Json::Null)) => return Err(Code::MissingToolName),
            Some((n, Json::String(name))) => {
                let name = lex::trim(name);
                if name.is_empty() {
                    return Err(Code::MissingToolName);
                }
                if !lex::valid_tool_name(name) {
                    return Err(Code::InvalidToolName);
                }
                if n > 0 {
                    out.notes.push((Code::FieldAlias, i));
                }
                draft.name = Some(name.to_owned());
            }
            Some(_) => return Err(Code::InvalidToolName),
        }
        if let Some(Json::String(server)) = SERVER.iter().find_map(|key| members.word(key)) {
            draft.server = Some(call::server(lex::trim(server))).filter(|s| !s.is_empty());
        }
        for args in arguments_members(&members) {
            if draft.args.is_some() {
                out.notes.push((Code::DuplicateArguments, i));
            }
            draft.add_args(read_arguments(args.clone(), depth, i, &mut out.notes));
        }
        draft.args.get_or_insert_with(|| Arguments::Json(Members::default()));
        out.calls.push(draft);
    }
    Ok(out)
}

/// XT-15: whether members of several of these words have different names.
fn several(members: &Members, words: &[&str]) -> bool {
    let mut found = words.iter().filter_map(|word| match members.word(word) {
        Some(Json::String(text)) => Some(lex::trim(text)).filter(|name| !name.is_empty()),
        _ => None,
    });
    let first = found.next();
    found.any(|name| Some(name) != first)
}

/// The ARGS members in order; of a repeated one the last counts.
fn arguments_members(members: &Members) -> Vec<&Json> {
    let mut last = [None; ARGS.len()];
    for (at, (key, value)) in members.iter().enumerate() {
        if let Some(n) = ARGS.iter().position(|word| word.eq_ignore_ascii_case(key)) {
            last[n] = Some((at, value));
        }
    }
    let mut found: Vec<_> = last.into_iter().flatten().collect();
    found.sort_unstable_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, value)| value).collect()
}

/// XT-27: what a JSON value is as the arguments of the call of that index.
pub(crate) fn read_arguments(
    args: Json,
    depth: usize,
    call: usize,
    notes: &mut Vec<(Code, usize)>,
) -> Arguments {
    match args {
        Json::Null => Arguments::Json(Members::default()),
        Json::Object(members) => Arguments::Json(members),
        Json::String(text) => match json::parse(&text, depth) {
            Some((Json::Object(members), repaired)) => {
                notes.push((Code::JsonArguments, call));
                if repaired {
                    notes.push((Code::JsonRepaired, call));
                }
                Arguments::Json(members)
            }
            _ => {
                notes.push((Code::ArgumentsNotObject, call));
                Arguments::Other(Json::String(text))
            }
        },
        other => {
            notes.push((Code::ArgumentsNotObject, call));
            Arguments::Other(other)
        }
    }
}

/// The name in an object that is not whole, if its member is and the name is valid.
pub(crate) fn partial_name(text: &str, names: &[&str]) -> Option<String> {
    let mut rest = text.strip_prefix('{')?;
    let mut found: Vec<(usize, String)> = Vec::new();
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\r', '\n', ',']);
        let mut scan = Scanner::new(0, 4096);
        let Scan::Done(end) = scan.feed(rest.as_bytes()) else { break };
        let Json::String(key) = json::build(&rest[..end]) else { break };
        let Some(value) = rest[end..].trim_start().strip_prefix(':') else { break };
        let value = value.trim_start();
        let mut scan = Scanner::new(0, 4096);
        let Scan::Done(end) = scan.feed(value.as_bytes()) else { break };
        if let (Some(n), Json::String(name)) =
            (names.iter().position(|k| k.eq_ignore_ascii_case(&key)), json::build(&value[..end]))
        {
            found.push((n, name));
        }
        rest = &value[end..];
    }
    // Of a repeated member the last counts.
    let (_, name) = found.into_iter().rev().min_by_key(|(n, _)| *n)?;
    Some(lex::trim(&name).to_owned()).filter(|name| lex::valid_tool_name(name))
}
