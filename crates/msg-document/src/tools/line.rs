//! A line of `msg tools --jsonl`: text to read, or something to write as text.

use msg_xml::{Call, Thinking, ToolDefinition, ToolResult};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::options::{Own, ToolsOptions};
use super::read::read;
use crate::json::to_json;
use crate::line::{bad_line, decoded};
use crate::refusal::Refusal;

/// A line: text to read, or something to write.
#[derive(Deserialize)]
struct Line {
    input: Option<String>,
    input_b64: Option<String>,
    #[serde(default)]
    options: Own,
    #[serde(default)]
    stream_splits: Vec<usize>,
    call: Option<CallForm>,
    result: Option<ResultForm>,
    result_text: Option<String>,
    definitions: Option<Vec<ToolDefinition>>,
}

#[derive(Deserialize)]
struct CallForm {
    server_name: Option<String>,
    tool_name: String,
    arguments: Option<Box<RawValue>>,
}

#[derive(Serialize, Deserialize)]
struct ResultForm {
    name: String,
    content: String,
    #[serde(default)]
    is_error: bool,
}

#[derive(Serialize)]
struct TextAnswer {
    text: String,
}

#[derive(Serialize)]
struct ResultAnswer {
    result: Option<ResultForm>,
}

#[derive(Serialize)]
struct ErrorAnswer {
    error: &'static str,
}

impl From<ToolResult> for ResultForm {
    fn from(it: ToolResult) -> Self {
        ResultForm { name: it.name, content: it.content, is_error: it.is_error }
    }
}

impl ToolsOptions {
    /// The answer to a line of `msg tools --jsonl`: an object with `input` or `input_b64`, which is read, or with `call`,
    /// `result` or `definitions`, which are written, or with `result_text`, which is a result again; and whether that
    /// went without an error.
    ///
    /// Fails for a line that is not such an object, and for options that do not exist. Linear in the line.
    ///
    /// ```
    /// use msg_document::ToolsOptions;
    ///
    /// let answer = ToolsOptions::default().answer_line(br#"{"input":"hello"}"#)?;
    /// assert!(answer.1 && answer.0.starts_with(b"{"));
    /// # Ok::<(), msg_document::Refusal>(())
    /// ```
    pub fn answer_line(&self, line: &[u8]) -> Result<(Vec<u8>, bool), Refusal> {
        let line: Line = serde_json::from_slice(line)
            .map_err(|it| bad_line(format!("the line is not a request: {it}")))?;
        if let Some(call) = line.call {
            return Ok(written(render_call(call)));
        }
        if let Some(result) = line.result {
            let ResultForm { name, content, is_error } = result;
            return Ok(written(ToolResult { name, content, is_error }.render()));
        }
        if let Some(text) = line.result_text {
            let result = ToolResult::parse(&text).map(ResultForm::from);
            return Ok(clean(&ResultAnswer { result }));
        }
        if let Some(definitions) = line.definitions {
            let thinking = line.options.thinking.unwrap_or(Thinking::Extract);
            return Ok(clean(&TextAnswer { text: msg_xml::instructions(&definitions, thinking) }));
        }
        let options = line.options.over(self)?;
        let text = input(line.input, line.input_b64)?;
        let read = read(&text, &options, &line.stream_splits);
        Ok((read.to_json(), read.is_clean()))
    }
}

fn input(text: Option<String>, base64: Option<String>) -> Result<Vec<u8>, Refusal> {
    match (text, base64) {
        (Some(text), _) => Ok(text.into_bytes()),
        (None, Some(text)) => decoded("input_b64", &text),
        (None, None) => {
            Err(bad_line("expected input, input_b64, call, result, result_text or definitions"))
        }
    }
}

fn clean(value: &impl Serialize) -> (Vec<u8>, bool) {
    (to_json(value), true)
}

fn render_call(form: CallForm) -> Result<String, msg_xml::Error> {
    let arguments = form.arguments.map_or_else(|| "{}".to_owned(), |raw| raw.get().to_owned());
    let server = form.server_name.unwrap_or_else(|| "local".to_owned());
    msg_xml::render(&Call::new(form.tool_name, arguments).with_server(server))
}

fn written(res: Result<String, msg_xml::Error>) -> (Vec<u8>, bool) {
    match res {
        Ok(text) => clean(&TextAnswer { text }),
        Err(error) => (to_json(&ErrorAnswer { error: error.code() }), false),
    }
}
