//! XT-42: how much of a text or value is withheld while it arrives byte by byte.

use msg_xml::{Event, Fenced, Options, StreamParser};
use serde::Deserialize;

#[derive(Deserialize)]
struct Row {
    name: String,
    /// What comes first, and how often the rest follows.
    head: String,
    rest: String,
    times: usize,
    /// Bytes before the value; without it the whole message is text.
    from: Option<usize>,
    max: usize,
}

/// The most that was withheld at any byte.
fn withheld(row: &Row) -> usize {
    let mut parser = StreamParser::new(Options::new().with_fenced_tools(Fenced::Fallback));
    let input = format!("{}{}", row.head, row.rest.repeat(row.times));
    let (mut sent, mut worst) = (row.from.unwrap_or_default(), 0);
    for (at, byte) in input.bytes().enumerate() {
        for event in parser.feed(&[byte]) {
            sent += match event {
                Event::Text { text, .. } if row.from.is_none() => text.len(),
                Event::Arg { text, .. } => text.len(),
                _ => 0,
            };
        }
        worst = worst.max((at + 1).saturating_sub(sent));
    }
    worst
}

#[test]
fn little_is_withheld() {
    for row in testkit::rows!("lag.jsonl").rows() {
        let row: Row = serde_json::from_str(&row.text).unwrap();
        let worst = withheld(&row);
        assert!(worst <= row.max, "{}: {worst} bytes withheld", row.name);
    }
}
