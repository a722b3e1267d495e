//! goose: JSON lines of messages with blocks of its own (SE-66).
//!
//! ```text
//! {"working_dir":"/srv/app","description":"fix"}
//! {"role":"assistant","created":1770112802,"content":[{"type":"toolRequest","id":"t1","toolCall":{"status":"success","value":{"name":"shell","arguments":{}}}}]}
//! {"role":"user","created":1770112803,"content":[{"type":"toolResponse","id":"t1","toolResult":{"status":"success","value":[{"type":"text","text":"ok"}]}}]}
//! ```

use msg_json::Reader;

use super::{Checked, Format, LineRules, Mends, list};
use crate::dialects::list::File;
use crate::finding::Finding;
use crate::frame::{Array, Lines, read_array};
use crate::json::Object;
use crate::link::shapes::TEXT_BLOCKS;
use crate::link::{Rules, Sender, Sent, results};
use crate::options::SessionOptions;
use crate::parts::goose as blocks;
use crate::source::Blob;
use crate::view::{Branch, BranchKind};
use crate::view::{View, maker, messages};
use crate::{Dialect, Error};

/// The dialect.
pub(crate) struct Goose;

impl Format for Goose {
    fn view(&self, blobs: &[Blob], options: &SessionOptions) -> Result<View, Error> {
        let export = export(super::only(blobs))?;
        let mut view = view(File::Array(&export), options)?;
        let document = Object::whole(&export.text, 0);
        let config = document.as_ref().and_then(|it| it.get("model_config")?.object());
        let model = config.as_ref().and_then(|it| it.text("model_name"));
        let provider = document.as_ref().and_then(|it| it.text("provider_name"));
        view.note_makers(|_| maker(model.clone(), provider.clone()));
        Ok(view)
    }

    fn check(&self, blobs: &[Blob], options: &SessionOptions) -> Result<Checked, Error> {
        let export = export(super::only(blobs))?;
        let document = Object::whole(&export.text, 0);
        let provider = document.as_ref().and_then(|it| it.text("provider_name"));
        let mends = check(File::Array(&export), provider.as_deref(), options)?;
        Ok(Checked::of_mends(&export.text, mends))
    }

    fn line_rules(&self, _: &str, start: &[u8]) -> Option<&dyn LineRules> {
        let names = first_names(start);
        let has = |wanted: &str| names.iter().any(|it| it == wanted);
        let is_export = has("working_dir") && (has("conversation") || has("messages"));
        (!is_export).then_some(self)
    }
}

impl LineRules for Goose {
    fn view_lines(&self, lines: &Lines<'_>, options: &SessionOptions) -> Result<View, Error> {
        view(File::Lines(lines), options)
    }

    fn check_lines(
        &self,
        lines: &Lines<'_>,
        _: &str,
        options: &SessionOptions,
    ) -> Result<Mends, Error> {
        check(File::Lines(lines), None, options)
    }
}

fn view(file: File<'_>, options: &SessionOptions) -> Result<View, Error> {
    let path = path(file, options)?;
    let mut view = View { findings: file.findings().to_vec(), ..View::default() };
    messages(&mut view, &path.sent, false, blocks::part);
    blocks::join_thoughts(&mut view);
    let hidden = path.hidden.last().map(|last| (*last, path.hidden.len()));
    let branch = hidden.map(|(last, count)| Branch::until(last, BranchKind::Compacted, count));
    view.branches.extend(branch);
    Ok(view)
}

/// The member names of the object that a text begins with, which may be cut off.
fn first_names(start: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(start);
    let mut reader = Reader::from_text(&text);
    let mut res = Vec::new();
    if reader.begin_object().is_err() {
        return res;
    }
    while let Ok(Some(key)) = reader.next_key() {
        res.push(key.text.into_owned());
        if reader.raw().is_err() {
            break;
        }
    }
    res
}

/// What `goose session export` writes: one document.
fn export(bytes: &[u8]) -> Result<Array<'_>, Error> {
    let found = || {
        let document = Object::whole(std::str::from_utf8(bytes).ok()?, 0)?;
        let member = ["conversation", "messages"].into_iter().find(|it| document.has(it))?;
        Some(read_array(bytes, Some(member))).filter(|it| it.is_readable())
    };
    let reason = "the export has no list of messages".to_owned();
    found().ok_or(Error::Unreadable { dialect: Dialect::Goose, offset: 0, reason })
}

fn check(file: File<'_>, provider: Option<&str>, options: &SessionOptions) -> Result<Mends, Error> {
    let path = path(file, options)?;
    let mut findings = file.findings().to_vec();
    findings.extend(path.unknown);
    let rules = Rules {
        joins_answers: false,
        results_first: true,
        finds_late: true,
        starts_with_user: true,
        blank_is_refused: false,
        renamed: '_',
        all: options.all,
        has_marks: file.has_marks(),
        limits: results::of(provider),
        text_blocks: TEXT_BLOCKS,
        placeholder: blocks::placeholder,
        media: blocks::media,
    };
    Ok(list::check(file, &path.sent, &rules, findings))
}

#[derive(Default)]
struct Path<'a> {
    sent: Vec<Sent<'a>>,
    /// Messages that the model does not see any more.
    hidden: Vec<usize>,
    /// Records that are nothing known.
    unknown: Vec<Finding>,
}

/// What is sent; up to a leaf, what was hidden later too.
fn path<'a>(file: File<'a>, options: &SessionOptions) -> Result<Path<'a>, Error> {
    let mut res = Path::default();
    for at in 0..super::records_to_leaf(options, file.len())? {
        let Some(object) = file.value(at).and_then(|it| it.object()) else { continue };
        match sender(&object) {
            Some(_) if is_hidden(&object) && options.leaf.is_none() => res.hidden.push(at),
            Some(sender) => res.sent.push(Sent {
                record: at,
                place: file.place(at),
                sender,
                answer: None,
                content: blocks::content(object.get("content")),
            }),
            None if is_header(&object) => {}
            None => res.unknown.push(super::unknown_record(file.place(at))),
        }
    }
    res.sent.retain(list::says_something);
    Ok(res)
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
