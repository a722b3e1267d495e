//! A document in another format, and what was lost or changed on the way.
//!
//! What a format cannot hold is reported by the library that writes it.

mod options;

use msg_core::Diagnostic;

pub use self::options::ConvertOptions;
use crate::document::Document;
use crate::format::Format;
use crate::json::edits_json;
use crate::refusal::Refusal;

/// A converted document.
#[derive(Debug, Clone)]
pub struct Converted {
    /// The document in the target format.
    pub document: Vec<u8>,
    /// What was lost or changed, the reader's notes first.
    pub edits: Vec<Diagnostic>,
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
    let mut text = Vec::with_capacity(json.len());
    let edits = document.convert(to, options, &mut text)?;
    Ok(Converted { document: text, edits })
}

impl Document {
    /// Writes the document in `to` and returns what was lost or changed, the reader's notes first.
    ///
    /// Fails only for the options of a document of turns.
    pub fn convert(
        &mut self,
        to: Format,
        options: &ConvertOptions,
        out: &mut Vec<u8>,
    ) -> Result<Vec<Diagnostic>, Refusal> {
        let own = self.own_options().map(|it| options.clone().with(it.text().as_bytes()));
        let own = own.transpose()?;
        let options = own.as_ref().unwrap_or(options);
        let mut edits = self.take_notes();
        if to != self.format() {
            edits.extend(self.lower(&options.lower));
        }
        edits.extend(self.write_as(to, &options.write, out).into_vec());
        Ok(edits)
    }
}

impl Converted {
    /// The report line: `{"edits":[…]}`, without its end.
    pub fn report_json(&self) -> Vec<u8> {
        edits_json(&self.edits)
    }
}
