//! Stores of frameworks: a list of messages that are objects, or lines of them. One mechanism reads, checks and
//! repairs them; one file per framework describes its form as a [`Store`].
//!
//! ```text
//! bytes -> records (a list at a known path, or lines) -> Store::read -> view -> check -> edits -> bytes
//! ```
//!
//! Calls and their results are checked (SE-147) on the messages of the records. The record and block of a part
//! determine the place of an edit.
//!
//! Seals are provider data that frameworks store beside reasoning, a text or a call: signatures, encrypted reasoning
//! and the ids of items. A seal is read into the place of its provider, so it is never sent to another one (AN-7).
//!
//! ```text
//! "providerMetadata":{"anthropic":{"signature":"…"}}            signature
//! "providerMetadata":{"google":{"thoughtSignature":"…"}}        extra.gemini.thoughtSignature
//! "providerMetadata":{"openai":{"itemId":"rs_1","reasoningEncryptedContent":"…"}}   encrypted, extra.responses
//! ```

use std::ops::Range;

use msg_core::{Maker, Origin, Part, Reasoning, Role};

use super::{Checked, Format, Mends, Write};
use crate::dialects::records::File;
use crate::edit::{Kind, Object, Value, quoted};
use crate::error::SessionOptions;
use crate::frame::{Array, Lines, read_at, read_lines, read_others};
use crate::source::Blob;
use crate::view::{Draft, PartOrigin, View};
use crate::{Dialect, Error, parts};

pub(crate) mod adk;
pub(crate) mod ag_ui;
pub(crate) mod agent_framework;
pub(crate) mod agents_sdk;
pub(crate) mod ai_sdk;
pub(crate) mod autogen;
mod check;
pub(crate) mod haystack;
pub(crate) mod langchain;
pub(crate) mod llama_index;
pub(crate) mod pydantic_ai;
pub(crate) mod semantic_kernel;
pub(crate) mod vercel_ui;
pub(crate) mod writing;

