//! The pages that list what the code holds: diagnostic codes, help texts, formats and the layers of crates.

use std::{fmt::Write as _, path::PathBuf};

use super::Output;
use crate::codegen::replace_section;
use crate::layers::{LAYERS, OUTSIDE, Room, plain};
use crate::tidy::codes;
use crate::tidy::codes::Row;
use crate::workspace::{File, Workspace};
use crate::{Res, sh};

// Writes `docs/diagnostics.md` from the crates' tables of codes, each code with the first case that
// produces it.

const HEAD: &str = "\
# Diagnostics

What `msg` and the libraries report. Codes are stable: a code keeps its meaning, and a retired code is not
given another. The rule leads to the page of its area in [formats](formats/README.md);
the case is the first test case in which the code appears.

This page is written by `cargo xtask codegen` from the table of codes of each crate.
";

pub(crate) fn generate(workspace: &Workspace) -> Res<Vec<Output>> {
    let mut rows = codes::rows(&workspace.files(&["rs"])?)?;
    rows.sort_by(|a, b| a.code.cmp(&b.code));
    let cases = workspace.files(&["expect", "jsonl"])?;
    let mut text = HEAD.to_owned();
    let mut area = "";
    for row in &rows {
        let (row_area, _) =
            row.code.split_once("::").ok_or_else(|| format!("{} has no area", row.code))?;
        if row_area != area {
            area = row_area;
            write!(
                text,
                "\n## {area}\n\n| code | severity | rule | what it means | case |\n|---|---|---|---|---|\n"
            )?;
        }
        push_row(&mut text, row, first_case(&cases, &row.code))?;
    }
    Ok(vec![Output { path: "docs/diagnostics.md".to_owned(), text }])
}

fn push_row(text: &mut String, row: &Row, case: Option<&str>) -> Res {
    let Row { code, severity, rule, summary, .. } = row;
    let case = case.map_or_else(String::new, |it| format!("[{}](../{it})", file_name(it)));
    writeln!(
        text,
        "| `{code}` | {severity} | {rule} | {} | {case} |",
        summary.replace('|', "\\|")
    )?;
    Ok(())
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The first case file, by path, in which the whole code appears.
fn first_case<'a>(cases: &'a [File], code: &str) -> Option<&'a str> {
    let is_whole = |text: &str| {
        text.match_indices(code).any(|(at, _)| {
            let after = text[at + code.len()..].chars().next();
            !after.is_some_and(|it| it.is_ascii_alphanumeric() || it == '-')
        })
    };
    let found = cases.iter().find(|it| it.path.contains("/test_data/") && is_whole(&it.text))?;
    Some(&found.path)
}

// Writes the command reference in `docs/cli.md` and the man pages in `docs/man/`, from what the built
// `msg` says about itself.

const PAGE: &str = "docs/cli.md";

pub(crate) fn generate_cli(workspace: &Workspace) -> Res<Vec<Output>> {
    let msg = build(workspace)?;
    let reference = sh::read(&workspace.root, &msg, &["reference"])?;
    let page = workspace.read(PAGE)?;
    let text = replace_section(&page, "reference", &reference)?;
    let mut res = vec![Output { path: PAGE.to_owned(), text }];
    res.extend(man_pages(workspace, &msg)?);
    Ok(res)
}

/// The `msg` that was built before, or else one that is built as `cargo test` does, so that little is compiled twice.
pub(crate) fn build(workspace: &Workspace) -> Res<String> {
    if let Some(program) = &workspace.program {
        return Ok(program.clone());
    }
    let mut built = workspace.executables(&["build", "--locked", "--bin", "msg"])?;
    built.pop().map(|it| it.path).ok_or_else(|| "cargo built no msg".into())
}

fn man_pages(workspace: &Workspace, msg: &str) -> Res<Vec<Output>> {
    let folder = std::env::temp_dir().join(format!("msg-man-{}", std::process::id()));
    let res = written_to(&folder, workspace, msg);
    // Whatever happened, nothing is left over; a folder that was never made is not an error.
    let _ = std::fs::remove_dir_all(&folder);
    res
}

