//! The tree for people: a line a header message and a body pair.

use std::fmt::Write as _;

use msg_chainast::{BodyPair, ChainAst, Section};
use msg_core::Message;

use crate::render::plural;

/// How many characters of a message are shown.
const WIDTH: usize = 60;

/// The drawing, with a head line.
pub(super) fn draw(chain: &ChainAst, leading: usize, name: &str) -> String {
    let (messages, sections) = (chain.messages().len(), chain.sections().len());
    let mut res = format!(
        "{name}: {}, {}, {} bytes\n",
        plural(messages, "message"),
        plural(sections, "section"),
        chain.size()
    );
    if leading > 0 {
        let _ = writeln!(res, "before the sections: {}", plural(leading, "message"));
    }
    for (number, it) in chain.sections().iter().enumerate() {
        section(number, it, &mut res);
    }
    res
}

fn section(number: usize, it: &Section, res: &mut String) {
    let _ = writeln!(res, "section {number}  {} bytes", it.size());
    let header = it.header().messages().map(header_line);
    let lines: Vec<_> = header.chain(it.body().iter().map(pair_line)).collect();
    for (n, line) in lines.iter().enumerate() {
        let branch = if n + 1 == lines.len() { "└─" } else { "├─" };
        let _ = writeln!(res, "{branch} {line}");
    }
}

fn header_line(it: &Message) -> String {
    format!("{:<18}{:>8}  {}", it.role.to_string(), it.size(), it.preview(WIDTH))
}

fn pair_line(it: &BodyPair) -> String {
    let mut res =
        format!("{:<18}{:>8}  {}", it.kind().to_string(), it.size(), it.assistant().preview(WIDTH));
    let info = it.tool_calls_info();
    if !info.pending.is_empty() {
        let _ = write!(res, "  [{} unanswered]", plural(info.pending.len(), "call"));
    }
    res
}
