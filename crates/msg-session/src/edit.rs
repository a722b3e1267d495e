//! Byte edits (SE-5): the parts of a repair, and its effect. Bytes that no edit names stay the same.
//!
//! ```text
//! [A, B, C]   drop B   ->  [A, C]     the comma after it and the blanks up to C go with it
//! [A, B, C]   drop C   ->  [A, B]     the comma before it goes
//! ```
//!
//! Also JSON values with their places in the text, so an edit can name bytes. Nothing is copied until
//! a string is requested, and nothing recurses.
//!
//! ```text
//! {"uuid":"u1","message":{"role":"user"}}
//!        ^---^ Value { source: "\"u1\"", at: 8 }
//! ```

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    ops::Range,
    sync::LazyLock,
};

use memchr::memmem;
use msg_core::{RawJson, Severity};
use msg_json::Reader;
use serde::Deserialize;

use crate::error::{Case, Finding, MendOutcome};
use crate::excerpt::Mark;
use crate::{Blob, Dialect, dialects, excerpt};

pub(crate) use msg_json::Kind;

/// One replacement: the bytes of `span` become `text`. An insertion has an empty span.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edit {
    /// The bytes to replace.
    pub(crate) span: Range<usize>,
    /// The replacement.
    pub(crate) text: String,
}

impl Edit {
    pub(crate) fn replace(span: Range<usize>, text: impl Into<String>) -> Self {
        Self { span, text: text.into() }
    }

    pub(crate) fn remove(span: Range<usize>) -> Self {
        Self::replace(span, "")
    }

    /// Whether it has no effect.
    pub(crate) fn is_nothing(&self) -> bool {
        self.span.is_empty() && self.text.is_empty()
    }

    pub(crate) fn insert(at: usize, text: impl Into<String>) -> Self {
        Self::replace(at..at, text)
    }
}

/// Sorts the edits into the order in which they are applied. Edits at one place keep their order, with insertions
/// first, so text inserted before removed bytes is kept. An edit inside removed bytes is dropped. Linear, except for
/// the sorting.
pub(crate) fn in_order(mut edits: Vec<Edit>) -> impl Iterator<Item = Edit> {
    msg_core::sort_by_rank(&mut edits, |it| (it.span.start, !it.span.is_empty()));
    let mut at = 0;
    edits.into_iter().filter(move |it| {
        let stays = it.span.start >= at;
        at = at.max(it.span.end);
        stays
    })
}

/// Applies the edits in order. Linear in the text.
pub(crate) fn apply(text: &str, edits: Vec<Edit>) -> String {
    let grown: usize = edits.iter().map(|it| it.text.len()).sum();
    let mut out = String::with_capacity(text.len() + grown);
    let mut at = 0;
    for edit in in_order(edits) {
        out.push_str(&text[at..edit.span.start]);
        out.push_str(&edit.text);
        at = edit.span.end;
    }
    out.push_str(&text[at..]);
    out
}

/// The edits that drop elements of an array; at least one element must remain (SE-5).
pub(crate) fn drop_elements(elements: &[Value<'_>], dropped: impl Fn(usize) -> bool) -> Vec<Edit> {
    let Some(last_kept) = (0..elements.len()).rev().find(|it| !dropped(*it)) else {
        return Vec::new();
    };
    let mut res = Vec::new();
    for it in (0..last_kept).filter(|it| dropped(*it)) {
        res.push(Edit::remove(elements[it].at..elements[it + 1].at));
    }
    if last_kept + 1 < elements.len() {
        let end = elements[elements.len() - 1].end();
        res.push(Edit::remove(elements[last_kept].end()..end));
    }
    res
}

/// Sets a member of an object: replaces its value, or appends the member (SE-5).
pub(crate) fn set_member(object: &Object<'_>, name: &str, value: impl Into<String>) -> Edit {
    let value = value.into();
    if let Some(old) = object.get(name) {
        return Edit::replace(old.span(), value);
    }
    let (at, comma) = object.end_of_members();
    let comma = if comma { "," } else { "" };
    Edit::insert(at, format!("{comma}{}:{value}", quoted(name)))
}

// How much a mend changes, in lines and bytes.
//
// ```text
// old  {"a":1}\n{"b":2}\n        new  {"a":1}\n        written 0, removed 1, bytes -8
// ```

/// How much a repair changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Effect {
    /// The number of added lines; a changed line counts as removed and added.
    pub written: u64,
    /// The number of removed lines.
    pub removed: u64,
    /// The difference in bytes.
    pub bytes: i64,
}

