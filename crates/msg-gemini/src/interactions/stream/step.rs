//! The steps of an interaction while they arrive (GI-17 to GI-20).

use std::borrow::Cow;

use msg_codec::codec::Context;
use msg_codec::stream::{AssemblerStep, BySlot, Calls, Channel, Merged, Note, Parts, TextKind};
use msg_codec::{Json, Str};
use msg_core::{Extra, Other, Part, Place, RawJson, Reasoning, Report, StreamEvent, Text};
use msg_json::Reader;

use crate::interactions::read::read_content;
use crate::interactions::shape::{INTERACTIONS, STEP, media};

/// One step.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    pub(super) index: u64,
    pub(super) kind: PieceKind,
    /// Its stop came.
    ended: bool,
    /// Members that the model does not know.
    unknown: Merged,
}

/// What all steps share.
#[derive(Debug, Clone, Default)]
pub(super) struct Shared {
    pub(super) calls: Calls,
    /// Some reasoning was announced, so that the next is set apart.
    has_reasoning: bool,
}

#[derive(Debug, Clone)]
pub(super) enum PieceKind {
    /// `model_output`
    Output(Vec<Held>),
    /// `thought`; what of its summary is not text is carried.
    Thought { texts: Vec<Channel>, signature: String, others: Merged },
    /// `function_call`, and the arguments of its start, which count if no delta comes.
    Call { slot: usize, arguments: String },
    /// Another step, carried.
    Other { kind: String, members: Merged },
}

/// A content of a `model_output`.
#[derive(Debug, Clone)]
pub(super) enum Held {
    Text { text: Channel, unknown: Merged },
    Whole(Part),
}

impl Piece {
    /// The step that a start begins; none over a limit, or if it says no type.
    pub(super) fn start(
        index: u64,
        raw: Json<'_>,
        shared: &mut Shared,
        step: &mut AssemblerStep<'_, '_>,
    ) -> Option<Self> {
        let kind = raw.get("type").and_then(Json::text)?;
        let is_content = kind == "text" || media::KINDS.contains(&&*kind);
        let kind = match &*kind {
            "model_output" => PieceKind::Output(Vec::new()),
            "thought" => PieceKind::Thought {
                texts: Vec::new(),
                signature: String::new(),
                others: Merged::default(),
            },
            "function_call" => {
                let slot = shared.calls.open(step)?;
                shared.calls.slots[slot].unended = true;
                PieceKind::Call { slot, arguments: String::new() }
            }
            // The older schema has contents in the place of steps.
            _ if is_content => PieceKind::Output(Vec::new()),
            _ => PieceKind::Other { kind: kind.clone().into_owned(), members: Merged::default() },
        };
        let mut res = Self { index, kind, ended: false, unknown: Merged::default() };
        if is_content {
            res.content(raw, step);
            return Some(res);
        }
        for (name, value) in raw.members() {
            res.member(&name, value, shared, step);
        }
        if let PieceKind::Call { slot, .. } = res.kind
            && !shared.calls.slots[slot].name.is_empty()
        {
            shared.calls.slots[slot].begin(slot as u32, step);
        }
        Some(res)
    }

    /// A start for a delta that came without one.
    pub(super) fn implied_by(delta: Json<'_>) -> Option<String> {
        let kind = match delta.get("type").and_then(Json::text) {
            Some(it) => it,
            None => delta.get("text").filter(|it| it.is_string()).map(|_| "text".into())?,
        };
        let step = match &*kind {
            "text" | "text_annotation_delta" => "model_output",
            it if media::KINDS.contains(&it) => "model_output",
            "thought_summary" | "thought_signature" => "thought",
            "arguments_delta" => "function_call",
            it if it == "function_call" || it.ends_with("_call") || it.ends_with("_result") => it,
            _ => return None,
        };
        Some(msg_json::to_text(|it| it.object(|it| it.key("type").str(step))))
    }

    fn member(
        &mut self,
        name: &str,
        value: Json<'_>,
        shared: &mut Shared,
        step: &mut AssemblerStep<'_, '_>,
    ) {
        match (&mut self.kind, name) {
            (PieceKind::Other { members, .. }, _) => overwrite(members, name, value, step),
            (_, "type") => {}
            (PieceKind::Output(_), "content") if value.is_array() => {
                value.elements().for_each(|it| self.content(it, step));
            }
            (PieceKind::Output(_), "content") => {
                if let Some(text) = meant("content", value, step) {
                    self.content(Json::from_valid(&text), step);
                }
            }
            (PieceKind::Thought { .. }, "summary") if value.is_array() => {
                for it in value.elements() {
                    if let PieceKind::Thought { texts, .. } = &mut self.kind {
                        texts.extend(is_text(it).then(Channel::default));
                    }
                    self.summary(it, shared, step);
                }
            }
            (PieceKind::Thought { texts, .. }, "summary") => {
                if let Some(text) = meant("summary", value, step) {
                    texts.push(Channel::default());
                    self.summary(Json::from_valid(&text), shared, step);
                }
            }
            (PieceKind::Thought { signature, .. }, "signature") => {
                sign(signature, value, step);
            }
            (PieceKind::Call { .. }, "id" | "name" | "signature") => {
                self.call_member(name, value, shared, step);
            }
            (PieceKind::Call { arguments, .. }, "arguments") => {
                let said = match value.string() {
                    Some(text) => text.text().into_owned(),
                    None if value.is_null() => String::new(),
                    None => value.compact(),
                };
                if step.text_gauge().take(said.len()) {
                    *arguments = said;
                }
            }
            _ => self.unknown.add(name, value, &mut step.text_gauge()),
        }
    }

