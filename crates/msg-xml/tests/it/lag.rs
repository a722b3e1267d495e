//! XT-42: how much of a text, a thought or a value is withheld while it arrives byte by byte.

use msg_xml::{Dialects, Event, Fenced, ParseOptions, StreamParser, ToolSet};
use proptest::prelude::*;
use serde::Deserialize;

#[derive(Deserialize)]
struct Row {
    name: String,
    /// What comes first, and how often the rest follows.
    head: String,
    rest: String,
    times: usize,
    /// Bytes before the value or thought; without it the whole message is text.
    from: Option<usize>,
    max: usize,
    /// What is read beside the native block; a tool named `t` is known.
    #[serde(default)]
    dialects: Dialects,
}

/// The most that was withheld at any byte.
fn withheld(row: &Row) -> usize {
    let options = ParseOptions::new().with_fenced_tools(Fenced::Fallback);
    let options = options.with_dialects(row.dialects.clone()).with_tools(ToolSet::from_iter(["t"]));
    let mut parser = StreamParser::new(options);
    let input = format!("{}{}", row.head, row.rest.repeat(row.times));
    let (mut sent, mut worst) = (row.from.unwrap_or_default(), 0);
    for (at, byte) in input.bytes().enumerate() {
        for event in parser.feed(&[byte]) {
            sent += match event {
                Event::Text { text, .. } if row.from.is_none() => text.len(),
                Event::Arg { text, .. } | Event::Thinking { text, .. } => text.len(),
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

/// A parameter that has its name in an attribute is sent under that name from the first piece on.
#[test]
fn a_named_parameter_is_sent_under_its_name() {
    let head = "<tool><tool_name>t</tool_name><arguments>";
    for tag in ["<parameter name=\"k\">", "<k>"] {
        let mut parser = StreamParser::new(ParseOptions::new());
        let input = format!("{head}{tag}some words that arrive</");
        let mut sent = String::new();
        for event in parser.feed(input.as_bytes()) {
            match event {
                Event::Arg { path, text, .. } => {
                    assert_eq!(path.to_string(), "k", "{tag}");
                    sent.push_str(&text);
                }
                Event::ArgReset { .. } => panic!("{tag}: taken back"),
                _ => {}
            }
        }
        assert!(sent.starts_with("some words"), "{tag}: {sent:?}");
    }
}

/// The most that may be withheld of text, by where that begins and by what is before it.
fn bound(before: &str, withheld: &str) -> usize {
    let line = before.rsplit(['\n', '\r']).next().unwrap_or_default();
    // Blanks, quote marks and list markers go with a possible fence after them.
    let blanks = |c: char| " \t>\n\r-*+.)".contains(c) || c.is_ascii_digit();
    let rest = withheld.trim_start_matches(blanks);
    match rest.as_bytes().first() {
        _ if line.contains('`') => 4096,
        _ if rest.starts_with("``") || rest.starts_with('~') => usize::MAX,
        Some(b'<') if withheld.starts_with("<tool") => 512 + 4096 + 256 + 512,
        // Blanks are allowed before the end of a thinking tag.
        Some(b'<') => 32 + rest.matches([' ', '\n', '\r', '\t']).count(),
        Some(b'[') => withheld.len() - rest.len() + 16384 + 512 + 4096,
        Some(b'`') => 4096,
        _ => withheld.len() - rest.len() + 3,
    }
}

/// Feeds `input` byte by byte; after each byte, what is withheld is within the bound of what is open.
fn withholds_little(input: &str) {
    let mut parser = StreamParser::new(ParseOptions::new().with_fenced_tools(Fenced::Never));
    let (mut sent, mut calls) = (0, 0);
    for at in 0..input.len() {
        for event in parser.feed(&input.as_bytes()[at..=at]) {
            match event {
                Event::Text { span, .. } | Event::Thinking { span, .. } => sent = span.end as usize,
                Event::ToolBegin { .. } => calls += 1,
                Event::ToolEnd { .. } | Event::ToolVoid { .. } => calls -= 1,
                _ => {}
            }
        }
        if calls > 0 {
            sent = at + 1;
            continue;
        }
        let Some(mut held) = input.get(sent..=at) else { continue };
        // Tags of thinking are left out, not sent.
        while let Some(rest) = ["<think>", "</think>"].iter().find_map(|tag| held.strip_prefix(tag))
        {
            held = rest;
        }
        let max = bound(&input[..at + 1 - held.len()], held);
        assert!(held.len() <= max, "{} bytes withheld: {held:.200}", held.len());
    }
}

const PIECES: &[&str] = &[
    "words and ",
    "a < b ",
    "<",
    "</",
    "<tool",
    "<tool>",
    "<tool a=b ",
    "</tool>",
    "<toolbox>",
    "<think>",
    "</think>",
    "<thinker ",
    "<function_cal ",
    "<!-- ",
    "-->",
    "`",
    "``",
    "[",
    "]",
    "[I go on",
    "\n",
    "\n\n",
    " ",
    "   ",
    "> ",
    "- ",
    "é",
    "語",
    "</arguments></tool>",
    "<tool_name>t</tool_name>",
    "<arguments><x>",
    "\\",
    "\r\n",
    "1. ",
    "&",
    "~~",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 20, failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(23), ..ProptestConfig::default() })]

    #[test]
    fn what_is_withheld_is_what_is_open(
        runs in proptest::collection::vec(
            (proptest::sample::select(PIECES), prop_oneof![6 => 1usize..4, 1 => 200usize..500]),
            1..9,
        )
    ) {
        withholds_little(&runs.iter().map(|(piece, n)| piece.repeat(*n)).collect::<String>());
    }
}
