//! Converts a document to another format, and reports losses and changes.
//!
//! The library that writes a format reports what it cannot hold.
//!
//! ```text
//! {"messages":[{"role":"user","content":"hi","name":"Ann"}]}  ─▶ anthropic
//! {"messages":[{"role":"user","content":"hi"}]}               convert::lost-member: no place for `name`
//! ```

mod options;
mod portable;
mod response;
mod shared_ids;

use std::collections::{BTreeMap, BTreeSet};

use msg_chainast::{ChainCheckOptions, ChainRepairOptions, Profile};
use msg_core::request::RequestHead;
use msg_core::{Code, Diagnostic, Message, Report, Severity};
use msg_formats::account::{Account, Conversion, account_of_edits};
use msg_formats::{Format, ReadOptions, Refusal, losses_as_errors, text_calls};
use msg_forms::OrderedResults;

pub use self::options::{Carry, ConvertOptions};
use self::response::{ANSWERED, lost_counts};
use crate::document::Document;
use crate::json::repair_json;
use crate::options::RepairOptions;
use crate::repair::repair;
use crate::rows::Row;
use crate::schemas::mend_for_format;

/// A converted document.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Converted {
    /// The document in the target format.
    pub document: Vec<u8>,
    /// The losses and changes, those of the reader first.
    pub edits: Vec<Diagnostic>,
    /// The names of the members of a request or a response that were left out because they are not
    /// part of the messages.
    pub left_behind: Vec<String>,
    /// The errors that the repair for [`ConvertOptions::profile`] left; positions are those of the new document.
    pub remaining: Vec<Diagnostic>,
}

/// Converts a document.
///
/// Fails if it cannot be read, or if it brings options that do not exist. Linear in the document.
///
/// ```
/// use msg_document::{ConvertOptions, Format, convert};
///
/// let json = br#"[{"role":"user","content":"hi"}]"#;
/// let native: Format = "native".parse()?;
/// let converted = convert(json, native, &ConvertOptions::default())?;
/// assert_eq!(converted.document, br#"[{"role":"user","parts":[{"type":"text","text":"hi"}]}]"#);
/// # Ok::<(), msg_document::Refusal>(())
/// ```
pub fn convert(json: &[u8], to: Format, options: &ConvertOptions) -> Result<Converted, Refusal> {
    let row = match Row::of(json, &options.read)? {
        Some(row) => row,
        None => match convert_one(json, to, options, ChainCheckOptions::new()) {
            Err(refusal) => Row::instead(json, &options.read, refusal)?,
            converted => return converted,
        },
    };
    convert_row(&row, to, options)
}

/// Converts each conversation. For a row of a recognised kind only the conversation is returned: in another format it
/// would not be such a row.
fn convert_row(row: &Row, to: Format, options: &ConvertOptions) -> Result<Converted, Refusal> {
    let mut documents = Vec::new();
    let mut res = Converted::default();
    for (at, document) in row.documents().enumerate() {
        let rules = row.rules(at, ChainCheckOptions::new());
        let converted = convert_one(document, to, options, rules);
        let mut converted = converted.map_err(|it| row.refused(at, it))?;
        row.place(at, &mut converted.edits);
        row.place(at, &mut converted.remaining);
        res.edits.extend(converted.edits);
        res.remaining.extend(converted.remaining);
        res.left_behind.extend(converted.left_behind);
        documents.push(Some(converted.document));
    }
    for answer in row.answers() {
        let alone = convert_one(answer.as_bytes(), to, options, ChainCheckOptions::new());
        res.left_behind.extend(alone.map(|it| it.left_behind).unwrap_or_default());
    }
    if let ([Some(_)], true) = (documents.as_slice(), row.is_known()) {
        res.document = documents.pop().flatten().unwrap_or_default();
        res.left_behind.extend(row.members());
        return Ok(res);
    }
    res.document = row.with(&documents, to)?;
    Ok(res)
}

