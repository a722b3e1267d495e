//! Converts messages to cells (MF-38). A message that a cell cannot hold exactly is stored in a cell as JSON.

use msg_core::{CallKind, Message, Part, Reasoning, Role, Text, ToolCall, ToolResult, native};
use serde::Deserialize;

use crate::document::{CellRef, MessageFile};
use crate::error::Error;
use crate::history::answers;
use crate::index::Index;
use crate::model::is_language;
use crate::render::{NewCell, NewId, check_type};
use crate::syntax::grammar::CellMarker;

/// How messages become cells.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ToCells {
    /// Whose the answers are that have no name; else the default agent's.
    pub agent: Option<String>,
    /// Attributes of the cell that holds the text: time, model, tokens.
    pub attrs: Vec<(String, Option<String>)>,
}

impl ToCells {
    /// Answers without a name are this agent's.
    #[must_use]
    pub fn with_agent(mut self, agent: impl Into<String>) -> Self {
        self.agent = Some(agent.into());
        self
    }

    /// The cell that holds the text has this attribute.
    #[must_use]
    pub fn with_attr(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.attrs.push((key.into(), Some(value.into())));
        self
    }
}

/// The cells of a message at the end of a document (MF-38).
///
/// Reading them back, with `open`, gives an equal message, for chains whose call ids are unique and
/// whose results are in the order in which a history gives them.
///
/// # Errors
/// [`Error::Refused`] if an attribute of the options could not be read back.
///
/// ```
/// use msg_file::{MessageFile, Mode, ToCells, cells_of};
/// use msg_core::Message;
/// let doc = MessageFile::parse(&b""[..], Mode::MessageFile)?;
/// let cells = cells_of(&Message::user("hi\n"), &doc, &ToCells::default())?;
/// assert_eq!((cells[0].body.as_slice(), cells[0].exact), (&b"hi\n"[..], true));
/// # Ok::<(), msg_file::Error>(())
/// ```
pub fn cells_of(
    message: &Message,
    at: &MessageFile,
    options: &ToCells,
) -> Result<Vec<NewCell>, Error> {
    Ok(cells_for(message, &Index::of(at), options))
}

/// The `[set]` cell that makes an agent the default from here on (MF-55).
///
/// # Errors
/// [`Error::Refused`] with `agent-unknown` if no agent has that name.
///
/// ```
/// use msg_file::{MessageFile, Mode, set_default_cell};
/// let doc = MessageFile::parse(&b"---\nagents: [a, b]\n---\n"[..], Mode::MessageFile)?;
/// assert_eq!(set_default_cell(&doc, "b")?.ty.as_deref(), Some("set"));
/// assert!(set_default_cell(&doc, "c").is_err());
/// # Ok::<(), msg_file::Error>(())
/// ```
pub fn set_default_cell(doc: &MessageFile, name: &str) -> Result<NewCell, Error> {
    doc.agent(name)?;
    let cell = NewCell { ty: Some("set".to_owned()), ..NewCell::message("") };
    Ok(cell.with_attr("default", name))
}

pub(crate) fn cells_for(message: &Message, index: &Index, options: &ToCells) -> Vec<NewCell> {
    let cells = match message.role {
        _ if !message.extra.is_empty() || !writable_name(message) => None,
        Role::User | Role::System | Role::Developer => said(message).map(|c| vec![c]),
        Role::Assistant => answered(message, index, options),
        Role::Tool => results(message, index),
        _ => None,
    };
    cells.unwrap_or_else(|| vec![native_cell(message, index, options)])
}

/// A value that an attribute can hold.
fn fits(text: &str) -> bool {
    !text.is_empty() && !text.contains('\0')
}

fn writable_name(message: &Message) -> bool {
    message.name.as_deref().is_none_or(fits)
}

fn plain(text: &Text) -> Option<&str> {
    text.extra.is_empty().then_some(&*text.text)
}

/// A message of one text.
fn said(message: &Message) -> Option<NewCell> {
    let [Part::Text(text)] = message.parts.as_slice() else { return None };
    let mut cell =
        NewCell { ty: Some("markdown".to_owned()), exact: true, ..NewCell::message(plain(text)?) };
    if message.role != Role::User {
        cell = cell.with_attr("role", message.role.as_str());
    }
    if let Some(name) = &message.name {
        cell = cell.with_attr("from", name);
    }
    Some(cell)
}

/// The type of an agent's cells: its name where that is read as an agent's.
fn agent_type(name: Option<&str>, index: &Index, options: &ToCells) -> String {
    let readable = |name: &str| {
        let lower = name.to_ascii_lowercase();
        let taken = matches!(lower.as_str(), "tool" | "summary" | "output" | "markdown" | "md")
            || is_language(&lower);
        check_type(name).is_ok()
            && (!taken
                || (index.agents.registered(name).is_some()
                    && !matches!(lower.as_str(), "tool" | "summary")))
    };
    let default = index.agents.current();
    let candidates = [name, options.agent.as_deref(), default.as_deref()];
    candidates.into_iter().flatten().find(|n| readable(n)).unwrap_or("assistant").to_owned()
}

fn turn_cell(message: &Message, index: &Index, options: &ToCells, body: &str) -> NewCell {
    let ty = agent_type(message.name.as_deref(), index, options);
    let mut cell = NewCell { exact: true, ..NewCell::output(ty, body) };
    if let Some(name) = &message.name {
        cell = cell.with_attr("name", name);
    }
    cell
}

