//! `msg ast`: the chain as a tree of sections, headers and body pairs, with their sizes.
//!
//! With `--repair` of the mended chain, with `--ops` after some edits (CA-93). The tree itself is
//! `msg-chainast`'s.

mod ops;

use msg_chainast::{ChainAst, ChainRepairOptions};
use msg_core::{Diagnostic, Message};
use msg_document::{CheckOptions, Document, ObjectWriter, to_json};
use msg_openai::{WriteOptions, chat};

use self::ops::Op;
use super::Command;
use crate::chain_args::{ChainArgs, RepairArgs};
use crate::context::Context;
use crate::documents::Kind;
use crate::exit::{Failure, Status};
use crate::input;
use crate::input::InputArgs;
use crate::jsonl::{self, Answer, LineArgs};
use crate::options::Flags;
use crate::output::{OutputArgs, PrettyArgs};
use crate::render::{self, Quotes};

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
    /// Mend the chain first.
    #[arg(long = "repair")]
    mend: bool,
    #[command(flatten)]
    repair: RepairArgs,
    /// Apply the operations of the document's member `ops` (docs/cli.md lists them).
    #[arg(long)]
    ops: bool,
    /// Print the tree as JSON, with the flattened messages in OpenAI form.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    lines: LineArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    pretty: PrettyArgs,
}

/// How a tree is made.
struct Rules {
    open: bool,
    check: CheckOptions,
    repair: Option<ChainRepairOptions>,
}

/// The outcome for a list of messages.
struct Grown {
    /// The tree, or the messages that are none.
    chain: Result<ChainAst, Vec<Message>>,
    /// What it is of, with the text before the tree.
    document: Document,
    found: Vec<Diagnostic>,
    /// Everything that was found has been mended.
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
            return Err(Failure::Usage(format!("{flag} says how to mend: it needs --repair")));
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
                let ops = if with_ops { Some(ops::read(line)?) } else { None };
                let document = Document::read(line, &read)?;
                Ok(answer(rules.grow(document), ops.as_deref()))
            };
            let status =
                jsonl::run(cx, &self.lines, input, (&mut out, None), &jsonl::as_it_is, job)?;
            out.finish()?;
            return Ok(status);
        }
        let bytes = input.read_all()?;
        let ops = if with_ops { ops::read(&bytes).map(Some) } else { Ok(None) };
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
        // Without a tree the file stays as it is.
        if let Ok(chain) = &grown.chain {
            out.write(ops::draw(chain, grown.document.n_leading(), &input.name).as_bytes())?;
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
        let found = document.check_chain(&self.check);
        let ok = !found.iter().any(Diagnostic::is_error);
        let messages = document.take_for_tree();
        let parsed =
            if self.open { ChainAst::parse_open(messages) } else { ChainAst::parse(messages) };
        Grown { chain: parsed.map_err(|it| it.into_messages()), document, found, ok }
    }
}

/// The JSON form.
fn answer(grown: Grown, ops: Option<&[Op]>) -> Answer {
    let res = ObjectWriter::new().with("ok", &grown.ok);
    let res = match grown.chain {
        Ok(mut chain) => {
            let steps = ops.map(|it| ops::apply(&mut chain, it));
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
