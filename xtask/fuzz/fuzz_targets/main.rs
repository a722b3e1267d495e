//! The laws of the workspace, fuzzed: one program for all targets, so that it is linked once.
//!
//! `MSG_FUZZ_TARGET` names the target, as `cargo xtask fuzz` sets it. Built without libFuzzer, the program runs the laws
//! over the files that its arguments name, so that any compiler can run again what was found:
//! `MSG_FUZZ_TARGET=wire cargo run -p msg-fuzz -- crash-0a1b2c`.
#![cfg_attr(feature = "link", no_main)]

mod chains;
mod documents;
mod streams;
mod texts;
#[path = "../../../crates/msg-relay/tests/it/upstreams.rs"]
mod upstreams;
mod wires;

use std::sync::LazyLock;

/// Calls the laws of a target.
type Laws = fn(&[u8]);

/// The targets: name, laws, and the crates whose case data are the seeds.
const TARGETS: &[(&str, Laws, &str)] = &[
    ("anthropic", wires::anthropic, "msg-anthropic"),
    ("anthropic_events", streams::anthropic_events, "msg-anthropic"),
    ("arrow_rows", documents::arrow_rows, "msg-arrow"),
    ("bedrock", wires::bedrock, "msg-bedrock"),
    ("bedrock_frames", streams::bedrock_frames, "msg-bedrock"),
    ("cache_compare", chains::cache_compare, "msg-cache"),
    ("chain_edits", chains::chain_edits, "msg-chainast"),
    ("chain_repair", chains::chain_repair, "msg-chainast"),
    ("compact_outcome", chains::compact_outcome, "msg-compact"),
    ("core_forms", texts::core_forms, "msg-forms"),
    ("core_text", texts::core_text, "msg-json msg-forms msg-core"),
    ("document_closure", documents::document_closure, "msg-document msg-formats"),
    ("document_layout", documents::document_layout, "msg-formats"),
    ("document_ledger", documents::document_ledger, "msg-document msg-formats"),
    ("document_meaning", documents::document_meaning, "msg-document msg-formats"),
    ("document_skeleton", documents::document_skeleton, "msg-document msg-formats"),
    ("document_undo", documents::document_undo, "msg-document msg-formats"),
    ("file_read", texts::file_read, "msg-file"),
    ("file_write", texts::file_write, "msg-file"),
    ("gemini", wires::gemini, "msg-gemini"),
    ("gemini_events", streams::gemini_events, "msg-gemini"),
    ("relay_answers", streams::relay_answers, "msg-relay"),
    ("session_repair", documents::session_repair, "msg-session"),
    ("split", texts::split, "testkit"),
    ("stream_bytes", streams::stream_bytes, "msg-openai msg-codec"),
    ("stream_limits", streams::stream_limits, "msg-codec"),
    ("view_pages", documents::view_pages, "msg-view"),
    ("wire", wires::wire, "msg-openai"),
    ("xml_read", texts::xml_read, "msg-xml"),
    ("xml_render", texts::xml_render, "msg-xml"),
];

/// The laws of the chosen target.
static CHOSEN: LazyLock<Laws> = LazyLock::new(|| {
    let name = std::env::var("MSG_FUZZ_TARGET").unwrap_or_default();
    let chosen = TARGETS.iter().find(|it| it.0 == name);
    chosen.map(|it| it.1).unwrap_or_else(|| {
        let known: Vec<_> = TARGETS.iter().map(|it| format!("{} (of {})", it.0, it.2)).collect();
        panic!("MSG_FUZZ_TARGET is {name:?}, expected one of {}", known.join(", "))
    })
});

#[cfg(feature = "link")]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| CHOSEN(bytes));

#[cfg(not(feature = "link"))]
fn main() -> std::io::Result<()> {
    for path in std::env::args_os().skip(1) {
        CHOSEN(&std::fs::read(path)?);
    }
    Ok(())
}
