//! `msg check`: every problem of a conversation, in order.
//!
//! Changes nothing, and judges nothing itself: the rules are `msg-chainast`'s and `msg-core`'s.

use msg_chainast::{CheckOptions, Profile};
use msg_core::{Diagnostic, InputRules, Message, Report, Severity};
use serde::Serialize;

use super::Command;
use crate::chain_args::ChainArgs;
use crate::cli::Context;
use crate::document::Document;
use crate::exit::{Failure, Status};
use crate::input::InputArgs;
use crate::jsonl::{self, Answer, LineArgs};
use crate::output::OutputArgs;
use crate::render::{self, Quotes, plural};

/// Show all problems of a conversation.
///
/// Calls without results, results without calls, ids used twice, roles out of order; with --profile
/// also what that provider rejects, with --messages also what is wrong with single messages.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    chain: ChainArgs,
    /// Also check each message by itself: roles, empty content, misplaced parts, arguments.
    #[arg(long)]
    messages: bool,
    /// With --messages: refuse user texts of more than N characters.
    #[arg(long, value_name = "N", requires = "messages")]
    max_chars: Option<usize>,
    /// Print `{"ok":…,"diagnostics":[…]}` instead of text.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    lines: LineArgs,
    #[command(flatten)]
    output: OutputArgs,
}

/// The JSON form.
#[derive(Serialize)]
struct Checked<'a> {
    ok: bool,
    diagnostics: &'a [Diagnostic],
}

/// What to check by.
struct Rules {
    profile: Option<Profile>,
    options: CheckOptions,
    messages: Option<InputRules>,
    /// The command that mends what is found.
    repair: String,
}

impl Command for Args {
    fn run(self, cx: &Context) -> Result<Status, Failure> {
        let rules = Rules {
            profile: self.chain.profile()?,
            options: self.chain.check_options(),
            repair: self.chain.repair_command(),
            messages: self.messages.then(|| match self.max_chars {
                Some(max_chars) => InputRules { max_chars },
                None => InputRules::unlimited(),
            }),
        };
        let mut input = self.input.open()?;
        let mut out = self.output.open(&input)?;
        if self.lines.jsonl {
            let named = self.input.from;
            return jsonl::run(cx, &self.lines, input, out, None, move |line| {
                let document = Document::read(named, line)?;
                Ok(rules.answer(&document.notes, document.messages()))
            });
        }
        let document = Document::open(cx, &mut input, self.input.from)?;
        let (notes, messages) = (&document.notes, document.messages());
        let found = rules.judge(notes, messages);
        let status = Status::of(!found.iter().any(Diagnostic::is_error));
        if self.json {
            let mut json = rules.answer(notes, messages).json;
            json.push(b'\n');
            out.write(&json)?;
        } else {
            let quotes = Quotes::of(messages, &found).and_lines(document.text(), &found);
            let mut text = render::diagnostics(&found, &input.name, &quotes, cx.color_for(&out));
            text.push_str(&rules.conclusion(&input.name, messages, &found));
            out.write(text.as_bytes())?;
        }
        out.finish()?;
        Ok(status)
    }
}

impl Rules {
    fn answer(&self, notes: &[Diagnostic], messages: &[Message]) -> Answer {
        let found = self.judge(notes, messages);
        let ok = !found.iter().any(Diagnostic::is_error);
        Answer::of(&Checked { ok, diagnostics: &found }, Status::of(ok))
    }

    /// All findings, in the order of the messages.
    fn judge(&self, notes: &[Diagnostic], messages: &[Message]) -> Vec<Diagnostic> {
        // What was merely spelled otherwise is no problem of the conversation.
        let notes = notes.iter().filter(|it| it.severity != Severity::Info);
        let mut res: Vec<_> = notes.cloned().collect();
        res.extend(msg_chainast::check(messages, self.profile.as_ref(), &self.options));
        if let Some(rules) = &self.messages {
            let mut report = Report::default();
            msg_core::check_all(messages, rules, &mut report);
            res.extend(report.into_vec());
        }
        res.sort_by_key(|it| (it.at.message, it.at.part));
        res
    }

    /// The closing lines of the text form.
    fn conclusion(&self, name: &str, messages: &[Message], found: &[Diagnostic]) -> String {
        let head = format!("{name}: {}", plural(messages.len(), "message"));
        if found.is_empty() {
            return format!("{head}, nothing wrong\n");
        }
        let fixable = found.iter().filter(|it| it.fix.is_some()).count();
        let help = if self.open_would_do(messages, found) {
            "help: only calls at the end are unanswered; --open allows them\n".to_owned()
        } else if fixable > 0 {
            format!("help: `{}` mends {fixable} of {}\n", self.repair, found.len())
        } else {
            String::new()
        };
        format!("{head}, {}\n{help}", render::count(found))
    }

    /// Whether all errors are calls at the end that nobody has answered yet (CA-92).
    fn open_would_do(&self, messages: &[Message], found: &[Diagnostic]) -> bool {
        let open = self.options.open(true);
        let is_error = |it: &Diagnostic| it.is_error();
        found.iter().any(is_error)
            && !found.iter().any(|it| it.is_error() && it.code.area() != "chain")
            && !msg_chainast::check(messages, None, &open).iter().any(is_error)
    }
}
