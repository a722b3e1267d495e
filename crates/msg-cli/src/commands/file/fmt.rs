//! `msg file fmt`: headings, definitions and gaps in canonical form; bodies stay (MF-40, MF-51).

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use msg_core::{Code, Diagnostic};
use msg_file::store;
use serde::Serialize;

use super::request::{Answered, FileArgs, Options, Request, failed, failed_by};
use crate::context::Context;
use crate::exit::{Failure, Status};
use crate::jsonl::Answer;
use crate::output::Output;
use crate::signals;

#[derive(Serialize)]
struct Changed {
    output_b64: String,
    changed: Vec<usize>,
}

fn fmt(request: Request) -> Answered {
    let formatted = request.document()?.format();
    let output_b64 = BASE64_STANDARD.encode(&formatted.bytes);
    Ok(Answer::of(&Changed { output_b64, changed: formatted.changed }, Status::Clean))
}

#[derive(Debug, clap::Args)]
pub(super) struct Fmt {
    #[command(flatten)]
    file: FileArgs,
    /// Change the file in place.
    #[arg(long, conflicts_with_all = ["json", "jsonl"])]
    write: bool,
    /// Change nothing; exit status 1 if the file would change.
    #[arg(long, conflicts_with_all = ["write", "json", "jsonl"])]
    check: bool,
    /// Write to a newer format, and in place to a file with several names.
    #[arg(long, requires = "write")]
    force: bool,
}

impl Fmt {
    pub(super) fn run(self, cx: &Context) -> Result<Status, Failure> {
        self.file.run(cx, Options::default(), fmt, |it| self.show(cx, &it))
    }

    fn show(&self, cx: &Context, request: &Request) -> Result<Status, Failure> {
        let doc = request.document().map_err(|it| failed_by(&it, &request.name))?;
        let formatted = doc.format();
        let same = formatted.bytes == doc.bytes();
        if self.check {
            cx.summary(|| format!("{}: would change", request.name), Status::of(same));
            return Ok(Status::of(same));
        }
        if !self.write {
            let mut out = Output::stdout();
            out.write(&formatted.bytes)?;
            out.finish()?;
        } else if !same {
            let path = self.file.path()?;
            if !self.force && doc.is_newer() {
                let what = "the file is of a newer format (--force writes to it)";
                let newer = Diagnostic::error(Code::new("msgfile::newer-format"), what);
                return Err(failed_by(&newer, &request.name));
            }
            signals::clean_up();
            let replaced = store::replace(path, doc.bytes(), &formatted.bytes, self.force.into());
            replaced.map_err(|it| failed(it, &request.name))?;
        }
        Ok(Status::Clean)
    }
}
