//! What is cached or is not, as a whole: a tool, a block of the system prompt, a part of a message (CL-1).

use std::borrow::Cow;

use msg_json::JsonValue as Value;
use serde::Deserialize;
use xxhash_rust::xxh3::Xxh3;

use crate::spell::{self, Spelling};

/// Where a cell is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Level {
    /// The definitions of tools.
    Tools,
    /// The system prompt.
    System,
    /// The conversation.
    Messages,
}

impl Level {
    pub(crate) fn name(self) -> &'static str {
        ["tools", "system", "messages"][self as usize]
    }
}

/// What a cell holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Tool,
    Text,
    Thinking,
    Media,
    Call,
    Result,
    Refusal,
    Other,
}

/// What a cell is made of.
#[derive(Debug, Clone)]
pub(crate) enum Source<'v> {
    Text(&'v str),
    Part(&'v Value<'v>),
    /// Some members of a message or an item.
    Members(Vec<(&'v str, &'v Value<'v>)>),
    /// Not kept ([`crate::prompt::Prompt::outline`]).
    Gone,
}

/// What is cached or is not, as a whole.
#[derive(Debug, Clone)]
pub(crate) struct Cell<'v> {
    pub(crate) level: Level,
    /// The place in the body's own array.
    pub(crate) index: usize,
    /// Who speaks; empty for tools.
    pub(crate) role: Cow<'static, str>,
    pub(crate) kind: Kind,
    pub(crate) source: Source<'v>,
    /// How long each breakpoint at it asks the entry to live.
    pub(crate) marks: Vec<Cow<'static, str>>,
    /// Of what the provider sees of it, role and kind included.
    pub(crate) hash: u128,
    /// Length of what the provider sees, in bytes.
    pub(crate) size: usize,
    /// A tool with which the provider searches the web.
    pub(crate) is_search: bool,
    /// An image, or a result with one.
    pub(crate) is_image: bool,
    /// Names in snake case are those in camel case.
    pub(crate) camel: bool,
}

impl<'v> Cell<'v> {
    /// One of its texts.
    pub(crate) fn spelled(&self, how: Spelling) -> String {
        let mut out = String::new();
        self.spell(how, &mut out);
        out
    }

    fn spell(&self, how: Spelling, out: &mut String) {
        match &self.source {
            Source::Text(it) => out.push_str(it),
            Source::Part(it) => spell::part(it, how, self.camel, out),
            Source::Members(it) => spell::members(it.iter().copied(), how, self.camel, out),
            Source::Gone => {}
        }
    }

    /// A member of what it is made of.
    pub(crate) fn member(&self, names: &[&str]) -> Option<&'v Value<'v>> {
        let Source::Members(members) = &self.source else { return self.part()?.any(names) };
        let known = members.iter().rev().filter(|it| *it.1 != Value::Null);
        names.iter().find_map(|name| known.clone().find(|it| it.0 == *name)).map(|it| it.1)
    }

    fn part(&self) -> Option<&'v Value<'v>> {
        if let Source::Part(it) = self.source { Some(it) } else { None }
    }

    /// The text of a text.
    pub(crate) fn text(&self) -> Option<&str> {
        match self.source {
            Source::Text(it) => Some(it),
            _ => self.part()?.text_of("text"),
        }
    }

    /// The name of a tool.
    pub(crate) fn tool_name(&self) -> &str {
        let Some(tool) = self.part() else { return "" };
        let inner = tool.any(&["function", "toolSpec", "custom"]).unwrap_or(tool);
        let named = inner.text_of("name").or_else(|| tool.text_of("type"));
        named.or_else(|| tool.members().first().map(|it| &*it.0)).unwrap_or_default()
    }

    /// With its hash and size. `room` is written over; a text is not copied.
    pub(crate) fn hashed(mut self, room: &mut String) -> Self {
        room.clear();
        let text = match self.source {
            Source::Text(it) => it,
            _ => {
                self.spell(Spelling::Rendered, room);
                room
            }
        };
        self.size = text.len();
        let mut hash = Xxh3::new();
        hash.update(&[self.level as u8, self.kind as u8]);
        hash.update(self.role.as_bytes());
        hash.update(&[0]);
        hash.update(text.as_bytes());
        self.hash = hash.digest128();
        self
    }
}

/// A message, content or item: a stretch of the cells.
#[derive(Debug, Clone)]
pub(crate) struct Unit {
    /// The place in the body's own array.
    pub(crate) index: usize,
    pub(crate) role: Cow<'static, str>,
    /// The first cell, and the one after the last.
    pub(crate) cells: (usize, usize),
    /// Of its role and its cells.
    pub(crate) hash: u128,
    /// It begins with a breakpoint, which is that of the cell before it.
    pub(crate) marks_before: bool,
}

impl Unit {
    /// Of the cells that were added last, from this one on.
    pub(crate) fn since(self, from: usize, cells: &[Cell<'_>]) -> Self {
        let mut hash = Xxh3::new();
        hash.update(self.role.as_bytes());
        cells[from..].iter().for_each(|it| hash.update(&it.hash.to_le_bytes()));
        Unit { cells: (from, cells.len()), hash: hash.digest128(), ..self }
    }
}

/// The same text, without a copy where it is one of the usual roles and lifetimes.
pub(crate) fn kept(text: &str) -> Cow<'static, str> {
    const USUAL: &[&str] =
        &["", "user", "assistant", "model", "tool", "system", "developer", "default", "5m", "1h"];
    let usual = USUAL.iter().find(|it| **it == text);
    usual.map_or_else(|| Cow::Owned(text.to_owned()), |it| Cow::Borrowed(*it))
}
