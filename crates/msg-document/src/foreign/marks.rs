//! Markers: what only documents of one format have, each a short line of a table.
//!
//! ```text
//! message role=tool-call|tool-response     a member with one of these texts, in a message
//! document custom_id body                  two members of the document, or of an element of a list that it is
//! content type=tool-result toolCallId      two members of an object in the list `content` of a message
//! content{} type=text                      … of the object in `content`
//! input.message role=model                 in what is listed in `input`
//! messages.content type=input_text         … in `content` of what is listed in `messages`
//! document request/messages response       a member of a member; `*` for any
//! ```
//!
//! | a condition | holds of an object that |
//! |--|--|
//! | `name`, `name*` | has a member of this name, or of one that begins so |
//! | `!name` | has none |
//! | `name=a\|b`, `name^a`, `name$a` | has one whose text is one of these, begins so, ends so |
//! | `name:T`, `name:L`, `name:F`, `name:O` | has one that is a text, a list, a list with items, an object |
//! | `@1` | has one member |
//!
//! Looked at is the envelope, the messages, and the objects in the members that hold parts (RG-4): never arguments,
//! payloads, metadata or texts. Each member of a document is looked up once; a line of the table is tried where its
//! first condition may hold.

use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock};

use super::{Foreign, TABLES};
use crate::outline::{
    FULL, Hashed, Inner, Item, List, Member, Outline, Record, ValueKind, text_hash,
};

/// A marker as it is asked.
struct Mark {
    row: &'static Foreign,
    level: &'static str,
    /// Its conditions as they are written: most are never tried.
    words: &'static str,
    conditions: OnceLock<Vec<Condition>>,
}

/// What an object must have, or not have.
struct Condition {
    is_absent: bool,
    /// The names of the member, of the one in it, and of the one in that.
    path: Vec<&'static str>,
    test: Test,
}

