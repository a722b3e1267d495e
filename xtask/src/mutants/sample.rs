//! What became of sampled mutants, kept as a file a crate, and the table of `docs/internals/mutants.md` from these files.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{MOVES_CONTENT, folder};
use crate::Res;
use crate::workspace::Workspace;

/// What became of the sampled mutants of a crate, by their names; kept as `target/mutants/CRATE.json`.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Sample {
    pub(super) killed: Vec<String>,
    pub(super) unviable: Vec<String>,
    pub(super) survived: Vec<String>,
    /// Those of `survived` that still do, or are no longer there, by the last run with `--again`.
    #[serde(default)]
    pub(super) left: Option<Vec<String>>,
    #[serde(default)]
    pub(super) gone: Vec<String>,
}

/// What cargo-mutants says that became of each.
pub(super) fn tally(outcomes: &Value) -> Sample {
    let mut res = Sample::default();
    for outcome in outcomes["outcomes"].as_array().into_iter().flatten() {
        let name = outcome["scenario"]["Mutant"]["name"].as_str().unwrap_or("?").to_owned();
        match outcome["summary"].as_str() {
            Some("CaughtMutant" | "Timeout") => res.killed.push(name),
            Some("Unviable") => res.unviable.push(name),
            Some("MissedMutant") => res.survived.push(name),
            _ => {}
        }
    }
    res
}

fn file(krate: &str) -> Res<PathBuf> {
    Ok(folder()?.join(format!("{krate}.json")))
}

pub(super) fn write(krate: &str, sample: &Sample) -> Res {
    Ok(std::fs::write(file(krate)?, serde_json::to_string_pretty(sample)?)?)
}

pub(super) fn read(krate: &str) -> Res<Option<Sample>> {
    let path = file(krate)?;
    if !path.is_file() {
        return Ok(None);
    }
    Ok(Some(serde_json::from_str(&std::fs::read_to_string(path)?)?))
}

pub(super) fn table(workspace: &Workspace) -> Res {
    let mut page = String::from(TABLE);
    let mut missed = String::new();
    for (krate, files) in MOVES_CONTENT {
        let Some(it) = read(krate)? else { continue };
        let left = it.left.as_ref().unwrap_or(&it.survived);
        let viable = it.killed.len() + it.survived.len();
        let share = |survived: usize| 100.0 * (viable - survived) as f64 / viable.max(1) as f64;
        page.push_str(&format!(
            "| {krate} | `{}` | {viable} | {} ({:.0} %) | {} ({:.0} %) | {} |\n",
            files.join("`, `"),
            it.killed.len(),
            share(it.survived.len()),
            viable - left.len(),
            share(left.len()),
            it.unviable.len()
        ));
        left.iter().for_each(|it| missed.push_str(&format!("- `{}`\n", it.replace('`', "'"))));
    }
    page.push_str("\nThose that still survive:\n\n");
    page.push_str(if missed.is_empty() { "none.\n" } else { &missed });
    workspace.write_measured("docs/internals/mutants.md", &page)
}

const TABLE: &str = "\
| crate | files and folders of `src` | mutants | killed at first | killed or gone since | not compiled |
|---|---|---:|---:|---:|---:|
";
