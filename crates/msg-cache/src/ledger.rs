//! A log of requests, one after the other: grouped into runs, each request compared with the one that it goes on from
//! (CL-32, CL-33, CL-40, CL-41).
//!
//! ```text
//! line 1  A         run 1
//! line 2  X         run 2            shares nothing with A
//! line 3  A B       run 1, parent 1  growth
//! line 4  A C       run 4, parent 3  branch
//! ```

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use serde::Serialize;

use crate::cell::Kind;
use crate::compare::{CachePlace, Change, Comparison, Relation, compare_prompts};
use crate::entry::{Entry, read};
use crate::error::Error;
use crate::family::Family;
use crate::options::{CacheOptions, LedgerOptions};
use crate::prompt::Prompt;
use crate::reuse::{self, Layout, Shortened};
use crate::rules::Provider;
use crate::spell::Value;
use crate::usage::{CacheUsage, PICO, Price};
use crate::view::View;

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
fn is_zero(it: &u64) -> bool {
    *it == 0
}

/// Totals, with the money in picodollars.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) totals: LedgerTotals,
    cost: u128,
    missed_cost: u128,
}

impl Tally {
    /// Adds a request or response.
    pub(crate) fn add(
        &mut self,
        usage: Option<&CacheUsage>,
        cost: Option<u128>,
        missed: Option<&Missed>,
    ) {
        self.totals.requests += 1;
        if let Some(usage) = usage {
            self.totals.usage.add(usage);
            self.totals.unpriced += u64::from(cost.is_none());
        }
        self.cost += cost.unwrap_or(0);
        if let Some(it) = missed {
            self.totals.misses += 1;
            self.totals.missed_tokens += it.tokens;
            self.missed_cost += picodollars(it.cost.unwrap_or(0.0));
        }
    }

    pub(crate) fn totals(&self) -> LedgerTotals {
        let (cost, missed_cost) = (dollars(self.cost), dollars(self.missed_cost));
        LedgerTotals { cost, missed_cost, ..self.totals.clone() }
    }
}

/// How many of the runs that were used last are looked through for one that a line repeats.
const NEAR: usize = 8;

/// Compares the requests of a log one after the other. Holds the last body of each run, and a hash a message.
#[derive(Debug)]
pub struct Ledger {
    options: LedgerOptions,
    line: u64,
    n_runs: u64,
    runs: BTreeMap<u64, Run>,
    /// The runs, the one that was used longest ago first.
    used: VecDeque<u64>,
    /// The run whose request was the last to have a message.
    owners: HashMap<u128, u64>,
    tally: Tally,
}

/// The newest request of a run.
#[derive(Debug)]
struct Run {
    line: u64,
    name: Option<String>,
    family: Family,
    model: Option<String>,
    url: Option<String>,
    time: Option<f64>,
    /// Tells growth, which is the rule, without reading the line again.
    prompt: Prompt<'static, 'static>,
    entry: Vec<u8>,
    /// Where its messages are, once a line repeated them.
    layout: Option<Layout>,
    messages: Vec<u128>,
    usage: Option<CacheUsage>,
}

impl Run {
    /// Compares its newest request with the one that goes on from it; none if that one has to be read in full.
    fn compare(
        &self,
        now: &Entry<'_>,
        prompt: &Prompt<'_, '_>,
        options: &CacheOptions,
    ) -> Result<Option<Comparison>, Error> {
        let outlined = Entry {
            body: &Value::Null,
            family: self.family,
            model: self.model.as_deref(),
            url: self.url.as_deref(),
            time: self.time,
            name: None,
            usage: None,
            said: None,
        };
        let res = compare_prompts((&outlined, &self.prompt), (now, prompt), options);
        if matches!(res.relation, Relation::Same | Relation::Growth | Relation::ByReference) {
            return Ok(Some(res));
        }
        if prompt.repeats {
            return Ok(None);
        }
        let value = read(&self.entry)?;
        let entry = Entry::of(&value, Some(self.family))?;
        let old = Prompt::of(entry.body, entry.family);
        Ok(Some(compare_prompts((&entry, &old), (now, prompt), options)))
    }
}

impl Ledger {
    /// A ledger of no requests.
    pub fn new(options: LedgerOptions) -> Self {
        Ledger {
            options,
            line: 0,
            n_runs: 0,
            runs: BTreeMap::new(),
            used: VecDeque::new(),
            owners: HashMap::new(),
            tally: Tally::default(),
        }
    }

