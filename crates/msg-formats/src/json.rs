//! JSON objects of which some members are read, one by one, while the rest is kept byte for byte around a list of
//! messages.
//!
//! Also the findings for duplicate members and halves of surrogate pairs, in formats whose readers silently take the
//! last one, or U+FFFD: the stores of agents and frameworks.
//!
//! ```text
//! {"type":"human","data":{"content":"a","content":"b"}}
//!                         -----------^ "a" is not read: message::duplicate-member at line 1, column 39
//! ```

use std::{borrow::Cow, collections::HashSet, ops::Range};

use msg_codec::codec::{Losses, text_of_part};
use msg_core::{
    Code, Diagnostic, Extra, Message, Origin, Part, RawJson, Report, Severity, ToolCall, ToolResult,
};
use msg_json::{JsonError, Kind, Reader, TextState, Token, Writer, tokens, unescape};
use serde::de::DeserializeOwned;

use crate::codec::{Around, WriteOptions};

// Shared by the formats of other programs: taking members one by one, keeping the rest, and reporting losses.

/// The remaining members of an object.
pub(crate) type Members = Vec<(String, RawJson)>;

/// Takes the member with this name out; the last one if there are several. A member of another type is left.
pub(crate) fn take<T: DeserializeOwned>(members: &mut Members, name: &str) -> Option<T> {
    let at = members.iter().rposition(|it| it.0 == name)?;
    let value = members[at].1.parse().ok()?;
    members.remove(at);
    Some(value)
}

/// Keeps the remaining members of an object as unknown members of a format.
pub(crate) fn keep_rest(extra: &mut Extra, origin: &Origin, rest: Members) {
    for (name, raw) in rest {
        extra.insert(origin.clone(), name, raw);
    }
}

/// Writes the unknown members of a format after the known ones in `known`.
pub(crate) fn write_rest(extra: &Extra, origin: &Origin, known: &[&str], out: &mut Writer<'_>) {
    for (name, raw) in extra.iter(origin).filter(|it| !known.contains(&it.0)) {
        out.key(name).raw(raw.text());
    }
}

/// Writes the arguments of a call, as a value if they are JSON. A JSON string is written as text, because a string is
/// read as the text inside it.
pub(crate) fn write_arguments(call: &ToolCall, out: &mut Writer<'_>) {
    out.key("arguments");
    let text = call.arguments.text();
    match call.arguments.state() {
        TextState::Object => out.raw(text),
        TextState::Value if !text.trim_start().starts_with('"') => out.raw(text),
        _ => out.str(text),
    }
}

/// Reports that a refusal is written as text.
pub(crate) fn note_refusal(at: usize, losses: &mut Losses<'_>) {
    let text = "a refusal is a text here";
    losses.note(Severity::Info, "convert::refusal-as-text", Some(at), text);
}

/// Reports what is lost if only the text of a result is written, and JSON that becomes text.
pub(crate) fn note_result(at: usize, result: &ToolResult, own: &Origin, losses: &mut Losses<'_>) {
    if result.is_error {
        losses.member(Some(at), "is_error");
    }
    if result.content.parts().iter().filter_map(text_of_part).count() > 1 {
        losses.warn(
            "convert::merged-parts",
            Some(at),
            "the texts of a result became one, a line each",
        );
    }
    for it in result.content.parts() {
        match (it, text_of_part(it)) {
            (Part::Text(_), _) => {}
            (Part::Other(it), _) if it.format == *own => note_json(at, losses),
            (_, Some(_)) => note_json(at, losses),
            (_, None) => losses.part(at, &it.kind_of_source()),
        }
    }
}

/// Reports that a JSON part is written as text.
pub(crate) fn note_json(at: usize, losses: &mut Losses<'_>) {
    losses.warn("convert::json-as-text", Some(at), "a JSON part is written as its text");
}

