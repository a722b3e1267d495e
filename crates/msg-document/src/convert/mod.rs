//! A document in another format, and what was lost or changed on the way.
//!
//! What a format cannot hold is reported by the library that writes it.
//!
//! ```text
//! {"messages":[{"role":"user","content":"hi","name":"Ann"}]}  ─▶ anthropic
//! {"messages":[{"role":"user","content":"hi"}]}               convert::lost-member: no place for `name`
//! ```

mod options;
mod portable;
mod response;

use std::borrow::Cow;
use std::collections::HashMap;

use msg_chainast::Profile;
use msg_core::request::RequestHead;
use msg_core::{Diagnostic, Message};
use msg_forms::turns::LowerOptions;
use serde_json::value::RawValue;

pub use self::options::{Carry, ConvertOptions};
use crate::document::Document;
use crate::format::Format;
use crate::json::repair_json;
use crate::ledger::{Account, Told, account, losses_as_errors};
use crate::read_options::ReadOptions;
use crate::refusal::Refusal;
use crate::repair::{RepairOptions, repair};
use crate::schemas::mend_for_format;
use crate::text_calls::TextCalls;

/// A converted document.
#[derive(Debug, Clone, Default)]
pub struct Converted {
    /// The document in the target format.
    pub document: Vec<u8>,
    /// What was lost or changed, the reader's notes first.
    pub edits: Vec<Diagnostic>,
    /// The names of the members of a request or a response that stayed behind, being no part of the
    /// messages.
    pub left_behind: Vec<String>,
    /// The errors that a mending for [`ConvertOptions::profile`] left; the messages are those of the new document.
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
    let mut document = Document::read_unlowered(json, &options.read)?;
    let mut res = document.convert(to, options)?;
    let from = document.format();
    drop(document);
    if to == from && options.write.encode.keeps_layout() {
        res.document = to.laid_out(json, res.document);
    }
    res.account(json, from, to, options);
    Ok(res)
}

impl Document {
    /// Writes the document in `to`: into its own format all of it, into another its messages, and with
    /// [`Carry::Request`] what it asks besides them.
    ///
    /// With a [profile](ConvertOptions::profile), what its provider refuses of the new document is mended.
    ///
    /// Fails for the options of a document of turns, for a target without requests, and where a request
    /// lacks what the target demands.
    pub fn convert(&mut self, to: Format, options: &ConvertOptions) -> Result<Converted, Refusal> {
        self.convert_with(to, None, options)
    }

    /// Writes the document as a request of `to` that asks what `head` asks, instead of what the document asks: for
    /// somebody who changed the head, for example the names of tools. The head's model is the one that is asked.
    ///
    /// Fails as [`Document::convert`] does, and for the document's own format.
    pub fn convert_request(
        &mut self,
        to: Format,
        head: RequestHead,
        options: &ConvertOptions,
    ) -> Result<Converted, Refusal> {
        if to == self.format() {
            return Err(Refusal::bad_option(format!("the document is of {to} already")));
        }
        let model = head.model.clone();
        let options = options.clone().with_carry(Carry::Request { model });
        self.convert_with(to, Some(head), &options)
    }

