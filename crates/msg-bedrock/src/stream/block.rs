//! The blocks of a message while they arrive (BR-18, BR-19).

use std::borrow::Cow;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use msg_codec::stream::{
    AssemblerStep, BySlot, Calls, Channel, Merged, Note, Parts, Said, TextKind,
};
use msg_codec::{Json, Str};
use msg_core::{Other, Part, RawJson, Reasoning, StreamEvent, Text};

use crate::read::{Depth, block_of, redacted};
use crate::shape::{BEDROCK, CITATIONS};

/// One block.
#[derive(Debug, Clone)]
pub(super) struct Block {
    pub(super) index: u64,
    pub(super) kind: Kind,
    /// Its stop came.
    pub(super) ended: bool,
    /// Members that the model does not know.
    unknown: Merged,
}

/// What all blocks of a message share.
#[derive(Debug, Clone, Default)]
pub(super) struct Shared {
    pub(super) calls: Calls,
    /// Some reasoning was announced, so that the next is set apart.
    has_reasoning: bool,
}

#[derive(Debug, Clone)]
pub(super) enum Kind {
    Text {
        text: Channel,
        citations: Merged,
    },
    Reasoning {
        text: Channel,
        signature: Channel,
        sealed: Vec<u8>,
    },
    Call(usize),
    /// A block of the provider's own tools, by the member of the union.
    Server {
        name: &'static str,
        members: Merged,
        input: Channel,
    },
    Image {
        members: Merged,
        bytes: Vec<u8>,
    },
}

/// The kinds of blocks, as deltas and starts tell them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    Text,
    Reasoning,
    ToolUse,
    ToolResult,
    Image,
}

impl Told {
    /// What a start or a delta is of, and its value.
    pub(super) fn of(object: Json<'_>) -> Option<(Self, Json<'_>)> {
        object.members().filter(|it| !it.1.is_null()).find_map(|(name, value)| {
            let told = match &*name {
                "text" | "citation" => Self::Text,
                "reasoningContent" => Self::Reasoning,
                "toolUse" => Self::ToolUse,
                "toolResult" => Self::ToolResult,
                "image" => Self::Image,
                _ => return None,
            };
            Some((told, value))
        })
    }
}