    /// Takes the next line of the log.
    ///
    /// # Errors
    /// A line that holds no request; the ledger goes on with the next one.
    pub fn push(&mut self, line: &[u8]) -> Result<LedgerRow, Error> {
        self.line += 1;
        if let Some(row) = self.push_repeating(line) {
            return Ok(row);
        }
        let bad = |err: Error| Error::BadLine(err.to_string());
        let value = read(line).map_err(bad)?;
        let entry = Entry::of(&value, self.options.cache.family).map_err(bad)?;
        let prompt = Prompt::of(entry.body, entry.family);
        let row = self.take(line, &entry, &prompt, None)?;
        Ok(row.expect("because the request was read in full"))
    }

    /// Takes a line that repeats most of a request before it without reading that part again; none if the whole line has
    /// to be read.
    fn push_repeating(&mut self, line: &[u8]) -> Option<LedgerRow> {
        let (key, short, layout) = self.shortened(line)?;
        let value = read(&short.text).ok()?;
        let entry = Entry::of(&value, self.options.cache.family).ok()?;
        let mut prompt = Prompt::of(entry.body, entry.family);
        prompt.put_back(&self.runs[&key].prompt, &short)?;
        self.take(line, &entry, &prompt, Some((key, layout))).ok().flatten()
    }

    /// A line without what a run has of it, that run, and where the messages of the whole line are.
    fn shortened(&mut self, line: &[u8]) -> Option<(u64, Shortened, Layout)> {
        let mut near = self.used.iter().rev().take(NEAR);
        let (key, place) = near.find_map(|it| {
            let run = &self.runs[it];
            Some((*it, reuse::repeated(run.family, &run.entry, line)?))
        })?;
        let run = self.runs.get_mut(&key)?;
        if run.layout.is_none() {
            run.layout = Layout::of(&run.entry, run.family);
        }
        let run = &self.runs[&key];
        let before = run.layout.as_ref()?;
        let n_system = run.prompt.units.first()?.index;
        let short = before.shorten(&run.entry, line, place, n_system)?;
        let layout = before.lengthen(&short, run.family)?;
        Some((key, short, layout))
    }

    /// Takes a request that was read; none if it was shortened by a run that it does not go on from, or not like that.
    fn take(
        &mut self,
        line: &[u8],
        entry: &Entry<'_>,
        prompt: &Prompt<'_, '_>,
        repeated: Option<(u64, Layout)>,
    ) -> Result<Option<LedgerRow>, Error> {
        let view = View::of(prompt, 0, true);
        let messages: Vec<u128> = view.messages.iter().map(|it| it.hash).collect();
        let usage = entry.usage;
        let price = self.options.price(entry.model);
        let mut row = LedgerRow {
            line: self.line,
            run: self.line,
            parent: None,
            comparison: None,
            usage,
            cost: None,
            missed: None,
            said: entry.said.clone(),
            model: entry.model.map(str::to_owned),
        };
        let parent = self.parent(entry, &messages);
        if repeated.as_ref().is_some_and(|it| Some(it.0) != parent) {
            return Ok(None);
        }
        if let Some(parent) = parent {
            let before = &self.runs[&parent];
            let Some(compared) = before.compare(entry, prompt, &self.options.cache)? else {
                return Ok(None);
            };
            row.parent = Some(before.line);
            if !matches!(compared.relation, Relation::Rewind | Relation::Branch) {
                row.run = parent;
            }
            let sums = sums_passes(prompt, before.messages.len());
            let pair = (before.usage.filter(|_| !sums), usage);
            row.missed = self.missed(&compared, pair, price, entry.model);
            row.comparison = Some(RowComparison::of(compared));
        }
        let cost = usage.and_then(|it| Some(price?.cost(&it)));
        row.cost = cost.map(dollars);
        self.tally.add(usage.as_ref(), cost, row.missed.as_ref());
        self.n_runs += u64::from(row.run == row.line);
        let run = Run {
            line: self.line,
            name: entry.name.clone(),
            family: entry.family,
            model: entry.model.map(str::to_owned),
            url: entry.url.map(str::to_owned),
            time: entry.time,
            prompt: prompt.outline(),
            entry: line.to_vec(),
            layout: repeated.map(|it| it.1),
            messages,
            usage,
        };
        self.remember(row.run, run);
        Ok(Some(row))
    }

    /// The next line is this one of its file, counted from 1: lines that are empty are not pushed.
    pub fn skip_to(&mut self, line: u64) {
        self.line = self.line.max(line.saturating_sub(1));
    }

