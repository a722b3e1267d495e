//! A flag of the command line and the member of the JSON options that says the same have one name: what one
//! of them can say, the other can, but for what stands here.

use std::collections::BTreeSet;

use msg_document::{
    CheckOptions, FitOptions, RepairOptions, StreamOptions, ToolsOptions, options_from_json,
};
use serde::de::DeserializeOwned;

/// Flags about where a command reads and writes, for each that has them.
const PLACES: &[&str] = &[
    "color", "help", "in-place", "jobs", "json", "jsonl", "output", "pretty", "quiet", "report",
    "verbose",
];

/// The members that options of this type have, from the sentence that refuses another.
fn members<T: DeserializeOwned>() -> BTreeSet<String> {
    let refused = options_from_json::<T>(br#"{"no such member":0}"#).err();
    let sentence = refused.expect("because no option is called so").to_string();
    let (_, known) = sentence.split_once("expected").expect("because the sentence says which");
    known.split('`').skip(1).step_by(2).map(|it| it.replace('_', "-")).collect()
}

/// The long flags that the help of a command lists.
fn flags(command: &str) -> BTreeSet<String> {
    let help = crate::stdout(&crate::msg(&[command, "--help"], b""));
    let option = |line: &str| {
        let line = line.trim_start();
        let line = line
            .split_once(", ")
            .map_or(line, |(short, long)| if short.len() == 2 { long } else { line });
        let name = line.strip_prefix("--")?;
        Some(name.split([' ', '=', ',', '[']).next()?.to_owned())
    };
    help.lines().filter(|it| it.starts_with(' ')).filter_map(option).collect()
}

/// Compares both, but for the flags and the members that have no counterpart.
fn agree<T: DeserializeOwned>(command: &str, only_flags: &[&str], only_members: &[&str]) {
    let (flags, members) = (flags(command), members::<T>());
    let left: Vec<_> = flags.difference(&members).map(String::as_str).collect();
    let right: Vec<_> = members.difference(&flags).map(String::as_str).collect();
    let only = |it: &&&str| !PLACES.contains(it) && !only_flags.contains(it);
    let left: Vec<_> = left.iter().filter(only).collect();
    let right: Vec<_> = right.iter().filter(|it| !only_members.contains(it)).collect();
    assert!(
        left.is_empty() && right.is_empty(),
        "{command}: only flags: {left:?}, only members: {right:?}"
    );
}

#[test]
fn flags_and_json_options_have_the_same_names() {
    agree::<CheckOptions>("check", &["profile-file"], &[]);
    agree::<RepairOptions>("repair", &["profile-file"], &[]);
    // Summaries by a model, files and sessions are the program's; a cap a tool is a pair a flag.
    let own = [
        "dry-run",
        "in-session",
        "model",
        "requests",
        "session",
        "summarizer",
        "timeout",
        "tool-cap",
    ];
    agree::<FitOptions>("fit", &own, &["tool-caps", "top"]);
    agree::<ToolsOptions>("tools", &["dialect-file", "max-bytes"], &["max-retries"]);
    // The rest are members of --options.
    let own = ["events", "interrupt-after", "max-event-bytes", "split-concatenated", "to"];
    agree::<StreamOptions>("stream", &["options"], &own);
}