/// An answer: a thought, a text, calls, in this order and each as plain as a cell can hold it.
fn answered(message: &Message, index: &Index, options: &ToCells) -> Option<Vec<NewCell>> {
    let (thought, parts) = match message.parts.as_slice() {
        [Part::Reasoning(it), rest @ ..] => (Some(it), rest),
        all => (None, all),
    };
    let (text, parts) = match parts {
        [Part::Text(it), rest @ ..] => (Some(plain(it)?), rest),
        all => (None, all),
    };
    let calls = parts.iter().map(plain_call).collect::<Option<Vec<&ToolCall>>>()?;
    let mut cells = Vec::new();
    match (thought, text) {
        (thought, Some(text)) if !text.is_empty() || calls.is_empty() => {
            if let Some(thought) = thought {
                cells.push(thought_cell(message, index, options, thought)?);
            }
            cells.push(turn_cell(message, index, options, text));
        }
        (Some(thought), None) if !calls.is_empty() => {
            cells.push(thought_cell(message, index, options, thought)?);
        }
        (None, None) if !calls.is_empty() => cells.push(turn_cell(message, index, options, "")),
        _ => return None,
    }
    let turn = CellRef::Ordinal(index.len() + cells.len());
    if let Some(cell) = cells.last_mut() {
        cell.attrs.extend(options.attrs.iter().cloned());
    }
    cells.extend(calls.into_iter().map(|call| call_cell(call, turn.clone())));
    Some(cells)
}

fn thought_cell(
    message: &Message,
    index: &Index,
    options: &ToCells,
    it: &Reasoning,
) -> Option<NewCell> {
    let signature = it.signature.as_deref();
    let simple = it.summary.is_none()
        && it.redacted.is_none()
        && it.encrypted.is_none()
        && it.extra.is_empty();
    if !simple || !signature.is_none_or(fits) {
        return None;
    }
    let mut cell =
        turn_cell(message, index, options, it.text.as_deref()?).with_attr("reasoning", "1");
    if let Some(signature) = signature {
        cell = cell.with_attr("signature", signature);
    }
    Some(cell)
}

/// A call of which a cell can hold everything.
fn plain_call(part: &Part) -> Option<&ToolCall> {
    let Part::ToolCall(call) = part else { return None };
    let plain =
        call.kind == CallKind::Function && call.signature.is_none() && call.extra.is_empty();
    (plain && fits(&call.id) && fits(&call.name)).then_some(call)
}

fn call_cell(call: &ToolCall, turn: CellRef) -> NewCell {
    let cell = NewCell { exact: true, place: NewId::Of(turn), ..NewCell::output("tool", "") };
    let cell = cell.with_attr("name", &call.name).with_attr("call_id", &call.id);
    let payload = answers::payload(call);
    let cell = NewCell { body: payload.body.into_bytes(), ..cell };
    if payload.verbatim { cell.with_attr("payload", "json") } else { cell }
}

/// A tool message: each result below its call.
fn results(message: &Message, index: &Index) -> Option<Vec<NewCell>> {
    if message.parts.is_empty() || message.name.is_some() {
        return None;
    }
    message
        .parts
        .iter()
        .map(|part| match part {
            Part::ToolResult(it) => result_cell(it, index),
            _ => None,
        })
        .collect()
}

fn result_cell(it: &ToolResult, index: &Index) -> Option<NewCell> {
    let call = index.call(&it.call_id)?;
    let cell = NewCell {
        exact: true,
        place: NewId::Of(CellRef::Id(call.to_owned())),
        ..NewCell::output("tool", "")
    };
    let cell = cell.with_attr("status", if it.is_error { "failure" } else { "success" });
    let text = match it.content.parts() {
        [Part::Text(text)] => plain(text),
        _ => None,
    };
    let simple =
        it.kind == CallKind::Function && it.extra.is_empty() && it.name.as_deref().is_none_or(fits);
    Some(match text.filter(|_| simple) {
        Some(text) => {
            let cell = NewCell { body: text.as_bytes().to_vec(), ..cell };
            match &it.name {
                Some(name) => cell.with_attr("name", name),
                None => cell,
            }
        }
        None => {
            let mut whole = Message::new(Role::Tool);
            whole.parts.push(Part::ToolResult(it.clone()));
            NewCell { body: native_body(&whole), ..cell.with_attr("format", "native") }
        }
    })
}

/// The JSON of a message, fenced.
pub(crate) fn native_body(message: &Message) -> Vec<u8> {
    let mut body = b"```json\n".to_vec();
    native::write_message(message, &mut body);
    body.extend_from_slice(b"\n```");
    body
}

fn native_cell(message: &Message, index: &Index, options: &ToCells) -> NewCell {
    let body = native_body(message);
    let cell = if message.role == Role::Assistant {
        let name = message.name.as_deref().filter(|n| fits(n));
        let mut cell = NewCell::output(agent_type(name, index, options), body);
        cell.attrs.extend(options.attrs.iter().cloned());
        cell
    } else {
        NewCell {
            kind: CellMarker::Message,
            ty: Some("markdown".to_owned()),
            ..NewCell::message(body)
        }
    };
    cell.with_attr("format", "native")
}
