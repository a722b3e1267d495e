//! Members that a source had and the model does not know (MS-6): raw JSON members by origin, the layout hint of the
//! reader, and the members that an application keeps beside a conversation. Values are parsed on demand; an empty `Extra`
//! is one word.
//!
//! Also the makers of sealed reasoning, and where a seal may be sent (AN-7, RQ-44).
//!
//! A seal lets its maker verify the reasoning of its model. Other providers refuse it or misread it. The member of the
//! model that contains a seal determines its maker, so writers need not guess:
//!
//! | maker | in the model | formats that hold it |
//! |---|---|---|
//! | Anthropic | `signature` and `redacted` of reasoning | `anthropic`, `bedrock`; `thinking_blocks` of `openai` |
//! | OpenAI | `encrypted` of reasoning, `extra.responses.item` | `responses` |
//! | Gemini | `signature` of a call; `extra.gemini`, `extra.interactions` | `gemini`, `interactions`; `extra_content.google` of `openai` |
//!
//! Frameworks and gateways store a seal with the name of its maker, which [`Maker::of`] interprets.

use std::{collections::BTreeMap, fmt, iter::Peekable, slice};

use serde::{Deserialize, Serialize, Serializer};

use crate::{Message, Part, Provenance, RawJson};

/// The format that a member, an opaque part or a layout belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Origin {
    /// OpenAI chat messages.
    OpenAi,
    /// OpenAI Responses items.
    Responses,
    /// `AgentMessage` JSON.
    Agent,
    /// `role` + `content` messages.
    Plain,
    /// Anthropic messages.
    Anthropic,
    /// Gemini contents.
    Gemini,
    /// Steps of the Gemini Interactions API.
    Interactions,
    /// Messages of Amazon Bedrock Converse.
    Bedrock,
    /// Tool calls in markup.
    Xml,
    /// The turns of an application.
    Turns,
    /// This workspace's own JSON.
    Native,
    /// JSON without a format.
    Json,
    /// Another format, by name.
    Other(Box<str>),
}

impl Origin {
    /// The name of the format: `openai`, `responses` …
    pub fn as_str(&self) -> &str {
        match self {
            Origin::OpenAi => "openai",
            Origin::Responses => "responses",
            Origin::Agent => "agent",
            Origin::Plain => "plain",
            Origin::Anthropic => "anthropic",
            Origin::Gemini => "gemini",
            Origin::Interactions => "interactions",
            Origin::Bedrock => "bedrock",
            Origin::Xml => "xml",
            Origin::Turns => "turns",
            Origin::Native => "native",
            Origin::Json => "json",
            Origin::Other(name) => name,
        }
    }
}

impl From<&str> for Origin {
    fn from(name: &str) -> Self {
        match name {
            "openai" => Origin::OpenAi,
            "responses" => Origin::Responses,
            "agent" => Origin::Agent,
            "plain" => Origin::Plain,
            "anthropic" => Origin::Anthropic,
            "gemini" => Origin::Gemini,
            "interactions" => Origin::Interactions,
            "bedrock" => Origin::Bedrock,
            "xml" => Origin::Xml,
            "turns" => Origin::Turns,
            "native" => Origin::Native,
            "json" => Origin::Json,
            other => Origin::Other(other.into()),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Members that the source had and the model does not know, in source order, by origin.
///
/// A reader may also store its *layout* here: bytes that only the writer of the same format
/// understands. Layouts are ignored by equality (MS-6).
///
/// ```
/// use msg_core::{Extra, Origin, RawJson};
///
/// let mut extra = Extra::default();
/// extra.insert(Origin::OpenAi, "cache_control", RawJson::new(r#"{"type":"ephemeral"}"#)?);
/// assert_eq!(
///     extra.get(&Origin::OpenAi, "cache_control").map(RawJson::text),
///     Some(r#"{"type":"ephemeral"}"#),
/// );
/// assert!(extra.get(&Origin::Native, "cache_control").is_none());
/// # Ok::<(), msg_json::JsonError>(())
/// ```
#[derive(Clone, Default)]
pub struct Extra(Option<Box<Inner>>);

#[derive(Clone, Default)]
struct Inner {
    members: Vec<Member>,
    /// Place of each member, kept once there are more than [`SCAN_LIMIT`].
    index: BTreeMap<(Origin, Box<str>), usize>,
    layout: Option<(Origin, Box<[u8]>)>,
    /// Of a message: who made it.
    provenance: Option<Box<Provenance>>,
}

#[derive(Clone, PartialEq)]
struct Member {
    origin: Origin,
    name: Box<str>,
    value: RawJson,
}

/// Up to this many members, a scan is faster than an index.
const SCAN_LIMIT: usize = 16;

impl Extra {
    /// Whether it has no members. A layout does not count.
    pub fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(|it| it.members.is_empty())
    }

    /// The number of members, of all origins.
    pub fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |it| it.members.len())
    }

