//! The mended document, in the format in which it came, and what was changed.
//!
//! What is mended, and how, is `msg-chainast`'s business; nothing here decides anything.

use msg_core::Diagnostic;

use crate::codec::WriteOptions;
use crate::document::{Document, ReadOptions};
use crate::json::edits_json;
use crate::refusal::Refusal;
use crate::seed;

/// How to mend.
#[derive(Debug, Clone, Default)]
pub struct RepairOptions {
    /// How the document is read.
    pub read: ReadOptions,
    /// What is mended, and how.
    pub chain: msg_chainast::RepairOptions,
}

/// A mended document.
#[derive(Debug, Clone)]
pub struct Repaired {
    /// The document in the format in which it came.
    pub document: Vec<u8>,
    /// Whether anything was mended.
    pub changed: bool,
    /// What was changed, in the order of the input.
    pub edits: Vec<Diagnostic>,
}

/// Mends a document with the smallest edits; what is sound stays as it is.
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
    let mut document = Document::read(json, &options.read)?;
    let edits = document.repair(options);
    let mut text = Vec::with_capacity(json.len());
    document.write(&WriteOptions::default(), &mut text);
    Ok(Repaired { document: text, changed: !edits.is_empty(), edits })
}

impl Document {
    /// Mends the messages in place and returns what was changed.
    pub fn repair(&mut self, options: &RepairOptions) -> Vec<Diagnostic> {
        let messages = self.take_messages();
        let (mended, mut found) = msg_chainast::repair(messages, &options.chain, &mut seed::ids());
        found.retain(|it| it.fix.is_some());
        if found.is_empty() {
            self.put_messages(mended);
        } else {
            self.put_edited(mended);
        }
        found
    }
}

impl Repaired {
    /// The report line: `{"edits":[…]}`, without its end.
    pub fn report_json(&self) -> Vec<u8> {
        edits_json(&self.edits)
    }
}
