//! opencode: a folder of small files, or an export of them as one document (SE-65).
//!
//! ```text
//! session/PROJECT/ses_01.json    {"id":"ses_01","title":"…"}
//! message/ses_01/msg_01.json     {"id":"msg_01","sessionID":"ses_01","role":"assistant","time":{"created":1},…}
//! part/msg_01/prt_01.json        {"id":"prt_01","messageID":"msg_01","type":"tool","callID":"c","state":{…}}
//! {"info":{…},"messages":[{"info":{…},"parts":[…]}]}                             an export
//! ```

mod stored;
mod view;

use std::collections::BTreeMap;

use super::{Change, Checked, Format};
use crate::blob::Blob;
use crate::edit::{Edit, apply, set_member};
use crate::finding::Finding;
use crate::json::{Object, quoted};
use crate::options::RepairOptions;
use crate::parts::INTERRUPTED;
use crate::view::View;
use crate::{Dialect, Error};

use stored::{Message, Part, Stored};

/// The dialect.
pub(crate) struct OpenCode;

impl Format for OpenCode {
    fn view(&self, blobs: &[Blob], options: &RepairOptions) -> Result<View, Error> {
        let texts = stored::texts(blobs);
        let stored = Stored::read(&texts).ok_or(unreadable())?;
        let session = stored.session(options)?;
        Ok(view::of(&stored, session, options.leaf.as_deref()))
    }

    fn check(&self, blobs: &[Blob], options: &RepairOptions) -> Result<Checked, Error> {
        let texts = stored::texts(blobs);
        let stored = Stored::read(&texts).ok_or(unreadable())?;
        let mut findings = stored.findings.clone();
        let damaged = (0..texts.len()).filter(|it| !texts[*it].findings.is_empty());
        let mut edits: BTreeMap<usize, Vec<Edit>> = damaged.map(|it| (it, Vec::new())).collect();
        for (at, message) in stored.messages.iter().enumerate() {
            let goes_on = message.is_completed || at + 1 < stored.messages.len();
            for part in message.parts.iter().filter(|it| goes_on && it.is_stuck()) {
                findings.push(stuck(message, part, options.all));
                let state = part.object.inner("state");
                if let Some(state) = state.filter(|_| options.all) {
                    let blob = part.place.blob as usize;
                    edits.entry(blob).or_default().extend(interrupted(&state));
                }
            }
        }
        let change = |(blob, edits): (usize, Vec<Edit>)| Change {
            name: blobs[blob].name.clone(),
            bytes: Some(apply(&texts[blob].text, edits).into_bytes()),
        };
        Ok(Checked { findings, changed: edits.into_iter().map(change).collect() })
    }
}

fn unreadable() -> Error {
    Error::WrongDialect { dialect: Dialect::OpenCode, looks_like: None }
}

fn stuck(message: &Message<'_>, part: &Part<'_>, all: bool) -> Finding {
    let text = format!(
        "the tool of the part {} in the message {} is marked as running still",
        part.id, message.id
    );
    Finding::warning("session::stuck-tool", part.place, text).mended("mark it as interrupted", all)
}

/// The state of a tool that failed: the input stays, the end is the start.
fn interrupted(state: &Object<'_>) -> Vec<Edit> {
    let mut edits = vec![set_member(state, "status", "\"error\"")];
    let start = state.get("time").and_then(|it| it.get("start")).map_or("0", |it| it.source);
    let mut added = String::new();
    match state.inner("time") {
        Some(time) => edits.push(set_member(&time, "end", start)),
        None => added = format!(",\"time\":{{\"start\":{start},\"end\":{start}}}"),
    }
    let (at, _) = state.end_of_members();
    edits.push(Edit::insert(at, format!(",\"error\":{}{added}", quoted(INTERRUPTED))));
    edits
}
