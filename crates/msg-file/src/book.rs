//! What an append has to know about a file: ids, the largest number, agents, the default (MF-37, MF-47).
//!
//! It is filled from cells in order, so an open appender keeps it up to date with what it adds and
//! never reads the file again. It judges cells by kind, type and id alone.

use crate::agents::boolean;
use crate::cell::Cell;
use crate::document::{CellRef, Document, Mode};
use crate::grammar::{self, Kind};
use crate::meaning::is_language;
use crate::render::{self, NewCell};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// What may hang below a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// User, raw and agent cells: calls.
    Speaker,
    /// Code: calls and executions.
    Code,
    /// A call: results.
    Call,
    /// An execution: displays.
    Execution,
    /// Nothing but a summary.
    Other,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Book {
    ids: HashMap<Box<str>, Class>,
    /// The largest n below an id, wherever the cell of that id stands.
    largest_n: HashMap<Box<str>, u32>,
    /// The id of each cell, for `#n`.
    by_ordinal: Vec<Option<Box<str>>>,
    largest: u128,
    presets: Vec<Box<str>>,
    wanted: Option<Box<str>>,
    temporary: Vec<Box<str>>,
    known: HashSet<Box<str>>,
    implicit: HashSet<Box<str>>,
    directed: Option<Box<str>>,
    /// Calls by `call_id`: their ids, in order, and whether they have a result.
    calls: HashMap<Box<str>, Vec<(Box<str>, bool)>>,
    /// The `call_id` of a call cell, by id.
    call_ids: HashMap<Box<str>, Box<str>>,
    /// The level of messages.
    pub(crate) level: u8,
    /// The level of the section of a Markdown file.
    pub(crate) section: Option<u8>,
}

/// What has to be known of a cell, whether it was read or is about to be written.
struct Facts<'a> {
    kind: Kind,
    id: Option<Cow<'a, str>>,
    ty: Cow<'a, str>,
    title: Option<Cow<'a, str>>,
    /// The value of an attribute: none within for a flag.
    attr: &'a dyn Fn(&str) -> Option<Option<Cow<'a, str>>>,
}

impl<'a> Facts<'a> {
    fn has(&self, key: &str) -> bool {
        (self.attr)(key).is_some()
    }

    /// A value that is not empty.
    fn text(&self, key: &str) -> Option<Cow<'a, str>> {
        (self.attr)(key).flatten().filter(|it| !it.is_empty())
    }
}

impl Book {
    /// From a whole document.
    pub(crate) fn of(doc: &Document) -> Self {
        let mut book = Self { level: 1, ..Self::default() };
        if doc.mode() == Mode::Markdown {
            book.section = doc.section().map(|s| s.level);
            book.level = book.section.map_or(2, |level| level + 1).min(5);
        }
        if let Some(front) = doc.frontmatter() {
            book.presets = front.agents.iter().map(|(n, _)| n.as_str().into()).collect();
            book.known.extend(book.presets.iter().cloned());
            book.wanted = front.default_agent.as_deref().map(Into::into);
        }
        doc.cells().iter().for_each(|c| book.learn(c));
        book
    }

    /// Takes in one more cell at the end.
    pub(crate) fn learn(&mut self, cell: &Cell) {
        self.learn_facts(&Facts {
            kind: cell.head().kind,
            id: cell.id(),
            ty: cell.type_name().unwrap_or_default(),
            title: cell.heading().title,
            attr: &|key| cell.raw_attr(key).map(|it| cell.value(it)),
        });
    }

    /// Takes in a cell that is written under this id; it will read as it was given.
    pub(crate) fn learn_new(&mut self, cell: &NewCell, id: &str) {
        let last = |key: &str| cell.attrs.iter().rev().find(|it| it.0 == key);
        self.learn_facts(&Facts {
            kind: cell.kind,
            id: Some(id.into()),
            ty: cell.ty.as_deref().unwrap_or_default().into(),
            title: cell
                .title
                .as_deref()
                .map(render::title)
                .filter(|it| !it.is_empty())
                .map(Into::into),
            attr: &|key| last(key).map(|it| it.1.as_deref().map(Cow::Borrowed)),
        });
    }

    fn learn_facts(&mut self, cell: &Facts<'_>) {
        let id = cell.id.as_deref().map(Box::<str>::from);
        let ty = &*cell.ty;
        let class = self.class(cell, ty);
        if let Some(id) = &id {
            if let Some(base) = grammar::integer_base(id) {
                self.largest = self.largest.max(base);
            }
            if let Some((base, n)) =
                id.rsplit_once('.').and_then(|(b, n)| Some((b, grammar::integer(n)?)))
            {
                let largest = self.largest_n.entry(base.into()).or_default();
                *largest = n.max(*largest);
            }
            self.learn_call(cell, id, class);
            self.ids.insert(id.clone(), class);
        }
        self.by_ordinal.push(id);
    }

