//! What a JSON value means as calls (XT-27). Where the value ends is the business of whoever finds one.

use super::draft::{Arguments, Draft};
use crate::call;
use crate::code::Code;
use crate::json::{self, Json, Members};
use crate::lex::{self, ARGS, SERVER};

/// The calls of a JSON value.
#[derive(Debug, Default)]
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
    let mut out = JsonCalls::default();
    for item in items {
        let Json::Object(members) = item else { return Err(Code::InvalidJson) };
        out.call(&members, names, start, depth)?;
    }
    Ok(out)
}

impl JsonCalls {
    fn note(&mut self, code: Code) {
        self.notes.push((code, self.calls.len()));
    }

    /// One call more.
    fn call(
        &mut self,
        members: &Members,
        names: &[&str],
        start: usize,
        depth: usize,
    ) -> Result<(), Code> {
        if several(members, names) || several(members, &SERVER) {
            return Err(Code::DuplicateToolName);
        }
        let (nth, name) = name(members, names)?;
        if nth > 0 {
            self.note(Code::FieldAlias);
        }
        let mut draft = Draft::new(start);
        (draft.typed, draft.args_closed, draft.name) = (true, true, Some(name));
        if let Some(Json::String(server)) = SERVER.iter().find_map(|key| members.word(key)) {
            draft.server = Some(call::server(lex::trim(server))).filter(|s| !s.is_empty());
        }
        for args in arguments_members(members) {
            if draft.args.is_some() {
                self.note(Code::DuplicateArguments);
            }
            let (args, codes) = read_arguments(args.clone(), depth);
            codes.into_iter().for_each(|code| self.note(code));
            draft.add_args(args);
        }
        draft.args.get_or_insert_with(|| Arguments::Params(Vec::new()));
        self.calls.push(draft);
        Ok(())
    }
}

/// The name, and which of `names` its member is.
fn name(members: &Members, names: &[&str]) -> Result<(usize, String), Code> {
    match names.iter().enumerate().find_map(|(n, key)| members.word(key).map(|v| (n, v))) {
        None | Some((_, Json::Null)) => Err(Code::MissingToolName),
        Some((n, Json::String(name))) => match lex::trim(name) {
            "" => Err(Code::MissingToolName),
            name if lex::valid_tool_name(name) => Ok((n, name.to_owned())),
            _ => Err(Code::InvalidToolName),
        },
        Some(_) => Err(Code::InvalidToolName),
    }
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

/// XT-27: what a JSON value is as the arguments of a call, and what is to be said about that.
pub(crate) fn read_arguments(args: Json, depth: usize) -> (Arguments, Vec<Code>) {
    match args {
        Json::Null => (Arguments::Params(Vec::new()), Vec::new()),
        Json::Object(_) => (args.into(), Vec::new()),
        Json::String(ref text) => match json::parse(text, depth) {
            Some((object @ Json::Object(_), true)) => {
                (object.into(), vec![Code::JsonArguments, Code::JsonRepaired])
            }
            Some((object @ Json::Object(_), false)) => (object.into(), vec![Code::JsonArguments]),
            _ => (Arguments::Other(args), vec![Code::ArgumentsNotObject]),
        },
        other => (Arguments::Other(other), vec![Code::ArgumentsNotObject]),
    }
}

/// The name in an object that is not whole, if its member is and the name is valid.
pub(crate) fn partial_name(members: &Members, names: &[&str]) -> Option<String> {
    let named = |key: &&str| match members.word(key) {
        Some(Json::String(name)) => Some(lex::trim(name).to_owned()),
        _ => None,
    };
    names.iter().find_map(named).filter(|name| lex::valid_tool_name(name))
}
