//! Documents of all formats: what is lost, laid out, undone and judged; rows and pages of them.

#[path = "../../../crates/msg-arrow/tests/it/laws.rs"]
mod arrow_laws;
#[path = "../../../crates/msg-document/tests/it/laws/closure.rs"]
mod document_closure;
#[path = "../../../crates/msg-formats/tests/it/laws.rs"]
mod document_layout;
#[path = "../../../crates/msg-document/tests/it/laws/ledger.rs"]
mod document_ledger;
#[path = "../../../crates/msg-document/tests/it/laws/meaning.rs"]
mod document_meaning;
#[path = "../../../crates/msg-document/tests/it/laws/signatures.rs"]
mod document_signatures;
#[path = "../../../crates/msg-document/tests/it/laws/skeleton.rs"]
mod document_skeleton;
#[path = "../../../crates/msg-document/tests/it/laws/undo.rs"]
mod document_undo;
#[path = "../../../crates/msg-session/tests/it/laws.rs"]
mod session_laws;
#[path = "../../../crates/msg-view/tests/it/laws.rs"]
mod view_laws;

use msg_session::{Blob, Dialect, SessionOptions};

pub(crate) fn document_closure(bytes: &[u8]) {
    let from = "openai".parse().expect("because it is a format");
    for to in ["responses", "anthropic", "gemini"] {
        let to = to.parse().expect("because it is a format");
        let found = document_closure::conversions_make_nothing_worse(bytes, from, to);
        found.unwrap_or_else(|it| panic!("{it}"));
        let found = document_closure::conversions_for_a_provider_are_mended(bytes, from, to);
        found.unwrap_or_else(|it| panic!("{it}"));
    }
}

pub(crate) fn document_layout(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (source, written) = text.split_once('\0').unwrap_or((&text, "[]"));
    document_layout::layout_keeps_the_value(source, written);
    document_layout::layout_of_the_unedited(source);
}

pub(crate) fn document_ledger(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let seed =
        bytes.iter().fold(bytes.len() as u64, |seed, it| seed.wrapping_mul(31) + u64::from(*it));
    for text in std::iter::once(text.to_string()).chain(document_ledger::mutant(&text, seed)) {
        for to in ["openai", "responses", "anthropic", "gemini", "native"] {
            let format = to.parse().expect("because it is a format");
            let found = document_ledger::conversions_account_for_all(text.as_bytes(), None, format);
            found.unwrap_or_else(|it| panic!("{it}"));
        }
        let found = document_ledger::repairs_account_for_all(text.as_bytes(), None, Some("openai"));
        found.unwrap_or_else(|it| panic!("{it}"));
    }
}

pub(crate) fn document_meaning(bytes: &[u8]) {
    document_meaning::only_what_is_named_is_lost(bytes, None);
    for from in ["openai", "responses", "anthropic", "gemini"] {
        let format = from.parse().expect("because it is a format");
        document_signatures::seals_stay_in_their_format(bytes, format);
        let provider = from.parse().expect("because it is a provider");
        document_signatures::seals_stay_in_their_stream(bytes, provider);
    }
}

pub(crate) fn document_skeleton(bytes: &[u8]) {
    let Some((chosen, json)) = bytes.split_first() else { return };
    let profile = msg_chainast::Profile::all().get(usize::from(*chosen));
    document_skeleton::a_skeleton_answers_as_the_document(json, profile);
}

pub(crate) fn document_undo(bytes: &[u8]) {
    let Some((budget, text)) = bytes.split_first_chunk::<2>() else { return };
    document_undo::undoing_gives_back_the_document(
        text,
        "",
        i64::from(u16::from_le_bytes(*budget)) + 1,
    );
}

pub(crate) fn arrow_rows(bytes: &[u8]) {
    let rows: Vec<_> = bytes.split(|it| *it == b'\n').take(16).collect();
    let rows: Vec<_> = rows.into_iter().map(|it| (!it.is_empty()).then_some(it)).collect();
    arrow_laws::a_row_is_the_documents_line(&rows);
    arrow_laws::rows_are_counted(&rows);
    arrow_laws::layouts_change_nothing(&rows);
    let from = bytes.first().map_or(0, |it| usize::from(*it) % 16);
    arrow_laws::summaries_merge(&rows, from);
    arrow_laws::slices_are_parts_of_the_whole(&rows, from, rows.len() / 2);
}

pub(crate) fn view_pages(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        view_laws::no_text_is_markup(text);
    }
}

pub(crate) fn session_repair(bytes: &[u8]) {
    let Some(([dialect, flags], text)) = bytes.split_first_chunk() else { return };
    let dialect = Dialect::ALL[usize::from(*dialect) % Dialect::ALL.len()];
    let options = SessionOptions {
        all: flags & 1 > 0,
        drop_thinking: flags & 2 > 0,
        drop_encrypted: flags & 4 > 0,
        drop: flags & 8 > 0,
        ..SessionOptions::default()
    };
    let blobs = vec![Blob::new("session", text)];
    session_laws::mended_once_is_mended(dialect, blobs.clone(), &options);
    session_laws::every_part_has_an_origin(dialect, blobs);
}
