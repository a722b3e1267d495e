//! The outcome of a compaction: the history and the edits, and their JSON (CP-70).

use msg_cache::Rewrite;
use msg_chainast::ChainAst;
use msg_compact::{
    CompactOutcome, Compaction, CompactionRecord, Edit, Plan, Totals, Unit, Withheld,
};
use msg_core::{Diagnostic, Message, RawJson};
use msg_formats::{
    Refusal,
    account::{Cut, name_left_out},
    losses_as_errors,
};
use msg_openai::chat;
use serde::Serialize;

use super::options::FitOptions;
use super::run::Original;
use crate::document::Document;
use crate::json::ObjectWriter;
use crate::lead::Lead;
use crate::rows::Row;

/// The result of fitting a history.
#[derive(Debug)]
pub struct Fitted {
    /// The fitted history; the (repaired) input if it cannot fit.
    pub messages: Vec<Message>,
    /// The outcome of the compactor.
    pub outcome: CompactOutcome,
    /// The plan, if one was requested; without edits if nothing was cut.
    pub plan: Option<Plan>,
    /// The repairs that were made first, and what is left out of a session that is written anew.
    pub mended: Vec<Diagnostic>,
    /// The errors that the repair left.
    pub remaining: Vec<Diagnostic>,
    /// The size of the input, if it was repaired.
    pub(super) input: Option<Totals>,
    /// The unit of the limit.
    pub unit: Unit,
    /// The messages that were set aside before the compaction.
    pub(super) lead: Lead,
    /// The usable part of the budget.
    pub limit: Option<u64>,
    /// The index of the first message that differs from the input.
    pub first_changed: Option<usize>,
    pub(super) wanted: Wanted,
    /// What surrounded the messages, if a document was read.
    pub(super) source: Option<Box<Document>>,
    /// The document as text.
    pub(super) text: Texts,
    /// The values of the document that are missing in the written one, although they were not cut.
    pub(super) lost: Vec<Diagnostic>,
    /// The part that a prompt cache must write again, if the document is a changed request.
    pub rewrite: Option<Rewrite>,
    /// The row that contains the document.
    pub(super) row: Option<Row>,
}

/// The document as text, if it is kept.
#[derive(Debug, Default)]
pub(super) struct Texts {
    /// The text that was read, if the document was changed and does not keep it.
    pub(super) read: Option<Vec<u8>>,
    /// The written text, if the plan needs it.
    pub(super) written: Option<Vec<u8>>,
}

/// The results that the options ask for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    best_effort: bool,
    records: bool,
    plan: bool,
    strict: bool,
}

impl Wanted {
    pub(super) fn by(options: &FitOptions) -> Self {
        let FitOptions { best_effort, records, plan, strict, .. } = *options;
        Wanted { best_effort, records, plan, strict }
    }
}

impl Fitted {
    /// Whether it fits, or no limit was given.
    pub fn fits(&self) -> bool {
        !matches!(self.outcome, CompactOutcome::CannotFit(_))
    }

