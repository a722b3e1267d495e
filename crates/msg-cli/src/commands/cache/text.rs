//! What `msg cache` prints for people.
//!
//! ```text
//! b.json goes on from a.json, but its beginning has changed (anthropic, claude-opus-4-6)
//! warning[cache::volatile]: a time, a counter or an id changes on every request
//!  --> system, block 0
//!   - …Current time is 15:09:20…
//!   + …Current time is 15:09:34…
//!   = help: move it into the newest user message
//! about 2,200 of 48,200 tokens can still be read
//! ```

use std::fmt::Write as _;

use msg_cache::{
    CacheUsage, Change, Comparison, Missed, Relation, Row, SessionRow, SessionTotals, Totals, help,
    meaning,
};

use crate::render::safe;

/// Two requests.
pub(super) fn pair((a, b): &(String, String), it: &Comparison) -> String {
    let (a, b) = (safe(a), safe(b));
    let said = match it.relation {
        Relation::Same => format!("{b} is the same prompt as {a}"),
        Relation::Growth => format!("{b} goes on from {a}; everything before is unchanged"),
        Relation::Rewind => format!("{b} goes back to an earlier state of {a}"),
        Relation::Branch => format!("{b} shares a beginning with {a} and goes another way"),
        Relation::Other => format!("{b} is another conversation than {a}"),
        Relation::Break => format!("{b} goes on from {a}, but its beginning has changed"),
        _ => format!("{b} continues a history that the provider holds; nothing can be compared"),
    };
    let model = it.model.as_deref().map_or(String::new(), |it| format!(", {}", safe(it)));
    let mut out = format!("{said} ({}{model})\n", it.provider);
    it.changes.iter().for_each(|it| out.push_str(&change(it)));
    for code in &it.notes {
        out.push_str(&finding(code));
        out.push_str(&helped(code));
    }
    if it.relation != Relation::ByReference {
        let (shared, all) = (count(it.shared_estimate), count(it.estimate));
        _ = writeln!(out, "about {shared} of {all} tokens are a common beginning");
    }
    out
}

fn finding(code: &str) -> String {
    let severity = msg_cache::CODES.iter().find(|it| it.code == code).map(|it| it.severity);
    let severity = severity.map_or("info".to_owned(), |it| it.to_string());
    format!("{severity}[{code}]: {}\n", meaning(code))
}

fn helped(code: &str) -> String {
    help(code).map_or(String::new(), |it| format!("  = help: {it}\n"))
}

fn change(it: &Change) -> String {
    let mut out = finding(it.code);
    let place = match (it.setting, it.index, it.level) {
        (Some(setting), ..) => format!("setting `{setting}`"),
        (_, Some(index), "tools") => format!("tools[{index}]"),
        (_, Some(index), "system") => format!("system, block {index}"),
        (_, Some(index), _) => format!("messages[{index}]"),
        (_, None, level) => level.to_owned(),
    };
    let how = serde_json::to_value(it.how).ok().and_then(|it| it.as_str().map(str::to_owned));
    _ = write!(out, " --> {place}: {}", how.unwrap_or_default());
    if let Some(names) = it.names.as_ref().filter(|it| !it.is_empty()) {
        _ = write!(out, " {}", safe(&names.join(", ")));
    }
    out.push('\n');
    if let Some((before, now)) = &it.spellings {
        _ = writeln!(out, "  - {}\n  + {}", safe(before), safe(now));
    }
    out + &helped(it.code)
}

/// A request of a log.
pub(super) fn row(it: &Row) -> String {
    let mut out = format!("line {}", it.line);
    match (&it.comparison, it.parent) {
        (Some(compared), Some(parent)) => {
            let relation = serde_json::to_value(compared.relation).unwrap_or_default();
            let relation = relation.as_str().unwrap_or_default();
            _ = write!(out, "  {relation} of line {parent}");
            if let Some(change) = compared.changes.first() {
                let index = change.index.map_or(String::new(), |it| format!("[{it}]"));
                let place = change.setting.unwrap_or(change.level);
                _ = write!(out, "  {} at {place}{index}", change.code);
            }
        }
        _ => out.push_str("  begins a run"),
    }
    if let Some(usage) = &it.usage {
        _ = write!(out, "  {}", used(usage));
    }
    out.push_str(&it.cost.map_or(String::new(), |it| format!("  {}", money(it))));
    out.push_str(&it.missed.as_ref().map_or(String::new(), missed));
    out + "\n"
}

fn missed(it: &Missed) -> String {
    let cost = it.cost.map_or(String::new(), |it| format!(", {}", money(it)));
    format!("  missed {}{cost}: {}", count(it.tokens), it.why)
}

fn used(it: &CacheUsage) -> String {
    let (read, written) = (count(it.read), count(it.written()));
    format!("read {read}, written {written}, new {}, out {}", count(it.input), count(it.output))
}

/// What a log adds up to.
pub(super) fn totals(name: &str, it: &Totals) -> String {
    let mut out = format!(
        "{}: {} requests in {} runs, {}: {}\n",
        safe(name),
        count(it.requests),
        count(it.runs),
        money(it.cost),
        used(&it.usage)
    );
    out.push_str(&misses(it.misses, it.missed_tokens, it.missed_cost, it.cost));
    if it.unpriced > 0 {
        _ = writeln!(out, "{} requests of models without a price", count(it.unpriced));
    }
    out
}

fn misses(n: u64, tokens: u64, cost: f64, of: f64) -> String {
    match n {
        0 => "no misses\n".to_owned(),
        n => {
            let (tokens, cost, of) = (count(tokens), money(cost), money(of));
            format!("{} misses, {tokens} tokens, {cost} of {of}\n", count(n))
        }
    }
}

/// A response of a session: a line if it missed something.
pub(super) fn session_row(it: &SessionRow) -> String {
    let Some(missed) = &it.missed else { return String::new() };
    let cost = missed.cost.map_or(String::new(), |it| format!("  {}", money(it)));
    let gap = it.gap.map_or(String::new(), |it| format!(", {it:.0} s after the response before"));
    let (tokens, why) = (count(missed.tokens), missed.why);
    format!("record {}  {tokens} tokens{cost}  {}{gap} ({why})\n", it.record, meaning(why))
}

/// What a session adds up to.
pub(super) fn session_totals(name: &str, it: &SessionTotals) -> String {
    let (n, cost) = (count(it.requests), money(it.cost));
    let mut out = format!("{}: {n} responses, {cost}: {}\n", safe(name), used(&it.usage));
    out.push_str(&misses(it.misses, it.missed_tokens, it.missed_cost, it.cost));
    if let Some(more) = it.other_ttl {
        let other = if it.usage.write_long > 0 { "5 minutes" } else { "1 hour" };
        let said = if more < 0.0 { "less" } else { "more" };
        let by = money(more.abs());
        _ = writeln!(out, "entries that live for {other} would have cost {by} {said}");
    }
    if it.unpriced > 0 {
        _ = writeln!(out, "{} responses of models without a price", count(it.unpriced));
    }
    out
}

/// Dollars, to the cent.
fn money(it: f64) -> String {
    format!("${it:.2}")
}

/// A number with a comma before each three digits.
fn count(it: u64) -> String {
    let digits = it.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