impl Block {
    /// A block that begins; `start` is what its start says of it. None over a limit.
    pub(super) fn start(
        index: u64,
        (told, start): (Told, Option<Json<'_>>),
        shared: &mut Shared,
        step: &mut AssemblerStep<'_, '_>,
    ) -> Option<Self> {
        let is_server = start.and_then(|it| it.get("type")).and_then(Json::text);
        let is_server = is_server.is_some_and(|it| it != "tool_use");
        let server =
            |name| Kind::Server { name, members: Merged::default(), input: Channel::default() };
        let kind = match told {
            Told::Text => Kind::Text { text: Channel::default(), citations: Merged::default() },
            Told::Reasoning => Kind::Reasoning {
                text: Channel::default(),
                signature: Channel::default(),
                sealed: Vec::new(),
            },
            Told::ToolUse if is_server => server("toolUse"),
            Told::ToolUse => {
                let slot = shared.calls.open(step)?;
                shared.calls.slots[slot].unended = true;
                Kind::Call(slot)
            }
            Told::ToolResult => server("toolResult"),
            Told::Image => Kind::Image { members: Merged::default(), bytes: Vec::new() },
        };
        let mut res = Self { index, kind, ended: false, unknown: Merged::default() };
        if let Some(start) = start {
            res.begin(start, shared, step);
        }
        Some(res)
    }

    fn begin(&mut self, start: Json<'_>, shared: &mut Shared, step: &mut AssemblerStep<'_, '_>) {
        match &mut self.kind {
            Kind::Call(_) => self.call(start, shared, step),
            Kind::Server { members, .. } | Kind::Image { members, .. } => {
                members.merge(Some(start), &mut step.text_gauge());
            }
            _ => {
                self.delta(start, shared, step);
            }
        }
    }

    /// Whether a delta of this kind goes on with the block.
    pub(super) fn is(&self, told: Told) -> bool {
        match (&self.kind, told) {
            (Kind::Text { .. }, Told::Text)
            | (Kind::Reasoning { .. }, Told::Reasoning)
            | (Kind::Call(_), Told::ToolUse)
            | (Kind::Image { .. }, Told::Image) => true,
            (Kind::Server { name, .. }, Told::ToolUse) => *name == "toolUse",
            (Kind::Server { name, .. }, Told::ToolResult) => *name == "toolResult",
            _ => false,
        }
    }

    /// Takes a delta of its kind: the value of the member that tells it, but of a text the delta itself.
    pub(super) fn delta(
        &mut self,
        delta: Json<'_>,
        shared: &mut Shared,
        step: &mut AssemblerStep<'_, '_>,
    ) {
        match &mut self.kind {
            Kind::Text { text, citations } => {
                if let Some(it) = delta.get("text").and_then(|it| step.said("text", it)) {
                    TextKind::Text.push(text, it.text(), step);
                }
                match delta.get("citation") {
                    Some(it) if it.is_object() => {
                        citations.append("citations", it, &mut step.text_gauge());
                    }
                    it => it.into_iter().for_each(|it| step.left_out("citation", "an object", it)),
                }
            }
            Kind::Reasoning { text, signature, sealed } => {
                let said = match delta.is_object() {
                    true => delta.get("text").and_then(|it| step.said("text", it)),
                    false => {
                        step.wrong_type("reasoningContent", "an object", delta);
                        delta.filled().map(Said::Text)
                    }
                };
                if let Some(it) = &said {
                    if shared.has_reasoning && text.is_empty() {
                        TextKind::Reasoning.announce("\n\n", step);
                    }
                    shared.has_reasoning = true;
                    TextKind::Reasoning.push(text, it.text(), step);
                }
                match delta.get("signature").map(|it| (it, it.filled())) {
                    Some((_, Some(text))) => drop(signature.push(text, &mut step.text_gauge())),
                    Some((it, None)) if !it.is_string() => {
                        step.left_out("signature", "a string", it);
                    }
                    _ => {}
                }
                decode(sealed, delta.get("redactedContent"), step);
            }
            Kind::Call(_) => self.call(delta, shared, step),
            Kind::Server { name: "toolUse", members, input } => {
                for (name, value) in delta.members() {
                    match (&*name, value.string()) {
                        ("input", Some(text)) => drop(input.push(text, &mut step.argument_gauge())),
                        _ => members.set(&name, value, &mut step.text_gauge()),
                    }
                }
            }
            Kind::Server { members, .. } => {
                let list = if delta.is_array() { Some(delta) } else { delta.get("content") };
                for it in list.into_iter().flat_map(Json::elements) {
                    members.append("content", it, &mut step.text_gauge());
                }
            }
            Kind::Image { members, bytes } => {
                for (name, value) in delta.members() {
                    if name == "source" {
                        decode(bytes, value.get("bytes"), step);
                    } else {
                        members.set(&name, value, &mut step.text_gauge());
                    }
                }
            }
        }
    }

    /// What a start or a delta says of a call.
    fn call(&mut self, it: Json<'_>, shared: &mut Shared, step: &mut AssemblerStep<'_, '_>) {
        let Kind::Call(at) = self.kind else { return };
        if !it.is_object() {
            return step.left_out("toolUse", "an object", it);
        }
        for (name, value) in it.members().filter(|it| !it.1.is_null()) {
            let call = &mut shared.calls.slots[at];
            match &*name {
                "toolUseId" if call.id.is_empty() => {
                    let said = || Some(step.said(&name, value)?.text().text().into_owned());
                    call.id = value.id().map(Cow::into_owned).or_else(said).unwrap_or_default();
                }
                "name" if call.name.is_empty() => {
                    let said = step.said(&name, value);
                    call.name = said.map(|it| it.text().text().into_owned()).unwrap_or_default();
                }
                "toolUseId" | "name" | "type" | "input" => {}
                _ => self.unknown.add(&name, value, &mut step.text_gauge()),
            }
        }
        let call = &mut shared.calls.slots[at];
        if !call.name.is_empty() {
            call.begin(at as u32, step);
        }
        let Some(input) = it.get("input").filter(|it| !it.is_null()) else { return };
        match input.string() {
            Some(text) if text.source.is_empty() => {}
            Some(text) => call.push_held(at as u32, text, step),
            None => {
                step.note(Note::ARGUMENTS_OBJECT, || {
                    "arguments came as JSON instead of text".into()
                });
                call.push_held(at as u32, Str::plain(&input.compact()), step);
            }
        }
    }

    /// Its stop. What its deltas did not say is announced, once.
    pub(super) fn end(&mut self, calls: &mut Calls, step: &mut AssemblerStep<'_, '_>) {
        if let Kind::Call(slot) = self.kind {
            calls.slots[slot].unended = false;
            calls.slots[slot].is_final = true;
        }
        self.announce(step);
    }

    pub(super) fn announce(&mut self, step: &mut AssemblerStep<'_, '_>) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        let is_said = |it: &Part| match it {
            Part::Text(it) => it.extra.is_empty(),
            Part::Reasoning(it) => it.signature.is_none() && it.redacted.is_none(),
            _ => false,
        };
        if let Some(part) = self.clone().into_part().filter(|it| !is_said(it)) {
            let part = Cow::Owned(part);
            (step.sink)(StreamEvent::PartEnd { choice: step.choice, part });
        }
    }

