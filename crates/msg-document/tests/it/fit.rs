//! `fit` and `stats` by data (CP-…), and requests with cache breakpoints (CL-63): a line of `--jsonl` a row, and the whole answer beside it.
//!
//! Unchanged `messages` of the input are shown by number, so a row shows the changed and the dropped ones; edits are
//! with code, place, sentence and fix. `UPDATE_EXPECT=1` rewrites the answers.

use msg_document::{
    CheckOptions, Digest, Document, FitAnswer, FitOptions, Fitted, Fitter, ReadOptions, Refusal,
    RepairOptions, StatsOptions, fit, options_from_json, repair, stats,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

#[test]
fn histories_are_made_to_fit() {
    testkit::rows!("fit/fit.jsonl").check_lines(|row| {
        let input = input_of(&row.text);
        match answer(input.to_string().as_bytes()) {
            Err(refusal) => refused(&refusal),
            Ok((line, document)) => {
                let mut shown = shown(&line, &input);
                // In a document other than a list, the messages are edited in place.
                if input.get("turns").is_some() {
                    shown["document"] =
                        serde_json::from_slice(&document).expect("because it is JSON");
                }
                shown.to_string()
            }
        }
    });
}

#[test]
fn histories_are_counted() {
    testkit::rows!("fit/stats.jsonl").check_lines(|row| {
        let input = input_of(&row.text).to_string();
        match stats(input.as_bytes(), &StatsOptions::default()) {
            Err(refusal) => refused(&refusal),
            Ok(it) => String::from_utf8(it.to_json()).expect("because JSON is UTF-8"),
        }
    });
}

/// Why nothing was answered, and what would mend it.
fn refused(refusal: &Refusal) -> String {
    let found = refusal.diagnostic();
    let fix = found.fix.as_ref().map(|it| format!("; {it}"));
    format!("refused: {found}{}", fix.unwrap_or_default())
}

fn input_of(row: &str) -> Value {
    let mut row: Value = serde_json::from_str(row).expect("because a row is a case");
    row["input"].take()
}

/// The answer of `msg fit --jsonl` to a line, and the document.
fn answer(line: &[u8]) -> Result<(Vec<u8>, Vec<u8>), Refusal> {
    let mut answer = Fitter::of_lines(FitOptions::default())?.answer(line, &Digest)?;
    let json = answer.to_json();
    let document = agreeing(&mut answer, &json);
    Ok((json, document))
}

/// The document of an answer; what is asked of it is what its line says.
fn agreeing(answer: &mut FitAnswer, json: &[u8]) -> Vec<u8> {
    let line: Value = serde_json::from_slice(json).expect("because an answer is an object");
    let floor = answer.fitted().and_then(Fitted::floor);
    assert_eq!(floor, line["cannot_fit"]["floor"].as_u64());
    let says_nothing = line["messages"].as_array().is_none_or(Vec::is_empty);
    let fits = line["cannot_fit"].is_null() && !says_nothing;
    assert_eq!(answer.is_clean(), fits || answer.fitted().is_none());
    let Some(bytes) = answer.take_document() else { return Vec::new() };
    let document = Document::read(&bytes, &ReadOptions::default()).expect("because it is one");
    assert_eq!(document.messages().is_empty(), says_nothing);
    bytes
}

/// The answer with its unchanged messages by their numbers and its edits as lines.
fn shown(line: &[u8], input: &Value) -> Value {
    let mut answer: Map<String, Value> =
        serde_json::from_slice(line).expect("because an answer is an object");
    if let Some(edits) = answer.get_mut("edits").and_then(Value::as_array_mut) {
        edits.iter_mut().for_each(|it| *it = said(it).into());
    }
    if let Some(messages) = answer.get_mut("messages").and_then(Value::as_array_mut) {
        number(messages, input["messages"].as_array().map_or(&[][..], |it| it));
    }
    answer.into()
}

fn said(edit: &Value) -> String {
    let text = |name: &str| edit[name].as_str().unwrap_or_default().to_owned();
    let place = edit["at"]["message"].as_u64().map_or("-".to_owned(), |it| it.to_string());
    let [code, severity, message, fix] = ["code", "severity", "message", "fix"].map(text);
    let fix = if fix.is_empty() { fix } else { format!(" -> {fix}") };
    format!("{place} {severity}[{code}] {message}{fix}")
}

/// Puts the number of the input's message in the place of one that is equal to it, in order.
fn number(messages: &mut [Value], input: &[Value]) {
    let mut next = 0;
    for message in messages {
        let same = input.iter().skip(next).position(|it| it == message);
        if let Some(at) = same {
            *message = (next + at).into();
            next += at + 1;
        }
    }
}

/// A cell and a note after it are two messages of the user in a row, which a message file may have: nothing is to be
/// mended, and what is not cut stays byte for byte.
#[test]
fn cells_of_the_user_in_a_row_stay_cells() {
    let turn = |n: usize| {
        let words = "word ".repeat(40);
        format!(
            "\n# %% Question\n\nq{n} {words}\n\n# %% Note\n\nn{n}\n\n# %%% Answer [Bot]\n\na{n} {words}\n"
        )
    };
    let head = "---\nagents:\n  Bot: {}\ndefault_agent: Bot\n---\n".to_owned();
    let file = head + &(0..9).map(turn).collect::<String>();
    let read = ReadOptions::default().with_from("msgmd".parse().ok());
    let fitted = |budget: i64, preset: &str| {
        let options = FitOptions::default().with_read(read.clone()).with_budget(budget);
        let mut fitted = Fitter::new(options.with_preset(preset))
            .and_then(|it| it.fit(file.as_bytes(), &Digest));
        let fitted = fitted.as_mut().expect("because it is a message file");
        let text = fitted.take_document().expect("because it fits");
        (String::from_utf8(text).expect("because it was UTF-8"), fitted.totals().1.messages)
    };
    assert_eq!(fitted(100_000, "balanced"), (file.clone(), 27));
    for (budget, preset) in [(900, "window"), (900, "balanced"), (500, "balanced")] {
        let (text, messages) = fitted(budget, preset);
        assert!(text.ends_with(&turn(8)), "{preset} {budget}: {text}");
        let document = Document::read(text.as_bytes(), &read).expect("because it was written");
        assert_eq!(document.messages().len(), messages, "{preset} {budget}");
        assert!(document.check_chain(&CheckOptions::default()).is_empty(), "{preset} {budget}");
    }
    let counted = stats(file.as_bytes(), &StatsOptions::default().with_read(read));
    let sections = counted.expect("because it is a message file").sections;
    assert_eq!(sections.expect("because it is a chain").len(), 9);
}

// `test_data/breakpoints.jsonl`: requests with cache breakpoints, repaired, or made to fit a budget (CL-63). Expected are
// the document and what is said of its breakpoints.

#[derive(Deserialize)]
struct Case<'a> {
    #[serde(borrow)]
    repair: Option<&'a RawValue>,
    #[serde(borrow)]
    fit: Option<&'a RawValue>,
    #[serde(borrow)]
    input: &'a RawValue,
}

#[test]
fn breakpoints_of_dropped_parts_move() {
    testkit::rows!("breakpoints.jsonl").check_lines(|row| {
        let case: Case<'_> = serde_json::from_str(&row.text).expect("because a row is a case");
        let input = case.input.get().as_bytes();
        let (document, said) = match (case.repair, case.fit) {
            (Some(options), _) => {
                let options: RepairOptions =
                    options_from_json(options.get().as_bytes()).expect("because they are options");
                let res = repair(input, &options).expect("because it is a request");
                let again = repair(&res.document, &options).expect("because it was written");
                assert!(!again.changed, "{}", row.text);
                (res.document, res.edits)
            }
            (_, options) => {
                let options = options.map_or("{}", RawValue::get);
                let options: FitOptions =
                    options_from_json(options.as_bytes()).expect("because they are options");
                let mut res = fit(input, &options, &Digest).expect("because it is a request");
                (res.take_document().expect("because it fits"), res.mended)
            }
        };
        let moved = said.iter().filter(|it| it.code == "cache::breakpoint-moved");
        let moved: Vec<_> = moved.map(|it| (it.at.message, it.at.part)).collect();
        format!("{} moved {moved:?}", String::from_utf8_lossy(&document))
    });
}
