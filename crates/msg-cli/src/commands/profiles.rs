//! `msg profiles`: what each provider accepts, as a table, in full for one, or as JSON.
//!
//! The profiles are `msg-chainast`'s, generated from its `profiles.toml`.

use std::fmt::Write as _;

use msg_chainast::Profile;
use serde_json::{Map, Value};
use unicode_width::UnicodeWidthStr;

use super::Command;
use crate::context::Context;
use crate::exit::{Failure, Status};
use crate::options::unknown_profile;
use crate::output::{Output, json_line};

/// Show what each provider accepts.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  msg profiles
  msg profiles mistral
  msg profiles --json")]
pub(crate) struct Args {
    /// Show all fields of this profile, and where they come from.
    #[arg(value_parser = crate::words::profile(), hide_possible_values = true)]
    name: Option<String>,
    /// Print the profiles with all their fields as JSON.
    #[arg(long)]
    json: bool,
}

/// The fields that the table shows, with the heads of their columns.
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

impl Command for Args {
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

/// All fields, with the types that they have in a profile file.
fn object(profile: &Profile) -> Value {
    let mut res = Map::new();
    res.insert("name".to_owned(), profile.name.clone().into());
    res.extend(profile.fields().map(|(field, value)| (field.to_owned(), value)));
    let sources = profile.sources.iter().map(|(field, it)| (field.clone(), it.clone().into()));
    res.insert("sources".to_owned(), Value::Object(sources.collect()));
    Value::Object(res)
}

/// A value as a person reads it: a list without brackets.
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

/// What a field says; limits that are none and empty lists are a dash.
fn cell(profile: &Profile, field: &str) -> String {
    let text = profile.fields().find(|it| it.0 == field).map(|it| text(&it.1)).unwrap_or_default();
    let is_none = text.is_empty() || (text == "0" && field.ends_with("_max"));
    let text = if is_none { "-" } else { &text };
    let doubt = if profile.doubt.iter().any(|it| it == field) { "?" } else { "" };
    format!("{text}{doubt}")
}
