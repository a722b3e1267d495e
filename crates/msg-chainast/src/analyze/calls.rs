//! The pair that an assistant message begins, and what can be said of its calls at once (CA-39).

use msg_core::{Message, Part};

use super::{Analyzer, Call, Naming, OpenPair, Unit, UnitKind, defect::What, link};
use crate::{
    arguments::is_json, constants::SUMMARIZATION_TOOL_NAME, idx::Idx, options::BadArguments,
    pairing,
};

impl<'m> Analyzer<'m, '_> {
    /// Begins a pair with an assistant message.
    pub(super) fn pair(&mut self, at: u32, message: &'m Message) {
        if self.plan.units.is_empty() && self.plan.lead.is_none() {
            self.start.first_unled = !pairing::may_come_first(message);
        }
        let unit = self.push_unit(at, UnitKind::Pair);
        for (part, it) in message.parts.iter().enumerate() {
            if it.as_tool_call().is_some() {
                self.plan.calls.push(Call {
                    part: part as u32,
                    unit,
                    slot: None,
                    below: None,
                    naming: Naming::Own,
                    fresh_id: false,
                });
            }
        }
        let it = &mut self.plan.units[unit];
        it.n_calls = self.plan.calls.len() as u32 - it.first_call;
        let n_calls = it.n_calls;
        self.links.open = (n_calls > 0).then(|| OpenPair::new(unit));
        if n_calls > 0 {
            self.judge_calls(unit, message);
        }
    }

    /// What can be said of the calls of a message before their results are known.
    fn judge_calls(&mut self, unit: Idx<Unit>, message: &'m Message) {
        let calls = self.plan.calls_of(unit);
        let mut suspect = false;
        let mut first = true;
        for call in calls.clone() {
            let part = self.plan.calls[call].part;
            let Part::ToolCall(it) = &message.parts[part as usize] else { continue };
            suspect |= it.name.is_empty()
                || it.id.is_empty()
                || first && calls.len() > 1 && it.name == SUMMARIZATION_TOOL_NAME;
            first = false;
            if self.rules.warnings && !it.name.is_empty() {
                self.judge_arguments(call);
            }
        }
        suspect |= link::has_repeated_id(&self.plan, unit, message);
        self.plan.units[unit].suspect = suspect;
    }

    /// Warns of the kind and the arguments of a call.
    pub(super) fn judge_arguments(&mut self, call: Idx<Call>) {
        let message = self.plan.message_of(call);
        let part = self.plan.calls[call].part;
        let Some(it) = self.chain.call(message, part) else { return };
        let kind = it.kind.as_str();
        if kind.is_empty() {
            self.find(message, Some(part), What::MissingKind, "set to function");
        }
        if !kind.is_empty() && kind != "function" {
            return;
        }
        if it.arguments.text().is_empty() {
            self.find(message, Some(part), What::EmptyArguments, "set to {}");
        } else if !is_json(it.arguments.text()) {
            let what = What::InvalidArguments;
            match self.rules.options.arguments {
                BadArguments::Sanitize => self.find(message, Some(part), what, "made valid JSON"),
                BadArguments::Keep => self.note(message, Some(part), what),
            }
        }
    }
}