    /// What the requests so far add up to.
    pub fn totals(&self) -> LedgerTotals {
        LedgerTotals { runs: Some(self.n_runs), ..self.tally.totals() }
    }

    /// The run whose newest request this one goes on from (CL-41).
    fn parent(&self, entry: &Entry<'_>, messages: &[u128]) -> Option<u64> {
        let alike = |it: &(&u64, &Run)| it.1.name == entry.name && it.1.family == entry.family;
        let candidates: Vec<(&u64, &Run)> = self.runs.iter().filter(alike).collect();
        let beginning = |run: &Run| {
            run.messages.iter().zip(messages).take_while(|(one, other)| one == other).count()
        };
        let longest = candidates.iter().map(|it| (beginning(it.1), it.1.line, *it.0)).max();
        if let Some((1.., _, run)) = longest {
            return Some(run);
        }
        let mut seen = HashSet::new();
        let own = messages.iter().filter(|it| seen.insert(**it));
        let mut common: BTreeMap<u64, usize> = BTreeMap::new();
        for run in own.filter_map(|it| self.owners.get(it)) {
            *common.entry(*run).or_default() += 1;
        }
        let shared = candidates.iter().filter_map(|(run, it)| {
            let n = *common.get(run)?;
            let shorter = it.messages.len().min(messages.len());
            (n * 2 >= shorter).then_some((n, it.line, **run))
        });
        if let Some((_, _, run)) = shared.max() {
            return Some(run);
        }
        entry.name.as_ref()?;
        candidates.iter().max_by_key(|it| it.1.line).map(|it| *it.0)
    }

    fn remember(&mut self, key: u64, run: Run) {
        if let Some(old) = self.runs.remove(&key) {
            let shared = old.messages.iter().zip(&run.messages);
            let n_shared = shared.take_while(|(one, other)| one == other).count();
            self.disown(key, &old.messages[n_shared..]);
        }
        for message in &run.messages {
            self.owners.insert(*message, key);
        }
        self.used.retain(|it| *it != key);
        self.used.push_back(key);
        self.runs.insert(key, run);
        while self.runs.len() > self.options.runs.max(1) {
            let Some(oldest) = self.used.pop_front() else { break };
            if let Some(run) = self.runs.remove(&oldest) {
                self.disown(oldest, &run.messages);
            }
            self.tally.totals.forgotten += 1;
        }
    }

    /// Forgets messages that a run no longer has.
    fn disown(&mut self, key: u64, messages: &[u128]) {
        for message in messages {
            if self.owners.get(message) == Some(&key) {
                self.owners.remove(message);
            }
        }
    }

    /// What a request did not read of what its parent had established.
    fn missed(
        &self,
        compared: &Comparison,
        (before, now): (Option<CacheUsage>, Option<CacheUsage>),
        price: Option<Price>,
        model: Option<&str>,
    ) -> Option<Missed> {
        use Relation::{Branch, ByReference, Other, Rewind};
        let (before, now) = (before?, now?);
        if matches!(compared.relation, Rewind | Branch | Other | ByReference) {
            return None;
        }
        let rules = Provider::of(&compared.provider, model);
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
fn sums_passes(prompt: &Prompt<'_, '_>, n_before: usize) -> bool {
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
        it => it - it % rules.step.max(1),
    }
}

fn why(compared: &Comparison) -> &'static str {
    const NOTES: &[&str] = &[
        "cache::expired",
        "cache::thinking-stripped",
        "cache::lookback",
        "cache::nothing-written",
        "cache::no-breakpoint",
    ];
    let noted = NOTES.iter().find(|it| compared.notes.contains(it)).copied();
    let changed = compared.changes.first().map(|it| it.code);
    changed.or(noted).unwrap_or("cache::unexplained-miss")
}

pub(crate) fn dollars(pico: u128) -> f64 {
    pico as f64 / PICO
}

