//! Selects the parts of a conversation that another agent gets (SE-80), and reports context and reasoning
//! that is left out.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;

use msg_core::{
    CallKind, Code, Diagnostic, Message, Origin, Part, RawJson, Report, Role, ToolResult,
};

use super::{data_url, in_a_line, object_of, text_of, text_of_result};
use crate::dialects::{Write, atif};
use crate::write::{ContextPolicy, Signatures, WriteOptions};
use crate::{Blob, Dialect, Session, SessionOptions, texts};

/// The messages to write.
#[derive(Default)]
pub(super) struct Prepared {
    pub(super) messages: Vec<Message>,
    /// For each part, the original message and part.
    pub(super) places: Vec<Vec<(usize, usize)>>,
}

impl Prepared {
    /// Findings in these messages, with the places in the caller's messages.
    pub(super) fn named_as_given(&self, found: Report) -> Report {
        let mut res = Report::new();
        for mut it in found.into_vec() {
            let places = it.at.message.and_then(|at| self.places.get(at));
            let part = places.and_then(|places| places.get(it.at.part.unwrap_or(0)));
            if let Some((message, part)) = part {
                it.at.message = Some(*message);
                it.at.part = it.at.part.map(|_| *part);
            }
            res.push(it);
        }
        res
    }
}

pub(super) fn prepare(
    dialect: Dialect,
    messages: &[Message],
    options: &WriteOptions,
    report: &mut Report,
) -> Prepared {
    let mut res = Prepared::default();
    for (at, message) in messages.iter().enumerate() {
        let drops_context = options.context == ContextPolicy::Drop && is_agent(dialect);
        if drops_context && message.role.is_system() {
            report.push(lost(at, 0, INJECTED));
            continue;
        }
        let mut message = message.clone();
        let parts = std::mem::take(&mut message.parts);
        let mut places = Vec::with_capacity(parts.len());
        for (n, mut part) in parts.into_iter().enumerate() {
            if drops_context && message.role == Role::User {
                match own_words(&mut part) {
                    Own::All => {}
                    Own::Some => {
                        let text = "context that the agent injected is left out of the text";
                        let it = Diagnostic::warning(Code::new("convert::part-changed"), text);
                        report.push(it.at_part(at, n));
                    }
                    Own::None => {
                        report.push(lost(at, n, INJECTED));
                        continue;
                    }
                }
            }
            match why_lost(dialect, (&message.role, &part), options) {
                Some(why) => report.push(lost(at, n, why)),
                None => {
                    let mut part = as_said(dialect, part);
                    if json_as_text(dialect, &mut part) {
                        let text = "JSON part written as its text";
                        let it = Diagnostic::warning(Code::new("convert::json-as-text"), text);
                        report.push(it.at_part(at, n));
                    }
                    message.parts.push(part);
                    places.push((at, n));
                }
            }
        }
        if !message.parts.is_empty() {
            res.messages.push(message);
            res.places.push(places);
        }
    }
    res
}

const INJECTED: &str = "context that the agent injected is dropped";

/// How much of a part is the user's own text.
enum Own {
    All,
    Some,
    None,
}

/// Removes the context from a text; each text is judged by itself (SE-131).
fn own_words(part: &mut Part) -> Own {
    let Part::Text(text) = part else { return Own::All };
    match texts::words(&text.text) {
        None => Own::All,
        Some(words) if words.trim().is_empty() => Own::None,
        Some(words) => {
            text.text = words;
            Own::Some
        }
    }
}

/// Turns a refusal into text, except where OpenAI's messages and items are kept.
fn as_said(dialect: Dialect, part: Part) -> Part {
    match part {
        Part::Refusal(it)
            if !matches!(dialect, Dialect::Codex | Dialect::AgentsSdk | Dialect::OpenAiJsonl) =>
        {
            Part::Text(it)
        }
        it => it,
    }
}

