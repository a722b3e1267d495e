//! Codex: JSON lines, each a record around a Responses item, an event or a header (SE-50 to SE-56).
//!
//! ```text
//! {"timestamp":"…","type":"session_meta","payload":{"id":"019b…","cwd":"/srv/app",…}}
//! {"timestamp":"…","type":"response_item","payload":{"type":"function_call","call_id":"call_1",…}}
//! {"timestamp":"…","type":"response_item","payload":{"type":"function_call_output","call_id":"call_1",…}}
//! {"timestamp":"…","type":"event_msg","payload":{"type":"user_message",…}}      shown, not sent
//! {"timestamp":"…","type":"compacted","payload":{"message":"…","replacement_history":[…]}}
//! ```

mod header;
mod mend;
mod path;
mod rules;
mod usage;
mod view;

use super::{Format, LineRules, Mends};
use crate::Error;
use crate::frame::Lines;
use crate::json::Object;
use crate::options::RepairOptions;
use crate::surrogate;
use crate::view::View;

use path::Path;

/// The dialect.
pub(crate) struct Codex;

impl Format for Codex {
    fn line_rules(&self, _: &str, _: &[u8]) -> Option<&dyn LineRules> {
        Some(self)
    }
}

impl LineRules for Codex {
    fn view_lines(&self, lines: &Lines<'_>, options: &RepairOptions) -> Result<View, Error> {
        let path = Path::of(lines, options)?;
        let mut view = view::of(&path);
        view.branches = path.branches;
        view.usage = usage::of(lines);
        view.findings.clone_from(&lines.findings);
        Ok(view)
    }

    fn check_lines(
        &self,
        lines: &Lines<'_>,
        name: &str,
        options: &RepairOptions,
    ) -> Result<Mends, Error> {
        let path = Path::of(lines, options)?;
        let mut findings = lines.findings.clone();
        if lines.records.is_empty() || path.is_bare {
            // Files of the first versions, which have no envelope, are read only (SE-50).
            return Ok(Mends::new(lines.records.len(), 1, findings, Vec::new()));
        }
        findings.extend(path.unknown.iter().map(|it| super::unknown_record(lines.place(*it))));
        let mut edits = Vec::new();
        let header = header::check(lines, name, &mut findings, &mut edits);
        let mut plan = rules::check(&path, options);
        findings.append(&mut plan.findings);
        edits.append(&mut plan.edits);
        for it in &path.items {
            let found = surrogate::mend(it.value, lines.has_marks());
            findings.extend(super::lone_surrogates(it.place, found.count));
            edits.extend(found.edits);
        }
        let left = mend::write(lines, &path, &plan, header, &mut findings, &mut edits);
        Ok(Mends::new(lines.records.len(), left, findings, edits))
    }
}

/// The kind of a record and its payload.
fn envelope<'a>(record: &Object<'a>) -> Option<(String, Object<'a>)> {
    let payload = record.get("payload")?.object()?;
    Some((record.text("type")?.into_owned(), payload))
}

/// As [`envelope`], of a line.
fn envelope_of<'a>(lines: &'a Lines<'_>, record: usize) -> Option<(String, Object<'a>)> {
    envelope(&lines.object(record)?)
}
