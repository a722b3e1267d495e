//! What a model answered, from the response of one provider to that of another.

use msg_codec::{Assembled, StreamOptions, StreamReader};
use msg_core::{Code, Diagnostic, Report};

use crate::codec::{Side, WriteOptions};
use crate::document::Document;
use crate::format::Format;
use crate::refusal::Refusal;

impl Document {
    /// Writes a response as one of another format: id, model, finish, usage and content.
    ///
    /// Fails for a document that is not a response, and for a target that has none.
    pub(super) fn write_response(
        &mut self,
        to: Format,
        options: &WriteOptions,
        out: &mut Vec<u8>,
    ) -> Result<Report, Refusal> {
        let families = self.format().codec().families();
        let is_answer = matches!(self.side(), Side::Answer | Side::Choices);
        if !is_answer || families.is_empty() {
            let text = format!("--response is for a response, and this is {}", self.what());
            return Err(Refusal::bad_option(text));
        }
        let mut source = Vec::new();
        self.write(&WriteOptions::default(), &mut source);
        let mut reader = StreamReader::new(families, StreamOptions::default());
        reader.feed(&source, &mut |_| {});
        let mut answer = reader.finish(&mut |_| {});
        if let Some(error) = &answer.error {
            return Err(Refusal::bad_option(format!(
                "the response is an error: {}",
                error.message
            )));
        }
        let mut report = Report::new();
        name_response(&mut answer, to, &mut report);
        if let Some(others) = answer.choices.len().checked_sub(1).filter(|it| *it > 0)
            && matches!(to.name(), "anthropic" | "responses")
        {
            let text = format!("a response of {to} has one choice: {others} left out");
            report.push(Diagnostic::warning(Code::new("convert::lost-part"), text));
        }
        report.append(to.codec().write_response(&answer, options, out)?);
        Ok(report)
    }
}

/// A response without an id gets one, which a client's types ask for.
fn name_response(answer: &mut Assembled, to: Format, report: &mut Report) {
    if answer.id.as_ref().is_some_and(|it| !it.is_empty()) {
        return;
    }
    let id = match to.name() {
        "openai" => "chatcmpl_0",
        "anthropic" => "msg_0",
        _ => "resp_0",
    };
    answer.id = Some(id.to_owned());
    let text = "the response has no id and was given one";
    report.push(Diagnostic::info(Code::new("convert::id-synthesised"), text));
}
