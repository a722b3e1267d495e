//! Raw JSON of a provider: as much of it as rules ask for.
//!
//! A server tool is called and answered by the provider itself; its blocks are opaque parts here, and only
//! whether they belong together is judged (PM-3, PM-185).

use std::collections::HashSet;

use msg_core::{Origin, Part, RawJson};
use serde::Deserialize;

use super::state::{Breach, Conform};
use crate::profile::ServerTools;

/// What a rule may ask of an opaque part.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Facts {
    #[serde(rename = "type", default)]
    pub(crate) kind: Option<String>,
    #[serde(default)]
    pub(crate) id: Option<String>,
    #[serde(default)]
    pub(crate) tool_use_id: Option<String>,
}

/// How ids of server calls begin.
const SERVER_ID: &str = "srvtoolu_";

impl Facts {
    pub(crate) fn of(value: &RawJson) -> Self {
        value.parse().unwrap_or_default()
    }

    /// JSON of just these facts.
    pub(crate) fn to_json(&self) -> RawJson {
        let members = [("type", &self.kind), ("id", &self.id), ("tool_use_id", &self.tool_use_id)];
        let members: serde_json::Map<String, serde_json::Value> = members
            .into_iter()
            .filter_map(|(name, it)| Some((name.to_owned(), it.clone()?.into())))
            .collect();
        let text = serde_json::Value::Object(members).to_string();
        RawJson::new(text).unwrap_or_else(|_| RawJson::string(""))
    }
}

impl Conform<'_> {
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
                self.at_part(at, *part, Breach::error("profile::server-tool", sentence, "removed"));
            }
            if !wrong.is_empty() {
                self.remove_reasoning(at, |part| wrong.binary_search(&part).is_ok());
            }
        }
    }

    /// Parts without a type, which no provider reads; where they stand is all that is known of them.
    pub(super) fn untyped_parts(&mut self) {
        if self.profile.untyped_parts == crate::profile::Acceptance::Accept {
            return;
        }
        for at in 0..self.items.len() {
            for part in 0..self.items[at].message.parts.len() {
                let untyped = match &self.items[at].message.parts[part] {
                    Part::Other(it) => {
                        it.format == Origin::OpenAi && Facts::of(&it.value).kind.is_none()
                    }
                    _ => false,
                };
                if untyped {
                    let code = "profile::part-without-type";
                    let breach = Breach::error(code, "a content part without a type", "");
                    self.at_part(at, part, breach.mended_if(false));
                }
            }
        }
    }
}

/// The parts that stand for nothing, in order.
fn wrong_blocks(parts: &[Part], rule: ServerTools) -> Vec<usize> {
    let blocks: Vec<(usize, Facts)> = parts
        .iter()
        .enumerate()
        .filter_map(|(at, it)| match it {
            Part::Other(it) if it.format == Origin::Anthropic => Some((at, Facts::of(&it.value))),
            _ => None,
        })
        .filter(|it| is_call(&it.1) || is_result(&it.1))
        .collect();
    let mut called = HashSet::new();
    let mut wrong = Vec::new();
    for (at, block) in &blocks {
        let id = if is_call(block) { &block.id } else { &block.tool_use_id };
        let fits = match id {
            Some(id) if is_call(block) => id.starts_with(SERVER_ID) && called.insert(id.as_str()),
            Some(id) => called.contains(id.as_str()),
            None => false,
        };
        if !fits || rule == ServerTools::None {
            wrong.push(*at);
        }
    }
    wrong
}

fn is_call(block: &Facts) -> bool {
    block.kind.as_deref() == Some("server_tool_use")
}

fn is_result(block: &Facts) -> bool {
    block.kind.as_deref().is_some_and(|it| it.ends_with("_tool_result"))
}
