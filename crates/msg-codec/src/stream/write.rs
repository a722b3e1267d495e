//! The JSON form of a stream's result (OA-26), for programs in other languages. The form of the message
//! in it is the caller's; those that need no wire format are here.

use std::borrow::Cow;
use std::collections::BTreeSet;

use msg_core::{Code, Diagnostic, Other, Part, Severity, StreamEvent, native};
use msg_json::Writer;

use super::assembled::{Assembled, AssembledChoice};
use crate::Json;

impl Assembled {
    /// Appends the result as one JSON object, each message in this workspace's own form, with the
    /// events if they are given.
    pub fn write_native(&self, events: Option<&[StreamEvent<'_>]>, out: &mut Vec<u8>) {
        self.write_with(|it, out| native::write_message(&it.message, out), &[], events, out);
    }

    /// Appends the result as one JSON object, each message as the turn that an application stores
    /// (OA-25), with the events if they are given.
    pub fn write_turns(&self, events: Option<&[StreamEvent<'_>]>, out: &mut Vec<u8>) {
        let lost: Vec<_> = self.without_place().into_iter().collect();
        self.write_with(|it, out| serialize(out, &self.turn_of(Some(it))), &lost, events, out);
    }

    /// What forms other than the native one leave out: items and blocks that the model has no kind for,
    /// such as an approval that waits for its answer, named by their types.
    #[must_use]
    pub fn without_place(&self) -> Option<Diagnostic> {
        let parts = self.choices.iter().flat_map(|it| &it.message.parts);
        let kinds =
            parts.filter_map(|it| if let Part::Other(it) = it { Some(kind(it)) } else { None });
        let kinds: BTreeSet<_> = kinds.collect();
        let names = kinds.into_iter().collect::<Vec<_>>().join(", ");
        let text = format!("the form has no place for {names}; `to: native` keeps it");
        (!names.is_empty()).then(|| Diagnostic::warning(Code::new("convert::lost-part"), text))
    }

    /// Appends the result as one JSON object, with the events if they are given; `message` writes
    /// one JSON value for a choice, `lost` is what these leave out.
    pub fn write_with(
        &self,
        message: impl Fn(&AssembledChoice, &mut Vec<u8>),
        lost: &[Diagnostic],
        events: Option<&[StreamEvent<'_>]>,
        out: &mut Vec<u8>,
    ) {
        let first = self.choices.first();
        Writer::new(out).object(|it| {
            match it.key("message") {
                it if first.is_none() => it.null(),
                it => it.value(|out| first.into_iter().for_each(|first| message(first, out))),
            }
            // A response without a choice may say why.
            let unanswered = || self.finish.as_ref().map(|it| it.as_str());
            it.key("finish_reason").opt_str(match first {
                Some(choice) => choice.reason(),
                None => unanswered(),
            });
            self.write_tail(lost, it);
            if self.choices.len() > 1 {
                it.key("choices").array(&self.choices, |it, choice| {
                    it.object(|it| {
                        it.key("index").u64(u64::from(choice.index));
                        it.key("message").value(|out| message(choice, out));
                        it.key("finish_reason").opt_str(choice.reason());
                    });
                });
            }
            if let Some(events) = events {
                let is_shown = |it: &&StreamEvent<'_>| !matches!(it, StreamEvent::PartEnd { .. });
                let events = events.iter().filter(is_shown);
                it.key("events").array(events, |it, event| it.value(|out| serialize(out, event)));
            }
        });
    }

    /// The members behind the finish reason, up to the diagnostics.
    fn write_tail(&self, lost: &[Diagnostic], it: &mut Writer<'_>) {
        match self.usage.as_ref().and_then(|it| it.raw.as_ref()) {
            Some(usage) => it.key("usage").value(|out| usage.write_compact(out)),
            None => it.key("usage").null(),
        }
        it.key("model").opt_str(self.model.as_deref());
        it.key("id").opt_str(self.id.as_deref());
        it.key("complete").bool(self.complete);
        it.key("error").value(|out| serialize(out, &self.error));
        let incomplete = self.choices.iter().flat_map(|it| &it.incomplete);
        it.key("incomplete_calls").array(incomplete, |it, id| it.str(id));
        for (name, is_error) in [("errors", true), ("warnings", false)] {
            let found = self.diagnostics.iter().chain(lost);
            let found = found.filter(|it| (it.severity == Severity::Error) == is_error);
            it.key(name).array(found, |it, found| it.value(|out| serialize(out, found)));
        }
    }
}

impl AssembledChoice {
    /// The finish reason as a word.
    fn reason(&self) -> Option<&str> {
        self.finish.as_ref().map(|it| it.as_str())
    }
}

/// The type of an item or block; `other` if it has none.
fn kind(it: &Other) -> String {
    let kind = Json(it.value.text()).get("type").and_then(Json::text);
    kind.map_or_else(|| "other".to_owned(), Cow::into_owned)
}

fn serialize(out: &mut Vec<u8>, value: &impl serde::Serialize) {
    serde_json::to_writer(out, value).expect("text keys into a buffer cannot fail");
}
