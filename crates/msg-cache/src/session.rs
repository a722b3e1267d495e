//! The responses of an agent's session, one after the other: no bodies, only what was recorded of each (CL-33, CL-34).

use std::collections::HashMap;

use serde::Serialize;

use crate::entry::rfc3339;
use crate::ledger::{Missed, dollars, established, missed_cost, missed_tokens};
use crate::options::LedgerOptions;
use crate::rules::Provider;
use crate::usage::CacheUsage;
use crate::usage::{PICO, Price, Prices};

/// What a session recorded of a response.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Response {
    /// The record, from 1.
    pub record: u64,
    /// The main chain, or a sidechain; each is judged by itself.
    pub chain: String,
    /// When, in RFC 3339.
    pub time: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The version of the agent.
    pub version: Option<String>,
    /// What it used.
    pub usage: CacheUsage,
    /// What the session itself says that it cost, in dollars, 0 or more; it goes before the price of the model.
    pub cost: Option<f64>,
    /// The history was compacted since the response before.
    pub after_compaction: bool,
    /// The user said something since the response before.
    pub after_question: bool,
    /// It thought.
    pub thinks: bool,
    /// The provider ran tools in it, so that its usage sums several passes.
    pub sums_passes: bool,
}

/// What became of a response.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SessionRow {
    /// The record, from 1.
    pub record: u64,
    /// The model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What it used.
    pub usage: CacheUsage,
    /// What it cost, in dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// What it did not read of what the response before had established.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missed: Option<Missed>,
    /// Seconds since the response before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap: Option<f64>,
}

/// What a session adds up to.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SessionTotals {
    /// Responses.
    pub requests: u64,
    /// Their usage.
    #[serde(flatten)]
    pub usage: CacheUsage,
    /// What they cost, in dollars.
    pub cost: f64,
    /// Responses that missed what could have been read.
    pub misses: u64,
    /// Tokens that they missed.
    pub missed_tokens: u64,
    /// What the misses cost, in dollars.
    pub missed_cost: f64,
    /// Responses of models without a price.
    pub unpriced: u64,
    /// What the other lifetime of entries would have cost more, in dollars; less than 0 is cheaper.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_ttl: Option<f64>,
}

/// Goes through the responses of a session. Holds the newest of each chain.
#[derive(Debug)]
pub struct SessionLedger {
    provider: String,
    options: LedgerOptions,
    chains: HashMap<String, Chain>,
    totals: SessionTotals,
    cost: u128,
    missed_cost: u128,
    /// What an hour, and what five minutes, would have cost more, in picodollars.
    longer: i128,
    shorter: i128,
    knows_all: bool,
}

/// Where a chain is.
#[derive(Debug)]
struct Chain {
    last: Response,
    time: Option<f64>,
    /// What was established when the turn began, and when the turn before it did.
    turn: u64,
    thinks: bool,
}

impl SessionLedger {
    /// A ledger of no responses, by the rules of this provider.
    pub fn new(provider: impl Into<String>, options: LedgerOptions) -> Self {
        SessionLedger {
            provider: provider.into(),
            options,
            chains: HashMap::new(),
            totals: SessionTotals::default(),
            cost: 0,
            missed_cost: 0,
            longer: 0,
            shorter: 0,
            knows_all: true,
        }
    }

