//! `msg schema NAME`: the JSON Schemas of the documented forms.
//!
//! They are `msg-core`'s; a test there holds them against what is written.

use super::Command;
use crate::cli::Context;
use crate::exit::{Failure, Status};
use crate::output::Output;

/// Print the JSON Schema of a form.
#[derive(Debug, clap::Args)]
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
        let text = match self.form {
            Form::Native => msg_core::schema::NATIVE,
            Form::Agent => msg_core::schema::AGENT,
            Form::Turns => msg_core::schema::TURNS,
            Form::Event => msg_core::schema::EVENT,
            Form::Diagnostic => msg_core::schema::DIAGNOSTIC,
        };
        let mut out = Output::stdout();
        out.write(text.as_bytes())?;
        out.finish()?;
        Ok(Status::Clean)
    }
}
