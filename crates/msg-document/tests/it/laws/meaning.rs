//! The law of conversions: what of a conversation is not there in another format is exactly what the report
//! names.
//!
//! *Meaning* is roles, texts, thoughts, media, calls (name, arguments as JSON values) and results (content,
//! error flag) in their order, each result with its call. Ids, spelling, unknown members, where a message ends
//! and the line breaks between joined texts are not part of it.

use std::collections::{BTreeMap, HashMap, HashSet};

use msg_core::{CallKind, Diagnostic, Message, Part, Role, ToolCall, ToolResult};
use msg_document::{ConvertOptions, Document, Format, ReadOptions, convert};
use serde_json::{Value, json};

/// The formats between which it holds.
const FORMATS: [&str; 5] = ["openai", "responses", "anthropic", "gemini", "native"];

/// One thing that a conversation says, and who says it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Said {
    /// Text, of a role.
    Text(String, String),
    /// A thought that may be seen.
    Thought(String),
    /// An image, a sound or a file, by its address or what it holds.
    Media(String, String),
    /// A call: its name and arguments.
    Call(String, String),
    /// A result: which call it answers, its text, whether it failed, its media.
    Result(Option<usize>, String, bool, Vec<String>),
    /// Something that only one format knows.
    Other(String),
}

/// The messages and parts that a report names as lost or changed.
#[derive(Debug, Default)]
struct Reported {
    messages: HashSet<usize>,
    parts: HashSet<(usize, usize)>,
    /// Results that do not say any more that they failed.
    flags: HashSet<(usize, usize)>,
    /// Calls whose arguments are others.
    arguments: HashSet<(usize, usize)>,
    /// Messages whose results get messages of their own: before a user's, after an assistant's.
    split: HashSet<usize>,
    roles_change: bool,
    order_changes: bool,
}

impl Reported {
    fn of(report: &[Diagnostic]) -> Self {
        let mut res = Self::default();
        for it in report {
            let message = it.at.message.unwrap_or(usize::MAX);
            let place = (message, it.at.part.unwrap_or(usize::MAX));
            match it.code.as_str() {
                "convert::lost-message" => drop(res.messages.insert(message)),
                "convert::lost-part" => drop(res.parts.insert(place)),
                "convert::invalid-arguments" => drop(res.arguments.insert(place)),
                "convert::lost-member" if it.message().contains("is_error") => {
                    res.flags.insert(place);
                }
                "convert::split-message" => drop(res.split.insert(message)),
                "convert::role-changed" => res.roles_change = true,
                "convert::order-lost" => res.order_changes = true,
                _ => {}
            }
        }
        res
    }
}

/// Gives what a list of messages says, without what is reported of it.
struct Meaning<'r> {
    reported: &'r Reported,
    res: Vec<Said>,
    /// The last call of each id.
    calls: HashMap<String, usize>,
    n_calls: usize,
}

impl Meaning<'_> {
    fn message(&mut self, at: usize, message: &Message) {
        if self.reported.messages.contains(&at) {
            return;
        }
        let who = who(&message.role, self.reported.roles_change);
        let mut parts: Vec<_> = message.parts.iter().enumerate().collect();
        if self.reported.split.contains(&at) {
            let is_answer = message.role == Role::Assistant;
            parts.sort_by_key(|it| it.1.as_tool_result().is_some() == is_answer);
        }
        for (n, part) in parts {
            let is_lost = self.reported.parts.contains(&(at, n));
            match part {
                Part::ToolResult(it) => self.result((at, n), it),
                _ if is_lost => {}
                Part::Text(it) | Part::Refusal(it) => self.text(&who, &it.text),
                Part::Reasoning(it) => self.thought(&it.display_text()),
                Part::ToolCall(it) => self.call((at, n), it),
                it => match media(it) {
                    Some(media) => self.res.push(Said::Media(who.clone(), media)),
                    None => self.other(&who, it),
                },
            }
        }
    }

    fn text(&mut self, who: &str, text: &str) {
        let text: String = text.chars().filter(|it| *it != '\n').collect();
        match self.res.last_mut() {
            _ if text.is_empty() => {}
            Some(Said::Text(by, before)) if by == who => before.push_str(&text),
            _ => self.res.push(Said::Text(who.to_owned(), text)),
        }
    }

    fn thought(&mut self, text: &str) {
        let text: String = text.chars().filter(|it| *it != '\n').collect();
        match self.res.last_mut() {
            _ if text.is_empty() => {}
            Some(Said::Thought(before)) => before.push_str(&text),
            _ => self.res.push(Said::Thought(text)),
        }
    }

    fn call(&mut self, place: (usize, usize), it: &ToolCall) {
        self.calls.insert(it.id.clone(), self.n_calls);
        self.n_calls += 1;
        let text = it.arguments.text();
        let value = match serde_json::from_str(text) {
            _ if self.reported.arguments.contains(&place) => json!({ "_raw": text }),
            _ if it.kind == CallKind::Custom => json!({ "input": text }),
            _ if text.trim().is_empty() => json!({}),
            Ok(Value::Object(it)) => Value::Object(it),
            _ => json!({ "_raw": text }),
        };
        self.res.push(Said::Call(it.name.clone(), value.to_string()));
    }

    fn result(&mut self, place: (usize, usize), it: &ToolResult) {
        let media = it.content.parts().iter().filter_map(media);
        let is_cut = self.reported.parts.contains(&place);
        let text: String = it.content.parts().iter().map(text_of).collect();
        let text: String = text.chars().filter(|it| *it != '\n').collect();
        // JSON in the place of a text, and the text of it, are one thing.
        let text = value_text(&text);
        let failed = it.is_error && !self.reported.flags.contains(&place);
        let media = if is_cut { Vec::new() } else { media.collect() };
        self.res.push(Said::Result(self.calls.get(&it.call_id).copied(), text, failed, media));
    }

    fn other(&mut self, who: &str, part: &Part) {
        match part {
            Part::Other(it) if it.format == msg_core::Origin::Json => {
                self.text(who, it.value.text());
            }
            Part::Other(it) => self.res.push(Said::Other(value_text(it.value.text()))),
            _ => {}
        }
    }
}

