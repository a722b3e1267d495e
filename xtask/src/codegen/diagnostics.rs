//! Writes `docs/diagnostics.md` from the crates' tables of codes, each code with the first case that
//! produces it.

use std::fmt::Write as _;

use super::Output;
use crate::Res;
use crate::tidy::codes::{self, Row};
use crate::workspace::{File, Workspace};

const HEAD: &str = "\
# Diagnostics

What `msg` and the libraries report. Codes are stable: a code keeps its meaning, and one that is no
longer used is not given another. The rule leads to the page of its area in [formats](formats/README.md);
the case is the first test case in which the code appears.

This page is written by `cargo xtask codegen` from the `src/codes.rs` of each crate.
";

pub(crate) fn generate(workspace: &Workspace) -> Res<Vec<Output>> {
    let mut rows = codes::rows(&workspace.files(&["rs"])?)?;
    rows.sort_by(|a, b| a.code.cmp(&b.code));
    let cases = workspace.files(&["expect", "jsonl"])?;
    let mut text = HEAD.to_owned();
    let mut area = "";
    for row in &rows {
        let (row_area, _) =
            row.code.split_once("::").ok_or_else(|| format!("{} has no area", row.code))?;
        if row_area != area {
            area = row_area;
            write!(
                text,
                "\n## {area}\n\n| code | severity | rule | what it means | case |\n|---|---|---|---|---|\n"
            )?;
        }
        push_row(&mut text, row, first_case(&cases, &row.code))?;
    }
    Ok(vec![Output { path: "docs/diagnostics.md".to_owned(), text }])
}

fn push_row(text: &mut String, row: &Row, case: Option<&str>) -> Res {
    let Row { code, severity, rule, summary, .. } = row;
    let case = case.map_or_else(String::new, |it| format!("[{}](../{it})", file_name(it)));
    writeln!(
        text,
        "| `{code}` | {severity} | {rule} | {} | {case} |",
        summary.replace('|', "\\|")
    )?;
    Ok(())
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The first case file, by path, in which the whole code appears.
fn first_case<'a>(cases: &'a [File], code: &str) -> Option<&'a str> {
    let is_whole = |text: &str| {
        text.match_indices(code).any(|(at, _)| {
            let after = text[at + code.len()..].chars().next();
            !after.is_some_and(|it| it.is_ascii_alphanumeric() || it == '-')
        })
    };
    let found = cases.iter().find(|it| it.path.contains("/test_data/") && is_whole(&it.text))?;
    Some(&found.path)
}