fn written_to(folder: &PathBuf, workspace: &Workspace, msg: &str) -> Res<Vec<Output>> {
    let path = folder.to_str().ok_or("the temporary folder is not UTF-8")?;
    sh::run(&workspace.root, msg, &["reference", "--man", path], &[])?;
    let mut res = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        res.push(Output {
            path: format!("docs/man/{name}"),
            text: std::fs::read_to_string(entry.path())?,
        });
    }
    res.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(res)
}

// Writes the index of `docs/formats/` from the title and the first sentence of each page.

const FOLDER: &str = "docs/formats/";

const FORMATS_HEAD: &str = "\
# Formats

What each area reads and writes, as numbered rules. Code, tests and [diagnostics](../diagnostics.md) cite a
rule by its number (`CA-30`), and `cargo xtask tidy` checks that it is on one of these pages.

This index is written by `cargo xtask codegen` from the pages.

";

pub(crate) fn generate_formats(workspace: &Workspace) -> Res<Vec<Output>> {
    let index = format!("{FOLDER}README.md");
    let mut text = FORMATS_HEAD.to_owned();
    for page in workspace.files(&["md"])? {
        let Some(name) = page.path.strip_prefix(FOLDER).filter(|_| page.path != index) else {
            continue;
        };
        let (title, sentence) =
            opening(&page.text).ok_or_else(|| format!("{} has no title and text", page.path))?;
        writeln!(text, "- [{title}]({name}): {sentence}")?;
    }
    Ok(vec![Output { path: index, text }])
}

/// The title of a page and the first sentence after it.
fn opening(page: &str) -> Option<(&str, String)> {
    let (title, rest) = page.strip_prefix("# ")?.split_once('\n')?;
    let is_prose = |it: &&str| !it.is_empty() && !it.starts_with(['<', '#', '|', '-', '`', '>']);
    let paragraph = rest.split("\n\n").map(str::trim).find(is_prose)?;
    let words = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    let end = words.find(". ").map_or(words.len(), |it| it + 1);
    Some((title.trim(), words[..end].to_owned()))
}

// Draws the floors of [`LAYERS`] into `docs/architecture.md`.

const LAYERS_PAGE: &str = "docs/architecture.md";

pub(crate) fn generate_layers(workspace: &Workspace) -> Res<Vec<Output>> {
    let page = workspace.read(LAYERS_PAGE)?;
    Ok(vec![Output {
        path: LAYERS_PAGE.to_owned(),
        text: replace_section(&page, "layers", &picture())?,
    }])
}

/// The floors, top floor first, each room with the rooms that it uses.
fn picture() -> String {
    let mut res = String::from("```text\n");
    let top = LAYERS.iter().map(|it| it.floor).filter(|it| *it != OUTSIDE).max().unwrap_or(0);
    for floor in (0..=top).rev() {
        let mut label = format!("floor {floor}");
        for room in LAYERS.iter().filter(|it| it.floor == floor) {
            push_room(&mut res, &label, room);
            label.clear();
        }
    }
    res.push('\n');
    let mut label = "tools".to_owned();
    for room in LAYERS.iter().filter(|it| it.floor == OUTSIDE) {
        push_room(&mut res, &label, room);
        label.clear();
    }
    res.push_str("```\n");
    res
}

fn push_room(res: &mut String, label: &str, room: &Room) {
    let drawn =
        |it: &str| if it.ends_with('?') { format!("({})", plain(it)) } else { it.to_owned() };
    let uses: Vec<String> = room.uses().into_iter().map(drawn).collect();
    let uses =
        if uses.is_empty() { String::new() } else { format!("──▶ {}", uses.join(", ")) };
    let line = format!("{label:<9}{:<14}{uses}", room.name);
    writeln!(res, "{}", line.trim_end()).expect("because a String takes everything");
}
#[cfg(test)]
mod tests {
    use super::opening;

    #[test]
    fn the_first_sentence_of_prose_counts() {
        let page = "# Message files\n\n<!-- note -->\n\nA file of\ncells. More of it.\n\nNext.\n";
        assert_eq!(opening(page), Some(("Message files", "A file of cells.".to_owned())));
        assert_eq!(opening("no title\n"), None);
    }
}
