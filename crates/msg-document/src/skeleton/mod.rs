//! Plain chat messages without their long texts: what a check and a repair judge, read in one pass.
//!
//! ```text
//! {"messages":[{"role":"user","content":"Please read the … and tell me"},{"role":"assistant","content":"Yes"}]}
//!   ─▶  user "␟0"   assistant "Yes"
//! ```
//!
//! Most documents are chat messages of OpenAI with a handful of members, and most of them are sound. Of a text it
//! matters then whether it is blank and how it ends, so that nothing has to be decoded or copied. Members that no rule
//! looks at are stepped over; if they are unusual, recognition says by their names whether this is another format.
//! It knows this form alone: for any other type or spelling, for what is no JSON, and wherever an answer would quote a
//! long text or name a byte, it gives nothing, and the document is read whole. No answer differs by it.

mod mended;
mod message;
mod shape;
mod source;
mod text;

use msg_core::{Diagnostic, Message, Report};

pub use self::mended::MendedMessage;
pub use self::source::Source;
use self::text::JsonText;
use crate::check::{CheckOptions, Checked};
use crate::codec::{Around, Content, WriteOptions};
use crate::document::Document;
use crate::format::Format;
use crate::read_options::ReadOptions;
use crate::repair::RepairOptions;
use crate::text_calls::Calls;

/// Stands before the number of a long text. That a document has it itself does no harm: what quotes it is read whole.
const MARK: char = '\u{e000}';

/// Plain chat messages without their long texts.
///
/// ```
/// use msg_document::{CheckOptions, ReadOptions, Skeleton};
///
/// let json = br#"[{"role":"assistant","content":"hello"}]"#;
/// let skeleton = Skeleton::of_json(json, &ReadOptions::default()).ok_or("not plain")?;
/// let checked = skeleton.check(&CheckOptions::default()).ok_or("needs the texts")?;
/// assert_eq!(checked.diagnostics[0].code.as_str(), "chain::unexpected-first-role");
///
/// let other = br#"[{"role":"assistant","parts":[{"text":"hello"}]}]"#;
/// assert!(Skeleton::of_json(other, &ReadOptions::default()).is_none());
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug)]
pub struct Skeleton {
    document: Document,
    /// Messages had members that no rule of the chain looks at, and some provider's may.
    has_more_members: bool,
}

impl Skeleton {
    /// The skeleton of JSON text; nothing where the document has to be read whole. Linear, and at most one pass.
    pub fn of_json(json: &[u8], options: &ReadOptions) -> Option<Self> {
        let fits = json.len() as u64 <= options.max_bytes;
        let mut source = JsonText::new(json).filter(|_| fits)?;
        let skeleton = Skeleton::read(&mut source, options)?;
        source.has_ended().then_some(skeleton)
    }

    /// The skeleton of whatever a source has; nothing where the document has to be read whole. That it is not too
    /// large is for the caller to say.
    pub fn read(source: &mut impl Source, options: &ReadOptions) -> Option<Self> {
        if !is_plain(options) {
            return None;
        }
        let found = message::conversation(source).filter(|it| !it.messages.is_empty())?;
        let content = Content::new(found.messages, Nothing, Report::default());
        let document = Document::of_content(Format::default(), content, options);
        Some(Skeleton { document, has_more_members: found.has_more_members })
    }

    /// What a check of the document finds; nothing where only the whole document tells.
    pub fn check(&self, options: &CheckOptions) -> Option<Checked> {
        let is_judged = options.profile.is_none() || self.is_judged_by_providers(options.chain);
        if !is_judged || options.messages.is_some() {
            return None;
        }
        Some(self.document.check(options)).filter(|it| !needs_texts(&it.diagnostics))
    }

    /// Whether a repair of the document changes anything; nothing where only the whole document tells.
    pub fn needs_repair(mut self, options: &RepairOptions) -> Option<bool> {
        let changes = self.can_mend(options).then(|| !self.document.repair(options).is_empty());
        changes.filter(|_| !self.document.may_have_errors)
    }

    /// The mended messages, and what was changed: no messages where that is nothing. None where only the whole document
    /// tells. `whole` gives the JSON array of those messages of the document that an edit makes say something else.
    pub fn repair(
        mut self,
        options: &RepairOptions,
        whole: impl FnOnce(&[usize]) -> Option<Vec<u8>>,
    ) -> Option<(Vec<MendedMessage>, Vec<Diagnostic>)> {
        self.can_mend(options).then(|| mended::repair(&mut self.document, options, whole))?
    }

    /// Whether no rule looks at more than there is: a placeholder is compared with texts.
    fn can_mend(&self, options: &RepairOptions) -> bool {
        let is_short = options.chain.placeholder.text().len() < source::LONG;
        let is_judged = || self.is_judged_by_providers(options.chain.check);
        is_short && (options.chain.profile.is_none() || is_judged())
    }

    /// What a provider takes may depend on any member, and on the model that a request names.
    fn is_judged_by_providers(&self, rules: msg_chainast::CheckOptions) -> bool {
        !self.has_more_members && !rules.request
    }

    /// How many messages there are.
    pub fn n_messages(&self) -> usize {
        self.document.messages().len()
    }
}

/// Whether plain chat messages are read as such with these options. A file's name may say something else, and a
/// maker is said of messages that are read whole.
fn is_plain(options: &ReadOptions) -> bool {
    options.from.is_none_or(|it| it == Format::default())
        && options.name.is_empty()
        && options.calls != Calls::Xml
        && options.made_by.is_none()
}

/// Whether findings quote a long text, or name a byte of one.
fn needs_texts(found: &[Diagnostic]) -> bool {
    let quotes = |text: &str| text.contains(MARK);
    found.iter().any(|it| {
        it.at.start.is_some() || quotes(&it.message()) || it.fix.as_deref().is_some_and(quotes)
    })
}

/// Nothing stands around the messages of a skeleton: it is never written.
struct Nothing;

impl Around for Nothing {
    fn write(&mut self, _: &mut Vec<Message>, _: &WriteOptions, _: &mut Vec<u8>) -> Report {
        Report::default()
    }
}