    /// Takes the next response.
    pub fn push(&mut self, response: Response) -> SessionRow {
        let model = response.model.as_deref();
        let prices = self.options.prices.as_ref().unwrap_or_else(|| Prices::built_in());
        let price = model.and_then(|it| prices.of(it)).copied();
        let rules = Provider::of(&self.provider, model);
        let minimum = rules.minimum(model);
        let time = response.time.as_deref().and_then(rfc3339);
        let before = self.chains.remove(&response.chain);
        let gap = before.as_ref().and_then(|it| Some((time? - it.time?).max(0.0)));
        let missed = before.as_ref().filter(|it| !it.last.sums_passes).and_then(|it| {
            let (was, now) = (&it.last.usage, &response.usage);
            let tokens = missed_tokens(rules, minimum, was, now, self.options.min_missed)?;
            let cost = price.map(|it| dollars(missed_cost(&it, now, tokens)));
            Some(Missed { tokens, cost, why: why(rules, minimum, it, &response, gap, tokens) })
        });
        self.totals.requests += 1;
        self.totals.usage.add(&response.usage);
        let stated = response.cost.map(|it| (it * PICO).round() as u128);
        let cost = stated.or_else(|| price.map(|it| it.cost(&response.usage)));
        match cost {
            Some(it) => self.cost += it,
            None => self.totals.unpriced += 1,
        }
        if let Some(it) = &missed {
            self.totals.misses += 1;
            self.totals.missed_tokens += it.tokens;
            self.missed_cost += it.cost.map_or(0, |it| (it * PICO).round() as u128);
        }
        self.count_lifetimes(&response.usage, price, gap, missed.as_ref());
        self.knows_all &= time.is_some();
        let row = SessionRow {
            record: response.record,
            model: response.model.clone(),
            usage: response.usage,
            cost: cost.map(dollars),
            missed,
            gap,
        };
        let chain = Chain::next(before, response, time, |usage| established(rules, minimum, usage));
        self.chains.insert(chain.last.chain.clone(), chain);
        row
    }

    /// What the responses so far add up to.
    pub fn totals(&self) -> SessionTotals {
        let usage = &self.totals.usage;
        let other = match (usage.write > 0, usage.write_long > 0) {
            (true, false) => Some(self.longer),
            (false, true) => Some(self.shorter),
            _ => None,
        };
        let knows_all = self.knows_all && self.totals.unpriced == 0 && self.provider == "anthropic";
        SessionTotals {
            cost: dollars(self.cost),
            missed_cost: dollars(self.missed_cost),
            other_ttl: other.filter(|_| knows_all).map(|it| it as f64 / PICO),
            ..self.totals.clone()
        }
    }

    /// What entries that live for an hour, or for five minutes, would have cost more (CL-34).
    fn count_lifetimes(
        &mut self,
        usage: &CacheUsage,
        price: Option<Price>,
        gap: Option<f64>,
        missed: Option<&Missed>,
    ) {
        let Some(price) = price else { return };
        let times = |tokens: u64, more: u64, less: u64| {
            i128::from(tokens) * (i128::from(more) - i128::from(less))
        };
        self.longer += times(usage.write, price.write_long, price.write);
        self.shorter += times(usage.write_long, price.write, price.write_long);
        let gap = gap.unwrap_or(0.0);
        match missed {
            Some(it) if it.why == "cache::expired" && gap <= 3_600.0 => {
                self.longer -= times(it.tokens, price.write_long, price.read);
            }
            None if gap > 300.0 && gap <= 3_600.0 => {
                self.shorter += times(usage.read, price.write, price.read);
            }
            _ => {}
        }
    }
}

impl Chain {
    fn next(
        before: Option<Chain>,
        last: Response,
        time: Option<f64>,
        established: impl Fn(&CacheUsage) -> u64,
    ) -> Self {
        let (turn, thinks) = match &before {
            None => (0, false),
            Some(it) if last.after_question => (established(&it.last.usage), false),
            Some(it) => (it.turn, it.thinks),
        };
        let thinks = thinks || last.thinks;
        Chain { last, time, turn, thinks }
    }
}

/// Why a response missed what was established (CL-33).
fn why(
    rules: &Provider,
    minimum: u64,
    before: &Chain,
    now: &Response,
    gap: Option<f64>,
    lost: u64,
) -> &'static str {
    let last = &before.last;
    let lifetime = match last.usage.write_long > 0 {
        true => Some(3_600),
        false => rules.lifetime("default"),
    };
    let turn = established(rules, minimum, &last.usage).saturating_sub(before.turn);
    let is_stripped = rules.strips_thinking(now.model.as_deref())
        && now.after_question
        && before.thinks
        && lost <= turn;
    if last.model.is_some() && now.model.is_some() && last.model != now.model {
        "cache::model-changed"
    } else if now.after_compaction {
        "cache::compacted"
    } else if gap.zip(lifetime).is_some_and(|(gap, it)| gap > it as f64) {
        "cache::expired"
    } else if last.version != now.version {
        "cache::client-changed"
    } else if is_stripped {
        "cache::thinking-stripped"
    } else {
        "cache::unexplained-miss"
    }
}
