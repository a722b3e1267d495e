//! `msg ast`: the chain as a tree of sections, headers and body pairs, with their sizes.
//!
//! With `--repair` of the mended chain, with `--ops` after some edits (CA-93). The tree itself is
//! `msg-chainast`'s.
//!
//! The operations of `msg ast --ops` (CA-93): edits of the tree, from JSON.

use std::fmt::Write as _;

use msg_chainast::{BodyPair, ChainAst, ChainRepairOptions, ChainSection, IdPattern};
use msg_core::{Code, Diagnostic, Message, ToolResult};
use msg_document::{CheckOptions, Document, ObjectWriter, Refusal, to_json};
use msg_openai::{WriteOptions, chat};
use serde::{Deserialize, Serialize};

use super::Command;
use crate::context::Context;
use crate::documents::Kind;
use crate::exit::{Failure, Status};
use crate::input::InputArgs;
use crate::jsonl::{Answer, LineArgs};
use crate::options::{ChainArgs, Flags, RepairArgs};
use crate::output::{OutputArgs, PrettyArgs};
use crate::render::{Quotes, plural};
use crate::{input, jsonl, render};

/// Show a conversation as a tree: sections, headers, body pairs, sizes.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  msg ast session.json
  msg ast --repair --json --pretty session.json")]
pub(crate) struct Args {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    chain: ChainArgs,
    /// Repair the chain first.
    #[arg(long = "repair")]
    mend: bool,
    #[command(flatten)]
    repair: RepairArgs,
    /// Apply the operations of the document's member `ops` (docs/cli.md lists them).
    #[arg(help_heading = "Output", long)]
    ops: bool,
    /// Print the tree as JSON, with the flattened messages in OpenAI form.
    #[arg(help_heading = "Output", long)]
    json: bool,
    #[command(flatten)]
    lines: LineArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    pretty: PrettyArgs,
}

/// The options for making a tree.
struct Rules {
    open: bool,
    check: CheckOptions,
    repair: Option<ChainRepairOptions>,
}

/// The result for a list of messages.
struct Grown {
    /// The tree, or the messages if they form none.
    chain: Result<ChainAst, Vec<Message>>,
    /// Its document, with the text before the tree.
    document: Document,
    found: Vec<Diagnostic>,
    /// Whether everything found was repaired.
    ok: bool,
}

impl Command for Args {
    fn run(self, cx: &Context) -> Result<Status, Failure> {
        let profile = self.chain.profile(self.input.max_bytes())?;
        let flags = Flags::of(&self.chain).and(&self.repair);
        let repair = flags.options::<msg_document::RepairOptions>()?.chain;
        let repair = match &profile {
            Some(profile) => repair.with_profile(profile),
            None => repair,
        };
        let rules = Rules {
            open: self.chain.open,
            check: CheckOptions {
                profile,
                chain: self.chain.check_options(),
                ..CheckOptions::default()
            },
            repair: self.mend.then_some(repair),
        };
        if let Some(flag) = self.repair.given().filter(|_| !self.mend) {
            return Err(Failure::Usage(format!("{flag} needs --repair")));
        }
        self.pretty.expect(self.json || self.ops, "it needs --json")?;
        let sources = self.input.sources()?;
        let mut input = sources.open_one()?;
        let kind = self.input.kind(cx, &mut input, &self.lines, None)?;
        let is_lines = kind == Kind::Lines;
        let mut out = self.output.open(&sources)?;
        let with_ops = self.ops;
        let read = self.input.of_a_line();
        if is_lines {
            let job = |_: u64, line: &[u8]| {
                let ops = if with_ops { Some(read_ops(line)?) } else { None };
                let document = Document::read(line, &read)?;
                Ok(answer(rules.grow(document), ops.as_deref()))
            };
            let status =
                jsonl::run(cx, &self.lines, input, (&mut out, None), &jsonl::as_it_is, job)?;
            out.finish()?;
            return Ok(status);
        }
        let bytes = input.read_all()?;
        let ops = if with_ops { read_ops(&bytes).map(Some) } else { Ok(None) };
        let ops = match ops {
            Ok(ops) => ops,
            Err(error) => return Err(Failure::document(error, &input.name, bytes)),
        };
        let document = input::read(cx, bytes, &input.name, &self.input)?;
        input::say_unread(cx, &document, &input.name);
        if self.json || with_ops {
            let answer = answer(rules.grow(document), ops.as_deref());
            out.write_json(answer.json, &self.pretty)?;
            out.finish()?;
            return Ok(answer.status);
        }
        let quotes =
            Quotes::of(document.messages(), &document.check_chain(&rules.check), cx.folding());
        let grown = rules.grow(document);
        if !cx.quiet {
            let list = cx.list(&input.name, &quotes);
            cx.note(&if self.mend {
                list.edits(&grown.found)
            } else {
                list.findings(&grown.found)
            });
            if grown.chain.is_err() {
                let found = render::count(&grown.found);
                let help = "help: --repair mends the chain first, --open allows unanswered calls at the end";
                cx.note(&format!("{}: no tree, {found}\n{help}\n", input.name));
            }
        }
        // Without a tree, the file is unchanged.
        if let Ok(chain) = &grown.chain {
            out.write(draw(chain, grown.document.n_leading(), &input.name).as_bytes())?;
            out.finish()?;
        }
        Ok(Status::of(grown.ok))
    }
}