/// Turns the JSON of a part or result into text; returns whether it did. In dialects with JSON results, an object is
/// kept (MS-24).
fn json_as_text(dialect: Dialect, part: &mut Part) -> bool {
    match part {
        Part::Other(it) if it.format == Origin::Json => {
            *part = Part::text(it.value.text());
            true
        }
        Part::ToolResult(it) if holds_json(dialect) && object_of(it).is_some() => false,
        Part::ToolResult(it) => {
            // Tool output is always kept.
            let own = Origin::from(dialect.name());
            let said = |it: &Part| match it {
                Part::Other(it) if it.format == Origin::Json || it.format == own => {
                    Some(Part::text(it.value.text()))
                }
                _ => None,
            };
            let has_json = it.content.parts().iter().any(|it| said(it).is_some());
            if has_json {
                let parts = it.content.parts_mut().iter_mut();
                parts.for_each(|it| *it = said(it).unwrap_or_else(|| it.clone()));
            }
            has_json
        }
        _ => false,
    }
}

/// Whether tool results of the dialect may be objects.
fn holds_json(dialect: Dialect) -> bool {
    matches!(
        dialect,
        Dialect::GeminiCli | Dialect::QwenCode | Dialect::Adk | Dialect::AiSdk | Dialect::VercelUi
    )
}

/// Whether the dialect belongs to an agent, which has its own system text.
fn is_agent(dialect: Dialect) -> bool {
    matches!(
        dialect,
        Dialect::ClaudeCode
            | Dialect::Codex
            | Dialect::GeminiCli
            | Dialect::Goose
            | Dialect::OpenCode
            | Dialect::Cline
            | Dialect::QwenCode
            | Dialect::Pi
            | Dialect::CopilotCli
            | Dialect::Adk
    )
}

/// Why a part is left out, if it is.
fn why_lost(
    dialect: Dialect,
    (role, part): (&Role, &Part),
    options: &WriteOptions,
) -> Option<&'static str> {
    let is_medium = matches!(part, Part::Image(_) | Part::Audio(_) | Part::File(_));
    if is_medium && *role != Role::User && matches!(dialect, Dialect::AgUi | Dialect::AutoGen) {
        return Some("the format has a place for media in user messages only");
    }
    let Part::Reasoning(it) = part else {
        let is_kept = options.signatures == Signatures::Keep && holds_own(dialect, role, part);
        return if is_kept { None } else { why_unwritten(dialect, part) };
    };
    // A trajectory is a record that no provider verifies; the other formats name the provider of a seal.
    let keeps_seals = matches!(
        dialect,
        Dialect::Atif
            | Dialect::AiSdk
            | Dialect::VercelUi
            | Dialect::PydanticAi
            | Dialect::LangChain
    );
    if options.signatures == Signatures::Keep || keeps_seals {
        return None;
    }
    if it.is_signed() {
        return Some("a thought that only its own provider can verify");
    }
    // These providers accept no reasoning without a signature.
    let needs_signature = matches!(
        dialect,
        Dialect::ClaudeCode | Dialect::Cline | Dialect::Codex | Dialect::AgentsSdk
    );
    needs_signature.then_some("a thought without a signature, which the provider refuses")
}

/// Whether the records of the dialect can contain any part of its provider unchanged, so it is kept when a session is
/// edited and written again.
fn holds_own(dialect: Dialect, role: &Role, part: &Part) -> bool {
    let own = match dialect {
        Dialect::ClaudeCode | Dialect::Cline => Origin::Anthropic,
        Dialect::Codex => Origin::Responses,
        Dialect::QwenCode => Origin::Gemini,
        // An answer is a text in Gemini CLI.
        Dialect::GeminiCli if *role != Role::Assistant => Origin::Gemini,
        Dialect::Goose => Origin::from(dialect.name()),
        _ => return false,
    };
    own_value(part, &own).is_some()
}

/// The object of an unparsed provider part.
pub(super) fn own_value<'p>(part: &'p Part, own: &Origin) -> Option<&'p RawJson> {
    let Part::Other(it) = part else { return None };
    let is_object = || it.value.text().trim_start().starts_with('{');
    (it.format == *own && is_object()).then_some(&it.value)
}

