//! `msg file set default`: the agent that answers from here on, by a `[set]` cell (MF-55).

use msg_file::{AppendOptions, Entry, set_default_cell};

use super::nonces::Nonces;
use super::request::{Answered, FileArgs, Options, Request, bad_line, failed, failed_by, refused};
use super::writing::{WriteArgs, acknowledge, append_all};
use crate::context::Context;
use crate::exit::{Failure, Status};

fn set_default(mut request: Request) -> Answered {
    let name =
        request.options.agent.clone().ok_or_else(|| bad_line("`options.agent` is missing"))?;
    // A file that has to be switched on first knows its agents only then.
    let options = AppendOptions::default().with_force(request.options.force.into());
    let mut nonce = || Nonces::System.next();
    let nothing: [Entry; 0] = [];
    request.bytes = msg_file::append(&request.bytes, request.mode(), nothing, &options, &mut nonce)
        .map_err(refused)?
        .0;
    let cell = set_default_cell(&request.document()?, &name).map_err(refused)?;
    append_all(&request, vec![Entry::Cell(cell)])
}

#[derive(Debug, clap::Args)]
pub(super) struct SetDefault {
    /// The agent that answers from here on.
    #[arg(value_name = "NAME", required_unless_present = "jsonl", conflicts_with = "jsonl")]
    agent: Option<String>,
    #[command(flatten)]
    file: FileArgs,
    #[command(flatten)]
    write: WriteArgs,
}

impl SetDefault {
    pub(super) fn run(self, cx: &Context) -> Result<Status, Failure> {
        if self.file.lines.asked()? {
            self.write.none_given()?;
            return self.file.run_lines(cx, set_default);
        }
        let (mut log, name) = self.write.open(cx, &self.file)?;
        let request = self.file.request(Options::default())?;
        let doc = request.document().map_err(|it| failed_by(&it, &name))?;
        let agent = self.agent.unwrap_or_default();
        let cell = set_default_cell(&doc, &agent).map_err(|it| failed(it, &name))?;
        let done = log.append(&cell, &mut || Nonces::System.next());
        acknowledge(&[done.map_err(|it| failed(it, &name))?], self.file.json, cx)?;
        Ok(Status::Clean)
    }
}