/// The texts of a result, one per line; JSON, and unparsed parts of `own`, as JSON text.
pub(crate) fn text_of_result<'a>(result: &'a ToolResult, own: &Origin) -> Cow<'a, str> {
    let text = |it: &'a Part| match it {
        Part::Other(it) if it.format == *own => Some(it.value.text()),
        it => text_of_part(it),
    };
    let texts: Vec<_> = result.content.parts().iter().filter_map(text).collect();
    match texts.as_slice() {
        [] => Cow::Borrowed(""),
        [one] => Cow::Borrowed(one),
        more => Cow::Owned(more.join("\n")),
    }
}

// An object around a list of messages, kept byte for byte.
//
// Snapshots and session files have their own members beside `messages`. They are not read: the bytes before and after
// the list are written unchanged.

/// Writes a list of messages.
pub(crate) type WriteList = fn(&mut [Message], &WriteOptions, &mut Vec<u8>) -> Report;

/// The bytes before and after a list of messages; empty if the list is the document.
pub(crate) struct Wrapper {
    write: WriteList,
    list: Range<usize>,
    before: Vec<u8>,
    after: Vec<u8>,
    /// The names of its members except `messages`.
    members: Vec<String>,
}

impl Wrapper {
    /// No wrapper: `json` is the list.
    pub(crate) fn none(json: &[u8], write: WriteList) -> Self {
        Wrapper::of(json, List { place: 0..json.len(), members: Vec::new() }, write)
    }

    /// The wrapper of `json`. Anything but an object with a list in `messages` has no wrapper; its reader reports the
    /// problem.
    pub(crate) fn around(json: &[u8], write: WriteList) -> Self {
        match list(json, &["messages"]) {
            Ok(Some(list)) => Wrapper::of(json, list, write),
            Ok(None) | Err(_) => Wrapper::none(json, write),
        }
    }

    fn of(json: &[u8], List { place, members }: List, write: WriteList) -> Self {
        let (before, after) = (json[..place.start].to_vec(), json[place.end..].to_vec());
        Wrapper { write, list: place, before, after, members }
    }

    /// The span of the list.
    pub(crate) fn list(&self) -> Range<usize> {
        self.list.clone()
    }
}

impl Around for Wrapper {
    fn write(
        &mut self,
        messages: &mut Vec<Message>,
        options: &WriteOptions,
        out: &mut Vec<u8>,
    ) -> Report {
        out.extend_from_slice(&self.before);
        let report = (self.write)(messages, options, out);
        out.extend_from_slice(self.after.trim_ascii_end());
        report
    }

    fn members(&self) -> Vec<String> {
        self.members.clone()
    }
}

/// The span of a list, and the names of the members beside it.
pub(crate) struct List {
    pub(crate) place: Range<usize>,
    pub(crate) members: Vec<String>,
}

/// Finds the list in an object, in the last member with the first of these names that exists; `None` for other values.
pub(crate) fn list(json: &[u8], names: &[&str]) -> Result<Option<List>, JsonError> {
    let mut reader = Reader::new(json)?;
    if reader.peek()? != Kind::Object {
        return Ok(None);
    }
    let (mut found, mut members) = (vec![None; names.len()], Vec::new());
    reader.begin_object()?;
    while let Some(key) = reader.next_key()? {
        let (name, is_list) = (key.text.into_owned(), reader.peek()? == Kind::Array);
        let start = reader.next_offset();
        reader.raw()?;
        match names.iter().position(|it| *it == name) {
            Some(at) => found[at] = is_list.then_some(start..reader.offset()),
            None => members.push(name),
        }
    }
    reader.finish()?;
    Ok(found.into_iter().flatten().next().map(|place| List { place, members }))
}

/// The maximum number reported; more would say nothing new.
const MAX: usize = 32;

/// An object with more members uses a set for lookups.
const FEW: usize = 16;

/// The member names of an object so far.
#[derive(Default)]
struct Names<'t> {
    few: Vec<Cow<'t, str>>,
    many: HashSet<Cow<'t, str>>,
}

impl<'t> Names<'t> {
    /// Adds a name; returns whether it is new.
    fn add(&mut self, name: Cow<'t, str>) -> bool {
        if self.few.len() < FEW {
            let is_new = !self.few.contains(&name);
            self.few.push(name);
            return is_new;
        }
        !self.few.contains(&name) && self.many.insert(name)
    }
}

