//! The JSON body (XT-27), JSON beside the name (XT-12), and what a JSON value means as a call.

use super::{Arguments, Block, Cx, Done, Draft, State, Why};
use crate::call::{self, Server};
use crate::code::Code;
use crate::json::{self, Json, Members, Scan, Scanner};
use crate::lex::{self, ARGS, SERVER, Tag};
use crate::look;
use crate::window::{MORE, Wait, Win, is_blank};

/// The members that may have the name; the first is the expected one.
const NAMES: [&str; 3] = ["tool_name", "name", "tool"];

/// The calls of a JSON value.
#[derive(Debug)]
pub(crate) struct JsonCalls {
    pub(crate) calls: Vec<Draft>,
    /// Code and index of the call.
    pub(crate) notes: Vec<(Code, usize)>,
}

impl Block {
    /// What follows the opener: a JSON body, or elements.
    pub(super) fn body(&mut self, cx: &mut Cx<'_, '_>) -> Result<Option<Done>, Wait> {
        let p = cx.look.misc(cx.w, self.at)?;
        let (start, fence) = match lex::need(cx.w, p)? {
            Some(b'{' | b'[') => (Some(p), false),
            Some(b'`') => (look::json_fence(cx.w, p)?, true),
            _ => (None, false),
        };
        match start {
            Some(start) => {
                self.misc(cx)?;
                self.is_json = true;
                self.state = State::Json(
                    Scanner::new(start, cx.opts.limits.json_depth()),
                    Why::Body { fence },
                );
            }
            None => self.state = State::Top,
        }
        Ok(None)
    }

    pub(super) fn json(&mut self, cx: &mut Cx<'_, '_>) -> Result<Option<Done>, Wait> {
        let State::Json(scan, why) = &mut self.state else { return Ok(None) };
        let why = *why;
        match scan.feed(cx.w.from(scan.at)) {
            Scan::More if !cx.w.eof => Err(MORE),
            Scan::More => Ok(self.json_cut(cx, why)),
            Scan::Done(to) => {
                let (from, repaired) = (scan.start, scan.repaired);
                self.state = match why {
                    Why::Body { fence } => {
                        if repaired {
                            self.note(Code::JsonRepaired, from, to);
                        }
                        State::JsonTail { from, to, fence }
                    }
                    Why::Beside => {
                        if repaired {
                            self.note(Code::JsonRepaired, from, to);
                        }
                        State::BesideTail { from, to }
                    }
                    Why::Args => State::ArgsTail { from, to, repaired },
                };
                Ok(None)
            }
            Scan::Error(at) => {
                if why == Why::Args {
                    self.state = State::Args;
                } else {
                    self.refuse(Code::InvalidJson);
                    self.state = State::SkipRejected(at);
                }
                Ok(None)
            }
            Scan::Depth(at) => {
                self.too_deep(at);
                Ok(None)
            }
        }
    }

    /// The input ends inside the value.
    fn json_cut(&mut self, cx: &mut Cx<'_, '_>, why: Why) -> Option<Done> {
        match why {
            Why::Args => {
                self.state = State::Args;
                return None;
            }
            Why::Beside => {}
            Why::Body { .. } => {
                let State::Json(scan, _) = &self.state else { return None };
                let text = cx.w.str(scan.start, cx.w.end());
                let known = partial_name(text, &NAMES);
                if let Some(name) = known.filter(|name| self.cur.name.as_ref() != Some(name)) {
                    self.set_name(&name, self.start, cx.queue);
                }
            }
        }
        self.cur.args_closed = false;
        Some(self.end_of_input(cx, cx.w.end()))
    }

    /// After the value of a JSON body.
    pub(super) fn json_tail(
        &mut self,
        cx: &mut Cx<'_, '_>,
        from: usize,
        to: usize,
        fence: bool,
    ) -> Result<Option<Done>, Wait> {
        let (mut p, mut next) = cx.w.after_blanks(to)?;
        if fence && next == Some(b'`') && cx.w.word(p, "```")? {
            (p, next) = cx.w.after_blanks(p + 3)?;
        }
        let eof = next.is_none()
            || fence && cx.w.cut_word(p, "```") && cx.w.eof
            || next == Some(b'<') && (cut_tag(cx.w, p, "</tool") || cut_tag(cx.w, p, "<tool"));
        if !eof {
            if next == Some(b'<') {
                if let Tag::Close(c) = lex::tag(cx.w, p)?
                    && c.is_tool()
                {
                    return Ok(Some(self.json_done(cx, from, to, c.end, true)));
                }
                if cx.look.opener(cx.w, p)?.is_some() {
                    self.note(Code::MissingCloseTag, to, to);
                    return Ok(Some(self.json_done(cx, from, to, to, true)));
                }
            }
            self.refuse(Code::InvalidJson);
            self.state = State::SkipRejected(to);
            return Ok(None);
        }
        if !cx.cut {
            self.note(Code::MissingCloseTag, cx.w.end(), cx.w.end());
        }
        Ok(Some(self.json_done(cx, from, to, cx.w.end(), !cx.cut)))
    }