    /// What a call is called by; the first of each counts.
    fn call_member(
        &mut self,
        name: &str,
        value: Json<'_>,
        shared: &mut Shared,
        step: &mut AssemblerStep<'_, '_>,
    ) {
        let PieceKind::Call { slot, .. } = self.kind else { return };
        let said = match value.id() {
            Some(it) => Some(it.into_owned()),
            None => step.said(name, value).map(|it| it.text().text().into_owned()),
        };
        let Some(text) = said.filter(|it| step.text_gauge().take(it.len())) else { return };
        let call = &mut shared.calls.slots[slot];
        match name {
            "id" if call.id.is_empty() => call.id = text,
            "name" if call.name.is_empty() => call.name = text,
            "signature" => call.signature = Some(text),
            _ => {}
        }
    }

    /// Adds a content that is whole.
    fn content(&mut self, raw: Json<'_>, step: &mut AssemblerStep<'_, '_>) {
        let PieceKind::Output(list) = &mut self.kind else { return };
        if list.len() >= step.limits.max_calls {
            return step.text_gauge().limit();
        }
        if !is_text(raw) {
            let mut report = Report::new();
            let mut cx = Context::new(&mut report);
            if let Ok(mut part) = read_content(&mut Reader::from_text(raw.source()), &mut cx)
                && step.text_gauge().take(raw.source().len())
            {
                part.extra_mut().clear_layout();
                list.push(Held::Whole(part));
            }
            return;
        }
        let (mut text, mut unknown) = (Channel::default(), Merged::default());
        for (name, value) in raw.members() {
            match &*name {
                "type" => {}
                "text" => {
                    if let Some(it) = step.said("text", value) {
                        TextKind::Text.push(&mut text, it.text(), step);
                    }
                }
                _ => unknown.add(&name, value, &mut step.text_gauge()),
            }
        }
        list.push(Held::Text { text, unknown });
    }

    /// Takes a delta; false if a step of this kind has none of its type.
    pub(super) fn delta(
        &mut self,
        delta: Json<'_>,
        shared: &mut Shared,
        step: &mut AssemblerStep<'_, '_>,
    ) -> bool {
        let kind = delta.get("type").and_then(Json::text);
        let has_text = delta.get("text").is_some_and(Json::is_string);
        let kind = kind.unwrap_or(Cow::Borrowed(if has_text { "text" } else { "" }));
        match (&mut self.kind, &*kind) {
            (PieceKind::Output(list), "text") => {
                let text = delta.get("text").and_then(|it| step.said("text", it));
                let last = list.iter_mut().rev().find_map(|it| match it {
                    Held::Text { text, .. } => Some(text),
                    Held::Whole(_) => None,
                });
                match (last, text) {
                    (_, None) => {}
                    (Some(last), Some(text)) => TextKind::Text.push(last, text.text(), step),
                    (None, Some(text)) => {
                        let mut channel = Channel::default();
                        TextKind::Text.push(&mut channel, text.text(), step);
                        list.push(Held::Text { text: channel, unknown: Merged::default() });
                    }
                }
            }
            (PieceKind::Output(list), "text_annotation_delta") => {
                let last = list.iter_mut().rev().find_map(|it| match it {
                    Held::Text { unknown, .. } => Some(unknown),
                    Held::Whole(_) => None,
                });
                let Some(unknown) = last else { return false };
                match delta.get("annotations") {
                    Some(list) if list.is_array() => {
                        unknown.add("annotations", list, &mut step.text_gauge());
                    }
                    it => it.into_iter().for_each(|it| step.left_out("annotations", "a list", it)),
                }
            }
            (PieceKind::Output(_), kind) if media::KINDS.contains(&kind) => {
                self.content(delta, step);
            }
            (PieceKind::Thought { .. }, "thought_summary") => match delta.get("content") {
                Some(content) if content.is_object() => self.summary(content, shared, step),
                Some(content) => {
                    if let Some(text) = meant("content", content, step) {
                        self.summary(Json::from_valid(&text), shared, step);
                    }
                }
                None => {}
            },
            (PieceKind::Thought { signature, .. }, "thought_signature") => {
                if let Some(value) = delta.get("signature") {
                    sign(signature, value, step);
                }
            }
            (PieceKind::Call { .. }, "arguments_delta" | "function_call") => {
                self.arguments(delta, shared, step);
            }
            (PieceKind::Other { kind: own, members }, kind) if own == kind => {
                for (name, value) in delta.members() {
                    overwrite(members, &name, value, step);
                }
            }
            _ => return false,
        }
        true
    }

