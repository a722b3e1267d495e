//! What sessions have in common whose records are messages with lists of blocks, one behind the other, in
//! lines (goose) or in one array (cline): the edits of their records.

use super::Mends;
use crate::edit::Edit;
use crate::finding::{Finding, Place};
use crate::frame::{Array, Lines};
use crate::json::Value;
use crate::link::{Content, Plan, Rules, Sender, Sent};
use crate::surrogate;

/// Where records stand.
pub(super) trait Records {
    fn len(&self) -> usize;
    /// Whether long values are marks.
    fn has_marks(&self) -> bool;
    /// The value of a record.
    fn value(&self, record: usize) -> Option<Value<'_>>;
    fn place(&self, record: usize) -> Place;
    fn drop(&self, records: &[usize]) -> Vec<Edit>;
    fn insert_behind(&self, record: usize, json: &str) -> Edit;
    fn insert_before(&self, record: usize, json: &str) -> Edit;
    /// The JSON of a record that comes; `like` is the one that it stands beside.
    fn message(&self, sender: Sender, content: &str, like: usize) -> String;
}

impl Records for Array<'_> {
    fn len(&self) -> usize {
        self.records.len()
    }

    fn has_marks(&self) -> bool {
        false
    }

    fn value(&self, record: usize) -> Option<Value<'_>> {
        Array::value(self, record)
    }

    fn place(&self, record: usize) -> Place {
        Array::place(self, record)
    }

    fn drop(&self, records: &[usize]) -> Vec<Edit> {
        Array::drop(self, |it| records.binary_search(&it).is_ok())
    }

    fn insert_behind(&self, record: usize, json: &str) -> Edit {
        Array::insert_behind(self, record, json)
    }

    fn insert_before(&self, record: usize, json: &str) -> Edit {
        Array::insert_before(self, record, json)
    }

    fn message(&self, sender: Sender, content: &str, _: usize) -> String {
        format!(r#"{{"role":"{}","content":[{content}]}}"#, role(sender))
    }
}

impl Records for Lines<'_> {
    fn len(&self) -> usize {
        self.records.len()
    }

    fn has_marks(&self) -> bool {
        Lines::has_marks(self)
    }

    fn value(&self, record: usize) -> Option<Value<'_>> {
        Lines::value(self, record)
    }

    fn place(&self, record: usize) -> Place {
        Lines::place(self, record)
    }

    fn drop(&self, records: &[usize]) -> Vec<Edit> {
        records.iter().map(|it| self.remove(*it)).collect()
    }

    fn insert_behind(&self, record: usize, json: &str) -> Edit {
        Lines::insert_behind(self, record, json)
    }

    fn insert_before(&self, record: usize, json: &str) -> Edit {
        Lines::insert_before(self, record, json)
    }

    fn message(&self, sender: Sender, content: &str, like: usize) -> String {
        let created = self.object(like).and_then(|it| it.get("created"));
        let created = created.map(|it| format!(",\"created\":{}", it.source)).unwrap_or_default();
        format!(r#"{{"role":"{}"{created},"content":[{content}]}}"#, role(sender))
    }
}

fn role(sender: Sender) -> &'static str {
    match sender {
        Sender::User => "user",
        Sender::Assistant => "assistant",
    }
}

/// Checks the messages of a list, and writes the edits.
pub(super) fn check(
    records: &impl Records,
    sent: &[Sent<'_>],
    rules: &Rules,
    mut findings: Vec<Finding>,
) -> Mends {
    let mut plan = crate::link::check(sent, rules);
    crate::link::check_content(&mut plan);
    findings.append(&mut plan.findings);
    let mut edits = plan.take_edits();
    for it in sent {
        let found = records.value(it.record).map(|it| surrogate::mend(it, rules.has_marks));
        let found = found.unwrap_or_default();
        findings.extend(super::lone_surrogates(it.place, found.count));
        edits.extend(found.edits);
    }
    let gone: Vec<_> =
        (0..sent.len()).filter(|it| plan.is_gone(*it)).map(|it| sent[it].record).collect();
    edits.extend(records.drop(&gone));
    edits.extend(new_records(records, &plan));
    let left = records.len() - gone.len() + plan.new_records.len();
    Mends::new(records.len(), left, findings, edits)
}

/// The edits of records that come.
fn new_records(records: &impl Records, plan: &Plan<'_>) -> Vec<Edit> {
    let mut res = Vec::new();
    if let Some(first) = plan.missing_start.map(|it| plan.sent[it].record) {
        let text = r#"{"type":"text","text":"(start of the conversation)"}"#;
        res.push(records.insert_before(first, &records.message(Sender::User, text, first)));
    }
    let mut come = plan.new_records.iter().peekable();
    while let Some((behind, block)) = come.next() {
        let mut content = block.clone();
        // Results of one message are one record.
        while let Some((_, block)) = come.next_if(|it| it.0 == *behind) {
            content = format!("{content},{block}");
        }
        let record = plan.sent[*behind].record;
        res.push(records.insert_behind(record, &records.message(Sender::User, &content, record)));
    }
    res
}

/// Whether a record has something to say.
pub(super) fn says_something(sent: &Sent<'_>) -> bool {
    !matches!(sent.content, Content::None)
}
