//! `test_data/rows.jsonl`: rows of logs, exports and batches; expected is what a command answers.

use msg_core::Diagnostic;
use msg_document::{
    CheckOptions, ConvertOptions, Digest, FitOptions, Fitter, Refusal, RepairOptions, StatsOptions,
    check, convert, options_from_json, repair, stats,
};
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct Case {
    of: String,
    #[serde(default)]
    options: Option<Box<RawValue>>,
    #[serde(default)]
    to: String,
    text: String,
}

#[test]
fn conversations_in_rows_are_answered() {
    testkit::rows!("rows.jsonl").check_lines(|row| {
        let case: Case = serde_json::from_str(&row.text).expect("because a row is a case");
        let text = case.text.as_bytes();
        let options = case.options.as_ref().map_or("{}", |it| it.get()).as_bytes();
        let answer = match case.of.as_str() {
            "check" => options_from_json::<CheckOptions>(options).and_then(|it| {
                let checked = check(text, &it)?;
                let (format, n) = (checked.format, checked.messages);
                Ok(format!("{format} {n}{}", places(&checked.diagnostics)))
            }),
            "repair" => options_from_json::<RepairOptions>(options).and_then(|it| {
                let repaired = repair(text, &it)?;
                let document = String::from_utf8_lossy(&repaired.document).into_owned();
                Ok(format!("{document}{}", places(&repaired.edits)))
            }),
            "convert" => options_from_json::<ConvertOptions>(options).and_then(|it| {
                let converted = convert(text, case.to.parse()?, &it)?;
                let document = String::from_utf8_lossy(&converted.document).into_owned();
                let left_out = converted.left_behind.join(",");
                Ok(format!("{document}{} left out {left_out}", places(&converted.edits)))
            }),
            "stats" => options_from_json::<StatsOptions>(options)
                .and_then(|it| stats(text, &it).map(|it| format!("{} messages", it.messages))),
            _ => options_from_json::<FitOptions>(options).and_then(|it| {
                let fitted = Fitter::new(it)?.fit(text, &Digest)?.take_document();
                Ok(String::from_utf8(fitted.unwrap_or_default()).expect("because it is JSON"))
            }),
        };
        answer.unwrap_or_else(|it| refused(&it)).replace('\n', "⏎")
    });
}

fn places(found: &[Diagnostic]) -> String {
    let place = |it: &Diagnostic| {
        let at = &it.at;
        let pointer = at.pointer.as_deref().unwrap_or("-");
        let line =
            at.line.zip(at.column).map_or_else(String::new, |it| format!(" {}:{}", it.0, it.1));
        format!(" [{} at {pointer}{line}]", it.code)
    };
    found.iter().map(place).collect()
}

fn refused(it: &Refusal) -> String {
    let found = it.diagnostic();
    format!(
        "refused {}: {}",
        found.code,
        found.message().split("; msg reads").next().unwrap_or_default()
    )
}