/// Converts a document that is one conversation, with these chain rules.
fn convert_one(
    json: &[u8],
    to: Format,
    options: &ConvertOptions,
    rules: ChainCheckOptions,
) -> Result<Converted, Refusal> {
    let mut document = Document::read_unlowered(json, &options.read)?;
    let from = document.format();
    let missing = if to == from { Vec::new() } else { document.complete(json, &options.read) };
    let mut res = document.convert_with(to, None, options, rules)?;
    res.edits.splice(..0, missing);
    drop(document);
    if to == from && options.write.encode.keeps_layout() {
        res.document = to.laid_out(json, res.document);
    }
    res.account(json, from, to, options);
    Ok(res)
}

impl Document {
    /// Writes the document in the format `to`: the whole document if that is its own format, else its
    /// messages, and with [`Carry::Request`] also its settings.
    ///
    /// With a [profile](ConvertOptions::profile), also repairs whatever its provider refuses in the new
    /// document.
    ///
    /// Fails for invalid options of turns, for a target without requests, and if a member is missing
    /// that the target requires.
    pub fn convert(&mut self, to: Format, options: &ConvertOptions) -> Result<Converted, Refusal> {
        self.convert_with(to, None, options, ChainCheckOptions::new())
    }

    /// Writes the document as a request of `to`, with the settings of `head` instead of its own. For callers that
    /// changed the head, for example the names of tools. The model is that of `head`.
    ///
    /// Fails as [`Document::convert`] does, and for the document's own format.
    pub fn convert_request(
        &mut self,
        to: Format,
        head: RequestHead,
        options: &ConvertOptions,
    ) -> Result<Converted, Refusal> {
        if to == self.format() {
            return Err(Refusal::bad_option(format!("the document already has the format {to}")));
        }
        let model = head.model.clone();
        let options = options.clone().with_carry(Carry::Request { model });
        self.convert_with(to, Some(head), &options, ChainCheckOptions::new())
    }

    fn convert_with(
        &mut self,
        to: Format,
        head: Option<RequestHead>,
        options: &ConvertOptions,
        rules: ChainCheckOptions,
    ) -> Result<Converted, Refusal> {
        let (from, n_messages) = (self.format(), self.messages().len());
        let source = self.source().filter(|_| to != from).map(<[u8]>::to_vec);
        let missing = source.map(|it| self.complete(&it, &options.read)).unwrap_or_default();
        let mut res = self.convert_only(to, head, options)?;
        res.edits.splice(..0, missing);
        if from.is_session() && res.leaves_out_all(n_messages) {
            return Err(res.nothing_left(from, to));
        }
        if let Some(profile) = &options.profile {
            let request = matches!(options.carry, Carry::Request { .. });
            res.mend(to, profile, ChainCheckOptions { request, ..rules })?;
        }
        Ok(res)
    }

