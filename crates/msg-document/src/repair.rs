//! Repairs a document in its own format, and reports the edits.
//!
//! `msg-chainast` decides what is repaired, and how.

use std::borrow::Cow;
use std::collections::HashSet;

use msg_chainast::MendedPlaces;
use msg_core::{Diagnostic, Message, Part, Role, Severity};
use msg_formats::{
    Format, Refusal, Side, WriteOptions,
    account::{Account, Cut, account_of_edits, name_left_out},
    losses_as_errors,
};

use crate::api_shapes::{
    add_refused, complete_parts, foreign_parts, is_not_understood, may_have_orphans, unread_calls,
};
use crate::check::{Repaired, moved, other_body, read_whole};
use crate::document::Document;
use crate::head_edits::HeadEdits;
use crate::lead::Breakpoints;
use crate::options::{CheckOptions, RepairOptions};
use crate::rows::{Row, new_findings, one_format};
use crate::schemas::add_schema_edits;
use crate::settings::add_setting_edits;
use crate::shapes::{
    forget_shapes_at, has_prompt_member, is_asked, is_wrong_type, mend_prompt, refused_shapes,
};
use crate::skeleton::Skeleton;

/// Repairs a document with the smallest edits. Bytes that no edit names stay the same.
///
/// Fails if it cannot be read. Linear in the document.
///
/// ```
/// use msg_document::{RepairOptions, repair};
///
/// let json = br#"[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]"#;
/// let repaired = repair(json, &RepairOptions::default())?;
/// assert!(!repaired.changed && repaired.document == json);
/// # Ok::<(), msg_document::Refusal>(())
/// ```
pub fn repair(json: &[u8], options: &RepairOptions) -> Result<Repaired, Refusal> {
    let _span = tracing::debug_span!("repair", bytes = json.len()).entered();
    let row = match Row::of(json, &options.read)? {
        Some(row) => row,
        None => match repair_one(json, options) {
            Err(refusal) => Row::instead(json, &options.read, refusal)?,
            repaired => return repaired,
        },
    };
    repair_row(&row, options)
}

/// Repairs each conversation.
fn repair_row(row: &Row, options: &RepairOptions) -> Result<Repaired, Refusal> {
    let (mut documents, mut formats) = (Vec::new(), Vec::new());
    let mut res = Repaired {
        document: Vec::new(),
        format: Format::default(),
        changed: false,
        messages: 0,
        edits: Vec::new(),
        remaining: Vec::new(),
    };
    for (at, document) in row.documents().enumerate() {
        let options = options.of_row(row, at);
        let mut repaired = repair_one(document, &options).map_err(|it| row.refused(at, it))?;
        row.place(at, &mut repaired.edits);
        row.place(at, &mut repaired.remaining);
        res.changed |= repaired.changed;
        res.messages += repaired.messages;
        res.edits.extend(new_findings(&res.edits, repaired.edits));
        res.remaining.extend(new_findings(&res.remaining, repaired.remaining));
        if at == 0 {
            res.format = repaired.format;
        }
        if repaired.changed {
            formats.push(repaired.format);
        }
        documents.push(repaired.changed.then_some(repaired.document));
    }
    res.document = row.mended(&documents, one_format(&formats)?, &mut res.edits)?;
    if options.strict {
        losses_as_errors(&mut res.edits);
    }
    Ok(res)
}

impl RepairOptions {
    /// The options to check the repaired document.
    fn as_check(&self) -> CheckOptions {
        let profile = self.chain.profile.as_deref().cloned();
        CheckOptions { profile, chain: self.chain.check, ..CheckOptions::default() }
    }

    /// The options for a conversation of a row, which may end with an answer.
    fn of_row(&self, row: &Row, number: usize) -> Cow<'_, Self> {
        let rules = row.rules(number, self.chain.check);
        match rules == self.chain.check {
            true => Cow::Borrowed(self),
            false => {
                let chain = self.chain.clone().with_check(rules);
                Cow::Owned(self.clone().with_chain(chain))
            }
        }
    }
}

/// A document is completed, or read and repaired again, at most this often. Problems that are left are reported as
/// `remaining`.
const RUNS: usize = 4;

