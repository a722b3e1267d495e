//! Long calls: cutting changes nothing there either, and their source is what was there.

use msg_xml::{ParseOptions, parse};

use crate::laws;

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
