//! What a session recorded of its responses, for `msg cache` and `msg stats` (SE-160). One ledger, so that both agree.

use std::collections::BTreeMap;

use msg_cache::{CacheUsage, LedgerOptions, LedgerTotals, Response, SessionLedger};
use msg_session::{Dialect, recorded_responses};
use serde::Serialize;

/// The recorded responses of a session's bytes, in order.
pub(crate) fn responses(dialect: Dialect, bytes: &[u8]) -> impl Iterator<Item = Response> {
    recorded_responses(dialect, bytes).into_iter().map(|it| Response {
        record: it.record,
        chain: it.chain,
        time: it.time,
        model: it.model,
        version: it.version,
        usage: CacheUsage::read(it.usage.as_bytes()).unwrap_or_default(),
        cost: it.cost.and_then(|it| it.parse().ok()).filter(|it| *it >= 0.0),
        after_compaction: it.after_compaction,
        after_question: it.after_question,
        thinks: it.thinks,
        sums_passes: it.has_server_tools || it.sums_calls,
    })
}

/// The ids of the recorded responses, in the same order.
pub(crate) fn ids(dialect: Dialect, bytes: &[u8]) -> Vec<Option<String>> {
    recorded_responses(dialect, bytes).into_iter().map(|it| it.id).collect()
}

/// The provider whose caching rules apply to what an agent asked.
pub(crate) fn provider(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::ClaudeCode | Dialect::ClaudeStream => "anthropic",
        Dialect::GeminiCli => "gemini",
        // By model; those of OpenAI where nothing else is known.
        _ => "openai",
    }
}

/// What a session used: in all, by model and by day.
#[derive(Debug, Serialize)]
pub(crate) struct Used {
    pub(crate) responses: u64,
    pub(crate) cost: f64,
    /// Responses that neither state a cost nor have a model with a price.
    pub(crate) unpriced: u64,
    pub(crate) models: BTreeMap<String, Sum>,
    /// By day in UTC, as the times were written; without those that have none.
    pub(crate) days: BTreeMap<String, Sum>,
}

/// Tokens and dollars of some responses. The first three sum to their prompts.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Sum {
    pub(crate) responses: u64,
    pub(crate) input: u64,
    pub(crate) cache_read: u64,
    pub(crate) cache_write: u64,
    pub(crate) output: u64,
    pub(crate) cost: f64,
    /// How many of the responses the cost lacks, as [`Used::unpriced`] counts them.
    #[serde(skip)]
    pub(crate) unpriced: u64,
}

impl Sum {
    fn add(&mut self, usage: &CacheUsage, cost: Option<f64>) {
        self.responses += 1;
        self.input = self.input.saturating_add(usage.input);
        self.cache_read = self.cache_read.saturating_add(usage.read);
        self.cache_write = self.cache_write.saturating_add(usage.written());
        self.output = self.output.saturating_add(usage.output);
        // Whole picodollars, as the ledger sums.
        self.cost = ((self.cost + cost.unwrap_or(0.0)) * 1e12).round() / 1e12;
        self.unpriced += u64::from(cost.is_none());
    }
}

impl std::ops::AddAssign<&Sum> for Sum {
    fn add_assign(&mut self, other: &Sum) {
        self.responses += other.responses;
        self.input = self.input.saturating_add(other.input);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.output = self.output.saturating_add(other.output);
        self.cost = ((self.cost + other.cost) * 1e12).round() / 1e12;
        self.unpriced += other.unpriced;
    }
}

/// What each recorded response of a session used, with its id.
pub(crate) fn each(dialect: Dialect, bytes: &[u8]) -> Vec<(Option<String>, Sum)> {
    let mut ledger = SessionLedger::new(provider(dialect), LedgerOptions::default());
    let used = |response: Response| {
        let row = ledger.push(response);
        let mut sum = Sum::default();
        sum.add(&row.usage, row.cost);
        sum
    };
    let sums: Vec<_> = responses(dialect, bytes).map(used).collect();
    ids(dialect, bytes).into_iter().zip(sums).collect()
}

impl Used {
    /// All models together.
    pub(crate) fn total(&self) -> Sum {
        let mut res = Sum::default();
        self.models.values().for_each(|it| res += it);
        res
    }

    /// Of a session's bytes; none if it recorded no usage.
    pub(crate) fn of(dialect: Dialect, bytes: &[u8]) -> Option<Self> {
        let mut ledger = SessionLedger::new(provider(dialect), LedgerOptions::default());
        let (mut models, mut days) = (BTreeMap::new(), BTreeMap::new());
        for response in responses(dialect, bytes) {
            let day = response.time.as_deref().and_then(|it| it.get(..10)).map(str::to_owned);
            let row = ledger.push(response);
            let model = row.model.unwrap_or_else(|| "unknown".to_owned());
            let add = |to: &mut BTreeMap<String, Sum>, key: String| {
                to.entry(key).or_default().add(&row.usage, row.cost);
            };
            add(&mut models, model);
            day.into_iter().for_each(|it| add(&mut days, it));
        }
        let LedgerTotals { requests, cost, unpriced, .. } = ledger.totals();
        (requests > 0).then_some(Self { responses: requests, cost, unpriced, models, days })
    }
}
