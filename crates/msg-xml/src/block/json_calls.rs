//! What a JSON value means as calls (XT-27). Where the value ends is the business of whoever finds one.

use super::draft::{Arguments, Calls, Draft};
use super::grammar::Halt;
use crate::call;
use crate::code::Code;
use crate::input::Input;
use crate::json::{self, Json, Members, Read, Stop};
use crate::lex::{self, ARGS, SERVER};
use crate::options::Options;

/// The JSON value at `from`, its end as a position of the window; what there is of its members if the input ends in it.
pub(super) fn json_at(
    w: &Input<'_>,
    from: usize,
    opts: &Options,
) -> Result<Result<Read, Members>, Halt> {
    match json::read(w.str(from, w.end()), opts.limits.json_depth()) {
        Ok(read) => Ok(Ok(Read { end: from + read.end, ..read })),
        Err(Stop::More(_)) if !w.eof => Err(Halt::Pending),
        Err(Stop::More(members)) => Ok(Err(members)),
        Err(Stop::Error(at)) => Err(Halt::NoJson(from + at)),
        Err(Stop::Depth(at)) => Err(Halt::Deep(from + at)),
    }
}

impl Calls {
    /// The calls of a value that stands in the place of the call that is being read. Those of a list share their
    /// source: it is that of the last.
    pub(super) fn add_json(&mut self, read: Read, names: &[&str], from: usize, opts: &Options) {
        let Read { value, end: to, repaired } = read;
        if repaired {
            self.note(Code::JsonRepaired, from, to);
        }
        match read_calls(value, names, self.cur.start, opts.limits.json_depth()) {
            Err(code) => self.refuse(code),
            Ok(read) => {
                let base = self.before.len();
                for (code, call) in read.notes {
                    self.note_of(base + call, code, from, to);
                }
                self.before.extend(read.calls);
                self.cur = self.before.pop().unwrap_or_default();
                self.cur.end = to;
            }
        }
    }

    /// Another value follows at `from`.
    pub(crate) fn next_value(&mut self, from: usize) {
        let call = std::mem::replace(&mut self.cur, Draft::new(from));
        self.before.push(call);
    }

    /// Of a list at the end of a message that was cut, one call is left, without name.
    pub(super) fn cut_list(&mut self) {
        if let Some(first) = self.before.drain(..).next() {
            self.cur = first;
        }
        (self.cur.name, self.cur.args) = (None, None);
    }
}

/// The calls of a JSON value.
#[derive(Debug, Default)]
struct JsonCalls {
    calls: Vec<Draft>,
    /// Code and index of the call.
    notes: Vec<(Code, usize)>,
}

/// XT-27: the calls that a JSON value names; `names` are the members for the name, the expected one first.
fn read_calls(value: Json, names: &[&str], start: usize, depth: usize) -> Result<JsonCalls, Code> {
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
pub(super) fn partial_name(members: &Members, names: &[&str]) -> Option<String> {
    let named = |key: &&str| match members.word(key) {
        Some(Json::String(name)) => Some(lex::trim(name).to_owned()),
        _ => None,
    };
    names.iter().find_map(named).filter(|name| lex::valid_tool_name(name))
}
