//! The numbers as a table for people.

use std::fmt::Write as _;

use super::gather::Stats;

/// The table: totals, roles, sections, tools, largest parts.
pub(super) fn draw(stats: &Stats) -> String {
    let mut text = String::new();
    let mut line = |it: String| writeln!(text, "{}", it.trim_end()).expect("because a String takes all");
    line(format!(
        "{} messages, {} bytes, {} tokens ({}, {} of them besides the messages)",
        stats.messages, stats.bytes, stats.tokens, stats.counter, stats.base
    ));
    line(String::new());
    line(row("role", ["messages", "bytes", "tokens"]));
    for (role, it) in &stats.roles {
        line(row(role, [&it.messages.to_string(), &it.bytes.to_string(), &it.tokens.to_string()]));
    }
    match &stats.sections {
        None => line("\nno sections: the messages are no valid chain (msg check says why)".to_owned()),
        Some(sections) => {
            line(String::new());
            line(row("section", ["pairs", "bytes", "tokens"]));
            for (number, it) in sections.iter().enumerate() {
                let numbers = [it.pairs.to_string(), it.bytes.to_string(), it.tokens.to_string()];
                line(row(&number.to_string(), numbers.each_ref().map(String::as_str)));
            }
        }
    }
    if !stats.tools.is_empty() {
        line(String::new());
        line(row("tool", ["calls", "bytes", "tokens"]));
        for it in &stats.tools {
            let numbers = [it.calls.to_string(), it.bytes.to_string(), it.tokens.to_string()];
            line(row(&it.name, numbers.each_ref().map(String::as_str)));
        }
    }
    line(String::new());
    line(row("largest parts", ["message", "bytes", "tokens"]));
    for it in &stats.largest {
        let tool = it.tool.as_ref().map(|it| format!(" {it}")).unwrap_or_default();
        let numbers = [it.message.to_string(), it.bytes.to_string(), it.tokens.to_string()];
        line(row(&format!("{}{tool}", it.kind), numbers.each_ref().map(String::as_str)));
    }
    text
}

fn row(name: &str, numbers: [&str; 3]) -> String {
    let name: String = name.chars().take(32).collect();
    let [a, b, c] = numbers;
    format!("{name:<32} {a:>10} {b:>12} {c:>10}")
}
