//! The program's documentation of itself, from the same tables as its parser: `msg reference` (the command reference
//! and the man pages), `msg completions SHELL`, and `msg schema NAME` (the JSON Schemas of the documented forms).
//!
//! `msg reference` is hidden: it serves the release and `cargo xtask codegen`, which keeps `docs/cli.md` fresh.
//!
//! `msg profiles` shows what each provider accepts, as a table, in full for one, or as JSON.

use std::{fmt::Write as _, path::PathBuf};

use clap::{Arg, Command as Clap, CommandFactory};
use clap_complete::Shell;
use msg_chainast::Profile;
use serde_json::{Map, Value};
use unicode_width::UnicodeWidthStr;

use super::Command;
use crate::commands::Cli;
use crate::context::Context;
use crate::exit::{Failure, Status};
use crate::options::unknown_profile;
use crate::output::{Output, json_line};

/// Print the reference of all commands as Markdown, or write man pages.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Write a man page for each command into this folder instead.
    #[arg(long, value_name = "DIR")]
    man: Option<PathBuf>,
}

impl Command for Args {
    fn run(self, _: &Context) -> Result<Status, Failure> {
        let mut msg = Cli::command().disable_help_subcommand(true);
        msg.build();
        match self.man {
            Some(dir) => std::fs::create_dir_all(&dir)
                .and_then(|()| clap_mangen::generate_to(msg, &dir))
                .map_err(|source| Failure::write_file(&dir, source))?,
            None => {
                let mut out = Output::stdout();
                out.write(markdown(&msg).as_bytes())?;
                out.finish()?;
            }
        }
        Ok(Status::Clean)
    }
}

/// One section per command: help text, usage, arguments. Shared options are listed once.
fn markdown(msg: &Clap) -> String {
    let mut res = String::new();
    for it in msg.get_subcommands().filter(|it| !it.is_hide_set()) {
        section(it, "msg", &mut res);
    }
    res.push_str("### Options of every command\n\n");
    options(msg, true, &mut res);
    res
}

fn section(it: &Clap, parent: &str, res: &mut String) {
    let name = format!("{parent} {}", it.get_name());
    let _ = writeln!(res, "### `{name}`\n");
    if let Some(about) = it.get_long_about().or_else(|| it.get_about()) {
        let _ = writeln!(res, "{about}\n");
    }
    let usage = it.clone().render_usage().to_string();
    let _ = writeln!(res, "```text\n{}\n```\n", usage.trim_start_matches("Usage: "));
    options(it, false, res);
    if let Some(examples) = it.get_after_help().map(ToString::to_string) {
        let examples = examples.strip_prefix("Examples:\n").unwrap_or(&examples).to_owned();
        let _ = writeln!(
            res,
            "```text\n{}\n```\n",
            examples.trim_end().replace("\n  ", "\n").trim_start()
        );
    }
    for it in it.get_subcommands().filter(|it| !it.is_hide_set()) {
        section(it, &name, res);
    }
}

fn options(it: &Clap, global: bool, res: &mut String) {
    let shown = it.get_arguments().filter(|it| {
        !it.is_hide_set()
            && it.is_global_set() == global
            && it.get_id() != "help"
            && it.get_id() != "version"
    });
    let rows: Vec<String> = shown.map(row).collect();
    if !rows.is_empty() {
        let _ = writeln!(res, "| argument | meaning |\n|---|---|\n{}\n", rows.join("\n"));
    }
}

fn row(it: &Arg) -> String {
    let values = it.get_value_names().unwrap_or_default().join(" ");
    let takes_value = it.get_action().takes_values();
    let mut name = match (it.get_short(), it.get_long()) {
        (Some(short), Some(long)) => format!("-{short}, --{long}"),
        (None, Some(long)) => format!("--{long}"),
        (Some(short), None) => format!("-{short}"),
        (None, None) => String::new(),
    };
    if takes_value {
        name = format!("{name} {values}").trim().to_owned();
    }
    let help = it.get_long_help().or_else(|| it.get_help()).map(ToString::to_string);
    let mut help = help.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    let words = it.get_possible_values();
    if takes_value && !words.is_empty() {
        let words: Vec<_> = words.iter().map(|it| format!("`{}`", it.get_name())).collect();
        let _ = write!(help, ": {}", words.join(", "));
    }
    format!("| `{name}` | {} |", help.replace('|', "\\|"))
}

// `msg completions SHELL`: shell completions, from the same table as the parser.
//
// Man pages and `docs/cli.md` come from `msg reference`.

/// Print completions for a shell.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  msg completions bash > ~/.local/share/bash-completion/completions/msg
  msg completions zsh > ~/.zfunc/_msg
  msg completions fish > ~/.config/fish/completions/msg.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell that reads them.
    shell: Shell,
}

impl Command for CompletionsArgs {
    fn run(self, _: &Context) -> Result<Status, Failure> {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "msg", &mut text);
        let mut out = Output::stdout();
        out.write(&text)?;
        out.finish()?;
        Ok(Status::Clean)
    }
}

// `msg schema NAME`: the JSON Schemas of the documented forms.
//
// They come from `msg-core`, where a test compares them with the output.

/// Print the JSON Schema of a form.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  msg schema native > native.schema.json")]
pub(crate) struct SchemaArgs {
    /// Which form.
    form: Form,
}