    /// The member of this origin and name. O(1) up to 16 members, O(log n) above.
    pub fn get(&self, origin: &Origin, name: &str) -> Option<&RawJson> {
        let inner = self.0.as_ref()?;
        inner.find(origin, name).map(|it| &inner.members[it].value)
    }

    /// Sets a member. A known name keeps its position, a new one is appended. Returns the previous
    /// value.
    pub fn insert(
        &mut self,
        origin: Origin,
        name: impl Into<Box<str>>,
        value: RawJson,
    ) -> Option<RawJson> {
        let name = name.into();
        let inner = self.0.get_or_insert_default();
        if let Some(at) = inner.find(&origin, &name) {
            return Some(std::mem::replace(&mut inner.members[at].value, value));
        }
        inner.push(Member { origin, name, value });
        None
    }

    /// Removes a member. O(members).
    pub fn remove(&mut self, origin: &Origin, name: &str) -> Option<RawJson> {
        let inner = self.0.as_mut()?;
        let at = inner.find(origin, name)?;
        let member = inner.members.remove(at);
        inner.reindex();
        self.shrink();
        Some(member.value)
    }

    /// The members of an origin, in source order.
    pub fn iter<'a>(&'a self, origin: &'a Origin) -> impl Iterator<Item = (&'a str, &'a RawJson)> {
        self.all().filter(move |(it, ..)| *it == origin).map(|(_, name, value)| (name, value))
    }

    /// All members with their origin, in source order.
    pub fn all(&self) -> impl Iterator<Item = (&Origin, &str, &RawJson)> {
        let members = self.0.as_ref().map_or(&[][..], |it| &it.members);
        members.iter().map(|it| (&it.origin, &*it.name, &it.value))
    }

    /// Moves the members of `other` to the end. Names that exist here keep their value.
    pub fn merge(&mut self, other: Extra) {
        let Some(other) = other.0 else { return };
        for member in other.members {
            if self.get(&member.origin, &member.name).is_none() {
                self.insert(member.origin, member.name, member.value);
            }
        }
    }

    /// The layout that the reader of this format stored.
    pub fn layout(&self, origin: &Origin) -> Option<&[u8]> {
        let (of, layout) = self.0.as_ref()?.layout.as_ref()?;
        (of == origin).then_some(layout)
    }

    /// The stored layout, and the format that left it.
    fn any_layout(&self) -> Option<(&Origin, &[u8])> {
        self.0.as_ref()?.layout.as_ref().map(|(origin, layout)| (origin, &**layout))
    }

    /// Stores a layout for the writer of the same format. Replaces the layout of another format.
    pub fn set_layout(&mut self, origin: Origin, layout: impl Into<Box<[u8]>>) {
        self.0.get_or_insert_default().layout = Some((origin, layout.into()));
    }

    /// Removes the layout, so that the writer writes canonically.
    pub fn clear_layout(&mut self) {
        if let Some(inner) = self.0.as_mut() {
            inner.layout = None;
            self.shrink();
        }
    }

    pub(crate) fn provenance(&self) -> Option<&Provenance> {
        self.0.as_ref()?.provenance.as_deref()
    }

    pub(crate) fn set_provenance(&mut self, provenance: Provenance) {
        self.0.get_or_insert_default().provenance = Some(Box::new(provenance));
    }

    fn by_origin(&self) -> Vec<(&Origin, &str, &RawJson)> {
        let mut res: Vec<_> = self.all().collect();
        // A stable sort: the order of the members of one origin stays.
        res.sort_by_key(|it| it.0);
        res
    }

    fn shrink(&mut self) {
        if self.0.as_ref().is_some_and(|it| it.is_empty()) {
            self.0 = None;
        }
    }
}

impl Inner {
    fn is_empty(&self) -> bool {
        self.members.is_empty() && self.layout.is_none() && self.provenance.is_none()
    }

    fn find(&self, origin: &Origin, name: &str) -> Option<usize> {
        if self.members.len() <= SCAN_LIMIT {
            return self.members.iter().position(|it| it.origin == *origin && &*it.name == name);
        }
        self.index.get(&(origin.clone(), name.into())).copied()
    }

