//! The cells of two prompts that are compared: without tools that are a setting, and without thinking that the API takes
//! out itself (CL-5, CL-6).

use std::borrow::Cow;

use xxhash_rust::xxh3::Xxh3;

use crate::cell::{Cell, Kind, Level};
use crate::family::{Family, SettingName};
use crate::prompt::Prompt;
use crate::spell::{Spelling, Value, whole};

/// A message, and what both of it are equal by.
#[derive(Debug, Clone)]
pub(crate) struct Message<'b> {
    /// The place in the body's own array.
    pub(crate) index: usize,
    pub(crate) role: Cow<'b, str>,
    pub(crate) hash: u128,
    /// Its cells among those of the messages.
    pub(crate) cells: (usize, usize),
}

/// What is compared of a prompt.
pub(crate) struct View<'p, 'b> {
    pub(crate) tools: Vec<&'p Cell<'b, 'b>>,
    pub(crate) system: Vec<&'p Cell<'b, 'b>>,
    /// The cells of all messages.
    pub(crate) talk: Vec<&'p Cell<'b, 'b>>,
    pub(crate) messages: Vec<Message<'b>>,
    /// Some thinking after its own last question was taken out.
    pub(crate) strips: bool,
}

impl<'p, 'b> View<'p, 'b> {
    /// What is compared of it, without the thinking of the messages before `question`.
    pub(crate) fn of(prompt: &'p Prompt<'b, 'b>, question: usize, with_search: bool) -> Self {
        let tools = prompt.level(Level::Tools).iter();
        let tools = tools.filter(|it| with_search || !it.is_search).collect();
        let system = prompt.level(Level::System).iter().collect();
        let own_question = last_question(prompt);
        let (mut talk, mut messages) = (Vec::new(), Vec::new());
        let mut stripped = false;
        for (at, unit) in prompt.units.iter().enumerate() {
            let from = talk.len();
            let mut hash = Xxh3::new();
            hash.update(unit.role.as_bytes());
            for cell in prompt.cells_of(unit) {
                if at < question && cell.kind == Kind::Thinking {
                    stripped |= at >= own_question;
                    continue;
                }
                hash.update(&cell.hash.to_le_bytes());
                talk.push(cell);
            }
            let (hash, cells) = (hash.digest128(), (from, talk.len()));
            messages.push(Message { index: unit.index, role: unit.role.clone(), hash, cells });
        }
        View { tools, system, talk, messages, strips: stripped }
    }

    /// The cells of a message.
    pub(crate) fn cells_of(&self, message: &Message<'_>) -> &[&'p Cell<'b, 'b>] {
        &self.talk[message.cells.0..message.cells.1]
    }

    /// All cells in the order of the cache.
    pub(crate) fn all(&self) -> impl Iterator<Item = &'p Cell<'b, 'b>> + '_ {
        self.tools.iter().chain(&self.system).chain(&self.talk).copied()
    }

    /// The message that a cell of the talk belongs to.
    pub(crate) fn message_at(&self, cell: usize) -> usize {
        self.messages.partition_point(|it| it.cells.1 <= cell)
    }
}

/// The place of the last message of the user that is not a result.
pub(crate) fn last_question(prompt: &Prompt<'_, '_>) -> usize {
    let is_question = |it: &crate::cell::Unit<'_>| {
        it.role == "user" && prompt.cells_of(it).iter().any(|it| it.kind != Kind::Result)
    };
    prompt.units.iter().rposition(is_question).unwrap_or(0)
}

/// Where the messages of two prompts part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parting {
    Same,
    /// The second goes on.
    Growth,
    /// The second ends at this message of the first.
    Rewind(usize),
    /// These messages differ.
    At(usize, usize),
}

