//! `cargo xtask fuzz`: runs the targets of `xtask/fuzz`, seeded with the case data of their crates.

use std::path::PathBuf;

use crate::workspace::Workspace;
use crate::{Res, sh};

const TOOLCHAIN: &str = "+nightly";

pub(crate) fn run(workspace: &Workspace, args: &[&str]) -> Res {
    let (target, seconds) = parse(args)?;
    check_tools(workspace)?;
    let targets = targets(workspace)?;
    let chosen: Vec<&str> = match target {
        Some(name) if targets.iter().any(|it| it == name) => vec![name],
        Some(name) => {
            return Err(format!(
                "there is no fuzz target {name:?}; there are {}",
                targets.join(", ")
            )
            .into());
        }
        None => targets.iter().map(String::as_str).collect(),
    };
    for name in chosen {
        fuzz(workspace, name, seconds)?;
    }
    Ok(())
}

fn parse<'a>(args: &[&'a str]) -> Res<(Option<&'a str>, u32)> {
    let (mut target, mut seconds) = (None, 60);
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match *arg {
            "--seconds" => {
                let n = args.next().ok_or("--seconds needs a number")?;
                seconds = n.parse().map_err(|_| format!("--seconds: {n:?} is not a number"))?;
            }
            name if !name.starts_with('-') && target.is_none() => target = Some(name),
            other => crate::no_more(&[other])?,
        }
    }
    Ok((target, seconds))
}

fn check_tools(workspace: &Workspace) -> Res {
    if !sh::succeeds(&workspace.root, "cargo", &[TOOLCHAIN, "--version"]) {
        return Err("fuzzing needs a nightly compiler: rustup toolchain install nightly".into());
    }
    if !sh::succeeds(&workspace.root, "cargo", &[TOOLCHAIN, "fuzz", "--version"]) {
        return Err("fuzzing needs cargo-fuzz: cargo install cargo-fuzz".into());
    }
    Ok(())
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

fn fuzz(workspace: &Workspace, name: &str, seconds: u32) -> Res {
    println!("== fuzz {name} for {seconds} s");
    let fuzz_dir = workspace.root.join("xtask/fuzz");
    let corpus = fuzz_dir.join("corpus").join(name);
    std::fs::create_dir_all(&corpus)?;
    // The first folder receives what is found, the others are read only.
    let folders: Vec<String> = std::iter::once(corpus)
        .chain(seeds(workspace, name)?)
        .map(|it| it.display().to_string())
        .collect();
    let limit = format!("-max_total_time={seconds}");
    let mut args = vec![TOOLCHAIN, "fuzz", "run", "--fuzz-dir", ".", name];
    args.extend(folders.iter().map(String::as_str));
    args.extend(["--", &limit, "-timeout=10", "-rss_limit_mb=2048", "-print_final_stats=1"]);
    // cargo sets these for its children, and they would point the nightly cargo at the stable one.
    let clean = [("RUSTUP_TOOLCHAIN", "nightly"), ("CARGO", "cargo")];
    sh::run(&fuzz_dir, "cargo", &args, &clean)
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