    /// A piece of a call: its arguments, and what it is called by if that comes now.
    fn arguments(
        &mut self,
        delta: Json<'_>,
        shared: &mut Shared,
        step: &mut AssemblerStep<'_, '_>,
    ) {
        for (name, value) in delta.members() {
            if name != "arguments" {
                self.call_member(&name, value, shared, step);
            }
        }
        let PieceKind::Call { slot, .. } = self.kind else { return };
        let call = &mut shared.calls.slots[slot];
        let Some(value) = delta.get("arguments").filter(|it| !it.is_null()) else { return };
        match value.string() {
            Some(text) if text.source.is_empty() => {}
            Some(text) => call.push_held(slot as u32, text, step),
            None => {
                let note = || "arguments came as JSON instead of text".to_owned();
                step.note(Note::ARGUMENTS_OBJECT, note);
                call.push_held(slot as u32, Str::plain(&value.compact()), step);
            }
        }
    }

    /// A content of a summary: a text goes on with the last one.
    fn summary(
        &mut self,
        content: Json<'_>,
        shared: &mut Shared,
        step: &mut AssemblerStep<'_, '_>,
    ) {
        let PieceKind::Thought { texts, others, .. } = &mut self.kind else { return };
        let untyped = content.get("type").is_none() && content.get("text").is_some();
        if !is_text(content) && !untyped {
            return others.append("summary", content, &mut step.text_gauge());
        }
        let Some(text) = content.get("text").and_then(|it| step.said("text", it)) else { return };
        if texts.is_empty() {
            texts.push(Channel::default());
        }
        let Some(last) = texts.last_mut() else { return };
        if shared.has_reasoning && last.is_empty() {
            TextKind::Reasoning.announce("\n\n", step);
        }
        shared.has_reasoning = true;
        TextKind::Reasoning.push(last, text.text(), step);
    }

    /// Its stop. What the deltas of its parts did not say is announced, once.
    pub(super) fn end(&mut self, calls: &mut Calls, step: &mut AssemblerStep<'_, '_>) {
        if let PieceKind::Call { slot, arguments } = &mut self.kind {
            use_arguments(*slot, arguments, calls, step);
            calls.slots[*slot].unended = false;
            calls.slots[*slot].is_final = true;
        }
        self.announce(step);
    }

    /// Announces what the deltas did not say, if the step has just ended.
    pub(super) fn announce(&mut self, step: &mut AssemblerStep<'_, '_>) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        for part in self.clone().into_list() {
            let is_said = matches!(&part, Part::Text(it) if it.extra.is_empty())
                || matches!(&part, Part::Reasoning(it) if it.extra.is_empty());
            if !is_said {
                let part = Cow::Owned(part);
                (step.sink)(StreamEvent::PartEnd { choice: step.choice, part });
            }
        }
    }

    /// The stream is over: ends the texts.
    pub(super) fn flush(&mut self, calls: &mut Calls, step: &mut AssemblerStep<'_, '_>) {
        match &mut self.kind {
            PieceKind::Output(list) => {
                for it in list {
                    if let Held::Text { text, .. } = it {
                        TextKind::Text.end(text, step);
                    }
                }
            }
            PieceKind::Thought { texts, .. } => {
                texts.iter_mut().for_each(|it| TextKind::Reasoning.end(it, step));
            }
            PieceKind::Call { slot, arguments } => use_arguments(*slot, arguments, calls, step),
            PieceKind::Other { .. } => {}
        }
    }

    /// Adds the parts, or the calls, that the step is.
    pub(super) fn into_parts(self, calls: &mut BySlot, parts: &mut Parts) {
        let PieceKind::Call { slot, .. } = self.kind else {
            return parts.list.extend(self.into_list());
        };
        let mut unknown = Some(self.unknown);
        for mut call in calls.take(slot) {
            if let Some(unknown) = unknown.take() {
                unknown.into_extra(&INTERACTIONS, &mut call.call.extra);
            }
            parts.push_call(call);
        }
    }

    /// The parts of a step that is not a call; none of one that says nothing.
    fn into_list(self) -> Vec<Part> {
        match self.kind {
            PieceKind::Call { .. } => Vec::new(),
            PieceKind::Output(list) => output(list, self.unknown),
            PieceKind::Thought { texts, signature, others } => {
                thought(texts, signature, others, self.unknown)
            }
            PieceKind::Other { members, .. } => carried(members.into_json()).into_iter().collect(),
        }
    }
}