/// Repairs a document that is one conversation.
pub(crate) fn repair_one(json: &[u8], options: &RepairOptions) -> Result<Repaired, Refusal> {
    repair_at_most(RUNS, json, options)
}

fn repair_at_most(runs: usize, json: &[u8], options: &RepairOptions) -> Result<Repaired, Refusal> {
    let asks_head = options.chain.check.request && options.chain.profile.is_some();
    let text = if asks_head { None } else { std::str::from_utf8(json).ok() };
    let skeleton = text.and_then(|it| Skeleton::of_text(it, &options.read).map(|of| (of, it)));
    let known = skeleton.as_ref().map(|_| Format::default());
    if let Some(repaired) = skeleton.and_then(|(it, json)| it.repair_text(json, options)) {
        return Ok(repaired);
    }
    let mut document = read_whole(json, &options.read, known)?;
    document.say_who_made_it(options.read.made_by.as_ref());
    let (messages, side) = (document.messages().len(), document.side());
    let is_odd = document.has_unknown_parts() || side != Side::Conversation;
    let mut places = None;
    let mut edits = document.repair_text(RUNS, Some(json), options, is_odd.then_some(&mut places));
    document.expect_writer()?;
    let changed = !edits.is_empty();
    // Writing turns takes the messages out, so this is checked before.
    let is_left_empty = document.is_empty();
    let mut text = match changed {
        true => document.mended(json),
        false => json.to_vec(),
    };
    // A format other than the provider's may have no place for the repaired values.
    let profile = options.chain.profile.as_deref();
    let is_foreign = changed && profile.is_some_and(|it| !is_asked(it, &document));
    if !changed && other_body(&document, Some(json), &options.as_check()).is_some() {
        document.may_have_errors = true;
    }
    // The reader may find no message in the result, and an answer may have no place for the repaired values.
    document.may_have_errors |=
        is_foreign || changed && (document.has_only_unknown_parts() || text == json);
    let mut remaining = document.remaining_in(&text, options);
    if messages > 0 && is_left_empty {
        let mut nothing = msg_formats::Document::no_messages();
        nothing.severity = Severity::Error;
        remaining.push(nothing);
    }
    if is_foreign {
        let of = |it: &Diagnostic| (it.code.clone(), it.at.message, it.at.part);
        let left: HashSet<_> = remaining.iter().map(of).collect();
        edits.retain(|it| !left.contains(&of(it)));
        if edits.iter().all(|it| it.code.as_str().starts_with("session::")) {
            // Writing a session anew is not a repair by itself.
            edits.clear();
        }
    }
    let changed = changed && !edits.is_empty() && text != json;
    if !changed {
        edits.clear();
        remaining.iter_mut().for_each(|it| it.fix = None);
        // Without an edit, the written text is only another spelling of the source.
        text = json.to_vec();
    }
    if changed && is_odd && runs > 1 {
        // Without the removed content, the reader may interpret unknown parts differently, or take a list of answers
        // for a conversation.
        let again = document.repaired_again(runs - 1, &text, (side, places.as_ref()), options);
        if let Some(again) = again {
            text = again.document;
            edits.extend(again.edits);
            remaining = again.remaining;
        }
    }
    if changed {
        let found = account_of_edits(json, &text, document.format(), &options.read, &edits);
        name_left_out(&mut edits, &found.left_out);
        edits.extend(found.lost);
    }
    if options.strict {
        losses_as_errors(&mut edits);
    }
    let format = document.format();
    Ok(Repaired { document: text, format, changed, messages, edits, remaining })
}

impl Document {
    /// The text of a repaired document, in the layout of the source.
    fn mended(&mut self, json: &[u8]) -> Vec<u8> {
        let mut text = Vec::with_capacity(json.len());
        self.write(&WriteOptions::default(), &mut text);
        self.format().laid_out(json, text)
    }

    /// Whether some part is not understood.
    fn has_unknown_parts(&self) -> bool {
        let is_unknown = |it: &Part| matches!(it, Part::Other(_));
        self.messages().iter().flat_map(|it| &it.parts).any(|it| match it {
            Part::ToolResult(it) => it.content.parts().iter().any(is_unknown),
            it => is_unknown(it),
        })
    }

