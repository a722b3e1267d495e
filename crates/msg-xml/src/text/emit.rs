//! From blocks to events: what a block that has been read means for the message.

use super::{Candidate, Machine, Mode, Ready};
use crate::block::{CallEnd, Done, Draft, Note, Sent};
use crate::code::Code;
use crate::dialects::FAMILIES;
use crate::event::{ArgPath, CallEnd as CallOutcome, Ev};
use crate::input::{Incomplete, Input};
use crate::json::Json;
use crate::parsed::{CallOrigin, LOCAL, ParsedCall, PartialCall, arguments_of};

impl Machine {
    /// Reads the block that is open.
    pub(crate) fn block(&mut self, w: &Input<'_>) -> Result<(), Incomplete> {
        let Mode::Block(reader) = &mut self.mode else { return Ok(()) };
        let done = reader.run_with(w, &mut self.queue, &self.opts, self.message.cut)?;
        self.block_done(w, done);
        Ok(())
    }

    fn block_done(&mut self, w: &Input<'_>, done: Done) {
        self.mode = Mode::Text;
        self.message.tool_tag = false;
        self.message.first = false;
        self.message.token_call |= matches!(&done.outcome, CallEnd::Calls(_))
            && FAMILIES.iter().any(|it| done.format.as_deref() == Some(it.name));
        let first = self.message.calls;
        self.message.calls += done.begun;
        if done.at_eof && self.retried() {
            self.void(first, done.begun, Code::RecoveryLimit);
            return self.give_up(done.start);
        }
        self.pos = done.end;
        match done.outcome {
            CallEnd::Calls(_) => {
                self.message.call_outside = true;
                self.candidates.clear();
                self.finished(w, done, first);
                self.sent = self.pos;
            }
            CallEnd::Rejected(code) => {
                self.void(first, done.begun, code);
                self.notes(&done.notes);
                self.text_upto(self.pos);
            }
            CallEnd::Dropped(code) => {
                self.void(first, done.begun, code);
                self.notes(&done.notes);
                self.sent = self.pos;
            }
        }
    }

    fn void(&mut self, first: u32, n: u32, code: Code) {
        for call in first..first + n {
            self.queue.push(Ev::Void { call, code });
        }
    }

    fn notes(&mut self, notes: &[Note]) {
        for note in notes {
            self.report(note.code, note.start, note.end);
        }
    }

    /// The calls of a block whose beginnings have been announced.
    fn finished(&mut self, w: &Input<'_>, done: Done, first: u32) {
        for (call, ready) in (first..).zip(self.ready(done, CallOrigin::default())) {
            self.end_call(w, call, ready);
        }
    }

    /// Ends a call: sends the rest of its values, its reports, and the call itself.
    fn end_call(&mut self, w: &Input<'_>, call: u32, ready: Ready) {
        let Ready { outcome, value, sent, reports, too_large } = ready;
        if too_large {
            self.queue.push(Ev::Void { call, code: Code::ToolTooLarge });
        } else if self.queue.wants_values() {
            self.send_values(w, call, &value, &sent);
        }
        self.queue.events.extend(reports);
        if !too_large {
            self.queue.push(Ev::End { call, outcome: Box::new(outcome) });
        }
    }

    /// The calls of a block, each with its reports.
    fn ready(&self, done: Done, origin: CallOrigin) -> Vec<Ready> {
        let Done { outcome, mut notes, format, .. } = done;
        let CallEnd::Calls(drafts) = outcome else { return Vec::new() };
        let origin = CallOrigin { format, ..origin };
        msg_core::sort_by_rank(&mut notes, |note| note.call);
        let mut notes = notes.into_iter().peekable();
        let ready = |(i, mut draft): (usize, Draft)| {
            let Draft { start, end, too_large, .. } = draft;
            let mut reports = Vec::new();
            if too_large {
                reports.push(Ev::report(Code::ToolTooLarge, start, end));
            }
            while let Some(note) = notes.next_if(|note| !too_large && note.call <= i) {
                reports.push(Ev::report(note.code, note.start, note.end));
            }
            let (value, mismatches) = self.arguments(&mut draft);
            reports.extend(mismatches);
            let sent = std::mem::take(&mut draft.sent);
            let outcome = build(draft, &value, origin.clone());
            Ready { outcome, value, sent, reports, too_large }
        };
        drafts.into_iter().enumerate().map(ready).collect()
    }

