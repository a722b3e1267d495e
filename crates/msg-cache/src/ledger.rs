//! A log of requests, one after the other: grouped into runs, each request compared with the one that it goes on from
//! (CL-32, CL-33, CL-40, CL-41).
//!
//! ```text
//! line 1  A         run 1
//! line 2  X         run 2            shares nothing with A
//! line 3  A B       run 1, parent 1  growth
//! line 4  A C       run 4, parent 3  branch
//! ```

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use msg_json::JsonValue as Value;
use serde::Serialize;

use crate::cell::{Kind, Unit};
use crate::compare::{CachePlace, Change, Comparison, Relation, compare_prompts};
use crate::entry::{Entry, read, read_line};
use crate::entry::{Kept, Repeats};
use crate::error::Error;
use crate::family::Provider;
use crate::options::LedgerOptions;
use crate::prompt::Prompt;
use crate::usage::{CacheUsage, PICO, Price};

/// Tokens that could have been read and were not.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Missed {
    /// How many.
    pub tokens: u64,
    /// What they cost more than a read, in dollars.
    pub cost: Option<f64>,
    /// The code of the reason.
    pub why: &'static str,
}

/// The outcome of a request of a log.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LedgerRow {
    /// The line, from 1.
    pub line: u64,
    /// The line with which its run began.
    pub run: u64,
    /// The line of the request that it goes on from.
    pub parent: Option<u64>,
    /// How the two compare.
    #[serde(flatten)]
    pub comparison: Option<RowComparison>,
    /// What was recorded of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<CacheUsage>,
    /// What it cost, in dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// What was not read of what the request before had established.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missed: Option<Missed>,
    /// The diagnosis that the provider itself recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
    /// Its model.
    #[serde(skip)]
    pub model: Option<String>,
}

/// The part of a [`Comparison`] that a row shows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RowComparison {
    /// What the request is to its parent.
    pub relation: Relation,
    /// The earliest place that differs.
    pub first_changed: Option<CachePlace>,
    /// The changes.
    pub changes: Vec<Change>,
    /// Codes of what else is to be said.
    pub notes: Vec<&'static str>,
}

/// What a log or a session adds up to.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct LedgerTotals {
    /// Requests that were read, or responses.
    pub requests: u64,
    /// Runs that the requests of a log belong to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<u64>,
    /// Their usage.
    #[serde(flatten)]
    pub usage: CacheUsage,
    /// What they cost, in dollars.
    pub cost: f64,
    /// Requests that missed what could have been read.
    pub misses: u64,
    /// Tokens that they missed.
    pub missed_tokens: u64,
    /// What the misses cost, in dollars.
    pub missed_cost: f64,
    /// Requests of models without a price.
    pub unpriced: u64,
    /// Runs that were forgotten to bound the memory.
    #[serde(skip_serializing_if = "is_zero")]
    pub forgotten: u64,
    /// Of a session: what the other lifetime of entries would have cost more, in dollars; less than 0 is cheaper.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_ttl: Option<f64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
pub(crate) fn is_zero(it: &u64) -> bool {
    *it == 0
}

impl LedgerTotals {
    /// Adds a request or response.
    pub(crate) fn add(
        &mut self,
        usage: Option<CacheUsage>,
        cost: Option<f64>,
        missed: Option<&Missed>,
    ) {
        self.requests += 1;
        if let Some(usage) = usage {
            self.usage.add(&usage);
            self.unpriced += u64::from(cost.is_none());
        }
        let sum =
            |one: f64, other: Option<f64>| ((one + other.unwrap_or(0.0)) * PICO).round() / PICO;
        self.cost = sum(self.cost, cost);
        if let Some(it) = missed {
            self.misses += 1;
            self.missed_tokens += it.tokens;
            self.missed_cost = sum(self.missed_cost, it.cost);
        }
    }
}

/// How many of the runs that were used last are looked through for one that a line repeats.
const NEAR: usize = 8;

/// Compares the requests of a log one after the other. Holds the last body of each run, and a hash a message.
#[derive(Debug, Default)]
pub struct Ledger {
    options: LedgerOptions,
    line: u64,
    n_runs: u64,
    n_repeated: u64,
    /// The run that was used longest ago first.
    runs: Vec<Arc<Run>>,
    /// The run whose request was the last to have a message.
    owners: HashMap<u128, u64>,
    totals: LedgerTotals,
}

/// The newest request of a run.
#[derive(Debug)]
struct Run {
    /// The line with which it began.
    key: u64,
    line: u64,
    entry: Entry,
    kept: Kept,
}

impl Run {
    /// The messages that it has after those that the other begins with as well.
    fn rest(&self, other: &[Unit]) -> &[Unit] {
        let units = &self.kept.prompt.units;
        let same = units.iter().zip(other).take_while(|(one, other)| one.hash == other.hash);
        &units[same.count()..]
    }