/// Describes the store of a framework.
pub(crate) struct Store {
    pub(crate) dialect: Dialect,
    /// Paths to the list of messages in a document that is not itself the list.
    lists: &'static [&'static str],
    /// Members of which a record has at least one.
    members: &'static [&'static str],
    /// Members whose lists are separate conversations anywhere in the document. They are checked and repaired too.
    threads: &'static [&'static str],
    /// Whether a file may have one message per line.
    has_lines: bool,
    /// Paths in a record to the lists of its parts, of separate calls, and of results.
    blocks: &'static [&'static str],
    /// Whether a result must directly follow its call.
    finds_late: bool,
    /// Reads the records as messages.
    read: fn(&Records<'_>) -> View,
    /// The closing that marks a call as interrupted.
    close: fn(&Open<'_>) -> Closing,
    /// Turns a result into a record.
    wrap: Wrap,
    /// The style of a record, for stores that are written in several ways; 0 is the usual one.
    style: fn(&Object<'_>) -> u8,
    /// Writes messages as such a store.
    write: Write,
}

/// How to insert a result that is a part of a record.
pub(crate) struct Wrap {
    /// Makes a record for it; `beside` is the record that it follows, and `style` its style.
    record: fn(block: &str, beside: &Object<'_>, style: u8) -> String,
    /// Whether a record that follows an answer takes the answer's results into its own list.
    takes_results: fn(&Object<'_>) -> bool,
}

impl Wrap {
    /// Inserts each result in a record of its own.
    const fn new(record: fn(&str, &Object<'_>, u8) -> String) -> Self {
        Self { record, takes_results: |_| false }
    }
}

impl Store {
    /// A store with one message per record, in a list that is the document or in `messages`.
    const fn new(
        dialect: Dialect,
        read: fn(&Records<'_>) -> View,
        close: fn(&Open<'_>) -> Closing,
        write: Write,
    ) -> Self {
        Self {
            dialect,
            lists: &["messages"],
            members: &["role", "content"],
            threads: &[],
            has_lines: false,
            blocks: &["content"],
            finds_late: true,
            read,
            close,
            wrap: Wrap::new(|block, _, _| block.to_owned()),
            style: |_| 0,
            write,
        }
    }
}

static STORES: [&Store; 12] = [
    &vercel_ui::STORE,
    &ai_sdk::STORE,
    &ag_ui::STORE,
    &langchain::STORE,
    &pydantic_ai::STORE,
    &agents_sdk::STORE,
    &adk::STORE,
    &haystack::STORE,
    &llama_index::STORE,
    &autogen::STORE,
    &agent_framework::STORE,
    &semantic_kernel::STORE,
];

/// The store of a dialect that belongs to a framework.
pub(crate) fn store(dialect: Dialect) -> Option<&'static Store> {
    STORES.into_iter().find(|it| it.dialect == dialect)
}

/// How many records of a list are looked at.
const RECORDS: usize = 50;

/// The dialect of the messages in a document, if they are where stores of that dialect keep them.
pub(crate) fn held(
    document: &str,
    by_record: impl Fn(Value<'_>) -> Option<Dialect>,
) -> Option<Dialect> {
    let mut paths: Vec<&str> = STORES.iter().flat_map(|it| it.lists).copied().collect();
    paths.sort_unstable();
    paths.dedup();
    paths.into_iter().find_map(|path| {
        let array = read_at(document.as_bytes(), &[path]);
        let found = array.values().take(RECORDS).find_map(&by_record)?;
        store(found).filter(|it| it.lists.contains(&path)).map(|it| it.dialect)
    })
}

/// The records of a store.
pub(crate) struct Records<'a> {
    values: Vec<Value<'a>>,
    /// The enclosing object.
    document: Option<Object<'a>>,
}

/// A call that has no result.
pub(crate) struct Open<'a> {
    id: &'a str,
    name: &'a str,
    record: &'a Object<'a>,
    /// The style of the record.
    style: u8,
    block: Option<Value<'a>>,
}

/// How to close an unanswered call.
pub(crate) enum Closing {
    /// By adding members to the call's block.
    Members(Vec<(&'static str, String)>),
    /// By adding members to an object in the call's block.
    MembersOf(&'static str, Vec<(&'static str, String)>),
    /// By a result: a record, or a part of one.
    Result(String),
}

/// Reads each record independently.
fn each(records: &Records<'_>, mut add: impl FnMut(&mut View, usize, &Object<'_>)) -> View {
    let mut view = View::default();
    for (at, value) in records.values.iter().enumerate() {
        if let Some(object) = value.object() {
            add(&mut view, at, &object);
        }
    }
    view
}

/// The messages of one record as they are built: tool parts go to a message of their own.
struct Grown<'v> {
    view: &'v mut View,
    draft: Draft,
    at: usize,
}

impl<'v> Grown<'v> {
    fn new(view: &'v mut View, role: Role, at: usize) -> Self {
        Self { view, draft: Draft::new(role), at }
    }

    /// Adds the part for block `n`, or a part of the record itself.
    fn push(&mut self, part: msg_core::Part, n: Option<usize>) {
        let answers = |it: msg_core::Pairing| it.side == msg_core::PairSide::Result;
        let is_result = match &part {
            msg_core::Part::Other(it) => it.pairing().is_some_and(answers),
            part => part.as_tool_result().is_some(),
        };
        let is_of_tool = self.draft.message.role == Role::Tool;
        if is_result && !is_of_tool {
            let next = Draft::new(Role::Tool);
            let before = std::mem::replace(&mut self.draft, next);
            let role = before.message.role.clone();
            self.view.push(before);
            self.add(part, n);
            let done = std::mem::replace(&mut self.draft, Draft::new(role));
            return self.view.push(done);
        }
        self.add(part, n);
    }

    fn add(&mut self, part: msg_core::Part, n: Option<usize>) {
        let origin = n.map_or(PartOrigin::record(self.at), |n| PartOrigin::block(self.at, n));
        self.draft.push(part, origin);
    }

    fn finish(self) {
        self.view.push(self.draft);
    }
}

/// The file of a store.
enum Stored<'a> {
    Array(Array<'a>),
    Lines(Lines<'static>),
}

impl Stored<'_> {
    fn file(&self) -> File<'_> {
        match self {
            Stored::Array(it) => File::Array(it),
            Stored::Lines(it) => File::Lines(it),
        }
    }

    fn records(&self) -> Records<'_> {
        let file = self.file();
        let values = (0..file.len()).filter_map(|it| file.value(it)).collect();
        let document = match self {
            Stored::Array(it) => it.document(),
            Stored::Lines(_) => None,
        };
        Records { values, document }
    }
}

impl Store {
    fn stored<'a>(&self, bytes: &'a [u8], options: &SessionOptions) -> Stored<'a> {
        let array = read_at(bytes, self.lists);
        let is_lines = || self.has_lines && bytes.trim_ascii_start().first() != Some(&b'[');
        match array.is_readable() || !is_lines() {
            true => Stored::Array(array),
            false => Stored::Lines(read_lines(bytes, options.max_record).without_source()),
        }
    }

    /// Whether a list element may be a record of this store. A document is never half read (RG-3).
    fn has(&self, value: Value<'_>) -> bool {
        value.object().is_some_and(|it| self.members.iter().any(|name| it.has(name)))
    }

    fn view_of(&self, stored: &Stored<'_>) -> View {
        let mut view = (self.read)(&stored.records());
        view.findings.splice(0..0, stored.file().findings().iter().cloned());
        view
    }

    /// The style of the session's first record.
    pub(crate) fn style_of(&self, bytes: &[u8]) -> u8 {
        let stored = self.stored(bytes, &SessionOptions::default());
        let records = stored.records().values.into_iter().filter_map(|it| it.object());
        records.map(|it| (self.style)(&it)).find(|it| *it > 0).unwrap_or(0)
    }

    /// The span of the message list in a text; `None` for lines.
    pub(crate) fn list_span(&self, text: &str) -> Option<Range<usize>> {
        // A byte order mark stays before the document.
        let value = text.trim_start_matches('\u{feff}');
        let start = text.len() - value.len();
        let array = read_at(value.as_bytes(), self.lists);
        let span = array.span().filter(|_| array.findings.is_empty())?;
        Some(start + span.start..start + span.end)
    }
}