    /// Repairs the written document again, if its reader understands it differently. The edits get their places in the
    /// first document.
    fn repaired_again(
        &self,
        runs: usize,
        text: &[u8],
        (side, places): (Side, Option<&MendedPlaces>),
        options: &RepairOptions,
    ) -> Option<Repaired> {
        let again = self.read_again(text).ok()?;
        if again.side() == side
            && !again.has_unknown_parts()
            && !again.notes().iter().any(is_wrong_type)
        {
            return None;
        }
        let read = options.read.clone().with_from(Some(self.format()));
        let options = RepairOptions { read, strict: false, ..options.clone() };
        let mut again = repair_at_most(runs, text, &options).ok().filter(|it| it.changed)?;
        for it in &mut again.edits {
            let Some((message, places)) = it.at.message.zip(places) else { continue };
            let place = places.in_input(message, it.at.part);
            (it.at.message, it.at.part) = place.map_or((None, None), |it| (Some(it.0), it.1));
        }
        Some(again)
    }

    /// Whether no message has a part that is understood.
    fn has_only_unknown_parts(&self) -> bool {
        self.messages().iter().flat_map(|it| &it.parts).all(|it| matches!(it, Part::Other(_)))
    }

    /// Repairs the messages in place and returns the edits.
    pub fn repair(&mut self, options: &RepairOptions) -> Vec<Diagnostic> {
        self.repair_with_places(options).0
    }

    /// As [`Document::repair`], also returning the original places of the messages if they were repaired.
    pub(crate) fn repair_with_places(
        &mut self,
        options: &RepairOptions,
    ) -> (Vec<Diagnostic>, Option<MendedPlaces>) {
        let text = self.source().filter(|_| !self.is_edited()).map(<[u8]>::to_vec);
        let mut places = None;
        let found = self.repair_text(RUNS, text.as_deref(), options, Some(&mut places));
        (found, places)
    }

    /// The errors that a repair with these options left. Linear in the document if there can be any.
    pub fn remaining(&mut self, options: &RepairOptions) -> Vec<Diagnostic> {
        if !self.may_have_errors {
            return Vec::new();
        }
        let written = self.written();
        self.remaining_in(&written, options)
    }

    /// As [`Document::remaining`], for a document whose written text is known.
    fn remaining_in(&self, text: &[u8], options: &RepairOptions) -> Vec<Diagnostic> {
        if !self.may_have_errors {
            return Vec::new();
        }
        // Checks what a reader will see: ids that were assigned only temporarily are gone.
        let mut mended = match self.read_again(text) {
            Ok(mended) => mended,
            Err(refusal) => return vec![refusal.diagnostic().clone()],
        };
        mended.say_who_made_it(options.read.made_by.as_ref());
        let mut found = mended.check_text(Some(text), &options.as_check()).diagnostics;
        found.retain(Diagnostic::is_error);
        if !self.is_edited() || found.iter().any(is_not_understood) {
            // No edit applies to such a document.
            found.iter_mut().for_each(|it| it.fix = None);
        }
        found
    }

