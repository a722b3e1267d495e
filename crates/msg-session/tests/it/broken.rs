//! The cases broken at random: lines that go, come twice or change places, bytes that are lost. The laws
//! hold for all of them.

use msg_session::{Blob, Dialect, SessionOptions};
use proptest::prelude::*;

use crate::cases::Row;
use crate::laws;

/// A way to break a text.
#[derive(Debug, Clone)]
enum Break {
    Drop(usize),
    Repeat(usize),
    Swap(usize, usize),
    Cut(usize),
    Nul(usize),
    Lose(usize, usize),
    JoinLines(usize),
}

fn a_break() -> impl Strategy<Value = Break> {
    let n = any::<u16>().prop_map(usize::from);
    prop_oneof![
        4 => n.clone().prop_map(Break::Drop),
        2 => n.clone().prop_map(Break::Repeat),
        2 => (n.clone(), n.clone()).prop_map(|(a, b)| Break::Swap(a, b)),
        1 => n.clone().prop_map(Break::Cut),
        1 => n.clone().prop_map(Break::Nul),
        1 => (n.clone(), 1..9usize).prop_map(|(a, b)| Break::Lose(a, b)),
        1 => n.prop_map(Break::JoinLines),
    ]
}

fn broken(bytes: &[u8], breaks: &[Break]) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> =
        bytes.split_inclusive(|it| *it == b'\n').map(<[u8]>::to_vec).collect();
    for it in breaks {
        let count = lines.len().max(1);
        match *it {
            _ if lines.is_empty() => {}
            Break::Drop(at) => drop(lines.remove(at % count)),
            Break::Repeat(at) => lines.insert(at % count, lines[at % count].clone()),
            Break::Swap(a, b) => lines.swap(a % count, b % count),
            Break::JoinLines(at) => lines[at % count].retain(|it| *it != b'\n'),
            Break::Cut(at) => {
                let len = lines[at % count].len();
                lines[at % count].truncate(at % len.max(1));
            }
            Break::Nul(at) => {
                let len = lines[at % count].len();
                lines[at % count].insert(at % len.max(1), 0);
            }
            Break::Lose(at, many) => {
                let line = &mut lines[at % count];
                let start = at % line.len().max(1);
                line.drain(start..line.len().min(start + many));
            }
        }
    }
    lines.concat()
}

fn rows() -> Vec<(Dialect, Vec<Blob>)> {
    let rows = testkit::rows!("sessions.jsonl").rows();
    rows.iter().map(|it| Row::read(&it.text)).map(|it| (it.dialect, it.blobs())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 700,
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(11),
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_laws_hold_for_broken_cases(
        row in any::<prop::sample::Index>(),
        breaks in prop::collection::vec(a_break(), 1..4),
        all in any::<bool>(),
    ) {
        let rows = rows();
        let (dialect, mut blobs) = row.get(&rows).clone();
        for blob in &mut blobs {
            blob.bytes = broken(&blob.bytes, &breaks);
        }
        let options = SessionOptions { all, ..SessionOptions::default() };
        laws::mended_once_is_mended(dialect, blobs.clone(), &options);
        laws::every_part_has_an_origin(dialect, blobs);
    }
}

#[test]
fn the_laws_hold_for_all_cases_as_they_are() {
    for (dialect, blobs) in rows() {
        for all in [false, true] {
            let options = SessionOptions { all, ..SessionOptions::default() };
            laws::mended_once_is_mended(dialect, blobs.clone(), &options);
            laws::every_part_has_an_origin(dialect, blobs.clone());
        }
    }
}

/// Every case cut off at some sixty places, read as its dialect.
#[test]
fn the_laws_hold_for_cases_that_are_cut_off() {
    for (dialect, blobs) in rows() {
        let len = blobs[0].bytes.len();
        for cut in (0..len).step_by(1 + len / 60) {
            let mut blobs = blobs.clone();
            blobs[0].bytes.truncate(cut);
            laws::mended_once_is_mended(dialect, blobs.clone(), &SessionOptions::default());
            laws::every_part_has_an_origin(dialect, blobs);
        }
    }
}

/// The item of a row that is a text, whose JSON was torn.
#[test]
fn a_row_whose_item_is_no_json_is_kept_as_a_text() {
    let bytes = br#"{"message_data":"{\"role\":\"assistant\",\"cont"}
"#
    .to_vec();
    let blobs = vec![Blob { bytes, ..Blob::default() }];
    laws::every_part_has_an_origin(Dialect::AgentsSdk, blobs);
}
