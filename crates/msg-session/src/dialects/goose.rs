//! goose: JSON lines of messages with blocks of its own (SE-66).
//!
//! ```text
//! {"working_dir":"/srv/app","description":"fix"}
//! {"role":"assistant","created":1770112802,"content":[{"type":"toolRequest","id":"t1","toolCall":{"status":"success","value":{"name":"shell","arguments":{}}}}]}
//! {"role":"user","created":1770112803,"content":[{"type":"toolResponse","id":"t1","toolResult":{"status":"success","value":[{"type":"text","text":"ok"}]}}]}
//! ```

use super::list::Records;
use super::{Checked, Format, list};
use crate::Error;
use crate::blob::Blob;
use crate::finding::Finding;
use crate::frame::{Array, read_array, read_lines};
use crate::json::Object;
use crate::link::{Rules, Sender, Sent};
use crate::options::RepairOptions;
use crate::parts::goose as blocks;
use crate::view::{View, messages};

/// The dialect.
pub(crate) struct Goose;

impl Format for Goose {
    fn view(&self, blobs: &[Blob], options: &RepairOptions) -> Result<View, Error> {
        super::leaf_is_not_chosen(options)?;
        let bytes = super::only(blobs);
        let mut view = View::default();
        if let Some(export) = export(bytes) {
            view.findings.clone_from(&export.findings);
            messages(&mut view, &path(&export).0, false, blocks::part);
        } else {
            let lines = read_lines(bytes, options.max_record, |_, _| {});
            view.findings.clone_from(&lines.findings);
            messages(&mut view, &path(&lines).0, false, blocks::part);
        }
        blocks::join_thoughts(&mut view);
        Ok(view)
    }

    fn check(&self, blobs: &[Blob], options: &RepairOptions) -> Result<Checked, Error> {
        let bytes = super::only(blobs);
        if let Some(export) = export(bytes) {
            return Ok(check(&export, export.findings.clone(), options));
        }
        let lines = read_lines(bytes, options.max_record, |_, _| {});
        Ok(check(&lines, lines.findings.clone(), options))
    }
}

/// What `goose session export` writes: one document.
fn export(bytes: &[u8]) -> Option<Array<'_>> {
    let text = std::str::from_utf8(bytes).ok()?;
    let document = Object::whole(text, 0).filter(|it| it.has("working_dir"))?;
    let member = ["conversation", "messages"].into_iter().find(|it| document.has(it))?;
    Some(read_array(bytes, Some(member))).filter(|it| it.is_readable())
}

fn check(records: &impl Records, mut findings: Vec<Finding>, options: &RepairOptions) -> Checked {
    let (sent, unknown) = path(records);
    findings.extend(unknown);
    let rules = Rules {
        joins_answers: false,
        results_first: true,
        starts_with_user: true,
        all: options.all,
        placeholder: blocks::placeholder,
        images: blocks::images,
    };
    list::check(records, &sent, &rules, findings)
}

/// What is sent, and records that are nothing known.
fn path(records: &impl Records) -> (Vec<Sent<'_>>, Vec<Finding>) {
    let (mut sent, mut unknown) = (Vec::new(), Vec::new());
    for at in 0..records.len() {
        let Some(object) = records.value(at).and_then(|it| it.object()) else { continue };
        match sender(&object) {
            Some(_) if is_hidden(&object) => {}
            Some(sender) => sent.push(Sent {
                record: at,
                place: records.place(at),
                sender,
                answer: None,
                content: blocks::content(object.get("content")),
            }),
            None if is_header(&object) => {}
            None => unknown.push(super::unknown_record(records.place(at))),
        }
    }
    sent.retain(list::says_something);
    (sent, unknown)
}

fn sender(object: &Object<'_>) -> Option<Sender> {
    match &*object.text("role")? {
        "user" => Some(Sender::User),
        "assistant" => Some(Sender::Assistant),
        _ => None,
    }
}

fn is_hidden(object: &Object<'_>) -> bool {
    let visible = object.get("metadata").and_then(|it| it.get("agentVisible"));
    visible.is_some_and(|it| it.source == "false")
}

fn is_header(object: &Object<'_>) -> bool {
    object.has("working_dir") || object.has("message_count")
}
