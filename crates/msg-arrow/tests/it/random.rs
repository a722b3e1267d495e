//! The laws over random rows: documents that were cut, glued and changed, among nulls.

use proptest::prelude::*;

use crate::laws;

const SOUND: &str = r#"[{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"1"},{"role":"assistant","content":"one"}]"#;

/// A row: null, some bytes, or a document of which something is missing or other.
fn row() -> impl Strategy<Value = Option<Vec<u8>>> {
    let cut = (0..SOUND.len(), 0..SOUND.len()).prop_map(|(from, len)| {
        let to = (from + len).min(SOUND.len());
        [&SOUND.as_bytes()[..from], &SOUND.as_bytes()[to..]].concat()
    });
    let changed = (0..SOUND.len(), any::<u8>()).prop_map(|(at, byte)| {
        let mut bytes = SOUND.as_bytes().to_vec();
        bytes[at] = byte;
        bytes
    });
    prop_oneof![
        1 => Just(None),
        1 => prop::collection::vec(any::<u8>(), 0..40).prop_map(Some),
        1 => Just(Some(SOUND.as_bytes().to_vec())),
        2 => cut.prop_map(Some),
        2 => changed.prop_map(Some),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn laws_hold_for_random_rows(
        rows in prop::collection::vec(row(), 0..10),
        from in 0..10_usize,
        len in 0..10_usize,
    ) {
        let rows: Vec<_> = rows.iter().map(Option::as_deref).collect();
        laws::a_row_is_the_documents_line(&rows);
        laws::rows_are_counted(&rows);
        laws::summaries_merge(&rows, from);
        laws::layouts_change_nothing(&rows);
        laws::slices_are_parts_of_the_whole(&rows, from, len);
    }
}