fn who(role: &Role, any: bool) -> String {
    match role {
        Role::Assistant => "assistant",
        _ if any => "user",
        Role::Developer | Role::System => "system",
        _ => "user",
    }
    .to_owned()
}

/// The value of media that every format keeps: a URL, an id, or the base64.
fn media(part: &Part) -> Option<String> {
    let payload = |it: &String| match it.split_once(";base64,") {
        Some((head, data)) if head.starts_with("data:") => data.to_owned(),
        _ => it.clone(),
    };
    Some(match part {
        Part::Image(it) => payload(it.url.as_ref().or(it.file_id.as_ref())?),
        Part::Audio(it) => payload(it.data.as_ref().or(it.id.as_ref())?),
        Part::File(it) => payload(it.data.as_ref().or(it.url.as_ref()).or(it.file_id.as_ref())?),
        _ => return None,
    })
}

fn text_of(part: &Part) -> String {
    match part {
        Part::Text(it) | Part::Refusal(it) => it.text.clone(),
        // An object of another provider is data in a result.
        Part::Other(it) => value_text(it.value.text()),
        _ => String::new(),
    }
}

/// JSON without its spelling.
fn value_text(json: &str) -> String {
    serde_json::from_str::<Value>(json).map_or_else(|_| without_spaces(json), |it| it.to_string())
}

/// JSON that only we read, for half characters in it.
fn without_spaces(json: &str) -> String {
    let mut out = Vec::new();
    match msg_json::validate(json) {
        Ok(_) => msg_json::write_compact(&mut out, json),
        Err(_) => out.extend_from_slice(json.as_bytes()),
    }
    String::from_utf8(out).expect("because it was a text")
}

/// The content of messages, without everything that the report names.
fn meaning(messages: &[Message], reported: &Reported) -> Vec<Said> {
    let mut it = Meaning { reported, res: Vec::new(), calls: HashMap::new(), n_calls: 0 };
    for (at, message) in messages.iter().enumerate() {
        it.message(at, message);
    }
    if reported.order_changes { unordered(it.res) } else { it.res }
}

/// The content in a normalised order: all text of each role, then the rest sorted.
fn unordered(said: Vec<Said>) -> Vec<Said> {
    let (mut texts, mut thought, mut rest) =
        (BTreeMap::<_, String>::new(), String::new(), Vec::new());
    for it in said {
        match it {
            Said::Text(who, text) => texts.entry(who).or_default().push_str(&text),
            Said::Thought(text) => thought.push_str(&text),
            it => rest.push(it),
        }
    }
    rest.extend(texts.into_iter().map(|(who, text)| Said::Text(who, text)));
    rest.push(Said::Thought(thought));
    rest.sort();
    rest
}

/// Chat messages have thoughts in members of their own, and no place that says where they were among texts
/// and calls: those of an assistant's turn come first.
fn thoughts_first(said: Vec<Said>) -> Vec<Said> {
    let (mut res, mut turn) = (Vec::new(), Vec::new());
    for it in said {
        match it {
            Said::Thought(_) | Said::Call(..) | Said::Other(_) => turn.push(it),
            Said::Text(ref who, _) | Said::Media(ref who, _) if who == "assistant" => turn.push(it),
            it => {
                end_turn(&mut turn, &mut res);
                res.push(it);
            }
        }
    }
    end_turn(&mut turn, &mut res);
    res
}

