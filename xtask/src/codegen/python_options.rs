//! Writes the options of the Python package (RE-14): a `TypedDict` for each group of functions, the table by which the
//! compiled module refuses unknown names and wrong types, and the lists in the docstrings.
//!
//! ```text
//! struct RepairMembers { all: bool, orphans: Orphans, … }   class RepairOptions(TypedDict, total=False): all: bool
//! enum Orphans { Fabricate, Drop, Keep }                    Literal["fabricate", "drop", "keep"]
//! | `--all` | Also mend what is only a warning … |          all: Also mend what is only a warning …
//! ```
//!
//! Names and types come from the option structs of the libraries, values from their enums, sentences from the help of
//! the flag of the same name, or from the member's own comment.

use std::fmt::Write as _;

use super::Output;
use super::members::{Member, Source};
use crate::Res;
use crate::workspace::Workspace;

const TYPES: &str = "crates/msg-python/python/msg/options.py";
const TABLE: &str = "crates/msg-python/src/known.rs";
const PAGES: &[&str] = &[
    "crates/msg-python/python/msg/__init__.py",
    "crates/msg-python/python/msg/ledger.py",
    "crates/msg-python/python/msg/doctor.py",
    "crates/msg-python/python/msg/stream.py",
];

/// Options of one or more functions.
pub(super) struct Group {
    /// The class, and in capitals the table.
    pub(super) class: &'static str,
    table: &'static str,
    about: &'static str,
    /// The structs whose members they are: file and name.
    pub(super) structs: &'static [(&'static str, &'static str)],
    /// The command with the flags of the same names. Members without a flag are left out where `only_flags` is set.
    pub(super) command: &'static str,
    pub(super) only_flags: bool,
    /// Those that the functions declare themselves, which are not in the class.
    declared: &'static [&'static str],
    /// The functions and classes whose docstring lists them.
    documents: &'static [&'static str],
}

const OPTIONS: &str = "crates/msg-document/src/options.rs";
pub(super) const CONVERT: &str = "crates/msg-document/src/convert/options.rs";
const FIT: (&str, &str) = ("crates/msg-document/src/fit/options.rs", "FitMembers");

pub(super) const GROUPS: &[Group] = &[
    Group {
        class: "ReadOptions",
        table: "READ",
        about: "How a document is read: of ``messages`` and ``prefix_keys``.",
        structs: &[(OPTIONS, "ReadMembers")],
        command: "check",
        only_flags: false,
        declared: &[],
        documents: &["messages", "prefix_keys"],
    },
    Group {
        class: "CheckOptions",
        table: "CHECK",
        about: "Of ``check``, ``is_valid`` and ``Checker``.",
        structs: &[(OPTIONS, "CheckMembers")],
        command: "check",
        only_flags: false,
        declared: &[],
        documents: &["check", "Checker"],
    },
    Group {
        class: "RepairOptions",
        table: "REPAIR",
        about: "Of ``repair``.",
        structs: &[(OPTIONS, "RepairMembers")],
        command: "repair",
        only_flags: false,
        declared: &[],
        documents: &["repair"],
    },
    Group {
        class: "ConvertOptions",
        table: "CONVERT",
        about: "Of ``convert``. Options of a format that is not the target do nothing.",
        structs: &[
            // Those that `convert` takes one by one.
            (CONVERT, ""),
            ("crates/msg-openai/src/options.rs", "WriteOptions"),
            ("crates/msg-anthropic/src/options.rs", "WriteOptions"),
            ("crates/msg-bedrock/src/options.rs", "WriteOptions"),
            ("crates/msg-gemini/src/options.rs", "WriteOptions"),
            ("crates/msg-forms/src/lower/mod.rs", "LowerOptions"),
        ],
        command: "convert",
        only_flags: false,
        declared: &["request"],
        documents: &["convert"],
    },
    Group {
        class: "FitOptions",
        table: "FIT",
        about: "Of ``fit``, ``fit_requests`` and ``fit_apply``.",
        structs: &[FIT],
        command: "fit",
        only_flags: false,
        declared: &["budget"],
        documents: &["fit"],
    },
    Group {
        class: "StatsOptions",
        table: "STATS",
        about: "Of ``stats`` and ``tokens``.",
        structs: &[FIT],
        command: "stats",
        only_flags: true,
        declared: &[],
        documents: &["stats", "tokens"],
    },
    Group {
        class: "SummaryOptions",
        table: "SUMMARY",
        about: "Of ``msg.arrow.summary``.",
        structs: &[
            (OPTIONS, "CheckMembers"),
            ("crates/msg-arrow/src/summary.rs", "SummaryMembers"),
        ],
        command: "check",
        only_flags: false,
        declared: &[],
        documents: &[],
    },
    Group {
        class: "CompareOptions",
        table: "COMPARE",
        about: "Of ``msg.arrow.cache``.",
        structs: &[("crates/msg-cache/src/compare.rs", "CacheOptions")],
        command: "cache",
        only_flags: false,
        declared: &[],
        documents: &[],
    },
    Group {
        class: "CacheOptions",
        table: "CACHE",
        about: "Of ``cache`` and ``CacheLedger``.",
        structs: &[("crates/msg-cache/src/ledger.rs", "LedgerOptions")],
        command: "cache",
        only_flags: false,
        declared: &[],
        documents: &["cache", "CacheLedger"],
    },
    Group {
        class: "DoctorOptions",
        table: "DOCTOR",
        about: "Of ``doctor``.",
        structs: &[("crates/msg-session/src/options.rs", "SessionOptions")],
        command: "doctor",
        only_flags: false,
        declared: &[],
        documents: &["doctor"],
    },
    Group {
        class: "KeyOptions",
        table: "KEY",
        about: "Of ``key``.",
        structs: &[("crates/msg-document/src/key.rs", "KeyMembers")],
        command: "check",
        only_flags: false,
        declared: &[],
        documents: &["key"],
    },
    Group {
        class: "ToolsOptions",
        table: "TOOLS",
        about: "Of ``tools`` and ``ToolParser``.",
        structs: &[("crates/msg-document/src/tools/options.rs", "Own")],
        command: "tools",
        only_flags: false,
        declared: &[],
        documents: &["tools", "ToolParser"],
    },
    Group {
        class: "StreamOptions",
        table: "STREAM",
        about: "Of ``stream`` and ``StreamAssembler``.",
        structs: &[("crates/msg-document/src/stream/options.rs", "CaptureOptions")],
        command: "stream",
        only_flags: false,
        declared: &[],
        documents: &["stream", "StreamAssembler"],
    },
];