impl Effect {
    /// Compares the old and the new files of a session. Linear.
    ///
    /// ```
    /// use msg_session::{Blob, Effect};
    ///
    /// let (old, new) = ([Blob::new("s.jsonl", "{}\n[]\n")], [Blob::new("s.jsonl", "{}\n")]);
    /// assert_eq!(Effect::between(&old, &new), Effect { written: 0, removed: 1, bytes: -3 });
    /// ```
    pub fn between(old: &[Blob], new: &[Blob]) -> Self {
        let (had, has) = (lines(old), lines(new));
        let size = |it: &[Blob]| it.iter().map(|it| it.bytes.len() as i64).sum::<i64>();
        Effect {
            written: without(&has, &had),
            removed: without(&had, &has),
            bytes: size(new) - size(old),
        }
    }
}

fn lines(blobs: &[Blob]) -> Vec<&[u8]> {
    blobs.iter().flat_map(|it| it.bytes.split(|it| *it == b'\n')).collect()
}

/// How many of these lines are not among the others.
fn without(lines: &[&[u8]], others: &[&[u8]]) -> u64 {
    let others: HashSet<_> = others.iter().collect();
    lines.iter().filter(|it| !others.contains(it)).count() as u64
}

// How each agent handles each problem, by version (SE-136). The data is in `outcomes.json`, one fact per row.
//
// ```text
// ["open-call", "claude-code", "2.1.197", "cut"]       from this version on
// ["open-call", "claude-code", "2.1.328", "healed"]
// ```

/// A row: the code after `session::`, the agent, its first version, the outcome and the case.
#[derive(Deserialize)]
#[serde(untagged)]
enum Row {
    Any(String, Dialect, String, MendOutcome),
    Case(String, Dialect, String, MendOutcome, Case),
}

/// The facts about a code and an agent.
type Facts = HashMap<(String, Dialect), Vec<Fact>>;

struct Fact {
    version: Vec<u64>,
    outcome: MendOutcome,
    case: Case,
}

static ALL: LazyLock<Facts> = LazyLock::new(|| {
    let rows: Vec<Row> =
        serde_json::from_str(include_str!("outcomes.json")).expect("because a test reads it");
    let mut res = Facts::new();
    for row in rows {
        let (code, dialect, version, outcome, case) = match row {
            Row::Any(code, dialect, version, outcome) => {
                (code, dialect, version, outcome, Case::Any)
            }
            Row::Case(code, dialect, version, outcome, case) => {
                (code, dialect, version, outcome, case)
            }
        };
        let version = numbers(&version);
        res.entry((code, dialect)).or_default().push(Fact { version, outcome, case });
    }
    res
});

/// Sets the outcome of each finding for the agent; without `version`, for the newest known version.
pub(crate) fn judge(dialect: Dialect, version: Option<&str>, findings: &mut [Finding]) {
    let version = version.map(numbers).filter(|it| !it.is_empty());
    for it in findings {
        let Some(code) = it.code.as_str().strip_prefix("session::") else { continue };
        // Some programs that read the stores of frameworks accept the mark as white space.
        if code == "bom" && dialects::is_of_a_framework(dialect) {
            it.severity = Severity::Warning;
            it.message =
                "the file begins with a byte order mark, which many JSON readers refuse".into();
        }
        it.outcome = outcome(code, dialect, version.as_deref(), it.case);
    }
}