impl Rules {
    fn grow(&self, mut document: Document) -> Grown {
        if let Some(options) = &self.repair {
            let messages = document.take_for_tree();
            let (chain, mut found) = ChainAst::repair(messages, options, &mut Document::ids());
            found.iter_mut().for_each(|it| document.place_finding(it));
            let ok = !found.iter().any(|it| it.is_error() && it.fix.is_none());
            return Grown { chain: Ok(chain), document, found, ok };
        }
        let mut found = document.check_chain(&self.check);
        let messages = document.take_for_tree();
        let parsed =
            if self.open { ChainAst::parse_open(messages) } else { ChainAst::parse(messages) };
        if let Err(error) = &parsed
            && !found.iter().any(Diagnostic::is_error)
        {
            // An API may accept a list that has no tree: the findings are then those of the tree.
            found = error.diagnostics().to_vec();
            found.iter_mut().for_each(|it| document.place_finding(it));
        }
        let ok = !found.iter().any(Diagnostic::is_error);
        Grown { chain: parsed.map_err(|it| it.into_messages()), document, found, ok }
    }
}

/// The JSON form.
fn answer(grown: Grown, ops: Option<&[Op]>) -> Answer {
    let res = ObjectWriter::new().with("ok", &grown.ok);
    let res = match grown.chain {
        Ok(mut chain) => {
            let steps = ops.map(|it| apply(&mut chain, it));
            let res = res.all_of(&to_json(&chain.view()));
            let res = res.with("diagnostics", &grown.found);
            drop(grown.found);
            let res = match grown.document.n_leading() {
                0 => res,
                n => res.with("leading", &n),
            };
            let mut document = grown.document;
            let res = res.written("messages", |out| flat(chain, &mut document, out));
            match steps {
                Some(steps) => res.with("ops", &steps),
                None => res,
            }
        }
        Err(messages) => res
            .with("size", &messages.iter().map(Message::size).sum::<usize>())
            .with("diagnostics", &grown.found),
    };
    Answer::new(res.finish(), Status::of(grown.ok))
}

/// The flattened chain in OpenAI form.
fn flat(chain: ChainAst, document: &mut Document, out: &mut Vec<u8>) {
    let mut messages = chain.into_messages();
    document.put_leading(&mut messages);
    chat::write(&messages, &WriteOptions::new(), out);
}

/// One operation of a document's `ops`.
#[derive(Debug, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
enum Op {
    AddToolResult {
        id: String,
        #[serde(default)]
        name: String,
        content: String,
    },
    AppendUser {
        content: String,
    },
    Find {
        id: String,
    },
    NormalizeIds {
        pattern: String,
    },
    ClearReasoning {},
    SanitizeArguments {},
}

/// What an operation did.
#[derive(Debug, Serialize)]
struct Step {
    op: &'static str,
    size: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    results: Option<Vec<Found>>,
}

