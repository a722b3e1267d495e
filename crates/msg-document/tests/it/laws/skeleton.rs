//! The law of skeletons: the answers equal those of the document that is read whole. Shared by the cases, by random
//! documents and by the fuzz target of the same name.

use std::collections::BTreeMap;

use msg_chainast::Profile;
use msg_core::Diagnostic;
use msg_document::{
    CheckOptions, Document, MendedMessage, ReadOptions, RepairOptions, Repaired, Skeleton,
    WriteOptions,
};
use serde_json::{Value, value::RawValue};

/// A document has the answers that it would have if it were read whole, by the chain rules and by a profile. Gives
/// whether it has a skeleton.
pub(crate) fn a_skeleton_answers_as_the_document(json: &[u8], profile: Option<&Profile>) -> bool {
    let options = RepairOptions { chain: repair(profile), ..RepairOptions::default() };
    let skeleton = || Skeleton::of_json(json, &options.read);
    if skeleton().is_none() {
        return false;
    }
    let whole = || {
        let read = Document::read(json, &ReadOptions::default());
        read.unwrap_or_else(|it| panic!("{it}: {}", String::from_utf8_lossy(json)))
    };
    let check = CheckOptions { profile: profile.cloned(), ..CheckOptions::default() };
    let mut document = whole();
    document.set_source(json.to_vec());
    let expected = document.check(&check);
    let mut checked = msg_document::check(json, &check).expect("because it was read");
    document.locate(json, &mut checked.diagnostics);
    assert_eq!(text(checked.to_json()), text(expected.to_json()), "{}", text(json.to_vec()));
    let mut document = whole();
    let edits = document.repair(&options);
    a_splice_writes_what_the_document_does(json, &options);
    if depth(json) > 100 || serde_json::from_slice::<Value>(without_mark(json)).is_err() {
        return true; // what `Value` cannot hold: deep lists, half of a surrogate pair
    }
    let some = |ats: &[usize]| {
        let all = sources(json);
        let chosen: Vec<_> = ats.iter().map(|it| all[*it].get()).collect();
        Some(format!("[{}]", chosen.join(",")).into_bytes())
    };
    if let Some((mended, found)) = skeleton().and_then(|it| it.repair(&options, some)) {
        assert_eq!(format!("{found:?}"), format!("{edits:?}"), "{}", text(json.to_vec()));
        let mut written = Vec::new();
        document.write(&WriteOptions::default(), &mut written);
        let assembled = match found.is_empty() {
            true => messages(json),
            false => assembled(json, mended),
        };
        assert_eq!(assembled, messages(&written), "{}", text(json.to_vec()));
    }
    true
}

/// Messages that are mended in the text of a document make what the whole document is written as. A message that is
/// edited and moved, or merged, at once may keep the spelling of its source in one of the two only.
fn a_splice_writes_what_the_document_does(json: &[u8], options: &RepairOptions) {
    let Some((spliced, written, edits)) = mended_both_ways(json, options) else { return };
    if spliced.document != written {
        let value = |it: &[u8]| serde_json::from_slice::<Value>(without_mark(it)).ok();
        assert_eq!(value(&spliced.document), value(&written), "{}", text(json.to_vec()));
    }
    assert_eq!(format!("{:?}", spliced.edits), format!("{edits:?}"), "{}", text(json.to_vec()));
}

/// A document mended in its text where that can be, and the text and the edits of the whole document; none for what is
/// refused.
pub(crate) fn mended_both_ways(
    json: &[u8],
    options: &RepairOptions,
) -> Option<(Repaired, Vec<u8>, Vec<Diagnostic>)> {
    let spliced = msg_document::repair(json, options).ok()?;
    let mut whole = Document::read(json, &options.read).ok()?;
    whole.set_source(json.to_vec());
    let mut edits = whole.repair(options);
    let mut written = Vec::new();
    whole.write(&WriteOptions::default(), &mut written);
    let written = if edits.is_empty() { json.to_vec() } else { written };
    edits.extend(whole.lost(&written, &edits));
    Some((spliced, written, edits))
}

pub(crate) fn repair(profile: Option<&Profile>) -> msg_chainast::ChainRepairOptions {
    let options = msg_chainast::ChainRepairOptions::new();
    profile.map_or(options.clone(), |it| options.with_profile(it))
}

/// How deep brackets are in each other, those in texts too.
fn depth(json: &[u8]) -> usize {
    let step = |depth: &mut usize, it: &u8| {
        *depth = match it {
            b'[' | b'{' => *depth + 1,
            b']' | b'}' => depth.saturating_sub(1),
            _ => *depth,
        };
        Some(*depth)
    };
    json.iter().scan(0, step).max().unwrap_or_default()
}

fn text(json: Vec<u8>) -> String {
    String::from_utf8_lossy(&json).into_owned()
}

/// The mended list with the messages of the document.
fn assembled(json: &[u8], mended: Vec<MendedMessage>) -> Vec<Value> {
    let before = messages(json);
    let of = |it| match it {
        MendedMessage::Kept(at) => vec![before[at].clone()],
        MendedMessage::Changed(at, changes) => vec![changed(before[at].clone(), changes)],
        MendedMessage::Texts(texts) => vec![texts.into_iter().collect()],
        MendedMessage::New(json) => messages(&json),
    };
    mended.into_iter().flat_map(of).collect()
}

fn changed(mut message: Value, changes: Vec<(String, String)>) -> Value {
    for (place, text) in changes {
        let (object, name) = place.rsplit_once('/').expect("because it is a JSON Pointer");
        message.pointer_mut(object).expect("because it was read")[name] = text.into();
    }
    message
}

fn messages(json: &[u8]) -> Vec<Value> {
    let mut value: Value = serde_json::from_slice(without_mark(json)).expect("because it was read");
    let list = if value.is_array() { value } else { value["messages"].take() };
    list.as_array().cloned().expect("because it has messages")
}

/// The source texts of the messages: a `Value` does not keep the order of members.
fn sources(json: &[u8]) -> Vec<Box<RawValue>> {
    let json = without_mark(json);
    let of_request = || {
        let members: BTreeMap<String, Box<RawValue>> = serde_json::from_slice(json)?;
        serde_json::from_str(members["messages"].get())
    };
    serde_json::from_slice(json)
        .or_else(|_: serde_json::Error| of_request())
        .expect("because it was read")
}

fn without_mark(json: &[u8]) -> &[u8] {
    json.strip_prefix("\u{feff}".as_bytes()).unwrap_or(json)
}