/// The outcome in the newest known version up to `version`; if that is older than all, the first one.
fn outcome(
    code: &str,
    dialect: Dialect,
    version: Option<&[u64]>,
    case: Case,
) -> Option<MendOutcome> {
    let facts = ALL.get(&(code.to_owned(), dialect))?;
    let applies = |it: &&Fact| it.case == Case::Any || it.case == case;
    let known = |it: &&Fact| version.is_none_or(|version| it.version.as_slice() <= version);
    let newest = facts.iter().filter(applies).filter(known).max_by_key(|it| &it.version);
    let oldest = || facts.iter().filter(applies).min_by_key(|it| &it.version);
    newest.or_else(oldest).map(|it| it.outcome)
}

/// The newest version of an agent with known behaviour.
fn newest_version(dialect: Dialect) -> Option<String> {
    let facts = ALL.iter().filter(|it| it.0.1 == dialect).flat_map(|it| it.1);
    facts.map(|it| &it.version).max().map(|it| written(it))
}

impl Finding {
    /// How the versions of the agent handle this finding, with the first version that does so, oldest first
    /// (SE-136). Empty if that is unknown.
    ///
    /// ```
    /// use msg_session::{Blob, Dialect, MendOutcome, Session, SessionOptions};
    ///
    /// let call = r#"{"type":"assistant","uuid":"u","parentUuid":null,"timestamp":"2026-02-03T10:00:00Z","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"c","name":"n","input":{}}]}}"#;
    /// let session = Session::new(Dialect::ClaudeCode, vec![Blob::new("s.jsonl", call)]);
    /// let findings = session.check(&SessionOptions::default())?;
    /// let open = findings.iter().find(|it| it.code == "session::open-call");
    /// let verdicts = open.map(|it| it.verdicts(Dialect::ClaudeCode)).unwrap_or_default();
    /// assert_eq!(verdicts[0], ("2.1.197".to_owned(), MendOutcome::Cut));
    /// assert_eq!(verdicts[1], ("2.1.328".to_owned(), MendOutcome::Healed));
    /// # Ok::<(), msg_session::Error>(())
    /// ```
    pub fn verdicts(&self, dialect: Dialect) -> Vec<(String, MendOutcome)> {
        let Some(code) = self.code.as_str().strip_prefix("session::") else { return Vec::new() };
        let facts = ALL.get(&(code.to_owned(), dialect)).into_iter().flatten();
        let mut facts: Vec<_> =
            facts.filter(|it| it.case == Case::Any || it.case == self.case).collect();
        facts.sort_by(|a, b| a.version.cmp(&b.version));
        facts.into_iter().map(|it| (written(&it.version), it.outcome)).collect()
    }
}

fn written(version: &[u64]) -> String {
    version.iter().map(ToString::to_string).collect::<Vec<_>>().join(".")
}

fn numbers(version: &str) -> Vec<u64> {
    let version = version.trim_start_matches('v');
    version.split(['.', '-', ' ']).map_while(|it| it.parse().ok()).collect()
}

impl Dialect {
    /// The newest version of the agent whose behaviour is known (SE-136); `None` if it is unknown.
    ///
    /// ```
    /// use msg_session::Dialect;
    /// assert_eq!(Dialect::ClaudeCode.known_version().as_deref(), Some("2.1.328"));
    /// assert_eq!(Dialect::Aider.known_version(), None);
    /// ```
    pub fn known_version(self) -> Option<String> {
        newest_version(self)
    }
}

// Escapes of lone surrogates in sent text (SE-29).

/// The lone surrogates that were found.
#[derive(Debug, Default)]
pub(crate) struct LoneSurrogates {
    /// The edits that replace them with U+FFFD.
    pub(crate) edits: Vec<Edit>,
    /// Their number; a mark in an excerpt counts those of its whole value.
    pub(crate) count: u64,
}

