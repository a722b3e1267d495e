//! aider: a Markdown log (SE-68).
//!
//! ```text
//! # aider chat started at 2025-01-01 10:00:00
//! > Aider v0.80
//! #### add a test
//! Sure, here it is.
//! ```

use msg_core::{Origin as Source, Other, Part, RawJson, Role};

use super::{Checked, Format};
use crate::Error;
use crate::dialects::otel;
use crate::error::{Finding, SessionOptions, SessionPlace};
use crate::source::Blob;
use crate::view::{Draft, PartOrigin, View};

/// The dialect.
pub(crate) struct Aider;

const START: &str = "# aider chat started at ";

impl Format for Aider {
    fn view(&self, blobs: &[Blob], options: &SessionOptions) -> Result<View, Error> {
        let (text, findings) = otel::text(super::only(blobs));
        let chat = chat(&text, options.leaf.as_deref())?;
        let mut view = View { findings, ..View::default() };
        for run in runs(chat) {
            add(&mut view, &run);
        }
        Ok(view)
    }

    fn check(&self, blobs: &[Blob], _: &SessionOptions) -> Result<Checked, Error> {
        let (text, mut findings) = otel::text(super::only(blobs));
        for (at, _) in fenced_user_lines(&text) {
            let message = "code that looks like a line of the user; it is read as one";
            let at = SessionPlace::line(u32::try_from(at + 1).unwrap_or(u32::MAX));
            findings.push(Finding::warning("session::ambiguous-line", at, message));
        }
        let records = text.lines().filter(|it| it.starts_with(START)).count();
        Ok(Checked::of_text(&text, records, records, findings, Vec::new()))
    }
}

/// The last chat of the file, or the one whose heading names the leaf.
fn chat<'a>(text: &'a str, leaf: Option<&str>) -> Result<&'a str, Error> {
    let starts: Vec<usize> = std::iter::once(0)
        .chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|it| it + 1))
        .filter(|it| text[*it..].starts_with(START))
        .collect();
    let found = match leaf {
        Some(leaf) => starts.iter().position(|it| {
            text[it + START.len()..].lines().next().is_some_and(|it| it.trim() == leaf)
        }),
        None => starts.len().checked_sub(1),
    };
    match (found, leaf) {
        (Some(at), _) => Ok(&text[starts[at]..starts.get(at + 1).copied().unwrap_or(text.len())]),
        (None, Some(leaf)) => Err(Error::NoLeaf(leaf.to_owned())),
        (None, None) => Ok(text),
    }
}

/// Lines that look like a user's inside a code fence of the model.
fn fenced_user_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut in_fence = false;
    text.lines().enumerate().filter(move |(_, line)| {
        if line.starts_with("```") {
            in_fence = !in_fence;
        }
        in_fence && line.starts_with("#### ")
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Speaker {
    User,
    Program,
    Model,
}

/// Lines in a row of one speaker.
struct Run {
    speaker: Speaker,
    record: usize,
    text: String,
}

fn runs(chat: &str) -> Vec<Run> {
    let mut res: Vec<Run> = Vec::new();
    for line in chat.lines().filter(|it| !it.starts_with(START)) {
        let (speaker, text) = speaker(line, res.last());
        match res.last_mut() {
            Some(last) if last.speaker == speaker => {
                last.text.push('\n');
                last.text.push_str(text);
            }
            _ => res.push(Run { speaker, record: res.len(), text: text.to_owned() }),
        }
    }
    res.retain(|it| !it.text.trim().is_empty());
    res
}

/// Who says a line; a blank one belongs to what is before it.
fn speaker<'a>(line: &'a str, last: Option<&Run>) -> (Speaker, &'a str) {
    if line == "####" || line.starts_with("#### ") {
        return (Speaker::User, line[4..].trim());
    }
    if line == ">" || line.starts_with("> ") {
        return (Speaker::Program, line[1..].trim());
    }
    match last {
        Some(last) if line.trim().is_empty() => (last.speaker, line),
        _ => (Speaker::Model, line),
    }
}

fn add(view: &mut View, run: &Run) {
    let text = run.text.trim_matches('\n').to_owned();
    let origin = PartOrigin::record(run.record);
    let (role, part) = match run.speaker {
        Speaker::User => (Role::User, Part::text(text.trim())),
        Speaker::Model => (Role::Assistant, Part::text(text)),
        Speaker::Program => {
            let other = Other::new(Source::from("aider"), RawJson::string(text.trim()));
            let part = Part::Other(other);
            if let (Some(message), Some(origins)) =
                (view.messages.last_mut(), view.origins.last_mut())
            {
                message.parts.push(part);
                origins.push(origin);
                return;
            }
            (Role::System, part)
        }
    };
    let mut draft = Draft::new(role);
    draft.push(part, origin);
    view.push(draft);
}
