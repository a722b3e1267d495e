//! What a document with members beside those of plain chat is recognised by: their names and the kinds of their
//! values. Whether it is of another format is for `recognise` to say.
//!
//! ```text
//! {"role":"assistant","agent":"main","usage":{"total":9},"content":"…"}
//!   ─▶  {"agent":"","usage":{},"role":"assistant","content":""}
//! ```

use msg_json::{Kind, write_str};

use crate::format::Format;
use crate::outline::{is_telling, is_watched, is_wrapping};
use crate::skeleton::Cursor;

/// More members, or more objects that differ, are read whole.
const MAX: usize = 40;

/// An object, or the beginning of one, without what recognition does not look at.
#[derive(Default)]
pub(super) struct Shape {
    json: Vec<u8>,
    members: usize,
}

impl Shape {
    /// Whether it has no members.
    pub(super) fn is_empty(&self) -> bool {
        self.json.is_empty()
    }

    /// A member that is short, or of which the kind alone counts.
    pub(super) fn known(&mut self, name: &str, kind: Kind) {
        self.begin(name);
        let value: &[u8] = match kind {
            Kind::Object => b"{}",
            Kind::Array => b"[]",
            Kind::String => b"\"\"",
            Kind::Number | Kind::Bool => b"0",
            Kind::Null => b"null",
        };
        self.json.extend_from_slice(value);
    }

    /// A member with its text.
    pub(super) fn text(&mut self, name: &str, text: &str) {
        self.begin(name);
        write_str(&mut self.json, text);
    }

    /// Whether it may have a member already. Linear in its size, which is bounded.
    fn has(&self, name: &str) -> bool {
        let mut key = Vec::with_capacity(name.len() + 3);
        write_str(&mut key, name);
        key.push(b':');
        memchr::memmem::find(&self.json, &key).is_some()
    }

    fn begin(&mut self, name: &str) {
        self.json.push(if self.members == 0 { b'{' } else { b',' });
        self.members += 1;
        write_str(&mut self.json, name);
        self.json.push(b':');
    }

    /// Steps over a member of a message. Nothing for one of which more counts.
    pub(super) fn of_message(&mut self, source: &mut impl Cursor, name: &str) -> Option<()> {
        match (name, source.kind().filter(|_| self.members < MAX)?) {
            ("content" | "parts" | "thinking_blocks", _) => None,
            // Of one that comes twice the reader of documents knows what is lost.
            _ if self.has(name) => None,
            (_, Kind::Object | Kind::Array) if is_watched(name) => None,
            // Of this list it counts whether it is empty.
            ("images", Kind::Array) => None,
            (_, Kind::String)
                if is_telling(name) || name == "text" || name == "prompt" || name == "input" =>
            {
                self.text(name, &source.text()?);
                Some(())
            }
            (_, kind) => {
                self.known(name, kind);
                source.skip()
            }
        }
    }

    /// Steps over a member of a request. Nothing for one of which more counts.
    pub(super) fn of_request(&mut self, source: &mut impl Cursor, name: &str) -> Option<()> {
        match (name, source.kind().filter(|_| self.members < MAX)?) {
            (_, Kind::Array) => None,
            // It may be a message, which is said not to be read (RG-8).
            (_, Kind::Object) if is_wrapping(name) || !is_setting(name) => None,
            ("system" | "system_prompt" | "instructions", Kind::String) => None,
            (_, Kind::String) => {
                self.text(name, &source.text()?);
                Some(())
            }
            (_, kind) => {
                self.known(name, kind);
                source.skip()
            }
        }
    }
}

/// Members of a request whose objects are settings.
fn is_setting(name: &str) -> bool {
    const SETTINGS: [&str; 14] = [
        "audio",
        "extra_body",
        "logit_bias",
        "metadata",
        "options",
        "prediction",
        "provider",
        "reasoning",
        "response_format",
        "stream_options",
        "tool_choice",
        "usage",
        "user",
        "web_search_options",
    ];
    SETTINGS.contains(&name)
}

/// The shapes of a document.
#[derive(Default)]
pub(super) struct Shapes {
    /// Its members, if it is a request with unusual ones.
    pub(super) request: Shape,
    /// Those of its messages that have unusual ones, each once.
    messages: Vec<Shape>,
}

impl Shapes {
    /// Adds the shape of a message. Nothing where there are too many.
    pub(super) fn push(&mut self, message: Shape) -> Option<()> {
        if self.messages.iter().any(|it| it.json == message.json) {
            return Some(());
        }
        self.messages.push(message);
        (self.messages.len() <= MAX).then_some(())
    }

    /// Whether a document with these, and with plain messages, is one of chat messages.
    pub(super) fn are_of_chat(mut self, is_list: bool) -> bool {
        if self.request.is_empty() && self.messages.is_empty() {
            return true;
        }
        let mut list = b"[".to_vec();
        for (at, message) in self.messages.iter().enumerate() {
            list.extend_from_slice(if at > 0 { b"," } else { b"" });
            list.extend_from_slice(&message.json);
            list.push(b'}');
        }
        list.push(b']');
        if !is_list {
            self.request.begin("messages");
            self.request.json.extend_from_slice(&list);
            self.request.json.push(b'}');
            list = self.request.json;
        }
        Format::recognise(&list, "").is_ok_and(|it| it == Format::default())
    }
}