    /// As [`Document::repair`], for a document that was read from this text.
    fn repair_text(
        &mut self,
        runs: usize,
        text: Option<&[u8]>,
        options: &RepairOptions,
        places: Option<&mut Option<MendedPlaces>>,
    ) -> Vec<Diagnostic> {
        let (side, chain) = (self.side(), self.chain_options(options));
        if self.withholds_ids(chain.profile.as_deref()) {
            self.take_back_given_ids();
        }
        let profile = options.chain.profile.as_deref();
        let mut shapes: Vec<_> = refused_shapes(self, profile).collect();
        let judged = (profile, options.chain.check.request);
        let (refused, can_be_completed) = self.refused(text, judged);
        if runs > 0
            && can_be_completed
            && let Some(completed) = text.and_then(|it| self.completed(it, &options.read, judged))
        {
            return self.repair_completed(runs - 1, completed, options, places);
        }
        let head = self.head_edits(options);
        let mut foreign: Vec<_> = foreign_parts(self.messages()).collect();
        if may_have_orphans(self.messages()) {
            let chain = self.check_chain(&options.as_check());
            foreign.extend(unread_calls(self.as_unread(), &foreign, &chain));
        }
        let has_prompt = profile.is_some_and(|it| has_prompt_member(self, it));
        let mut messages = self.take_messages();
        if has_prompt {
            shapes.extend(mend_prompt(&mut messages));
        }
        for at in shapes.iter().filter_map(|it| it.at.message) {
            forget_shapes_at(&mut messages, at);
        }
        complete_parts(&mut messages, &refused);
        let breakpoints = Breakpoints::of(&messages);
        // A message that is not understood may contain calls and results, so the chain is not repaired (RG-11).
        let (mut messages, mut found) = match foreign.iter().any(is_not_understood) {
            true => (messages, Vec::new()),
            false if self.format().is_session() => mend_some(messages, side, &chain, places),
            false => mend(messages, side, &chain, places),
        };
        if has_prompt {
            // A system prompt that the repair moved to the front has a finding already.
            mend_prompt(&mut messages);
        }
        if let Some(breakpoints) = breakpoints.filter(|_| !found.is_empty()) {
            found.extend(breakpoints.keep_in(&mut messages));
        }
        let is_left = |it: &Diagnostic| it.is_error() && it.fix.is_none();
        self.may_have_errors = !foreign.is_empty() || !refused.is_empty();
        add_refused(&mut shapes, refused);
        self.may_have_errors |= self.notes().iter().any(Diagnostic::is_error)
            || found.iter().chain(&shapes).any(is_left);
        shapes.retain(|it| it.fix.is_some());
        found.retain(|it| it.fix.is_some());
        found.splice(..0, shapes);
        msg_core::sort_by_rank(&mut found, |it| it.at.message);
        tracing::debug!(messages = messages.len(), edits = found.len(), "repaired");
        let head = self.mend_head(head);
        if found.is_empty() {
            self.put_messages(messages);
            if !head.is_empty() {
                // Only members around the messages were changed.
                self.set_edited();
            }
            found = head;
        } else {
            self.put_edited(messages);
            found.splice(..0, head);
            found.extend(self.written_anew());
        }
        found
    }

    /// As [`Document::repair_text`], for the document with the missing words filled in.
    fn repair_completed(
        &mut self,
        runs: usize,
        (completed, mut missing): (Document, Vec<Diagnostic>),
        options: &RepairOptions,
        places: Option<&mut Option<MendedPlaces>>,
    ) -> Vec<Diagnostic> {
        let text = completed.source().unwrap_or_default().to_vec();
        self.replace_with(completed);
        missing.retain(|it| it.fix.is_some());
        missing.extend(self.repair_text(runs, Some(&text), options, places));
        self.write_as(text);
        msg_core::sort_by_rank(&mut missing, |it| it.at.message);
        missing
    }

    /// The repairs of the head of a request, if the options ask for them (RQ-1).
    fn head_edits(&self, options: &RepairOptions) -> HeadEdits {
        let mut res = HeadEdits::default();
        let profile = options.chain.profile.as_deref().filter(|_| options.chain.check.request);
        let Some((profile, head)) = profile.zip(self.head()) else { return res };
        add_schema_edits(&head, profile, &mut res);
        self.of_settings(&head, profile, |it| add_setting_edits(it, &mut res));
        let found = self.check_head(&options.as_check());
        res.may_remain = found.iter().any(Diagnostic::is_error);
        res
    }

    /// Repairs the head and returns the repairs. A check reports the problems without a repair.
    fn mend_head(&mut self, mut edits: HeadEdits) -> Vec<Diagnostic> {
        self.may_have_errors |= edits.may_remain || edits.found.iter().any(|it| it.fix.is_none());
        let mut found = std::mem::take(&mut edits.found);
        found.retain(|it| it.fix.is_some());
        if !found.is_empty() {
            self.change_head(&mut |name, raw| edits.member(name, raw));
            edits.added().for_each(|(name, raw)| self.add_to_head(name, raw));
        }
        found
    }

