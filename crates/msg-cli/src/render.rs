//! Diagnostics for people, the way rustc shows them: code, sentence, where, and what would mend it.
//!
//! What a diagnostic points at is quoted: a line of the source text with a caret, or the beginning
//! of the message. Their JSON form is `msg_core`'s.

mod quote;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use msg_core::{Diagnostic, Severity};

use self::quote::Excerpt;
pub(crate) use self::quote::Quotes;
use crate::exit::{BadDocument, Failure};

/// A failure as text, with its line end.
pub(crate) fn failure(failure: &Failure, color: bool) -> String {
    match failure {
        Failure::Document(bad) => bad_document(bad, color),
        Failure::Usage(text) => {
            let help = Level::HELP.message("`msg help` and `msg help COMMAND` say what there is");
            show(Level::ERROR.primary_title(text.as_str()).element(help), color)
        }
        other => show(Group::with_title(Level::ERROR.primary_title(other.to_string())), color),
    }
}

/// Diagnostics about the messages of the document `name`, one after the other.
pub(crate) fn diagnostics(list: &[Diagnostic], name: &str, quotes: &Quotes, color: bool) -> String {
    list.iter().fold(String::new(), |mut res, it| {
        res.push_str(&about_message(it, name, quotes, color));
        res.push('\n');
        res
    })
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
pub(crate) fn plural(n: usize, word: &str) -> String {
    if n == 1 { format!("1 {word}") } else { format!("{n} {word}s") }
}

fn about_message(it: &Diagnostic, name: &str, quotes: &Quotes, color: bool) -> String {
    let mut group = title(it).element(Origin::path(place(it, name, quotes)));
    if let Some(quote) = it.at.message.and_then(|n| quotes.get(n, it.at.part)) {
        let marked = AnnotationKind::Primary.span(quote.marked.clone());
        let number = it.at.message.unwrap_or(0);
        group = group.element(Snippet::source(&quote.text).line_start(number).annotation(marked));
    }
    show(mended(group, it), color)
}

fn bad_document(bad: &BadDocument, color: bool) -> String {
    let it = &bad.diagnostic;
    let Some(excerpt) = Excerpt::at(&bad.bytes, it) else {
        return about_message(it, &bad.name, &Quotes::default(), color);
    };
    let place = format!("{}:{}:{}", bad.name, excerpt.line, excerpt.column);
    let marked = AnnotationKind::Primary.span(excerpt.marked.clone());
    let snippet = Snippet::source(&excerpt.text).line_start(excerpt.line).annotation(marked);
    let group = title(it).element(Origin::path(place)).element(snippet);
    show(mended(group, it), color)
}

fn title(it: &Diagnostic) -> annotate_snippets::Title<'_> {
    let level = match it.severity {
        Severity::Warning => Level::WARNING,
        Severity::Info => Level::INFO,
        _ => Level::ERROR,
    };
    level.primary_title(it.message.as_ref() as &str).id(it.code.as_str())
}

fn mended<'a>(group: Group<'a>, it: &'a Diagnostic) -> Group<'a> {
    match &it.fix {
        Some(fix) => group.element(Level::HELP.message(fix.as_ref() as &str)),
        None => group,
    }
}

/// `session.json: message 4 (assistant), part 2`. Numbers are the ones of the JSON form: from 0.
fn place(it: &Diagnostic, name: &str, quotes: &Quotes) -> String {
    let mut res = name.to_owned();
    if let Some(line) = it.at.line {
        res.push_str(&format!(":{line}"));
    }
    if let Some(message) = it.at.message {
        res.push_str(&format!(": message {message}"));
        if let Some(role) = quotes.role(message) {
            res.push_str(&format!(" ({role})"));
        }
    }
    if let Some(part) = it.at.part {
        res.push_str(&format!(", part {part}"));
    }
    res
}

fn show(group: Group<'_>, color: bool) -> String {
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let mut res = renderer.term_width(100).render(&[group]);
    res.push('\n');
    res
}