    fn convert_only(
        &mut self,
        to: Format,
        head: Option<RequestHead>,
        options: &ConvertOptions,
    ) -> Result<Converted, Refusal> {
        let (from, target) = (self.format().name(), to.name());
        let _span = tracing::debug_span!("convert", from, to = target).entered();
        let own = self.own_options().map(|it| options.clone().with(it.text().as_bytes()));
        let own = own.transpose()?;
        let options = own.as_ref().unwrap_or(options);
        let (edits, document) = (self.take_notes(), self.room());
        let mut res = Converted { document, edits, ..Converted::default() };
        if to == self.format() {
            expect_no_model(&options.carry)?;
            if !options.write.encode.keeps_layout() {
                self.forget_source();
            }
            res.edits.extend(self.write(&options.write, &mut res.document).into_vec());
            return Ok(res);
        }
        to.expect_writer()?;
        res.edits.extend(self.lower(&options.lower));
        res.edits.extend(self.link_ids_for(to));
        res.edits.extend(shared_ids::settle_shared_ids(self.messages_mut(), to.name()));
        let (mut places, mut n_placed) = (None, 0);
        if to.is_session() {
            // Agents load a session without checks, so it is written as a valid chain (SE-80).
            let (edits, were) = self.repair_with_places(&sound());
            res.edits.extend(edits);
            (places, n_placed) = (were, res.edits.len());
        }
        if !matches!(to.name(), "native" | "msgmd") {
            let has_display = self.format().is_session();
            if to.name() != "openai" {
                msg_openai::chat::unpack_details(self.messages_mut());
            }
            portable::make_portable(self.messages_mut(), to.name(), has_display);
            res.edits.extend(portable::settle_media(self.messages_mut(), to.name()));
            if options.profile.is_none() {
                res.edits.extend(portable::settle_media_types(self.messages_mut(), to.name()));
                res.edits.extend(portable::refused_media(self.messages(), to.name()));
            }
        }
        let mut ordered = OrderedResults::default();
        if lacks_ids(to, options) {
            ordered = OrderedResults::of(self.messages_mut());
            if !ordered.answer_by_place() && places.is_none() {
                // By its place, a result would answer another call.
                let (mut edits, were) = self.repair_with_places(&sound());
                ordered.placed_as_before(&mut edits);
                res.edits.extend(edits);
                (places, n_placed) = (were, res.edits.len());
                ordered = OrderedResults::of(self.messages_mut());
            }
        }
        let n_ordered = res.edits.len();
        if to.has_text_calls() {
            let (messages, lost) = text_calls::spell_out(self.messages());
            *self.messages_mut() = messages;
            res.edits.extend(lost);
        }
        let servers = match to.name() {
            "native" | "msgmd" | "plain" => Vec::new(),
            _ => text_calls::servers(self.messages()),
        };
        let written = match &options.carry {
            Carry::Conversation => {
                res.left_behind = self.members();
                self.write_but_emptied(to, options, &mut res.document)
            }
            Carry::Response => self.write_response(to, &options.write, &mut res.document)?,
            Carry::Request { model } => {
                let head = head.or_else(|| self.head()).unwrap_or_default();
                let (mut head, mut edits) = with_model(head, model.as_deref());
                res.edits.append(&mut edits);
                res.edits.extend(mend_for_format(&mut head, to));
                to.write_request(&head, self.messages_mut(), &options.write, &mut res.document)?
            }
        };
        res.edits.extend(written.into_vec());
        res.report_servers(servers);
        ordered.placed_as_before(&mut res.edits[n_ordered..]);
        if let Some(places) = places {
            // Their positions are those in the repaired messages.
            for it in &mut res.edits[n_placed..] {
                let Some(message) = it.at.message else { continue };
                let Some((message, part)) = places.in_input(message, it.at.part) else { continue };
                (it.at.message, it.at.part) = (Some(message), part);
            }
        }
        tracing::debug!(edits = res.edits.len(), "converted");
        Ok(res)
    }
}

/// Options of a repair that makes a valid chain, except that the last calls may be open.
fn sound() -> RepairOptions {
    let chain = ChainRepairOptions::new().with_check(ChainCheckOptions::new().with_open());
    RepairOptions { chain, ..RepairOptions::default() }
}

impl Document {
    /// Writes the messages. Leaves out messages that would be empty because the format has no place for their parts.
    fn write_but_emptied(
        &mut self,
        to: Format,
        options: &ConvertOptions,
        out: &mut Vec<u8>,
    ) -> Report {
        let report = to.write_messages(self.messages_mut(), &options.write, out);
        let mut gone = emptied(self.messages(), &report);
        // These writers keep empty messages; the writer of chat messages keeps only a single one.
        let leaves_out = match to.name() {
            "plain" | "sharegpt" | "turns" | "langchaingo" => false,
            "openai" => self.messages().len() > 1,
            _ => true,
        };
        if leaves_out {
            // The writers do not leave out a message with an empty text, or one of settings.
            let has_text = |it: &Message| it.parts.iter().any(|it| it.as_text().is_some());
            let is_known = |it: &Message| !has_text(it) && !it.is_setting();
            gone.retain(|at| !is_known(&self.messages()[*at]));
        }
        if gone.is_empty() {
            return report;
        }
        let is_gone = |at: Option<usize>| at.is_some_and(|at| gone.contains(&at));
        // A message that is left out has no changed role, and is reported as lost only once, below.
        let is_told = |it: &Diagnostic| {
            !matches!(it.code.as_str(), "convert::role-changed" | "convert::lost-message")
        };
        let of_gone = report.into_iter().filter(|it| is_gone(it.at.message) && is_told(it));
        let kept: Vec<usize> = (0..self.messages().len()).filter(|it| !gone.contains(it)).collect();
        let staying = kept.iter().map(|at| self.messages()[*at].clone()).collect();
        let all = std::mem::replace(self.messages_mut(), staying);
        out.clear();
        let report = to.write_messages(self.messages_mut(), &options.write, out);
        // Findings about the other messages get their positions in the document.
        *self.messages_mut() = all;
        let moved = report.into_iter().map(|mut it| {
            it.at.message = it.at.message.and_then(|at| kept.get(at).copied()).or(it.at.message);
            it
        });
        let text = "nothing is left of this message";
        let lost = gone
            .iter()
            .map(|at| Diagnostic::warning("convert::lost-message".into(), text).at_message(*at));
        let mut all: Vec<_> = of_gone.chain(moved).chain(lost).collect();
        msg_core::sort_by_rank(&mut all, |it| it.at.message);
        all.into_iter().collect()
    }
}