/// The lone surrogate escapes in a value. If `has_marks`, long values are marks. Linear.
pub(crate) fn lone_surrogates(value: Value<'_>, has_marks: bool) -> LoneSurrogates {
    let mut res = LoneSurrogates::default();
    places(value.source.as_bytes(), |at| {
        res.count += 1;
        res.edits.push(Edit::replace(value.at + at..value.at + at + 6, r"\ufffd"));
    });
    if has_marks {
        for (at, len, mark) in excerpt::marks(value.source).filter(|it| it.2.lone_surrogates > 0) {
            res.count += mark.lone_surrogates;
            let mended = Mark { is_mended: true, ..mark };
            res.edits.push(Edit::replace(value.at + at..value.at + at + len, mended.json()));
        }
    }
    res
}

/// The number of lone surrogate escapes in JSON.
pub(crate) fn count_lone_surrogates(source: &str) -> u64 {
    let mut res = 0;
    places(source.as_bytes(), |_| res += 1);
    res
}

/// JSON with U+FFFD for every lone surrogate escape.
pub(crate) fn without_lone_surrogates(mut bytes: Vec<u8>) -> Vec<u8> {
    let mut found = Vec::new();
    places(&bytes, |at| found.push(at));
    for at in found {
        bytes[at..at + 6].copy_from_slice(br"\ufffd");
    }
    bytes
}

/// Whether JSON contains any surrogate escape.
pub(crate) fn may_have_lone_surrogates(bytes: &[u8]) -> bool {
    memmem::find_iter(bytes, br"\u").any(|at| is_surrogate(bytes, at))
}

/// Calls `found` with the offset of each lone surrogate escape.
fn places(bytes: &[u8], mut found: impl FnMut(usize)) {
    if !may_have_lone_surrogates(bytes) {
        return;
    }
    let mut at = 0;
    while let Some(len) = bytes.get(at..).and_then(|it| memchr::memchr(b'\\', it)) {
        at += len;
        at += match lone_at(bytes, at) {
            Escape::Lone => {
                found(at);
                6
            }
            Escape::Pair => 12,
            Escape::Other => 2,
        };
    }
}

enum Escape {
    Lone,
    Pair,
    Other,
}

fn lone_at(bytes: &[u8], at: usize) -> Escape {
    if !is_surrogate(bytes, at) {
        return Escape::Other;
    }
    let is_high = matches!(bytes[at + 3], b'8' | b'9' | b'a' | b'b' | b'A' | b'B');
    let low = |it: u8| matches!(it, b'c'..=b'f' | b'C'..=b'F');
    match is_high && is_surrogate(bytes, at + 6) && low(bytes[at + 9]) {
        true => Escape::Pair,
        false => Escape::Lone,
    }
}

/// Whether a surrogate escape begins here.
fn is_surrogate(bytes: &[u8], at: usize) -> bool {
    match bytes.get(at..at + 6) {
        Some([b'\\', b'u', b'd' | b'D', third, ..]) => {
            matches!(third, b'8' | b'9' | b'a'..=b'f' | b'A'..=b'F')
        }
        _ => false,
    }
}

/// A JSON value: its source, and its offset in the text of the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Value<'a> {
    pub(crate) source: &'a str,
    pub(crate) at: usize,
}

/// An object: its members in order, with their positions.
#[derive(Debug, Clone)]
pub(crate) struct Object<'a> {
    members: Vec<(Cow<'a, str>, Value<'a>)>,
    /// Offset of the closing brace.
    close: usize,
}

impl<'a> Value<'a> {
    /// The value, if the whole text is one value surrounded by white space.
    pub(crate) fn whole(text: &'a str, at: usize) -> Option<Self> {
        let start = text.len() - text.trim_start_matches(BLANKS).len();
        let source = text[start..].trim_end_matches(BLANKS);
        msg_json::validate(source).ok()?;
        Some(Self { source, at: at + start })
    }

    pub(crate) fn span(&self) -> Range<usize> {
        self.at..self.at + self.source.len()
    }

    pub(crate) fn end(&self) -> usize {
        self.at + self.source.len()
    }

    pub(crate) fn kind(&self) -> Kind {
        match self.source.as_bytes().first() {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b'"') => Kind::String,
            Some(b't' | b'f') => Kind::Bool,
            Some(b'n') => Kind::Null,
            _ => Kind::Number,
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        self.kind() == Kind::Null
    }