    /// Reports the values of its source that are missing in `written` and that no edit explains. Empty if the source
    /// was not kept ([`Document::set_source`](msg_formats::Document::set_source)).
    pub fn lost(&self, written: &[u8], edits: &[Diagnostic]) -> Vec<Diagnostic> {
        let read = self.read_options();
        let lost = |it| account_of_edits(it, written, self.format(), &read, edits).lost;
        self.source().map(lost).unwrap_or_default()
    }

    /// As [`Document::lost`], for messages that were taken out: reports the values of its source that are missing in
    /// `written`, unless they belong to a message that was cut or changed. If a session is written anew, that is
    /// reported first, with the names of the members that its records lose.
    pub fn lost_by_cut(&self, written: &[u8]) -> Vec<Diagnostic> {
        if !self.is_edited() {
            return Vec::new();
        }
        let read = self.read_options();
        let cut = Cut {
            format: self.format(),
            read: &read,
            messages: self.messages(),
            edits: &[],
            left_out: None,
        };
        let Account { lost, left_out } =
            self.source().map(|it| cut.account(it, written)).unwrap_or_default();
        let mut res = self.written_anew();
        name_left_out(&mut res, &left_out);
        res.extend(lost);
        res
    }

    /// The chain options for this document.
    pub(crate) fn chain_options<'o>(
        &self,
        options: &'o RepairOptions,
    ) -> Cow<'o, msg_chainast::ChainRepairOptions> {
        let given = &options.chain;
        let (check, profile) = self.rules(given.check, given.profile.as_deref());
        let chain = || given.clone().with_check(check);
        match profile {
            Some(Cow::Owned(of_model)) => Cow::Owned(chain().with_profile(&of_model)),
            _ if check == given.check => Cow::Borrowed(given),
            _ => Cow::Owned(chain()),
        }
    }
}

/// Repairs a session. If nothing would be left, the session keeps its errors (SE-6).
fn mend_some(
    messages: Vec<Message>,
    side: Side,
    options: &msg_chainast::ChainRepairOptions,
    places: Option<&mut Option<MendedPlaces>>,
) -> (Vec<Message>, Vec<Diagnostic>) {
    // User text is never dropped, so a copy is needed only without it.
    let says = |it: &Message| it.role == Role::User && !it.text().trim().is_empty();
    let whole = (!messages.iter().any(says)).then(|| messages.clone());
    let (mended, mut found) = mend(messages, side, options, places);
    match whole.filter(|it| mended.is_empty() && !it.is_empty()) {
        Some(whole) => {
            found.iter_mut().for_each(|it| it.fix = None);
            (whole, found)
        }
        None => (mended, found),
    }
}

/// Repairs a conversation, or each answer by itself. Sets `places` to the original places of the messages, if
/// requested.
fn mend(
    messages: Vec<Message>,
    side: Side,
    options: &msg_chainast::ChainRepairOptions,
    places: Option<&mut Option<MendedPlaces>>,
) -> (Vec<Message>, Vec<Diagnostic>) {
    let ids = &mut Document::ids();
    let check = match side {
        Side::Conversation => options.check,
        Side::Continuation => options.check.with_continued(),
        Side::Exchange { is_continued: false } => options.check.with_open(),
        Side::Answer | Side::Choices | Side::Exchange { is_continued: true } => {
            options.check.with_continued().with_open()
        }
    };
    let options = &*match check == options.check {
        true => Cow::Borrowed(options),
        false => Cow::Owned(options.clone().with_check(check)),
    };
    match (side, places) {
        (Side::Choices, _) => {
            let (mut res, mut edits) = (Vec::with_capacity(messages.len()), Vec::new());
            for (at, choice) in messages.into_iter().enumerate() {
                let (mended, found) = msg_chainast::repair(vec![choice], options, ids);
                res.extend(mended);
                edits.extend(moved(found, at));
            }
            (res, edits)
        }
        (_, None) => msg_chainast::repair(messages, options, ids),
        (_, Some(places)) => {
            let (mended, found, were) = msg_chainast::repair_with_places(messages, options, ids);
            *places = were;
            (mended, found)
        }
    }
}