    /// The outcome: `not-needed`, `compacted` or `cannot-fit`.
    pub fn status(&self) -> &'static str {
        match &self.outcome {
            CompactOutcome::NotNeeded(_) => "not-needed",
            CompactOutcome::Compacted(_) => "compacted",
            CompactOutcome::CannotFit(_) => "cannot-fit",
        }
    }

    /// The smallest size that the history can have, if it cannot fit.
    pub fn floor(&self) -> Option<u64> {
        match &self.outcome {
            CompactOutcome::CannotFit(it) => Some(it.floor),
            _ => None,
        }
    }

    /// The size before and after.
    pub fn totals(&self) -> (Totals, Totals) {
        let (before, mut after) = match (self.compaction(), &self.outcome) {
            (Some(it), _) => (it.before, it.after),
            (None, CompactOutcome::CannotFit(it)) => (it.totals, it.totals),
            (None, CompactOutcome::NotNeeded(it)) => (it.totals, it.totals),
            (None, CompactOutcome::Compacted(it)) => (it.before, it.after),
        };
        after.messages += self.lead.more();
        (self.input.unwrap_or(before), after)
    }

    /// The compaction whose result the history is: one that fits, or what was reached if that is enough.
    fn compaction(&self) -> Option<&Compaction> {
        match &self.outcome {
            CompactOutcome::Compacted(it) => Some(it),
            CompactOutcome::CannotFit(it) => it.best.as_deref().filter(|_| self.wanted.best_effort),
            CompactOutcome::NotNeeded(_) => None,
        }
    }

    /// The next part that would have stayed with a larger budget: the reason why the budget is not
    /// used up.
    pub fn withheld(&self) -> Option<Withheld> {
        self.compaction()?.withheld
    }

    /// Whether it fits, no error remains, and nothing was lost that must not be.
    pub fn is_clean(&self) -> bool {
        let loses = || losses_as_errors(&mut self.edits());
        self.fits() && self.remaining.is_empty() && !(self.wanted.strict && loses())
    }

    /// The cuts, in the order of the input, then the losses of writing the document.
    pub fn edits(&self) -> Vec<Diagnostic> {
        let mut edits = self.mended.clone();
        match &self.outcome {
            CompactOutcome::NotNeeded(it) => edits.extend(it.edits.iter().map(Edit::diagnostic)),
            CompactOutcome::Compacted(it) => edits.extend(it.edits.iter().map(Edit::diagnostic)),
            CompactOutcome::CannotFit(it) => {
                let tried = it.edits.iter().filter(|_| self.wanted.best_effort);
                edits.extend(tried.map(Edit::diagnostic));
                edits.push(it.diagnostic(self.unit));
            }
        }
        edits.extend(self.lost.iter().cloned());
        if self.wanted.strict {
            losses_as_errors(&mut edits);
        }
        edits
    }

    /// The records of the compaction.
    pub fn records(&self) -> &[CompactionRecord] {
        self.compaction().map_or(&[], |it| &it.records)
    }

    /// Makes the fitted history, and the plan if requested. The plan starts from the input, before repairs; `original`
    /// is the input if it differs from the compacted messages.
    pub(super) fn finish(
        &mut self,
        ast: ChainAst,
        wants_plan: bool,
        original: Option<&Original>,
    ) -> Result<(), msg_compact::Error> {
        let compaction = self.compaction();
        let cut_from = compaction.map(|it| it.first_changed);
        let is_planned = wants_plan && original.is_none();
        // If nothing was cut, the plan is one without edits.
        let plan = match compaction.filter(|_| is_planned) {
            Some(it) => it.plan(&ast)?,
            None => Plan::default(),
        };
        let mut messages = match compaction {
            Some(it) => it.apply(ast)?,
            None => ast.into_messages(),
        };
        self.lead.put_all(&mut messages);
        (self.first_changed, self.plan) = match original {
            None => (cut_from, is_planned.then_some(plan)),
            Some(original) => {
                let changed = original.first_changed(&messages);
                let is_kept = changed.is_some() && (self.fits() || self.wanted.best_effort);
                let made = || is_kept.then(|| original.plan(&messages)).flatten().unwrap_or(plan);
                (changed, wants_plan.then(made))
            }
        };
        self.messages = messages;
        Ok(())
    }

    /// The document in its own format, if one was read and it fits (or `best_effort` is set). Consumes the
    /// messages.
    ///
    /// ```
    /// use msg_document::{Digest, FitOptions, fit};
    ///
    /// let body = br#"{"model":"m","messages":[{"role":"user","content":"hi"}]}"#;
    /// let mut fitted = fit(body, &FitOptions::default().with_budget(1000), &Digest)?;
    /// assert_eq!(fitted.take_document().as_deref(), Some(&body[..]));
    /// # Ok::<(), msg_document::Refusal>(())
    /// ```
    pub fn take_document(&mut self) -> Option<Vec<u8>> {
        let mut document = self.source.take()?;
        let written = self.text.written.take().or_else(|| self.write_into(&mut document))?;
        match &self.row {
            Some(row) => {
                let is_changed = self.first_changed.is_some();
                let laid_out = |it| document.format().laid_out(row.only().unwrap_or_default(), it);
                row.with(&[is_changed.then(|| laid_out(written))], document.format()).ok()
            }
            None => Some(written),
        }
    }

    /// As [`Fitted::take_document`], for a document whose messages were fitted with
    /// [`Fitter::fit_document`](crate::Fitter::fit_document). Also `None` if the document cannot take the messages;
    /// [`Document::expect_writer`](msg_formats::Document::expect_writer) says why.
    pub fn write_into(&mut self, document: &mut Document) -> Option<Vec<u8>> {
        if !self.fits() && !self.wanted.best_effort {
            return None;
        }
        let messages = std::mem::take(&mut self.messages);
        match self.first_changed {
            None => document.put_messages(messages),
            Some(_) => document.put_planned(messages, self.plan.as_ref()),
        }
        document.expect_writer().ok()?;
        let text = document.written();
        self.messages = document.take_messages();
        self.account(document, &text, None);
        document.put_messages(std::mem::take(&mut self.messages));
        Some(text)
    }

    /// Fails if the messages of a read-only format were changed. Notes what is left out when a session is written anew.
    pub(super) fn expect_writer(&mut self, document: &mut Document) -> Result<(), Refusal> {
        if self.first_changed.is_none() {
            return Ok(());
        }
        if !document.format().has_writer() {
            return Err(document.no_writer());
        }
        if document.format().is_session() && (self.fits() || self.wanted.best_effort) {
            let messages = std::mem::take(&mut self.messages);
            document.put_planned(messages, self.plan.as_ref());
            self.messages = document.take_messages();
            self.mended.extend(document.written_anew());
        }
        Ok(())
    }

    /// The line of `msg fit --jsonl`, without its line end. Messages of an API are in its own form, those of all other
    /// formats are chat messages. If the messages are not the whole document, `document` contains it: as JSON, or as
    /// text if it is not JSON. Sessions of agents are left out.
    #[expect(
        clippy::wrong_self_convention,
        reason = "the messages go into their document and out again"
    )]
    pub fn to_json(&mut self) -> Vec<u8> {
        let Some(mut document) = self.source.take() else { return self.line(&self.chat(), None) };
        let line = self.to_json_in(&mut document);
        self.source = Some(document);
        line
    }

    /// As [`Fitted::to_json`], for a document whose messages were fitted with
    /// [`Fitter::fit_document`](crate::Fitter::fit_document).
    #[expect(
        clippy::wrong_self_convention,
        reason = "the messages go into their document and out again"
    )]
    pub fn to_json_in(&mut self, document: &mut Document) -> Vec<u8> {
        let format = document.format();
        let is_log = format.is_session() && format.has_records();
        let own = match is_log || !format.has_writer() {
            true => None,
            false => self.own_text(document),
        };
        let Some(text) = own else {
            let chat = self.chat();
            self.account(document, &chat, Some(&document.members()));
            return self.line(&chat, None);
        };
        self.account(document, &text, None);
        let text = in_a_line(&text);
        if !format.is_of_an_api() && format.name() != "plain" {
            return self.line(&self.chat(), Some(&text));
        }
        if text.starts_with(b"[") {
            return self.line(&text, None);
        }
        let members = RawJson::new(String::from_utf8_lossy(&text)).ok().and_then(|it| it.members());
        let is_list = |name: &str| matches!(name, "messages" | "contents" | "input" | "steps");
        let list = members.and_then(|it| it.into_iter().rev().find(|it| is_list(&it.0)));
        // A chat document without further members is just its messages.
        let more =
            Some(&text).filter(|_| format.name() != "openai" || !document.members().is_empty());
        match list.filter(|it| it.1.text().starts_with('[')) {
            Some((_, list)) => self.line(list.text().as_bytes(), more.map(Vec::as_slice)),
            None => self.line(&self.chat(), Some(&text)),
        }
    }

    /// The document with these messages, in its own format; `None` if it cannot take them.
    fn own_text(&mut self, document: &mut Document) -> Option<Vec<u8>> {
        let messages = std::mem::take(&mut self.messages);
        match self.first_changed {
            None => document.put_messages(messages),
            Some(_) => document.put_planned(messages, self.plan.as_ref()),
        }
        let text = document.expect_writer().is_ok().then(|| document.written());
        self.messages = document.take_messages();
        text
    }

    /// Looks for the values of the document in its written form, and records the losses.
    fn account(&mut self, document: &Document, written: &[u8], left_out: Option<&[String]>) {
        let source = self.text.read.as_deref().or(document.source());
        if let (Some(source), Some(_)) = (source, self.first_changed) {
            let read = document.read_options();
            let cut = Cut {
                format: document.format(),
                read: &read,
                messages: &self.messages,
                edits: &self.mended,
                left_out,
            };
            let found = cut.account(source, written);
            self.lost = found.lost;
            name_left_out(&mut self.mended, &found.left_out);
            self.rewrite = document.format().rewrite(source, written);
        }
    }

    fn chat(&self) -> Vec<u8> {
        openai(&self.messages)
    }

    fn line(&self, messages: &[u8], document: Option<&[u8]>) -> Vec<u8> {
        let (before, after) = self.totals();
        let requests = match &self.outcome {
            CompactOutcome::NotNeeded(it) => it.requests,
            CompactOutcome::Compacted(it) => it.requests,
            CompactOutcome::CannotFit(it) => it.requests,
        };
        let mut members = ObjectWriter::new()
            .with("fits", &self.fits())
            .with("status", &self.status())
            .with("before", &before)
            .with("after", &after)
            .with("requests", &requests)
            .with("first_changed", &self.first_changed)
            .with("edits", &self.edits());
        if let Some(rewrite) = &self.rewrite {
            members = members.with("cache", rewrite);
        }
        if !self.remaining.is_empty() {
            members = members.with("remaining", &self.remaining);
        }
        members = members.raw("messages", messages);
        if let Some(document) = document {
            members = members.raw("document", document);
        }
        if let CompactOutcome::CannotFit(it) = &self.outcome {
            let form = CannotFitForm { floor: it.floor, limit: it.usable, why: it.why.as_str() };
            members = members.with("cannot_fit", &form);
        }
        if let Some(withheld) = self.withheld() {
            members = members.with("withheld", &withheld);
        }
        if self.wanted.records {
            members = members.with("records", &self.records());
        }
        if let Some(plan) = self.plan.as_ref().filter(|_| self.wanted.plan) {
            members = members.with("plan", plan);
        }
        members.finish()
    }
}

/// The document as a JSON value on one line: the JSON itself, or a string with the text.
fn in_a_line(document: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(document);
    let json = text.trim_start_matches('\u{feff}').trim();
    match msg_json::validate(json) {
        // JSON strings contain no line end, so all line ends are between tokens.
        Ok(()) => json.replace(['\n', '\r'], " ").into_bytes(),
        Err(_) => {
            let mut res = Vec::with_capacity(document.len() + 2);
            msg_json::write_str(&mut res, &text);
            res
        }
    }
}

#[derive(Serialize)]
struct CannotFitForm {
    floor: u64,
    limit: u64,
    why: &'static str,
}

/// Messages as JSON of chat messages.
pub(super) fn openai(messages: &[Message]) -> Vec<u8> {
    let mut json = Vec::new();
    chat::write(messages, &msg_openai::WriteOptions::default(), &mut json);
    json
}