/// A warning for each duplicate member and each text with a lone surrogate, in one JSON text or one per line. A reader
/// already reports those of the outer `noted` levels. Linear.
pub(crate) fn doubles(text: &str, noted: usize) -> Vec<Diagnostic> {
    let mut res = Vec::new();
    let is_one = msg_json::validate(text).is_ok();
    let mut number = 0;
    for piece in text.split_inclusive(|it| it == '\n' && !is_one) {
        number += 1;
        of_value(piece, (number, noted), &mut res);
        if res.len() >= MAX {
            break;
        }
    }
    res
}

/// The warnings for one value, which begins at `line`.
fn of_value(text: &str, (line, noted): (usize, usize), res: &mut Vec<Diagnostic>) {
    let mut open: Vec<Option<Names<'_>>> = Vec::new();
    let mut tokens = tokens(text);
    while let Some(token) = tokens.next_token() {
        match token {
            Token::Mark(b'{') => open.push(Some(Names::default())),
            Token::Mark(b'[') => open.push(None),
            Token::Mark(b'}' | b']') => drop(open.pop()),
            Token::Name(quoted) => {
                let name = unescape(inner(quoted)).text;
                let Some(Some(names)) = open.last_mut() else { continue };
                if !names.add(name.clone()) && open.len() > noted && res.len() < MAX {
                    let said = format!("duplicate member `{name}`, readers take the last value");
                    let code = Code::new("message::duplicate-member");
                    res.push(at(Diagnostic::warning(code, said), before(text, quoted), line));
                }
            }
            Token::Text(quoted) => {
                let may_be = memchr::memmem::find(quoted.as_bytes(), b"\\u").is_some();
                if may_be && unescape(inner(quoted)).lone_surrogate && res.len() < MAX {
                    let said = "unpaired surrogate, read as U+FFFD";
                    let code = Code::new("message::lone-surrogate");
                    res.push(at(Diagnostic::warning(code, said), before(text, quoted), line));
                }
            }
            Token::Mark(_) | Token::Scalar(_) => {}
        }
    }
}

/// The text between the quotes of a string, which may lack the closing one.
fn inner(quoted: &str) -> &str {
    quoted[1..].strip_suffix('"').unwrap_or(&quoted[1..])
}

/// The text before `piece`, which is a slice of it.
fn before<'t>(text: &'t str, piece: &str) -> &'t str {
    &text[..piece.as_ptr() as usize - text.as_ptr() as usize]
}

/// A finding at the end of `before`, which begins at line `first_line`.
fn at(it: Diagnostic, before: &str, first_line: usize) -> Diagnostic {
    let line = first_line + before.bytes().filter(|it| *it == b'\n').count();
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    it.at_line(line, column)
}

#[cfg(test)]
mod tests {
    use super::doubles;

    fn shown(text: &str) -> Vec<String> {
        let place =
            |it: &msg_core::Diagnostic| (it.at.line.unwrap_or(0), it.at.column.unwrap_or(0));
        doubles(text, 0).iter().map(|it| format!("{:?} {}", place(it), it.message())).collect()
    }

    #[test]
    fn of_one_value_and_of_lines() {
        let said = "duplicate member `a`, readers take the last value";
        assert_eq!(shown("{\"a\":1,\n \"\\u0061\":[{\"a\":3}]}"), [format!("(2, 2) {said}")]);
        assert_eq!(shown("{\"a\":1}\n{\"a\":1,\"a\":2}\n{\"a"), [format!("(2, 8) {said}")]);
        assert!(shown("[{\"a\":\"a\"},{\"a\":1}]").is_empty());
        assert_eq!(
            shown(r#"["\ud83e\udd80","\ud83e"]"#),
            ["(1, 17) unpaired surrogate, read as U+FFFD"]
        );
    }

    #[test]
    fn many_names_are_looked_up() {
        let members: Vec<_> = (0..100).map(|it| format!("\"m{}\":0", it % 99)).collect();
        assert_eq!(shown(&format!("{{{}}}", members.join(","))).len(), 1);
    }
}