/// A documented form.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Form {
    /// This workspace's own messages
    Native,
    /// Agent messages
    Agent,
    /// Turns
    Turns,
    /// A stream event
    Event,
    /// A diagnostic
    Diagnostic,
}

impl Command for SchemaArgs {
    fn run(self, _: &Context) -> Result<Status, Failure> {
        let name = match self.form {
            Form::Native => "native",
            Form::Agent => "agent",
            Form::Turns => "turns",
            Form::Event => "event",
            Form::Diagnostic => "diagnostic",
        };
        let text = msg_forms::schema::by_name(name).expect("because each of these has a schema");
        let mut out = Output::stdout();
        out.write(text.as_bytes())?;
        out.finish()?;
        Ok(Status::Clean)
    }
}

/// Show what each provider accepts.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  msg profiles
  msg profiles mistral
  msg profiles --json")]
pub(crate) struct ProfilesArgs {
    /// Show all fields of this profile, and their sources.
    #[arg(value_parser = crate::words::profile(), hide_possible_values = true)]
    name: Option<String>,
    /// Print the profiles with all their fields as JSON.
    #[arg(long)]
    json: bool,
}

/// The fields in the table, with their column headings.
const COLUMNS: &[(&str, &str)] = &[
    ("call ids", "id_class"),
    ("min", "id_min"),
    ("max", "id_max"),
    ("unique in", "id_unique"),
    ("tool names", "name_class"),
    ("max", "name_max"),
    ("user", "user"),
    ("alternate", "alternate"),
    ("empty refused", "empty"),
    ("arguments", "arguments"),
    ("reasoning", "reasoning_keep"),
];

impl Command for ProfilesArgs {
    fn run(self, _: &Context) -> Result<Status, Failure> {
        let chosen: Vec<&Profile> = match &self.name {
            Some(name) => vec![Profile::named(name).ok_or_else(|| unknown_profile(name))?],
            None => Profile::all().iter().collect(),
        };
        let text = match (self.json, chosen.as_slice()) {
            (true, all) => json_line(&all.iter().map(|it| object(it)).collect::<Vec<_>>()),
            (false, [one]) if self.name.is_some() => in_full(one).into_bytes(),
            (false, all) => table(all).into_bytes(),
        };
        let mut out = Output::stdout();
        out.write(&text)?;
        out.finish()?;
        Ok(Status::Clean)
    }
}

/// All fields, with their types in a profile file.
fn object(profile: &Profile) -> Value {
    let mut res = Map::new();
    res.insert("name".to_owned(), profile.name.clone().into());
    res.extend(profile.fields().map(|(field, value)| (field.to_owned(), value)));
    let sources = profile.sources.iter().map(|(field, it)| (field.clone(), it.clone().into()));
    res.insert("sources".to_owned(), Value::Object(sources.collect()));
    Value::Object(res)
}

/// A value for people: a list without brackets.
fn text(value: &Value) -> String {
    match value {
        Value::String(it) => it.clone(),
        Value::Array(all) => all.iter().map(text).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

fn in_full(profile: &Profile) -> String {
    let mut res = format!("{}\n", profile.name);
    let fields = profile.fields().map(|(field, value)| (field, text(&value)));
    for (field, text) in fields.filter(|it| !it.1.is_empty()) {
        let doubt = if profile.doubt.iter().any(|it| it == field) { " (doubtful)" } else { "" };
        let _ = writeln!(res, "  {field:<18} {}{doubt}", text.escape_debug());
    }
    for (model, of_model) in profile.models.iter() {
        let own = of_model.fields().zip(profile.fields()).filter(|it| it.0 != it.1);
        for ((field, value), _) in own {
            let _ = writeln!(res, "  {field:<18} {} (of {model})", text(&value).escape_debug());
        }
    }
    for (field, source) in &profile.sources {
        let _ = writeln!(res, "  source of {field}: {source}");
    }
    res
}

fn table(profiles: &[&Profile]) -> String {
    let head = std::iter::once("profile").chain(COLUMNS.iter().map(|it| it.0));
    let mut rows: Vec<Vec<String>> = vec![head.map(str::to_owned).collect()];
    for it in profiles {
        let mut row = vec![it.name.clone()];
        row.extend(COLUMNS.iter().map(|column| cell(it, column.1)));
        rows.push(row);
    }
    let widths: Vec<usize> = (0..=COLUMNS.len())
        .map(|n| rows.iter().map(|row| row[n].width()).max().unwrap_or(0))
        .collect();
    let line = |row: &Vec<String>| {
        let cells = row
            .iter()
            .zip(&widths)
            .map(|(it, width)| format!("{it}{}", " ".repeat(width - it.width())));
        format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    let mut res: String = rows.iter().map(line).collect();
    res.push_str("\n? doubtful; - no limit, or nothing. `msg profiles NAME` shows all fields.\n");
    res
}

/// The value of a field; missing limits and empty lists are a dash.
fn cell(profile: &Profile, field: &str) -> String {
    let text = profile.fields().find(|it| it.0 == field).map(|it| text(&it.1)).unwrap_or_default();
    let is_none = text.is_empty() || (text == "0" && field.ends_with("_max"));
    let text = if is_none { "-" } else { &text };
    let doubt = if profile.doubt.iter().any(|it| it == field) { "?" } else { "" };
    format!("{text}{doubt}")
}