    /// The arguments in the types of the schema, and what does not fit it.
    fn arguments(&self, draft: &mut Draft) -> (Json, Vec<Ev>) {
        let mut value = draft.take_arguments();
        let paths = match (&self.opts.schema, &draft.name) {
            (Some(schema), Some(name)) if draft.complete && !draft.typed => {
                schema.coerce(name, &mut value)
            }
            _ => Vec::new(),
        };
        let (code, from, to) = (Code::SchemaMismatch, draft.start, draft.end);
        let report = |path: String| Ev::Report { code, from, to, detail: Some(path.into()) };
        (value, paths.into_iter().map(report).collect())
    }

    /// Sends the rest of the text values of a call, or all of them again if the sent text is not their beginning.
    fn send_values(&mut self, w: &Input<'_>, call: u32, value: &Json, sent: &Sent) {
        let values = || {
            let mut all = Vec::new();
            text_values(value, &ArgPath::root(), &mut all);
            all
        };
        let rests = sent.rests(w, values()).unwrap_or_else(|| {
            self.queue.reset(call, &ArgPath::root());
            values()
        });
        for (path, text) in rests.into_iter().filter(|(_, text)| !text.is_empty()) {
            self.queue.arg_text(call, &path, text);
        }
    }

    /// The calls of a block that was read without sending anything. They may be announced after its bytes are gone.
    pub(super) fn ready_later(&self, w: &Input<'_>, done: Done, origin: CallOrigin) -> Vec<Ready> {
        let mut all = self.ready(done, origin);
        for ready in &mut all {
            ready.sent = Sent::default();
            let call = ready.outcome.call_mut();
            if call.source.is_empty() {
                let (start, end) = (call.span.start as usize, call.span.end as usize);
                w.str(start, end).clone_into(&mut call.source);
            }
        }
        all
    }

    /// Announces and ends calls that were read before.
    pub(super) fn emit_ready(&mut self, w: &Input<'_>, all: Vec<Ready>) {
        for ready in all {
            let call = self.message.calls;
            self.message.calls += 1;
            self.queue.begin(call);
            self.queue.name(call, &ready.outcome.call().tool);
            self.end_call(w, call, ready);
        }
    }

    /// Makes the calls of a fence calls of the message.
    pub(super) fn promote(&mut self, w: &Input<'_>, fence: Candidate) {
        self.emit_ready(w, fence.calls);
        self.report(Code::ToolCallInCodeFence, fence.from, fence.to);
    }

    /// Ends the message. Fences become calls if the message has no other call (XT-5).
    pub(crate) fn end_of_message(&mut self, w: &Input<'_>) {
        self.text_upto(w.end());
        self.mode = Mode::Done;
        if self.message.call_outside {
            self.candidates.clear();
        }
        for candidate in std::mem::take(&mut self.candidates) {
            self.queue.push(Ev::Reclaim { from: candidate.from, to: candidate.to });
            self.promote(w, candidate);
        }
    }
}

/// The call; its source is copied when its event is taken, unless it had to be kept.
fn build(draft: Draft, value: &Json, origin: CallOrigin) -> CallOutcome {
    let relative = |(key, from, to): (_, usize, usize)| (key, from - draft.start..to - draft.start);
    let has_name = draft.name.is_some();
    let call = ParsedCall {
        server: draft.server.unwrap_or(LOCAL),
        tool: draft.name.unwrap_or_default(),
        arguments: arguments_of(value),
        raws: draft.raws.into_iter().map(relative).collect(),
        source: draft.source,
        origin,
        // Positions of the machine; the stream turns them into positions of the input.
        span: draft.start as u64..draft.end as u64,
    };
    match has_name && draft.complete {
        true => CallOutcome::Complete(call),
        false => CallOutcome::Partial(PartialCall { known: call, has_name }),
    }
}

/// The text values of a tree with their paths.
fn text_values<'v>(value: &'v Json, path: &ArgPath, out: &mut Vec<(ArgPath, &'v str)>) {
    match value {
        Json::String(text) => out.push((path.clone(), text)),
        Json::Object(members) => {
            for (key, member) in members.iter() {
                let items = match member {
                    Json::Array(items) => items,
                    member => std::slice::from_ref(member),
                };
                for (i, item) in items.iter().enumerate() {
                    text_values(item, &path.child(key, i), out);
                }
            }
        }
        _ => {}
    }
}