fn end_turn(turn: &mut Vec<Said>, res: &mut Vec<Said>) {
    let (mut thought, mut text) = (String::new(), String::new());
    let mut rest = Vec::new();
    for it in turn.drain(..) {
        match it {
            Said::Thought(it) => thought.push_str(&it),
            Said::Text(_, it) => text.push_str(&it),
            it => rest.push(it),
        }
    }
    res.extend(Some(Said::Thought(thought)).filter(|it| *it != Said::Thought(String::new())));
    res.extend(Some(text).filter(|it| !it.is_empty()).map(|it| Said::Text("assistant".into(), it)));
    res.append(&mut rest);
}

/// A document of one of the formats says in each other one what it said, but for what is named.
pub(crate) fn only_what_is_named_is_lost(json: &[u8], from: Option<Format>) {
    let Ok(document) = Document::read(json, &ReadOptions::default().with_from(from)) else {
        return;
    };
    let from = document.format();
    for to in FORMATS.iter().filter(|it| FORMATS.contains(&from.name()) && **it != from.name()) {
        let format = to.parse().expect("because it is a format");
        if let Err((expected, found)) = converted(json, from, format) {
            panic!("{} to {to}\nexpected {expected:?}\nfound    {found:?}", from.name());
        }
    }
}

/// Checks that a converted document has the content of its source, without everything that the report names. The error
/// has the expected and the found content.
fn converted(json: &[u8], from: Format, to: Format) -> Result<(), (Vec<Said>, Vec<Said>)> {
    let reading = |format| ReadOptions::default().with_from(Some(format));
    let options = ConvertOptions::default().with_read(reading(from));
    let Ok(converted) = convert(json, to, &options) else { return Ok(()) };
    if is_said_in_other_parts(json) {
        return Ok(());
    }
    // These find the result of a call by its tool or its place.
    let by_place = |it: Format| matches!(it.name(), "gemini" | "native");
    let is_given = |it: &Diagnostic| it.code == "convert::id-synthesised";
    let links = by_place(from) || by_place(to) || converted.edits.iter().any(is_given);
    let mut source = messages(json, &reading(from), links);
    if converted.edits.iter().any(|it| it.code == "profile::missing-member") {
        // It was read with the words that it lacks, as by each conversion.
        let native = "native".parse().expect("because it is a format");
        let Ok(completed) = convert(json, native, &options) else { return Ok(()) };
        source = messages(&completed.document, &reading(native), links);
    }
    let mut back = messages(&converted.document, &reading(to), by_place(to));
    back.iter_mut().for_each(whole_thoughts);
    let reported = Reported::of(&converted.edits);
    let kept = Reported {
        roles_change: reported.roles_change,
        order_changes: reported.order_changes,
        ..Reported::default()
    };
    let (mut expected, mut found) = (meaning(&source, &reported), meaning(&back, &kept));
    if [from, to].iter().any(|it| it.name() == "openai") {
        (expected, found) = (thoughts_first(expected), thoughts_first(found));
    }
    if expected == found { Ok(()) } else { Err((expected, found)) }
}

/// Whether a document has parts that another format says in parts of another kind: a search result as a text, a call
/// that the client runs as an ordinary one. The law of the ledger accounts for these.
fn is_said_in_other_parts(json: &[u8]) -> bool {
    const MARKS: [&str; 10] = [
        "search_result",
        "compaction",
        "\"document\"",
        "executable",
        "codeExecution",
        "code_execution",
        "shell_call",
        "apply_patch_call",
        "computer_call",
        "tool_search",
    ];
    let text = String::from_utf8_lossy(json);
    MARKS.iter().any(|it| text.contains(it))
}

/// Chat messages say all thoughts in `reasoning_content`, and the signed ones again in blocks, which alone are parts
/// where there are unsigned ones besides (OA-1).
fn whole_thoughts(message: &mut Message) {
    let text = message.extra.get(&msg_core::Origin::OpenAi, "reasoning_content");
    let Some(text) = text.and_then(|it| it.parse::<String>().ok()) else { return };
    message.parts.retain(|it| it.as_reasoning().is_none());
    message.parts.insert(0, Part::Reasoning(msg_core::Reasoning::new(text)));
}

/// The messages of a document; results that are matched by the name of their tool are linked to their calls.
fn messages(json: &[u8], options: &ReadOptions, links: bool) -> Vec<Message> {
    let mut res = Document::read(json, options).map(Document::into_messages).unwrap_or_default();
    if links {
        msg_codec::link_ids(&mut res);
    }
    res
}