#[derive(Debug, Serialize)]
struct Found {
    tool_call_id: String,
    name: String,
    content: String,
}

/// The document's operations; its other members belong to the conversation.
#[derive(Deserialize)]
struct Ops {
    #[serde(default)]
    ops: Vec<Op>,
}

/// Reads the `ops` of a document.
fn read_ops(json: &[u8]) -> Result<Vec<Op>, Refusal> {
    let ops = match json.trim_ascii_start().first() {
        Some(b'{') => serde_json::from_slice::<Ops>(json).map(|it| it.ops),
        _ => Err(serde::de::Error::custom("expected an object with messages and ops")),
    };
    ops.map_err(|error| {
        let text = format!("not a document with ops: {error}");
        let code = Code::new("cli::bad-ops");
        Diagnostic::error(code, text).at_line(error.line().max(1), error.column().max(1)).into()
    })
}

/// Applies the operations in order; one that fails changes nothing.
fn apply(chain: &mut ChainAst, ops: &[Op]) -> Vec<Step> {
    // One id source for all steps, so that ids are unique.
    let mut ids = msg_document::Document::ids();
    let mut one = |op: &Op| {
        let (mut error, mut results) = (None, None);
        let name = match op {
            Op::AddToolResult { id, name, content } => {
                let added = chain.add_tool_result(id, name, content.as_str());
                error = added.err().map(|it| it.to_string());
                "add_tool_result"
            }
            Op::AppendUser { content } => {
                chain.append_user(content.as_str());
                "append_user"
            }
            Op::Find { id } => {
                results = Some(chain.find_tool_results(id).map(found).collect());
                "find"
            }
            Op::NormalizeIds { pattern } => {
                match pattern.parse::<IdPattern>() {
                    Ok(pattern) => drop(chain.normalize_tool_call_ids(&pattern, &mut ids)),
                    Err(it) => error = Some(it.to_string()),
                }
                "normalize_ids"
            }
            Op::ClearReasoning {} => {
                chain.clear_reasoning();
                "clear_reasoning"
            }
            Op::SanitizeArguments {} => {
                chain.sanitize_arguments();
                "sanitize_arguments"
            }
        };
        Step { op: name, size: chain.size(), error, results }
    };
    ops.iter().map(&mut one).collect()
}

fn found(it: &ToolResult) -> Found {
    Found {
        tool_call_id: it.call_id.clone(),
        name: it.name.clone().unwrap_or_default(),
        content: it.content.said().into_owned(),
    }
}

// The tree for people: one line per header message and body pair.

/// How many characters of a message are shown.
const WIDTH: usize = 60;

/// The drawing, with a head line.
fn draw(chain: &ChainAst, leading: usize, name: &str) -> String {
    let (messages, sections) = (chain.messages().len(), chain.sections().len());
    let mut res = format!(
        "{name}: {}, {}, {} bytes\n",
        plural(messages, "message"),
        plural(sections, "section"),
        chain.size()
    );
    if leading > 0 {
        let _ = writeln!(res, "before the sections: {}", plural(leading, "message"));
    }
    for (number, it) in chain.sections().iter().enumerate() {
        section(number, it, &mut res);
    }
    res
}

fn section(number: usize, it: &ChainSection, res: &mut String) {
    let _ = writeln!(res, "section {number}  {} bytes", it.size());
    let header = it.header().messages().map(header_line);
    let lines: Vec<_> = header.chain(it.body().iter().map(pair_line)).collect();
    for (n, line) in lines.iter().enumerate() {
        let branch = if n + 1 == lines.len() { "└─" } else { "├─" };
        let _ = writeln!(res, "{branch} {line}");
    }
}

fn header_line(it: &Message) -> String {
    format!("{:<18}{:>8}  {}", it.role.to_string(), it.size(), it.preview(WIDTH))
}

fn pair_line(it: &BodyPair) -> String {
    let mut res =
        format!("{:<18}{:>8}  {}", it.kind().to_string(), it.size(), it.assistant().preview(WIDTH));
    let info = it.tool_calls_info();
    if !info.pending.is_empty() {
        let _ = write!(res, "  [{} unanswered]", plural(info.pending.len(), "call"));
    }
    res
}
