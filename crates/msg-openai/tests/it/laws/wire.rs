//! The laws of chat messages and bodies: same format both ways is the identity, the canonical form is
//! a fixpoint, no bytes panic.

#[path = "../../../../msg-wire/tests/it/same_value.rs"]
mod same_value;

use msg_openai::{ReadOptions, WriteOptions, chat, responses};

use same_value::has_duplicates;
pub(crate) use same_value::same_value;

/// Any bytes give a document or an error; what was read and not edited is written as the same value,
/// unless the reader said that it mended something.
pub(crate) fn chat_identity(bytes: &[u8]) {
    let Ok((document, report)) = chat::read(bytes, &ReadOptions::new()) else { return };
    let mended = report.iter().any(|it| it.code != "message::wrong-type");
    let mut out = Vec::new();
    let losses = document.write(&WriteOptions::new(), &mut out);
    let (text, back) = (std::str::from_utf8(bytes).unwrap(), String::from_utf8(out).unwrap());
    if !mended && !has_duplicates(text) {
        assert!(same_value(text, &back), "read  {text}\nwrote {back}");
        assert!(losses.is_empty(), "{losses:?} for {text}");
    }
    let again = chat::read(back.as_bytes(), &ReadOptions::new());
    assert_eq!(again.unwrap().0, document, "written {back}");
}

/// Writing canonically, reading and writing again changes nothing.
pub(crate) fn chat_canonical_fixpoint(bytes: &[u8]) {
    let options = WriteOptions::canonical();
    let read = |bytes: &[u8]| chat::read(bytes, &ReadOptions::new());
    let write = |document: &chat::Document| {
        let mut out = Vec::new();
        document.write(&options, &mut out);
        String::from_utf8(out).unwrap()
    };
    let Ok((document, _)) = read(bytes) else { return };
    if document.messages().any(mixes_thoughts) {
        return;
    }
    let once = write(&document);
    let twice = write(&read(once.as_bytes()).unwrap().0);
    assert!(same_value(&once, &twice), "once  {once}\ntwice {twice}");
}

/// Whether a message has thoughts that are blocks and thoughts that are none. Both are in its
/// `reasoning_content`, which a reader cannot tell from one that disagrees with the blocks (OA-1).
fn mixes_thoughts(message: &msg_core::Message) -> bool {
    let is_block = |it: &&msg_core::Reasoning| it.signature.is_some() || it.redacted.is_some();
    let blocks = message.reasoning().filter(is_block).count();
    blocks > 0 && blocks < message.reasoning().count()
}

/// As [`chat_identity`], for Responses items.
pub(crate) fn responses_identity(bytes: &[u8]) {
    let Ok((document, report)) = responses::read(bytes, &ReadOptions::new()) else { return };
    let mut out = Vec::new();
    let losses = document.write(&WriteOptions::new(), &mut out);
    let (text, back) = (std::str::from_utf8(bytes).unwrap(), String::from_utf8(out).unwrap());
    if report.is_empty() && !has_duplicates(text) {
        assert!(same_value(text, &back), "read  {text}\nwrote {back}");
        assert!(losses.is_empty(), "{losses:?} for {text}");
    }
    let again = responses::read(back.as_bytes(), &ReadOptions::new());
    assert_eq!(again.unwrap().0, document, "written {back}");
}

/// As [`chat_canonical_fixpoint`], for Responses items.
pub(crate) fn responses_canonical_fixpoint(bytes: &[u8]) {
    let options = WriteOptions::canonical();
    let read = |bytes: &[u8]| responses::read(bytes, &ReadOptions::new());
    let write = |document: &responses::Document| {
        let mut out = Vec::new();
        document.write(&options, &mut out);
        String::from_utf8(out).unwrap()
    };
    let Ok((document, _)) = read(bytes) else { return };
    let once = write(&document);
    let twice = write(&read(once.as_bytes()).unwrap().0);
    assert!(same_value(&once, &twice), "once  {once}\ntwice {twice}");
}

/// What one format cannot hold is reported: what is converted in silence comes back.
pub(crate) fn converted_in_silence_comes_back(bytes: &[u8]) {
    let Ok((document, _)) = chat::read(bytes, &ReadOptions::new()) else { return };
    let messages = document.into_messages();
    let mut out = Vec::new();
    let losses = responses::write(&messages, &WriteOptions::new(), &mut out);
    let back = responses::read(&out, &ReadOptions::new()).unwrap().0.into_messages();
    if losses.is_empty() {
        // Neighbouring messages of an assistant become one, which loses no part.
        let parts = |all: &[msg_core::Message]| -> Vec<_> {
            let parts = |it: &msg_core::Message| {
                let role = it.role.clone();
                it.parts.clone().into_iter().map(move |part| (role.clone(), with_kind(part)))
            };
            all.iter().flat_map(parts).collect()
        };
        assert_eq!(parts(&messages), parts(&back), "{}", String::from_utf8_lossy(&out));
    }
}

/// A call without a kind is written as a function call, which is what it means.
fn with_kind(mut part: msg_core::Part) -> msg_core::Part {
    if let msg_core::Part::ToolCall(it) = &mut part
        && it.kind == msg_core::CallKind::Unspecified
    {
        it.kind = msg_core::CallKind::Function;
    }
    part
}
