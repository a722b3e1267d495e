//! `cargo xtask mutants`: cargo-mutants over the code that moves or drops content, a sample of it or what changed, and
//! the table of `docs/mutants.md` from what it found.
//!
//! ```text
//! cargo xtask mutants --sample 30               every crate of the table, 30 mutants each
//! cargo xtask mutants msg-chainast --sample 60  one crate
//! cargo xtask mutants --sample 30 --offset 7    other mutants: those that begin with the eighth
//! cargo xtask mutants --changed main            what differs from a branch, in any file
//! cargo xtask mutants table                     docs/mutants.md from the runs under target/mutants
//! ```

use std::path::PathBuf;

use serde_json::Value;

use crate::workspace::Workspace;
use crate::{Res, sh};

/// The code of which nothing may get lost unseen, by crate.
const MOVES_CONTENT: &[(&str, &[&str])] = &[
    (
        "msg-json",
        &["raw.rs", "reader.rs", "scan.rs", "string.rs", "tokens.rs", "write.rs", "writer.rs"],
    ),
    ("msg-core", &["native", "part", "truncate.rs"]),
    ("msg-forms", &["agent", "lower", "plain", "turn"]),
    ("msg-wire", &["codec", "stream"]),
    ("msg-openai", &["chat", "responses", "stream", "events", "head"]),
    ("msg-anthropic", &["read", "write", "stream", "events", "head"]),
    ("msg-gemini", &["read", "write", "stream", "events", "head"]),
    ("msg-chainast", &["repair", "edit", "conform", "cut"]),
    ("msg-compact", &["state", "policy", "engine"]),
    ("msg-document", &["convert", "fit", "layout", "formats", "text_calls"]),
    ("msg-session", &["edit.rs", "joined.rs", "link", "dialects", "frame", "write"]),
    ("msg-xml", &["block", "text", "dialect", "render.rs", "value.rs", "passthrough.rs"]),
    ("msg-file", &["syntax", "model", "history", "append", "edit", "store", "render.rs"]),
];

/// Crates whose tests see the code of another one: the laws of JSON and of messages are asked over forms and chains,
/// `msg-wire` has no format of its own, heads of requests are converted and compaction is asked for by `msg-document`.
const TESTED_BY: &[(&str, &[&str])] = &[
    ("msg-json", &["msg-json", "msg-core", "msg-forms"]),
    ("msg-core", &["msg-core", "msg-forms", "msg-chainast"]),
    ("msg-wire", &["msg-wire", "msg-openai", "msg-anthropic", "msg-gemini"]),
    ("msg-openai", &["msg-openai", "msg-document"]),
    ("msg-anthropic", &["msg-anthropic", "msg-document"]),
    ("msg-gemini", &["msg-gemini", "msg-document"]),
    ("msg-compact", &["msg-compact", "msg-document"]),
];

/// What no test can see: checks that are compiled for tests only, and what is printed for a person.
const LEFT_OUT: &[&str] = &["assert_sizes", "fmt::Debug"];

/// What is asked for on the command line.
#[derive(Default)]
struct Order<'a> {
    krate: Option<&'a str>,
    sample: Option<usize>,
    offset: usize,
    changed: Option<&'a str>,
}

pub(crate) fn run(workspace: &Workspace, args: &[&str]) -> Res {
    if args == ["table"] {
        return table(workspace);
    }
    let order = parse(args)?;
    install(workspace)?;
    if let Some(base) = order.changed {
        return changed(workspace, base);
    }
    for (krate, files) in MOVES_CONTENT {
        if order.krate.is_none_or(|it| it == *krate) {
            sampled(workspace, krate, files, &order)?;
        }
    }
    table(workspace)
}

fn parse<'a>(args: &[&'a str]) -> Res<Order<'a>> {
    let mut res = Order::default();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match *arg {
            "--sample" => res.sample = Some(number(arg, args.next())?),
            "--offset" => res.offset = number(arg, args.next())?,
            "--changed" => res.changed = Some(args.next().ok_or("--changed needs a branch")?),
            name if MOVES_CONTENT.iter().any(|it| it.0 == name) => res.krate = Some(name),
            other => crate::no_more(&[other])?,
        }
    }
    Ok(res)
}

fn number(of: &str, value: Option<&&str>) -> Res<usize> {
    let value = value.ok_or_else(|| format!("{of} needs a number"))?;
    Ok(value.parse().map_err(|_| format!("{of}: {value:?} is not a number"))?)
}

fn folder() -> Res<PathBuf> {
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    Ok(std::path::absolute(target)?.join("mutants"))
}

/// The program, installed under `target/` if it is not there.
fn install(workspace: &Workspace) -> Res {
    let root = folder()?.join("tool").display().to_string();
    if sh::succeeds(&workspace.root, &program()?, &["mutants", "--version"]) {
        return Ok(());
    }
    sh::run(
        &workspace.root,
        &sh::cargo(),
        &["install", "--locked", "--root", &root, "cargo-mutants"],
        &[],
    )
}

fn program() -> Res<String> {
    Ok(folder()?.join("tool/bin/cargo-mutants").display().to_string())
}

/// All mutants of a crate's files, or every so manieth of them.
fn sampled(workspace: &Workspace, krate: &str, files: &[&str], order: &Order<'_>) -> Res {
    let files: Vec<String> = files.iter().map(|it| pattern(krate, it)).collect();
    let mut what = vec!["--package", krate];
    files.iter().for_each(|it| what.extend(["--file", it]));
    LEFT_OUT.iter().for_each(|it| what.extend(["--exclude-re", it]));
    let total = list(workspace, &what)?.lines().count();
    let every = (total / order.sample.unwrap_or(total).max(1)).max(1);
    let shard = format!("{}/{every}", order.offset % every);
    let sample = ["--shard", &shard, "--sharding", "round-robin", "--no-shuffle"];
    mutate(workspace, krate, &what, &sample)
}

