//! Fuzzes skeletons of chat messages: a byte that chooses the profile, and a document.
#![no_main]

#[path = "../../../crates/msg-document/tests/it/laws/skeleton.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((chosen, json)) = bytes.split_first() else { return };
    let profile = msg_chainast::Profile::all().get(usize::from(*chosen));
    laws::a_skeleton_answers_as_the_document(json, profile);
});
