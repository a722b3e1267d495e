//! An opencode session as messages (SE-65).

use std::collections::HashSet;

use msg_core::{File, Image, Part as MessagePart, Reasoning, Role, ToolCall, ToolResult, Usage};

use crate::dialects::opencode::{Message, Part, Stored};
use crate::parts;
use crate::view::{Branch, BranchKind};
use crate::view::{Draft, PartOrigin, View};

/// The messages of a session, up to the one that the leaf names.
pub(super) fn of(stored: &Stored<'_>, session: &str, leaf: Option<&str>) -> View {
    let mut messages: Vec<_> = stored.messages.iter().filter(|it| it.session == session).collect();
    let last = messages.iter().position(|it| Some(it.id.as_str()) == leaf);
    messages.truncate(last.map_or(usize::MAX, |it| it + 1));
    let mut view = View { findings: stored.findings.clone(), ..View::default() };
    let active = active(&messages);
    active.iter().for_each(|it| add(&mut view, it));
    view.branches.extend(hidden(&messages, &active));
    view.branches.extend(subtasks(stored, session));
    view.usage =
        messages.iter().filter_map(|it| usage(it)).fold(Usage::default(), super::super::add_usage);
    view
}

/// What is sent: after the last compaction its own question and answer, the tail that it keeps, and what
/// follows.
fn active<'m, 'a>(messages: &[&'m Message<'a>]) -> Vec<&'m Message<'a>> {
    let is_summary = |it: &&Message<'_>| {
        it.object.is_true("summary") && (it.object.has("finish") || it.is_completed)
    };
    let Some(summary) = messages.iter().rposition(is_summary) else { return messages.to_vec() };
    let parent = messages[summary].object.text("parentID");
    let user = messages[..summary].iter().rposition(|it| Some(it.id.as_str()) == parent.as_deref());
    let user = user.unwrap_or(summary);
    let tail = messages[user].parts.iter().find_map(|it| it.object.text("tail_start_id"));
    let tail = tail.and_then(|tail| messages[..user].iter().position(|it| it.id == *tail));
    let mut res = messages[user..=summary].to_vec();
    res.extend(&messages[tail.unwrap_or(user)..user]);
    res.extend(&messages[summary + 1..]);
    res
}

/// What is before a compaction.
fn hidden(messages: &[&Message<'_>], active: &[&Message<'_>]) -> Option<Branch> {
    let sent: HashSet<&str> = active.iter().map(|it| it.id.as_str()).collect();
    let is_hidden = |it: &&&Message<'_>| !sent.contains(it.id.as_str());
    let last = messages.iter().rfind(is_hidden)?;
    let (leaf, record) = (last.id.clone(), last.place.record.unwrap_or(0));
    let records = messages.iter().filter(is_hidden).count();
    Some(Branch { leaf, record, kind: BranchKind::Compacted, records })
}

/// The sessions of its subtasks.
fn subtasks<'s>(stored: &'s Stored<'_>, session: &'s str) -> impl Iterator<Item = Branch> + 's {
    let own = stored.sessions.iter().filter(move |it| it.parent.as_deref() == Some(session));
    own.map(|it| Branch {
        leaf: it.id.clone(),
        record: it.place.record.unwrap_or(0),
        kind: BranchKind::Sidechain,
        records: stored.messages.iter().filter(|message| message.session == it.id).count(),
    })
}

fn add(view: &mut View, message: &Message<'_>) {
    let kind = message.object.text("role").or_else(|| message.object.text("type"));
    match kind.as_deref() {
        Some("user") => user(view, message),
        Some("assistant") if is_sent(message) => assistant(view, message),
        _ => {}
    }
}

/// A failed answer is not sent, unless it was aborted and has content.
fn is_sent(message: &Message<'_>) -> bool {
    let Some(error) = message.object.inner("error") else { return true };
    let says = |it: &Part<'_>| {
        !matches!(it.object.text("type").as_deref(), Some("step-start" | "reasoning" | "snapshot"))
    };
    error.text("name").is_some_and(|it| it == "MessageAbortedError")
        && message.parts.iter().any(says)
}