    fn push(&mut self, member: Member) {
        self.members.push(member);
        match self.members.len().cmp(&(SCAN_LIMIT + 1)) {
            std::cmp::Ordering::Less => {}
            std::cmp::Ordering::Equal => self.reindex(),
            std::cmp::Ordering::Greater => self.index_last(),
        }
    }

    fn index_last(&mut self) {
        if let Some(last) = self.members.last() {
            let at = self.members.len() - 1;
            self.index.insert((last.origin.clone(), last.name.clone()), at);
        }
    }

    fn reindex(&mut self) {
        self.index.clear();
        if self.members.len() > SCAN_LIMIT {
            let keys = self.members.iter().map(|it| (it.origin.clone(), it.name.clone()));
            self.index = keys.zip(0..).collect();
        }
    }
}

impl PartialEq for Extra {
    /// Equal if each origin has the same members in the same order. The order of origins does not
    /// matter.
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len()
            && (self.all().eq(other.all()) || self.by_origin() == other.by_origin())
    }
}

impl fmt::Debug for Extra {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let members = self.all().map(|(origin, name, value)| (format!("{origin}.{name}"), value));
        f.debug_map().entries(members).finish()
    }
}

// Raw JSON members in order: what an application keeps of its own beside a conversation.
//
// Nothing is parsed; values are read on demand.

/// The members of an application's own object, in order, as raw JSON.
///
/// ```
/// use msg_core::{Members, RawJson};
/// let mut it = Members::default();
/// it.insert("pruned", RawJson::new("true")?);
/// it.insert("tokens", RawJson::new("1.50")?);
/// it.insert("pruned", RawJson::new("false")?);
/// assert_eq!(it.get("tokens").map(RawJson::text), Some("1.50"));
/// assert_eq!(serde_json::to_string(&it).unwrap(), r#"{"pruned":false,"tokens":1.50}"#);
/// # Ok::<(), msg_json::JsonError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Members(Extra);

/// All of them are of no format.
const JSON: Origin = Origin::Json;

impl Members {
    /// The value of a member. Scans up to 16 members, uses an index above that.
    pub fn get(&self, name: &str) -> Option<&RawJson> {
        self.0.get(&JSON, name)
    }

    /// Sets a member: in place if it exists, else at the end. Returns the previous value.
    pub fn insert(&mut self, name: impl Into<Box<str>>, value: RawJson) -> Option<RawJson> {
        self.0.insert(JSON, name, value)
    }

    /// Removes a member. O(members).
    pub fn remove(&mut self, name: &str) -> Option<RawJson> {
        self.0.remove(&JSON, name)
    }

    /// Names and values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &RawJson)> {
        self.0.all().map(|(_, name, value)| (name, value))
    }

    /// The number of members.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for Members {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

// The layouts of messages as separate data (MS-6). Native JSON does not contain layouts, so a program that stores it
// keeps them beside it to write the messages in their original form later. Only the form that made a layout interprets
// it.

/// The version of the layout bytes, raised whenever a form changes their meaning. Layouts of another
/// version are ignored.
const VERSION: u32 = 2;

/// The layouts of messages and their parts, to be stored beside the messages.
///
/// ```
/// use msg_core::{Layouts, Message, Origin};
///
/// let mut read = vec![Message::user("Hi")];
/// read[0].extra.set_layout(Origin::Plain, [1]);
/// let layouts = serde_json::to_string(&Layouts::of(&read))?;
/// let mut stored: Vec<Message> = serde_json::from_str(&serde_json::to_string(&read)?)?;
/// assert_eq!(stored[0].extra.layout(&Origin::Plain), None);
///
/// serde_json::from_str::<Layouts>(&layouts)?.restore(&mut stored);
/// assert_eq!(stored[0].extra.layout(&Origin::Plain), Some(&[1][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layouts {
    version: u32,
    /// Sorted by number.
    layouts: Vec<Layout>,
}

/// One layout: the number of its message or part, counting each message and then its parts, those
/// inside of results too; the form that left it; its bytes in hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Layout(usize, String, String);

/// Replaces a form where a result has no content at all. Native JSON writes an empty text there,
/// which some forms write differently.
const NO_CONTENT: &str = "";

impl Default for Layouts {
    /// None.
    fn default() -> Self {
        Layouts { version: VERSION, layouts: Vec::new() }
    }
}

