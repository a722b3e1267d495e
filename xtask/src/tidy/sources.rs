//! What each source file has at its top, and what none has anywhere.

use super::House;
use crate::Res;

/// A file opens with `//!`, so that a stranger knows where they are.
pub(crate) fn module_docs(house: &House<'_>, breaches: &mut Vec<String>) -> Res {
    for file in &house.sources {
        if !file.text.starts_with("//! ") {
            breaches.push(format!("{} does not begin with `//! ` and what it is for", file.path));
        }
    }
    Ok(())
}

/// Nothing is left for later, nothing is switched off.
pub(crate) fn marks(house: &House<'_>, breaches: &mut Vec<String>) -> Res {
    // Put together here, or this file would be a breach itself.
    let marks = [
        concat!("to", "do!("),
        concat!("un", "implemented!("),
        concat!("db", "g!("),
        concat!("#[", "ignore"),
        concat!("FIX", "ME"),
        concat!("TO", "DO:"),
        concat!("not yet ", "implemented"),
    ];
    for file in &house.sources {
        for (at, line) in file.text.lines().enumerate() {
            if let Some(mark) = marks.iter().find(|it| line.contains(**it)) {
                breaches.push(format!("{}:{}: {mark}", file.path, at + 1));
            }
        }
    }
    Ok(())
}

/// Whether the path is there as a whole, and not as the end of another one.
fn names_path(line: &str, path: &str) -> bool {
    let inside = |it: char| it.is_alphanumeric() || "._-".contains(it);
    line.match_indices(path).any(|(at, _)| !line[..at].ends_with(inside))
}

/// No file names the folder of this checkout.
pub(crate) fn machine_paths(house: &House<'_>, breaches: &mut Vec<String>) -> Res {
    let Some(parent) =
        house.workspace.root.parent().and_then(|it| it.to_str()).filter(|it| it.len() > 1)
    else {
        return Ok(());
    };
    let path = format!("{parent}/");
    for file in house.sources.iter().chain(&house.pages).chain(&house.manifests) {
        for (at, line) in file.text.lines().enumerate() {
            if names_path(line, &path) {
                breaches.push(format!("{}:{}: names a path of this machine", file.path, at + 1));
            }
        }
    }
    Ok(())
}
