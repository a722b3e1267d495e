//! Results that are in records of the user (SE-133): Gemini CLI writes them a second time there, and sends both.

use std::collections::HashSet;

use super::id_of;
use crate::dialects::file::File;
use crate::dialects::gemini_cli::view::{Kind, Message};
use crate::edit::{Edit, drop_elements};
use crate::finding::Finding;
use crate::json::{Object, Value};

/// The ids of the results of user records.
pub(super) fn in_records(messages: &[Message<'_>]) -> HashSet<String> {
    let users = messages.iter().filter(|it| it.kind == Kind::User);
    let parts = users.flat_map(|it| it.object.list("content"));
    parts.filter_map(|it| response_id(&it)).collect()
}

/// The ids of the results that are with their calls.
pub(super) fn with_calls(message: &Message<'_>) -> impl Iterator<Item = String> + use<> {
    let mut res = Vec::new();
    for call in message.object.list("toolCalls").iter().filter_map(|it| it.object()) {
        let responses: Vec<_> = call.list("result");
        if responses.iter().any(|it| it.get("functionResponse").is_some()) {
            res.extend(id_of(&call).map(|it| it.into_owned()));
        }
        res.extend(responses.iter().filter_map(response_id));
    }
    res.into_iter()
}

fn response_id(part: &Value<'_>) -> Option<String> {
    let response = part.get("functionResponse")?.object()?;
    id_of(&response).map(|it| it.into_owned())
}

/// What is removed of user records.
pub(super) struct Removed {
    pub(super) findings: Vec<Finding>,
    pub(super) edits: Vec<Edit>,
    /// How many records.
    pub(super) records: usize,
}

/// Removes results that answer no call, or one that has a result; a record of which nothing is left goes.
pub(super) fn check(file: File<'_>, messages: &[Message<'_>]) -> Removed {
    let mut res = Removed { findings: Vec::new(), edits: Vec::new(), records: 0 };
    let (mut answered, mut called) = (HashSet::new(), HashSet::new());
    for message in messages {
        match message.kind {
            Kind::Gemini => {
                called.extend(call_ids(&message.object));
                answered.extend(with_calls(message));
            }
            Kind::User => {
                let parts = message.object.list("content");
                let mut dropped = HashSet::new();
                for (at, part) in parts.iter().enumerate() {
                    let Some(id) = response_id(part) else { continue };
                    let (code, text) = match (called.contains(&id), answered.insert(id.clone())) {
                        (true, true) => continue,
                        (true, false) => (
                            "session::duplicate-result",
                            format!("the result of the call {id} is stored twice"),
                        ),
                        (false, _) => {
                            let text = format!("tool result `{id}` matches no earlier call");
                            ("session::orphan-result", text)
                        }
                    };
                    dropped.insert(at);
                    let finding = Finding::error(code, message.place.with_block(at), text);
                    res.findings.push(finding.mended("remove the result", false));
                }
                if !dropped.is_empty() {
                    remove(file, message, &parts, &dropped, &mut res);
                }
            }
            Kind::Note => {}
        }
    }
    res
}

fn remove(
    file: File<'_>,
    message: &Message<'_>,
    parts: &[Value<'_>],
    dropped: &HashSet<usize>,
    to: &mut Removed,
) {
    if dropped.len() < parts.len() {
        return to.edits.extend(drop_elements(parts, |it| dropped.contains(&it)));
    }
    let is_a_record = file.value(message.record).is_some_and(|it| it.at == message.value.at);
    if is_a_record {
        to.edits.extend(file.drop(&[message.record]));
        to.records += 1;
    } else if let (Some(first), Some(last)) = (parts.first(), parts.last()) {
        to.edits.push(Edit::remove(first.at..last.end()));
    }
}

/// The ids of the calls of an answer, wherever they are in it.
fn call_ids(message: &Object<'_>) -> Vec<String> {
    let content = message.list("content");
    let in_content = content.iter().filter_map(|it| it.get("functionCall")?.object());
    let list = message.list("toolCalls");
    let in_list = list.iter().filter_map(|it| it.object());
    in_content.chain(in_list).filter_map(|it| id_of(&it).map(|it| it.into_owned())).collect()
}
