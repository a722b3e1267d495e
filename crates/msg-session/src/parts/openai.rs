//! Responses items and chat messages as msg-openai reads them, one at a time; and messages as they grow from items
//! (OA-14): those of the assistant in a row are one message.

use msg_core::{Message, Origin, Other, Part, Place, RawJson, Reasoning, Role};
use msg_openai::{ReadOptions, responses};

use crate::edit::{Value, raw_json};
use crate::view::{Draft, PartOrigin, View};

/// What one item says, as a message; `before` is the item of the same answer before it.
pub(crate) fn item(source: &str, before: Option<&str>) -> Message {
    let json = match before {
        Some(before) => format!("[{before},{source}]"),
        None => format!("[{source}]"),
    };
    let skip = before.map_or(0, |it| item(it, None).parts.len());
    let read = responses::read(json.as_bytes(), &ReadOptions::default());
    let message = read.ok().and_then(|it| it.0.into_messages().into_iter().next());
    match message {
        Some(mut it) if it.parts.len() > skip => {
            it.parts.drain(..skip);
            it
        }
        _ => unknown_item(raw_json(source)),
    }
}

/// An item that is kept and not understood.
fn unknown_item(value: RawJson) -> Message {
    let other = Other { place: Some(Place::Item), ..Other::new(Origin::Responses, value) };
    Message::new(Role::Assistant).with_part(Part::Other(other))
}

/// The messages of a list of chat messages; none of anything else.
pub(crate) fn chat(json: &str) -> Vec<Message> {
    let read = msg_openai::chat::read(json.as_bytes(), &ReadOptions::default());
    read.map(|it| it.0.into_messages()).unwrap_or_default()
}

/// Messages as they grow from items.
#[derive(Default)]
pub(crate) struct Items {
    view: View,
    run: Option<Draft>,
    /// The item of the run before, if it was a message: the next one is read after it, so that the
    /// reader marks where it begins.
    last_message: Option<String>,
}

impl Items {
    /// Adds an item.
    pub(crate) fn item(&mut self, value: Value<'_>, origin: PartOrigin) {
        let object = value.object();
        let role = object.as_ref().and_then(|it| it.text("role"));
        let is_message = role.is_some_and(|it| it == "assistant");
        let before = self.last_message.take().filter(|_| is_message && self.run.is_some());
        let mut message = item(value.source, before.as_deref());
        self.last_message = is_message.then(|| value.source.to_owned());
        if object.is_some_and(|it| it.text("summary").is_some()) {
            // Agents list their summaries; a text there is what a cleaner of the file left. It stays with the source.
            thoughts(&mut message).for_each(|it| it.summary = None);
        }
        self.push(message, origin);
    }

    /// Adds an item that is kept and not understood.
    pub(crate) fn unknown(&mut self, value: Value<'_>, origin: PartOrigin) {
        self.last_message = None;
        self.push(unknown_item(value.raw_json()), origin);
    }

    /// Adds a text of the user.
    pub(crate) fn user_text(&mut self, text: &str, origin: PartOrigin) {
        if !text.is_empty() {
            self.last_message = None;
            self.push(Message::user(text), origin);
        }
    }

    fn push(&mut self, mut message: Message, origin: PartOrigin) {
        // Agents write an empty list without a summary.
        for it in thoughts(&mut message) {
            it.summary.take_if(|it| it.is_empty());
        }
        if message.role == Role::Assistant {
            let run = self.run.get_or_insert_with(|| Draft::new(Role::Assistant));
            message.parts.into_iter().for_each(|it| run.push(it, origin));
            return;
        }
        self.end_run();
        let mut draft = Draft::new(message.role);
        message.parts.into_iter().for_each(|it| draft.push(it, origin));
        self.view.push(draft);
    }

    fn end_run(&mut self) {
        if let Some(run) = self.run.take() {
            self.view.push(run);
        }
    }

    /// The messages.
    pub(crate) fn finish(mut self) -> View {
        self.end_run();
        self.view
    }
}

fn thoughts(message: &mut Message) -> impl Iterator<Item = &mut Reasoning> {
    message.parts.iter_mut().filter_map(|it| match it {
        Part::Reasoning(it) => Some(it),
        _ => None,
    })
}