/// Why a part that is not reasoning cannot be written in the dialect, if so.
fn why_unwritten(dialect: Dialect, part: &Part) -> Option<&'static str> {
    let is_store = crate::dialects::frameworks::store(dialect).is_some();
    let has_items = dialect == Dialect::AgentsSdk;
    let is_missing = match part {
        // Known only by a provider's id.
        Part::Image(it) if is_store && !has_items && it.url.is_none() => true,
        Part::File(it) if is_store && !has_items && it.data.is_none() && it.url.is_none() => true,
        Part::Other(it) if it.format != Origin::Json => {
            return Some("a part that only its own format has");
        }
        Part::Audio(_) => dialect != Dialect::OpenAiJsonl,
        Part::File(it) if dialect == Dialect::Haystack => it.data.is_none(),
        Part::File(_) => matches!(
            dialect,
            Dialect::Goose
                | Dialect::GeminiCli
                | Dialect::ShareGpt
                | Dialect::QwenCode
                | Dialect::Pi
                | Dialect::CopilotCli
                | Dialect::Atif
                | Dialect::AutoGen
        ),
        Part::Image(it) => match dialect {
            Dialect::Goose | Dialect::Pi | Dialect::Haystack | Dialect::AutoGen => {
                data_url(it).is_none()
            }
            Dialect::Atif => atif::image_path(it).is_none(),
            Dialect::ShareGpt | Dialect::CopilotCli => true,
            _ => false,
        },
        _ => false,
    };
    is_missing.then_some("the format has no place for it")
}

fn lost(message: usize, part: usize, why: &'static str) -> Diagnostic {
    Diagnostic::warning(Code::new("convert::lost-part"), why).at_part(message, part)
}

// Reports what a written session no longer contains (SE-80): reads it again and looks for each original part, so no
// writer can lose anything silently.

/// The approximate number of messages to read again at a time.
const CHUNK: usize = 2048;

/// Reports the parts of the messages that are not in the session, and returns its bytes. Linear. A long conversation is
/// written and read in pieces, so memory does not grow with the output.
pub(super) fn report(
    (dialect, writer): (Dialect, Write),
    prepared: &Prepared,
    options: &WriteOptions,
    bytes: Vec<u8>,
    report: &mut Report,
) -> Vec<u8> {
    if prepared.messages.len() <= CHUNK {
        let session = Session::new(dialect, vec![Blob::new("", bytes)]);
        prepared.report_chunk(0..prepared.messages.len(), &session, report);
        return session.into_blobs().pop().map(|it| it.bytes).unwrap_or_default();
    }
    for chunk in chunks(&prepared.messages) {
        let bytes = writer(&prepared.messages[chunk.clone()], options, &mut Report::new());
        let session = Session::new(dialect, vec![Blob::new("", bytes)]);
        prepared.report_chunk(chunk, &session, report);
    }
    bytes
}

/// Splits a conversation into pieces, never between a call and its result.
fn chunks(messages: &[Message]) -> Vec<Range<usize>> {
    let (mut res, mut start, mut open) = (Vec::new(), 0, HashSet::new());
    for (at, message) in messages.iter().enumerate() {
        if at - start >= CHUNK && open.is_empty() && message.role == Role::User {
            res.push(start..at);
            start = at;
        }
        open.extend(message.tool_calls().map(|it| &*it.id));
        message.tool_results().for_each(|it| _ = open.remove(&*it.call_id));
    }
    res.push(start..messages.len());
    res
}

impl Prepared {
    /// Reports the parts of some messages that are not in their session.
    fn report_chunk(&self, chunk: Range<usize>, session: &Session, report: &mut Report) {
        let read = session.read(&SessionOptions::default()).map(|it| it.messages);
        let mut found = Found::of(session.dialect(), &read.unwrap_or_default());
        for (message, places) in self.messages[chunk.clone()].iter().zip(&self.places[chunk]) {
            let mut check = Check { found: &mut found, report, message, last: None, texts: None };
            for (part, place) in message.parts.iter().zip(places) {
                check.part(part, *place);
            }
        }
    }
}

/// The contents of the session, each with its places.
struct Found {
    dialect: Dialect,
    places: HashMap<String, VecDeque<SessionPlace>>,
    /// The contents of the results of each id, with their places.
    results: HashMap<String, VecDeque<(usize, Vec<String>)>>,
}

