//! The case files: what a message is read as, whole and in pieces, and the laws over each of them; the
//! answers of model families, the step of the schema, and what is written.

use std::sync::Arc;

use msg_core::{FinishReason, RawJson};
use msg_xml::{
    Dialects, Error, Fenced, ParseOptions, ParsedCall, SchemaSet, ThinkingMode, ToolDefinition,
    ToolSet, instructions, parse, render,
};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use testkit::Row;

use crate::{laws, shown};

#[derive(Deserialize)]
pub(crate) struct Case {
    pub(crate) name: String,
    #[serde(default)]
    input: String,
    #[serde(default)]
    input_hex: String,
    #[serde(default)]
    options: CaseOptions,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CaseOptions {
    thinking: Option<ThinkingMode>,
    implicit_thinking: bool,
    fenced_tools: Option<Fenced>,
    dialects: Vec<String>,
    tools: Vec<String>,
    schema: Option<SchemaSet>,
    finish_reason: Option<String>,
    max_tool_bytes: Option<usize>,
    max_depth: Option<usize>,
}

impl Case {
    fn of(row: &Row) -> Self {
        serde_json::from_str(&row.text).unwrap()
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let hex = |i: usize| u8::from_str_radix(&self.input_hex[i..i + 2], 16).unwrap();
        if self.input_hex.is_empty() {
            self.input.clone().into_bytes()
        } else {
            (0..self.input_hex.len()).step_by(2).map(hex).collect()
        }
    }

    pub(crate) fn options(&self) -> ParseOptions {
        let o = &self.options;
        let mut opts = ParseOptions::new()
            .with_thinking(o.thinking.unwrap_or_default())
            .with_fenced_tools(o.fenced_tools.unwrap_or_default())
            .with_dialects(Dialects::by_names(o.dialects.iter().map(String::as_str)).unwrap())
            .with_tools(ToolSet::from_iter(o.tools.iter().cloned()));
        opts.implicit_thinking = o.implicit_thinking;
        opts.schema = o.schema.clone().map(Arc::new);
        opts.limits.max_tool_bytes = o.max_tool_bytes.unwrap_or(opts.limits.max_tool_bytes);
        opts.limits.max_depth = o.max_depth.unwrap_or(opts.limits.max_depth);
        opts
    }

    pub(crate) fn finish(&self) -> Option<FinishReason> {
        self.options.finish_reason.as_deref().map(FinishReason::from)
    }
}

pub(crate) fn all() -> Vec<Case> {
    testkit::rows!("cases.jsonl").rows().iter().map(Case::of).collect()
}

#[test]
fn cases_are_read_as_expected() {
    testkit::rows!("cases.jsonl").check_expect(|row| {
        let case = Case::of(row);
        shown::parsed(&parse(&case.bytes(), case.finish(), &case.options()))
    });
}

/// Each built-in dialect has a case that it alone reads, and a rule (XT-32).
#[allow(clippy::disallowed_methods, reason = "the page of rules is a file")]
#[test]
fn each_dialect_has_a_case_and_a_rule() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/formats/tool-call-xml.md");
    let page = std::fs::read_to_string(path).unwrap();
    let listed = Dialects::NAMES.map(|it| format!("`{it}`")).join(", ");
    assert!(
        page.contains(&listed),
        "XT-32 of docs/formats/tool-call-xml.md does not list {listed}"
    );
    let cases = all();
    for name in Dialects::NAMES {
        let is_of_it = |it: &Case| it.options.dialects == [name];
        assert!(cases.iter().any(is_of_it), "test_data/cases.jsonl has no case of {name} alone");
        let rule = format!(" {name}.**");
        assert!(
            page.contains(&rule),
            "docs/formats/tool-call-xml.md has no rule `**XT-… {name}.**`"
        );
    }
}

#[test]
fn any_cut_in_two_gives_the_same() {
    for case in all() {
        let (bytes, opts) = (case.bytes(), case.options());
        if bytes.len() > 400 {
            continue;
        }
        let whole = parse(&bytes, case.finish(), &opts);
        for [a, b] in testkit::split::in_two(&bytes) {
            assert_eq!(
                laws::streamed([a, b].into_iter(), case.finish(), &opts),
                whole,
                "{} cut at {}",
                case.name,
                a.len()
            );
        }
    }
}

#[test]
fn cuts_in_three_give_the_same() {
    for (n, case) in all().iter().enumerate() {
        let (bytes, opts) = (case.bytes(), case.options());
        if bytes.len() > 400 {
            continue;
        }
        let whole = parse(&bytes, case.finish(), &opts);
        // All cuts of the short ones, a spread of those of the others.
        let step = if bytes.len() <= 36 { 1 } else { bytes.len() * bytes.len() / 100 };
        for [a, b, c] in testkit::split::in_three(&bytes).skip(n % step).step_by(step) {
            let res = laws::streamed([a, b, c].into_iter(), case.finish(), &opts);
            assert_eq!(res, whole, "{} cut at {} and {}", case.name, a.len(), a.len() + b.len());
        }
    }
}

