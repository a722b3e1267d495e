//! Diagnostics for people, the way rustc shows them: code, sentence, where, and what would mend it.
//!
//! What a diagnostic points at is quoted: a line of the source text with a caret, or the beginning
//! of the message. Nothing of a conversation reaches the terminal as it is: control characters are
//! shown as pictures. The JSON form of a diagnostic is `msg_core`'s.
//!
//! ```text
//! error[chain::missing-tool-result]: tool call `c1` has no result
//!  --> session.json: message 1 (assistant), part 0
//!   |
//! 1 | read({"path":"a"})
//!   | ^^^^^^^^^^^^^^^^^^
//!   = help: inserted a placeholder result
//! ```

mod list;
mod quote;

use msg_core::{Diagnostic, Severity};

pub(crate) use self::list::List;
pub(crate) use self::quote::Quotes;
use self::quote::{Excerpt, Places};
use crate::exit::Failure;
use crate::render::list::Palette;
use crate::render::list::show;
pub(crate) use crate::render::list::{Folding, causes};

/// A failure as text, with its line end.
pub(crate) fn failure(failure: &Failure, color: bool) -> String {
    match failure {
        Failure::Document(bad) => about_source(&bad.diagnostic, &bad.name, &bad.bytes, color),
        other => {
            let paint = Palette::new(color);
            let mut res = format!(
                "{}: {}\n",
                paint.severity(Severity::Error, "error"),
                safe(&other.to_string())
            );
            if matches!(other, Failure::Usage(_)) {
                res.push_str("\nFor more information, try '--help'.\n");
            }
            res
        }
    }
}

/// Diagnostics about the text `bytes` of the document `name`, each with the line that it is about.
pub(crate) fn in_source(list: &[Diagnostic], name: &str, bytes: &[u8], color: bool) -> String {
    let mut places = Places::new(bytes);
    list.iter().map(|it| about_place(it, name, &mut places, color) + "\n").collect()
}

/// `3 errors, 1 warning`, or nothing where the list is empty.
pub(crate) fn count(list: &[Diagnostic]) -> String {
    let kinds =
        [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Info, "note")];
    let counts = kinds.into_iter().filter_map(|(severity, word)| {
        let n = list.iter().filter(|it| it.severity == severity).count();
        (n > 0).then(|| plural(n, word))
    });
    counts.collect::<Vec<_>>().join(", ")
}

/// `1 message`, `2 messages`.
pub(crate) fn plural(n: impl TryInto<u64>, word: &str) -> String {
    let n = n.try_into().unwrap_or(u64::MAX);
    if n == 1 { format!("1 {word}") } else { format!("{n} {word}s") }
}

/// Text of others on one line that does nothing to a terminal; see [`terminal`](crate::terminal).
pub(crate) use crate::terminal::name as safe;

fn about_source(it: &Diagnostic, name: &str, bytes: &[u8], color: bool) -> String {
    about_place(it, name, &mut Places::new(bytes), color)
}

fn about_place(it: &Diagnostic, name: &str, places: &mut Places<'_>, color: bool) -> String {
    let Some(excerpt) = Excerpt::next(places, &it.at) else {
        let quotes = Quotes::default();
        let list = List { name, quotes: &quotes, folding: Folding::Each, color };
        return list.findings(std::slice::from_ref(it));
    };
    let mut res = String::new();
    let place = format!("{name}:{}:{}", excerpt.line, excerpt.column);
    show(it, &place, Some((excerpt.line, &excerpt.quote)), &Palette::new(color), &mut res);
    res
}
