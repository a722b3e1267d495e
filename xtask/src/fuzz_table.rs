//! `cargo xtask fuzz table DIR`: `docs/internals/fuzz.md` from the logs of fuzzing, one `TARGET.log` each, as libFuzzer prints
//! them with `-print_final_stats=1`. A log may hold several runs, one after the other.

use std::collections::BTreeMap;
use std::path::Path;

use crate::Res;
use crate::workspace::Workspace;

/// What the runs of a target came to.
#[derive(Debug, Default, PartialEq, Eq)]
struct Tally {
    executions: u64,
    seconds: u64,
    findings: u64,
}

/// Writes the page.
pub(crate) fn write(workspace: &Workspace, folder: &str) -> Res {
    let mut rows = BTreeMap::new();
    for entry in std::fs::read_dir(workspace.root.join(folder))? {
        let path = entry?.path();
        if path.extension().is_some_and(|it| it == "log") {
            let text = String::from_utf8_lossy(&std::fs::read(&path)?).into_owned();
            rows.insert(stem(&path), tally(&text));
        }
    }
    let mut page = String::from(TABLE);
    for (target, it) in &rows {
        let (executions, minutes) = (it.executions, it.seconds as f64 / 60.0);
        page.push_str(&format!("| {target} | {executions} | {minutes:.0} | {} |\n", it.findings));
    }
    workspace.write_measured("docs/internals/fuzz.md", &page)
}

const TABLE: &str = "| target | executions | minutes | findings |\n|---|---:|---:|---:|\n";

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn tally(log: &str) -> Tally {
    let mut res = Tally::default();
    for line in log.lines() {
        if let Some(rest) = line.strip_prefix("stat::number_of_executed_units:") {
            res.executions += rest.trim().parse().unwrap_or(0);
        } else if let Some((_, rest)) =
            line.strip_prefix("Done ").and_then(|it| it.split_once(" in "))
        {
            let seconds = rest.split(' ').next().and_then(|it| it.parse().ok());
            res.seconds += seconds.unwrap_or(0);
        }
        res.findings += u64::from(line.contains("Test unit written to "));
    }
    res
}

#[cfg(test)]
mod tests {
    use super::{Tally, tally};

    #[test]
    fn runs_of_a_log_add_up() {
        let run =
            "#9 DONE cov: 1\nDone 40 runs in 61 second(s)\nstat::number_of_executed_units: 40\n";
        let crash = "==1== ERROR: libFuzzer\nTest unit written to ./crash-0a\nstat::number_of_executed_units: 2\n";
        let it = tally(&[run, run, crash].concat());
        assert_eq!(it, Tally { executions: 82, seconds: 122, findings: 1 });
    }
}
