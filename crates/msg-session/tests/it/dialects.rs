//! The table of dialects on the page of rules says what the code does, as the cases show it.
#![allow(clippy::disallowed_methods, reason = "the page is a file")]

use std::fs;
use std::path::Path;

use msg_session::{Compacted, Dialect, Error, SessionOptions, has_writer};

use crate::cases::Row;

const BEGIN: &str = "<!-- dialects: written by the tests of msg-session -->\n";
const END: &str = "<!-- end of dialects -->\n";

/// What the cases of a dialect show that it can do.
#[derive(Default)]
struct Shown {
    /// Codes that were found, beside those of broken lines, and those that were mended.
    found: usize,
    mended: usize,
    has_branches: bool,
    compacts: bool,
}

impl Shown {
    fn by(dialect: Dialect, cases: &[Row]) -> Self {
        let (mut found, mut mended) = (Vec::new(), Vec::new());
        let mut res = Self::default();
        for case in cases.iter().filter(|it| it.dialect == dialect) {
            let mut session = case.session();
            res.has_branches |= session.branches().is_ok_and(|it| !it.is_empty());
            let all = SessionOptions { all: true, drop: true, ..case.options.clone() };
            for it in session.repair(&all).unwrap_or_default() {
                found.push(it.code.to_string());
                mended.extend(it.done.then(|| it.code.to_string()));
            }
            let none = Compacted::default();
            let refused = case.session().compact(&none);
            res.compacts |= !matches!(refused, Err(Error::NotCompacted { .. }));
        }
        let count = |codes: &mut Vec<String>| {
            codes.sort();
            codes.dedup();
            codes.len()
        };
        Self { found: count(&mut found), mended: count(&mut mended), ..res }
    }
}

#[test]
fn the_table_of_dialects_is_true() {
    let cases: Vec<_> =
        testkit::rows!("sessions.jsonl").rows().iter().map(|it| Row::read(&it.text)).collect();
    let mut table = String::from(
        "| dialect | messages | codes found | of them mended | branches | compaction record | written |\n|---|---|---|---|---|---|---|\n",
    );
    let yes = |it: bool| if it { "yes" } else { "" };
    for dialect in Dialect::ALL {
        let it = Shown::by(*dialect, &cases);
        let (branches, compacts, written) =
            (yes(it.has_branches), yes(it.compacts), yes(has_writer(*dialect)));
        table += &format!(
            "| {dialect} | yes | {} | {} | {branches} | {compacts} | {written} |\n",
            it.found, it.mended
        );
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/formats/sessions.md");
    let page = fs::read_to_string(&path).unwrap();
    let start = page.find(BEGIN).unwrap() + BEGIN.len();
    let end = page.find(END).unwrap();
    let wanted = format!("{}\n{table}\n{}", &page[..start], &page[end..]);
    match std::env::var_os("UPDATE_EXPECT") {
        Some(_) => fs::write(path, wanted).unwrap(),
        None => assert_eq!(page, wanted, "UPDATE_EXPECT=1 rewrites the table"),
    }
}
