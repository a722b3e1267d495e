//! What of a Codex session is sent (SE-51): its items in order, compactions and steps back applied.

use msg_core::Provenance;

use super::envelope;
use super::items::Item;
use crate::Error;
use crate::branches::{Branch, BranchKind};
use crate::frame::Lines;
use crate::json::Object;
use crate::options::RepairOptions;
use crate::view::maker;

/// The active path.
#[derive(Default)]
pub(super) struct Path<'a> {
    pub(super) items: Vec<Item<'a>>,
    /// Records of no known kind.
    pub(super) unknown: Vec<usize>,
    /// The models that were asked, each with the record from which on.
    models: Vec<(usize, String)>,
    provider: Option<String>,
    /// What left the path.
    pub(super) branches: Vec<Branch>,
    has_header: bool,
    /// Whether the records are items without an envelope.
    pub(super) is_bare: bool,
}

impl<'a> Path<'a> {
    /// The path, up to the leaf.
    pub(super) fn of(lines: &'a Lines<'_>, options: &RepairOptions) -> Result<Self, Error> {
        let mut res = Self::default();
        for at in 0..crate::dialects::records_to_leaf(options, lines.records.len())? {
            let Some(object) = lines.object(at) else { continue };
            match envelope(&object) {
                Some((kind, payload)) => res.record(lines, at, &kind, &object, &payload),
                None => res.without_envelope(lines, at, &object),
            }
        }
        Ok(res)
    }

    fn record(
        &mut self,
        lines: &'a Lines<'_>,
        at: usize,
        kind: &str,
        record: &Object<'a>,
        payload: &Object<'a>,
    ) {
        match kind {
            "response_item" => {
                let value = record.get("payload");
                let item = value.and_then(|it| Item::new((at, None), lines.place(at), it));
                self.items.extend(item.filter(Item::is_sent));
            }
            "session_meta" => {
                self.provider = payload.text("model_provider").map(Into::into);
                // What stands before a header is not sent; one that is not the first line must move there.
                let is_again = std::mem::replace(&mut self.has_header, true);
                if !is_again {
                    return;
                }
                let gone = std::mem::take(&mut self.items).len();
                self.branches.extend(Branch::before(at, BranchKind::Abandoned, gone));
            }
            "turn_context" => {
                self.models.extend(payload.text("model").map(|it| (at, it.into_owned())));
            }
            "compacted" => self.compacted(lines, at, payload),
            "event_msg" if payload.text("type").is_some_and(|it| it == "thread_rolled_back") => {
                let turns = payload.get("num_turns").and_then(|it| it.number()).unwrap_or(0);
                self.roll_back(at, turns);
            }
            _ => {}
        }
    }

    /// Who made what stands in a record.
    pub(super) fn maker(&self, record: usize) -> Provenance {
        let before = self.models.partition_point(|it| it.0 <= record);
        let model = before.checked_sub(1).map(|it| self.models[it].1.as_str().into());
        maker(model, self.provider.as_deref().map(Into::into))
    }

    /// A replacement takes the place of all before it; without one the user's messages stay.
    fn compacted(&mut self, lines: &'a Lines<'_>, at: usize, payload: &Object<'a>) {
        if let Some(list) = payload.get("replacement_history").and_then(|it| it.array()) {
            self.branches.extend(Branch::before(at, BranchKind::Compacted, self.items.len()));
            let place = lines.place(at);
            let items = list.into_iter().enumerate();
            self.items =
                items.filter_map(|(block, it)| Item::new((at, Some(block)), place, it)).collect();
            return;
        }
        let before = self.items.len();
        self.items.retain(Item::is_a_turn);
        let gone = before - self.items.len();
        self.branches.extend(Branch::before(at, BranchKind::Compacted, gone));
        self.items.extend(Item::summary(at, lines.place(at), payload));
    }

    /// Drops the last turns, counted by the user's messages.
    fn roll_back(&mut self, at: usize, turns: u64) {
        let before = self.items.len();
        let mut left = turns;
        while left > 0 {
            let last = self.items.iter().rposition(|it| it.is_a_turn());
            self.items.truncate(last.unwrap_or(0));
            if last.is_none() {
                break;
            }
            left -= 1;
        }
        let gone = before - self.items.len();
        self.branches.extend(Branch::before(at, BranchKind::Abandoned, gone));
    }

    /// Older files: the items themselves, behind a header.
    fn without_envelope(&mut self, lines: &'a Lines<'_>, at: usize, object: &Object<'a>) {
        if object.has("payload") || !object.has("type") {
            let is_header = object.has("id") && object.has("timestamp");
            self.unknown.extend((!is_header).then_some(at));
            return;
        }
        let value = lines.value(at);
        self.items.extend(value.and_then(|it| Item::new((at, None), lines.place(at), it)));
        self.is_bare = true;
    }
}
