//! Fuzzes the laws of columns: the input is split into rows at its line feeds, an empty one is null.
#![no_main]

#[path = "../../../crates/msg-arrow/tests/it/laws.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let rows: Vec<_> = bytes.split(|it| *it == b'\n').take(16).collect();
    let rows: Vec<_> = rows.into_iter().map(|it| (!it.is_empty()).then_some(it)).collect();
    laws::a_row_is_the_documents_line(&rows);
    laws::rows_are_counted(&rows);
    laws::layouts_change_nothing(&rows);
    let from = bytes.first().map_or(0, |it| usize::from(*it) % 16);
    laws::summaries_merge(&rows, from);
    laws::slices_are_parts_of_the_whole(&rows, from, rows.len() / 2);
});
