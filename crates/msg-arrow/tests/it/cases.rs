//! The laws over `test_data/documents.jsonl`: documents of every kind, sound, broken and torn.

use arrow_array::StringArray;
use arrow_array::cast::AsArray as _;
use serde::Deserialize;

use crate::laws;

#[derive(Deserialize)]
struct Case {
    /// A row; null if it is absent.
    text: Option<String>,
}

fn documents() -> Vec<Option<String>> {
    let rows = testkit::rows!("documents.jsonl").rows();
    let case = |it: &testkit::Row| {
        serde_json::from_str::<Case>(&it.text).expect("because a row is a case").text
    };
    rows.iter().map(case).collect()
}

fn with_rows(law: impl Fn(laws::Rows<'_>)) {
    let documents = documents();
    let rows: Vec<_> = documents.iter().map(|it| it.as_ref().map(|it| it.as_bytes())).collect();
    assert!(rows.len() > 30, "few documents prove little");
    law(&rows);
}

#[test]
fn a_row_is_the_documents_line() {
    with_rows(laws::a_row_is_the_documents_line);
}

#[test]
fn slices_are_parts_of_the_whole() {
    with_rows(|rows| {
        for (from, len) in [(0, 3), (1, 7), (5, 0), (9, rows.len()), (3, 17)] {
            laws::slices_are_parts_of_the_whole(rows, from, len);
        }
    });
}

#[test]
fn layouts_change_nothing() {
    with_rows(laws::layouts_change_nothing);
}

#[test]
fn rows_are_counted() {
    with_rows(laws::rows_are_counted);
}

#[test]
fn summaries_merge() {
    with_rows(|rows| [0, 1, 7, 19, 400].into_iter().for_each(|at| laws::summaries_merge(rows, at)));
}

#[test]
fn a_change_names_its_tools() {
    let body = |tool: &str| {
        let tool = format!(r#"{{"type":"function","function":{{"name":"{tool}"}}}}"#);
        let messages = r#"[{"role":"user","content":"hi"}]"#;
        StringArray::from(vec![format!(
            r#"{{"model":"gpt-5","messages":{messages},"tools":[{tool}]}}"#
        )])
    };
    let said = msg_arrow::cache(&body("get_train"), &body("get_bus"), &Default::default()).unwrap();
    let changes = said.column_by_name("changes").unwrap().as_list::<i32>().value(0);
    let names = changes.as_struct().column_by_name("names").unwrap().as_list::<i32>().value(0);
    let names: Vec<_> = names.as_string::<i32>().iter().flatten().collect();
    assert_eq!(names, ["get_bus", "get_train"]);
}
