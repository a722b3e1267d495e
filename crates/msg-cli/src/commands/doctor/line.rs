//! `msg doctor --jsonl`: a session a line (SE-91).

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use msg_core::{Code, Diagnostic};
use msg_session::{Blob, Dialect, Finding, RepairOptions, Session};
use serde::{Deserialize, Serialize};

use crate::exit::Status;
use crate::jsonl::Answer;

/// A session as a line.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Line {
    #[serde(default)]
    name: String,
    dialect: Option<String>,
    input: Option<String>,
    input_b64: Option<String>,
    #[serde(default)]
    pub(crate) options: RepairOptions,
}

impl Line {
    /// Reads a line.
    pub(crate) fn read(json: &[u8]) -> Result<Self, Box<Diagnostic>> {
        serde_json::from_slice(json)
            .map_err(|it| refuse("cli::bad-line", format!("the line is no request: {it}")))
    }

    /// The session, of the dialect that the line, else the caller, names.
    pub(crate) fn session(&self, named: Option<Dialect>) -> Result<Session, Box<Diagnostic>> {
        let bytes = self.bytes()?;
        let dialect = match &self.dialect {
            Some(name) => Some(name.parse().map_err(|it| unreadable(&it))?),
            None => named,
        };
        let blobs = vec![Blob::new(self.name.clone(), bytes)];
        match dialect {
            Some(dialect) => Session::named(dialect, blobs),
            None => Session::recognise(blobs),
        }
        .map_err(|it| unreadable(&it))
    }

    fn bytes(&self) -> Result<Vec<u8>, Box<Diagnostic>> {
        match (&self.input, &self.input_b64) {
            (Some(text), None) => Ok(text.clone().into_bytes()),
            (None, Some(text)) => BASE64_STANDARD
                .decode(text)
                .map_err(|it| refuse("cli::bad-line", format!("input_b64 is no base64: {it}"))),
            _ => {
                let text = "the line needs one of input and input_b64";
                Err(refuse("cli::bad-line", text.to_owned()))
            }
        }
    }
}

pub(crate) fn unreadable(error: &msg_session::Error) -> Box<Diagnostic> {
    refuse(error.code(), error.to_string())
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
    let line = Line::read(line)?;
    let mut session = line.session(named)?;
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
