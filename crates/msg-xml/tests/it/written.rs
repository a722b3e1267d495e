//! What is written: calls at the depth limit (XT-44), and descriptions in the instructions (XT-46).

use msg_xml::{Error, ParsedCall, ThinkingMode, ToolDefinition, instructions, render};

use crate::laws;

fn nested(depth: usize, leaf: &str) -> ParsedCall {
    ParsedCall::new("t", format!("{}{leaf}{}", r#"{"d":"#.repeat(depth), "}".repeat(depth)))
}

#[test]
fn elements_go_as_deep_as_they_are_read() {
    let deepest = nested(64, r#""x""#);
    assert!(render(&deepest).unwrap().contains("<d>x</d>"));
    laws::rendered_calls_come_back(&deepest);
    assert!(matches!(render(&nested(65, r#""x""#)), Err(Error::DepthLimit { max: 64 })));
}

#[test]
fn a_json_body_goes_as_deep_as_it_is_read() {
    let deepest = nested(65, "1");
    assert!(render(&deepest).unwrap().starts_with("<tool>\n{"));
    laws::rendered_calls_come_back(&deepest);
    assert!(matches!(render(&nested(66, "1")), Err(Error::DepthLimit { max: 64 })));
}

#[test]
fn arguments_that_are_the_text_of_an_object_go_as_deep_as_it_does() {
    let text = |depth| {
        let inner = nested(depth, r#""x""#).arguments().text().to_owned();
        ParsedCall::new("t", serde_json::to_string(&inner).unwrap())
    };
    assert!(render(&text(64)).unwrap().contains("<d>x</d>"));
    assert!(matches!(render(&text(65)), Err(Error::DepthLimit { max: 64 })));
}

#[test]
fn only_blanks_of_a_description_are_folded() {
    let tool: ToolDefinition = serde_json::from_str(
        r#"{"name":"f","description":"\u00a0a\r\n","parameters":{"properties":{"p":{"type":"string","description":" 10\u00a0kB \r\n\t at most\u2003"}}}}"#,
    )
    .unwrap();
    let text = instructions(&[tool], ThinkingMode::Extract);
    let expected = "## f\n\u{a0}a\nParameters:\n- p (string): 10\u{a0}kB at most\u{2003}\n";
    assert!(text.ends_with(expected), "{text}");
}
