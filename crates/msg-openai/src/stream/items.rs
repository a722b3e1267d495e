//! The output items of a Responses stream while they arrive (OA-22).

use std::borrow::Cow;

use msg_core::json::{Writer, to_text};
use msg_core::{CallKind, Extra, Origin, Other, Part, Place, RawJson, Reasoning, Text};
use msg_wire::stream::{BySlot, Calls, Channel, Note, Parts, Step, TextKind, UnknownMembers};
use msg_wire::{Json, Str};

const ORIGIN: Origin = Origin::Responses;

/// One output item.
#[derive(Debug, Clone, Default)]
pub(crate) struct Item {
    pub(crate) output_index: Option<u64>,
    /// The id as it stood last, as JSON source.
    pub(crate) id: String,
    pub(crate) kind: ItemKind,
    /// Members that the model does not know, of the last event that carries the item: JSON.
    rest: String,
    /// The whole item, where nothing of it became a part: JSON.
    whole: String,
}

#[derive(Debug, Clone, Default)]
pub(crate) enum ItemKind {
    /// Not known yet.
    #[default]
    Pending,
    Message(Pieces<Content>),
    Call(usize),
    Reasoning {
        summary: Pieces<Channel>,
        text: Pieces<Channel>,
        encrypted: Option<String>,
    },
    Other,
}

/// Parts of an item by their index.
#[derive(Debug, Clone)]
pub(crate) struct Pieces<T>(Vec<(u64, T)>);

/// A content part of a message.
#[derive(Debug, Clone, Default)]
pub(crate) struct Content {
    text: Channel,
    is_refusal: bool,
    /// Members that the model does not know.
    unknown: UnknownMembers,
    /// A part of an unknown type: JSON.
    other: String,
}

impl<T> Default for Pieces<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Default> Pieces<T> {
    /// The part of this index; a new one is made, up to the limit.
    fn at(&mut self, index: u64, step: &mut Step<'_, '_>) -> Option<&mut T> {
        let found = match self.0.last() {
            Some((last, _)) if *last == index => Some(self.0.len() - 1),
            _ => self.0.iter().position(|(it, _)| *it == index),
        };
        if found.is_none() {
            if self.0.len() >= step.limits.max_calls {
                step.text_gauge().limit();
                return None;
            }
            self.0.push((index, T::default()));
        }
        let place = found.unwrap_or(self.0.len() - 1);
        self.0.get_mut(place).map(|(_, it)| it)
    }

    fn sorted(mut self) -> impl Iterator<Item = T> {
        self.0.sort_by_key(|(index, _)| *index);
        self.0.into_iter().map(|(_, it)| it)
    }
}

/// Whether a text is one more delta, or the whole at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Delta,
    Whole,
}

impl Item {
    pub(crate) fn new(output_index: Option<u64>) -> Self {
        Self { output_index, ..Self::default() }
    }

    /// Text or refusal of a message.
    pub(crate) fn text(
        &mut self,
        refusal: bool,
        index: u64,
        form: Form,
        text: Json<'_>,
        step: &mut Step<'_, '_>,
    ) {
        if let ItemKind::Pending = self.kind {
            self.kind = ItemKind::Message(Pieces::default());
        }
        let ItemKind::Message(contents) = &mut self.kind else {
            return;
        };
        let (Some(content), Some(text)) = (contents.at(index, step), text.filled()) else {
            return;
        };
        if content.text.is_empty() {
            content.is_refusal = refusal;
        }
        take(content.kind(), &mut content.text, form, text, step);
    }

    /// Reasoning text, or its summary.
    pub(crate) fn reasoning(
        &mut self,
        of_summary: bool,
        index: u64,
        form: Form,
        text: Json<'_>,
        has_reasoning: &mut bool,
        step: &mut Step<'_, '_>,
    ) {
        if let ItemKind::Pending = self.kind {
            self.kind = ItemKind::Reasoning {
                summary: Pieces::default(),
                text: Pieces::default(),
                encrypted: None,
            };
        }
        let ItemKind::Reasoning { summary, text: texts, .. } = &mut self.kind else {
            return;
        };
        let pieces = if of_summary { summary } else { texts };
        let (Some(channel), Some(text)) = (pieces.at(index, step), text.filled()) else {
            return;
        };
        if *has_reasoning && channel.is_empty() {
            TextKind::Reasoning.announce("\n\n", step);
        }
        *has_reasoning = true;
        take(TextKind::Reasoning, channel, form, text, step);
    }

