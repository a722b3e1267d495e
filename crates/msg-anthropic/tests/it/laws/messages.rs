//! The laws of Anthropic documents: the same format both ways is the identity, the canonical form is a
//! fixpoint, what is lost is named, sealed texts are never changed, no bytes panic.

#[path = "../../../../msg-wire/tests/it/same_value.rs"]
mod same_value;

use msg_anthropic::{Layout, ReadOptions, WriteOptions, messages};
use msg_core::{Message, Origin, Part, Role, native};

use same_value::has_duplicates;
pub(crate) use same_value::same_value;

fn read(bytes: &[u8]) -> Option<messages::Document> {
    messages::read(bytes, &ReadOptions::new()).ok().map(|it| it.0)
}

fn written(document: &messages::Document, options: &WriteOptions) -> String {
    let mut out = Vec::new();
    document.write(options, &mut out);
    String::from_utf8(out).expect("JSON is UTF-8")
}

/// Any bytes give a document or an error; what was read and not edited is written as the same value
/// (law 1), unless the reader said that it mended something.
pub(crate) fn identity(bytes: &[u8]) {
    let Ok((document, report)) = messages::read(bytes, &ReadOptions::new()) else { return };
    let kept = ["message::wrong-type", "message::role-spelling"];
    let mended = report.iter().any(|it| !kept.contains(&it.code.as_str()));
    let mut out = Vec::new();
    let losses = document.write(&WriteOptions::new(), &mut out);
    let text = std::str::from_utf8(bytes).expect("what was read is UTF-8");
    let back = String::from_utf8(out).expect("JSON is UTF-8");
    if !mended && !has_duplicates(text) {
        assert!(same_value(text, &back), "read  {text}\nwrote {back}");
        assert!(losses.is_empty(), "{losses:?} for {text}");
    }
    let again = read(back.as_bytes());
    assert_eq!(again.as_ref(), Some(&document), "written {back}");
}

/// Writing canonically, reading and writing again changes nothing (law 1).
pub(crate) fn canonical_is_a_fixpoint(bytes: &[u8]) {
    let options = WriteOptions::canonical();
    let Some(document) = read(bytes) else { return };
    let once = written(&document, &options);
    let again = read(once.as_bytes()).expect("what was written is a document");
    let twice = written(&again, &options);
    assert!(same_value(&once, &twice), "once  {once}\ntwice {twice}");
}

/// Messages that are sent in silence come back as they were (law 2): blank arguments are `{}`, bare base64
/// is a data URL, tool messages of one run are one, and so are leading instructions.
pub(crate) fn sent_in_silence_comes_back(messages: &[Message]) {
    let mut out = Vec::new();
    let report = messages::write(messages, &WriteOptions::canonical(), &mut out);
    let text = String::from_utf8_lossy(&out);
    let document = read(&out).unwrap_or_else(|| panic!("unreadable {text}"));
    if report.is_empty() {
        let back = document.into_messages();
        assert_eq!(joined(messages), joined(&back), "sent {text}");
    }
}

/// The messages as law 2 compares them.
fn joined(messages: &[Message]) -> Vec<Message> {
    let mut res: Vec<Message> = Vec::new();
    for it in messages.iter().cloned().flat_map(results_apart) {
        let mut it = it;
        it.parts.iter_mut().for_each(settle);
        // A message of the wire has its members once, those of the first that it becomes.
        if let Some(last) = res.last_mut().filter(|last| last.role == Role::Tool)
            && it.role == Role::User
        {
            last.extra.merge(std::mem::take(&mut it.extra));
        }
        match res.last_mut() {
            Some(last) if joins(last, &it) => {
                last.parts.append(&mut it.parts);
                last.extra.merge(it.extra);
            }
            _ => res.push(it),
        }
    }
    res
}

/// The results that a user message begins with are a tool message (AN-2), which has the members.
fn results_apart(mut it: Message) -> Vec<Message> {
    let is_result = |it: &&Part| matches!(it, Part::ToolResult(_));
    let results = it.parts.iter().take_while(is_result).count();
    if it.role != Role::User || results == 0 {
        return vec![it];
    }
    let rest = it.parts.split_off(results);
    it.role = Role::Tool;
    let user = Message { parts: rest, ..Message::new(Role::User) };
    if user.parts.is_empty() { vec![it] } else { vec![it, user] }
}

/// Leading instructions are one message, results of a run are one.
fn joins(last: &Message, it: &Message) -> bool {
    last.role == it.role && matches!(it.role, Role::System | Role::Tool)
}

fn settle(part: &mut Part) {
    // A marker that a gateway put on a chat message is this format's own (AN-9).
    let extra = part.extra_mut();
    if let Some(marker) = extra.remove(&Origin::OpenAi, "cache_control") {
        extra.insert(Origin::Anthropic, "cache_control", marker);
    }
    if let Part::ToolCall(it) = part
        && it.arguments.text().trim_ascii().is_empty()
    {
        it.arguments = "{}".into();
    }
    if let Part::File(it) = part
        && let (Some(data), Some(media_type)) = (&it.data, it.media_type.take())
    {
        it.data = Some(format!("data:{media_type};base64,{data}"));
    }
    if let Part::Reasoning(it) = part {
        it.signature.take_if(|it| it.is_empty());
        if it.redacted.is_none() {
            it.text.get_or_insert_default();
        }
    }
}

/// What is sealed goes through the model's own form and back byte for byte (law 3), and no signature goes
/// out that did not come in (law 4).
pub(crate) fn sealed_texts_survive(bytes: &[u8]) {
    let Some(document) = read(bytes) else { return };
    let messages = document.into_messages();
    let mut stored = Vec::new();
    native::write(&messages, &mut stored);
    let (stored, _) = native::read(&stored).expect("what was written is native JSON");
    let mut out = Vec::new();
    messages::write(&stored, &WriteOptions::new(), &mut out);
    let back = read(&out).expect("what was written is a document").into_messages();
    let before: Vec<_> = seals(&messages).filter(|it| !it.is_empty()).collect();
    let after: Vec<_> = seals(&back).filter(|it| !it.is_empty()).collect();
    assert_eq!(before, after, "{}", String::from_utf8_lossy(&out));
}

/// Signatures and sealed payloads, and the ids of calls and results.
fn seals(messages: &[Message]) -> impl Iterator<Item = &str> {
    // Where models speak: elsewhere nothing is sealed.
    let spoken = messages.iter().filter(|it| it.role == Role::Assistant);
    let parts = spoken.flat_map(|it| &it.parts);
    let found = parts.map(|part| match part {
        Part::Reasoning(it) => it.signature.as_deref().or(it.redacted.as_deref()),
        Part::ToolCall(it) => Some(it.id.as_str()),
        _ => None,
    });
    found.flatten()
}

/// Options of every kind write something that can be read.
pub(crate) fn options_write_documents(bytes: &[u8]) {
    use msg_anthropic::{CacheControl, LaterSystem, Thinking};
    let Some(document) = read(bytes) else { return };
    let messages = document.into_messages();
    for later in [LaterSystem::User, LaterSystem::Keep, LaterSystem::Hoist] {
        let options = WriteOptions::new()
            .with_layout(Layout::Canonical)
            .with_later_system(later)
            .with_cache_control(CacheControl::Drop)
            .with_thinking(Thinking::None);
        let mut out = Vec::new();
        messages::write(&messages, &options, &mut out);
        let back = read(&out).unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(&out)));
        assert!(back.messages().all(|it| it.reasoning().next().is_none()));
    }
}