    /// Notes a call, or that a call has a result now.
    fn learn_call(&mut self, cell: &Facts<'_>, id: &str, class: Class) {
        if class == Class::Call {
            let call_id = cell.text("call_id").map_or_else(|| id.into(), |c| Box::<str>::from(&*c));
            self.calls.entry(call_id.clone()).or_default().push((id.into(), false));
            self.call_ids.insert(id.into(), call_id);
        } else if let Some((base, _)) = id.rsplit_once('.')
            && let Some(calls) = self.call_ids.get(base).and_then(|c| self.calls.get_mut(c))
            && let Some(call) = calls.iter_mut().rev().find(|c| *c.0 == *base)
        {
            call.1 = true;
        }
    }

    /// The cell of the latest call with that `call_id` and no result, else of the latest (MF-38).
    pub(crate) fn call(&self, call_id: &str) -> Option<&str> {
        let calls = self.calls.get(call_id)?;
        calls.iter().rev().find(|c| !c.1).or(calls.last()).map(|c| &*c.0)
    }

    fn class(&mut self, cell: &Facts<'_>, ty: &str) -> Class {
        let lower = ty.to_ascii_lowercase();
        if cell.kind == Kind::Message {
            match lower.as_str() {
                "code" => return Class::Code,
                "agent" => self.introduce(cell),
                "set" => self.direct(&cell.text("default").unwrap_or_default()),
                "function_call" => return Class::Call,
                _ => return Class::Speaker,
            }
            return Class::Other;
        }
        let parent = cell
            .id
            .as_deref()
            .unwrap_or_default()
            .rsplit_once('.')
            .and_then(|(base, n)| Some((*self.ids.get(base)?, grammar::integer(n))));
        match (lower.as_str(), parent) {
            ("tool", Some((Class::Call, Some(_)))) => Class::Other,
            ("tool", Some((Class::Speaker | Class::Code, _))) => Class::Call,
            ("tool", _) if cell.has("status") && !cell.has("name") => Class::Other,
            ("tool", _) => Class::Call,
            ("summary", _) => Class::Other,
            (_, Some((Class::Code, Some(_)))) => Class::Execution,
            (_, Some((Class::Execution, Some(_)))) => Class::Other,
            _ if self.known.contains(ty) => Class::Speaker,
            (lang, _) if is_language(lang) => Class::Execution,
            ("" | "output" | "markdown" | "md", _) => Class::Speaker,
            _ => {
                self.implicit.insert(ty.into());
                Class::Speaker
            }
        }
    }

    fn introduce(&mut self, cell: &Facts<'_>) {
        let title = || cell.title.as_deref().map(Cow::Borrowed);
        let id = || cell.id.as_deref().map(Cow::Borrowed);
        let Some(name) = cell.text("name").or_else(title).or_else(id) else { return };
        if self.known.insert((&*name).into()) {
            self.temporary.push((&*name).into());
        }
        let is_default =
            |value: Option<Cow<'_, str>>| value.is_none_or(|v| boolean(&v) == Some(true));
        if (cell.attr)("default").is_some_and(is_default) {
            self.direct(&name);
        }
    }

    fn direct(&mut self, name: &str) {
        if self.knows_agent(name) {
            self.directed = Some(name.into());
        }
    }

    /// Whether an agent of that name takes part.
    pub(crate) fn knows_agent(&self, name: &str) -> bool {
        self.known.contains(name) || self.implicit.contains(name)
    }

    /// Whether the name is a preset's or a temporary agent's.
    pub(crate) fn is_registered(&self, name: &str) -> bool {
        self.known.contains(name)
    }

    /// The default agent at the end of the file.
    pub(crate) fn default_agent(&self) -> Option<&str> {
        let wanted = self.wanted.as_deref().filter(|w| self.known.contains(*w));
        let first = self.presets.first().or(self.temporary.first()).map(|a| &**a);
        self.directed.as_deref().or(wanted).or(first)
    }

    pub(crate) fn has_id(&self, id: &str) -> bool {
        self.ids.contains_key(id)
    }

    /// Number of cells.
    pub(crate) fn len(&self) -> usize {
        self.by_ordinal.len()
    }

    /// The largest number in use, or reserved.
    pub(crate) fn largest(&self) -> u128 {
        self.largest
    }

    /// Gives no number up to this one.
    pub(crate) fn reserve(&mut self, largest: u128) {
        self.largest = self.largest.max(largest);
    }

    /// The next number for a cell without an id.
    pub(crate) fn next_id(&self) -> u128 {
        self.largest + 1
    }

    /// Id, class and next n of a cell that something is to hang below.
    pub(crate) fn parent(&self, reference: &CellRef) -> Option<(&str, Class, u32)> {
        let id: &str = match reference {
            CellRef::Id(id) => id,
            CellRef::Ordinal(n) => self.by_ordinal.get(n.checked_sub(1)?)?.as_deref()?,
        };
        let (id, class) = self.ids.get_key_value(id)?;
        let largest = self.largest_n.get(id).copied().unwrap_or(0);
        Some((id, *class, largest + 1))
    }
}