    pub(crate) fn is_true(&self) -> bool {
        self.source == "true"
    }

    /// The text of a string; lone surrogates read as U+FFFD.
    pub(crate) fn text(&self) -> Option<Cow<'a, str>> {
        let inner = self.source.strip_prefix('"')?.strip_suffix('"')?;
        Some(msg_json::unescape(inner).text)
    }

    /// The text of a string, or the JSON of another value. White space is removed from JSON that spans several lines,
    /// because its layout belongs to the document and is not sent.
    pub(crate) fn plain(&self) -> String {
        if self.source.contains('\n') {
            let mut res = Vec::with_capacity(self.source.len());
            msg_json::write_compact(&mut res, self.source);
            return String::from_utf8(res).unwrap_or_else(|_| self.source.to_owned());
        }
        self.text().map_or_else(|| self.source.to_owned(), Into::into)
    }

    pub(crate) fn number(&self) -> Option<u64> {
        self.source.parse().ok()
    }

    /// The members of an object.
    pub(crate) fn object(&self) -> Option<Object<'a>> {
        Object::begin(self.source, self.at).map(|it| it.0)
    }

    /// The elements of an array.
    pub(crate) fn array(&self) -> Option<Vec<Value<'a>>> {
        let mut reader = Reader::from_text(self.source);
        reader.begin_array().ok()?;
        let mut res = Vec::new();
        while reader.next_element().ok()? {
            let at = self.at + reader.next_offset();
            res.push(Value { source: reader.raw().ok()?, at });
        }
        Some(res)
    }

    /// The member of an object with this name.
    pub(crate) fn get(&self, name: &str) -> Option<Value<'a>> {
        self.object()?.get(name)
    }

    /// The member with this name, if it is an object.
    pub(crate) fn inner(&self, name: &str) -> Option<Object<'a>> {
        self.get(name)?.object()
    }

    /// The elements of the member with this name; empty if it is not a list.
    pub(crate) fn list(&self, name: &str) -> Vec<Value<'a>> {
        self.get(name).and_then(|it| it.array()).unwrap_or_default()
    }

    pub(crate) fn raw_json(&self) -> RawJson {
        raw_json(self.source)
    }
}

/// The source as JSON. Invalid JSON, which a row of a store can contain, is kept as a string.
pub(crate) fn raw_json(source: &str) -> RawJson {
    RawJson::new(source).unwrap_or_else(|_| RawJson::from(serde_json::Value::from(source)))
}

impl<'a> Object<'a> {
    /// The object at the beginning of a text, and the offset after it.
    pub(crate) fn begin(text: &'a str, at: usize) -> Option<(Self, usize)> {
        let mut reader = Reader::from_text(text);
        reader.begin_object().ok()?;
        let mut members = Vec::with_capacity(16);
        while let Some(key) = reader.next_key().ok()? {
            let start = at + reader.next_offset();
            members.push((key.text, Value { source: reader.raw().ok()?, at: start }));
        }
        let end = reader.offset();
        Some((Self { members, close: at + end - 1 }, end))
    }

    /// The object, if it makes up the whole text.
    pub(crate) fn whole(text: &'a str, at: usize) -> Option<Self> {
        let (res, end) = Self::begin(text, at)?;
        text[end..].trim_start_matches(BLANKS).is_empty().then_some(res)
    }

