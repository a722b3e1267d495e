//! The messages of a document as flat values: a row a message, for tables and for programs that look at single
//! ones (SC-10, MESSAGE).

use msg_core::{Message, native};
use serde::Serialize;

use crate::document::Document;
use crate::json::to_json;
use crate::read_options::ReadOptions;
use crate::refusal::Refusal;

/// A message as a row of a table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MessageRow {
    /// Its index, from 0.
    pub index: usize,
    /// Who said it.
    pub role: String,
    /// The name of who said it.
    pub name: Option<String>,
    /// Its text parts, joined with a line feed.
    pub text: String,
    /// Its calls.
    pub calls: Vec<CallRow>,
    /// The ids of the calls that it answers.
    pub result_ids: Vec<String>,
    /// The whole message in native form.
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

/// The messages of a document as flat values.
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

    /// Compact JSON of it; `native` is the object itself there.
    pub fn to_json(&self) -> Vec<u8> {
        to_json(self)
    }
}

/// JSON that is written as it is.
fn raw<S: serde::Serializer>(json: &str, serializer: S) -> Result<S::Ok, S::Error> {
    let raw: &serde_json::value::RawValue =
        serde_json::from_str(json).map_err(serde::ser::Error::custom)?;
    raw.serialize(serializer)
}
