//! The subcommands that only read: `parse`, `check`, `history`, `list agents`.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use msg_file::{Agent, HistoryOptions, MessageFile};
use msg_openai::{WriteOptions, chat};

use super::request::{Answered, FileArgs, Options, Request, failed_by, print, refused};
use crate::context::Context;
use crate::exit::{Failure, Status};
use crate::jsonl::Answer;
use crate::output::Output;
use crate::render;
use msg_document::ObjectWriter;

#[derive(Debug, clap::Args)]
pub(super) struct Parse {
    #[command(flatten)]
    file: FileArgs,
    /// Add `printed_b64`: the file as printed from its tree, which is the file.
    #[arg(long, conflicts_with = "jsonl")]
    roundtrip: bool,
}

impl Parse {
    pub(super) fn run(self, cx: &Context) -> Result<Status, Failure> {
        if self.file.lines.jsonl {
            return self.file.run_lines(cx, parse);
        }
        let request =
            self.file.request(Options { roundtrip: self.roundtrip, ..Options::default() })?;
        if self.roundtrip {
            return self.file.print_json(request, parse);
        }
        print_document(request)
    }
}

/// Prints the JSON of a document without having all of it in memory.
fn print_document(request: Request) -> Result<Status, Failure> {
    let doc = request.document().map_err(|it| failed_by(&it, &request.name))?;
    let Request { name, bytes, .. } = request;
    drop(bytes);
    let mut out = Output::stdout();
    out.stream(|mut out| doc.write_json(&name, &mut out))?;
    out.write(b"\n")?;
    out.finish()?;
    Ok(Status::Clean)
}

fn parse(request: Request) -> Answered {
    let doc = request.document()?;
    let mut members = ObjectWriter::new().all_of(doc.to_json(&request.name).as_bytes());
    if request.options.roundtrip {
        let mut printed = Vec::with_capacity(request.bytes.len());
        doc.print(&mut printed).expect("because a Vec takes everything");
        members = members.with("printed_b64", &BASE64_STANDARD.encode(printed));
    }
    Ok(Answer::new(members.finish(), Status::Clean))
}

#[derive(Debug, clap::Args)]
pub(super) struct Check {
    #[command(flatten)]
    file: FileArgs,
}

impl Check {
    pub(super) fn run(self, cx: &Context) -> Result<Status, Failure> {
        self.file.run(cx, Options::default(), check, |request| {
            let doc = request.document().map_err(|it| failed_by(&it, &request.name))?;
            if !doc.is_active() {
                say_switched_off(cx, &request.name);
                return Ok(Status::Problems);
            }
            let found = doc.check();
            cx.note(&render::in_source(&found, &request.name, doc.bytes(), cx.color_err));
            let status = Status::of(!doc.has_errors());
            cx.summary(|| format!("{}: {}", request.name, render::count(&found)), status);
            Ok(status)
        })
    }
}

/// Of a file that is not switched on nothing was looked at (MF-3).
fn say_switched_off(cx: &Context, name: &str) {
    let text =
        "is a Markdown file that is not switched on, so that nothing in it is a conversation";
    let help =
        "`message_section: true` in its frontmatter switches it on, and so does the name `.msg.md`";
    cx.note(&format!("{name}: {text}\nhelp: {help}\n"));
}

fn check(request: Request) -> Answered {
    let doc = request.document()?;
    let ok = !doc.has_errors();
    let members = ObjectWriter::new().with("ok", &ok).with("diagnostics", &doc.check());
    Ok(Answer::new(members.finish(), Status::of(ok)))
}

#[derive(Debug, clap::Args)]
pub(super) struct History {
    #[command(flatten)]
    file: FileArgs,
    /// Who shall answer; else the addressee of the last message, else the default.
    #[arg(long, value_name = "NAME", conflicts_with = "jsonl")]
    agent: Option<String>,
    /// Leave calls at the end unanswered where they have no result.
    #[arg(long, conflicts_with = "jsonl")]
    open: bool,
}

impl History {
    pub(super) fn run(self, cx: &Context) -> Result<Status, Failure> {
        let options = Options { agent: self.agent.clone(), open: self.open, ..Options::default() };
        self.file.run(cx, options, history, |it| {
            if it.document().is_ok_and(|it| !it.is_active()) {
                say_switched_off(cx, &it.name);
            }
            self.file.print_json(it, history)
        })
    }
}

/// The history alone: the document is gone where it is written.
fn history_of(request: Request) -> Result<msg_file::History, Box<msg_core::Diagnostic>> {
    let doc = request.document()?;
    let Options { agent, open, .. } = request.options;
    drop(request.bytes);
    doc.history(&HistoryOptions { agent, open }).map_err(refused)
}

fn history(request: Request) -> Answered {
    let history = history_of(request)?;
    let members = ObjectWriter::new()
        .with("agent", &history.agent)
        .written("messages", |out| drop(chat::write(&history.messages, &WriteOptions::new(), out)))
        .with("sources", &history.sources);
    Ok(Answer::new(members.finish(), Status::Clean))
}

#[derive(Debug, clap::Args)]
pub(super) struct Agents {
    #[command(flatten)]
    file: FileArgs,
}

impl Agents {
    pub(super) fn run(self, cx: &Context) -> Result<Status, Failure> {
        self.file.run(cx, Options::default(), agents, |request| {
            let doc = request.document().map_err(|it| failed_by(&it, &request.name))?;
            print(agent_lines(&doc).as_bytes())?;
            Ok(Status::Clean)
        })
    }
}

/// A line an agent, the default with a star.
fn agent_lines(doc: &MessageFile) -> String {
    let default = doc.default_agent_at(usize::MAX);
    let line = |agent: &Agent| {
        let mark = if default == Some(&*agent.name) { '*' } else { ' ' };
        let models = agent.config.models.as_deref().unwrap_or_default().join(", ");
        let line = format!("{mark} {}\t{}\t{models}", agent.name, agent.kind.as_str());
        line.trim_end().to_owned()
    };
    doc.agents().iter().map(line).collect::<Vec<_>>().join("\n")
}

fn agents(request: Request) -> Answered {
    Ok(Answer::new(request.document()?.agents_json().into_bytes(), Status::Clean))
}