    /// The member with this name: the last one if there are several (MS-8).
    pub(crate) fn get(&self, name: &str) -> Option<Value<'a>> {
        self.members.iter().rev().find(|it| it.0 == name).map(|it| it.1)
    }

    /// The member with this name, if it is an object.
    pub(crate) fn inner(&self, name: &str) -> Option<Object<'a>> {
        self.get(name)?.object()
    }

    /// The elements of the member with this name; empty if it is not a list.
    pub(crate) fn list(&self, name: &str) -> Vec<Value<'a>> {
        self.get(name).and_then(|it| it.array()).unwrap_or_default()
    }

    /// The text of a string member.
    pub(crate) fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        self.get(name)?.text()
    }

    /// The value of a member: the text of a string, otherwise the JSON. `None` if it is missing or null.
    pub(crate) fn plain(&self, name: &str) -> Option<String> {
        self.get(name).filter(|it| !it.is_null()).map(|it| it.plain())
    }

    /// The parts in a member, each with its index in the list. A value that is not a list is one part; null and an
    /// empty text give none.
    pub(crate) fn blocks(&self, name: &str) -> Vec<(Option<usize>, Value<'a>)> {
        let Some(value) = self.get(name) else { return Vec::new() };
        match value.array() {
            Some(list) => list.into_iter().enumerate().map(|(n, it)| (Some(n), it)).collect(),
            None if value.is_null() || value.source == "\"\"" => Vec::new(),
            None => vec![(None, value)],
        }
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    pub(crate) fn is_true(&self, name: &str) -> bool {
        self.get(name).is_some_and(|it| it.is_true())
    }

    /// The values of the members, in their order.
    pub(crate) fn values(&self) -> impl Iterator<Item = Value<'a>> {
        self.members.iter().map(|it| it.1)
    }

    pub(crate) fn len(&self) -> usize {
        self.members.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, Value<'a>)> {
        self.members.iter().map(|(name, value)| (&**name, *value))
    }

    /// Where a new member goes (after the last one), and whether it needs a comma before it (SE-5).
    pub(crate) fn end_of_members(&self) -> (usize, bool) {
        match self.members.last() {
            Some((_, last)) => (last.end(), true),
            None => (self.close, false),
        }
    }
}

pub(crate) const BLANKS: [char; 4] = [' ', '\t', '\n', '\r'];

/// A JSON string with its quotes.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len() + 2);
    msg_json::write_str(&mut out, text);
    String::from_utf8(out).expect("because an escaped text is UTF-8")
}

#[cfg(test)]
mod tests {
    use super::Value;
    use super::{Edit, apply, drop_elements};

    fn dropped(text: &str, gone: &[usize]) -> String {
        let elements = Value::whole(text, 0).and_then(|it| it.array()).expect("an array");
        apply(text, drop_elements(&elements, |it| gone.contains(&it)))
    }

    #[test]
    fn elements_take_their_comma_along() {
        assert_eq!(dropped("[1, 2,\n 3]", &[0]), "[2,\n 3]");
        assert_eq!(dropped("[1, 2,\n 3]", &[1]), "[1, 3]");
        assert_eq!(dropped("[1, 2,\n 3]", &[2]), "[1, 2]");
        assert_eq!(dropped("[1, 2,\n 3]", &[1, 2]), "[1]");
        assert_eq!(dropped("[1, 2,\n 3 ]", &[0, 1]), "[3 ]");
    }

    #[test]
    fn an_edit_inside_removed_bytes_falls_away() {
        let edits = vec![Edit::replace(2..3, "x"), Edit::remove(1..4), Edit::insert(4, "!")];
        assert_eq!(apply("abcdef", edits), "a!ef");
        let edits = vec![Edit::insert(1, "+"), Edit::remove(1..4), Edit::insert(1, "!")];
        assert_eq!(apply("abcdef", edits), "a+!ef");
    }
}

#[cfg(test)]
mod surrogate_tests {
    use super::Value;
    use crate::edit::apply;

    fn mended(source: &str) -> String {
        apply(source, super::lone_surrogates(Value { source, at: 0 }, false).edits)
    }

    #[test]
    fn pairs_and_escaped_backslashes_stay() {
        assert_eq!(mended(r#""\ud83d\ude00 \\ud83d""#), r#""\ud83d\ude00 \\ud83d""#);
        assert_eq!(
            mended(r#""\ud83d!\ude00\ud83d\ud83d\uDE00""#),
            r#""\ufffd!\ufffd\ufffd\ud83d\uDE00""#
        );
    }
}
