//! Rows that are meant to do harm (SC-54): the call ends, and each costs its own answer.

use arrow_array::{Array, BinaryArray, StringArray};
use msg_document::{CaptureOptions, CheckOptions, ReadOptions, RepairOptions, ToolsOptions};

const SOUND: &[u8] = br#"[{"role":"user","content":"hi"}]"#;

/// The codes of the errors of a check; none where there is none.
fn codes(column: &dyn Array, options: &CheckOptions) -> Vec<Option<String>> {
    let checked = msg_arrow::check(column, options).expect("because the column is of documents");
    let row = |i| {
        let it = crate::laws::value(&checked, i);
        it["error"]["code"].as_str().map(str::to_owned)
    };
    (0..checked.len()).map(row).collect()
}

#[test]
fn deep_and_wrong_bytes_cost_their_rows() {
    let deep = vec![b'['; 1_000_000];
    let object = br#"{"a":"#.repeat(200_000);
    let rows: [&[u8]; 6] = [SOUND, &deep, &object, b"\xff\xfe", b"[{\"role\":\"\xff\"}]", SOUND];
    let column = BinaryArray::from(rows.to_vec());
    let bad = |it: &str| Some(it.to_owned());
    let found = codes(&column, &CheckOptions::default());
    assert_eq!((&found[0], &found[5]), (&None, &None));
    assert_eq!(found[3..5], [bad("message::bad-json"), bad("message::bad-json")]);
    assert!(found[1].is_some() && found[2].is_some(), "{found:?}");
    for kernel in [
        |it: &dyn Array| msg_arrow::repair(it, &RepairOptions::default()).map(|it| it.len()),
        |it: &dyn Array| msg_arrow::stream(it, &CaptureOptions::default()).map(|it| it.len()),
        |it: &dyn Array| msg_arrow::tools(it, &ToolsOptions::default()).map(|it| it.len()),
    ] {
        assert_eq!(kernel(&column), Ok(rows.len()));
    }
}

#[test]
fn a_row_beyond_the_limit_is_an_error_and_not_an_allocation() {
    let large = format!(r#"[{{"role":"user","content":"{}"}}]"#, "x".repeat(1 << 20));
    let column = StringArray::from(vec![large.as_str(), r#"[{"role":"user","content":"hi"}]"#]);
    let read = ReadOptions::default().with_max_bytes(1000);
    let found = codes(&column, &CheckOptions::default().with_read(read));
    assert_eq!(found, [Some("document::too-large".to_owned()), None]);
}

#[test]
fn many_torn_rows_are_as_many_errors() {
    let column = StringArray::from(vec!["["; 20_000]);
    let found = codes(&column, &CheckOptions::default());
    assert!(found.iter().all(|it| it.as_deref() == Some("message::bad-json")));
}
