//! `msg schema NAME`: the JSON Schemas of the documented forms.
//!
//! They are `msg-core`'s; a test there holds them against what is written.

use super::Command;
use crate::context::Context;
use crate::exit::{Failure, Status};
use crate::output::Output;

/// Print the JSON Schema of a form.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  msg schema native > native.schema.json")]
pub(crate) struct Args {
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

impl Command for Args {
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
