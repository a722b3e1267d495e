//! A column of logs as a table of findings: how often each code occurs, and in how many rows.
//!
//! `cargo run -p msg-arrow --example findings_table`

#![expect(clippy::disallowed_macros, reason = "an example shows what it found")]

use std::collections::BTreeMap;

use arrow_array::cast::AsArray;
use arrow_array::{Array, StringViewArray};
use msg_document::CheckOptions;

const ROWS: [Option<&str>; 5] = [
    Some(r#"[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]"#),
    Some(r#"[{"role":"user","content":"hi"},{"role":"tool","tool_call_id":"c1","content":"42"}]"#),
    Some(r#"[{"role":"assistant","content":"hello"},{"role":"tool","content":"42"}]"#),
    None,
    Some("[{"),
];

fn main() -> Result<(), msg_arrow::Error> {
    let column = StringViewArray::from(ROWS.to_vec());
    let checked = msg_arrow::check(&column, &CheckOptions::default())?;
    let member = |name| checked.column_by_name(name).expect("because CHECK has it");
    let found = member("diagnostics").as_list::<i32>();
    let codes = found.values().as_struct().column_by_name("code").expect("because it is there");
    let mut counts = BTreeMap::new();
    for code in codes.as_string::<i32>().iter().flatten() {
        *counts.entry(code).or_insert(0) += 1;
    }
    for (code, n) in &counts {
        println!("{n:3} {code}");
    }
    let (ok, errors) = (member("ok").as_boolean(), member("error"));
    let (nulls, torn) = (checked.null_count(), errors.len() - errors.null_count());
    println!("{} rows: {} ok, {torn} not read, {nulls} null", checked.len(), ok.true_count());
    assert_eq!((ok.true_count(), torn, nulls), (1, 1, 1));
    assert_eq!(counts["chain::orphan-tool-result"], 2);
    Ok(())
}
