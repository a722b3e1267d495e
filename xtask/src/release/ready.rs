//! What has to hold before a release: metadata, a clean tree, names that are free, one version.

use std::process::Command;

use toml::Table;

use super::packages;
use crate::workspace::Workspace;
use crate::{Res, sh, tidy};

// `cargo xtask release check`: whether the tree could be released as it is. It changes nothing.

/// A check of one release requirement.
type Check = fn(&Workspace) -> Res;

/// Runs every check and names the failures, so one run shows all of them.
pub(super) fn run(workspace: &Workspace, names: Check) -> Res {
    let checks: [(&str, Check); 8] = [
        ("clean tree", clean_tree),
        ("changelog", changelog),
        ("one version", check_versions),
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
    let version = super::show(super::current(&workspace.read("Cargo.toml")?)?);
    expect_changes(&workspace.read("CHANGELOG.md")?, &version)
}

/// Fails if the changelog says nothing about this version, neither under "Unreleased" nor under its number.
fn expect_changes(text: &str, version: &str) -> Res {
    let (_, after) = text.split_once("## Unreleased\n").ok_or("CHANGELOG.md has no Unreleased")?;
    let mut heads = after.split("\n## ");
    let is_empty = heads.next().unwrap_or_default().trim().is_empty();
    let is_dated = |it: &str| it.strip_prefix(version).is_some_and(|it| it.starts_with(" ("));
    if is_empty && !heads.next().is_some_and(is_dated) {
        return Err("there is nothing under \"Unreleased\" in CHANGELOG.md".into());
    }
    Ok(())
}

/// Checks the metadata that registries show: nothing missing, and no placeholder address.
fn metadata(workspace: &Workspace) -> Res {
    let mut missing = Vec::new();
    for package in packages(workspace)? {
        for member in ["description", "license", "repository", "homepage", "documentation"] {
            match package[member].as_str() {
                None | Some("") => missing.push(format!("{} has no {member}", package["name"])),
                Some(text) if text.contains(PLACEHOLDER) => {
                    // All crates take it from the workspace.
                    let line = format!("{member} in Cargo.toml is a placeholder");
                    if !missing.contains(&line) {
                        missing.push(line);
                    }
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

/// The host of placeholder addresses.
const PLACEHOLDER: &str = "//example.org/";

/// Needs a release to compare with, and cargo-semver-checks. Reports which is missing.
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

/// Uses a separate folder, because cargo caches registry contents and builds as unchanged.
fn publication(workspace: &Workspace) -> Res {
    let folder = std::env::temp_dir().join(format!("msg-publication-{}", std::process::id()));
    let target = folder.to_str().ok_or("the temporary folder is not UTF-8")?;
    let args = ["publish", "--workspace", "--dry-run", "--allow-dirty", "--target-dir", target];
    let res = sh::run(&workspace.root, &sh::cargo(), &args, &[]);
    // Removes the folder, even after a failure. A missing folder is not an error.
    let _ = std::fs::remove_dir_all(&folder);
    res
}

// Checks who owns the names to release, by asking each registry with its own client.
//
// A name must be free, unless the table marks it as published. Then it must exist, with an owner from the table.

const TABLE: &str = "xtask/names.toml";

/// A registry and its client.
struct Registry {
    name: &'static str,
    /// The command that shows a package, without the name.
    show: &'static [&'static str],
    /// The client's messages for a free name.
    free: &'static [&'static str],
    /// The command that lists the owners, if the client has one.
    owners: &'static [&'static str],
}

const REGISTRIES: &[Registry] = &[
    Registry {
        name: "crates.io",
        show: &["cargo", "info", "--quiet", "--registry", "crates-io"],
        free: &["could not find"],
        owners: &["cargo", "owner", "--list"],
    },
    Registry {
        name: "npm",
        show: &["npm", "view", "--json"],
        free: &["E404"],
        owners: &["npm", "owner", "ls"],
    },
    Registry {
        name: "PyPI",
        show: &["python3", "-m", "pip", "index", "versions"],
        free: &["No matching distribution found"],
        owners: &[],
    },
];

/// A registry's answer about a name.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    Free,
    Taken,
    /// No answer: the client or the network is missing.
    Unknown(String),
}

/// Fails for a name that someone else owns, and for one missing from the table.
pub(super) fn check(workspace: &Workspace) -> Res {
    let table: Table = workspace.read(TABLE)?.parse()?;
    let published = listed(&table, "published");
    let owners = listed(&table, "owners");
    let mut bad = Vec::new();
    for registry in REGISTRIES {
        let names = match registry.name {
            "crates.io" => super::published_crates(workspace)?,
            _ => vec![super::DISTRIBUTION.to_owned()],
        };
        for name in names {
            let is_ours = published.contains(&format!("{}:{name}", registry.name));
            match (registry.ask(&name), is_ours) {
                (Answer::Free, false) => println!("{}: {name} is free", registry.name),
                (Answer::Taken, true) if registry.is_owned(&name, &owners) => {
                    println!("{}: {name} is ours", registry.name);
                }
                (Answer::Free, true) => {
                    bad.push(format!("{}: {name} is called published and is not", registry.name));
                }
                (Answer::Taken, _) => {
                    bad.push(format!("{}: {name} is taken by another", registry.name));
                }
                (Answer::Unknown(reason), _) => {
                    println!("{}: {name} was not looked up: {reason}", registry.name);
                }
            }
        }
    }
    if bad.is_empty() { Ok(()) } else { Err(bad.join("\n").into()) }
}

fn listed(table: &Table, name: &str) -> Vec<String> {
    let list = table.get(name).and_then(|it| it.as_array());
    let texts = list.into_iter().flatten().filter_map(|it| it.as_str());
    texts.map(str::to_owned).collect()
}

impl Registry {
    fn ask(&self, name: &str) -> Answer {
        match said(self.show, name) {
            Err(error) => Answer::Unknown(error),
            Ok((true, _)) => Answer::Taken,
            Ok((false, text)) => self.refused(&text),
        }
    }

    /// Tells a free name from a network failure, because clients fail for both.
    fn refused(&self, text: &str) -> Answer {
        let last = || text.trim().lines().last().unwrap_or_default().to_owned();
        match self.free.iter().any(|it| text.contains(it)) {
            true => Answer::Free,
            false => Answer::Unknown(last()),
        }
    }

    fn is_owned(&self, name: &str, owners: &[String]) -> bool {
        if self.owners.is_empty() {
            return true;
        }
        let found = said(self.owners, name).map(|it| it.1).unwrap_or_default();
        let mut words = found.split_whitespace();
        words.any(|it| owners.iter().any(|owner| owner == it))
    }
}

/// Runs a command for a name: whether it succeeds, and its output. Runs outside the workspace, because cargo would find
/// our packages first.
fn said(command: &[&str], name: &str) -> Result<(bool, String), String> {
    let (program, args) = command.split_first().ok_or("no client")?;
    let output = Command::new(program)
        .args(args)
        .arg(name)
        .current_dir(std::env::temp_dir())
        .output()
        .map_err(|err| format!("{program} does not start: {err}"))?;
    let text = [output.stdout, output.stderr].concat();
    Ok((output.status.success(), String::from_utf8_lossy(&text).into_owned()))
}

// One version everywhere: the workspace, the packages that are workspaces of their own, and the npm package.

/// The files that state the version, each with the start of the line; the first match counts.
pub(super) const PLACES: &[(&str, &str)] = &[
    ("Cargo.toml", "version = \""),
    ("crates/msg-document/hooks/Cargo.toml", "version = \""),
    ("crates/msg-python/Cargo.toml", "version = \""),
    ("crates/msg-relay/gateway/Cargo.toml", "version = \""),
    ("crates/msg-wasm/Cargo.toml", "version = \""),
    ("crates/msg-wasm/npm/package.json", "  \"version\": \""),
];

/// Workspaces with a lock file that repeats the versions.
pub(super) const LOCKED: &[&str] = &[
    ".",
    "crates/msg-document/hooks",
    "crates/msg-python",
    "crates/msg-relay/gateway",
    "crates/msg-wasm",
];

/// The version in a text.
pub(super) fn stated<'a>(text: &'a str, head: &str) -> Option<&'a str> {
    text.lines().find_map(|it| it.strip_prefix(head))?.split('"').next()
}

