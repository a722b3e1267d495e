//! The messages of a document as flat rows, for tables and for programs that process single messages (SC-10,
//! MESSAGE).

use std::{borrow::Cow, collections::HashMap, fmt::Write as _};

use msg_core::{Message, Part, ToolCall, ToolResult, native};
use msg_formats::{ReadOptions, Refusal};
use quick_xml::escape::escape;
use serde::{Deserialize, Serialize};

use crate::document::Document;
use crate::json::to_json;

/// A message as a row of a table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MessageRow {
    /// Its index, from 0.
    pub index: usize,
    /// The role of its author.
    pub role: String,
    /// The name of its author.
    pub name: Option<String>,
    /// Its text parts, joined by line feeds.
    pub text: String,
    /// Its calls.
    pub calls: Vec<CallRow>,
    /// The ids of the calls that it answers.
    pub result_ids: Vec<String>,
    /// The whole message, in native form.
    #[serde(serialize_with = "raw")]
    pub native: String,
}

/// A call as a row of a table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CallRow {
    /// Its id.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its arguments, as the model wrote them.
    pub arguments: String,
}

/// The messages of a document as flat rows.
///
/// Fails if it cannot be read. Linear in the document.
///
/// ```
/// use msg_document::{ReadOptions, messages};
///
/// let rows = messages(br#"[{"role":"user","content":"hi"}]"#, &ReadOptions::default())?;
/// assert_eq!((rows[0].role.as_str(), rows[0].text.as_str()), ("user", "hi"));
/// assert_eq!(rows[0].native, r#"{"role":"user","parts":[{"type":"text","text":"hi"}]}"#);
/// # Ok::<(), msg_document::Refusal>(())
/// ```
pub fn messages(json: &[u8], read: &ReadOptions) -> Result<Vec<MessageRow>, Refusal> {
    let messages = Document::read(json, read)?.into_messages();
    Ok(messages.iter().enumerate().map(|(index, it)| MessageRow::of(index, it)).collect())
}

impl MessageRow {
    fn of(index: usize, it: &Message) -> Self {
        let calls = it.tool_calls().map(|it| CallRow {
            id: it.id.clone(),
            name: it.name.clone(),
            arguments: it.arguments.text().to_owned(),
        });
        let texts: Vec<_> = it.parts.iter().filter_map(|it| it.as_text()).collect();
        let mut native = Vec::new();
        native::write_message(it, &mut native);
        MessageRow {
            index,
            role: it.role.as_str().to_owned(),
            name: it.name.clone(),
            text: texts.join("\n"),
            calls: calls.collect(),
            result_ids: it.tool_results().map(|it| it.call_id.clone()).collect(),
            native: String::from_utf8_lossy(&native).into_owned(),
        }
    }

    /// Its compact JSON; there, `native` is an object.
    pub fn to_json(&self) -> Vec<u8> {
        to_json(self)
    }
}

/// Serialises a string that is already JSON.
fn raw<S: serde::Serializer>(json: &str, serializer: S) -> Result<S::Ok, S::Error> {
    let raw: &serde_json::value::RawValue =
        serde_json::from_str(json).map_err(serde::ser::Error::custom)?;
    raw.serialize(serializer)
}

// A conversation as text or XML, for the prompt of a model that is to summarise it.
//
// ```text
// [user ada]                        <transcript>
// What is in a?                     <message role="user" name="ada">
// <text>What is in a?</text>
// [assistant]                       </message>
// read({"path":"a"})                <message role="assistant">
// <call id="c1" name="read">{"path":"a"}</call>
// [tool]                            </message>
// read: one line                    …
// ```
//
// Leaves out thinking; images, sound and files appear as names only. A transcript cannot be parsed, because texts may
// look like headings.

/// The form of a transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TranscriptForm {
    /// A line `[ROLE NAME]` above each message, calls as `name(arguments)`, results as `name: …`.
    #[default]
    Text,
    /// XML elements `message` with `text`, `call` and `result`, escaped.
    Xml,
}

/// Options of a transcript.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TranscriptOptions {
    /// Its form.
    pub form: TranscriptForm,
    /// Cut results of tools after this many bytes, at a character boundary, with a note.
    pub max_bytes_per_result: Option<usize>,
}

impl TranscriptOptions {
    msg_core::setters! {
        new;
        /// Sets the form.
        with_form(form: TranscriptForm);
        /// Cuts results of tools after this many bytes.
        with_max_bytes_per_result(bytes: usize) max_bytes_per_result = Some(bytes);
    }
}