impl Format for Store {
    fn view(&self, blobs: &[Blob], options: &SessionOptions) -> Result<View, Error> {
        super::leaf_is_not_chosen(options)?;
        let stored = self.stored(super::only(blobs), options);
        if let Some(element) = stored.records().values.iter().position(|it| !self.has(*it)) {
            return Err(Error::NotAMessage { dialect: self.dialect, element });
        }
        Ok(self.view_of(&stored))
    }

    fn check(&self, blobs: &[Blob], options: &SessionOptions) -> Result<Checked, Error> {
        let stored = self.stored(super::only(blobs), options);
        if let Stored::Array(array) = &stored
            && !array.is_readable()
        {
            return Ok(Checked::unreadable(array.findings.clone()));
        }
        let view = self.view_of(&stored);
        let (file, text) = match &stored {
            Stored::Array(it) => (File::Array(it), &*it.text),
            Stored::Lines(it) => (File::Lines(it), &*it.text),
        };
        let mut mends = check::check(self, file, &view, options);
        if let Stored::Array(it) = &stored {
            self.threads_of(it, options).into_iter().for_each(|it| mends.join(it));
        }
        Ok(Checked::of_mends(text, mends))
    }

    fn writer(&self) -> Option<Write> {
        Some(self.write)
    }
}

