//! The messages of a skeleton, from any source: the members of plain chat messages, each at most once.
//!
//! The result is that of the reader of chat messages (OA-1), without layouts and without members that no rule
//! reads. `None` for anything else.

use msg_chainast::Profile;
use msg_core::request::RequestHead;
use msg_core::{CallKind, Message, Part, Reasoning, Role, ToolCall, ToolResult};
use msg_formats::layout::ListPlace;
use msg_json::Kind;

use super::medium::medium;
use super::{Shape, Shapes};
use crate::api_shapes::{is_content_member, is_name_of_calls};
use crate::lead::MARKERS;
use crate::skeleton::{Cursor, HEAD, kept};
use msg_session::marks::text_hash;

/// An object with more names is read whole, because checking them for duplicates would be slow.
const MANY: usize = 32;
/// The initial capacity of the list, so that short lists do not grow.
const ROOM: usize = 8;

/// The hashes of the names in an object so far.
#[derive(Default)]
pub(super) struct SeenNames {
    hashes: [u64; MANY],
    n: usize,
}

impl SeenNames {
    /// Whether a name is new and not one too many. Remembers it.
    pub(super) fn is_new(&mut self, name: &str) -> bool {
        let hash = text_hash(name);
        let is_new = !self.hashes[..self.n].contains(&hash);
        let room = self.hashes.get_mut(self.n).map(|it| *it = hash);
        self.n += usize::from(room.is_some());
        is_new && room.is_some()
    }
}

/// The skeleton of a conversation, before it is a document.
#[derive(Default)]
pub(super) struct Conversation {
    pub(super) messages: Vec<Message>,
    /// Whether members were dropped about which some provider may have a rule.
    pub(super) has_more: bool,
    pub(super) seen: Seen,
    pub(super) place: ListPlace,
    /// The part of the head that rules need: the model.
    pub(super) head: Option<RequestHead>,
    shapes: Shapes,
}

/// Facts about the messages of a document.
#[derive(Default)]
pub(super) struct Seen {
    /// The number of texts that were read.
    texts: usize,
    /// The names of members that no chain rule reads. A provider may refuse the name.
    pub(super) names: Names,
    /// Whether a member is missing that an API may require and that no chain rule reports.
    pub(super) lacks: bool,
    /// Whether there are media. Only the beginning of their data is kept.
    pub(super) has_media: bool,
}

/// Names of members that are not kept, without duplicates.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Members that are null or an empty list.
    nulls: Vec<Box<str>>,
    /// Members with any other value.
    others: Vec<Box<str>>,
}

impl Names {
    fn null(&mut self, name: &str) {
        add(&mut self.nulls, name);
    }

    pub(super) fn other(&mut self, name: &str) {
        add(&mut self.others, name);
    }

    /// Whether one of them is a cache breakpoint.
    pub(super) fn has_breakpoints(&self) -> bool {
        self.others.iter().any(|it| MARKERS.contains(&&**it))
    }

    /// Whether it has no names.
    pub(super) fn is_empty(&self) -> bool {
        self.nulls.is_empty() && self.others.is_empty()
    }

    /// Whether all of them are null or empty.
    pub(super) fn say_nothing(&self) -> bool {
        self.others.is_empty()
    }

    /// Whether a provider may have a rule about one of them.
    pub(super) fn are_judged_by(&self, profile: &Profile) -> bool {
        let is_in = |list: &[String], name: &str| list.iter().any(|it| it == name);
        let is_refused = |it: &str| is_in(&profile.refused_members, it);
        let is_read = |it: &str| {
            profile.known_members_only && !is_in(&profile.known_members, it)
                || profile.cache_max > 0 && it == MARKERS[0]
                || it == profile.prefill
        };
        self.nulls.iter().any(|it| is_refused(it))
            || self.others.iter().any(|it| is_refused(it) || is_read(it))
    }
}

fn add(names: &mut Vec<Box<str>>, name: &str) {
    if !names.iter().any(|it| **it == *name) {
        names.push(name.into());
    }
}

/// A list of messages, or a request with one.
pub(super) fn conversation(source: &mut impl Cursor) -> Option<Conversation> {
    let mut res = Conversation::default();
    let is_list = source.kind()? == Kind::Array;
    if is_list {
        res.list(source)?;
    } else {
        res.head = Some(RequestHead::default());
        let mut passed = SeenNames::default();
        source.object(|source, name| {
            // The reader of documents reports duplicates, and handles very many members.
            if passed.is_new(name) { res.member(source, name) } else { None }
        })?;
    }
    let shapes = std::mem::take(&mut res.shapes);
    // Messages with roles only may have any format.
    res.messages.iter().any(|it| !it.parts.is_empty()).then_some(())?;
    shapes.are_of_chat(is_list).then_some(res)
}