pub(crate) fn picodollars(dollars: f64) -> u128 {
    (dollars * PICO).round() as u128
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Entry, Layout, Ledger, LedgerOptions, Prompt, read};

    /// How many of these lines were read in part. Each of them is what it is when it is read in full.
    fn read_in_part(lines: &[String]) -> usize {
        let mut ledger = Ledger::new(LedgerOptions::default());
        let mut n = 0;
        for line in lines {
            let line = line.as_bytes();
            if let Some((key, short, layout)) = ledger.shortened(line) {
                let whole = read(line).expect("because it is JSON");
                let whole = Entry::of(&whole, None).expect("because it is a request");
                let value = read(&short.text).expect("because a part of JSON was left out");
                let entry = Entry::of(&value, None).expect("because it is a request still");
                let mut prompt = Prompt::of(entry.body, entry.family);
                if prompt.put_back(&ledger.runs[&key].prompt, &short).is_some() {
                    let expected = Prompt::of(whole.body, whole.family).outline();
                    let said = String::from_utf8_lossy(line);
                    assert_eq!(
                        format!("{:?}", prompt.outline()),
                        format!("{expected:?}"),
                        "{said}"
                    );
                    let own = Layout::of(line, whole.family);
                    assert_eq!(format!("{:?}", Some(layout)), format!("{own:?}"), "{said}");
                    n += 1;
                }
            }
            ledger.push(line).expect("because it is a request");
        }
        n
    }

    /// A request of the first messages of each length, with what is around it.
    fn grown(messages: &[Value], from: usize, body: impl Fn(&[Value], usize) -> String) -> usize {
        let lines: Vec<String> = (from..=messages.len()).map(|n| body(&messages[..n], n)).collect();
        read_in_part(&lines)
    }

    fn turns(n: usize) -> Vec<Value> {
        let role = |n: usize| if n.is_multiple_of(2) { "user" } else { "assistant" };
        let text = |n| format!("turn {n} {}", "word ".repeat(9 + n));
        (0..n)
            .map(|n| json!({"role": role(n), "content": [{"type": "text", "text": text(n)}]}))
            .collect()
    }

    #[test]
    fn what_is_read_in_part_is_what_it_is_in_full() {
        let plain = |it: &[Value], _| {
            json!({"model": "claude-opus-4-6", "max_tokens": 9, "messages": it}).to_string()
        };
        assert_eq!(grown(&turns(16), 8, plain), 8);

        let mut messages = turns(16);
        for at in [3, 7, 9, 11] {
            messages[at]["content"][0]["cache_control"] = json!({"type": "ephemeral"});
        }
        messages[5]["content"][0] = json!({"type": "image", "source": {"type": "url", "url": "u"}});
        assert!(grown(&messages, 8, plain) > 4, "marks and images stay where they are");
        messages[10] = json!("no object");
        messages[12] = json!({"role": "system", "content": "late"});
        messages[13]["content"] = json!("");
        grown(&messages, 8, plain);
        messages[4]["content"][0]["citations"] = json!({"enabled": true});
        grown(&messages, 8, plain);

        // The list in other members first, in an envelope, and with what comes after it.
        let text = |it: &[Value]| Value::from(it.to_vec()).to_string();
        let nested = |it: &[Value], n: usize| match n % 3 {
            0 => format!(
                r#"{{"max_tokens":9,"metadata":{{"messages":{0}}},"messages":{0}}}"#,
                text(it)
            ),
            1 => format!(r#"{{"max_tokens":9,"messages":{},"stop_sequences":["x"]}}"#, text(it)),
            _ => format!(
                r#"{{"time":{n},"request":{{"max_tokens":9,"messages": {}}},"usage":{{"input_tokens":1}}}}"#,
                text(it)
            ),
        };
        grown(&turns(20), 8, nested);

        // A cache point is of the part before it, which may be in the message before.
        let mut messages: Vec<Value> = turns(16);
        messages
            .iter_mut()
            .for_each(|it| it["content"] = json!([{"text": it["content"][0]["text"]}]));
        for at in [6, 9] {
            let parts = messages[at]["content"].as_array_mut().expect("because it is a list");
            parts.insert(0, json!({"cachePoint": {"type": "default"}}));
        }
        let converse = |it: &[Value], _| json!({"modelId": "m", "messages": it}).to_string();
        assert!(grown(&messages, 8, converse) > 3);

        // Leading messages of the system are not messages of the list; an edit in the middle is read in full.
        let mut messages = turns(16);
        messages.insert(0, json!({"role": "system", "content": "s"}));
        let chat = |it: &[Value], _| json!({"model": "gpt-5", "messages": it}).to_string();
        assert!(grown(&messages, 9, chat) > 4);
        let edited = |it: &[Value], n: usize| {
            let mut it = it.to_vec();
            it[n / 2]["content"][0]["text"] = json!(format!("edited {n}"));
            json!({"model": "gpt-5", "messages": it}).to_string()
        };
        grown(&messages, 9, edited);
    }
}
