//! What a model answered, from the response of one provider to that of another.

use msg_codec::{Assembled, StreamOptions, StreamReader};
use msg_core::{Code, Diagnostic, FinishReason, Report, Usage};

use crate::codec::{Side, WriteOptions};
use crate::document::Document;
use crate::format::Format;
use crate::refusal::Refusal;

impl Format {
    /// Writes the answer that a stream was assembled to as a response of this format: for a client that did not ask
    /// for a stream.
    ///
    /// Fails for a format that has no responses.
    ///
    /// ```
    /// use msg_document::{Format, CaptureOptions, WriteOptions, stream};
    ///
    /// let body = b"data: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hello\"},\"finish_reason\":\"stop\"}]}\n\n";
    /// let answer = stream(body, &CaptureOptions::default())?.assembled;
    /// let anthropic: Format = "anthropic".parse()?;
    /// let mut out = Vec::new();
    /// anthropic.write_answer(&answer, &WriteOptions::default(), &mut out)?;
    /// assert!(String::from_utf8_lossy(&out).contains(r#""content":[{"type":"text","text":"hello"}]"#));
    /// # Ok::<(), msg_document::Refusal>(())
    /// ```
    pub fn write_answer(
        self,
        answer: &Assembled,
        options: &WriteOptions,
        out: &mut Vec<u8>,
    ) -> Result<Report, Refusal> {
        self.codec().write_response(answer, options, out)
    }
}

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
        let is_answer = matches!(self.side(), Side::Answer | Side::Choices);
        if !is_answer || !self.format().codec().is_of_an_api() {
            let text = format!("--response is for a response, and this is {}", self.what());
            return Err(Refusal::bad_option(text));
        }
        let mut answer = self.answer()?;
        let mut report = Report::new();
        name_response(&mut answer, to, &mut report);
        report.extend(answer.usage.as_mut().map(Usage::settle).unwrap_or_default());
        if let Some(others) = answer.choices.len().checked_sub(1).filter(|it| *it > 0)
            && matches!(to.name(), "anthropic" | "responses" | "bedrock" | "interactions")
        {
            let text = format!("a response of {to} has one choice: {others} left out");
            report.push(Diagnostic::warning(Code::new("convert::lost-part"), text));
        }
        report.append(to.codec().write_response(&answer, options, out)?);
        Ok(report)
    }

    /// What the model answered: as the API is read, or of the messages.
    fn answer(&mut self) -> Result<Assembled, Refusal> {
        let families = self.format().codec().families();
        if families.is_empty() {
            let parts: Vec<_> = self.messages().iter().flat_map(|it| it.parts.clone()).collect();
            let calls = parts.iter().any(|it| it.as_tool_call().is_some());
            let finish = if calls { FinishReason::ToolCalls } else { FinishReason::Stop };
            let mut answer = Assembled::whole(parts, finish);
            self.content.around.describe(&mut answer);
            return Ok(answer);
        }
        let mut source = Vec::new();
        self.write(&WriteOptions::default(), &mut source);
        let mut reader = StreamReader::new(families, StreamOptions::default());
        reader.feed(&source, &mut |_| {});
        let answer = reader.finish(&mut |_| {});
        match &answer.error {
            None => Ok(answer),
            Some(error) => {
                let text = format!("the response is an error: {}", error.message);
                Err(Refusal::bad_option(text))
            }
        }
    }
}

/// A response without an id gets one, which a client's types ask for.
fn name_response(answer: &mut Assembled, to: Format, report: &mut Report) {
    let has_id = answer.id.as_ref().is_some_and(|it| !it.is_empty());
    if has_id || to.name() == "bedrock" {
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
