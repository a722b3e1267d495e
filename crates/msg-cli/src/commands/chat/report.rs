//! What `msg chat` says of a conversation: what was changed for the model, why an answer ended, the outcome as JSON.
//!
//! Nothing here changes the file or asks anybody.

use msg_core::Diagnostic;
use msg_file::store::Appended;
use msg_openai::Assembled;

use super::reply::Ended;
use super::request::Asking;
use super::{Args, record};
use crate::context::Context;
use crate::exit::{Failure, Status};
use crate::output::Output;
use crate::render::{self, Quotes};

impl Args {
    /// What the model is not told as the file has it.
    pub(super) fn tell_edits(&self, edits: &[Diagnostic], cx: &Context) {
        if edits.is_empty() || cx.quiet {
            return;
        }
        if cx.verbose {
            cx.note(&cx.list(&self.name(), &Quotes::default()).edits(edits));
        }
        let n = render::plural(edits.len(), "edit");
        let hint = if cx.verbose { "" } else { "; -v shows them" };
        cx.say(&format!("{n} made for the model, the file keeps its history{hint}"));
    }

    pub(super) fn note(&self, done: &[Appended], cx: &Context) {
        for warning in done.iter().flat_map(|it| &it.warnings) {
            cx.say(&warning.to_string());
        }
    }

    pub(super) fn no_answer(
        &self,
        reply: &Assembled,
        ended: &Ended,
        cx: &Context,
    ) -> Result<(), Failure> {
        let name = self.name();
        let why = match ended {
            Ended::Interrupted => {
                cx.say(&format!(
                    "{name}: interrupted before an answer came; the question is in the file"
                ));
                return Ok(());
            }
            Ended::Whole => record::why_empty(reply),
            _ if reply.error.is_some() => record::why_empty(reply),
            other => other.to_string().into(),
        };
        Err(self.refused(&format!("no answer, nothing appended: {why}")))
    }

    pub(super) fn tell(
        &self,
        asking: &Asking,
        asked: &[Appended],
        answered: &[Appended],
        reply: &Assembled,
        cx: &Context,
    ) -> Result<(), Failure> {
        if self.json {
            let mut out = Output::stdout();
            out.write(&record::outcome(asking, asked, answered, reply))?;
            return out.finish();
        }
        if !cx.quiet {
            let found = cx.list(&self.name(), &Quotes::default()).findings(&reply.diagnostics);
            cx.note(&found);
        }
        Ok(())
    }

    /// Says why the answer ended where it did not end by itself.
    pub(super) fn tell_end(&self, reply: &Assembled, ended: &Ended, cx: &Context) -> Status {
        let name = self.name();
        if *ended != Ended::Whole {
            cx.say(&format!("{name}: {ended}; what had come is in the file"));
        } else if let Some(error) = &reply.error {
            cx.say(&format!("{name}: the endpoint reported an error: {}", error.message));
        } else if let Some(why) = record::cut_off(reply).filter(|_| !cx.quiet) {
            cx.say(&format!("{name}: {why}"));
        }
        if *ended == Ended::Interrupted { Status::Interrupted } else { Status::of(reply.complete) }
    }
}