impl Layouts {
    /// The layouts that readers stored on these messages. Linear in the parts.
    pub fn of<'m>(messages: impl IntoIterator<Item = &'m Message>) -> Self {
        let mut taken = Taken::default();
        for message in messages {
            taken.note(&message.extra);
            let mut open = vec![message.parts.iter()];
            while let Some(parts) = open.last_mut() {
                let Some(part) = parts.next() else {
                    open.pop();
                    continue;
                };
                taken.note(part.extra());
                if let Part::ToolResult(it) = part {
                    taken.note_content(it.content.parts());
                    open.push(it.content.parts().iter());
                }
            }
        }
        Layouts { version: VERSION, layouts: taken.layouts }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.layouts.is_empty()
    }

    /// Puts the layouts back on the messages that they were taken from, after these were stored and read.
    /// Ignores layouts of another version of this crate; the writers then write canonically.
    pub fn restore<'m>(&self, messages: impl IntoIterator<Item = &'m mut Message>) {
        if self.version != VERSION {
            return;
        }
        let mut given = Given { number: 0, layouts: self.layouts.iter().peekable() };
        for message in messages {
            given.put(&mut message.extra);
            let mut open = vec![message.parts.iter_mut()];
            while let Some(parts) = open.last_mut() {
                let Some(part) = parts.next() else {
                    open.pop();
                    continue;
                };
                given.put(part.extra_mut());
                if let Part::ToolResult(it) = part {
                    given.put_content(it.content.parts_mut());
                    open.push(it.content.parts_mut().iter_mut());
                }
            }
        }
    }
}

/// Layouts while they are taken.
#[derive(Default)]
struct Taken {
    number: usize,
    layouts: Vec<Layout>,
}

impl Taken {
    fn note(&mut self, extra: &Extra) {
        if let Some((origin, bytes)) = extra.any_layout() {
            self.layouts.push(Layout(self.number, origin.as_str().to_owned(), to_hex(bytes)));
        }
        self.number += 1;
    }

    /// Notes where a result has no content; it counts as one part, as it will when it is read again.
    fn note_content(&mut self, parts: &[Part]) {
        if parts.is_empty() {
            self.layouts.push(Layout(self.number, NO_CONTENT.to_owned(), String::new()));
            self.number += 1;
        }
    }
}

/// Layouts while they are given back.
struct Given<'l> {
    number: usize,
    layouts: Peekable<slice::Iter<'l, Layout>>,
}

impl Given<'_> {
    fn put(&mut self, extra: &mut Extra) {
        let layout = self.layouts.next_if(|it| it.0 == self.number);
        if let Some((origin, bytes)) = layout.and_then(|it| Some((&*it.1, from_hex(&it.2)?))) {
            extra.set_layout(Origin::from(origin), bytes);
        }
        self.number += 1;
    }

    fn put_content(&mut self, parts: &mut Vec<Part>) {
        let number = self.number;
        if self.layouts.next_if(|it| it.0 == number && it.1 == NO_CONTENT).is_some() {
            parts.clear();
            self.number += 1;
        }
    }
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|it| format!("{it:02x}")).collect()
}

fn from_hex(digits: &str) -> Option<Vec<u8>> {
    let byte = |it: &[u8]| u8::from_str_radix(std::str::from_utf8(it).ok()?, 16).ok();
    digits.as_bytes().chunks(2).map(byte).collect()
}

/// The maker of a seal (a signature or encrypted reasoning).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Maker {
    /// Anthropic, on its own API, on Bedrock and on Vertex AI.
    Anthropic,
    /// Gemini, on both of its APIs and on Vertex AI.
    Gemini,
    /// OpenAI, on its own API and on Azure.
    OpenAi,
}

impl Maker {
    /// The maker, from a framework's name of the provider (`azure-openai`) or a gateway's name of the form of the seal
    /// (`anthropic-claude-v1`). `None` if it is unknown; such a seal is sent to no other provider.
    ///
    /// ```
    /// use msg_core::Maker;
    ///
    /// assert_eq!(Maker::of("amazon-bedrock"), Some(Maker::Anthropic));
    /// assert_eq!(Maker::of("openai-responses-v1"), Some(Maker::OpenAi));
    /// assert_eq!(Maker::of("xai-responses-v1"), None);
    /// ```
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        const NAMES: [(&str, Maker); 9] = [
            ("anthropic", Maker::Anthropic),
            ("bedrock", Maker::Anthropic),
            ("amazon-bedrock", Maker::Anthropic),
            ("aws", Maker::Anthropic),
            ("google", Maker::Gemini),
            ("gemini", Maker::Gemini),
            ("vertex", Maker::Gemini),
            ("openai", Maker::OpenAi),
            ("azure", Maker::OpenAi),
        ];
        NAMES.into_iter().find(|it| name.starts_with(it.0)).map(|it| it.1)
    }
}
