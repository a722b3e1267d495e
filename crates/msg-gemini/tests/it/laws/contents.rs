//! The laws of Gemini documents: the same format both ways is the identity, the canonical form is a
//! fixpoint, what is lost is named, signatures stay on their parts, no bytes panic.

#[path = "../../../../msg-wire/tests/it/same_value.rs"]
mod same_value;

use msg_core::{Message, Part, Role, native};
use msg_gemini::{Ids, LaterSystem, Layout, ReadOptions, Thoughts, WriteOptions, contents};

use msg_wire::codec::argument_text;
use same_value::has_duplicates;
pub(crate) use same_value::same_value;

fn read(bytes: &[u8]) -> Option<contents::Document> {
    contents::read(bytes, &ReadOptions::new()).ok().map(|it| it.0)
}

fn written(document: &contents::Document, options: &WriteOptions) -> String {
    let mut out = Vec::new();
    document.write(options, &mut out);
    String::from_utf8(out).expect("JSON is UTF-8")
}

/// Any bytes give a document or an error; what was read and not edited is written as the same value
/// (law 1), unless the reader said that it mended something.
pub(crate) fn identity(bytes: &[u8]) {
    let Ok((document, report)) = contents::read(bytes, &ReadOptions::new()) else { return };
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

/// Messages that are sent in silence come back as they were (law 1): blank arguments are `{}`, bare base64
/// is a data URL, tool messages of one run are one, and so are leading instructions; results say the name
/// of their call, and nothing is the empty text.
pub(crate) fn sent_in_silence_comes_back(messages: &[Message]) {
    let mut out = Vec::new();
    let report = contents::write(messages, &WriteOptions::canonical(), &mut out);
    let text = String::from_utf8_lossy(&out);
    let document = read(&out).unwrap_or_else(|| panic!("unreadable {text}"));
    if report.is_empty() {
        let back = document.into_messages();
        assert_eq!(joined(messages), joined(&back), "sent {text}");
    }
}

/// The messages as the law compares them.
fn joined(messages: &[Message]) -> Vec<Message> {
    let mut res: Vec<Message> = Vec::new();
    for it in messages.iter().cloned().flat_map(results_apart) {
        let mut it = it;
        it.parts.iter_mut().for_each(settle);
        match res.last_mut() {
            Some(last) if last.role == it.role && matches!(it.role, Role::System | Role::Tool) => {
                last.parts.append(&mut it.parts);
                last.extra.merge(it.extra);
            }
            _ if it.role == Role::System && it.parts.is_empty() && it.extra.is_empty() => {}
            _ => res.push(it),
        }
    }
    res
}

/// The results that a user message begins with are a tool message (GE-8).
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

fn settle(part: &mut Part) {
    match part {
        Part::ToolCall(it) if it.arguments.text().trim_ascii().is_empty() => {
            it.arguments = "{}".into();
        }
        Part::ToolCall(it) => {
            it.arguments = argument_text(it.arguments.text().trim_ascii()).into();
        }
        Part::ToolResult(it) => {
            it.name = None;
            if it.content.parts().is_empty() {
                it.content = "".into();
            }
        }
        Part::Reasoning(it) => {
            let text = it.display_text().into_owned();
            it.text = Some(text);
            it.summary = None;
            it.signature.take_if(|it| it.is_empty());
            it.redacted.take_if(|it| it.is_empty());
        }
        _ => {}
    }
}

/// A signature is written only on the part that it was read from, through the model's own form too (law 2).
pub(crate) fn signatures_stay_on_their_parts(bytes: &[u8]) {
    let Some(document) = read(bytes) else { return };
    let messages = document.into_messages();
    let mut stored = Vec::new();
    native::write(&messages, &mut stored);
    let (stored, _) = native::read(&stored).expect("what was written is native JSON");
    let mut out = Vec::new();
    contents::write(&stored, &WriteOptions::new(), &mut out);
    let back = read(&out).expect("what was written is a document").into_messages();
    let text = String::from_utf8_lossy(&out);
    assert_eq!(seals(&messages), seals(&back), "{text}");
}

/// What models signed: the kind of the part, its text or the name of the call, and the signature.
fn seals(messages: &[Message]) -> Vec<(&'static str, String, String)> {
    // Where models speak: elsewhere nothing is signed.
    let spoken = messages.iter().filter(|it| it.role == Role::Assistant);
    let of_part = |part: &Part| {
        let kept = part.extra().get(&msg_core::Origin::Gemini, "thoughtSignature");
        let kept = kept.and_then(|it| it.parse::<String>().ok());
        let (text, signature) = match part {
            Part::ToolCall(it) => (it.name.clone(), it.signature.clone().or(kept)),
            Part::Reasoning(it) => (it.display_text().into_owned(), kept),
            it => (it.as_text().unwrap_or_default().to_owned(), kept),
        };
        // A thought without text has nothing that could be sent.
        let is_sent = !matches!(part, Part::Reasoning(_)) || !text.is_empty();
        // Gemini has one part for media; what it reads as follows from its type and name.
        let kind = match part {
            Part::Image(_) | Part::Audio(_) | Part::File(_) => "media",
            it => it.kind(),
        };
        signature.filter(|_| is_sent).map(|it| (kind, text, it))
    };
    spoken.flat_map(|it| &it.parts).filter_map(of_part).collect()
}

/// Options of every kind write something that can be read.
pub(crate) fn options_write_documents(bytes: &[u8]) {
    let Some(document) = read(bytes) else { return };
    let messages = document.into_messages();
    for later in [LaterSystem::User, LaterSystem::Hoist] {
        let options = WriteOptions::new()
            .with_layout(Layout::Canonical)
            .with_later_system(later)
            .with_ids(Ids::Omit)
            .with_thoughts(Thoughts::None);
        let mut out = Vec::new();
        contents::write(&messages, &options, &mut out);
        let back = read(&out).unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(&out)));
        assert!(back.messages().all(|it| it.reasoning().next().is_none()));
        assert!(back.messages().flat_map(Message::tool_calls).all(|it| it.id.is_empty()));
    }
}