    /// The body is a whole value: its calls.
    fn json_done(
        &mut self,
        cx: &mut Cx<'_, '_>,
        from: usize,
        to: usize,
        end: usize,
        whole: bool,
    ) -> Done {
        if self.over(cx, end) {
            return self.finish(cx, end, whole);
        }
        let mut value = json::build(cx.w.str(from, to));
        let several = matches!(value, Json::Array(_));
        let attributes = (self.cur.name.take(), self.cur.server.take());
        if let Some(name) = &attributes.0 {
            complement(&mut value, name);
        }
        match read_calls(value, &NAMES, self.start, cx.opts.limits.json_depth()) {
            Err(code) => self.refuse(code),
            Ok(mut read) => {
                if several && !whole {
                    read.calls.truncate(1);
                    if let Some(call) = read.calls.first_mut() {
                        (call.name, call.args) = (None, None);
                    }
                }
                for (code, call) in read.notes {
                    self.notes.push(super::Note { code, start: from, end: to, call });
                }
                for (i, call) in read.calls.iter().enumerate() {
                    let number = self.first_call + i as u32;
                    if i > 0 {
                        cx.queue.begin(number);
                    }
                    let known = i == 0 && attributes.0.is_some();
                    if let Some(name) = call.name.as_ref().filter(|_| !known) {
                        cx.queue.name(number, name);
                    }
                }
                if let Some(first) = read.calls.first_mut() {
                    self.join_attributes(first, attributes);
                }
                if let Some(last) = read.calls.pop() {
                    self.done = read.calls;
                    self.cur = last;
                }
                let n = self.done.len();
                for note in &mut self.notes {
                    if note.code == Code::MissingCloseTag {
                        note.call = n;
                    }
                }
            }
        }
        self.finish(cx, end, whole)
    }

    /// XT-13: what the opener's attributes gave is the first call's; two different values reject the block.
    fn join_attributes(
        &mut self,
        call: &mut Draft,
        (name, server): (Option<String>, Option<Server>),
    ) {
        fn differ<T: PartialEq>(a: &Option<T>, b: &Option<T>) -> bool {
            a.is_some() && b.is_some() && a != b
        }
        if differ(&call.name, &name) || differ(&call.server, &server) {
            self.refuse(Code::DuplicateToolName);
        }
        call.server = call.server.take().or(server);
    }

    /// After JSON that stands beside the name: `</tool>` or the end of input make it the arguments.
    pub(super) fn beside_tail(
        &mut self,
        cx: &mut Cx<'_, '_>,
        from: usize,
        to: usize,
    ) -> Result<Option<Done>, Wait> {
        let (p, next) = cx.w.after_blanks(to)?;
        let fits = match next {
            None => true,
            Some(b'<') => {
                matches!(lex::tag(cx.w, p)?, Tag::Close(c) if c.is_tool())
                    || cut_tag(cx.w, p, "</tool")
            }
            Some(_) => false,
        };
        if !fits {
            self.refuse(Code::InvalidJson);
            self.state = State::SkipRejected(to);
            return Ok(None);
        }
        self.note(Code::JsonArguments, from, to);
        self.note(Code::MissingArgumentsWrapper, from, to);
        let args = match json::build(cx.w.str(from, to)) {
            Json::Object(members) => Arguments::Json(members),
            other => Arguments::Other(other),
        };
        self.cur.add_args(args);
        (self.cur.args_closed, self.cur.typed, self.cur.resend) = (true, true, true);
        self.last_end = to;
        self.at = to;
        self.state = State::Top;
        Ok(None)
    }
}

/// Whether the end of input cut this tag: `</tool` or `<tool`.
fn cut_tag(w: &Win<'_>, p: usize, tag: &str) -> bool {
    let n = (w.end() - p).min(tag.len());
    lex::cut_markup(w, p)
        && w.from(p)[..n].eq_ignore_ascii_case(&tag.as_bytes()[..n])
        && w.at(p + tag.len()).is_none_or(is_blank)
}

/// Gives the first call of a body the name from the opener's attributes, if it has arguments and no name.
fn complement(value: &mut Json, name: &str) {
    let first = match value {
        Json::Array(items) => items.first_mut(),
        value => Some(value),
    };
    if let Some(Json::Object(members)) = first
        && NAMES.iter().all(|key| members.word(key).is_none())
        && ARGS.iter().any(|key| members.word(key).is_some())
    {
        members.set(NAMES[0].to_owned(), Json::String(name.to_owned()));
    }
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
