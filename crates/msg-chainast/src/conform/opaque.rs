//! Raw JSON of a provider: as much of it as rules ask for.
//!
//! A server tool is called and answered by the provider itself; its blocks are opaque parts here, and only
//! whether they belong together is judged (PM-3, PM-185).

use std::collections::HashSet;

use msg_core::{Code, Diagnostic, Origin, Other, Part};
use serde::Deserialize;

use super::state::{Conform, error};
use crate::profile::{Acceptance, ServerTools};

/// What a rule may ask of an opaque part.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Facts {
    #[serde(rename = "type", default)]
    pub(crate) kind: Option<String>,
    #[serde(default)]
    pub(crate) id: Option<String>,
    #[serde(default)]
    pub(crate) tool_use_id: Option<String>,
    #[serde(default)]
    pub(crate) role: Option<String>,
}

/// The blocks that call what the provider runs, and how their ids begin: its own tools, and those of MCP servers.
const CALLS: [(&str, &str); 2] = [("server_tool_use", "srvtoolu_"), ("mcp_tool_use", "")];

impl Facts {
    pub(crate) fn of(it: &Other) -> Self {
        let facts: Facts = it.value.parse().unwrap_or_default();
        // What a part of Gemini is says a member's name; without one it is nothing.
        let is_data = it.format == Origin::Gemini && !is_blank_object(it.value.text());
        Facts { kind: facts.kind.or(is_data.then(|| "data".to_owned())), ..facts }
    }
}

impl Conform<'_, '_> {
    /// Blocks of server tools: a result follows its call in the same message, and the call's id is one that
    /// the provider gave. What does not belong together is removed together.
    pub(super) fn server_tools(&mut self) {
        if self.profile.server_tools == ServerTools::Keep {
            return;
        }
        for at in 0..self.items.len() {
            let wrong = wrong_blocks(&self.items[at].message.parts, self.profile.server_tools);
            for part in &wrong {
                let sentence = match self.profile.server_tools {
                    ServerTools::None => "a block of a server tool, which is not known here",
                    _ => "a block of a server tool without its call or result",
                };
                self.at_part(at, *part, error("profile::server-tool", sentence, "removed"));
            }
            if !wrong.is_empty() {
                self.remove_reasoning(at, |part| wrong.binary_search(&part).is_ok());
            }
        }
    }

    /// Parts that the provider does not read; where they stand is all that is known of them.
    pub(super) fn untyped_parts(&mut self) {
        if self.profile.untyped_parts == Acceptance::Accept {
            return;
        }
        let judge = |part: &Part| {
            let Part::Other(it) = part else { return None };
            let code = Code::new("profile::part-without-type");
            Some((Diagnostic::error(code, unread(it)?), None))
        };
        self.mend_parts(judge, |_, ()| {});
    }
}

/// What is wrong with a part that its format has no kind for, if that is known.
fn unread(it: &Other) -> Option<&'static str> {
    let Facts { kind, role, .. } = Facts::of(it);
    match (&it.format, kind.as_deref()) {
        (Origin::OpenAi, None) => Some("a content part without a type"),
        (Origin::Gemini, None) => Some("a part without data"),
        (Origin::Responses, None | Some("message")) if role.is_some() => {
            Some("a message whose content is no text and no list of parts")
        }
        (Origin::Responses, Some("image_url" | "file")) => Some("a part of another format"),
        _ => None,
    }
}

fn is_blank_object(text: &str) -> bool {
    text.bytes().filter(|it| !it.is_ascii_whitespace()).eq(*b"{}")
}

/// The parts that stand for nothing, in order.
fn wrong_blocks(parts: &[Part], rule: ServerTools) -> Vec<usize> {
    let blocks: Vec<(usize, Facts)> = parts
        .iter()
        .enumerate()
        .filter_map(|(at, it)| match it {
            Part::Other(it) if it.format == Origin::Anthropic => Some((at, Facts::of(it))),
            _ => None,
        })
        .filter(|it| is_call(&it.1) || is_result(&it.1))
        .collect();
    let mut called: HashSet<(&str, &str)> = HashSet::new();
    let mut wrong = Vec::new();
    for (at, block) in &blocks {
        let (call, id_prefix) = family(block);
        let id = if is_call(block) { &block.id } else { &block.tool_use_id };
        let fits = match id.as_deref() {
            Some(id) if is_call(block) => id.starts_with(id_prefix) && called.insert((call, id)),
            Some(id) => called.contains(&(call, id)),
            None => false,
        };
        if !fits || rule == ServerTools::None {
            wrong.push(*at);
        }
    }
    wrong
}

fn is_call(block: &Facts) -> bool {
    block.kind.as_deref().is_some_and(|kind| CALLS.iter().any(|it| it.0 == kind))
}

/// The kind of the call of a block, and how its ids begin.
fn family(block: &Facts) -> (&'static str, &'static str) {
    let is_mcp = block.kind.as_deref().is_some_and(|it| it.starts_with("mcp_"));
    CALLS[usize::from(is_mcp)]
}

fn is_result(block: &Facts) -> bool {
    block.kind.as_deref().is_some_and(|it| it.ends_with("_tool_result"))
}
