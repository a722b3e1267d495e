//! What is no JSON: archives, pages, streams, transcripts. Only the first lines are looked at.

use super::looks_like;
use crate::outline::Outline;
use crate::refusal::Refusal;

/// As much of a text is looked at.
const HEAD: usize = 4 << 10;

/// The refusal of a text that is no JSON, by its name; none where nothing is known of it.
pub(crate) fn text(outline: &Outline<'_>) -> Option<Refusal> {
    let bytes = outline.source()?;
    let (what, way) = named(bytes)?;
    let it = looks_like(what);
    Some(if way.is_empty() { it.into() } else { it.with_fix(way).into() })
}

fn named(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    const BINARY: [(&[u8], &str); 4] = [
        (b"SQLite format 3\0", "a SQLite database"),
        (b"PK\x03\x04", "a zip archive"),
        (b"\x1f\x8b", "a gzip archive"),
        (b"%PDF-", "a PDF"),
    ];
    const RENDERED: [&str; 5] = [
        "<|im_start|>",
        "<|start_header_id|>",
        "<|begin_of_text|>",
        "<start_of_turn>",
        "<s>[INST]",
    ];
    if let Some(it) = BINARY.iter().find(|it| bytes.starts_with(it.0)) {
        return Some((it.1, ""));
    }
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(HEAD)]);
    let head = head.trim_start_matches('\u{feff}').trim_start();
    let begins = |it: &str| head.get(..it.len()).is_some_and(|head| head.eq_ignore_ascii_case(it));
    Some(if begins("<!doctype html") || begins("<html") {
        ("an HTML page", "")
    } else if begins("<?xml") {
        ("an XML document", "")
    } else if ["data:", "event:", "id:", "retry:"].into_iter().any(is_field_of_a_stream(head)) {
        ("the events of a captured stream", "`msg stream` reads it")
    } else if RENDERED.into_iter().any(begins) {
        ("a text rendered by a chat template (ChatML, Llama)", "")
    } else if is_transcript(head) {
        ("a transcript in plain text (`Human: … Assistant: …`)", "")
    } else {
        return None;
    })
}

/// Whether a text begins with this field of server-sent events.
fn is_field_of_a_stream(head: &str) -> impl Fn(&str) -> bool + '_ {
    move |field| {
        let rest = head.strip_prefix(field).map(str::trim_start);
        let is_first = matches!(field, "data:" | "event:");
        rest.is_some_and(|it| is_first && !it.is_empty() || it.contains("\ndata:"))
    }
}

/// Whether lines begin with who says them, on both sides.
fn is_transcript(head: &str) -> bool {
    const ASKS: [&str; 3] = ["Human:", "User:", "USER:"];
    const ANSWERS: [&str; 5] = ["Assistant:", "AI:", "ASSISTANT:", "Bot:", "Claude:"];
    let has = |words: &[&str]| head.lines().any(|line| words.iter().any(|it| line.starts_with(it)));
    let first = head.lines().next().unwrap_or_default();
    let is_first = |words: &[&str]| words.iter().any(|it| first.starts_with(it));
    (is_first(&ASKS) && has(&ANSWERS))
        || (is_first(&ANSWERS) || is_first(&["System:"])) && has(&ASKS)
}