    /// Compares its newest request with the one that goes on from it; none if that one has to be read in full.
    fn compare(
        &self,
        now: &Entry,
        prompt: &Prompt<'_>,
        provider: Option<&str>,
    ) -> Result<Option<Comparison>, Error> {
        let res = compare_prompts((&self.entry, &self.kept.prompt), (now, prompt), provider);
        if matches!(res.relation, Relation::Same | Relation::Growth | Relation::ByReference) {
            return Ok(Some(res));
        }
        if prompt.n_repeated > 0 {
            return Ok(None);
        }
        let value = read(&self.kept.line)?;
        let (_, body) = Entry::of(&value, None)?;
        let old = Prompt::of(body, self.entry.family);
        Ok(Some(compare_prompts((&self.entry, &old), (now, prompt), provider)))
    }
}

impl Ledger {
    /// A ledger of no requests.
    pub fn new(options: LedgerOptions) -> Self {
        Ledger { options, ..Ledger::default() }
    }

    /// Takes the next line of the log.
    ///
    /// # Errors
    /// A line that holds no request; the ledger goes on with the next one.
    pub fn push(&mut self, line: &[u8]) -> Result<LedgerRow, Error> {
        self.line += 1;
        let bad = |err: Error| Error::BadLine(err.to_string());
        let near = self.runs.iter().rev().take(NEAR).map(|it| &it.kept);
        let mut repeats = Repeats::new(line, near);
        let repeated = read_line(line, &mut repeats);
        let repeated = repeated.and_then(|it| self.judged(&it, &repeats).ok().flatten());
        let (row, run) = match repeated {
            Some(it) => it,
            None => {
                let value = read(line).map_err(bad)?;
                repeats.left_out.clear();
                let judged = self.judged(&value, &repeats).map_err(bad)?;
                judged.expect("because no message was left out")
            }
        };
        self.n_repeated += run.kept.prompt.n_repeated as u64;
        self.n_runs += u64::from(row.run == row.line);
        self.totals.add(row.usage, row.cost, row.missed.as_ref());
        self.remember(run);
        Ok(row)
    }

    /// A request and how it goes on; none if messages were left out of it that have to be read.
    fn judged(
        &self,
        value: &Value<'_>,
        repeats: &Repeats<'_>,
    ) -> Result<Option<(LedgerRow, Run)>, Error> {
        let (mut entry, body) = Entry::of(value, self.options.family)?;
        let prompt = Prompt::repeating(body, entry.family, repeats);
        if prompt.n_repeated != repeats.left_out.len() {
            return Ok(None);
        }
        let price = self.options.price(entry.model.as_deref());
        let mut row = LedgerRow {
            line: self.line,
            run: self.line,
            parent: None,
            comparison: None,
            usage: entry.usage,
            cost: entry.usage.and_then(|it| Some(dollars(price?.cost(&it)))),
            missed: None,
            said: entry.said.take(),
            model: entry.model.clone(),
        };
        if let Some(before) = self.parent(&entry, &prompt.units) {
            let provider = self.options.provider.as_deref();
            let Some(compared) = before.compare(&entry, &prompt, provider)? else {
                return Ok(None);
            };
            row.parent = Some(before.line);
            if !matches!(compared.relation, Relation::Rewind | Relation::Branch) {
                row.run = before.key;
            }
            if !sums_passes(&prompt, before.kept.prompt.units.len()) {
                let usage = before.entry.usage.zip(entry.usage);
                row.missed = usage.and_then(|it| self.missed(&compared, it, price));
            }
            row.comparison = Some(RowComparison::of(compared));
        }
        let (line, layout) = (repeats.line.to_vec(), repeats.layout.clone());
        let kept = Kept { line, layout, prompt: prompt.outline() };
        let run = Run { key: row.run, line: self.line, entry, kept };
        Ok(Some((row, run)))
    }

    /// The next line is this one of its file, counted from 1: lines that are empty are not pushed.
    pub fn skip_to(&mut self, line: u64) {
        self.line = self.line.max(line.saturating_sub(1));
    }

    /// What the requests so far add up to.
    pub fn totals(&self) -> LedgerTotals {
        LedgerTotals { runs: Some(self.n_runs), ..self.totals.clone() }
    }

    /// How many messages were not read again, because a request before had them at the same place, byte for byte.
    pub fn repeated_messages(&self) -> u64 {
        self.n_repeated
    }

