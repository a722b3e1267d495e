//! What holds for every skeleton: it says what the document says that is read whole. Shared by the cases, by random
//! documents and by the fuzz target of the same name.

use msg_chainast::Profile;
use msg_document::{CheckOptions, Document, ReadOptions, RepairOptions, Skeleton, WriteOptions};
use serde_json::Value;

/// A document has the answers that it would have if it were read whole, by the chain rules and by a profile. Gives
/// whether it has a skeleton.
pub(crate) fn a_skeleton_answers_as_the_document(json: &[u8], profile: Option<&Profile>) -> bool {
    let options = RepairOptions { chain: repair(profile), ..RepairOptions::default() };
    let skeleton = || Skeleton::of_json(json, &options.read);
    let Some(it) = skeleton() else { return false };
    let whole = || {
        let read = Document::read(json, &ReadOptions::default());
        read.unwrap_or_else(|it| panic!("{it}: {}", String::from_utf8_lossy(json)))
    };
    let check = CheckOptions { profile: profile.cloned(), ..CheckOptions::default() };
    if let Some(checked) = it.check(&check) {
        let expected = whole().check(&check);
        assert_eq!(text(checked.to_json()), text(expected.to_json()), "{}", text(json.to_vec()));
    }
    let mut document = whole();
    let edits = document.repair(&options);
    if let Some(needs_repair) = it.needs_repair(&options) {
        assert_eq!(needs_repair, !edits.is_empty(), "{}", text(json.to_vec()));
    }
    let some = |ats: &[usize]| {
        let all = messages(json);
        let chosen: Vec<_> = ats.iter().map(|it| &all[*it]).collect();
        serde_json::to_vec(&chosen).ok()
    };
    if let Some(mended) = skeleton().and_then(|it| it.repair(&options, some)) {
        let found = format!("{:?}", mended.edits);
        assert_eq!(found, format!("{edits:?}"), "{}", text(json.to_vec()));
        let mut written = Vec::new();
        document.write(&WriteOptions::default(), &mut written);
        let assembled = assembled(json, &mended.document);
        assert_eq!(assembled, messages(&written), "{}", text(json.to_vec()));
    }
    true
}

fn repair(profile: Option<&Profile>) -> msg_chainast::RepairOptions {
    let options = msg_chainast::RepairOptions::new();
    profile.map_or(options.clone(), |it| options.with_profile(it))
}

fn text(json: Vec<u8>) -> String {
    String::from_utf8_lossy(&json).into_owned()
}

/// The mended list, in which numbers stand for messages of the document.
fn assembled(json: &[u8], mended: &[u8]) -> Vec<Value> {
    let before = messages(json);
    let of = |it: Value| it.as_u64().map_or(it, |at| before[at as usize].clone());
    messages(mended).into_iter().map(of).collect()
}

fn messages(json: &[u8]) -> Vec<Value> {
    let json = json.strip_prefix("\u{feff}".as_bytes()).unwrap_or(json);
    let mut value: Value = serde_json::from_slice(json).expect("because it was read");
    let list = if value.is_array() { value } else { value["messages"].take() };
    list.as_array().cloned().expect("because it has messages")
}
