//! `msg doctor --jsonl`: a session a line (SE-91).

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use msg_core::{Code, Diagnostic};
use msg_session::{Dialect, Finding, Line, RepairOptions};
use serde::Serialize;

use crate::exit::Status;
use crate::jsonl::Answer;

pub(crate) fn unreadable(error: &msg_session::Error) -> Box<Diagnostic> {
    refuse(error.code(), error.to_string())
}

fn bad_line() -> Box<Diagnostic> {
    let text = "the line is no request: it needs input or input_b64, and may have name, dialect and options";
    refuse("cli::bad-line", text.to_owned())
}

fn refuse(code: &'static str, text: String) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(Code::new(code), text))
}

/// The JSON form of a diagnosis.
#[derive(Serialize)]
pub(crate) struct Form<'a> {
    pub(crate) dialect: Dialect,
    pub(crate) ok: bool,
    pub(crate) findings: &'a [Finding],
    pub(crate) changed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) output_b64: Option<String>,
}

/// Mends the session of a line and answers it.
pub(crate) fn answer(
    line: &[u8],
    named: Option<Dialect>,
    base: &RepairOptions,
) -> Result<Answer, Box<Diagnostic>> {
    let line = Line::read(line).ok_or_else(bad_line)?.map_err(|it| unreadable(&it))?;
    let mut session = line.session(named).map_err(|it| unreadable(&it))?;
    let before = session.blobs().to_vec();
    let options = with(base, &line.options);
    let findings = session.repair(&options).map_err(|it| unreadable(&it))?;
    let changed = session.blobs() != before;
    let output = session.blobs().first().filter(|_| changed);
    let ok = !findings.iter().any(Finding::is_error);
    let form = Form {
        dialect: session.dialect(),
        ok,
        findings: &findings,
        changed,
        output_b64: output.map(|it| BASE64_STANDARD.encode(&it.bytes)),
    };
    Ok(Answer::of(&form, Status::of(ok)))
}

/// The options of a line over those of the command line.
fn with(base: &RepairOptions, line: &RepairOptions) -> RepairOptions {
    let own = line.clone();
    let limit = RepairOptions::default().max_record;
    RepairOptions {
        all: base.all || own.all,
        drop_thinking: base.drop_thinking || own.drop_thinking,
        drop_encrypted: base.drop_encrypted || own.drop_encrypted,
        drop: base.drop || own.drop,
        error: own.error.or_else(|| base.error.clone()),
        leaf: own.leaf.or_else(|| base.leaf.clone()),
        max_record: if own.max_record == limit { base.max_record } else { own.max_record },
        xml: base.xml || own.xml,
    }
}