    /// Arguments of a call, or the input of a custom one.
    pub(crate) fn arguments(
        &mut self,
        kind: CallKind,
        form: Form,
        value: Json<'_>,
        calls: &mut Calls,
        step: &mut Step<'_, '_>,
    ) {
        let Some(slot) = self.slot(kind, calls, step) else {
            return;
        };
        let call = &mut calls.slots[slot];
        if value.is_object() || value.is_array() {
            step.note(Note::ARGUMENTS_OBJECT, || "arguments came as JSON instead of text".into());
            return call.settle_text(slot as u32, &value.compact(), step);
        }
        let Some(text) = value.filled() else {
            return;
        };
        match form {
            Form::Delta => call.push(slot as u32, text, step),
            Form::Whole => call.settle_text(slot as u32, &text.text(), step),
        }
    }

    /// A citation or the like of a text.
    pub(crate) fn annotation(&mut self, index: u64, annotation: Json<'_>, step: &mut Step<'_, '_>) {
        if let ItemKind::Message(contents) = &mut self.kind
            && let Some(content) = contents.at(index, step)
        {
            content.unknown.append("annotations", annotation, &mut step.text_gauge());
        }
    }

    /// A content part as a whole.
    pub(crate) fn part(
        &mut self,
        index: u64,
        part: Json<'_>,
        has_reasoning: &mut bool,
        step: &mut Step<'_, '_>,
    ) {
        let kind = part.get("type").and_then(Json::text);
        let null = Json::from_valid("null");
        match kind.as_deref().unwrap_or_default() {
            "output_text" | "text" => {
                self.text(false, index, Form::Whole, part.get("text").unwrap_or(null), step);
            }
            "refusal" => {
                self.text(true, index, Form::Whole, part.get("refusal").unwrap_or(null), step);
            }
            "reasoning_text" => {
                let text = part.get("text").unwrap_or(null);
                return self.reasoning(false, index, Form::Whole, text, has_reasoning, step);
            }
            "summary_text" => {
                let text = part.get("text").unwrap_or(null);
                return self.reasoning(true, index, Form::Whole, text, has_reasoning, step);
            }
            _ => {
                self.text(false, index, Form::Whole, null, step);
                if let ItemKind::Message(contents) = &mut self.kind
                    && let Some(content) = contents.at(index, step)
                    && step.text_gauge().take(part.source().len())
                {
                    content.other = part.source().to_owned();
                }
                return;
            }
        }
        let ItemKind::Message(contents) = &mut self.kind else {
            return;
        };
        let Some(content) = contents.at(index, step) else {
            return;
        };
        content.unknown = UnknownMembers::default();
        for (key, value) in part.members() {
            if !matches!(&*key, "type" | "text" | "refusal") {
                content.unknown.add(&key, value, &mut step.text_gauge());
            }
        }
    }

    /// An event that carries the item; `done` if it is the item at its end.
    pub(crate) fn whole(
        &mut self,
        item: Json<'_>,
        done: bool,
        calls: &mut Calls,
        has_reasoning: &mut bool,
        step: &mut Step<'_, '_>,
    ) {
        let kind = item.get("type").and_then(Json::text);
        let kind =
            kind.as_deref().unwrap_or(if item.get("role").is_some() { "message" } else { "" });
        let known: &[&str] = match kind {
            "message" => {
                self.message(item, has_reasoning, step);
                &["type", "role", "content"]
            }
            "reasoning" => {
                self.whole_reasoning(item, has_reasoning, step);
                &["type", "summary", "content", "encrypted_content"]
            }
            "function_call" => {
                self.call(CallKind::Function, "arguments", item, done, calls, step);
                &["type", "call_id", "name", "arguments"]
            }
            "custom_tool_call" => {
                self.call(CallKind::Custom, "input", item, done, calls, step);
                &["type", "call_id", "name", "input"]
            }
            _ => {
                if let ItemKind::Pending = self.kind {
                    self.kind = ItemKind::Other;
                }
                &[]
            }
        };
        self.rest = rest_of(item, known, step);
        let keep = matches!(self.kind, ItemKind::Other) || (done && self.is_empty());
        self.whole.clear();
        if keep && step.text_gauge().take(item.source().len()) {
            self.whole.push_str(item.source());
        }
    }

