//! Arguments of a call that people read better than as JSON: an edit as a diff, a plan as a list.
//!
//! ```text
//! {"file_path": "a.rs", "old_string": "let a = 1;", "new_string": "let a = 2;"}
//!     a.rs
//!     - let a = 1;
//!     + let a = 2;
//! {"todos": [{"content": "read", "status": "completed"}, {"content": "write", "status": "pending"}]}
//!     ☑ read
//!     ☐ write
//! ```
//!
//! Calls are recognised by their members, not by the name of the tool, since every agent names its tools in its own
//! way. The arguments themselves are shown below, folded: nothing of them is left out.

use std::fmt::Write as _;

use msg_json::RawJson;
use serde::Deserialize;

use crate::markdown::escape;

/// The most lines of unchanged text that are shown around a change.
const CONTEXT: usize = 3;

/// Text that replaces other text in a file.
#[derive(Deserialize)]
struct Replacement {
    #[serde(alias = "old_str", alias = "old_text", alias = "oldText", alias = "oldString")]
    old_string: String,
    #[serde(alias = "new_str", alias = "new_text", alias = "newText", alias = "newString")]
    new_string: String,
}

/// One replacement, or several in one file.
#[derive(Deserialize)]
struct Edit {
    #[serde(default, alias = "path", alias = "filePath")]
    file_path: String,
    #[serde(flatten)]
    one: Option<Replacement>,
    #[serde(default)]
    edits: Vec<Replacement>,
}

/// A file that is written as a whole.
#[derive(Deserialize)]
struct Writing {
    #[serde(alias = "path", alias = "filePath")]
    file_path: String,
    #[serde(alias = "file_text", alias = "contents")]
    content: String,
}

/// A patch in the form of `diff` or of Codex.
#[derive(Deserialize)]
struct Patch {
    #[serde(alias = "patch", alias = "diff")]
    input: String,
}

/// A plan, or a list of what is to be done.
#[derive(Deserialize)]
struct Plan {
    #[serde(alias = "plan")]
    todos: Vec<Step>,
}

#[derive(Deserialize)]
struct Step {
    #[serde(alias = "step", alias = "title")]
    content: String,
    #[serde(default)]
    status: String,
}

/// The arguments as HTML, if they are of a kind that is shown so. Linear in them.
pub(crate) fn drawn(arguments: &str) -> Option<String> {
    if is_patch(arguments) {
        return Some(patch(arguments));
    }
    let json = RawJson::new(arguments).ok()?;
    if let Some(edit) =
        json.parse::<Edit>().ok().filter(|it| it.one.is_some() || !it.edits.is_empty())
    {
        return Some(replaced(&edit));
    }
    if let Ok(plan) = json.parse::<Plan>() {
        return Some(steps(&plan.todos));
    }
    if let Ok(it) = json.parse::<Writing>() {
        return Some(file(&it.file_path) + &diff("", &it.content));
    }
    json.parse::<Patch>().ok().filter(|it| is_patch(&it.input)).map(|it| patch(&it.input))
}

fn file(path: &str) -> String {
    match path {
        "" => String::new(),
        path => format!("<p class=\"about\"><bdi>{}</bdi></p>\n", escape(path)),
    }
}

fn replaced(edit: &Edit) -> String {
    let mut res = file(&edit.file_path);
    for it in edit.one.iter().chain(&edit.edits) {
        res += &diff(&it.old_string, &it.new_string);
    }
    res
}

/// Old and new lines; those that both begin and end with are shown once, as far as they are near the change.
fn diff(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let head = old.iter().zip(&new).take_while(|it| it.0 == it.1).count();
    let rest = old.len().min(new.len()) - head;
    let ends = old.iter().rev().zip(new.iter().rev());
    let tail = ends.take(rest).take_while(|it| it.0 == it.1).count();
    let mut res = "<pre class=\"diff\" dir=\"auto\">".to_owned();
    let mut lines = |class: &str, lines: &[&str]| {
        lines.iter().for_each(|it| line(class, it, &mut res));
    };
    lines("", &old[head.saturating_sub(CONTEXT)..head]);
    lines("del", &old[head..old.len() - tail]);
    lines("add", &new[head..new.len() - tail]);
    lines("", &old[old.len() - tail..][..tail.min(CONTEXT)]);
    res + "</pre>\n"
}

/// Whether a text is a patch; a text that only mentions one is not.
fn is_patch(text: &str) -> bool {
    ["*** Begin Patch", "diff --git ", "--- "].iter().any(|it| text.starts_with(it))
}

fn patch(text: &str) -> String {
    let mut res = "<pre class=\"diff\" dir=\"auto\">".to_owned();
    for it in text.lines() {
        match it.as_bytes().first() {
            Some(b'+') => line("add", &it[1..], &mut res),
            Some(b'-') => line("del", &it[1..], &mut res),
            _ => line("", it.strip_prefix(' ').unwrap_or(it), &mut res),
        }
    }
    res + "</pre>\n"
}

/// A line of a diff. The sign is text, so that it is copied and read aloud with the line.
fn line(class: &str, text: &str, res: &mut String) {
    let text = escape(text);
    let _ = match class {
        "add" => writeln!(res, "<span class=\"add\">+ {text}</span>"),
        "del" => writeln!(res, "<span class=\"del\">- {text}</span>"),
        _ => writeln!(res, "  {text}"),
    };
}

fn steps(steps: &[Step]) -> String {
    let mut res = "<ul class=\"steps\">\n".to_owned();
    for it in steps {
        let mark = match &*it.status {
            "completed" | "done" => "\u{2611}",
            "in_progress" | "in-progress" | "active" => "\u{25b6}",
            _ => "\u{2610}",
        };
        let _ = writeln!(res, "<li>{mark} <bdi>{}</bdi></li>", escape(&it.content));
    }
    res + "</ul>\n"
}