    fn convert_with(
        &mut self,
        to: Format,
        head: Option<RequestHead>,
        options: &ConvertOptions,
    ) -> Result<Converted, Refusal> {
        let mut res = self.convert_only(to, head, options)?;
        if let Some(profile) = &options.profile {
            res.mend(to, profile, matches!(options.carry, Carry::Request { .. }))?;
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
        if !to.codec().has_writer() {
            return Err(Refusal::bad_option(format!("{to} is read and not written")));
        }
        res.edits.extend(self.lower(&options.lower));
        let may_lack = self.format().codec().lacks_ids() || to.codec().links_ids();
        if may_lack && (to.codec().links_ids() || !to.codec().lacks_ids()) {
            res.edits.extend(self.link_ids());
        }
        if to.codec().judges_itself() {
            // An agent loads what it finds: a session is written sound (SE-80).
            let chain = msg_chainast::RepairOptions::new()
                .with_check(msg_chainast::CheckOptions::new().with_open());
            let options = RepairOptions { chain, ..RepairOptions::default() };
            res.edits.extend(self.repair(&options));
        }
        if !matches!(to.name(), "native" | "msgmd") {
            let has_display = self.format().is_session();
            if to.name() != "openai" {
                msg_openai::chat::unpack_details(&mut self.content.messages);
            }
            portable::make_portable(&mut self.content.messages, to.name(), has_display);
            res.edits.extend(portable::settle_media(&mut self.content.messages, to.name()));
        }
        if to.codec().has_text_calls() {
            let (messages, lost) = TextCalls::spell_out(&self.content.messages);
            self.content.messages = messages;
            res.edits.extend(lost);
        }
        let written = match &options.carry {
            Carry::Conversation => {
                res.left_behind = self.members();
                self.write_messages(to, &options.write, &mut res.document)
            }
            Carry::Response => self.write_response(to, &options.write, &mut res.document)?,
            Carry::Request { model } => {
                let head = head.or_else(|| self.head()).unwrap_or_default();
                let (mut head, mut edits) = with_model(head, model.as_deref());
                res.edits.append(&mut edits);
                res.edits.extend(mend_for_format(&mut head, to));
                self.write_request(to, &head, &options.write, &mut res.document)?
            }
        };
        res.edits.extend(written.into_vec());
        tracing::debug!(edits = res.edits.len(), "converted");
        Ok(res)
    }
}

/// What a response says besides its messages, as any other does.
const ANSWERED: [&str; 4] = ["id", "model", "usage", "stopReason"];

/// The values of a document that are not in what was written of it in its own format after these edits, and that none
/// of them names. Nothing for a session, which is written anew from its messages.
pub(crate) fn lost_by_edits(
    source: &[u8],
    written: &[u8],
    format: Format,
    read: &ReadOptions,
    edits: &[Diagnostic],
) -> Vec<Diagnostic> {
    if format.is_session() || source == written {
        return Vec::new();
    }
    let (read, lower) = (read.clone().with_from(Some(format)), LowerOptions::strict());
    let texts = json_of(source, format, &read, &lower).zip(json_of(written, format, &read, &lower));
    let Some((source, written)) = texts else { return Vec::new() };
    let messages = || match format.is_json() {
        true => native(source.as_bytes(), &read, &lower),
        false => Some(source.to_string()),
    };
    lost_in_place((&source, &written), format, edits, &messages)
}

/// As [`lost_by_edits`], of two texts of JSON. `messages` gives those of the source in native form, in which the edits
/// count.
pub(crate) fn lost_in_place(
    (source, written): (&str, &str),
    format: Format,
    edits: &[Diagnostic],
    messages: &dyn Fn() -> Option<String>,
) -> Vec<Diagnostic> {
    let told = Told {
        report: edits,
        behind: &[],
        from: format.name(),
        keeps_format: true,
        has_records: false,
        is_one: is_one(format, source),
        lacks_ids: false,
        messages,
    };
    account(source, written, &told).lost
}

/// What was cut out of a document, and how what is left was written.
pub(crate) struct Cut<'a> {
    pub(crate) format: Format,
    pub(crate) read: &'a ReadOptions,
    /// What is left, before it was written.
    pub(crate) messages: &'a [Message],
    /// What is said of it.
    pub(crate) edits: &'a [Diagnostic],
    /// Of chat messages that were written of it: the members that stay behind. Of the document itself nothing.
    pub(crate) behind: Option<&'a [String]>,
}

impl Cut<'_> {
    /// The values of the source that are neither in what was written nor in a message that the cut took or changed.
    /// Nothing for a session that is written anew from its messages.
    pub(crate) fn lost(&self, source: &[u8], written: &[u8]) -> Vec<Diagnostic> {
        let (format, is_own) = (self.format, self.behind.is_none());
        if source == written || is_own && format.is_session() {
            return Vec::new();
        }
        let (read, lower) = (self.read.clone().with_from(Some(format)), LowerOptions::strict());
        let text = match is_own {
            true => json_of(written, format, &read, &lower),
            false => std::str::from_utf8(written).ok().map(Cow::Borrowed),
        };
        let before = native(source, &read, &lower);
        let texts = json_of(source, format, &read, &lower).zip(text).zip(before);
        let Some(((source, written), before)) = texts else { return Vec::new() };
        let mut after = Vec::new();
        msg_core::native::write(self.messages, &mut after);
        let after = String::from_utf8_lossy(&after);
        let gone = changed(&before, &after);
        let of_gone = |(at, _): &(usize, _)| {
            let code = "convert::lost-message".into();
            Diagnostic::warning(code, "cut").at_message(*at).with_fix("cut")
        };
        let mut report: Vec<_> = gone.iter().map(of_gone).collect();
        report.extend_from_slice(self.edits);
        // What the cut took is as good as written.
        let written = gone.iter().fold(written.into_owned(), |res, it| res + "\n" + it.1);
        let told = Told {
            report: &report,
            behind: self.behind.unwrap_or_default(),
            from: format.name(),
            keeps_format: is_own,
            has_records: format.is_session() || format.name() == "otel",
            is_one: is_one(format, &source),
            lacks_ids: false,
            messages: &|| Some(before.clone()),
        };
        account(&source, &written, &told).lost
    }
}

