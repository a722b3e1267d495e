//! The numbers as a table for people.

use std::fmt::{Display, Write as _};

use unicode_width::UnicodeWidthStr;

use msg_document::{MadeOf, PartTotals, SectionTotals, Stats};

use crate::render::{plural, safe};
use crate::sessions::usage::Used;

/// The table: totals, roles, sections, tools, largest parts.
pub(super) fn draw(stats: &Stats) -> String {
    let mut text = format!(
        "{}, {}, {} ({})\n{}",
        plural(stats.messages, "message"),
        plural(stats.bytes, "byte"),
        plural(stats.tokens, "token"),
        how_counted(stats),
        made_of(&stats.made_of)
    );
    if let Some(it) = &stats.media {
        let (parts, tokens) =
            (plural(it.parts, "image, sound or file part"), plural(it.tokens, "token"));
        writeln!(text, "{parts}: {tokens} of these, by the formula that {} documents", it.formula)
            .expect("because a String takes all");
    }
    for block in blocks(stats) {
        text.push('\n');
        let names = block.iter().map(|it| it.name.width());
        let width = names.max().unwrap_or(0).max(LEAST_NAME);
        for Row { name, numbers: [a, b, c] } in block {
            let gap = " ".repeat(width - name.width());
            writeln!(text, "{name}{gap} {a:>10} {b:>12} {c:>10}")
                .expect("because a String takes all");
        }
    }
    if stats.sections.is_none() {
        text.push_str("\nno sections: the messages are not a valid chain (msg check says why)\n");
    }
    text
}

/// Whether the tokens are exact: those of texts can be.
fn how_counted(stats: &Stats) -> String {
    match stats.made_of.exact_texts {
        true => format!("texts exact by {}, all else estimated", stats.counter),
        false => format!("all estimated, with {}", stats.counter),
    }
}

fn made_of(it: &MadeOf) -> String {
    let parts = [
        (it.texts, "in texts, calls and results"),
        (it.frames, "in frames of messages"),
        (it.tool_definitions, "in tool definitions"),
        (it.media, "in media"),
    ];
    let parts = parts.iter().filter(|it| it.0 > 0).map(|it| format!("{} {}", it.0, it.1));
    let parts = parts.collect::<Vec<_>>().join(", ");
    if parts.is_empty() { parts } else { format!("of these {parts}\n") }
}

/// What the session recorded of its responses (SE-160): tokens as the provider counted them, by model and day.
pub(super) fn recorded(used: &Used) -> String {
    let responses = plural(used.responses, "response");
    let mut text = format!("recorded: {responses}, ${:.2}", used.cost);
    if used.unpriced > 0 {
        write!(text, " without {} of models without a price", used.unpriced)
            .expect("because a String takes all");
    }
    text.push('\n');
    for (heading, sums) in [("model", &used.models), ("day", &used.days)] {
        let [a, b, c, d, e] = ["input", "cache read", "cache write", "output", "cost"];
        writeln!(text, "{heading:24} {a:>10} {b:>12} {c:>12} {d:>10} {e:>9}")
            .expect("because a String takes all");
        for (name, it) in sums {
            let name = msg_core::truncate(&safe(name), 24).into_owned();
            let cost = format!("${:.2}", it.cost);
            let [a, b, c, d] = [it.input, it.cache_read, it.cache_write, it.output];
            writeln!(text, "{name:24} {a:>10} {b:>12} {c:>12} {d:>10} {cost:>9}")
                .expect("because a String takes all");
        }
    }
    text + "\n"
}

/// Columns of the names where all of them are short.
const LEAST_NAME: usize = 32;
/// Characters of a name at most.
const MOST_NAME: usize = 48;

/// A name, which may come from the conversation, and three numbers or their headings.
struct Row {
    name: String,
    numbers: [String; 3],
}

impl Row {
    fn new(name: &str, numbers: [&dyn Display; 3]) -> Self {
        let name = msg_core::truncate(&safe(name), MOST_NAME).into_owned();
        Row { name, numbers: numbers.map(ToString::to_string) }
    }
}

/// The blocks between blank lines; each begins with its headings.
fn blocks(stats: &Stats) -> Vec<Vec<Row>> {
    let mut roles = vec![Row::new("role", [&"messages", &"bytes", &"tokens"])];
    roles.extend(
        stats.roles.iter().map(|(role, it)| Row::new(role, [&it.messages, &it.bytes, &it.tokens])),
    );
    let mut blocks = vec![roles];
    if let Some(sections) = &stats.sections {
        blocks.push(section_rows(sections));
    }
    if !stats.tools.is_empty() {
        let mut rows = vec![Row::new("tool", [&"calls", &"bytes", &"tokens"])];
        rows.extend(stats.tools.iter().map(|it| {
            let name = if it.name.is_empty() { "(without a name)" } else { &it.name };
            Row::new(name, [&it.calls, &it.bytes, &it.tokens])
        }));
        blocks.push(rows);
    }
    let mut rows = vec![Row::new("largest parts", [&"message", &"bytes", &"tokens"])];
    let row = |it: &PartTotals| Row::new(&title(it), [&it.message, &it.bytes, &it.tokens]);
    rows.extend(stats.largest.iter().map(row));
    blocks.push(rows);
    blocks
}

/// As many sections are listed; the others are one row.
const MOST_SECTIONS: usize = 50;

fn section_rows(sections: &[SectionTotals]) -> Vec<Row> {
    let (shown, folded) = sections.split_at(sections.len().min(MOST_SECTIONS));
    let mut rows = vec![Row::new("section", [&"pairs", &"bytes", &"tokens"])];
    let row = |name: &str, it: &SectionTotals| Row::new(name, [&it.pairs, &it.bytes, &it.tokens]);
    rows.extend(shown.iter().enumerate().map(|(number, it)| row(&number.to_string(), it)));
    if !folded.is_empty() {
        let sum = folded.iter().fold(SectionTotals::default(), |sum, it| SectionTotals {
            messages: sum.messages + it.messages,
            pairs: sum.pairs + it.pairs,
            bytes: sum.bytes + it.bytes,
            tokens: sum.tokens + it.tokens,
        });
        let name = format!("{} more ({} to {})", folded.len(), shown.len(), sections.len() - 1);
        rows.push(row(&name, &sum));
    }
    rows
}

/// What a part is: of a tool, or else of a role.
fn title(it: &PartTotals) -> String {
    match it.tool.as_deref() {
        None => format!("{} of {}", it.kind, it.role),
        Some("") => it.kind.to_owned(),
        Some(tool) => format!("{} {tool}", it.kind),
    }
}
