//! A document in another format, and what was lost or changed on the way.
//!
//! What a format cannot hold is reported by the library that writes it.

mod options;

use msg_core::Diagnostic;
use msg_core::request::RequestHead;

pub use self::options::{Carry, ConvertOptions};
use crate::document::Document;
use crate::format::Format;
use crate::json::edits_json;
use crate::refusal::Refusal;
use crate::repair::RepairOptions;

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
    if to == document.format() && options.write.encode.keeps_layout() {
        res.document = to.laid_out(json, res.document);
    }
    Ok(res)
}

impl Document {
    /// Writes the document in `to`: into its own format all of it, into another its messages, and with
    /// [`Carry::Request`] what it asks besides them.
    ///
    /// Fails for the options of a document of turns, for a target without requests, and where a request
    /// lacks what the target demands.
    pub fn convert(&mut self, to: Format, options: &ConvertOptions) -> Result<Converted, Refusal> {
        let (from, target) = (self.format().name(), to.name());
        let _span = tracing::debug_span!("convert", from, to = target).entered();
        let own = self.own_options().map(|it| options.clone().with(it.text().as_bytes()));
        let own = own.transpose()?;
        let options = own.as_ref().unwrap_or(options);
        let (edits, document) = (self.take_notes(), self.room());
        let mut res = Converted { document, edits, left_behind: Vec::new() };
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
        if self.format().codec().lacks_ids() && !to.codec().lacks_ids() {
            res.edits.extend(self.link_ids());
        }
        if to.codec().judges_itself() {
            // An agent loads what it finds: a session is written sound (SE-80).
            let chain = msg_chainast::RepairOptions::new()
                .with_check(msg_chainast::CheckOptions::new().with_open());
            let options = RepairOptions { chain, ..RepairOptions::default() };
            res.edits.extend(self.repair(&options));
        }
        let written = match &options.carry {
            Carry::Conversation => {
                res.left_behind = self.members();
                self.write_messages(to, &options.write, &mut res.document)
            }
            Carry::Request { model } => {
                let head = self.head().unwrap_or_default();
                let (head, mut edits) = with_model(head, model.as_deref());
                res.edits.append(&mut edits);
                self.write_request(to, &head, &options.write, &mut res.document)?
            }
        };
        res.edits.extend(written.into_vec());
        tracing::debug!(edits = res.edits.len(), "converted");
        Ok(res)
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
        Diagnostic::warning("convert::lost-member".into(), text).with_fix("--model names one")
    };
    let is_lost = old.is_some() && model.is_none();
    (head, is_lost.then(lost).into_iter().collect())
}

impl Converted {
    /// The report line: `{"edits":[…]}`, without its end.
    pub fn report_json(&self) -> Vec<u8> {
        edits_json(&self.edits)
    }
}
