//! What each stage did, to be stored beside a conversation (CP-60).

use msg_core::{Message, Origin};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{budget::Unit, outcome::Edit, state::ChainState};

/// What a record needs and this crate does not know.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RecordInfo {
    /// What the records' ids begin with; a number is appended.
    pub id: String,
    /// The session's id.
    pub session_id: String,
    /// Seconds since the epoch.
    pub created_at: f64,
}

/// One stage that changed something. Counts are in the unit in use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompactionRecord {
    /// The record's id.
    pub id: String,
    /// The session's id.
    pub session_id: String,
    /// The policy's name.
    pub policy: String,
    /// Seconds since the epoch.
    pub created_at: f64,
    /// Cost before the stage.
    pub original_token_count: u64,
    /// Cost after it.
    pub result_token_count: u64,
    /// Messages before the stage.
    pub original_message_count: usize,
    /// Messages after it.
    pub result_message_count: usize,
    /// Input messages that were there before the stage and were changed or went.
    pub compacted_message_ids: Vec<String>,
    /// Input messages that were there before the stage and stayed.
    pub preserved_message_ids: Vec<String>,
    /// The message that holds the summary, by its place in the result; empty without one.
    pub summary_message_id: String,
    /// The summary, or what a reduction did.
    pub summary_text: String,
    /// The policy's options.
    pub config_snapshot: Value,
    /// What the counts are in.
    pub unit: Unit,
    /// Summaries that the stage asked for.
    pub requests: usize,
}

/// What a stage finds, to compare with what it leaves.
pub(crate) struct Before {
    total: u64,
    messages: usize,
    present: Vec<u32>,
    edits: usize,
    requests: usize,
}

impl Before {
    pub(crate) fn new(chain: &ChainState<'_>) -> Self {
        Self {
            total: chain.total(),
            messages: chain.items().count(),
            present: present(chain),
            edits: chain.log.edits.len(),
            requests: chain.requests.made,
        }
    }

    /// The record of the stage that has just ended.
    pub(crate) fn record(
        self,
        chain: &ChainState<'_>,
        policy: &str,
        config: Value,
        info: &RecordInfo,
        number: usize,
    ) -> CompactionRecord {
        let left = present(chain);
        let id = |it: u32| message_id(chain, it);
        let (kept, gone): (Vec<_>, Vec<_>) =
            self.present.iter().copied().partition(|it| left.binary_search(it).is_ok());
        let summary = newest_summary(chain, &self);
        CompactionRecord {
            id: format!("{}{number}", info.id),
            session_id: info.session_id.clone(),
            policy: policy.to_owned(),
            created_at: info.created_at,
            original_token_count: self.total,
            result_token_count: chain.total(),
            original_message_count: self.messages,
            result_message_count: chain.items().count(),
            compacted_message_ids: gone.into_iter().filter_map(id).collect(),
            preserved_message_ids: kept.into_iter().filter_map(id).collect(),
            summary_message_id: summary.as_ref().map(|it| it.0.clone()).unwrap_or_default(),
            summary_text: summary.map(|it| it.1).unwrap_or_else(|| self.reduction(chain)),
            config_snapshot: config,
            unit: chain.measure.unit,
            requests: chain.requests.made - self.requests,
        }
    }

    fn reduction(&self, chain: &ChainState<'_>) -> String {
        let edits: Vec<&Edit> = chain.log.edits_from(self.edits).collect();
        let is_prune = |it: &&&Edit| it.code() == "compact::tool-output-pruned";
        let pruned = edits.iter().filter(is_prune).count();
        if pruned > 0 {
            format!("Pruned {pruned} tool outputs")
        } else {
            format!("Made {} edits", edits.len())
        }
    }
}

/// The input messages that are in the chain unchanged, by index, sorted.
fn present(chain: &ChainState<'_>) -> Vec<u32> {
    let mut present: Vec<u32> =
        chain.items().filter(|it| it.change.is_none()).map(|it| it.input).collect();
    present.sort_unstable();
    present
}

/// The last summary that a stage left, with its place in the result.
fn newest_summary(chain: &ChainState<'_>, before: &Before) -> Option<(String, String)> {
    let is_summary = |it: &str| {
        it.ends_with("-summarized")
            || it == "compact::sections-merged"
            || it == "compact::goal-batch"
    };
    if !chain.log.edits_from(before.edits).any(|it| is_summary(it.code())) {
        return None;
    }
    let mut place = 0;
    let mut found = None;
    for section in &chain.sections {
        place += usize::from(section.system.is_some()) + usize::from(section.user.is_some());
        for pair in chain.pairs_of(section) {
            let last = chain.items[pair.items()].last();
            let made = last.filter(|it| it.change.is_some() && chain.is_summary(pair));
            place += pair.len();
            if let Some(made) = made {
                let message = chain.message(made);
                let result = message.tool_results().next();
                let text = result.map_or_else(|| message.text(), |it| it.content.text());
                found = Some((format!("m{}", place - 1), text.into_owned()));
            }
        }
    }
    found
}

/// A message's own id, else `m` and its index in the input; none for one that a repair inserted.
fn message_id(chain: &ChainState<'_>, index: u32) -> Option<String> {
    let message: &Message = chain.input.messages[index as usize];
    let own = message.extra.get(&Origin::OpenAi, "id").and_then(|it| it.parse::<String>().ok());
    let index = match chain.input.origins.and_then(|it| it.get(index as usize)) {
        Some(origin) if origin.inserted => return None,
        Some(origin) => origin.message,
        None => index as usize,
    };
    Some(own.unwrap_or_else(|| format!("m{index}")))
}
