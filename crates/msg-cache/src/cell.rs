//! What is cached or is not, as a whole: a tool, a block of the system prompt, a part of a message (CL-1).

use std::borrow::Cow;

use xxhash_rust::xxh3::Xxh3;

use crate::spell::{self, Spelling, Value};

/// Where a cell is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// The definitions of tools.
    Tools,
    /// The system prompt.
    System,
    /// The conversation.
    Messages,
}

impl Level {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Level::Tools => "tools",
            Level::System => "system",
            Level::Messages => "messages",
        }
    }
}

/// What a cell holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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
pub(crate) enum Source<'b, 'a> {
    Text(&'b str),
    Part(&'b Value<'a>),
    /// A part whose own id says nothing.
    Item(&'b Value<'a>),
    /// Some members of a message that belong together.
    Members(Vec<(&'static str, &'b Value<'a>)>),
    /// Not kept ([`Prompt::outline`]).
    Gone,
}

/// What is cached or is not, as a whole.
#[derive(Debug, Clone)]
pub(crate) struct Cell<'b, 'a> {
    pub(crate) level: Level,
    /// The place in the body's own array.
    pub(crate) index: usize,
    /// Who speaks; empty for tools.
    pub(crate) role: Cow<'b, str>,
    pub(crate) kind: Kind,
    pub(crate) source: Source<'b, 'a>,
    /// How long each breakpoint at it asks the entry to live.
    pub(crate) marks: Vec<Cow<'b, str>>,
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

impl Cell<'_, '_> {
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
            Source::Item(it) => {
                let members = it.members().iter().filter(|it| it.0 != "id");
                let members = members.map(|it| (&*it.0, &it.1));
                spell::members(members, how, self.camel, out);
            }
            Source::Members(members) => {
                spell::members(members.iter().copied(), how, self.camel, out);
            }
            Source::Gone => {}
        }
    }

    /// The same without what it is made of.
    pub(crate) fn outline(&self) -> Cell<'static, 'static> {
        Cell {
            role: kept(&self.role),
            source: Source::Gone,
            marks: self.marks.iter().map(|it| Cow::Owned(it.to_string())).collect(),
            ..*self
        }
    }

    /// A member of what it is made of.
    pub(crate) fn member(&self, names: &[&str]) -> Option<&Value<'_>> {
        match &self.source {
            Source::Text(_) | Source::Gone => None,
            Source::Part(it) | Source::Item(it) => it.any(names),
            Source::Members(members) => {
                members.iter().find(|it| names.contains(&it.0)).map(|it| it.1)
            }
        }
    }

    /// The text of a text.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.source {
            Source::Text(it) => Some(it),
            Source::Part(it) => it.text_of("text"),
            Source::Item(_) | Source::Members(_) | Source::Gone => None,
        }
    }

    /// The name of a tool.
    pub(crate) fn tool_name(&self) -> &str {
        let Source::Part(tool) = &self.source else { return "" };
        let inner = tool.any(&["function", "toolSpec", "custom"]).unwrap_or(tool);
        let named = inner.text_of("name").or_else(|| tool.text_of("type"));
        named.or_else(|| tool.members().first().map(|it| &*it.0)).unwrap_or_default()
    }

    /// With its hash and size. `room` is written over; a text is not copied.
    pub(crate) fn hashed(mut self, room: &mut String) -> Self {
        room.clear();
        let text = match &self.source {
            Source::Text(it) => *it,
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
pub(crate) struct Unit<'b> {
    /// The place in the body's own array.
    pub(crate) index: usize,
    pub(crate) role: Cow<'b, str>,
    /// The first cell, and the one after the last.
    pub(crate) cells: (usize, usize),
}

/// The same text, without a copy where it is one of the usual roles.
pub(crate) fn kept(role: &str) -> Cow<'static, str> {
    const ROLES: &[&str] = &["", "user", "assistant", "model", "tool", "system", "developer"];
    let usual = ROLES.iter().find(|it| **it == role);
    usual.map_or_else(|| Cow::Owned(role.to_owned()), |it| Cow::Borrowed(*it))
}
