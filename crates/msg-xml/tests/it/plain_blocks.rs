//! Blocks as they should be, and nearly so: what is read in one look while it is wholly there is what it is in pieces.

use msg_xml::{ParseLimits, ParseOptions};
use proptest::prelude::*;
use proptest::sample::select;

use crate::laws;

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
