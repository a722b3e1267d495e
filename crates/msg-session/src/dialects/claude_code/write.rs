//! A session of Claude Code (SE-82): one record a block, chained.

use msg_core::{Message, Part, Report, Role};
use msg_json::{Writer, to_text};

use crate::write::WriteOptions;
use crate::write::blocks::{NEW_ID, record_id, write_block};

pub(super) fn write(messages: &[Message], options: &WriteOptions, _: &mut Report) -> Vec<u8> {
    Records::new(options).write(messages)
}

/// Records as they come, each the child of the one before.
pub(crate) struct Records<'o> {
    options: &'o WriteOptions,
    out: Vec<u8>,
    parent: Option<String>,
    count: u64,
    answers: u64,
    prefix: &'static str,
    is_summary: bool,
}

impl<'o> Records<'o> {
    pub(crate) fn new(options: &'o WriteOptions) -> Self {
        Self {
            options,
            out: Vec::new(),
            parent: None,
            count: 0,
            answers: 0,
            prefix: "",
            is_summary: false,
        }
    }

    /// Records whose numbers begin after this one.
    pub(crate) fn after(options: &'o WriteOptions, count: u64) -> Self {
        let mut res = Self::new(options);
        (res.count, res.answers, res.prefix) = (count, count, NEW_ID);
        res
    }

    /// The mark that what is before is not sent (SE-97).
    pub(crate) fn boundary(&mut self, leaf: Option<&str>, tokens: u64) {
        self.count += 1;
        let uuid = self.uuid();
        let line = to_text(|it| {
            it.object(|it| {
                it.key("parentUuid").null();
                it.key("logicalParentUuid").opt_str(leaf);
                it.key("isSidechain").bool(false);
                it.key("userType").str("external");
                it.key("cwd").str(&self.options.cwd);
                it.key("sessionId").str(&self.options.session_id);
                it.key("version").str(&self.options.version);
                it.key("type").str("system");
                it.key("subtype").str("compact_boundary");
                it.key("content").str("Conversation compacted");
                it.key("compactMetadata").object(|it| {
                    it.key("trigger").str("manual");
                    it.key("preTokens").u64(tokens);
                });
                it.key("uuid").str(&uuid);
                it.key("timestamp").str(&self.options.now);
            });
        });
        self.end(&line, uuid);
    }

    /// A message of a compacted session; a summary is marked as one.
    pub(crate) fn compacted(&mut self, message: &Message, is_summary: bool) {
        self.is_summary = is_summary && message.role == Role::User;
        self.message(message);
        self.is_summary = false;
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.out
    }

    pub(crate) fn write(mut self, messages: &[Message]) -> Vec<u8> {
        messages.iter().for_each(|it| self.message(it));
        self.out
    }

    fn message(&mut self, message: &Message) {
        if message.role == Role::Assistant {
            self.answers += 1;
            let id = format!("msg_{:024}", self.answers);
            message.parts.iter().for_each(|it| self.answer(&id, it));
        } else if message.role == Role::Tool {
            message.parts.iter().for_each(|it| self.user(std::slice::from_ref(it)));
        } else {
            self.user(&message.parts);
        }
    }

    fn answer(&mut self, id: &str, part: &Part) {
        self.record("assistant", |it| {
            it.key("id").str(id);
            it.key("type").str("message");
            it.key("role").str("assistant");
            it.key("model").str("<synthetic>");
            it.key("content").array([part], write_block);
            it.key("stop_reason").null();
        });
    }

    fn user(&mut self, parts: &[Part]) {
        self.record("user", |it| {
            it.key("role").str("user");
            match parts {
                [Part::Text(text)] => it.key("content").str(&text.text),
                parts => it.key("content").array(parts, write_block),
            }
        });
    }

    fn record(&mut self, kind: &str, message: impl FnOnce(&mut Writer<'_>)) {
        self.count += 1;
        let uuid = self.uuid();
        let line = to_text(|it| {
            it.object(|it| {
                it.key("parentUuid").opt_str(self.parent.as_deref());
                it.key("isSidechain").bool(false);
                it.key("userType").str("external");
                it.key("cwd").str(&self.options.cwd);
                it.key("sessionId").str(&self.options.session_id);
                it.key("version").str(&self.options.version);
                it.key("type").str(kind);
                it.key("message").object(message);
                if self.is_summary {
                    it.key("isCompactSummary").bool(true);
                }
                it.key("uuid").str(&uuid);
                it.key("timestamp").str(&self.options.now);
            });
        });
        self.end(&line, uuid);
    }

    fn end(&mut self, line: &str, uuid: String) {
        self.out.extend_from_slice(line.as_bytes());
        self.out.push(b'\n');
        self.parent = Some(uuid);
    }

    /// The id of a record.
    fn uuid(&self) -> String {
        let session = if self.prefix.is_empty() { &*self.options.session_id } else { "" };
        record_id(session, self.count)
    }
}