/// A transcript of messages. Linear.
///
/// ```
/// use msg_core::Message;
/// use msg_document::{TranscriptOptions, transcript};
///
/// let messages = [Message::user("hi"), Message::assistant("hello")];
/// let text = transcript(&messages, &TranscriptOptions::default());
/// assert_eq!(text, "[user]\nhi\n\n[assistant]\nhello\n");
/// ```
pub fn transcript(messages: &[Message], options: &TranscriptOptions) -> String {
    let mut writer = Writer { options, names: HashMap::new(), out: String::new() };
    match options.form {
        TranscriptForm::Text => messages.iter().enumerate().for_each(|(at, it)| {
            writer.out.push_str(if at == 0 { "" } else { "\n" });
            writer.text_message(it);
        }),
        TranscriptForm::Xml => {
            writer.out.push_str("<transcript>\n");
            messages.iter().for_each(|it| writer.xml_message(it));
            writer.out.push_str("</transcript>\n");
        }
    }
    writer.out
}

struct Writer<'a> {
    options: &'a TranscriptOptions,
    /// The names of the calls so far, by id: results often have none.
    names: HashMap<&'a str, &'a str>,
    out: String,
}

impl<'a> Writer<'a> {
    fn text_message(&mut self, message: &'a Message) {
        let name =
            message.name.as_ref().map_or_else(String::new, |it| format!(" {}", one_line(it)));
        let _ = writeln!(self.out, "[{}{name}]", one_line(message.role.as_str()));
        for part in &message.parts {
            let line: Cow<'_, str> = match part {
                Part::Refusal(it) => it.text.as_str().into(),
                Part::Reasoning(_) => continue,
                Part::ToolCall(it) => {
                    self.know(it);
                    format!("{}({})", it.name, it.arguments.text()).into()
                }
                Part::ToolResult(it) => {
                    let name = self.name_of(it);
                    format!("{name}: {}", self.result(it)).into()
                }
                other => match other.said() {
                    Some(said) => said.into(),
                    None => format!("[{}]", kind(other)).into(),
                },
            };
            self.out.push_str(line.strip_suffix('\n').unwrap_or(&line));
            self.out.push('\n');
        }
    }

    fn xml_message(&mut self, message: &'a Message) {
        let _ = write!(self.out, "<message role=\"{}\"", safe(message.role.as_str()));
        if let Some(name) = &message.name {
            let _ = write!(self.out, " name=\"{}\"", safe(name));
        }
        self.out.push_str(">\n");
        for part in &message.parts {
            self.xml_part(part);
        }
        self.out.push_str("</message>\n");
    }

    fn xml_part(&mut self, part: &'a Part) {
        let _ = match part {
            Part::Refusal(it) => writeln!(self.out, "<text>{}</text>", safe(&it.text)),
            Part::Reasoning(_) => Ok(()),
            Part::ToolCall(it) => {
                self.know(it);
                let (id, name, arguments) =
                    (safe(&it.id), safe(&it.name), safe(it.arguments.text()));
                writeln!(self.out, "<call id=\"{id}\" name=\"{name}\">{arguments}</call>")
            }
            Part::ToolResult(it) => {
                let (id, name, text) = (safe(&it.call_id), self.name_of(it), self.result(it));
                let (name, text) = (safe(name), safe(&text));
                writeln!(self.out, "<result id=\"{id}\" name=\"{name}\">{text}</result>")
            }
            other => match other.said() {
                Some(said) => writeln!(self.out, "<text>{}</text>", safe(said)),
                None => writeln!(self.out, "<{}/>", kind(other)),
            },
        };
    }

    fn know(&mut self, call: &'a ToolCall) {
        self.names.insert(&call.id, &call.name);
    }

    fn name_of(&self, result: &'a ToolResult) -> &'a str {
        let own = result.name.as_deref().filter(|it| !it.is_empty());
        own.or_else(|| self.names.get(result.call_id.as_str()).copied()).unwrap_or("result")
    }

    fn result(&self, result: &'a ToolResult) -> Cow<'a, str> {
        let text = result.content.said();
        let limit = self.options.max_bytes_per_result.unwrap_or(usize::MAX);
        if text.len() <= limit {
            return text;
        }
        let end = (0..=limit).rev().find(|it| text.is_char_boundary(*it)).unwrap_or(0);
        format!("{}… [{} more bytes]", &text[..end], text.len() - end).into()
    }
}

/// The name shown for a part without text.
fn kind(part: &Part) -> &'static str {
    match part {
        Part::Image(_) => "image",
        Part::Audio(_) => "audio",
        Part::File(_) => "file",
        _ => "other",
    }
}

/// A name without line breaks.
fn one_line(text: &str) -> Cow<'_, str> {
    if text.contains(char::is_control) {
        text.replace(char::is_control, " ").into()
    } else {
        text.into()
    }
}

/// A text for XML: characters that XML cannot contain become U+FFFD.
fn safe(text: &str) -> String {
    let is_none = |it: char| matches!(it, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}');
    let text = escape(text);
    if text.contains(is_none) { text.replace(is_none, "\u{fffd}") } else { text.into_owned() }
}
