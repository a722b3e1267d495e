//! JSON of reports: values, and objects made of members that are already JSON. Also base64 in lines of `--jsonl` that
//! are not documents.
//!
//! The crates of the formats write conversations byte for byte; a `Value` would cost a copy and the
//! spelling of numbers.

use std::sync::LazyLock;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use memchr::memmem::{self, Finder};
use msg_cache::Rewrite;
use msg_core::{Code, Diagnostic};
use msg_formats::Refusal;
use msg_json::write_str;
use serde::Serialize;

/// The compact JSON of a value.
///
/// # Panics
///
/// If the value has keys that are not texts. The types of this workspace have none.
pub fn to_json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("because the forms of this workspace have text keys only")
}

/// The line of a report: edits, members that were left out, remaining errors if there are any, and what a prompt cache
/// must write again.
pub fn repair_json(
    edits: &[Diagnostic],
    left_behind: &[String],
    remaining: &[Diagnostic],
    rewrite: Option<&Rewrite>,
) -> Vec<u8> {
    let mut line = ObjectWriter::new().with("edits", &edits);
    if !left_behind.is_empty() {
        line = line.with("left_behind", &left_behind);
    }
    if !remaining.is_empty() {
        line = line.with("remaining", &remaining);
    }
    if let Some(rewrite) = rewrite {
        line = line.with("cache", rewrite);
    }
    line.finish()
}

/// Whether a JSON text may have a member of this name, given with its quotes; false is certain. For names of
/// lower-case letters that few documents have: one scan, where reading the members would cost as much as
/// reading the document.
pub(crate) fn may_have_member(json: &[u8], quoted: &str) -> bool {
    static ESCAPE: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("\\u00"));
    // If the name is written with escapes, at least one letter is `\u006.` or `\u007.`.
    let is_letter = |at: usize| matches!(json.get(at + 4), Some(b'6' | b'7'));
    memmem::find(json, quoted.as_bytes()).is_some() || ESCAPE.find_iter(json).any(is_letter)
}

/// Writes a JSON object; members keep the order in which they are added.
#[derive(Debug, Default)]
pub struct ObjectWriter(Vec<u8>);

impl ObjectWriter {
    /// An object without members.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a member.
    #[must_use]
    pub fn with(self, name: &str, value: &impl Serialize) -> Self {
        self.raw(name, &to_json(value))
    }

    /// Adds a member whose value is already JSON.
    #[must_use]
    pub fn raw(self, name: &str, json: &[u8]) -> Self {
        self.written(name, |out| out.extend_from_slice(json))
    }

    /// Adds a member whose value `write` writes directly, without a copy in memory.
    #[must_use]
    pub fn written(mut self, name: &str, write: impl FnOnce(&mut Vec<u8>)) -> Self {
        self.next();
        write_str(&mut self.0, name);
        self.0.push(b':');
        write(&mut self.0);
        self
    }

    /// Adds all members of a JSON object.
    #[must_use]
    pub fn all_of(mut self, object: &[u8]) -> Self {
        let inner = object.strip_prefix(b"{").and_then(|it| it.strip_suffix(b"}"));
        if let Some(inner) = inner.filter(|it| !it.is_empty()) {
            self.next();
            self.0.extend_from_slice(inner);
        }
        self
    }

    /// The JSON of the object.
    pub fn finish(mut self) -> Vec<u8> {
        if self.0.is_empty() {
            return b"{}".to_vec();
        }
        self.0.push(b'}');
        self.0
    }

    fn next(&mut self) {
        self.0.push(if self.0.is_empty() { b'{' } else { b',' });
    }
}

/// How many characters begin in these bytes of a text.
pub(crate) fn chars(bytes: &[u8]) -> usize {
    // Chunks so short that a `u8` can count them, so the compiler can vectorise the sum.
    let few = bytes.chunks(128);
    few.map(|it| usize::from(it.iter().map(|it| u8::from(it & 0xc0 != 0x80)).sum::<u8>())).sum()
}

// Lines of `--jsonl` that are not documents: base64 members, and the refusal of a bad line.

/// The refusal of a line that is not understood.
pub(crate) fn bad_line(text: impl Into<String>) -> Refusal {
    Diagnostic::error(Code::new("cli::bad-line"), text.into()).into()
}

/// The bytes of a member in base64.
pub(crate) fn decoded(member: &str, base64: &str) -> Result<Vec<u8>, Refusal> {
    let decoded = BASE64_STANDARD.decode(base64);
    decoded.map_err(|it| bad_line(format!("{member} is not base64: {it}")))
}