    fn message(&mut self, item: Json<'_>, has_reasoning: &mut bool, step: &mut Step<'_, '_>) {
        if let ItemKind::Pending = self.kind {
            self.kind = ItemKind::Message(Pieces::default());
        }
        let Some(content) = item.get("content") else { return };
        if content.filled().is_some() {
            return self.text(false, 0, Form::Whole, content, step);
        }
        for (index, part) in content.elements().enumerate() {
            self.part(index as u64, part, has_reasoning, step);
        }
    }

    fn whole_reasoning(
        &mut self,
        item: Json<'_>,
        has_reasoning: &mut bool,
        step: &mut Step<'_, '_>,
    ) {
        if let ItemKind::Pending = self.kind {
            let (summary, text) = Default::default();
            self.kind = ItemKind::Reasoning { summary, text, encrypted: None };
        }
        for (of_summary, member) in [(true, "summary"), (false, "content")] {
            let parts = item.get(member).into_iter().flat_map(Json::elements);
            for (index, part) in parts.enumerate() {
                let text = part.get("text").unwrap_or(Json::from_valid("null"));
                self.reasoning(of_summary, index as u64, Form::Whole, text, has_reasoning, step);
            }
        }
        if let ItemKind::Reasoning { encrypted, .. } = &mut self.kind {
            let sealed = item.get("encrypted_content").and_then(Json::text);
            *encrypted = sealed.filter(|it| step.text_gauge().take(it.len())).map(Cow::into_owned);
        }
    }

    fn call(
        &mut self,
        kind: CallKind,
        member: &str,
        item: Json<'_>,
        done: bool,
        calls: &mut Calls,
        step: &mut Step<'_, '_>,
    ) {
        let Some(slot) = self.slot(kind.clone(), calls, step) else {
            return;
        };
        let call = &mut calls.slots[slot];
        call.kind = kind.clone();
        call.done |= done;
        if let Some(id) = item.get("call_id").and_then(Json::id).filter(|it| **it != *call.id) {
            if call.id.is_empty() {
                call.id = id.into_owned();
            } else {
                step.note(Note::ID_CHANGED, || "a call's id changed".into());
            }
        }
        if let (true, Some(name)) = (call.name.is_empty(), item.get("name").and_then(Json::text)) {
            call.name = name.into_owned();
        }
        if let Some(value) = item.get(member) {
            self.arguments(kind, Form::Whole, value, calls, step);
        }
    }

    /// The call that the item is; none if it is something else.
    fn slot(
        &mut self,
        kind: CallKind,
        calls: &mut Calls,
        step: &mut Step<'_, '_>,
    ) -> Option<usize> {
        if let ItemKind::Pending = self.kind {
            let slot = calls.open(step)?;
            calls.slots[slot].kind = kind;
            self.kind = ItemKind::Call(slot);
        }
        if let ItemKind::Call(slot) = self.kind { Some(slot) } else { None }
    }

    /// Whether nothing of it would become a part.
    fn is_empty(&self) -> bool {
        match &self.kind {
            ItemKind::Pending | ItemKind::Other => true,
            ItemKind::Call(_) => false,
            ItemKind::Message(contents) => contents.0.iter().all(|(_, it)| it.is_empty()),
            ItemKind::Reasoning { summary, text, encrypted } => {
                let silent = |it: &Pieces<Channel>| it.0.iter().all(|(_, it)| it.is_empty());
                encrypted.is_none() && silent(summary) && silent(text)
            }
        }
    }