/// The parts of a `model_output`; its other members stay with the first.
fn output(list: Vec<Held>, unknown: Merged) -> Vec<Part> {
    let parts = list.into_iter().filter_map(|it| match it {
        Held::Whole(part) => Some(part),
        Held::Text { text, unknown } => {
            let mut part = Text::new(text.into_text());
            unknown.into_extra(&INTERACTIONS, &mut part.extra);
            (!part.text.is_empty() || !part.extra.is_empty()).then_some(Part::Text(part))
        }
    });
    let mut parts: Vec<_> = parts.collect();
    if !unknown.is_empty() {
        let step = unknown.into_json();
        match (parts.first_mut(), RawJson::new(step.clone())) {
            (Some(first), Ok(raw)) => drop(first.extra_mut().insert(INTERACTIONS, STEP, raw)),
            _ => parts.extend(carried(typed("model_output", &Extra::default(), &step))),
        }
    }
    parts
}

/// A thought: its text and signature, and after it what of its summary is not text.
fn thought(texts: Vec<Channel>, signature: String, others: Merged, unknown: Merged) -> Vec<Part> {
    let texts = texts.into_iter().map(Channel::into_text).filter(|it| !it.is_empty());
    let texts: Vec<_> = texts.collect();
    let mut extra = Extra::default();
    if !signature.is_empty() {
        extra.insert(INTERACTIONS, "signature", RawJson::string(&signature));
    }
    unknown.into_extra(&INTERACTIONS, &mut extra);
    let others = others.into_json();
    if texts.is_empty() && !others.is_empty() {
        return carried(typed("thought", &extra, &others)).into_iter().collect();
    }
    let summary = Some(texts).filter(|it| !it.is_empty());
    let part = Reasoning { summary, extra, ..Reasoning::default() };
    let says = part.summary.is_some() || !part.extra.is_empty();
    let mut res: Vec<_> = says.then_some(Part::Reasoning(part)).into_iter().collect();
    if !others.is_empty() {
        res.extend(carried(typed("thought", &Extra::default(), &others)));
    }
    res
}

/// A step that is carried.
fn carried(json: String) -> Option<Part> {
    let value = RawJson::new(json).ok()?;
    Some(Part::Other(Other { place: Some(Place::Item), ..Other::new(INTERACTIONS, value) }))
}

/// The object with a type before its members.
fn typed(kind: &str, extra: &Extra, members: &str) -> String {
    msg_json::to_text(|it| {
        it.object(|it| {
            it.key("type").str(kind);
            for (name, value) in extra.iter(&INTERACTIONS) {
                it.key(name).raw(value.text());
            }
            for (name, value) in Json::from_valid(members).members() {
                it.key(&name).raw(value.source());
            }
        });
    })
}

/// The last value counts, but for an empty string (GI-20).
fn overwrite(members: &mut Merged, name: &str, value: Json<'_>, step: &mut AssemblerStep<'_, '_>) {
    let is_empty = value.is_string() && value.filled().is_none();
    if !is_empty || !members.has(name) {
        members.set(name, value, &mut step.text_gauge());
    }
}

/// The last signature that is not empty counts.
fn sign(signature: &mut String, value: Json<'_>, step: &mut AssemblerStep<'_, '_>) {
    if !value.is_string() {
        return step.left_out("signature", "a string", value);
    }
    if let Some(text) = value.text().filter(|it| step.text_gauge().take(it.len())) {
        *signature = text.into_owned();
    }
}

/// The arguments of the start count if no delta came.
fn use_arguments(
    slot: usize,
    arguments: &mut String,
    calls: &mut Calls,
    step: &mut AssemblerStep<'_, '_>,
) {
    let arguments = std::mem::take(arguments);
    let call = &mut calls.slots[slot];
    if !arguments.is_empty() && !call.has_arguments() {
        call.push(slot as u32, Str::plain(&arguments), step);
    }
}

/// The content that a value means which is not a list of contents (MS-29): itself, or a text; none of one that says nothing.
fn meant(name: &str, value: Json<'_>, step: &mut AssemblerStep<'_, '_>) -> Option<String> {
    if value.is_object() {
        step.wrong_type(name, "a list of contents", value);
        return Some(value.source().to_owned());
    }
    if value.is_string() {
        step.wrong_type(name, "a list of contents", value);
    }
    let said = step.said(name, value)?;
    Some(msg_json::to_text(|it| {
        it.object(|it| {
            it.key("type").str("text");
            it.key("text").str(&said.text().text());
        });
    }))
}

fn is_text(content: Json<'_>) -> bool {
    content.get("type").and_then(Json::text).is_some_and(|it| it == "text")
}
