//! One diagnostic with all that it says: code and sentence, place, quote, help.
//!
//! ```text
//! error[chain::empty-call-id]: a tool call without an id
//!  --> session.json: message 3 (assistant), part 0
//!   |
//! 3 | search({"q":"x"})
//!   | ^^^^^^^^^^^^^^^^^
//!   |
//!   = help: `msg repair` gives it one
//! ```
//!
//! What it points at was quoted before (`quote`).

use std::fmt::Write as _;

use msg_core::Diagnostic;
use unicode_width::UnicodeWidthStr;

use super::quote::{Quote, Quotes};
use crate::render::list::Palette;
use crate::terminal::name as safe;

/// One diagnostic; `quote` comes with the number in its margin.
pub(super) fn show(
    it: &Diagnostic,
    place: &str,
    quote: Option<(usize, &Quote)>,
    paint: &Palette,
    res: &mut String,
) {
    let head = format!("{}[{}]", it.severity, it.code);
    let (head, text) =
        (paint.severity(it.severity, &safe(&head)), paint.strong(&safe(&it.message())));
    let number = quote.map_or(String::new(), |it| it.0.to_string());
    let indent = " ".repeat(number.len().max(1));
    let _ = writeln!(res, "{head}: {text}");
    let _ = writeln!(res, "{indent}{} {}", paint.margin("-->"), safe(place));
    let bar = paint.margin("|");
    if let Some((_, quote)) = quote {
        let (before, marked) =
            (&quote.text[..quote.marked.start], &quote.text[quote.marked.clone()]);
        let (before, width) = (" ".repeat(safe(before).width()), safe(marked).width().max(1));
        let carets = paint.severity(it.severity, &"^".repeat(width));
        let _ = writeln!(res, "{indent} {bar}");
        let line = format!("{} {bar} {}", paint.margin(&number), safe(&quote.text));
        let _ = writeln!(res, "{}", line.trim_end());
        let _ = writeln!(res, "{indent} {bar} {before}{carets}");
    }
    let note = |word, text: &str| {
        format!("{indent} {} {}: {}", paint.margin("="), paint.strong(word), safe(text))
    };
    let answer = it.answer.as_deref().map(|it| note("the API would answer", it));
    let notes = it.fix.as_deref().map(|it| note("help", it)).into_iter().chain(answer);
    for (n, it) in notes.enumerate() {
        if n == 0 {
            let _ = writeln!(res, "{indent} {bar}");
        }
        let _ = writeln!(res, "{it}");
    }
}

/// Whether a finding counts turns and not the messages that they become.
pub(super) fn is_of_a_turn(it: &Diagnostic) -> bool {
    it.code.as_str().starts_with("turn::")
}

/// `session.json: message 4 (assistant), part 2`. Numbers are the ones of the JSON form: from 0.
pub(super) fn place(it: &Diagnostic, name: &str, quotes: &Quotes) -> String {
    let mut res = name.to_owned();
    if let Some(line) = it.at.line {
        let _ = write!(res, ":{line}");
        if let Some(column) = it.at.column {
            let _ = write!(res, ":{column}");
        }
    }
    if let Some(pointer) = it.at.pointer.as_deref().filter(|_| it.at.line.is_some()) {
        let _ = write!(res, ": {}", path(pointer));
        let role = it.at.message.filter(|_| !is_of_a_turn(it)).and_then(|it| quotes.role(it));
        if let Some(role) = role {
            let _ = write!(res, " ({role})");
        }
        return res;
    }
    if let Some(turn) = it.at.message.filter(|_| is_of_a_turn(it)) {
        let _ = write!(res, ": turn {turn}");
    } else if let Some(message) = it.at.message {
        let _ = write!(res, ": message {message}");
        if let Some(role) = quotes.role(message) {
            let _ = write!(res, " ({role})");
        }
    }
    if let Some(part) = it.at.part {
        let _ = write!(res, ", part {part}");
    }
    res
}

/// A JSON pointer as a path that people type: `messages[1].content[0]`.
fn path(pointer: &str) -> String {
    let mut res = String::new();
    for step in pointer.split('/').skip(1) {
        let name = step.replace("~1", "/").replace("~0", "~");
        if !name.is_empty() && name.bytes().all(|it| it.is_ascii_digit()) {
            let _ = write!(res, "[{name}]");
        } else {
            if !res.is_empty() {
                res.push('.');
            }
            res.push_str(&name);
        }
    }
    res
}
