//! Data sets of conversations, one per line (ShareGPT also as one array). Each line is checked separately
//! and never gets an invented result (SE-70).
//!
//! ```text
//! {"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello."}]}       openai-jsonl
//! {"conversations":[{"from":"human","value":"Hi"},{"from":"gpt","value":"Hello."}]}           sharegpt
//! ```

use std::{borrow::Cow, collections::HashSet};

use msg_core::{Message, Role};

use super::{Checked, Format, Write};
use crate::edit::{BLANKS, Edit, Kind, Object, Value, drop_elements};
use crate::error::{Finding, SessionOptions, SessionPlace};
use crate::frame::{after_mark, clean, clean_all_lines, read_array};
use crate::parts::share_gpt::{ShareGptTurns, is_call, role};
use crate::source::Blob;
use crate::view::{Draft, PartOrigin, View};
use crate::write::{openai_jsonl, share_gpt};
use crate::{Error, parts};

/// A dialect of one conversation per line: how a line is read and checked, and the writer.
pub(crate) struct DataSet {
    view: fn(&Object<'_>, usize) -> View,
    check: fn(&Object<'_>) -> Faults,
    write: Write,
}

/// Fine-tuning lines.
pub(crate) static OPENAI_JSONL: DataSet =
    DataSet { view: view_chat, check: check_chat, write: openai_jsonl };

/// ShareGPT conversations.
pub(crate) static SHARE_GPT: DataSet =
    DataSet { view: view_share_gpt, check: check_share_gpt, write: share_gpt };

impl Format for DataSet {
    fn view(&self, blobs: &[Blob], options: &SessionOptions) -> Result<View, Error> {
        let entries = Entries::of(super::only(blobs));
        let objects: Vec<_> = (0..entries.len()).filter_map(|it| entries.object(it)).collect();
        let at = match &options.leaf {
            Some(leaf) => leaf.parse().map_err(|_| Error::NoLeaf(leaf.clone()))?,
            None if objects.len() > 1 => return Err(Error::Several { count: objects.len() }),
            None => 0,
        };
        match (objects.get(at), &options.leaf) {
            (Some(object), _) => {
                Ok(View { findings: entries.findings.clone(), ..(self.view)(object, at) })
            }
            (None, Some(leaf)) => Err(Error::NoLeaf(leaf.clone())),
            (None, None) => Ok(View { findings: entries.findings.clone(), ..View::default() }),
        }
    }

    fn each_view(&self, blobs: &[Blob], to: &mut dyn FnMut(View)) -> Result<(), Error> {
        let entries = Entries::of(super::only(blobs));
        let objects = (0..entries.len()).filter_map(|it| Some((it, entries.object(it)?)));
        objects.for_each(|(at, object)| to((self.view)(&object, at)));
        Ok(())
    }

    fn check(&self, blobs: &[Blob], options: &SessionOptions) -> Result<Checked, Error> {
        let entries = Entries::of(super::only(blobs));
        let faults: Vec<Faults> = (0..entries.len())
            .map(|at| match entries.object(at) {
                Some(object) => (self.check)(&object),
                None => {
                    let mut faults = Faults::default();
                    faults.add("session::bad-line", "the line is not a JSON object");
                    faults
                }
            })
            .collect();
        let is_bad = |at: usize| !faults[at].is_empty();
        // Never drop all: an empty data set is useless.
        let drops = options.drop && (0..entries.len()).any(|it| !is_bad(it));
        let mut findings = entries.findings.clone();
        for (at, it) in faults.iter().enumerate() {
            let place = SessionPlace::line(entries.line(at));
            findings.extend(it.0.iter().map(|(code, message)| {
                let finding = Finding::error(code, place, *message);
                if drops { finding.mended("remove the line", true) } else { finding }
            }));
        }
        let mut edits = Vec::new();
        if drops {
            edits.extend(entries.drop(is_bad));
        }
        for (line, edit) in entries.blank_lines() {
            let finding =
                Finding::warning("session::blank-line", SessionPlace::line(line), "a blank line");
            findings.push(finding.mended("remove the line", options.all));
            edits.extend(options.all.then_some(edit));
        }
        let count = entries.len();
        Ok(Checked::of_text(&entries.text, count, count, findings, edits))
    }

    fn writer(&self) -> Option<Write> {
        Some(self.write)
    }
}

/// The problems of a line, each code once.
#[derive(Default)]
pub(super) struct Faults(Vec<(&'static str, &'static str)>);

impl Faults {
    pub(super) fn add(&mut self, code: &'static str, message: &'static str) {
        if self.0.iter().all(|it| it.0 != code) {
            self.0.push((code, message));
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

// The conversations of a data set: lines, or the elements of one array.

/// The entries of a data set.
pub(super) struct Entries<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) findings: Vec<Finding>,
    entries: Vec<Entry>,
    blanks: Vec<Entry>,
    /// Whether the entries are the elements of an array.
    is_array: bool,
}

/// A line, or an array element.
#[derive(Debug, Clone, Copy)]
struct Entry {
    start: usize,
    end: usize,
    /// The start of the next line.
    following: usize,
    line: u32,
}

impl<'a> Entries<'a> {
    pub(super) fn of(bytes: &'a [u8]) -> Self {
        let mut findings = Vec::new();
        if is_array(bytes) {
            return Self::array(&clean(bytes, &mut findings), findings);
        }
        let text = clean_all_lines(bytes, &mut findings);
        let (blanks, entries) = lines(&text)
            .partition(|it: &Entry| text[it.start..it.end].trim_matches(BLANKS).is_empty());
        Self { text, findings, entries, blanks, is_array: false }
    }

    fn array(text: &str, mut findings: Vec<Finding>) -> Self {
        let array = read_array(text.as_bytes(), None);
        findings.extend(array.findings.iter().cloned());
        let entry = |at: usize| {
            let span = array.records[at].span();
            let line = array.place(at).line;
            Entry { start: span.start, end: span.end, following: span.end, line }
        };
        let entries = (0..array.records.len()).map(entry).collect();
        let text = Cow::Owned(array.text.clone().into_owned());
        Self { text, findings, entries, blanks: Vec::new(), is_array: true }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn line(&self, at: usize) -> u32 {
        self.entries[at].line
    }

    pub(super) fn object(&self, at: usize) -> Option<Object<'_>> {
        let it = self.entries[at];
        Object::whole(&self.text[it.start..it.end], it.start)
    }

    /// The edits that drop entries. At least one entry must remain.
    pub(super) fn drop(&self, dropped: impl Fn(usize) -> bool) -> Vec<Edit> {
        if !self.is_array {
            let gone = (0..self.len()).filter(|it| dropped(*it)).map(|it| self.entries[it]);
            return gone.map(|it| Edit::remove(it.start..it.following)).collect();
        }
        let values = self.entries.iter();
        let values: Vec<_> =
            values.map(|it| Value { source: &self.text[it.start..it.end], at: it.start }).collect();
        drop_elements(&values, dropped)
    }

    /// Blank lines, each with the edit that removes it.
    fn blank_lines(&self) -> impl Iterator<Item = (u32, Edit)> {
        self.blanks.iter().map(|it| (it.line, Edit::remove(it.start..it.following)))
    }
}

/// Whether the text is one array: the first byte that is not white space is a bracket.
fn is_array(bytes: &[u8]) -> bool {
    let bytes = after_mark(bytes);
    let is_blank = |it: &u8| matches!(it, b' ' | b'\t' | b'\n' | b'\r' | 0);
    bytes.iter().find(|it| !is_blank(it)) == Some(&b'[')
}

fn lines(text: &str) -> impl Iterator<Item = Entry> {
    let mut at = 0;
    let mut line = 0;
    std::iter::from_fn(move || {
        let rest = text.get(at..).filter(|it| !it.is_empty())?;
        let len = memchr::memchr(b'\n', rest.as_bytes());
        let (start, following) = (at, len.map_or(text.len(), |it| at + it + 1));
        let end = len.map_or(text.len(), |it| at + it);
        (at, line) = (following, line + 1);
        Some(Entry { start, end, following, line })
    })
}

// A fine-tuning line: chat messages (SE-70).

fn view_chat(line: &Object<'_>, at: usize) -> View {
    let messages =
        line.get("messages").map(|it| parts::chat_messages(it.source)).unwrap_or_default();
    let origins = messages.iter().enumerate();
    let origins = origins.map(|(n, it)| vec![PartOrigin::block(at, n); it.parts.len()]).collect();
    View { messages, origins, ..View::default() }
}

fn check_chat(line: &Object<'_>) -> Faults {
    let mut faults = Faults::default();
    let messages = line.list("messages");
    let messages: Option<Vec<_>> = messages.iter().map(|it| message(*it)).collect();
    let Some(messages) = messages.filter(|it| !it.is_empty()) else {
        faults.add("session::bad-shape", "the line has no list of messages of the right types");
        return faults;
    };
    if messages.iter().any(|it| Role::known(&it.role).is_none() && it.role != "function") {
        faults.add("session::unknown-role", "unknown role");
        return faults;
    }
    links(&messages, &mut faults);
    messages.iter().for_each(|it| content(it, &mut faults));
    ends(&messages, &mut faults);
    faults
}

/// A message whose members have the right types.
struct ChatMessage<'a> {
    role: String,
    object: Object<'a>,
    calls: Vec<(String, String)>,
}

fn message(value: Value<'_>) -> Option<ChatMessage<'_>> {
    let object = value.object()?;
    let role = object.text("role")?.into_owned();
    let is_content = |it: &Value<'_>| matches!(it.kind(), Kind::String | Kind::Array | Kind::Null);
    object.get("content").is_none_or(|it| is_content(&it)).then_some(())?;
    if role == "tool" {
        object.text("tool_call_id")?;
    }
    let calls = match object.get("tool_calls").filter(|it| !it.is_null()) {
        Some(list) => list.array()?.iter().map(|it| call(*it)).collect::<Option<_>>()?,
        None => Vec::new(),
    };
    Some(ChatMessage { role, object, calls })
}

/// The id and arguments of a call.
fn call(value: Value<'_>) -> Option<(String, String)> {
    let call = value.object()?;
    let function = call.get("function")?.object()?;
    function.text("name")?;
    let id = call.text("id")?.into_owned();
    Some((id, function.text("arguments")?.into_owned()))
}

/// Results must come directly after their calls.
fn links(messages: &[ChatMessage<'_>], faults: &mut Faults) {
    let mut seen = HashSet::new();
    let mut open: HashSet<&str> = HashSet::new();
    for message in messages {
        if message.role == "tool" {
            let id = message.object.text("tool_call_id").unwrap_or_default();
            if !open.remove(&*id) {
                faults.add("session::orphan-result", "tool result matches no call right before it");
            }
            continue;
        }
        unanswered(&open, faults);
        open = message.calls.iter().map(|it| &*it.0).collect();
        for (id, arguments) in &message.calls {
            if !seen.insert(id) {
                faults.add("session::reused-call-id", "duplicate call id");
            }
            if msg_json::classify(arguments) != msg_json::TextState::Object {
                faults.add("session::bad-arguments", "call arguments are not a JSON object");
            }
        }
    }
    // The last answer may be the calls to be learned.
    if messages.last().is_some_and(|it| it.role == "tool") {
        unanswered(&open, faults);
    }
}

fn unanswered(open: &HashSet<&str>, faults: &mut Faults) {
    if !open.is_empty() {
        faults.add("session::unanswered-call", "call without a result right after it");
    }
}

fn content(message: &ChatMessage<'_>, faults: &mut Faults) {
    if let Some(weight) = message.object.get("weight") {
        let is_weight = matches!(weight.source, "0" | "1" | "0.0" | "1.0");
        if !is_weight || message.role != "assistant" {
            faults.add("session::bad-weight", "a weight is not 0 or 1, or not of an answer");
        }
    }
    let says = message.object.get("content").is_some_and(|it| match it.text() {
        Some(text) => !text.is_empty(),
        None => it.array().is_some_and(|it| !it.is_empty()),
    });
    let has_calls = !message.calls.is_empty()
        || ["function_call", "refusal", "audio"]
            .iter()
            .any(|name| message.object.get(name).is_some_and(|it| !it.is_null()));
    if !says && !has_calls && message.role != "tool" {
        faults.add("session::empty-message", "a message has no content");
    }
}

fn ends(messages: &[ChatMessage<'_>], faults: &mut Faults) {
    let is_answer = |it: &ChatMessage<'_>| it.role == "assistant";
    if !messages.iter().any(is_answer) {
        faults.add("session::no-assistant", "the line has no answer of the assistant");
    } else if !messages.last().is_some_and(is_answer) {
        faults.add("session::last-not-assistant", "the line does not end with the assistant");
    }
}

// A ShareGPT conversation (SE-70).

fn check_share_gpt(line: &Object<'_>) -> Faults {
    let mut faults = Faults::default();
    let turns = line.list("conversations");
    let turns: Option<Vec<_>> = turns.iter().map(|it| turn(*it)).collect();
    let Some(turns) = turns.filter(|it| !it.is_empty()) else {
        faults.add("session::bad-shape", "the line has no list of turns of from and value");
        return faults;
    };
    if turns.iter().any(|it| matches!(role(&it.0), Role::Other(_))) {
        faults.add("session::unknown-role", "unknown role of a turn");
        return faults;
    }
    turns.iter().for_each(|it| content_share_gpt(it, &mut faults));
    if turns.iter().skip(1).any(|it| role(&it.0) == Role::System) {
        faults.add("session::misplaced-system", "a system text is not the first turn");
    }
    let turns = turns.iter().map(|it| (role(&it.0), is_call(&it.0)));
    let turns: Vec<_> = turns.filter(|it| it.0 != Role::System).collect();
    order(&turns, &mut faults);
    check_share_gpt_ends(&turns, &mut faults);
    faults
}

/// The speaker and text of a turn.
fn turn(value: Value<'_>) -> Option<(String, String)> {
    let object = value.object()?;
    Some((object.text("from")?.into_owned(), object.text("value")?.into_owned()))
}

fn content_share_gpt((from, value): &(String, String), faults: &mut Faults) {
    let is_object = |it: Value<'_>| it.object().is_some();
    let is_call_or_list = |it: Value<'_>| match it.array() {
        Some(list) => list.into_iter().all(is_object),
        None => is_object(it),
    };
    if value.is_empty() {
        faults.add("session::empty-message", "a turn has no text");
    } else if is_call(from) && !Value::whole(value, 0).is_some_and(is_call_or_list) {
        faults.add("session::bad-arguments", "call is not a JSON object");
    }
}

/// For each turn that is not a system text: its role, and whether it is a call.
fn order(turns: &[(Role, bool)], faults: &mut Faults) {
    let is_answer = |it: &(Role, bool)| it.0 == Role::Assistant;
    if turns.iter().enumerate().any(|(at, it)| is_answer(it) != (at % 2 == 1)) {
        faults.add("session::alternation", "human and gpt do not take turns");
    }
    let before = [false].into_iter().chain(turns.iter().map(|it| it.1));
    for (is_after_call, it) in before.zip(turns) {
        match (is_after_call, it.0 == Role::Tool) {
            (true, false) => {
                faults.add("session::unanswered-call", "call without an observation after it");
            }
            (false, true) => {
                faults.add("session::orphan-result", "observation without a call before it");
            }
            _ => {}
        }
    }
}

fn check_share_gpt_ends(turns: &[(Role, bool)], faults: &mut Faults) {
    let is_answer = |it: &(Role, bool)| it.0 == Role::Assistant;
    if !turns.iter().any(is_answer) {
        faults.add("session::no-assistant", "the line has no answer");
    } else if !turns.last().is_some_and(is_answer) {
        faults.add("session::last-not-assistant", "the line does not end with an answer");
    }
}

fn view_share_gpt(line: &Object<'_>, at: usize) -> View {
    let mut view = View::default();
    if let Some(system) = line.text("system") {
        push(&mut view, Message::system(system), PartOrigin::record(at));
    }
    let mut turns = ShareGptTurns::default();
    for (n, value) in line.list("conversations").into_iter().enumerate() {
        let (from, text) = said(value);
        push(&mut view, turns.read(&from, &text), PartOrigin::block(at, n));
    }
    view
}

/// The speaker and text. A value of another type becomes its JSON text and is not skipped.
fn said(value: Value<'_>) -> (String, String) {
    match value.object() {
        Some(it) => (it.plain("from").unwrap_or_default(), it.plain("value").unwrap_or_default()),
        None => (String::new(), value.plain()),
    }
}

/// Adds a message that is not empty.
fn push(view: &mut View, message: Message, origin: PartOrigin) {
    let mut draft = Draft::new(message.role);
    let parts = message.parts.into_iter().filter(|it| it.as_text() != Some(""));
    parts.for_each(|it| draft.push(it, origin));
    view.push(draft);
}
