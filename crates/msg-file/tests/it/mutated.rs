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

use crate::laws;
use crate::random::PIECES;
use msg_file::{Mode, NewCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

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