/// The place of a part in the session, and whether its sealed data is still there.
#[derive(Clone, Copy)]
struct SessionPlace {
    at: usize,
    is_sealed: bool,
    is_custom: bool,
}

/// Whether a part is a call with free-text input.
fn is_custom(part: &Part) -> bool {
    part.as_tool_call().is_some_and(|it| it.kind != CallKind::Function)
}

/// Whether a part has a seal that its provider verifies.
fn is_sealed(part: &Part) -> bool {
    match part {
        Part::Reasoning(it) => it.is_signed(),
        Part::ToolCall(it) => it.signature.as_deref().is_some_and(|it| !it.is_empty()),
        _ => false,
    }
}

impl Found {
    fn of(dialect: Dialect, messages: &[Message]) -> Self {
        let mut res = Self { dialect, places: HashMap::new(), results: HashMap::new() };
        let parts =
            messages.iter().flat_map(|message| message.parts.iter().map(move |it| (message, it)));
        for (at, (message, part)) in parts.enumerate() {
            let key = res.key(message, part);
            if let Part::ToolResult(it) = part {
                let said = (at, res.keys_of_result(it));
                res.results.entry(res.id(&it.call_id).to_owned()).or_default().push_back(said);
            }
            let (is_sealed, is_custom) = (is_sealed(part), is_custom(part));
            let place = SessionPlace { at, is_sealed, is_custom };
            res.places.entry(key).or_default().push_back(place);
        }
        res
    }

    fn take(&mut self, message: &Message, part: &Part) -> Option<SessionPlace> {
        let key = self.key(message, part);
        self.take_key(&key)
    }

    fn take_key(&mut self, key: &str) -> Option<SessionPlace> {
        self.places.get_mut(key)?.pop_front()
    }

    /// The content of a part, as far as dialects can keep it.
    fn key(&self, message: &Message, part: &Part) -> String {
        match part {
            Part::Text(it) => text_key(message, &it.text),
            Part::Refusal(it) => text_key(message, &it.text),
            Part::Reasoning(it) => format!("thought {}", it.display_text()),
            Part::ToolCall(it) => {
                let arguments = compact(it.arguments.text());
                format!("call {} {} {arguments}", self.id(&it.id), it.name)
            }
            Part::ToolResult(it) => {
                let keys = self.keys_of_result(it).join(" ");
                format!("result {} {} {keys}", self.id(&it.call_id), it.is_error)
            }
            Part::Image(it) => format!("image {}", it.url.as_deref().unwrap_or_default()),
            Part::File(it) => {
                let data = it.data.as_deref().or(it.url.as_deref()).unwrap_or_default();
                format!("file {}", data.rsplit(',').next().unwrap_or_default())
            }
            Part::Other(it) => text_key(message, &in_a_line(it.value.text())),
            _ => "other".to_owned(),
        }
    }

    /// The content of a result; it belongs to the tool, whichever message contains it.
    fn keys_of_result(&self, result: &ToolResult) -> Vec<String> {
        let tool = Message::new(Role::Tool);
        let parts = result.content.parts().iter().filter(|it| it.as_text() != Some(""));
        parts.map(|it| self.key(&tool, it)).collect()
    }

    /// The content of the next result of this id that had no exact match; empty if there is none.
    fn next_result(&mut self, id: &str) -> Vec<String> {
        let all = self.results.get_mut(self.id(id));
        all.and_then(VecDeque::pop_front).map(|it| it.1).unwrap_or_default()
    }

    /// Marks the result at this place as found.
    fn take_result(&mut self, id: &str, at: usize) {
        let Some(all) = self.results.get_mut(self.id(id)) else { return };
        match all.front() {
            Some(first) if first.0 == at => drop(all.pop_front()),
            _ => all.retain(|it| it.0 != at),
        }
    }

    /// ShareGPT has no ids: call and result are adjacent.
    fn id<'i>(&self, id: &'i str) -> &'i str {
        if self.dialect == Dialect::ShareGpt { "" } else { id }
    }
}