impl Store {
    /// Findings in the other conversations of a document. Each finding names the agent of its conversation.
    fn threads_of(&self, array: &Array<'_>, options: &SessionOptions) -> Vec<Mends> {
        let Some(document) = array.document().filter(|_| !self.threads.is_empty()) else {
            return Vec::new();
        };
        let own = array.span().map(|it| it.start);
        let mut found = Vec::new();
        threads_in(&document, self.threads, "", &mut found);
        found.retain(|it| Some(it.0) != own);
        found.sort_unstable();
        let opens: Vec<usize> = found.iter().map(|it| it.0).collect();
        let mut res = Vec::new();
        for (it, (_, owner)) in read_others(&array.text, &opens).into_iter().zip(found) {
            if it.records.is_empty() {
                continue;
            }
            let stored = Stored::Array(it);
            let view = self.view_of(&stored);
            let mut mends = check::check(self, stored.file(), &view, options);
            for it in mends.findings.iter_mut().filter(|_| !owner.is_empty()) {
                it.message = format!("{} (agent `{owner}`)", it.message).into();
            }
            res.push(mends);
        }
        res
    }
}

/// How deep conversations may be nested: teams are in the states of agents.
const DEPTH: usize = 32;

/// The offsets of the lists of these members, each with the name of the agent whose state contains it.
fn threads_in(
    document: &Object<'_>,
    names: &[&str],
    owner: &str,
    found: &mut Vec<(usize, String)>,
) {
    let mut open = vec![(document.clone(), owner.to_owned(), 0)];
    while let Some((object, owner, depth)) = open.pop() {
        let are_agents = depth > 0 && owner == AGENTS;
        for (name, value) in object.iter() {
            match value.kind() {
                Kind::Array if names.contains(&name) => found.push((value.at, owner.clone())),
                Kind::Object if depth < DEPTH => {
                    let Some(inner) = value.object() else { continue };
                    let owner = match (are_agents, name) {
                        (true, _) => name.to_owned(),
                        (false, AGENTS) => AGENTS.to_owned(),
                        _ => owner.clone(),
                    };
                    open.push((inner, owner, depth + 1));
                }
                _ => {}
            }
        }
    }
}

/// The member with the states of agents by name.
const AGENTS: &str = "agent_states";

/// Sealed provider data.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seal {
    pub(crate) maker: Option<Maker>,
    pub(crate) signature: Option<String>,
    pub(crate) redacted: Option<String>,
    pub(crate) encrypted: Option<String>,
    /// The id of the Responses output item.
    pub(crate) item: Option<String>,
}

impl Seal {
    /// Reads a member with one object per provider, such as `providerMetadata`.
    pub(crate) fn by_provider(holder: Option<Object<'_>>) -> Self {
        let Some(holder) = holder else { return Self::default() };
        let known = holder.iter().filter_map(|(name, it)| Some((Maker::of(name)?, it.object()?)));
        let seals = known.map(|(maker, it)| {
            let text = |name: &str| said(&it, name);
            Self {
                maker: Some(maker),
                signature: text("signature").or_else(|| text("thoughtSignature")),
                redacted: text("redactedData"),
                encrypted: text("reasoningEncryptedContent"),
                item: text("itemId"),
            }
        });
        seals.into_iter().find(|it| !it.is_empty()).unwrap_or_default()
    }

    /// Reads the seal of a part of any format.
    pub(crate) fn of(part: &Part) -> Self {
        let raw = |origin, name| part.extra().get(&origin, name);
        match part {
            Part::Reasoning(it) if it.encrypted.is_some() => {
                let item = raw(Origin::Responses, "item").and_then(|it| it.members());
                let id = item.into_iter().flatten().find(|it| it.0 == "id");
                let item = id.and_then(|it| it.1.parse().ok());
                let encrypted = it.encrypted.clone();
                Self { maker: Some(Maker::OpenAi), encrypted, item, ..Self::default() }
            }
            Part::Reasoning(it) if it.signature.is_some() || it.redacted.is_some() => {
                let (signature, redacted) = (it.signature.clone(), it.redacted.clone());
                Self { maker: Some(Maker::Anthropic), signature, redacted, ..Self::default() }
            }
            Part::ToolCall(it) => Self::of_gemini(it.signature.clone()),
            _ => Self::of_gemini(
                raw(Origin::Gemini, "thoughtSignature").and_then(|it| it.parse().ok()),
            ),
        }
    }

