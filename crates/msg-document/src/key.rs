//! The key of a conversation, a hash of its contents, for engines that look for duplicates (SC-24), and the
//! keys of its beginnings, for engines that keep the longest of several (SC-25).
//!
//! Does not compare or store documents.
//!
//! ```text
//! role, parts: each kind a byte, each text with its length; ids by the order of their first occurrence
//! does not count: extra members, names of messages, who made them, layouts, blanks in arguments
//! ```

use std::collections::HashMap;
use std::fmt;

use msg_core::{Message, Part, Role, ToolCall, ToolResult};
use msg_formats::{CallForms, Format, ReadOptions, Refusal};
use msg_json::{TextState, write_compact};
use serde::{Deserialize, Serialize, Serializer};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use crate::document::Document;
use crate::options::{self};

/// A 128-bit key. Documents with equal keys are equal conversations, except for collisions; the hash does not
/// resist forgery.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key([u8; 16]);

impl Key {
    /// Its bytes, most significant first.
    pub fn bytes(self) -> [u8; 16] {
        self.0
    }

    fn new(hash: u128) -> Self {
        Key(hash.to_be_bytes())
    }
}

/// 32 hexadecimal digits.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.0))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({self})")
    }
}

impl Serialize for Key {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Options of keys.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(try_from = "KeyMembers")]
pub struct KeyOptions {
    /// How the document is read.
    pub read: ReadOptions,
    /// Hash the bytes, which need not be a document. Otherwise the contents are hashed, so equal conversations
    /// have the same key in every format.
    pub exact: bool,
}

impl KeyOptions {
    msg_core::setters! {
        new;
        /// Sets how the document is read.
        with_read(read: ReadOptions);
        /// Hashes the bytes instead of the contents.
        with_exact() exact = true;
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct KeyMembers {
    from: Option<Format>,
    calls: Option<CallForms>,
    max_bytes: Option<u64>,
    /// Hash the bytes, which need not be a document, instead of what is said.
    exact: bool,
}

impl From<KeyMembers> for KeyOptions {
    fn from(it: KeyMembers) -> Self {
        KeyOptions { read: options::read(it.from, it.calls, it.max_bytes), exact: it.exact }
    }
}

/// The key of a document (SC-24).
///
/// Fails if it cannot be read. Linear in the document.
///
/// ```
/// use msg_document::{KeyOptions, key};
///
/// let options = KeyOptions::default();
/// let openai = key(br#"[{"role":"user","content":"hi","name":"ann"}]"#, &options)?;
/// let gemini = key(br#"{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}"#, &options)?;
/// assert_eq!(openai, gemini);
/// # Ok::<(), msg_document::Refusal>(())
/// ```
pub fn key(json: &[u8], options: &KeyOptions) -> Result<Key, Refusal> {
    options.read.expect_size(json)?;
    if options.exact {
        return Ok(Key::new(xxh3_128(json)));
    }
    let messages = Document::read(json, &options.read)?.into_messages();
    let mut hash = Hash::default();
    messages.iter().for_each(|it| hash.message(it));
    Ok(hash.key())
}

/// The keys of all shorter beginnings of a document that end with an assistant message: the [`key`]s of documents
/// that contain only these messages (SC-25). Its own key is not among them, so a document is not a beginning of
/// itself.
///
/// Fails if it cannot be read. Linear in the document.
///
/// ```
/// use msg_document::{KeyOptions, ReadOptions, key, prefix_keys};
///
/// let short = r#"{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}"#;
/// let long = format!(r#"[{short},{{"role":"user","content":"bye"}}]"#);
/// let keys = prefix_keys(long.as_bytes(), &ReadOptions::default())?;
/// assert_eq!(keys, [key(format!("[{short}]").as_bytes(), &KeyOptions::default())?]);
/// # Ok::<(), msg_document::Refusal>(())
/// ```
pub fn prefix_keys(json: &[u8], read: &ReadOptions) -> Result<Vec<Key>, Refusal> {
    let messages = Document::read(json, read)?.into_messages();
    let mut hash = Hash::default();
    let mut res = Vec::new();
    for (number, it) in messages.iter().enumerate() {
        hash.message(it);
        if it.role == Role::Assistant && number + 1 < messages.len() {
            res.push(hash.key());
        }
    }
    Ok(res)
}

/// The hash of the content so far.
#[derive(Default)]
struct Hash<'a> {
    state: Xxh3,
    /// The numbers of the ids, in the order in which they were first seen.
    ids: HashMap<&'a str, u64>,
    compact: Vec<u8>,
}

impl<'a> Hash<'a> {
    fn key(&self) -> Key {
        Key::new(self.state.digest128())
    }

