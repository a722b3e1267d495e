//! The laws over random texts made of everything that could be mistaken for structure.
//!
//! The laws over documents that were damaged: cut, repeated, spliced, sprinkled with markers.
//!
//! The seeds are `test_data/documents`; a longer run takes more of them:
//! `MSG_FILE_SEEDS=FOLDER MSG_FILE_SECONDS=600 cargo test -p msg-file mutated`. Runs are repeatable. What
//! fails is made as small as it can be before it is shown, ready to become a case.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a long run is asked for in the environment and says what it did"
)]

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    time::{Duration, Instant},
};

use msg_file::{CellMarker, Mode, NewCell};
use proptest::prelude::*;

use crate::laws;

pub(crate) const PIECES: &[&str] = &[
    "# %%",
    "## %%%",
    "# %% [^1]",
    "## %%% t[^2]",
    "### %%% [^2.abc]",
    "### %%% [^2.abc.1]",
    "# %% [^1.1]",
    "\n",
    "\n",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    "```",
    "````",
    "~~~",
    "```sh",
    "\\",
    "\\# %% x",
    "[^1]: [markdown]",
    "[^2]: [bot]",
    "[^2.abc]: [tool] name=\"f\"",
    "[^2.abc.1]: [tool] status=ok",
    "[^1.1]: [sh]",
    "[^3]: k=v",
    "[^1]:",
    "[code]",
    " history=exclude",
    " history=\"summary\"",
    " history=no",
    " covers=\"1..2\"",
    " k=\"v",
    " 'x'",
    " “y”",
    " reasoning=1",
    " format=\"native\"",
    "stdout> a",
    "stderr>",
    "\u{feff}",
    "\0",
    "\u{202e}אב",
    "\u{2028}",
    "---",
    "...",
    "# %",
    "message_section: true",
    "agents: {bot: {}}",
    "# Discussion",
    "<!-- Footnotes -->",
    "[^10.summary]: [summary]",
    "# %%% [^2.summary]",
    "[^2.summary]: [summary]",
    "a",
    " ",
    "  ",
    "\t",
    "%%",
    "> # %%",
    "＃　％％",
    "é中🎉",
    "{\"a\":1}",
    "<tool><tool_name>f</tool_name></tool>",
    "# %% [agent][^7]",
    "[^7]: [agent] name=\"x\" default=1",
    "[^8]: [set] default=\"x\"",
];

fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        12 => prop::sample::select(PIECES).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|p| p.concat())
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    (text(), any::<Option<(prop::sample::Index, u8)>>()).prop_map(|(text, broken)| {
        let mut bytes = text.into_bytes();
        if let Some((at, byte)) = broken.filter(|_| !bytes.is_empty()) {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes
    })
}

fn mode() -> impl Strategy<Value = Mode> {
    prop_oneof![4 => Just(Mode::MessageFile), 1 => Just(Mode::Markdown)]
}

fn cell() -> impl Strategy<Value = NewCell> {
    let ty = prop::sample::select(
        &["markdown", "code", "bot", "tool", "python", "summary", "b c", "问"][..],
    );
    let attr = (prop::sample::select(&["a", "键", "lead", "k,"][..]), prop::option::of(text()));
    let attrs = prop::collection::vec(attr.prop_map(|(k, v)| (k.to_owned(), v)), 0..3);
    (text(), ty, any::<bool>(), any::<bool>(), attrs, prop::option::of(text())).prop_map(
        |(body, ty, output, exact, attrs, title)| NewCell {
            kind: if output { CellMarker::Output } else { CellMarker::Message },
            ty: Some(ty.to_owned()),
            body: body.into_bytes(),
            exact,
            attrs,
            title,
            ..NewCell::new(CellMarker::Message)
        },
    )
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        rng_seed: prop::test_runner::RngSeed::Fixed(0x6d73_6766),
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config(1500))]

    #[test]
    fn identity(bytes in bytes(), mode in mode()) {
        laws::identity(&bytes, mode);
    }

    #[test]
    fn any_tail(bytes in bytes()) {
        laws::any_tail(&bytes);
    }

    #[test]
    fn append_keeps_the_past(bytes in bytes(), mode in mode(), cell in cell()) {
        laws::append_keeps_the_past(&bytes, mode, &cell);
    }

    #[test]
    fn write_then_read(cell in cell()) {
        laws::write_then_read(&cell);
    }

    #[test]
    fn format_keeps_meaning(bytes in bytes(), mode in mode()) {
        laws::format_keeps_meaning(&bytes, mode);
    }

    #[test]
    fn history_is_sound(bytes in bytes(), mode in mode()) {
        laws::history_is_sound(&bytes, mode);
    }

    #[test]
    fn edit_touches_its_cell(bytes in bytes(), mode in mode(), value in "[a-z&#;\"\\\\\n]{0,8}") {
        laws::edit_touches_its_cell(&bytes, mode, &value);
    }
}

