//! `test_data/breakpoints.jsonl`: requests with cache breakpoints, repaired, or made to fit a budget (CL-63). Expected are
//! the document and what is said of its breakpoints.

use msg_document::{Digest, FitOptions, RepairOptions, fit, options_from_json, repair};
use serde::Deserialize;
use serde_json::value::RawValue;

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