fn text_key(message: &Message, text: &str) -> String {
    let role = if message.role.is_system() { "system" } else { message.role.as_str() };
    format!("{role} {text}")
}

/// Arguments without white space, which a writer may drop.
fn compact(json: &str) -> Cow<'_, str> {
    match serde_json::from_str::<serde_json::Value>(json) {
        Ok(value) => Cow::Owned(value.to_string()),
        Err(_) => Cow::Borrowed(json),
    }
}

struct Check<'c, 'm> {
    found: &'c mut Found,
    report: &'c mut Report,
    message: &'m Message,
    /// The place of the previous part.
    last: Option<usize>,
    /// Whether the joined texts of the message are in the session; `None` until checked.
    texts: Option<bool>,
}

impl Check<'_, '_> {
    fn part(&mut self, part: &Part, place: (usize, usize)) {
        let found = self.found.take(self.message, part);
        if is_custom(part) && !found.is_some_and(|it| it.is_custom) {
            self.push("convert::lost-member", place, "the format has no place for kind");
        }
        if let Some(SessionPlace { at, is_sealed: keeps_seal, .. }) = found {
            if let Part::ToolResult(it) = part {
                self.found.take_result(&it.call_id, at);
            }
            if is_sealed(part) && !keeps_seal {
                let text = "the `signature` of its provider is not kept there";
                self.push("convert::lost-member", place, text);
            }
            if self.last.is_some_and(|last| at < last) {
                self.push(
                    "convert::order-lost",
                    place,
                    "it comes before a part that came before it",
                );
            }
            self.last = Some(at);
            return;
        }
        let is_text = matches!(part, Part::Text(_) | Part::Refusal(_));
        if is_text && part.as_text().is_some_and(|it| it.trim().is_empty()) {
            return;
        }
        if is_text && self.stands_as_one(place) {
            return;
        }
        let (code, text) = match part {
            Part::ToolResult(it) => return self.result(it, place),
            Part::ToolCall(_) => ("convert::part-changed", "the call has another form there"),
            _ => ("convert::lost-part", "the format has no place for it"),
        };
        self.push(code, place, text);
    }

    /// Reports the missing parts of a result that has no exact match.
    fn result(&mut self, result: &ToolResult, place: (usize, usize)) {
        let mut left: HashMap<String, usize> = HashMap::new();
        for key in self.found.next_result(&result.call_id) {
            *left.entry(key).or_default() += 1;
        }
        let tool = Message::new(Role::Tool);
        let parts = result.content.parts();
        let (mut has_texts, mut has_lost) = (true, false);
        for part in parts.iter().filter(|it| it.as_text() != Some("")) {
            let key = self.found.key(&tool, part);
            match left.get_mut(&key).filter(|it| **it > 0) {
                Some(count) => *count -= 1,
                None if part.as_text().is_some() => has_texts = false,
                None => {
                    has_lost = true;
                    let kind = part.kind_of_source();
                    let text = format!("the format has no place for the {kind} part of the result");
                    self.push("convert::lost-part", place, text);
                }
            }
        }
        let n_texts = parts.iter().filter(|it| it.as_text().is_some()).count();
        let is_one = || left.contains_key(&text_key(&tool, &text_of_result(result)));
        if !has_texts && n_texts > 1 && is_one() {
            self.push("convert::merged-parts", place, "the texts of the result become one");
        } else if !has_texts || !has_lost {
            self.push("convert::part-changed", place, "the result has another content there");
        }
    }

    /// Whether the texts of the message were joined; checked once.
    fn stands_as_one(&mut self, place: (usize, usize)) -> bool {
        if let Some(known) = self.texts {
            return known;
        }
        let key = text_key(self.message, &text_of(self.message));
        let found = self.found.take_key(&key).is_some();
        if found {
            self.push("convert::merged-parts", place, "the texts of the message become one");
        }
        *self.texts.insert(found)
    }

    fn push(
        &mut self,
        code: &'static str,
        place: (usize, usize),
        text: impl Into<Cow<'static, str>>,
    ) {
        self.report.push(Diagnostic::warning(Code::new(code), text).at_part(place.0, place.1));
    }
}