enum Test {
    Exists,
    Kind(ValueKind),
    Full,
    OneOf(Vec<&'static str>),
    Begins(&'static str),
    Ends(&'static str),
    Alone,
}

/// All marks, in the order of the tables, and which to try of an object: by its level, the name of the member of their
/// first condition, and its text if one is named.
struct Marks {
    marks: Vec<Mark>,
    /// The first link of those that share a key.
    heads: HashMap<u64, usize, Hashed>,
    /// A mark, and the next link.
    links: Vec<(usize, Option<usize>)>,
}

/// The key of marks whose first condition is on the beginning of a name.
const ANY_NAME: &str = "*";

/// The key of a name at a level.
fn name_key(level: u64, name: &str) -> u64 {
    level.rotate_left(23) ^ text_hash(name)
}

/// The key of a name with this text.
fn value_key(name_key: u64, text: &str) -> u64 {
    name_key.rotate_left(19) ^ text_hash(text)
}

static MARKS: LazyLock<Marks> = LazyLock::new(Marks::of_tables);

/// A marker that was found: its format, the member that showed it, and in which message.
#[derive(Clone)]
pub(crate) struct Found {
    /// The place of the mark in the tables: the first one names the document.
    order: usize,
    /// Whether it is of an item that could be a document, not of a message.
    is_item: bool,
    pub(crate) row: &'static Foreign,
    pub(crate) member: String,
    pub(crate) message: Option<usize>,
}

impl Found {
    /// `toolCalls in message 3`.
    pub(crate) fn shown(&self) -> String {
        let what = if self.is_item { "item" } else { "message" };
        let place = self.message.map(|it| format!(" in {what} {it}")).unwrap_or_default();
        format!("`{}`{place}", self.member)
    }
}

/// The first marker of the tables that a document has, which is read by `format` otherwise.
pub(crate) fn find(outline: &Outline<'_>, format: Option<&str>) -> Option<Found> {
    let marks = &*MARKS;
    let mut best: Option<Found> = None;
    let mut seen = |level: &str, object: &Object<'_, '_>, message: Option<usize>| {
        let limit = best.as_ref().map_or(usize::MAX, |it| it.order);
        if let Some(order) = marks.first(level, object, limit, format) {
            let mark = &marks.marks[order];
            let member = mark.conditions()[0].shown(object);
            let is_item = matches!(level, "document" | "element");
            best = Some(Found { order, is_item, row: mark.row, member, message });
        }
    };
    if let Some(entry) = outline.entry() {
        let object = Object::Entry(entry, outline);
        ["entry", "document", "any"].iter().for_each(|it| seen(it, &object, None));
    }
    for list in outline.lists().iter().filter(|it| is_of_messages(it)) {
        for record in list.records() {
            let (object, at) = (Object::Record(record), Some(record.at));
            seen("any", &object, at);
            if list.name().is_empty() {
                seen("element", &object, at);
                seen("document", &object, at);
            }
            seen("message", &object, at);
            if list.name() == "input" {
                seen("input.message", &object, at);
            }
            for Inner { name, is_listed, item } in record.inner() {
                let object = Object::Item(item);
                match is_listed {
                    true if *name == "content" && list.name() == "messages" => {
                        seen("content", &object, at);
                        seen("messages.content", &object, at);
                    }
                    true => seen(name, &object, at),
                    false if *name == "content" => seen("content{}", &object, at),
                    false => {}
                }
            }
        }
    }
    best
}

/// Whether a list may be one of messages, items or events.
fn is_of_messages(list: &List<'_>) -> bool {
    matches!(
        list.name(),
        "" | "messages"
            | "input"
            | "inputs"
            | "contents"
            | "items"
            | "steps"
            | "events"
            | "history"
            | "chat_history"
            | "prompt"
            | "conversation"
            | "conversations"
            | "input_messages"
    )
}

/// An object of a document.
enum Object<'o, 'a> {
    /// The document itself, of which more is known.
    Entry(&'o Record<'a>, &'o Outline<'a>),
    Record(&'o Record<'a>),
    Item(&'o Item<'a>),
}

impl<'a> Object<'_, 'a> {
    fn members(&self) -> &[Member<'a>] {
        match self {
            Object::Entry(it, _) | Object::Record(it) => it.members(),
            Object::Item(it) => it.members(),
        }
    }

    /// Whether something at a path holds.
    fn any(&self, path: &[&str], holds: &dyn Fn(&Member<'a>) -> bool) -> bool {
        let [name, below @ ..] = path else { return false };
        if below.is_empty() {
            return self.members().iter().any(|it| is_called(it.0, name) && holds(it));
        }
        match self {
            Object::Entry(_, outline) => {
                let object = outline.object(name).into_iter();
                let list = outline.list(name).into_iter().flat_map(List::records);
                object.chain(list).any(|it| Object::Record(it).any(below, holds))
            }
            Object::Record(record) => {
                let inner = record.inner().iter().filter(|it| is_called(it.name, name));
                inner.into_iter().any(|it| Object::Item(&it.item).any(below, holds))
            }
            Object::Item(_) => false,
        }
    }
}

fn is_called(name: &str, pattern: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == pattern,
    }
}

impl Mark {
    fn conditions(&self) -> &[Condition] {
        self.conditions.get_or_init(|| self.words.split(' ').map(Condition::parse).collect())
    }

    fn holds(&self, level: &str, object: &Object<'_, '_>) -> bool {
        self.level == level && self.conditions().iter().all(|it| it.holds(object))
    }
}

impl Marks {
    fn of_tables() -> Self {
        let n = TABLES.iter().copied().flatten().map(|it| it.marks.len()).sum();
        let mut res = Marks {
            marks: Vec::with_capacity(n),
            heads: HashMap::with_capacity_and_hasher(2 * n, Hashed::default()),
            links: Vec::with_capacity(2 * n),
        };
        for row in TABLES.iter().copied().flatten() {
            for line in row.marks {
                let (level, words) = line.split_once(' ').unwrap_or((line, ""));
                res.add(level, words.split(' ').next().unwrap_or_default());
                res.marks.push(Mark { row, level, words, conditions: OnceLock::new() });
            }
        }
        res
    }

    /// Adds the next mark under the keys of its first condition.
    fn add(&mut self, level: &str, first: &str) {
        let level = text_hash(level);
        let (path, rest) = Condition::split(first.trim_start_matches('!'));
        let (name, is_direct) = path.split_once('/').map_or((path, true), |it| (it.0, false));
        let key = name_key(level, if name.ends_with('*') { ANY_NAME } else { name });
        match rest.strip_prefix('=').filter(|_| is_direct && !name.ends_with('*')) {
            Some(texts) => texts.split('|').for_each(|it| self.link(value_key(key, it))),
            None => self.link(key),
        }
    }

    fn link(&mut self, key: u64) {
        let before = self.heads.insert(key, self.links.len());
        self.links.push((self.marks.len(), before));
    }

    /// The marks under a key.
    fn of_key(&self, key: u64) -> impl Iterator<Item = usize> {
        let link = |it: usize| Some(self.links[it]);
        let first = self.heads.get(&key).copied().and_then(link);
        std::iter::successors(first, move |it| it.1.and_then(link)).map(|it| it.0)
    }

    /// The first mark before `limit` that an object of a level has.
    fn first(
        &self,
        level: &str,
        object: &Object<'_, '_>,
        limit: usize,
        format: Option<&str>,
    ) -> Option<usize> {
        let hash = text_hash(level);
        let named = object.members().iter().flat_map(|it| {
            let key = name_key(hash, it.0);
            self.of_key(key).chain(self.of_key(value_key(key, it.2)))
        });
        let tried = named.chain(self.of_key(name_key(hash, ANY_NAME)));
        let tried = tried.filter(|it| *it < limit);
        let tried = tried.filter(|it| format != Some(self.marks[*it].row.read_by));
        tried.filter(|it| self.marks[*it].holds(level, object)).min()
    }
}

impl Condition {
    fn parse(word: &'static str) -> Self {
        let (is_absent, word) = word.strip_prefix('!').map_or((false, word), |it| (true, it));
        if word == "@1" {
            return Condition { is_absent, path: vec![""], test: Test::Alone };
        }
        let (path, rest) = Self::split(word);
        let test = match rest.split_at(rest.len().min(1)) {
            ("=", texts) => Test::OneOf(texts.split('|').collect()),
            ("^", start) => Test::Begins(start),
            ("$", tail) => Test::Ends(tail),
            (":", "T") => Test::Kind(ValueKind::Text),
            (":", "L") => Test::Kind(ValueKind::List),
            (":", "O") => Test::Kind(ValueKind::Object),
            (":", _) => Test::Full,
            _ => Test::Exists,
        };
        Condition { is_absent, path: path.split('/').collect(), test }
    }

    /// The path of a condition, and what is asked of the member.
    fn split(word: &str) -> (&str, &str) {
        let end = word.find(['=', '^', '$', ':']).filter(|it| *it > 0).unwrap_or(word.len());
        word.split_at(end)
    }

    fn holds(&self, object: &Object<'_, '_>) -> bool {
        let found = match &self.test {
            Test::Alone => object.members().len() == 1,
            test => object.any(&self.path, &|it| test.holds(it)),
        };
        found != self.is_absent
    }

    /// How the member that it names is called in the object: its text, where that is what tells.
    fn shown(&self, object: &Object<'_, '_>) -> String {
        let path = self.path.join(".");
        let own = object.members().iter().find(|it| is_called(it.0, self.path[0]));
        match (&self.test, own) {
            (Test::OneOf(_) | Test::Begins(_) | Test::Ends(_), Some(it))
                if self.path.len() == 1 && !it.2.starts_with('<') =>
            {
                it.2.to_owned()
            }
            (_, Some(it)) if self.path.len() == 1 => it.0.to_owned(),
            _ => path,
        }
    }
}

impl Test {
    fn holds(&self, member: &Member<'_>) -> bool {
        let (_, kind, text) = *member;
        match self {
            Test::Exists => kind != ValueKind::Null,
            Test::Kind(it) => kind == *it,
            Test::Full => kind == ValueKind::List && text == FULL,
            Test::OneOf(texts) => texts.contains(&text),
            Test::Begins(start) => kind == ValueKind::Text && text.starts_with(start),
            Test::Ends(tail) => kind == ValueKind::Text && text.ends_with(tail),
            Test::Alone => false,
        }
    }
}
