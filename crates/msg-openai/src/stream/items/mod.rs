//! The output items of a Responses stream while they arrive (OA-22). Which event belongs to which item is
//! for `output.rs`.
//!
//! ```text
//! {"type":"message","id":"msg_1","content":[{"type":"output_text","text":"Hi"}]}      Message, a piece a part
//! {"type":"reasoning","id":"rs_1","summary":[…],"encrypted_content":"…"}              Reasoning
//! {"type":"function_call","id":"fc_1","call_id":"c1","name":"f","arguments":"{}"}     Call, a slot of its own
//! {"type":"web_search_call","id":"ws_1", …}                                           Other, carried whole
//! ```

mod pieces;
mod whole;

use msg_codec::Json;
use msg_codec::stream::{Calls, Channel, Note, Step, TextKind};
use msg_core::{CallKind, Origin};

pub(crate) use pieces::Form;
use pieces::{Content, Pieces, take};

const ORIGIN: Origin = Origin::Responses;

/// One output item.
#[derive(Debug, Clone, Default)]
pub(crate) struct Item {
    pub(crate) output_index: Option<u64>,
    /// The id as it was last, as JSON source.
    pub(crate) id: String,
    kind: ItemKind,
    /// Members that the model does not know, of the last event that carries the item: JSON.
    rest: String,
    /// The whole item, where nothing of it became a part: JSON.
    whole: String,
}

#[derive(Debug, Clone, Default)]
enum ItemKind {
    /// Not known yet.
    #[default]
    Pending,
    Message(Pieces<Content>),
    /// The place of the call among all calls.
    Call(usize),
    Reasoning(Thought),
    Other,
}

/// What an item of reasoning says.
#[derive(Debug, Clone, Default)]
struct Thought {
    summary: Pieces<Channel>,
    text: Pieces<Channel>,
    encrypted: Option<String>,
}

/// What kind of item it is: what an event of another kind says does not belong to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Message,
    Call,
    Reasoning,
    Other,
}

impl Class {
    pub(crate) const ALL: [Self; 4] = [Self::Message, Self::Call, Self::Reasoning, Self::Other];
}

/// What all items of a response share.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shared {
    pub(crate) calls: Calls,
    /// Some reasoning was announced, so that the next part's is set apart.
    has_reasoning: bool,
}

impl Item {
    /// An item of which nothing is known but its output index.
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
        self.begin(|| ItemKind::Message(Pieces::default()));
        let ItemKind::Message(contents) = &mut self.kind else { return };
        let said = step.said(if refusal { "refusal" } else { "text" }, text);
        let (Some(content), Some(said)) = (contents.at(index, step), said) else { return };
        if content.text.is_empty() {
            content.is_refusal = refusal;
        }
        take(content.kind(), &mut content.text, form, said.text(), step);
    }

    /// Reasoning text, or its summary.
    pub(crate) fn reasoning(
        &mut self,
        of_summary: bool,
        index: u64,
        form: Form,
        text: Json<'_>,
        shared: &mut Shared,
        step: &mut Step<'_, '_>,
    ) {
        self.begin(|| ItemKind::Reasoning(Thought::default()));
        let ItemKind::Reasoning(thought) = &mut self.kind else { return };
        let pieces = if of_summary { &mut thought.summary } else { &mut thought.text };
        let said = step.said("reasoning", text);
        let (Some(channel), Some(said)) = (pieces.at(index, step), said) else { return };
        if shared.has_reasoning && channel.is_empty() {
            TextKind::Reasoning.announce("\n\n", step);
        }
        shared.has_reasoning = true;
        take(TextKind::Reasoning, channel, form, said.text(), step);
    }

    /// Arguments of a call, or the input of a custom one.
    pub(crate) fn arguments(
        &mut self,
        kind: CallKind,
        form: Form,
        value: Json<'_>,
        shared: &mut Shared,
        step: &mut Step<'_, '_>,
    ) {
        let Some(slot) = self.slot(kind, shared, step) else { return };
        let call = &mut shared.calls.slots[slot];
        if !value.is_string() && !value.is_null() {
            step.note(Note::ARGUMENTS_OBJECT, || "arguments came as JSON instead of text".into());
            return call.take_whole(slot as u32, &value.compact(), step);
        }
        let Some(text) = value.filled() else { return };
        match form {
            Form::Delta => call.push(slot as u32, text, step),
            Form::Whole => call.take_whole(slot as u32, &text.text(), step),
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

    /// The kind of the item; none as long as it is not known.
    pub(crate) fn class(&self) -> Option<Class> {
        match self.kind {
            ItemKind::Pending => None,
            ItemKind::Message(_) => Some(Class::Message),
            ItemKind::Call(_) => Some(Class::Call),
            ItemKind::Reasoning(_) => Some(Class::Reasoning),
            ItemKind::Other => Some(Class::Other),
        }
    }

    /// Whether what is of this kind may belong to it.
    pub(crate) fn takes(&self, class: Option<Class>) -> bool {
        class.is_none() || self.class().is_none_or(|own| class == Some(own))
    }

    /// Says what the item is, unless that is known.
    fn begin(&mut self, kind: impl FnOnce() -> ItemKind) {
        if let ItemKind::Pending = self.kind {
            self.kind = kind();
        }
    }

    /// The call that the item is; none if it is something else.
    fn slot(
        &mut self,
        kind: CallKind,
        shared: &mut Shared,
        step: &mut Step<'_, '_>,
    ) -> Option<usize> {
        if let ItemKind::Pending = self.kind {
            let slot = shared.calls.open(step)?;
            shared.calls.slots[slot].kind = kind;
            self.kind = ItemKind::Call(slot);
        }
        if let ItemKind::Call(slot) = self.kind { Some(slot) } else { None }
    }

    /// Whether nothing of it would become a part.
    fn is_empty(&self) -> bool {
        match &self.kind {
            ItemKind::Pending | ItemKind::Other => true,
            ItemKind::Call(_) => false,
            ItemKind::Message(contents) => contents.iter().all(Content::is_empty),
            ItemKind::Reasoning(it) => {
                let mut texts = it.summary.iter().chain(it.text.iter());
                it.encrypted.is_none() && texts.all(Channel::is_empty)
            }
        }
    }

    /// The stream is over: ends the texts.
    pub(crate) fn flush(&mut self, step: &mut Step<'_, '_>) {
        match &mut self.kind {
            ItemKind::Message(contents) => {
                contents.iter_mut().for_each(|it| it.kind().end(&mut it.text, step));
            }
            ItemKind::Reasoning(it) => {
                let texts = it.summary.iter_mut().chain(it.text.iter_mut());
                texts.for_each(|text| TextKind::Reasoning.end(text, step));
            }
            ItemKind::Pending | ItemKind::Call(_) | ItemKind::Other => {}
        }
    }
}
