//! `cargo xtask release check`: whether the tree could be released as it is. It changes nothing.

use super::{packages, versions};
use crate::workspace::Workspace;
use crate::{Res, sh, tidy};

/// Whether one thing is as a release wants it.
type Check = fn(&Workspace) -> Res;

/// Runs every check and names those that fail, so that one run shows everything.
pub(super) fn run(workspace: &Workspace, names: Check) -> Res {
    let checks: [(&str, Check); 8] = [
        ("clean tree", clean_tree),
        ("changelog", changelog),
        ("one version", versions::check),
        ("metadata", metadata),
        ("names", names),
        ("tidy", |it| tidy::run(it, &[])),
        ("compatible with the last release", semver),
        ("publication of every crate, dry run", publication),
    ];
    let mut failed = Vec::new();
    for (name, check) in checks {
        println!("== {name}");
        if let Err(err) = check(workspace) {
            eprintln!("{err}");
            failed.push(name);
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(format!("not ready: {}", failed.join(", ")).into()) }
}

fn clean_tree(workspace: &Workspace) -> Res {
    let changed = sh::read(&workspace.root, "git", &["status", "--porcelain"])?;
    if changed.is_empty() {
        return Ok(());
    }
    Err(format!("these files are not committed:\n{changed}").into())
}

fn changelog(workspace: &Workspace) -> Res {
    let text = workspace.read("CHANGELOG.md")?;
    let (_, after) = text.split_once("## Unreleased\n").ok_or("CHANGELOG.md has no Unreleased")?;
    if after.split("\n## ").next().unwrap_or_default().trim().is_empty() {
        return Err("there is nothing under \"Unreleased\" in CHANGELOG.md".into());
    }
    Ok(())
}

/// What the registries show of every package: nothing is missing, and no address is a placeholder.
fn metadata(workspace: &Workspace) -> Res {
    let mut missing = Vec::new();
    for package in packages(workspace)? {
        for member in ["description", "license", "repository", "homepage", "documentation"] {
            match package[member].as_str() {
                None | Some("") => missing.push(format!("{} has no {member}", package["name"])),
                Some(text) if text.contains(PLACEHOLDER) => {
                    missing.push(format!("{member} of {} is a placeholder", package["name"]));
                }
                Some(_) => {}
            }
        }
    }
    for (path, member) in [
        ("crates/msg-python/pyproject.toml", "Source = \""),
        ("crates/msg-wasm/npm/package.json", "\"repository\": "),
    ] {
        let text = workspace.read(path)?;
        match text.lines().find(|it| it.trim_start().starts_with(member)) {
            None => missing.push(format!("{path} has no address of the source")),
            Some(line) if line.contains(PLACEHOLDER) => {
                missing.push(format!("the address in {path} is a placeholder"));
            }
            Some(_) => {}
        }
    }
    match missing.is_empty() {
        true => Ok(()),
        false => Err(missing.join("\n").into()),
    }
}

/// The host of addresses that are not known yet.
const PLACEHOLDER: &str = "//example.org/";

/// Needs a release to compare with, and cargo-semver-checks; says which of them is missing.
fn semver(workspace: &Workspace) -> Res {
    let tags = sh::read(&workspace.root, "git", &["tag", "--list", "v*", "--sort=-v:refname"])?;
    let Some(last) = tags.lines().next() else {
        println!("skipped: no version has been released");
        return Ok(());
    };
    let cargo = sh::cargo();
    if !sh::succeeds(&workspace.root, &cargo, &["semver-checks", "--version"]) {
        return Err("cargo-semver-checks is missing: cargo install cargo-semver-checks".into());
    }
    sh::run(&workspace.root, &cargo, &["semver-checks", "--baseline-rev", last], &[])
}

/// In a folder of its own: cargo takes what a registry gave once, and what was built of it, for unchanged.
fn publication(workspace: &Workspace) -> Res {
    let folder = std::env::temp_dir().join(format!("msg-publication-{}", std::process::id()));
    let target = folder.to_str().ok_or("the temporary folder is not UTF-8")?;
    let args = ["publish", "--workspace", "--dry-run", "--allow-dirty", "--target-dir", target];
    let res = sh::run(&workspace.root, &sh::cargo(), &args, &[]);
    // Whatever happened, nothing is left over; a folder that was never made is not an error.
    let _ = std::fs::remove_dir_all(&folder);
    res
}
