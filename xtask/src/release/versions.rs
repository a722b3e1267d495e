//! One version everywhere: the workspace, the packages that are workspaces of their own, and the npm package.

use crate::Res;
use crate::workspace::Workspace;

/// A file that states the version, and the beginning of the line that does; its first such line counts.
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

/// The version that a text states.
pub(super) fn stated<'a>(text: &'a str, head: &str) -> Option<&'a str> {
    text.lines().find_map(|it| it.strip_prefix(head))?.split('"').next()
}

/// The text with another version.
pub(super) fn with_version(text: &str, head: &str, old: &str, new: &str) -> String {
    text.replacen(&format!("{head}{old}\""), &format!("{head}{new}\""), 1)
}

/// Fails where two files state two versions.
pub(super) fn check(workspace: &Workspace) -> Res {
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
    use super::{PLACES, check, stated, with_version};
    use crate::workspace::Workspace;

    #[test]
    fn all_packages_have_one_version() {
        let workspace = Workspace::find().expect("because the tests run in it");
        assert_eq!(check(&workspace).map_err(|it| it.to_string()), Ok(()));
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
