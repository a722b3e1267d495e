//! The document as a whole: members of MF-58, agents, diagnostics.

use super::cell::cell;
use super::{number, optional, span};
use crate::document::{Document, Mode};
use crate::model::agents::AgentConfig;
use crate::syntax::line::Eol;
use msg_json::{Writer, to_text};
use std::io;

impl Document {
    /// The JSON form (MF-58). `name` is the file's name.
    ///
    /// ```
    /// use msg_file::{Document, Mode};
    /// let doc = Document::parse(&b"# %%\nhi\n"[..], Mode::MessageFile)?;
    /// let json = doc.to_json("x.msg.md");
    /// assert!(json.starts_with(r#"{"name":"x.msg.md","mode":"msg","active":true"#));
    /// # Ok::<(), msg_file::Error>(())
    /// ```
    #[must_use]
    pub fn to_json(&self, name: &str) -> String {
        let mut text = Vec::new();
        self.write_json(name, &mut text).expect("because a Vec takes everything");
        String::from_utf8(text).expect("because only strings are written")
    }

    /// Writes the JSON form piece by piece, in whole characters: it is not in memory as a whole.
    ///
    /// # Errors
    /// What the writer gives.
    ///
    /// ```
    /// use msg_file::{Document, Mode};
    /// let doc = Document::parse(&b"# %%\nhi\n"[..], Mode::MessageFile)?;
    /// let mut out = Vec::new();
    /// doc.write_json("x.msg.md", &mut out).expect("a Vec takes everything");
    /// assert_eq!(out, doc.to_json("x.msg.md").as_bytes());
    /// # Ok::<(), msg_file::Error>(())
    /// ```
    pub fn write_json(&self, name: &str, out: &mut impl io::Write) -> io::Result<()> {
        let (mut text, mut written) = (Vec::new(), Ok(()));
        let hand_on = |text: &mut Vec<u8>| {
            // Nothing is written behind an error.
            if written.is_ok() {
                written = out.write_all(text);
            }
            text.clear();
        };
        Writer::new(&mut text).object(|out| members(self, name, out, hand_on));
        written.and_then(|()| out.write_all(&text))
    }

    /// `{"default","agents"}`: who takes part (MF-54).
    #[must_use]
    pub fn agents_json(&self) -> String {
        let default = self.default_agent_at(usize::MAX);
        to_text(|out| {
            out.object(|out| {
                out.key("default").opt_str(default);
                agents(self, out, Some(default));
            });
        })
    }
}

/// How much is handed on at once.
const PIECE: usize = 1 << 16;

/// The members of a document; `hand_on` takes what is done, since the JSON of the shortest cell is many times
/// longer than the cell.
fn members(
    doc: &Document,
    name: &str,
    out: &mut Writer<'_>,
    mut hand_on: impl FnMut(&mut Vec<u8>),
) {
    out.key("name").str(name);
    out.key("mode").str(match doc.mode() {
        Mode::MessageFile => "msg",
        Mode::Markdown => "md",
    });
    out.key("active").bool(doc.is_active());
    out.key("bom").bool(crate::syntax::scan::bom_len(doc.bytes()) > 0);
    out.key("eol").str(match doc.eol() {
        Eol::Lf => "lf",
        Eol::CrLf => "crlf",
    });
    out.key("final_newline").bool(doc.bytes().ends_with(b"\n"));
    optional(out.key("frontmatter"), doc.frontmatter(), |out, front| {
        out.object(|out| {
            span(out.key("bytes"), front.span);
            out.key("message_section").opt_str(front.message_section.as_deref());
            out.key("default_agent").opt_str(front.default_agent.as_deref());
            optional(out.key("message_format"), front.message_format, |out, n| out.u64(n));
        });
    });
    optional(out.key("document"), doc.document(), span);
    optional(out.key("section"), doc.section(), |out, section| {
        out.object(|out| {
            out.key("title").str(&section.title);
            out.key("level").u64(section.level.into());
            number(out.key("line"), section.line);
        });
    });
    out.key("preamble").object(|out| {
        span(out.key("bytes"), doc.preamble());
        out.key("text").str(&doc.preamble_text());
    });
    agents(doc, out, None);
    out.key("default_agent").opt_str(doc.default_agent_at(usize::MAX));
    out.key("cells").array(doc.cells(), |out, it| {
        out.value(|text| {
            if text.len() >= PIECE {
                hand_on(text);
            }
            Writer::new(text).object(|out| cell(doc, it, out));
        });
    });
    out.key("diagnostics").array(doc.diagnostics(), |out, it| {
        out.raw(
            &serde_json::to_string(it).expect("because a diagnostic holds only text and numbers"),
        );
    });
}

fn agents(doc: &Document, out: &mut Writer<'_>, default: Option<Option<&str>>) {
    out.key("agents").array(doc.agents(), |out, agent| {
        out.object(|out| {
            out.key("name").str(&agent.name);
            out.key("kind").str(agent.kind.as_str());
            out.key("config").object(|out| config(&agent.config, out));
            optional(out.key("cell"), agent.cell, number);
            if let Some(default) = default {
                out.key("is_default").bool(default == Some(&*agent.name));
            }
        });
    });
}

/// The attributes that are there (MF-16).
pub(super) fn config(config: &AgentConfig, out: &mut Writer<'_>) {
    if let Some(models) = &config.models {
        out.key("models").array(models, |out, m| out.str(m));
    }
    for (key, value) in
        [("context_window", config.context_window), ("max_output_tokens", config.max_output_tokens)]
    {
        if let Some(n) = value {
            out.key(key).u64(n);
        }
    }
    for (key, value) in
        [("reasoning", config.reasoning), ("use_temperature", config.use_temperature)]
    {
        if let Some(it) = value {
            out.key(key).bool(it);
        }
    }
    if let Some(t) = config.temperature {
        out.key("temperature").raw(&t.to_string());
    }
    if let Some(text) = &config.system_prompt {
        out.key("system_prompt").str(text);
    }
}