/// The messages that are not among those that are left, with their places.
fn changed<'b>(before: &'b str, after: &'b str) -> Vec<(usize, &'b str)> {
    let rows = |it| serde_json::from_str::<Vec<&RawValue>>(it).unwrap_or_default();
    let mut left: HashMap<&str, usize> = HashMap::new();
    let after = rows(after);
    after.iter().for_each(|it| *left.entry(it.get()).or_default() += 1);
    let mut gone: Vec<_> = rows(before).into_iter().map(RawValue::get).enumerate().collect();
    gone.retain(|(_, it)| match left.get_mut(it) {
        Some(count @ 1..) => {
            *count -= 1;
            false
        }
        _ => true,
    });
    gone
}

/// Whether a document is one text, not lines of several.
fn is_one(format: Format, source: &str) -> bool {
    let end = || msg_json::value_end(source.as_bytes(), 0);
    !format.codec().spans_lines() || end() == Some(source.trim_end().len())
}

/// A document as JSON: itself, or the messages of one that is none.
fn json_of<'d>(
    document: &'d [u8],
    format: Format,
    read: &ReadOptions,
    lower: &LowerOptions,
) -> Option<Cow<'d, str>> {
    match format.is_json() {
        true => {
            let text = std::str::from_utf8(document).ok()?;
            Some(Cow::Borrowed(text.trim_start_matches('\u{feff}')))
        }
        false => native(document, read, lower).map(Cow::Owned),
    }
}

/// The messages of a document in native form.
fn native(document: &[u8], read: &ReadOptions, lower: &LowerOptions) -> Option<String> {
    let mut document = Document::read_unlowered(document, read).ok()?;
    document.lower(lower);
    let mut out = Vec::new();
    msg_core::native::write(document.messages(), &mut out);
    String::from_utf8(out).ok()
}

/// Whether what is written has no ids, so that a call and its result find each other by their places.
fn lacks_ids(to: Format, options: &ConvertOptions) -> bool {
    match to.name() {
        "plain" | "sharegpt" => true,
        "gemini" => options.write.gemini.ids == msg_gemini::Ids::Omit,
        _ => false,
    }
}

/// Into its own format a request goes with the model that it has.
fn expect_no_model(carry: &Carry) -> Result<(), Refusal> {
    match carry {
        Carry::Request { model: Some(_) } => {
            let text = "--model is for the request of another format: to its own nothing changes";
            Err(Refusal::bad_option(text))
        }
        _ => Ok(()),
    }
}

/// A model's name means nothing to another provider: it is lost, or another is given.
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
    /// Mends the new document for a provider (MS-24).
    fn mend(&mut self, to: Format, profile: &Profile, is_request: bool) -> Result<(), Refusal> {
        let check = msg_chainast::CheckOptions { request: is_request, ..Default::default() };
        let chain = msg_chainast::RepairOptions::new().with_check(check).with_profile(profile);
        let read = ReadOptions::default().with_from(Some(to));
        let options = RepairOptions::default().with_read(read).with_chain(chain);
        let repaired = repair(&self.document, &options)?;
        self.document = repaired.document;
        self.edits.extend(repaired.edits);
        self.remaining = repaired.remaining;
        Ok(())
    }

    /// Reports the values of the source, a document of `from`, that are not in the document of `to` and that nothing
    /// else accounts for. Nothing for the same format, whose document is written around its messages. Linear.
    pub fn account(&mut self, source: &[u8], from: Format, to: Format, options: &ConvertOptions) {
        if to != from && options.write.preview.is_none() {
            self.account_values(source, from, to, options);
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
        let read = options.read.clone().with_from(Some(from));
        let source = json_of(source, from, &read, &options.lower);
        let written = json_of(
            &self.document,
            to,
            &ReadOptions::default().with_from(Some(to)),
            &options.lower,
        );
        let Some((source, written)) = source.zip(written) else { return };
        let mut behind = self.left_behind.clone();
        match options.carry {
            Carry::Request { model: Some(_) } => behind.push("model".to_owned()),
            // A response says them in words of its own.
            Carry::Response => behind.extend(ANSWERED.map(str::to_owned)),
            _ => {}
        }
        let told = Told {
            report: &self.edits,
            behind: &behind,
            from: from.name(),
            keeps_format: false,
            has_records: from.is_session() || from.name() == "otel",
            is_one: is_one(from, &source),
            lacks_ids: lacks_ids(to, options),
            messages: &|| match from.is_json() {
                true => native(source.as_bytes(), &read, &options.lower),
                false => Some(source.to_string()),
            },
        };
        let Account { lost, behind } = account(&source, &written, &told);
        self.edits.extend(lost);
        self.left_behind.extend(behind);
    }

    /// The report line: `{"edits":[…]}`, and `remaining` where errors stay, without its end.
    pub fn report_json(&self) -> Vec<u8> {
        repair_json(&self.edits, &self.remaining)
    }
}
