//! goose: JSON lines of messages with blocks of its own (SE-66).
//!
//! ```text
//! {"working_dir":"/srv/app","description":"fix"}
//! {"role":"assistant","created":1770112802,"content":[{"type":"toolRequest","id":"t1","toolCall":{"status":"success","value":{"name":"shell","arguments":{}}}}]}
//! {"role":"user","created":1770112803,"content":[{"type":"toolResponse","id":"t1","toolResult":{"status":"success","value":[{"type":"text","text":"ok"}]}}]}
//! ```

use super::{Checked, Format, list};
use crate::Error;
use crate::blob::Blob;
use crate::finding::Finding;
use crate::frame::{Lines, read_lines};
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
        let lines = read_lines(super::only(blobs), options.max_record, |_, _| {});
        let mut view = View { findings: lines.findings.clone(), ..View::default() };
        messages(&mut view, &path(&lines).0, false, blocks::part);
        blocks::join_thoughts(&mut view);
        Ok(view)
    }

    fn check(&self, blobs: &[Blob], options: &RepairOptions) -> Result<Checked, Error> {
        let lines = read_lines(super::only(blobs), options.max_record, |_, _| {});
        let (sent, unknown) = path(&lines);
        let mut findings = lines.findings.clone();
        findings.extend(unknown);
        let rules = Rules {
            joins_answers: false,
            results_first: true,
            starts_with_user: true,
            all: options.all,
            placeholder: blocks::placeholder,
            images: blocks::images,
        };
        Ok(list::check(&lines, &sent, &rules, findings))
    }
}

/// What is sent, and records that are nothing known.
fn path<'a>(lines: &'a Lines<'_>) -> (Vec<Sent<'a>>, Vec<Finding>) {
    let (mut sent, mut unknown) = (Vec::new(), Vec::new());
    for at in 0..lines.records.len() {
        let Some(object) = lines.object(at) else { continue };
        match sender(&object) {
            Some(_) if is_hidden(&object) => {}
            Some(sender) => sent.push(Sent {
                record: at,
                place: lines.place(at),
                sender,
                answer: None,
                content: blocks::content(object.get("content")),
            }),
            None if is_header(&object) => {}
            None => unknown.push(super::unknown_record(lines.place(at))),
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
