//! `cargo xtask fuzz`: runs the targets of `xtask/fuzz`, seeded with the case data of their crates and with the
//! folders that `--seeds` names.
//!
//! cargo-fuzz wants a nightly compiler for its coverage flags. Where none is installed, the stable one is told to
//! take them (`RUSTC_BOOTSTRAP`); nothing that is released is built so.

use std::path::PathBuf;

use crate::workspace::Workspace;
use crate::{Res, fuzz_table, sh};

/// The release profile of the program would take minutes to link each target.
const FUZZ_PROFILE: &[(&str, &str)] = &[
    ("CARGO_PROFILE_RELEASE_LTO", "false"),
    ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16"),
    ("CARGO_PROFILE_RELEASE_STRIP", "none"),
];

/// What is asked for on the command line.
#[derive(Debug)]
struct Order<'a> {
    target: Option<&'a str>,
    seconds: u32,
    seeds: Vec<&'a str>,
}

pub(crate) fn run(workspace: &Workspace, args: &[&str]) -> Res {
    if let ["table", folder] = args {
        return fuzz_table::write(workspace, folder);
    }
    let order = parse(args)?;
    check_tools(workspace)?;
    let targets = targets(workspace)?;
    let chosen: Vec<&str> = match order.target {
        Some(name) if targets.iter().any(|it| it == name) => vec![name],
        Some(name) => {
            return Err(format!(
                "unknown fuzz target {name:?}, expected one of {}",
                targets.join(", ")
            )
            .into());
        }
        None => targets.iter().map(String::as_str).collect(),
    };
    for name in chosen {
        fuzz(workspace, name, &order)?;
    }
    Ok(())
}

fn parse<'a>(args: &[&'a str]) -> Res<Order<'a>> {
    let mut res = Order { target: None, seconds: 60, seeds: Vec::new() };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match *arg {
            "--seconds" => {
                let n = args.next().ok_or("--seconds needs a number")?;
                res.seconds = n.parse().map_err(|_| format!("--seconds: {n:?} is not a number"))?;
            }
            "--seeds" => res.seeds.push(args.next().ok_or("--seeds needs a folder")?),
            name if !name.starts_with('-') && res.target.is_none() => res.target = Some(name),
            other => crate::no_more(&[other])?,
        }
    }
    Ok(res)
}

fn check_tools(workspace: &Workspace) -> Res {
    if !sh::succeeds(&workspace.root, "cargo", &["fuzz", "--version"]) {
        return Err("fuzzing needs cargo-fuzz: cargo install cargo-fuzz".into());
    }
    Ok(())
}

/// Whether a nightly compiler is installed beside the one of the project.
fn has_nightly(workspace: &Workspace) -> bool {
    sh::succeeds(&workspace.root, "cargo", &["+nightly", "--version"])
}

/// The targets, by name.
fn targets(workspace: &Workspace) -> Res<Vec<String>> {
    let mut res = Vec::new();
    for file in workspace.files(&["rs"])? {
        if let Some(name) =
            file.path.strip_prefix("xtask/fuzz/fuzz_targets/").and_then(|it| it.strip_suffix(".rs"))
        {
            res.push(name.to_owned());
        }
    }
    Ok(res)
}

fn fuzz(workspace: &Workspace, name: &str, order: &Order<'_>) -> Res {
    println!("== fuzz {name} for {} s", order.seconds);
    let fuzz_dir = workspace.root.join("xtask/fuzz");
    let corpus = fuzz_dir.join("corpus").join(name);
    std::fs::create_dir_all(&corpus)?;
    // The first folder receives what is found, the others are read only.
    let folders: Vec<String> = std::iter::once(corpus)
        .chain(seeds(workspace, name)?)
        .map(|it| it.display().to_string())
        .collect();
    let named = order.seeds.iter().map(|it| std::fs::canonicalize(workspace.root.join(it)));
    let named =
        named.map(|it| it.map(|it| it.display().to_string())).collect::<Result<Vec<_>, _>>()?;
    let limit = format!("-max_total_time={}", order.seconds);
    let nightly = has_nightly(workspace);
    let mut args = if nightly { vec!["+nightly"] } else { Vec::new() };
    args.extend(["fuzz", "run", "--fuzz-dir", ".", "--features", "link", name]);
    args.extend(folders.iter().chain(&named).map(String::as_str));
    args.extend(["--", &limit, "-timeout=10", "-rss_limit_mb=2048", "-print_final_stats=1"]);
    // cargo sets these for its children, and they would point the nightly cargo at the stable one.
    let nightly_env = [("RUSTUP_TOOLCHAIN", "nightly"), ("CARGO", "cargo")];
    let stable_env = [("RUSTC_BOOTSTRAP", "1")];
    let compiler = if nightly { &nightly_env[..] } else { &stable_env };
    sh::run(&fuzz_dir, "cargo", &args, &[compiler, FUZZ_PROFILE].concat())
}

/// The case folders of the crates whose laws the target takes in.
fn seeds(workspace: &Workspace, name: &str) -> Res<Vec<PathBuf>> {
    let source = workspace.read(&format!("xtask/fuzz/fuzz_targets/{name}.rs"))?;
    let mut res = Vec::new();
    for part in source.split("../../../crates/").skip(1) {
        let (krate, _) =
            part.split_once('/').ok_or_else(|| format!("{name}.rs: a path without a crate"))?;
        let folder = workspace.root.join("crates").join(krate).join("test_data");
        if folder.is_dir() && !res.contains(&folder) {
            res.push(folder);
        }
    }
    Ok(res)
}