proptest! {
    #![proptest_config(config(500))]

    #[test]
    fn messages_come_back(texts in prop::collection::vec(text(), 0..8)) {
        laws::messages_come_back(b"", &laws::chain_of(&texts));
        laws::messages_come_back("---\r\nagents: {bot: {}}\r\n---\r\n".as_bytes(), &laws::chain_of(&texts));
    }

    #[test]
    fn streams_come_back(chunks in prop::collection::vec((any::<bool>(), text()), 0..8)) {
        laws::streams_come_back(&chunks);
    }
}

/// Documents tried by default.
const ROUNDS: usize = 1_000;

/// Numbers that look random and are the same in every run (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    fn range(&mut self, text: &[u8], most: usize) -> std::ops::Range<usize> {
        let from = self.below(text.len() + 1);
        from..text.len().min(from + self.below(most))
    }

    fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let own = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/test_data/documents/ok"));
    let more = std::env::var_os("MSG_FILE_SEEDS").map(std::path::PathBuf::from);
    let files = [Some(own), more.as_deref()].into_iter().flatten().flat_map(walk);
    let mut all: Vec<Vec<u8>> = files.filter_map(|it| std::fs::read(it).ok()).collect();
    all.retain(|it| it.len() < 100_000);
    all.sort();
    all
}

fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|it| it.path());
    let mut files = Vec::new();
    for path in entries {
        if path.is_dir() { files.extend(walk(&path)) } else { files.push(path) }
    }
    files.retain(|it| it.extension().is_none_or(|it| it != "expect"));
    files
}

fn damaged(seeds: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut text = random.pick(seeds).clone();
    if text.len() > 4_000 {
        // A piece of a large one shows as much and is read faster.
        text = text[random.range(&text, 4_000)].to_vec();
    }
    for _ in 0..1 + random.below(8) {
        damage(&mut text, seeds, random);
    }
    text
}

fn damage(text: &mut Vec<u8>, seeds: &[Vec<u8>], random: &mut Random) {
    let range = random.range(text, 40);
    let at = random.below(text.len() + 1);
    let new = match random.below(8) {
        0 => return drop(text.drain(range)),
        1 => text[range].to_vec(),
        2 => {
            let other = random.pick(seeds);
            other[random.range(other, 200)].to_vec()
        }
        3 => vec![random.next() as u8],
        4 => return text.truncate(at),
        5 => b"\n".to_vec(),
        _ => random.pick(PIECES).as_bytes().to_vec(),
    };
    drop(text.splice(at..at, new));
}

/// Every law that takes a document.
fn all_laws(bytes: &[u8]) {
    for mode in [Mode::MessageFile, Mode::Markdown] {
        laws::identity(bytes, mode);
        laws::format_keeps_meaning(bytes, mode);
        laws::history_is_sound(bytes, mode);
        laws::edit_touches_its_cell(bytes, mode, "v&#10;");
        for body in ["x", "# %% [^1]\n```\n"] {
            laws::append_keeps_the_past(bytes, mode, &NewCell::output("bot", body));
        }
    }
    laws::any_tail(bytes);
}

fn holds(bytes: &[u8]) -> bool {
    catch_unwind(AssertUnwindSafe(|| all_laws(bytes))).is_ok()
}

/// As little of a text as still breaks a law: pieces are taken out, halves first.
fn smallest(mut text: Vec<u8>) -> Vec<u8> {
    let mut size = text.len();
    while size > 0 {
        let mut at = 0;
        while at < text.len() {
            let mut less = text.clone();
            less.drain(at..text.len().min(at + size));
            if holds(&less) { at += size } else { text = less }
        }
        size /= 2;
    }
    text
}

#[test]
fn damaged_documents_keep_the_laws() {
    let seconds = std::env::var("MSG_FILE_SECONDS").ok().and_then(|it| it.parse().ok());
    let (seeds, mut random) = (seeds(), Random(0x6d73_6766));
    let (start, mut round) = (Instant::now(), 0);
    loop {
        match seconds.map(Duration::from_secs) {
            Some(limit) if start.elapsed() > limit => break,
            None if round == ROUNDS => break,
            _ => round += 1,
        }
        let text = damaged(&seeds, &mut random);
        if !holds(&text) {
            let text = smallest(text);
            println!("{}", text.escape_ascii());
            all_laws(&text);
        }
    }
    println!("{round} damaged documents kept the laws");
}