/// Skips a tool. `None` for an Anthropic tool, which identifies a request to Anthropic.
fn tool<S: Cursor>(source: &mut S) -> Option<()> {
    source.object(|source, name| if name == "input_schema" { None } else { source.skip() })
}

impl Conversation {
    /// Reads or skips a member of a request.
    fn member(&mut self, source: &mut impl Cursor, name: &str) -> Option<()> {
        match name {
            "messages" if self.messages.is_empty() => self.list(source),
            "messages" | "choices" => None,
            // A request for a Claude model may be one to Anthropic's API.
            "model" if source.kind()? == Kind::String => {
                let model = source.text()?.into_owned();
                let is_of_anthropic = model.starts_with("claude");
                self.head.get_or_insert_default().model = Some(model);
                (!is_of_anthropic).then_some(())
            }
            "tools" if source.kind()? == Kind::Array => source.list(tool),
            "max_tokens" | "n" | "seed" | "temperature" | "top_p"
                if source.kind()? == Kind::Number =>
            {
                source.skip()
            }
            "stream" if source.kind()? == Kind::Bool => source.skip(),
            _ => {
                // The thinking settings decide whether reasoning may be missing.
                self.has_more |= name == "model"
                    || ["reasoning", "thinking"].iter().any(|it| name.starts_with(it));
                self.shapes.request.of_request(source, name)
            }
        }
    }

    fn list(&mut self, source: &mut impl Cursor) -> Option<()> {
        self.messages.reserve(ROOM);
        self.place.starts.reserve(ROOM);
        self.place.list.start = source.offset();
        source.list(|source| {
            self.place.starts.push(source.offset());
            let message = self.message(source)?;
            self.messages.push(message);
            Some(())
        })?;
        self.place.list.end = source.offset();
        Some(())
    }

    fn message(&mut self, source: &mut impl Cursor) -> Option<Message> {
        let mut draft = Draft::default();
        source.object(|source, name| draft.member(source, name, &mut self.seen))?;
        self.has_more |= draft.has_more;
        self.seen.lacks |= draft.is_null && draft.role == Some(Role::Tool);
        if let Some(unusual) = draft.shape.take() {
            self.shapes.push(draft.whole_shape(*unusual))?;
        }
        let has_content_member = draft.has_content_member;
        // An otherwise empty message may have its content in that member. The reader of documents reports it (RG-11).
        draft.into_message().filter(|it| !has_content_member || has_content(it))
    }
}

/// Members that are rare or skipped. Their bits follow those of the common members.
const OTHERS: [&str; 13] = [
    "annotations",
    "audio",
    "cache_control",
    "function_call",
    "metadata",
    "prefix",
    "provider_metadata",
    "provider_specific_fields",
    "reasoning",
    "reasoning_content",
    "reasoning_details",
    "refusal",
    "weight",
];

/// The members of a message, as read so far.
#[derive(Default)]
struct Draft {
    /// The members that were read, one bit for each.
    seen: u32,
    role: Option<Role>,
    name: Option<String>,
    content: Vec<Part>,
    content_kind: Option<Kind>,
    calls: Vec<Part>,
    call_id: Option<String>,
    reasoning: Option<String>,
    has_more: bool,
    /// Whether its content is null, which an API may refuse in a result.
    is_null: bool,
    /// Whether it has a member in which other formats keep the content of a message.
    has_content_member: bool,
    /// Its unusual members. Boxed, because few messages have any and all messages are moved.
    shape: Option<Box<Shape>>,
}

impl Draft {
    fn member<S: Cursor>(&mut self, source: &mut S, name: &str, seen: &mut Seen) -> Option<()> {
        match name {
            "role" => {
                self.once(1)?;
                self.role = Some(self.role(&source.text()?)?);
            }
            "content" => {
                self.once(2)?;
                self.content_kind = source.kind();
                self.content = self.content(source, seen)?;
            }
            "name" => {
                self.once(4)?;
                self.name = Some(source.text()?.into_owned()).filter(|it| !it.is_empty());
                self.name.as_ref()?;
            }
            "tool_calls" => {
                self.once(8)?;
                self.calls = self.calls(source, seen)?;
            }
            "tool_call_id" => {
                self.once(16)?;
                self.call_id = Some(source.text()?.into_owned());
            }
            "reasoning_content" | "reasoning" if source.kind()? == Kind::String => {
                self.other_once(name)?;
                self.once(32)?;
                let text = kept(source.brief()?, seen.texts);
                seen.texts += 1;
                (!text.is_empty()).then_some(())?;
                self.reasoning = Some(text);
            }
            _ => self.other_member(source, name, seen)?,
        }
        Some(())
    }