/// Replaces the version in a text.
pub(super) fn with_version(text: &str, head: &str, old: &str, new: &str) -> String {
    text.replacen(&format!("{head}{old}\""), &format!("{head}{new}\""), 1)
}

/// Fails if two files state different versions.
pub(super) fn check_versions(workspace: &Workspace) -> Res {
    let mut found = Vec::new();
    for (path, head) in PLACES {
        let text = workspace.read(path)?;
        let version = stated(&text, head).ok_or_else(|| format!("{path} states no version"))?;
        found.push((path, version.to_owned()));
    }
    let root = &found[0].1;
    let other: Vec<_> = found.iter().filter(|it| it.1 != *root).collect();
    match other.as_slice() {
        [] => Ok(()),
        other => Err(format!("the workspace has version {root}, found {other:?}").into()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Answer, PLACES, REGISTRIES, check_versions, expect_changes, stated, with_version};
    use crate::workspace::Workspace;

    #[test]
    fn a_version_has_changes_before_and_after_it_is_dated() {
        let rows = [
            ("## Unreleased\n\n- new\n\n## 0.1.0 (2026-01-01)\n\n- old\n", "0.1.0", true),
            ("## Unreleased\n\n## 0.2.0 (2026-01-02)\n\n- new\n", "0.2.0", true),
            ("## Unreleased\n\n## 0.1.0 (2026-01-01)\n\n- old\n", "0.2.0", false),
            ("## Unreleased\n\n", "0.1.0", false),
        ];
        for (text, version, expected) in rows {
            assert_eq!(expect_changes(text, version).is_ok(), expected, "{text}");
        }
    }

    #[test]
    fn a_network_that_is_not_there_is_not_a_free_name() {
        let [crates, npm, pypi] = REGISTRIES else { panic!("three registries") };
        assert_eq!(crates.refused("error: could not find `x` in registry"), Answer::Free);
        assert_eq!(npm.refused("npm error code E404"), Answer::Free);
        assert_eq!(pypi.refused("ERROR: No matching distribution found for x"), Answer::Free);
        for it in REGISTRIES {
            let answer = it.refused("failed to resolve host\n");
            assert_eq!(answer, Answer::Unknown("failed to resolve host".to_owned()));
        }
    }

    #[test]
    fn all_packages_have_one_version() {
        let workspace = Workspace::find().expect("because the tests run in it");
        assert_eq!(check_versions(&workspace).map_err(|it| it.to_string()), Ok(()));
    }

    #[test]
    fn the_first_line_with_a_version_counts() {
        let head = PLACES[0].1;
        let text =
            "[package]\nversion = \"0.1.0\"\nx = { version = \"0.1.0\" }\nversion = \"0.1.0\"\n";
        assert_eq!(stated(text, head), Some("0.1.0"));
        let new = with_version(text, head, "0.1.0", "0.2.0");
        assert_eq!(new, text.replacen("0.1.0", "0.2.0", 1));
        assert_eq!(stated("[package]\n", head), None);
    }
}
