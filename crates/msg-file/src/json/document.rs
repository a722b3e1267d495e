//! The document as a whole: members of MF-58, agents, diagnostics.

use super::Out;
use super::cell::cell;
use crate::document::{Document, Mode};
use crate::model::agents::AgentConfig;
use crate::syntax::line::Eol;
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
        text_of(|out| out.object(|out| members(self, name, out)))
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
        let mut json = Out::to(out);
        json.object(|out| members(self, name, out));
        json.finish()
    }

    /// `{"default","agents"}`: who takes part (MF-54).
    #[must_use]
    pub fn agents_json(&self) -> String {
        let default = self.default_agent_at(usize::MAX);
        text_of(|out| {
            out.object(|out| {
                out.key("default").opt_str(default);
                agents(self, out, Some(default));
            });
        })
    }
}

fn text_of(fill: impl FnOnce(&mut Out<'_>)) -> String {
    let mut text = Vec::new();
    let mut out = Out::to(&mut text);
    fill(&mut out);
    out.finish().expect("because a Vec takes everything");
    String::from_utf8(text).expect("because only strings are written")
}

fn members(doc: &Document, name: &str, out: &mut Out<'_>) {
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
    out.key("frontmatter").opt(doc.frontmatter(), |out, front| {
        out.object(|out| {
            out.key("bytes").span(front.span);
            out.key("message_section").opt_str(front.message_section.as_deref());
            out.key("default_agent").opt_str(front.default_agent.as_deref());
            out.key("message_format").opt_number(front.message_format.map(|n| n as usize));
        });
    });
    out.key("document").opt(doc.document(), Out::span);
    out.key("section").opt(doc.section(), |out, section| {
        out.object(|out| {
            out.key("title").str(&section.title);
            out.key("level").number(section.level.into());
            out.key("line").number(section.line);
        });
    });
    out.key("preamble").object(|out| {
        out.key("bytes").span(doc.preamble());
        out.key("text").str(&doc.preamble_text());
    });
    agents(doc, out, None);
    out.key("default_agent").opt_str(doc.default_agent_at(usize::MAX));
    out.key("cells").array(doc.cells(), |out, it| out.object(|out| cell(doc, it, out)));
    out.key("diagnostics").array(doc.diagnostics(), |out, it| {
        out.raw(
            &serde_json::to_string(it).expect("because a diagnostic holds only text and numbers"),
        );
    });
}

fn agents(doc: &Document, out: &mut Out<'_>, default: Option<Option<&str>>) {
    out.key("agents").array(doc.agents(), |out, agent| {
        out.object(|out| {
            out.key("name").str(&agent.name);
            out.key("kind").str(agent.kind.as_str());
            out.key("config").object(|out| config(&agent.config, out));
            out.key("cell").opt_number(agent.cell);
            if let Some(default) = default {
                out.key("is_default").bool(default == Some(&*agent.name));
            }
        });
    });
}

/// The attributes that are there (MF-16).
pub(super) fn config(config: &AgentConfig, out: &mut Out<'_>) {
    if let Some(models) = &config.models {
        out.key("models").array(models, |out, m| out.str(m));
    }
    for (key, value) in
        [("context_window", config.context_window), ("max_output_tokens", config.max_output_tokens)]
    {
        if let Some(n) = value {
            out.key(key).raw(&n.to_string());
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
