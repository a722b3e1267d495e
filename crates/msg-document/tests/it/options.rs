//! `test_data/options.jsonl`: options of a command as a JSON object; expected is what they say, or why
//! they are refused.

use msg_document::{
    CheckOptions, ConvertOptions, FitOptions, Fitter, RepairOptions, options_from_json,
};
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    of: String,
    text: String,
}

#[test]
fn options_are_read_from_json() {
    testkit::rows!("options.jsonl").check_lines(|row| {
        let case: Case = serde_json::from_str(&row.text).expect("because a row is a case");
        let json = case.text.as_bytes();
        let understood = match case.of.as_str() {
            "check" => options_from_json::<CheckOptions>(json).map(|it| {
                let profile = it.profile.map(|it| it.name);
                format!("from {:?} profile {profile:?} {:?}", it.read.from, it.messages)
            }),
            "repair" => {
                options_from_json::<RepairOptions>(json).map(|it| format!("{:?}", it.read.from))
            }
            "convert" => options_from_json::<ConvertOptions>(json).map(|it| {
                let layout = it.write.encode.keeps_layout();
                let session = it.write.session;
                format!("{:?} keeps layout {layout} {:?} {session:?}", it.carry, it.read)
            }),
            _ => options_from_json::<FitOptions>(json).and_then(Fitter::new).map(|it| {
                format!("{:?} counter {:?}", it.options().limit.budget, it.options().count.counter)
            }),
        };
        // What there is is not told: profiles and formats come.
        let refused = |it: msg_document::Refusal| {
            it.to_string().split(", expected").next().map(str::to_owned)
        };
        understood.unwrap_or_else(|it| refused(it).unwrap_or_default())
    });
}