    /// The stream is over: ends the texts.
    pub(crate) fn flush(&mut self, step: &mut Step<'_, '_>) {
        match &mut self.kind {
            ItemKind::Message(contents) => {
                for (_, it) in &mut contents.0 {
                    it.kind().end(&mut it.text, step);
                }
            }
            ItemKind::Reasoning { summary, text, .. } => {
                for (_, it) in summary.0.iter_mut().chain(&mut text.0) {
                    TextKind::Reasoning.end(it, step);
                }
            }
            ItemKind::Pending | ItemKind::Call(_) | ItemKind::Other => {}
        }
    }

    /// The parts that the item is; its own members go to the first of them.
    pub(crate) fn into_parts(self, calls: &mut BySlot, parts: &mut Parts) {
        let from = parts.list.len();
        // An item of reasoning is that even without a word: its id is what the API asks back.
        let is_reasoning = matches!(self.kind, ItemKind::Reasoning { .. });
        if self.is_empty() && (self.whole.is_empty() || !is_reasoning) {
            parts.list.extend(other(&self.whole, Place::Item));
            return;
        }
        match self.kind {
            ItemKind::Pending | ItemKind::Other => {}
            ItemKind::Message(contents) => {
                parts.list.extend(contents.sorted().filter_map(Content::into_part));
            }
            ItemKind::Call(slot) => {
                calls.take(slot).into_iter().for_each(|it| parts.push_call(it));
            }
            ItemKind::Reasoning { summary, text, encrypted } => {
                let filled = |it: Pieces<Channel>| -> Vec<String> {
                    it.sorted().filter(|it| !it.is_empty()).map(Channel::into_text).collect()
                };
                let (summary, text) = (filled(summary), filled(text));
                parts.list.push(Part::Reasoning(Reasoning {
                    text: (!text.is_empty()).then(|| text.join("\n\n")),
                    summary: (!summary.is_empty()).then_some(summary),
                    encrypted,
                    ..Reasoning::default()
                }));
            }
        }
        let rest = if self.rest.is_empty() && !self.id.is_empty() {
            format!("{{\"id\":{}}}", self.id)
        } else {
            self.rest
        };
        if let (Some(first), Ok(rest)) = (parts.list.get_mut(from), RawJson::new(rest)) {
            first.extra_mut().insert(ORIGIN, "item", rest);
        }
    }
}

impl Content {
    fn kind(&self) -> TextKind {
        if self.is_refusal { TextKind::Refusal } else { TextKind::Text }
    }

    fn is_empty(&self) -> bool {
        self.text.is_empty() && self.other.is_empty()
    }

    fn into_part(self) -> Option<Part> {
        if self.is_empty() {
            return None;
        }
        if self.text.is_empty() {
            return other(&self.other, Place::Content);
        }
        let mut extra = Extra::default();
        self.unknown.into_extra(&ORIGIN, &mut extra);
        let text = Text { text: self.text.into_text(), extra };
        Some(if self.is_refusal { Part::Refusal(text) } else { Part::Text(text) })
    }
}

/// Appends a delta, or settles the text with the whole of it.
fn take(kind: TextKind, channel: &mut Channel, form: Form, text: Str<'_>, step: &mut Step<'_, '_>) {
    match form {
        Form::Delta => kind.push(channel, text, step),
        Form::Whole => match channel.settle(&text.text(), &mut step.text_gauge()) {
            Some(added) => kind.announce(added, step),
            None => step.note(Note::DONE_DIFFERS, || "a final text differs from its deltas".into()),
        },
    }
}

fn other(json: &str, place: Place) -> Option<Part> {
    let mut other = Other::new(ORIGIN, RawJson::new(json).ok()?);
    other.place = Some(place);
    Some(Part::Other(other))
}

/// The members of an item that are not among the known ones, as an object; empty if there is none.
fn rest_of(item: Json<'_>, known: &[&str], step: &mut Step<'_, '_>) -> String {
    let unknown = item.members().filter(|(key, _)| !known.contains(&&**key));
    let kept: Vec<_> = unknown
        .filter(|(key, value)| step.text_gauge().take(key.len() + value.source().len()))
        .collect();
    if kept.is_empty() {
        return String::new();
    }
    let write = |it: &mut Writer<'_>| {
        kept.iter().for_each(|(key, value)| it.key(key).raw(value.source()));
    };
    to_text(|it| it.object(write))
}