    fn of_gemini(signature: Option<String>) -> Self {
        let maker = signature.is_some().then_some(Maker::Gemini);
        Self { maker, signature, ..Self::default() }
    }

    /// The sealed value, whatever the provider calls it.
    pub(crate) fn sealed(&self) -> Option<&str> {
        let all = [&self.encrypted, &self.signature, &self.redacted];
        all.into_iter().find_map(|it| it.as_deref())
    }

    pub(crate) fn is_empty(&self) -> bool {
        [&self.signature, &self.redacted, &self.encrypted, &self.item].iter().all(|it| it.is_none())
    }

    /// The reasoning part with this seal.
    pub(crate) fn thought(self, text: Option<String>) -> Part {
        let text = text.filter(|it| !it.is_empty());
        let read = match (self.maker, &self.signature) {
            (Some(Maker::OpenAi), _) if self.item.is_some() || self.encrypted.is_some() => {
                openai_thought(&self, text.as_deref())
            }
            (Some(Maker::Gemini), Some(signature)) => {
                let text = quoted(text.as_deref().unwrap_or_default());
                sealed(&format!(r#"{{"text":{text},"thought":true"#), signature)
            }
            _ => None,
        };
        let is_said = self.signature.is_some() && self.redacted.is_none();
        let text = text.or(is_said.then(String::new));
        let Self { signature, redacted, encrypted, .. } = self;
        let plain = Reasoning { text, signature, redacted, encrypted, ..Reasoning::default() };
        read.unwrap_or(Part::Reasoning(plain))
    }

    /// A text part of an answer with this seal.
    pub(crate) fn text(&self, text: String) -> Part {
        let signature = self.gemini();
        let read = signature.and_then(|it| sealed(&format!(r#"{{"text":{}"#, quoted(&text)), it));
        read.unwrap_or_else(|| Part::text(text))
    }

    /// The signature of a Gemini thought, which is stored beside the result.
    pub(crate) fn gemini(&self) -> Option<&str> {
        self.signature.as_deref().filter(|_| self.maker == Some(Maker::Gemini))
    }
}

/// The value of a member if it is not empty: the text of a string, otherwise the JSON.
pub(crate) fn said(object: &Object<'_>, name: &str) -> Option<String> {
    object.plain(name).filter(|it| !it.is_empty())
}

/// A Gemini part; adds the missing last member, the signature.
fn sealed(begun: &str, signature: &str) -> Option<Part> {
    let source = format!(r#"{begun},"thoughtSignature":{}}}"#, quoted(signature));
    parts::gemini_part(Value { source: &source, at: 0 })
}

fn openai_thought(seal: &Seal, text: Option<&str>) -> Option<Part> {
    let member = |name: &str, value: &Option<String>| {
        value.as_deref().map(|it| format!(r#","{name}":{}"#, quoted(it))).unwrap_or_default()
    };
    let (id, sealed) = (member("id", &seal.item), member("encrypted_content", &seal.encrypted));
    let summary = text.map(|it| format!(r#"{{"type":"summary_text","text":{}}}"#, quoted(it)));
    let summary = summary.unwrap_or_default();
    item(&format!(r#"{{"type":"reasoning"{id},"summary":[{summary}]{sealed}}}"#))
}

/// The reasoning part of a Responses output item.
pub(crate) fn item(source: &str) -> Option<Part> {
    let mut parts = parts::response_item(source, None).parts;
    parts.pop().filter(|it| parts.is_empty() && matches!(it, Part::Reasoning(_)))
}
