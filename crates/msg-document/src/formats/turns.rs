//! Turns (MS-19): an array, or an object with `turns` and the `options` by which they become
//! messages. Reading, writing and lowering are `msg_core`'s.

use msg_compact::Plan;
use msg_core::{Diagnostic, Message, RawJson, Report};
use msg_forms::{
    Turn,
    turns::{self, LowerOptions, lower},
};

use super::is_of_a_turn;
use crate::codec::{Around, Codec, Content, Likelihood, WriteOptions};
use crate::outline::Outline;
use crate::refusal::Refusal;

pub(crate) struct Turns;

impl Codec for Turns {
    fn name(&self) -> &'static str {
        "turns"
    }

    fn about(&self) -> &'static str {
        "An array of turns, the dual-layer record, or an object with `turns`"
    }

    fn is_edited_by_plan(&self) -> bool {
        true
    }

    fn likelihood(&self, outline: &Outline<'_>) -> Likelihood {
        if outline.list("turns").is_some() && outline.list("messages").is_none() {
            return Likelihood::Certain;
        }
        match outline.messages() {
            Some(list) if list.records().any(is_of_a_turn) => Likelihood::Certain,
            Some(list) if list.is_empty() => Likelihood::Possible,
            Some(list) if list.records().any(|it| it.is_list("parts")) => Likelihood::Possible,
            _ => Likelihood::No,
        }
    }

    fn read(&self, bytes: &[u8], _: &str) -> Result<Content, Refusal> {
        let (turns, options, report) = turns::read_document(bytes)?;
        Ok(Content::new(Vec::new(), Record { turns, options }, report))
    }

    fn write(&self, messages: &mut Vec<Message>, _: &WriteOptions, out: &mut Vec<u8>) -> Report {
        turns::write_messages(std::mem::take(messages), out)
    }
}

/// The turns that the messages are made from; none once the messages have been edited.
struct Record {
    turns: Vec<Turn>,
    options: Option<RawJson>,
}

impl Around for Record {
    fn write(
        &mut self,
        messages: &mut Vec<Message>,
        options: &WriteOptions,
        out: &mut Vec<u8>,
    ) -> Report {
        if self.turns.is_empty() {
            return Turns.write(messages, options, out);
        }
        turns::write(&self.turns, out);
        Report::new()
    }

    fn edited(&mut self) {
        self.turns.clear();
    }

    /// Turns are edited as the plan says, so that all that it does not name stays as it came
    /// (CP-63); where it cannot be said of turns, and without a plan, they are made anew.
    fn edited_by(&mut self, messages: &[Message], plan: Option<&Plan>) -> bool {
        let said = |it: &[Turn]| lower(it, &LowerOptions::strict()).messages;
        if said(&self.turns) == messages {
            return true;
        }
        // Turns say less than messages, so that two ways of making them are compared.
        let anew = said(&turns::from_messages(messages.to_vec()).0);
        let planned = plan.and_then(|it| it.apply_turns(self.turns.clone(), None).ok());
        let planned = planned.filter(|it| said(it) == anew);
        planned.map(|it| self.turns = it).is_some()
    }

    fn lower(&mut self, messages: &mut Vec<Message>, options: &LowerOptions) -> Vec<Diagnostic> {
        let lowered = lower(&self.turns, options);
        *messages = lowered.messages;
        lowered.report
    }

    fn own_options(&self) -> Option<&RawJson> {
        self.options.as_ref()
    }
}