const TYPES_HEAD: &str = r#""""The options of each function as types: ``def mine(**options: Unpack[msg.options.RepairOptions])``.

Written by `cargo xtask codegen` from the option structs. They cost nothing at run time: ``import msg`` does not load them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict, Union
"#;

const TABLE_HEAD: &str = "\
//! The options of each function: its name, and which types of Python it takes. Written by `cargo xtask codegen`.

use crate::options::Known;
";

pub(crate) fn generate(workspace: &Workspace) -> Res<Vec<Output>> {
    let source = Source::read(workspace)?;
    let mut types = TYPES_HEAD.to_owned();
    for (name, values) in source.choices() {
        write!(types, "\n{name} = Literal[\n")?;
        for line in wrapped(&values) {
            writeln!(types, "    {line}")?;
        }
        types.push_str("]\n");
    }
    types.push_str(USAGE);
    let mut table = TABLE_HEAD.to_owned();
    let mut pages: Vec<(String, String)> = Vec::new();
    for path in PAGES {
        pages.push(((*path).to_owned(), workspace.read(path)?));
    }
    for group in GROUPS {
        let members = source.members(group.structs, group.command, group.only_flags)?;
        write!(types, "\n\nclass {}(TypedDict, total=False):\n", group.class)?;
        writeln!(types, "    \"\"\"{}\"\"\"\n", group.about)?;
        write!(table, "\n#[rustfmt::skip]\npub(crate) const {}: &[Known] = &[\n", group.table)?;
        for it in &members {
            writeln!(table, "    Known::new({:?}, {:?}),", it.python_name(), it.kinds)?;
            if group.declared.contains(&&*it.name) {
                continue;
            }
            writeln!(types, "    {}: Union[{}, None]", it.python_name(), it.hint)?;
            writeln!(types, "    \"\"\"{}\"\"\"", it.about)?;
        }
        table.push_str("];\n");
        for name in group.documents {
            let page = pages.iter_mut().find(|it| has(&it.1, name));
            let page = page.ok_or_else(|| format!("no page defines {name}"))?;
            page.1 = documented(&page.1, name, &members)?;
        }
    }
    let outputs = [(TYPES.to_owned(), types), (TABLE.to_owned(), table)].into_iter().chain(pages);
    Ok(outputs.map(|(path, text)| Output { path, text }).collect())
}

const USAGE: &str = r#"

class Usage(TypedDict):
    """Prompt tokens that a provider reported for the first messages."""

    messages: int
    prompt_tokens: int
"#;

/// Quoted words with commas, in lines.
fn wrapped(values: &[String]) -> Vec<String> {
    let mut lines = vec![String::new()];
    for it in values {
        let word = format!("{it:?},");
        let last = lines.last_mut().expect("because there is one");
        if last.is_empty() {
            *last = word;
        } else if last.len() + word.len() > 110 {
            lines.push(word);
        } else {
            last.push(' ');
            last.push_str(&word);
        }
    }
    lines
}

fn has(page: &str, name: &str) -> bool {
    definition(page, name).is_some()
}

/// Where a function or a class begins.
fn definition(page: &str, name: &str) -> Option<usize> {
    [format!("\ndef {name}("), format!("\nclass {name}:")].iter().find_map(|it| page.find(it))
}

/// The page with the options in the docstring of `name`, below its line `Options:`.
fn documented(page: &str, name: &str, members: &[Member]) -> Res<String> {
    let missing = || format!("the docstring of {name} has no line `Options:`");
    let start = definition(page, name).ok_or_else(missing)?;
    let head = "\n    Options:\n";
    let begin = start + page[start..].find(head).ok_or_else(missing)? + head.len();
    let old: usize = page[begin..]
        .split_inclusive('\n')
        .take_while(|it| it.starts_with("        "))
        .map(str::len)
        .sum();
    let mut lines = String::new();
    for it in members {
        writeln!(lines, "        {}: {}", it.python_name(), it.about)?;
    }
    Ok(format!("{}{lines}{}", &page[..begin], &page[begin + old..]))
}