/// The messages of which every part is lost or an empty text, and lost messages that consist of settings.
fn emptied(messages: &[Message], report: &Report) -> BTreeSet<usize> {
    let mut lost: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for it in report.iter().filter(|it| it.code == "convert::lost-part") {
        if let Some((message, part)) = it.at.message.zip(it.at.part) {
            lost.entry(message).or_default().insert(part);
        }
    }
    // Messages with results stay, so their calls remain answered; only the content of a result can be lost.
    let is_gone = |(at, lost): &(usize, BTreeSet<usize>)| {
        let says_nothing = |it: &Message| {
            let mut parts = it.parts.iter().enumerate();
            parts.all(|(at, part)| lost.contains(&at) || part.as_text() == Some(""))
        };
        let message = messages.get(*at);
        message.is_some_and(|it| says_nothing(it) && it.tool_results().next().is_none())
    };
    let settings = report.iter().filter(|it| it.code == "convert::lost-member");
    let settings = settings.filter_map(|it| it.at.message);
    let settings = settings.filter(|at| messages.get(*at).is_some_and(Message::is_setting));
    lost.into_iter().filter(is_gone).map(|it| it.0).chain(settings).collect()
}

/// Whether the target is written without ids, so calls and results are matched by position.
fn lacks_ids(to: Format, options: &ConvertOptions) -> bool {
    match to.name() {
        "plain" | "sharegpt" => true,
        "gemini" => options.write.gemini.ids == msg_gemini::Ids::Omit,
        _ => false,
    }
}

/// The member that a pointer of one step names.
fn member_of_the_body(pointer: &str) -> Option<&str> {
    let name = pointer.strip_prefix('/')?;
    let is_index = name.bytes().all(|it| it.is_ascii_digit());
    (!is_index && !name.contains('/')).then_some(name)
}

/// Fails if a model is given: a conversion to the same format keeps the model.
fn expect_no_model(carry: &Carry) -> Result<(), Refusal> {
    match carry {
        Carry::Request { model: Some(_) } => {
            let text = "--model needs another target format: a request keeps its own";
            Err(Refusal::bad_option(text))
        }
        _ => Ok(()),
    }
}

/// Replaces the model of a head with the given one. Without one the model is dropped, because its name means nothing to
/// another provider.
fn with_model(mut head: RequestHead, model: Option<&str>) -> (RequestHead, Vec<Diagnostic>) {
    let old = std::mem::replace(&mut head.model, model.map(str::to_owned));
    let lost = || {
        let text = "`model` is left out: the name means nothing to another provider";
        Diagnostic::warning("convert::lost-member".into(), text)
            .at_pointer("/model")
            .with_fix("--model names one")
    };
    let is_lost = old.is_some() && model.is_none();
    (head, is_lost.then(lost).into_iter().collect())
}

impl Converted {
    /// Whether each of so many messages is left out.
    fn leaves_out_all(&self, n_messages: usize) -> bool {
        let lost = self.edits.iter().filter(|it| it.code == "convert::lost-message");
        let lost: BTreeSet<_> = lost.filter_map(|it| it.at.message).collect();
        n_messages > 0 && lost.len() == n_messages
    }