    /// The role with this name. `function`, the older name of `tool`, is one too.
    fn role(&mut self, word: &str) -> Option<Role> {
        let is_old = word == "function";
        self.has_more |= is_old;
        if is_old { Some(Role::Tool) } else { Role::known(word) }
    }

    /// `None` for a duplicate member: the last one counts, which a single pass cannot handle.
    fn once(&mut self, member: u32) -> Option<()> {
        let is_first = self.seen & member == 0;
        self.seen |= member;
        is_first.then_some(())
    }

    fn other_once(&mut self, name: &str) -> Option<()> {
        match OTHERS.iter().position(|it| *it == name) {
            Some(at) => self.once(64 << at),
            None => Some(()),
        }
    }

    /// Reads or skips members of OpenAI-compatible answers that no chain rule reads.
    fn other_member(
        &mut self,
        source: &mut impl Cursor,
        name: &str,
        seen: &mut Seen,
    ) -> Option<()> {
        self.other_once(name)?;
        match (name, source.kind()?) {
            (_, Kind::Null) => seen.names.null(name),
            ("annotations", Kind::Array) => return annotations(source, seen),
            // The reader of documents matches such a call with its result.
            ("function_call", _) => return None,
            // The reader of documents reports such members as unread.
            (_, Kind::Array | Kind::Object) if is_name_of_calls(name) => return None,
            _ => seen.names.other(name),
        }
        match name {
            "annotations"
            | "cache_control"
            | "metadata"
            | "prefix"
            | "provider_metadata"
            | "provider_specific_fields"
            | "reasoning_details"
            | "weight" => source.skip(),
            "audio" | "function_call" | "reasoning" | "reasoning_content" | "refusal" => {
                (source.kind()? == Kind::Null).then(|| source.skip())?
            }
            _ => {
                self.has_content_member |= is_content_member(name);
                self.shape.get_or_insert_default().of_message(source, name)
            }
        }
    }

    /// Its shape for recognition: the unusual members, and those of the others that distinguish formats.
    fn whole_shape(&self, mut shape: Shape) -> Shape {
        shape.text("role", self.role.as_ref().map_or("", Role::as_str));
        if let Some(kind) = self.content_kind {
            shape.known("content", kind);
        }
        for (member, name) in [(4, "name"), (8, "tool_calls"), (16, "tool_call_id")] {
            if self.seen & member != 0 {
                shape.known(name, if member == 8 { Kind::Array } else { Kind::String });
            }
        }
        shape
    }

    /// Reads content: a text, parts, or null.
    fn content<S: Cursor>(&mut self, source: &mut S, seen: &mut Seen) -> Option<Vec<Part>> {
        let mut parts = Vec::new();
        match source.kind()? {
            Kind::Null => {
                self.is_null = true;
                source.skip()?;
            }
            Kind::String => parts = vec![text(source, &mut seen.texts)?],
            Kind::Array => source.list(|source| {
                parts.push(self.part(source, seen)?);
                Some(())
            })?,
            _ => return None,
        }
        Some(parts)
    }

    /// Reads a part: a text or a medium.
    fn part<S: Cursor>(&mut self, source: &mut S, seen: &mut Seen) -> Option<Part> {
        let (mut kind, mut part, mut media, mut has_passed) = (None, None, None, false);
        source.object(|source, name| match name {
            "type" if kind.is_none() => {
                let text = source.text()?;
                kind = Some(
                    ["text", "file", "image_url", "input_audio"]
                        .into_iter()
                        .find(|it| *it == text)?,
                );
                Some(())
            }
            "text" if part.is_none() => {
                part = Some(text(source, &mut seen.texts)?);
                Some(())
            }
            // The reader of documents handles a duplicate.
            "cache_control" if !has_passed => {
                (source.kind()? == Kind::Object).then_some(())?;
                has_passed = true;
                seen.names.other(name);
                source.skip()
            }
            "file" | "image_url" | "input_audio" if media.is_none() => {
                media = Some(medium(source, name, &mut seen.names)?);
                Some(())
            }
            _ => None,
        })?;
        seen.has_media |= media.is_some();
        match kind? {
            "text" => part.filter(|_| media.is_none()),
            kind => media.filter(|it| it.0 == kind && part.is_none()).map(|it| it.1),
        }
    }