    /// The run whose newest request this one goes on from (CL-41).
    fn parent(&self, entry: &Entry, messages: &[Unit]) -> Option<&Run> {
        let alike = |it: &&Run| it.entry.family == entry.family && it.entry.name == entry.name;
        let runs = || self.runs.iter().map(|it| &**it).filter(alike);
        let common = |it: &Run| it.kept.prompt.units.len() - it.rest(messages).len();
        let longest = runs().map(|it| (common(it), it.line, it)).max_by_key(|it| (it.0, it.1));
        if let Some((1.., _, run)) = longest {
            return Some(run);
        }
        let mut seen = HashSet::new();
        let own = messages.iter().filter(|it| seen.insert(it.hash));
        let mut shared: BTreeMap<u64, usize> = BTreeMap::new();
        for run in own.filter_map(|it| self.owners.get(&it.hash)) {
            *shared.entry(*run).or_default() += 1;
        }
        let n = |it: &Run| shared.get(&it.key).copied().unwrap_or(0);
        let shorter = |it: &Run| it.kept.prompt.units.len().min(messages.len());
        let is_half = |it: &&Run| n(it) > 0 && n(it) * 2 >= shorter(it);
        let most = runs().filter(is_half).max_by_key(|it| (n(it), it.line));
        most.or_else(|| runs().filter(|_| entry.name.is_some()).max_by_key(|it| it.line))
    }

    fn remember(&mut self, run: Run) {
        if let Some(at) = self.runs.iter().position(|it| it.key == run.key) {
            let old = self.runs.remove(at);
            self.disown(old.key, old.rest(&run.kept.prompt.units));
        }
        for message in &run.kept.prompt.units {
            self.owners.insert(message.hash, run.key);
        }
        self.runs.push(Arc::new(run));
        if self.runs.len() > self.options.runs.max(1) {
            let oldest = self.runs.remove(0);
            self.disown(oldest.key, oldest.rest(&[]));
            self.totals.forgotten += 1;
        }
    }

    /// Forgets messages that a run no longer has.
    fn disown(&mut self, key: u64, messages: &[Unit]) {
        for message in messages {
            if self.owners.get(&message.hash) == Some(&key) {
                self.owners.remove(&message.hash);
            }
        }
    }

    /// What a request did not read of what its parent had established.
    fn missed(
        &self,
        compared: &Comparison,
        (before, now): (CacheUsage, CacheUsage),
        price: Option<Price>,
    ) -> Option<Missed> {
        use Relation::{Branch, ByReference, Other, Rewind};
        if matches!(compared.relation, Rewind | Branch | Other | ByReference) {
            return None;
        }
        let rules = Provider::of(&compared.provider, compared.model.as_deref());
        let established = established(rules, compared.minimum, &before);
        Missed::of(established, &now, price, &self.options, |_| why(compared))
    }
}

impl Missed {
    /// What was established and not read, if that is worth a word (CL-32). `why` gets the tokens.
    pub(crate) fn of(
        established: u64,
        now: &CacheUsage,
        price: Option<Price>,
        options: &LedgerOptions,
        why: impl FnOnce(u64) -> &'static str,
    ) -> Option<Self> {
        let tokens = established.saturating_sub(now.read);
        if tokens < options.min_missed || tokens * 20 <= established {
            return None;
        }
        let cost = price.map(|it| {
            let paid = match (now.write, now.write_long) {
                (0, 0) => it.input,
                (write, long) if long > write => it.write_long,
                _ => it.write,
            };
            dollars(u128::from(tokens) * u128::from(paid.saturating_sub(it.read)))
        });
        Some(Missed { tokens, cost, why: why(tokens) })
    }
}

impl RowComparison {
    fn of(it: Comparison) -> Self {
        let Comparison { relation, first_changed, changes, notes, .. } = it;
        let notes = notes.into_iter().filter(|it| *it != "cache::too-short").collect();
        RowComparison { relation, first_changed, changes, notes }
    }
}

/// A response that ran tools of the provider sums several passes: it establishes nothing that can be told.
fn sums_passes(prompt: &Prompt<'_>, n_before: usize) -> bool {
    let new = prompt.units.iter().skip(n_before).flat_map(|it| prompt.cells_of(it));
    let mut calls = new.filter(|it| it.kind == Kind::Call);
    calls.any(|it| it.member(&["type"]).and_then(|it| it.text()) == Some("server_tool_use"))
}

pub(crate) fn established(rules: &Provider, minimum: u64, usage: &CacheUsage) -> u64 {
    if rules.is_marked() || usage.written() > 0 {
        return usage.read + usage.written();
    }
    match usage.prompt() {
        it if it < minimum => 0,
        it => it - it % rules.step.unwrap_or(1).max(1),
    }
}

fn why(compared: &Comparison) -> &'static str {
    let notes = ["expired", "thinking-stripped", "lookback", "nothing-written", "no-breakpoint"];
    let in_notes = |name: &str| compared.notes.iter().find(|it| it.ends_with(name));
    let noted = notes.into_iter().find_map(in_notes).copied();
    let changed = compared.changes.first().map(|it| it.code);
    changed.or(noted).unwrap_or("cache::unexplained-miss")
}

pub(crate) fn dollars(pico: u128) -> f64 {
    pico as f64 / PICO
}
