//! The answers of the library's functions, as data: `convert.jsonl`, `values.jsonl` and `options.jsonl`.
//!
//! `test_data/convert.jsonl`: a document, the target and what goes along; expected is the document in
//! the target format, what was lost, and the names of what is left out.

use msg_document::{
    Carry, CheckOptions, ConvertOptions, FitOptions, Fitter, KeyOptions, ReadOptions, Refusal,
    RepairOptions, StatsOptions, ToolsOptions, answer_row, convert, is_valid, join, key, messages,
    options_from_json, prefix_keys, to_json, tokens,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct Case {
    to: String,
    /// Whether the request goes along, and to which model.
    #[serde(default)]
    request: bool,
    /// Whether the answer is written as a response.
    #[serde(default)]
    response: bool,
    #[serde(default)]
    model: Option<String>,
    options: Option<Box<RawValue>>,
    read: Option<ReadOptions>,
    text: String,
}

#[test]
fn documents_are_converted() {
    testkit::rows!("convert.jsonl").check_lines(|row| {
        let case: Case = serde_json::from_str(&row.text).expect("because a row is a case");
        let carry = match (case.request, case.response) {
            (true, _) => Carry::Request { model: case.model },
            (false, true) => Carry::Response,
            (false, false) => Carry::Conversation,
        };
        let given = case.options.as_ref().map_or("{}", |it| it.get());
        let options = ConvertOptions::default().with_carry(carry).with(given.as_bytes());
        let mut options = options.expect("because a case has options that there are");
        options.read = case.read.unwrap_or(options.read);
        let to = case.to.parse().expect("because the target is a format");
        match convert(case.text.as_bytes(), to, &options) {
            Err(refusal) => format!("refused: {}", refusal.diagnostic()),
            Ok(it) => {
                let document = String::from_utf8(it.document).expect("because JSON is UTF-8");
                let edits: Vec<_> = it.edits.iter().map(ToString::to_string).collect();
                format!("{document} lost {edits:?} left out {:?}", it.left_behind)
            }
        }
    });
}

// `test_data/values.jsonl`: keys, messages, tokens, verdicts and joined halves of documents; expected is the value
// as JSON, or why there is none.

#[derive(Deserialize)]
struct ValuesCase {
    of: String,
    #[serde(default)]
    options: Option<Box<RawValue>>,
    #[serde(default)]
    output: Option<String>,
    text: String,
}

#[test]
fn documents_have_values() {
    testkit::rows!("values.jsonl").check_lines(|row| {
        let case: ValuesCase = serde_json::from_str(&row.text).expect("because a row is a case");
        let json = answer_row(|| value(&case)).unwrap_or_else(|it| it.to_json());
        String::from_utf8(json).expect("because JSON is UTF-8")
    });
}

fn value(case: &ValuesCase) -> Result<Vec<u8>, Refusal> {
    let json = case.text.as_bytes();
    let read = ReadOptions::default();
    Ok(match case.of.as_str() {
        "key" => to_json(&key(json, &options::<KeyOptions>(case)?)?),
        "prefix_keys" => to_json(&prefix_keys(json, &read)?),
        "messages" => to_json(&messages(json, &read)?),
        "is_valid" => to_json(&is_valid(json, &options(case)?)?),
        "tokens" => to_json(&tokens(json, &options::<StatsOptions>(case)?)?),
        "join" => {
            let output = case.output.as_ref().map(|it| it.as_bytes());
            join(Some(json), output, &read)?.unwrap_or_default()
        }
        other => panic!("no value is called {other}"),
    })
}

fn options<T: DeserializeOwned + Default>(case: &ValuesCase) -> Result<T, Refusal> {
    let given = case.options.as_ref().map(|it| options_from_json(it.get().as_bytes()));
    given.unwrap_or_else(|| Ok(T::default()))
}

#[test]
fn a_panic_costs_its_row() {
    let answer = |row: &str| {
        answer_row(|| {
            assert_ne!(row, "boom", "this row panics");
            Ok(row.len())
        })
    };
    let codes = ["a", "boom", "b"].map(|it| answer(it).map_err(|it| it.into_diagnostic().code));
    let [first, panicked, last] = codes;
    assert_eq!((first, last), (Ok(1), Ok(1)));
    assert_eq!(panicked.expect_err("because it panics").as_str(), "document::panic");
}

// `test_data/options.jsonl`: options of a command as a JSON object; expected is what they say, or why
// they are refused.

#[derive(Deserialize)]
struct OptionsCase {
    of: String,
    text: String,
}

#[test]
fn options_are_read_from_json() {
    testkit::rows!("options.jsonl").check_lines(|row| {
        let case: OptionsCase = serde_json::from_str(&row.text).expect("because a row is a case");
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
            "tools" => options_from_json::<ToolsOptions>(json).map(|it| {
                let tools: Vec<&str> = it.read.tools.iter().collect();
                format!(
                    "tools {tools:?} dialects {:?}",
                    it.read.dialects.names().collect::<Vec<_>>()
                )
            }),
            _ => options_from_json::<FitOptions>(json).and_then(Fitter::new).map(|it| {
                format!("{:?} counter {:?}", it.options().limit.budget, it.options().count.counter)
            }),
        };
        // The list of known names is cut off, because profiles and formats are added.
        let refused = |it: msg_document::Refusal| {
            it.to_string().split(", expected").next().map(str::to_owned)
        };
        understood.unwrap_or_else(|it| refused(it).unwrap_or_default())
    });
}
