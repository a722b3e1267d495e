//! The law of the excerpt: checking and repairing by the excerpt gives the same result as by the whole text.

use proptest::prelude::*;
use serde_json::Value;

use crate::dialects::{Checked, format};
use crate::frame::read_lines;
use crate::{Blob, Dialect, Session, SessionOptions};

#[derive(Debug, Clone)]
struct Case {
    dialect: Dialect,
    blob: Blob,
    options: SessionOptions,
}

fn cases() -> Vec<Case> {
    let rows = testkit::rows!("sessions.jsonl").rows();
    rows.iter().filter_map(|row| case(&serde_json::from_str(&row.text).unwrap())).collect()
}

/// The case of a row, if its session is of lines.
fn case(row: &Value) -> Option<Case> {
    let dialect: Dialect = row["dialect"].as_str()?.parse().ok()?;
    let (name, text) = row["blobs"].as_object()?.iter().next()?;
    let blob = Blob::new(name.clone(), text.as_str()?);
    format(dialect).line_rules(&blob.name, &blob.bytes)?;
    let options = row.get("options").cloned();
    let options =
        options.map_or_else(SessionOptions::default, |it| serde_json::from_value(it).unwrap());
    Some(Case { dialect, blob, options })
}

/// The outcome by the whole text.
fn by_text(Case { dialect, blob, options }: &Case) -> Option<Checked> {
    let rules = format(*dialect).line_rules(&blob.name, &blob.bytes)?;
    let lines = read_lines(&blob.bytes, options.max_record);
    let mut mends = rules.check_lines(&lines, &blob.name, options).ok()?;
    mends.findings.extend(crate::dialects::unread_messages(rules, &lines));
    let about = |it| crate::about::about(*dialect, it, &blob.name, blob);
    mends.findings.extend(options.error.as_deref().and_then(about));
    crate::error::sort(&mut mends.findings);
    crate::edit::judge(*dialect, options.agent_version.as_deref(), &mut mends.findings);
    Some(Checked::of_mends(&lines.text, mends))
}

/// The new bytes. The frame character of marks may be escaped, and in edits of a whole text as marks spell it.
fn mended(it: &Checked) -> Option<String> {
    let bytes = it.changed.first()?.bytes.as_deref()?;
    let text = String::from_utf8_lossy(bytes).replace("\\ue000", "\u{e000}");
    Some(text.replace("\u{e000}@\u{e000}", "\u{e000}"))
}

fn excerpt_is_as_good_as_the_text(case: &Case) {
    let Some(whole) = by_text(case) else { return };
    let session = Session::new(case.dialect, vec![case.blob.clone()]);
    let found = session.checked(&case.options).unwrap();
    assert_eq!(found.findings, whole.findings);
    assert_eq!(mended(&found), mended(&whole));
}

#[test]
fn an_excerpt_is_as_good_as_the_text_for_all_cases() {
    for case in cases() {
        excerpt_is_as_good_as_the_text(&case);
        let options = SessionOptions { all: true, ..case.options.clone() };
        excerpt_is_as_good_as_the_text(&Case { options, ..case });
    }
}

/// Text inserted after a quote: the frame of a mark, a long text with a lone surrogate, white space.
const PUT: [&str; 4] = [
    "\u{e000}1\u{e000}",
    r"a long text with half \ud83d a character in it, and more than forty bytes",
    r"a long text of more than forty bytes without any escape",
    r"\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n",
];

#[derive(Debug, Clone)]
enum Break {
    Set(usize, u8),
    Remove(usize, usize),
    Put(usize, usize),
    DropLine(usize),
    RepeatLine(usize, usize),
    JoinLines(usize),
}

fn a_break() -> impl Strategy<Value = Break> {
    let n = || any::<u16>().prop_map(usize::from);
    prop_oneof![
        (n(), any::<u8>()).prop_map(|(at, byte)| Break::Set(at, byte)),
        (n(), 0..99usize).prop_map(|(at, len)| Break::Remove(at, len)),
        (n(), 0..PUT.len()).prop_map(|(at, which)| Break::Put(at, which)),
        n().prop_map(Break::DropLine),
        (n(), n()).prop_map(|(from, to)| Break::RepeatLine(from, to)),
        n().prop_map(Break::JoinLines),
    ]
}

fn broken(bytes: &mut Vec<u8>, it: &Break) {
    let lines = |bytes: &[u8]| -> Vec<Vec<u8>> {
        bytes.split_inclusive(|it| *it == b'\n').map(<[u8]>::to_vec).collect()
    };
    let len = bytes.len();
    match *it {
        _ if len == 0 => {}
        Break::Set(at, byte) => bytes[at * 31 % len] = byte,
        Break::Remove(at, many) => {
            let at = at * 31 % len;
            bytes.drain(at..len.min(at + many));
        }
        Break::Put(at, which) => {
            let quote = bytes[..at * 31 % len].iter().rposition(|it| *it == b'"').unwrap_or(0);
            let rest = bytes.split_off(quote + 1);
            bytes.extend_from_slice(PUT[which].as_bytes());
            bytes.extend(rest);
        }
        Break::DropLine(at) => {
            let mut lines = lines(bytes);
            lines.remove(at % lines.len());
            *bytes = lines.concat();
        }
        Break::RepeatLine(from, to) => {
            let mut lines = lines(bytes);
            let line = lines[from % lines.len()].clone();
            lines.insert(to % lines.len(), line);
            *bytes = lines.concat();
        }
        Break::JoinLines(at) => {
            let mut lines = lines(bytes);
            let at = at % lines.len();
            lines[at].retain(|it| *it != b'\n');
            *bytes = lines.concat();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1500,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn an_excerpt_is_as_good_as_the_text_for_broken_cases(
        case in prop::sample::select(cases()),
        breaks in prop::collection::vec(a_break(), 1..5),
        all in any::<bool>(),
        max_record in prop::sample::select(vec![200, 1000, 1 << 28]),
    ) {
        let mut case = case;
        breaks.iter().for_each(|it| broken(&mut case.blob.bytes, it));
        // A whole text cannot contain a line that is both too large to parse and not UTF-8.
        let is_text = std::str::from_utf8(&case.blob.bytes).is_ok();
        let max_record = if is_text { max_record } else { 1 << 28 };
        case.options = SessionOptions { all, max_record, ..case.options };
        excerpt_is_as_good_as_the_text(&case);
    }
}