fn list(workspace: &Workspace, what: &[&str]) -> Res<String> {
    sh::read(&workspace.root, &program()?, &[&["mutants", "--list"], what].concat())
}

/// What cargo-mutants calls a file, or a folder and the file of the same name that opens it.
fn pattern(krate: &str, name: &str) -> String {
    let rest = if name.ends_with(".rs") { "" } else { "{.rs,/**/*.rs}" };
    format!("crates/{krate}/src/{name}{rest}")
}

fn changed(workspace: &Workspace, base: &str) -> Res {
    let diff = sh::read(&workspace.root, "git", &["diff", base])?;
    let path = folder()?.join("changed.diff");
    std::fs::create_dir_all(folder()?)?;
    std::fs::write(&path, diff)?;
    mutate(workspace, "changed", &["--in-diff", &path.display().to_string()], &[])
}

/// Asks the tests of each mutant, and of those that survive the examples in the documentation and the crates of `TESTED_BY`
/// too, which take longer to build than all the rest. Mutants that survive are no failure of the task: the table says them.
fn mutate(workspace: &Workspace, name: &str, what: &[&str], sample: &[&str]) -> Res {
    let output = folder()?.join(name);
    let _ = std::fs::remove_dir_all(&output);
    std::fs::create_dir_all(&output)?;
    let place = output.display().to_string();
    let how =
        ["mutants", "--output", &place, "--baseline", "skip", "--timeout", "60", "--jobs", "2"];
    let quick = ["--cargo-test-arg=--lib", "--cargo-test-arg=--tests"];
    let first = sh::run(&workspace.root, &program()?, &[&how, what, sample, &quick].concat(), &[]);
    let Some(found) = read(name, LAST)? else { return first };
    if found.missed.is_empty() {
        return Ok(());
    }
    // What is called caught is not tried again.
    let all = list(workspace, what)?;
    let others = all.lines().filter(|it| found.missed.iter().all(|missed| missed != it));
    let others: String = others.flat_map(|it| [it, "\n"]).collect();
    std::fs::write(output.join(LAST).join("previously_caught.txt"), others)?;
    let by = TESTED_BY.iter().find(|it| it.0 == name).map_or(&[][..], |it| it.1);
    let by: Vec<&str> = by.iter().flat_map(|it| ["--test-package", *it]).collect();
    // It fails where some survive once more.
    let _ = sh::run(&workspace.root, &program()?, &[&how, what, &["--iterate"], &by].concat(), &[]);
    Ok(())
}

/// The folders that cargo-mutants leaves of the run before the last one, and of the last one.
const FIRST: &str = "mutants.out.old";
const LAST: &str = "mutants.out";

fn outcomes(name: &str, run: &str) -> Res<PathBuf> {
    Ok(folder()?.join(name).join(run).join("outcomes.json"))
}

/// What became of the mutants of a crate.
#[derive(Default)]
struct Tally {
    killed: usize,
    missed: Vec<String>,
    unviable: usize,
}

fn table(workspace: &Workspace) -> Res {
    let mut page = String::from(TABLE);
    let mut missed = String::new();
    for (krate, files) in MOVES_CONTENT {
        let Some(it) = result(krate)? else { continue };
        let viable = it.killed + it.missed.len();
        let share = 100.0 * it.killed as f64 / viable.max(1) as f64;
        let files = files.join("`, `");
        page.push_str(&format!(
            "| {krate} | `{files}` | {viable} | {} | {share:.0} % | {} |\n",
            it.killed, it.unviable
        ));
        it.missed.iter().for_each(|it| missed.push_str(&format!("- `{}`\n", it.replace('`', "'"))));
    }
    page.push_str("\nThose that survived:\n\n");
    page.push_str(if missed.is_empty() { "none.\n" } else { &missed });
    workspace.write_measured("docs/mutants.md", &page)
}

/// What the runs over a crate found: the first one's killed, and what became of its survivors in the second.
fn result(krate: &str) -> Res<Option<Tally>> {
    let Some(last) = read(krate, LAST)? else { return Ok(None) };
    let Some(first) = read(krate, FIRST)? else { return Ok(Some(last)) };
    Ok(Some(Tally { killed: first.killed + last.killed, unviable: first.unviable, ..last }))
}

fn read(krate: &str, run: &str) -> Res<Option<Tally>> {
    let path = outcomes(krate, run)?;
    if !path.is_file() {
        return Ok(None);
    }
    Ok(Some(tally(&serde_json::from_str(&std::fs::read_to_string(path)?)?)))
}

const TABLE: &str = "\
| crate | files and folders of `src` | mutants | killed | share | not compiled |
|---|---|---:|---:|---:|---:|
";

fn tally(outcomes: &Value) -> Tally {
    let mut res = Tally::default();
    for outcome in outcomes["outcomes"].as_array().into_iter().flatten() {
        match outcome["summary"].as_str() {
            Some("CaughtMutant" | "Timeout") => res.killed += 1,
            Some("Unviable") => res.unviable += 1,
            Some("MissedMutant") => {
                let name = outcome["scenario"]["Mutant"]["name"].as_str().unwrap_or("?");
                res.missed.push(name.to_owned());
            }
            _ => {}
        }
    }
    res
}