fn origin(part: &Part<'_>) -> PartOrigin {
    PartOrigin { record: part.place.record.unwrap_or(0), block: part.place.block }
}

fn user(view: &mut View, message: &Message<'_>) {
    let mut draft = Draft::new(Role::User);
    if let Some(text) = message.object.text("text") {
        draft.push(
            MessagePart::text(text),
            PartOrigin { record: message.place.record.unwrap_or(0), block: None },
        );
    }
    for part in &message.parts {
        let it = match part.object.text("type").as_deref() {
            Some("text") if !part.object.is_true("ignored") => text(part),
            Some("file") => file(part),
            Some("compaction") => Some(MessagePart::text("What did we do so far?")),
            _ => None,
        };
        if let Some(it) = it {
            draft.push(it, origin(part));
        }
    }
    view.push(draft);
}

fn text(part: &Part<'_>) -> Option<MessagePart> {
    part.object.text("text").map(MessagePart::text)
}

fn file(part: &Part<'_>) -> Option<MessagePart> {
    let url = part.object.text("url")?;
    let media_type: Option<String> = part.object.text("mime").map(Into::into);
    if media_type.as_deref().is_some_and(|it| it.starts_with("image/")) {
        return Some(MessagePart::Image(Image { media_type, ..Image::from_url(url) }));
    }
    let filename = part.object.text("filename").map(Into::into);
    let url = Some(url.into_owned());
    Some(MessagePart::File(File { url, filename, media_type, ..File::default() }))
}

fn assistant(view: &mut View, message: &Message<'_>) {
    let new = || {
        let mut draft = Draft::new(Role::Assistant);
        // What is written here says so where nothing is known.
        let known = |name: &str| message.object.text(name).filter(|it| it != "unknown");
        draft.made_by(known("modelID"), known("providerID"));
        draft
    };
    let mut answer = new();
    let mut results = Draft::new(Role::Tool);
    for part in &message.parts {
        match part.object.text("type").as_deref() {
            Some("step-start") => {
                view.push(std::mem::replace(&mut answer, new()));
                view.push(std::mem::replace(&mut results, Draft::new(Role::Tool)));
            }
            Some("text") if !part.object.is_true("ignored") => {
                text(part).into_iter().for_each(|it| answer.push(it, origin(part)));
            }
            Some("reasoning") => {
                let thought = Reasoning::new(parts::text(&part.object, "text"));
                answer.push(MessagePart::Reasoning(thought), origin(part));
            }
            Some("tool") => tool(part, &mut answer, &mut results),
            _ => {}
        }
    }
    view.push(answer);
    view.push(results);
}

fn tool(part: &Part<'_>, answer: &mut Draft, results: &mut Draft) {
    let (id, name) = (parts::text(&part.object, "callID"), parts::text(&part.object, "tool"));
    let state = part.object.inner("state");
    let member = |name: &str| state.as_ref().and_then(|it| it.get(name)).map(|it| it.plain());
    let input = member("input").unwrap_or_default();
    answer
        .push(MessagePart::ToolCall(ToolCall::new(id.clone(), name.clone(), input)), origin(part));
    let (content, is_error) = match part.status().as_deref() {
        Some("completed") => (member("output"), false),
        Some("error") => (member("error"), true),
        _ => return,
    };
    let result = ToolResult {
        name: Some(name),
        is_error,
        ..ToolResult::new(id, content.unwrap_or_default())
    };
    results.push(MessagePart::ToolResult(result), origin(part));
}

fn usage(message: &Message<'_>) -> Option<Usage> {
    let tokens = message.object.get("tokens")?.object()?;
    let number = |name: &str| tokens.get(name).and_then(|it| it.number());
    let cache = tokens.inner("cache");
    let cached = |name: &str| cache.as_ref().and_then(|it| it.get(name)?.number());
    Some(Usage {
        input: number("input"),
        output: number("output"),
        reasoning: number("reasoning"),
        cached: cached("read"),
        cache_write: cached("write"),
        ..Usage::default()
    })
}
