//! `msg find`: text in the sessions on this machine (SE-12). Read only.

use std::path::{Path, PathBuf};

use memchr::memmem;
use msg_core::{Message, Part, Role, truncate};
use msg_session::{Dialect, SessionOptions};
use serde::Serialize;

use super::Command;
use crate::context::Context;
use crate::exit::{Failure, Status};
use crate::output::{Output, json_line};
use crate::render::safe;
use crate::sessions::load::load;
use crate::{context, render, sessions};

/// Find text in the sessions that agents left on this machine
///
/// What users and models said is searched, results of tools with --tools. A text in small letters finds capitals too.
/// Status 1 if nothing is found. Nothing is written.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  msg find 'connection refused'
  msg find --regex --tools \"error\\[E0[0-9]+\\]\"")]
pub(crate) struct Args {
    /// The text.
    #[arg(value_name = "TEXT")]
    text: String,
    /// Files and folders to look in, instead of the places where agents put their sessions.
    #[arg(value_name = "PLACE")]
    places: Vec<PathBuf>,
    /// Sessions of this dialect only.
    #[arg(long, value_name = "DIALECT")]
    dialect: Option<Dialect>,
    /// TEXT is a regular expression.
    #[arg(long)]
    regex: bool,
    /// Search the results of tools too.
    #[arg(long)]
    tools: bool,
    /// Replace secrets in what is shown.
    #[arg(long)]
    redact: bool,
    /// The JSON form: a line a hit.
    #[arg(long)]
    json: bool,
}

/// The JSON form of a hit.
#[derive(Debug, Serialize)]
struct Hit {
    path: String,
    dialect: Dialect,
    id: String,
    record: u32,
    role: String,
    snippet: String,
}

/// What is looked for.
struct Needle {
    regex: regex_lite::Regex,
    /// The text as JSON spells it, where a file without it cannot have it.
    bytes: Option<Vec<u8>>,
    /// Whether capitals are found too.
    is_small: bool,
}

/// The letters of English, the most frequent first: a place to look closer at is found by the rarest.
const FREQUENT: &[u8] = b" etaoinshrdlucmfwypvbgkqjxz";

/// Whether bytes have a text of ASCII, in small letters or capitals. Linear for any usual text.
fn has_in_any_case(bytes: &[u8], text: &[u8]) -> bool {
    let rank = |it: &u8| FREQUENT.iter().position(|letter| letter == it).unwrap_or(FREQUENT.len());
    let Some((at, rarest)) = text.iter().enumerate().max_by_key(|it| rank(it.1)) else {
        return true;
    };
    memchr::memchr2_iter(*rarest, rarest.to_ascii_uppercase(), bytes).any(|found| {
        let start = found.checked_sub(at);
        let window = start.and_then(|it| bytes.get(it..it + text.len()));
        window.is_some_and(|it| it.eq_ignore_ascii_case(text))
    })
}

impl Needle {
    fn new(text: &str, is_regex: bool) -> Result<Self, Failure> {
        let pattern = if is_regex { text.to_owned() } else { regex_lite::escape(text) };
        let is_small = !text.chars().any(char::is_uppercase);
        let regex = regex_lite::RegexBuilder::new(&pattern).case_insensitive(is_small).build();
        let regex = regex.map_err(|it| Failure::Usage(format!("{text:?}: {it}")))?;
        // Only what JSON never escapes can be looked for in the bytes.
        let is_plain = |it: char| it.is_ascii_graphic() && !"\"\\/<>&'".contains(it) || it == ' ';
        let bytes = (!is_regex && text.chars().all(is_plain)).then(|| text.into());
        Ok(Self { regex, bytes, is_small })
    }

    fn may_be_in(&self, bytes: &[u8]) -> bool {
        match &self.bytes {
            None => true,
            Some(it) if self.is_small => has_in_any_case(bytes, it),
            Some(it) => memmem::find(bytes, it).is_some(),
        }
    }
}

impl Command for Args {
    fn run(self, cx: &Context) -> Result<Status, Failure> {
        cx.redact(self.redact);
        let needle = Needle::new(&self.text, self.regex)?;
        let mut warnings = Vec::new();
        let found = sessions::find(&self.places, self.dialect, &mut warnings);
        let hits = context::each(&found, context::processors(), |it| {
            self.hits(&needle, &it.path, it.dialect)
        });
        let mut out = Output::stdout();
        let mut count = 0;
        for hit in hits.iter().flatten() {
            count += 1;
            let text = if self.json { json_line(hit) } else { human(hit).into_bytes() };
            out.write(&render::printed(text, self.redact, self.json))?;
        }
        out.finish()?;
        sessions::warn(cx, &warnings);
        match sessions::are_readable(&self.places) {
            true => Ok(Status::of(count > 0)),
            false => Ok(Status::Failed),
        }
    }
}

impl Args {
    fn hits(&self, needle: &Needle, path: &Path, dialect: Option<Dialect>) -> Vec<Hit> {
        let Ok(mut loaded) = load(path, dialect, u64::MAX) else { return Vec::new() };
        if !loaded.blobs.iter().any(|it| needle.may_be_in(&it.bytes)) {
            return Vec::new();
        }
        let Ok(session) = loaded.session(dialect) else { return Vec::new() };
        if self.dialect.is_some_and(|it| it != session.dialect()) {
            return Vec::new();
        }
        let Ok(view) = session.read(&SessionOptions::default()) else { return Vec::new() };
        let mut res = Vec::new();
        for (message, origins) in view.messages.iter().zip(&view.origins) {
            for (part, origin) in message.parts.iter().zip(origins) {
                let Some(text) = self.text_of(message, part) else { continue };
                let Some(at) = needle.regex.find(&text).map(|it| it.start()) else { continue };
                // Before it is cut, or a piece of a secret would not be recognised.
                let (text, at) = match self.redact {
                    true => {
                        let text = render::text(&text).0;
                        let at = needle.regex.find(&text).map_or(0, |it| it.start());
                        (text, at)
                    }
                    false => (text, at),
                };
                res.push(Hit {
                    path: path.display().to_string(),
                    dialect: session.dialect(),
                    id: sessions::id(path),
                    record: origin.record,
                    role: message.role.as_str().to_owned(),
                    snippet: snippet(&text, at),
                });
            }
        }
        // What was said comes before what tools gave back.
        res.sort_by_key(|it| it.role == "tool");
        res
    }

    fn text_of(&self, message: &Message, part: &Part) -> Option<String> {
        match part {
            Part::Text(it) => Some(it.text.clone()),
            Part::ToolResult(it) if self.tools => Some(it.content.said().into_owned()),
            Part::Reasoning(it) if message.role == Role::Assistant => {
                Some(it.display_text().into_owned())
            }
            _ => None,
        }
    }
}

/// The words around a hit, on one line (MS-17).
fn snippet(text: &str, at: usize) -> String {
    let start =
        (0..=at.saturating_sub(30)).rev().find(|it| text.is_char_boundary(*it)).unwrap_or(0);
    let line: Vec<_> = text[start..].split_whitespace().take(40).collect();
    truncate(&line.join(" "), 120).into()
}

fn human(it: &Hit) -> String {
    let (path, snippet) = (safe(&it.path), safe(&it.snippet));
    format!("{path}:{}: {}: {snippet}\n", it.record, it.role)
}