    fn message(&mut self, it: &'a Message) {
        self.mark(b'm');
        self.text(it.role.as_str());
        it.parts.iter().for_each(|it| self.part(it));
    }

    fn part(&mut self, it: &'a Part) {
        match it {
            // An empty text equals a missing one.
            Part::Text(it) if it.text.is_empty() => {}
            Part::Text(it) => self.fields(b't', &[Some(&it.text)]),
            Part::Refusal(it) => self.fields(b'f', &[Some(&it.text)]),
            Part::Reasoning(it) => {
                let sealed = [&it.signature, &it.redacted, &it.encrypted].map(Option::as_deref);
                self.fields(b'r', &[Some(&it.display_text())]);
                self.fields(b's', &sealed);
            }
            Part::Image(it) => {
                let fields = [&it.url, &it.file_id, &it.media_type, &it.detail];
                self.fields(b'i', &fields.map(Option::as_deref));
            }
            Part::Audio(it) => {
                let fields = [&it.id, &it.data, &it.format, &it.transcript];
                self.fields(b'a', &fields.map(Option::as_deref));
            }
            Part::File(it) => {
                let fields = [&it.file_id, &it.url, &it.data, &it.media_type];
                self.fields(b'd', &fields.map(Option::as_deref));
            }
            Part::ToolCall(it) => self.call(it),
            Part::ToolResult(it) => self.result(it),
            Part::Other(it) => {
                self.mark(b'o');
                self.json(it.value.text());
            }
            // For kinds that a later version adds.
            other => self.fields(b'?', &[Some(other.kind())]),
        }
    }

    fn call(&mut self, it: &'a ToolCall) {
        self.mark(b'c');
        self.id(&it.id);
        self.text(&it.name);
        match it.arguments.state() {
            TextState::Object | TextState::Value => self.json(it.arguments.text()),
            _ => self.text(it.arguments.text()),
        }
    }

    fn result(&mut self, it: &'a ToolResult) {
        self.mark(if it.is_error { b'E' } else { b'R' });
        self.id(&it.call_id);
        it.content.parts().iter().for_each(|it| self.part(it));
        self.mark(b'.');
    }

    fn id(&mut self, id: &'a str) {
        let next = self.ids.len() as u64;
        let number = *self.ids.entry(id).or_insert(next);
        self.state.update(&number.to_le_bytes());
    }

    fn fields(&mut self, kind: u8, fields: &[Option<&str>]) {
        self.mark(kind);
        for it in fields {
            self.mark(u8::from(it.is_some()));
            self.text(it.unwrap_or_default());
        }
    }

    /// Hashes JSON without the white space between tokens.
    fn json(&mut self, json: &str) {
        let mut compact = std::mem::take(&mut self.compact);
        compact.clear();
        write_compact(&mut compact, json);
        self.bytes(&compact);
        self.compact = compact;
    }

    fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    /// Hashes the length first, so different lists of texts never give the same bytes.
    fn bytes(&mut self, bytes: &[u8]) {
        self.state.update(&(bytes.len() as u64).to_le_bytes());
        self.state.update(bytes);
    }

    fn mark(&mut self, kind: u8) {
        self.state.update(&[kind]);
    }
}