    /// The stream is over: ends the texts.
    pub(super) fn flush(&mut self, step: &mut AssemblerStep<'_, '_>) {
        match &mut self.kind {
            Kind::Text { text, .. } => TextKind::Text.end(text, step),
            Kind::Reasoning { text, signature, .. } => {
                TextKind::Reasoning.end(text, step);
                signature.end(&mut step.text_gauge());
            }
            Kind::Server { input, .. } => drop(input.end(&mut step.argument_gauge())),
            Kind::Call(_) | Kind::Image { .. } => {}
        }
    }

    /// Adds the part, or the calls, that the block is.
    pub(super) fn into_parts(self, calls: &mut BySlot, parts: &mut Parts) {
        let Kind::Call(slot) = self.kind else { return parts.list.extend(self.into_part()) };
        let mut unknown = Some(self.unknown.into_json()).filter(|it| !it.is_empty());
        for mut call in calls.take(slot) {
            if let Some(it) = unknown.take().and_then(|it| RawJson::new(it).ok()) {
                call.call.extra.insert(BEDROCK, "toolUse", it);
            }
            parts.push_call(call);
        }
    }

    /// The part; none of a call, and of a block that says nothing.
    fn into_part(self) -> Option<Part> {
        match self.kind {
            Kind::Call(_) => None,
            Kind::Text { text, citations } => {
                let text = text.into_text();
                let citations = citations.into_json();
                if text.is_empty() {
                    return (!citations.is_empty()).then(|| other(CITATIONS, &citations))?;
                }
                let mut part = Text::new(text);
                if let Ok(it) = RawJson::new(citations) {
                    part.extra.insert(BEDROCK, CITATIONS, it);
                }
                Some(Part::Text(part))
            }
            Kind::Reasoning { text, signature, sealed } => {
                let blob = BASE64_STANDARD.encode(&sealed);
                let data = redacted(&blob).filter(|_| !sealed.is_empty());
                if !sealed.is_empty() && data.is_none() {
                    let json = msg_json::to_text(|it| {
                        it.object(|it| it.key("redactedContent").str(&blob));
                    });
                    return other("reasoningContent", &json);
                }
                let (text, signature) = (text.into_text(), signature.into_text());
                let says = !text.is_empty() || !signature.is_empty() || data.is_some();
                let is_open = data.is_none() || !text.is_empty() || !signature.is_empty();
                says.then(|| {
                    Part::Reasoning(Reasoning {
                        text: is_open.then_some(text),
                        signature: Some(signature).filter(|it| !it.is_empty()),
                        redacted: data,
                        ..Reasoning::default()
                    })
                })
            }
            Kind::Server { name, mut members, input } => {
                if !input.is_empty() {
                    members.put_input(input.text());
                }
                other(name, &members.into_json())
            }
            Kind::Image { members, bytes } => {
                let data = BASE64_STANDARD.encode(&bytes);
                let json = msg_json::to_text(|it| {
                    it.object(|it| {
                        it.key("image").object(|it| {
                            let members = members.into_json();
                            for (name, value) in Json::from_valid(&members).members() {
                                it.key(&name).raw(value.source());
                            }
                            it.key("source").object(|it| it.key("bytes").str(&data));
                        });
                    });
                });
                let mut part = block_of(&json, Depth::Message);
                part.extra_mut().clear_layout();
                (!bytes.is_empty()).then_some(part)
            }
        }
    }
}

/// Appends the bytes of base64.
fn decode(bytes: &mut Vec<u8>, data: Option<Json<'_>>, step: &mut AssemblerStep<'_, '_>) {
    let data = data.and_then(Json::text).and_then(|it| BASE64_STANDARD.decode(&*it).ok());
    if let Some(data) = data.filter(|it| step.text_gauge().take(it.len())) {
        bytes.extend_from_slice(&data);
    }
}

/// A block that is carried.
fn other(name: &str, json: &str) -> Option<Part> {
    let json = if json.is_empty() { "{}" } else { json };
    let value = msg_json::to_text(|it| it.object(|it| it.key(name).raw(json)));
    Some(Part::Other(Other::new(BEDROCK, RawJson::new(value).ok()?)))
}
