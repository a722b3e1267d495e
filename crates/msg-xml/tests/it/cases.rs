//! The case files: what a message is read as, whole and in pieces, and the laws over each of them.

use std::sync::Arc;

use msg_core::FinishReason;
use msg_xml::{Dialects, Fenced, ParseOptions, SchemaSet, ThinkingMode, ToolSet, parse};
use serde::Deserialize;
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