/// Where they part, how many whole messages of the first come before it, and how many cells.
pub(crate) fn parting(a: &View<'_, '_>, b: &View<'_, '_>, joins: bool) -> (Parting, usize, usize) {
    if joins {
        return parting_of_cells(a, b);
    }
    let same = a.messages.iter().zip(&b.messages).take_while(|(one, other)| one.hash == other.hash);
    let n = same.count();
    let cells = n.checked_sub(1).map_or(0, |it| a.messages[it].cells.1);
    let parting = match (n == a.messages.len(), n == b.messages.len()) {
        (true, true) => Parting::Same,
        (true, false) => Parting::Growth,
        (false, true) => Parting::Rewind(n),
        (false, false) => Parting::At(n, n),
    };
    (parting, n, cells)
}

fn parting_of_cells(a: &View<'_, '_>, b: &View<'_, '_>) -> (Parting, usize, usize) {
    let same = a.talk.iter().zip(&b.talk).take_while(|(one, other)| one.hash == other.hash);
    let n = same.count();
    let whole = a.messages.partition_point(|it| it.cells.1 <= n);
    let parting = match (n == a.talk.len(), n == b.talk.len()) {
        (true, true) => Parting::Same,
        (true, false) => Parting::Growth,
        (false, true) => Parting::Rewind(a.message_at(n)),
        (false, false) => {
            let (d, e) = (a.message_at(n), b.message_at(n));
            // Where one message ends and the other goes on, these two are what differs.
            let (starts_a, starts_b) = (a.messages[d].cells.0 == n, b.messages[e].cells.0 == n);
            match (starts_a, starts_b) {
                (true, false) if d > 0 => Parting::At(d - 1, e),
                (false, true) if e > 0 => Parting::At(d, e - 1),
                _ => Parting::At(d, e),
            }
        }
    };
    (parting, whole, n)
}

// Settings of a request that break the cache when they change, without those that say a default (CL-5).

/// A setting that is not at its default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Setting {
    /// The name, as the providers' table has it.
    pub(crate) name: &'static str,
    /// What it says.
    pub(crate) value: String,
}

/// The settings of a body that say something else than their default.
pub(crate) fn settings(body: &Value<'_>, family: Family) -> Vec<Setting> {
    let of_row = |it: &'static SettingName| {
        let value = it.path.split('.').try_fold(body, |value, name| value.get(name))?;
        (!is_default(value, &it.defaults)).then(|| setting(&it.name, value))
    };
    let mut res: Vec<Setting> = family.settings().iter().filter_map(of_row).collect();
    if family == Family::Anthropic {
        res.extend(web_search(body));
        res.extend(has_citations(body).then(|| flag("citations")));
    }
    res
}

fn setting(name: &'static str, value: &Value<'_>) -> Setting {
    let mut text = String::new();
    whole(value, Spelling::Meaning, &mut text);
    Setting { name, value: text }
}

fn flag(name: &'static str) -> Setting {
    Setting { name, value: "on".to_owned() }
}

/// A default is the word, an object whose type is the word and that says nothing else, or an object with it as its only
/// member.
fn is_default(value: &Value<'_>, defaults: &[String]) -> bool {
    let is_one = |it: Option<&str>| it.is_some_and(|it| defaults.iter().any(|one| one == it));
    match value.members() {
        [] => is_one(value.text()),
        [(name, it)] => (name == "type" && is_one(it.text())) || is_one(Some(&**name)),
        _ => false,
    }
}

pub(crate) fn is_web_search(tool: &Value<'_>) -> bool {
    tool.text_of("type").is_some_and(|it| it.starts_with("web_search"))
}

fn web_search(body: &Value<'_>) -> Option<Setting> {
    let mut tools = body.get("tools").map_or(&[][..], Value::list).iter();
    tools.any(is_web_search).then(|| flag("web_search"))
}

/// Whether any document of the messages has citations switched on.
fn has_citations(body: &Value<'_>) -> bool {
    let messages = body.get("messages").map_or(&[][..], Value::list);
    let mut blocks = messages.iter().filter_map(|it| it.get("content")).flat_map(Value::list);
    blocks.any(|it| it.at(&["citations", "enabled"]) == Some(&Value::Bool(true)))
}
