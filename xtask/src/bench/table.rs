//! `cargo xtask bench table`: what the last run of the benches measured, as Markdown tables, the way
//! `docs/benchmarks.md` has them. One table a group.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::Res;
use crate::workspace::Workspace;

/// One measured function.
struct Row {
    name: String,
    nanoseconds: f64,
    /// Bytes of an iteration, where the bench says so.
    bytes: Option<f64>,
}

/// Prints the tables of all groups, or of those whose name begins with `prefix`.
pub(super) fn print(workspace: &Workspace, prefix: &str) -> Res {
    let mut groups: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    collect(&folder(workspace), &mut groups)?;
    groups.retain(|group, _| group.starts_with(prefix));
    if groups.is_empty() {
        return Err("nothing was measured: cargo xtask bench".into());
    }
    for (group, mut rows) in groups {
        rows.sort_by_key(|it| natural(&it.name));
        println!("{}", table(&group, &rows));
    }
    Ok(())
}

/// Where criterion keeps what it measured.
fn folder(workspace: &Workspace) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    target.unwrap_or_else(|| workspace.root.join("target")).join("criterion")
}

fn collect(folder: &Path, groups: &mut BTreeMap<String, Vec<Row>>) -> Res {
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(()) };
    for entry in entries {
        let path = entry?.path();
        if path.file_name().is_some_and(|it| it == "new") {
            let (group, row) = row(&path)?;
            groups.entry(group).or_default().push(row);
        } else if path.is_dir() {
            collect(&path, groups)?;
        }
    }
    Ok(())
}

fn row(folder: &Path) -> Res<(String, Row)> {
    let read = |name: &str| -> Res<Value> {
        Ok(serde_json::from_slice(&std::fs::read(folder.join(name))?)?)
    };
    let (about, measured) = (read("benchmark.json")?, read("estimates.json")?);
    let text = |name: &str| about[name].as_str().unwrap_or_default();
    let name = [text("function_id"), text("value_str")];
    let name = name.into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join("/");
    let nanoseconds = measured["median"]["point_estimate"].as_f64();
    let nanoseconds = nanoseconds.ok_or("an estimate has no median")?;
    let bytes = about["throughput"]["Bytes"].as_f64();
    Ok((text("group_id").to_owned(), Row { name, nanoseconds, bytes }))
}

/// Numbers in a name sort as numbers.
fn natural(name: &str) -> Vec<(u64, String)> {
    name.split_inclusive(|c: char| !c.is_ascii_digit())
        .map(|it| {
            let digits = it.trim_end_matches(|c: char| !c.is_ascii_digit());
            (digits.parse().unwrap_or(0), it.to_owned())
        })
        .collect()
}

fn table(group: &str, rows: &[Row]) -> String {
    let has_bytes = rows.iter().any(|it| it.bytes.is_some());
    let mut res = format!("**{group}**\n\n| what | time |");
    res.push_str(if has_bytes { " MB/s |\n|---|---:|---:|\n" } else { "\n|---|---:|\n" });
    for row in rows {
        res.push_str(&format!("| {} | {} |", row.name, time(row.nanoseconds)));
        if has_bytes {
            let speed = row.bytes.map(|it| format!("{:.0}", it / row.nanoseconds * 1e3));
            res.push_str(&format!(" {} |", speed.unwrap_or_default()));
        }
        res.push('\n');
    }
    res
}

/// Three digits, in the unit that suits.
fn time(nanoseconds: f64) -> String {
    let (value, unit) = match nanoseconds {
        n if n < 1e3 => (n, "ns"),
        n if n < 1e6 => (n / 1e3, "µs"),
        n if n < 1e9 => (n / 1e6, "ms"),
        n => (n / 1e9, "s"),
    };
    let digits = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::{natural, time};

    #[test]
    fn times_have_three_digits() {
        assert_eq!(time(1.234), "1.23 ns");
        assert_eq!(time(98_765.0), "98.8 µs");
        assert_eq!(time(123_456_789.0), "123 ms");
    }

    #[test]
    fn numbers_sort_as_numbers() {
        let mut names = ["msg/100", "msg/20", "a/3"];
        names.sort_by_key(|it| natural(it));
        assert_eq!(names, ["a/3", "msg/20", "msg/100"]);
    }
}
