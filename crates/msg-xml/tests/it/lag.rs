//! XT-42: how much of a text, a thought or a value is withheld while it arrives byte by byte; and long
//! calls, cut anywhere.
//!
//! Blocks as they should be, and nearly so: what is read in one look while it is wholly there is what it is in pieces.

use msg_xml::{Dialects, Event, Fenced, ParseLimits, ParseOptions, StreamParser, ToolSet, parse};
use proptest::{prelude::*, sample::select};
use serde::Deserialize;

use crate::laws;

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

// Long calls: cutting changes nothing there either, and their source is what was there.

const LINE: &str = "a line of a value that goes on, é, for long\n";

/// Values of some 20 KiB, as they may be written.
fn arguments() -> Vec<String> {
    let text = LINE.repeat(450);
    let list = format!("<x>{LINE}</x>").repeat(400);
    vec![
        format!("<x><![CDATA[{text}]]></x>"),
        format!("<x>{text}</x>"),
        format!("<x>&lt;{text}</x>"),
        format!("<x><y>{text}</y><y>{text}</y></x>"),
        format!("<x>{text}</y></x>"),
        list,
        format!("{{\"x\":\"{}\"}}", text.replace('\n', " ")),
    ]
}

fn call(arguments: &str) -> String {
    format!("<tool><tool_name>t</tool_name><arguments>{arguments}</arguments></tool>")
}

fn messages() -> impl Iterator<Item = Vec<u8>> {
    arguments().into_iter().flat_map(|arguments| {
        let call = call(&arguments);
        let cut = &call[..call.len() - 20];
        [
            format!("{call} and text").into_bytes(),
            format!("Text {LINE}{call}{call}\n{call}").into_bytes(),
            format!("{cut}<tool>{call}").into_bytes(),
            cut.to_owned().into_bytes(),
            [b"bad \xFF\xFE ", call.as_bytes(), b"\xFF", call.as_bytes()].concat(),
            format!("```\n{call}\n```\n").into_bytes(),
            format!("<think>{call}").into_bytes(),
        ]
    })
}

#[test]
fn a_long_call_is_the_same_however_it_comes() {
    for message in messages() {
        for opts in [ParseOptions::default(), laws::options(0xFFFF)] {
            for n in [7, 64, 5_000, 18_000] {
                laws::chunks_do_not_matter(&message, message.chunks(n), None, &opts);
            }
        }
    }
}

#[test]
fn its_source_is_what_stood_there() {
    for arguments in arguments() {
        let call = call(&arguments);
        let message = format!("Text. {call} More.");
        let parsed = laws::streamed(message.as_bytes().chunks(64), None, &ParseOptions::default());
        assert_eq!(parsed.calls().map(|call| call.source()).collect::<Vec<_>>(), [&*call]);
        assert_eq!(parsed, parse(message.as_bytes(), None, &ParseOptions::default()));
    }
}

#[test]
fn nesting_as_deep_as_may_be_chosen_fits_a_small_stack() {
    let small = std::thread::Builder::new().stack_size(3 << 19);
    small.spawn(nesting).unwrap().join().unwrap();
}

fn nesting() {
    let limits = msg_xml::ParseLimits { max_depth: 1024, ..Default::default() };
    let opts = ParseOptions::default().with_limits(limits);
    for depth in [500, 512, 5000] {
        let nested = format!("{}x{}", "<a>".repeat(depth), "</a>".repeat(depth));
        let parsed = parse(call(&nested).as_bytes(), None, &opts);
        assert_eq!(parsed.calls().count(), usize::from(depth <= 512), "{depth}");
    }
}

/// The first twelve are nothing special.
const TEXTS: &[&str] = &[
    "src/a.rs",
    "12",
    "",
    " ",
    "\n  x\n  ",
    "a &lt; b",
    "a & b",
    "é",
    " x ",
    "x\r\n",
    "<![CDATA[a < b]]>",
    "\n<![CDATA[]]>\n",
    "&#0;",
    "<![CDATA[x]]>y",
    "<!-- c -->",
    "a < b",
    "CDATA-START[x]CDATA-END",
    "<![CDATA[<![CDATA[x]]>",
    "]]>",
    "<b>x</b>",
    "<tool>",
    "</p>",
];
/// The first four are parameters like any other.
const KEYS: &[&str] = &["p", "q", "path", "a.b", "é", "P", "name", "args", "tool", "param"];
/// The first five are blanks.
const GAPS: &[&str] = &["", "\n", "  ", "\n  ", "\r\n", "<!-- c -->", "x"];
const SERVERS: &[&str] = &[
    "",
    "<server_name>local</server_name>",
    "<server_name> s </server_name>\n",
    "<server_name></server_name>",
    "<server/>",
];
const NAMES: &[&str] = &[" read_file\n", "a b", "&#65;", "<![CDATA[t]]>", ""];

/// Mostly one of the first `n`.
fn mostly(n: usize, all: &'static [&'static str]) -> impl Strategy<Value = &'static str> + Clone {
    prop_oneof![8 => select(&all[..n]), 1 => select(all)]
}

/// An element with this content, now and then with a fault.
fn element(content: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    (mostly(4, KEYS), content, mostly(5, GAPS), 0..40usize).prop_map(
        |(key, content, gap, fault)| match fault {
            0 => format!("<{key}>{content}{gap}"),
            1 => format!("<{key} name=\"k\">{content}</{key} >{gap}"),
            2 => format!("<{key}/>{gap}"),
            _ => format!("<{key}>{content}</{key}>{gap}"),
        },
    )
}

fn elements() -> impl Strategy<Value = String> {
    let leaf = element(mostly(12, TEXTS).prop_map(str::to_owned));
    leaf.prop_recursive(3, 12, 3, |inner| {
        let several = (mostly(5, GAPS), proptest::collection::vec(inner, 0..3));
        element(several.prop_map(|(gap, all)| format!("{gap}{}", all.concat())))
    })
}

fn block() -> impl Strategy<Value = String> {
    let name = prop_oneof![8 => Just("t"), 1 => select(NAMES)];
    let params = proptest::collection::vec(elements(), 0..4);
    (select(SERVERS), name, mostly(5, GAPS), params, 0..30usize).prop_map(
        |(server, name, gap, params, fault)| {
            let params = params.concat();
            let tail = match fault {
                0 => "",
                1 => "</args></tool>",
                2 => "</arguments>",
                _ => "</arguments>\n</tool>",
            };
            format!(
                "<tool>\n{server}<tool_name>{name}</tool_name>{gap}<arguments>{gap}{params}{tail}"
            )
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(23), ..ProptestConfig::default() })]

    #[test]
    fn plain_blocks_are_what_they_are_in_pieces(
        blocks in proptest::collection::vec((block(), "[\n x]{0,2}"), 1..4),
        choice in any::<u32>(),
        n in 1usize..20,
        max_depth in prop_oneof![3 => Just(64), 1 => 0usize..4],
    ) {
        let input: String = blocks.iter().map(|(block, gap)| format!("{block}{gap}")).collect();
        let input = input.as_bytes();
        let opts: ParseOptions = laws::options(choice).with_limits(ParseLimits { max_depth, ..ParseLimits::default() });
        laws::chunks_do_not_matter(input, input.chunks(n), laws::finish(choice), &opts);
        laws::spans_account_for_the_input(input, laws::finish(choice), &opts);
        laws::pieces_are_the_values(input, input.len(), laws::finish(choice), &opts);
    }
}