#[test]
fn pieces_of_one_byte_and_more_give_the_same() {
    for case in all() {
        let (bytes, opts) = (case.bytes(), case.options());
        for n in [1, 2, 3, 7, 64] {
            laws::chunks_do_not_matter(
                &bytes,
                testkit::split::every(&bytes, n),
                case.finish(),
                &opts,
            );
        }
    }
}

#[test]
fn the_other_laws_hold_for_the_cases() {
    for case in all() {
        let (bytes, opts) = (case.bytes(), case.options());
        laws::spans_account_for_the_input(&bytes, case.finish(), &opts);
        laws::drop_changes_no_call(&bytes, case.finish(), &opts);
        laws::pieces_are_the_values(&bytes, 1, case.finish(), &opts);
        laws::holds_little(&bytes, &opts);
        for at in (0..bytes.len()).step_by(1 + bytes.len() / 12) {
            laws::cut_calls_are_not_guessed(&bytes, at, &opts);
        }
        for call in parse(&bytes, case.finish(), &opts).calls() {
            laws::rendered_calls_come_back(call);
        }
    }
}

#[test]
fn every_code_is_named() {
    laws::codes_have_names();
}

// Sixty answers of each family of models (XT-37, XT-48 to XT-55): their calls, read whole and in pieces, with the
// dialect alone and with all of them.

#[derive(Deserialize)]
struct StringsRow {
    dialect: String,
    input: String,
    calls: Vec<Expected>,
}

#[derive(Debug, PartialEq, Deserialize)]
struct Expected {
    name: String,
    arguments: serde_json::Value,
}

#[test]
fn calls_of_each_family_are_found() {
    for row in testkit::rows!("strings.jsonl").rows() {
        let row: StringsRow = serde_json::from_str(&row.text).unwrap();
        for dialects in [Dialects::by_names([row.dialect.as_str()]).unwrap(), Dialects::all()] {
            let opts = ParseOptions::new().with_dialects(dialects);
            let bytes = row.input.as_bytes();
            let parsed = parse(bytes, None, &opts);
            let calls = parsed.calls().map(|call| Expected {
                name: call.tool_name().to_owned(),
                arguments: call.arguments().value().expect("because they are JSON").clone(),
            });
            assert_eq!(calls.collect::<Vec<_>>(), row.calls, "{}: {}", row.dialect, row.input);
            for n in [1, 5, 16] {
                laws::chunks_do_not_matter(bytes, bytes.chunks(n), None, &opts);
                laws::pieces_are_the_values(bytes, n, None, &opts);
            }
        }
    }
}

// The schema's separate step: what a call lacks, and what it has that the schema does not know.

#[derive(Deserialize)]
struct CheckCase {
    schema: Value,
    arguments: Box<RawValue>,
}

fn schema_of(case: &CheckCase) -> SchemaSet {
    serde_json::from_value(serde_json::json!({ "f": case.schema })).unwrap()
}

#[test]
fn missing_and_unknown_parameters_are_reported() {
    testkit::rows!("check.jsonl").check_expect(|row| {
        let case: CheckCase = serde_json::from_str(&row.text).unwrap();
        let call = ParsedCall::new("f", case.arguments.get().to_owned());
        shown::reports(&schema_of(&case).check(&call))
    });
}

#[test]
fn the_step_is_separate_from_reading() {
    let text = b"ab <tool><tool_name>f</tool_name><arguments><file>x</file></arguments></tool>";
    let schema: SchemaSet =
        serde_json::from_str(r#"{"f":{"properties":{"n":{"type":"integer"}},"required":["n"]}}"#)
            .unwrap();
    let parsed = parse(text, None, &ParseOptions::new().with_schema(schema.clone()));
    assert_eq!(parsed.diagnostics, []);
    let found = parsed.check(&schema);
    let codes: Vec<&str> = found.iter().map(|it| it.code.as_str()).collect();
    assert_eq!(codes, ["xml::missing-parameter", "xml::unknown-parameter"]);
    assert!(found.iter().all(|it| (it.at.start, it.at.end) == (Some(3), Some(text.len()))));
}

#[test]
fn other_tools_are_not_judged() {
    let schema: SchemaSet = serde_json::from_str(r#"{"f":{"properties":{}}}"#).unwrap();
    assert_eq!(schema.check(&ParsedCall::new("g", r#"{"a":1}"#.to_owned())), []);
}

// What is written: calls at the depth limit (XT-44), and descriptions in the instructions (XT-46).

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

#[test]
fn a_call_keeps_its_server() {
    let text = "<tool>\n<server_name>weather</server_name>\n<tool_name>look</tool_name>\n<arguments></arguments>\n</tool>";
    let parsed = parse(text.as_bytes(), None, &ParseOptions::new());
    let call = parsed.calls().next().expect("because it is a call").to_core("c1");
    let server = call.extra.get(&msg_core::Origin::Xml, "server_name").map(RawJson::text);
    assert_eq!(server, Some("\"weather\""));
}
