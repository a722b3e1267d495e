//! `test_data/findings.jsonl`: defects that users met, a case each, named by area and number (`f1_1`). Expected is how the run
//! ended, what it wrote, and the codes of what it said; sentences are free to change.
//!
//! `codes_only` leaves out what was written, where it holds the time.

use std::fs;

use serde::Deserialize;

use super::{program, stderr, stdout};

#[derive(Deserialize)]
struct Case {
    name: String,
    args: Vec<String>,
    #[serde(default)]
    input: String,
    /// The name of the file that holds the input, where it is one that the command is given.
    file: Option<String>,
    #[serde(default)]
    codes_only: bool,
}

/// As much is shown of what was written.
const SHOWN: usize = 700;

#[test]
fn findings_stay_mended() {
    testkit::rows!("findings.jsonl").check_lines(|row| {
        let case: Case = serde_json::from_str(&row.text).expect("because a row is a case");
        let folder = tempfile::tempdir().expect("because there is room for one");
        if let Some(file) = &case.file {
            fs::write(folder.path().join(file), &case.input).expect("because there is room");
        }
        let mut run = program();
        let output = run.args(&case.args).current_dir(folder.path()).write_stdin(case.input);
        let output = output.output().expect("because the program starts");
        let (out, err) = (stdout(&output), stderr(&output));
        let is_check = case.args[0] == "check" && !case.args.iter().any(|it| it == "--json");
        let written = match is_check || case.codes_only {
            true => codes(&out),
            false => out.chars().take(SHOWN).collect::<String>().replace('\n', "⏎"),
        };
        let status = output.status.code().expect("because nothing kills it");
        format!("{}: {status} {written} | {}", case.name, codes(&err))
    });
}

/// The codes of the findings in a text for people, in order, each with its severity.
fn codes(text: &str) -> String {
    let heads = text.lines().filter_map(|it| it.split_once("]: ")).map(|it| it.0);
    let heads: Vec<_> = heads.filter(|it| it.contains('[') && !it.contains(' ')).collect();
    heads.join("], ") + if heads.is_empty() { "" } else { "]" }
}