    /// Reads function calls or `null`. `None` for an empty list, which the reader of documents reports.
    fn calls<S: Cursor>(&mut self, source: &mut S, seen: &mut Seen) -> Option<Vec<Part>> {
        let mut calls = Vec::new();
        if source.kind()? == Kind::Null {
            return source.skip().map(|()| calls);
        }
        source.list(|source| {
            // Most messages have one call, and a vector would begin with a capacity of four.
            calls.reserve_exact(usize::from(calls.is_empty()));
            calls.push(self.call(source, seen)?);
            Some(())
        })?;
        (!calls.is_empty()).then_some(calls)
    }

    fn call<S: Cursor>(&mut self, source: &mut S, seen: &mut Seen) -> Option<Part> {
        let (mut id, mut kind, mut function) = (None, None, None);
        let mut passed = SeenNames::default();
        source.object(|source, name| {
            match name {
                "id" if id.is_none() => id = Some(source.text()?.into_owned()),
                "type" if kind.is_none() => kind = Some(CallKind::from(&*source.text()?)),
                "function" if function.is_none() => function = Some(named(source)?),
                "custom" | "extra_content" | "function" | "id" | "type" => return None,
                _ => {
                    // The reader of documents reports what a duplicate loses.
                    let is_new = passed.is_new(name);
                    match source.kind().filter(|_| is_new)? {
                        Kind::Null => seen.names.null(name),
                        _ => seen.names.other(name),
                    }
                    source.skip()?;
                }
            }
            Some(())
        })?;
        let kind = kind.unwrap_or(CallKind::Unspecified);
        seen.lacks |= kind == CallKind::Unspecified || id.is_none();
        let (name, arguments) = function?;
        let call = ToolCall { kind, ..ToolCall::new(id.unwrap_or_default(), name, arguments) };
        matches!(call.kind, CallKind::Function | CallKind::Unspecified)
            .then_some(Part::ToolCall(call))
    }

    fn into_message(self) -> Option<Message> {
        let Draft { role, name, content, content_kind, mut calls, call_id, reasoning, .. } = self;
        let mut message = Message::new(role?);
        if message.role == Role::Tool {
            content_kind?;
            let result =
                ToolResult { name, ..ToolResult::new(call_id.unwrap_or_default(), content) };
            message.parts = vec![Part::ToolResult(result)];
            return (calls.is_empty() && reasoning.is_none()).then_some(message);
        }
        message.parts = content;
        if let Some(reasoning) = reasoning {
            message.parts.insert(0, Part::Reasoning(Reasoning::new(reasoning)));
        }
        message.parts.reserve_exact(calls.len());
        message.parts.append(&mut calls);
        message.name = name;
        call_id.is_none().then_some(message)
    }
}

/// Whether a message, or the result in it, has any content.
fn has_content(message: &Message) -> bool {
    message.parts.iter().any(|it| match it {
        Part::ToolResult(it) => !it.content.parts().is_empty(),
        Part::Text(it) => !it.text.is_empty(),
        _ => true,
    })
}

/// Skips annotations. An empty list does not count as a member.
fn annotations(source: &mut impl Cursor, seen: &mut Seen) -> Option<()> {
    let mut is_empty = true;
    source.list(|source| {
        is_empty = false;
        source.skip()
    })?;
    match is_empty {
        true => seen.names.null("annotations"),
        false => seen.names.other("annotations"),
    }
    Some(())
}

fn text(source: &mut impl Cursor, texts: &mut usize) -> Option<Part> {
    let text = kept(source.brief()?, *texts);
    *texts += 1;
    // This text is a sign of another format.
    (!text.starts_with(HEAD)).then(|| Part::text(text))
}

/// Reads the name and the arguments of a function.
fn named<S: Cursor>(source: &mut S) -> Option<(String, String)> {
    let (mut name, mut arguments) = (None, None);
    source.object(|source, member| {
        let place = match member {
            "name" => &mut name,
            "arguments" => &mut arguments,
            _ => return None,
        };
        let is_first = place.is_none();
        *place = Some(source.text()?.into_owned());
        is_first.then_some(())
    })?;
    Some((name?, arguments?))
}