    /// The refusal of a session of which no message has a place in `to`.
    fn nothing_left(&self, from: Format, to: Format) -> Refusal {
        let why = self.edits.iter().find(|it| it.code == "convert::lost-part");
        let why = why.map_or_else(String::new, |it| format!(": {}", it.message()));
        let text = format!("no message of this session of {from} has a place in {to}{why}");
        Diagnostic::error(Code::new("session::no-messages"), text).into()
    }

    /// Reports the servers of calls at these places that the writer dropped without a report (XT-12).
    fn report_servers(&mut self, mut servers: Vec<(usize, usize)>) {
        if servers.is_empty() {
            return;
        }
        let told = self.edits.iter().filter(|it| it.message().contains(text_calls::SERVER));
        let told: BTreeSet<_> = told.filter_map(|it| it.at.message.zip(it.at.part)).collect();
        servers.retain(|it| !told.contains(it));
        let text = format!("the format has no place for {}", text_calls::SERVER);
        self.edits.extend(servers.into_iter().map(|(message, part)| {
            let code = Code::new("convert::lost-member");
            Diagnostic::new(Severity::Info, code, text.clone()).at_part(message, part)
        }));
    }

    /// Repairs the new document for a provider (MS-24).
    fn mend(
        &mut self,
        to: Format,
        profile: &Profile,
        check: ChainCheckOptions,
    ) -> Result<(), Refusal> {
        let chain = ChainRepairOptions::new().with_check(check).with_profile(profile);
        let read = ReadOptions::default().with_from(Some(to));
        let options = RepairOptions::default().with_read(read).with_chain(chain);
        let repaired = repair(&self.document, &options)?;
        self.document = repaired.document;
        self.edits.extend(repaired.edits);
        self.remaining = repaired.remaining;
        Ok(())
    }

    /// Reports the values of `source`, a document of the format `from`, that are neither in this document (of the
    /// format `to`) nor reported otherwise. Linear.
    pub fn account(&mut self, source: &[u8], from: Format, to: Format, options: &ConvertOptions) {
        match to == from {
            _ if options.write.preview.is_some() => {}
            // The writer of the canonical form reports its own losses.
            true if !options.write.encode.keeps_layout() => {}
            true => {
                let edits = &self.edits;
                let found = account_of_edits(source, &self.document, from, &options.read, edits);
                for it in found.lost {
                    // Members next to the messages are listed as left out, as in other formats.
                    match it.at.pointer.as_deref().and_then(member_of_the_body) {
                        Some(name) => self.left_behind.push(name.to_owned()),
                        None => self.edits.push(it),
                    }
                }
            }
            false => self.account_values(source, from, to, options),
        }
        if options.strict {
            losses_as_errors(&mut self.edits);
        }
    }

    fn account_values(
        &mut self,
        source: &[u8],
        from: Format,
        to: Format,
        options: &ConvertOptions,
    ) {
        let is_response = matches!(options.carry, Carry::Response);
        let conversion = Conversion {
            from,
            to,
            read: &options.read,
            lower: &options.lower,
            write: &options.write,
            lacks_ids: lacks_ids(to, options),
            is_response,
        };
        let mut counts = Vec::new();
        let left_out = |source: &str, written: &str| {
            let mut left_out = self.left_behind.clone();
            match options.carry {
                Carry::Request { model: Some(_) } => left_out.push("model".to_owned()),
                // A response has its own members for them.
                Carry::Response => {
                    counts = lost_counts(source, written, &self.edits);
                    left_out.extend(ANSWERED.map(str::to_owned));
                }
                _ => {}
            }
            left_out
        };
        let Account { lost, left_out: others } =
            conversion.account((source, &self.document), &self.edits, left_out);
        self.edits.extend(lost);
        self.edits.append(&mut counts);
        let is_said = |it: &String| is_response && ANSWERED.contains(&it.as_str());
        self.left_behind.extend(others.into_iter().filter(|it| !is_said(it)));
    }

    /// The line of the report, without its line end: `{"edits":[…]}`, `left_behind` if members were left out, and
    /// `remaining` if errors remain.
    pub fn report_json(&self) -> Vec<u8> {
        repair_json(&self.edits, &self.left_behind, &self.remaining, None)
    }
}
