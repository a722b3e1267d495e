//! Counting tokens: the estimate, and exact counts beside the libraries.

use msg_compact::{TokenCounter, count};

use crate::contest::{Contest, On, Size};
use crate::corpus;
use crate::row::{Goal, Row};

const EXACT: &[Goal] = &[Goal::Peers(1.0 / 1.2)];

pub(super) const ROWS: &[Row] = &[
    Row::new("tokens/estimate", "tokens of Markdown estimated", &[Goal::Speed(300.0)], |data| {
        estimated(data.markdown())
    }),
    Row::new("tokens/estimate-cjk", "tokens of Chinese estimated", &[Goal::Speed(300.0)], |data| {
        estimated(corpus::repeat(corpus::CJK, data.n(1 << 20)))
    }),
    Row::new("tokens/markdown", "tokens of Markdown counted", EXACT, |data| exact(data.markdown())),
    Row::new("tokens/json", "tokens of conversations counted", EXACT, |data| {
        exact(data.conversations().concat())
    }),
];

fn estimated(text: String) -> Contest {
    let size = Size::Bytes(text.len());
    let script = count::Script::new();
    On::new(text, size).timed("msg-compact", move |it| vec![script.text(it)]).done()
}

fn exact(mut text: String) -> Contest {
    let end = (0..=text.len().min(1 << 20)).rev().find(|it| text.is_char_boundary(*it));
    text.truncate(end.unwrap_or(0));
    let size = Size::Bytes(text.len());
    let ours = count::Bpe::o200k();
    let on = On::new(text, size).timed("msg-compact", move |it| vec![ours.text(it)]);
    peers(on).done()
}

#[cfg(not(feature = "peers"))]
fn peers(on: On<String>) -> On<String> {
    on
}

#[cfg(feature = "peers")]
fn peers(on: On<String>) -> On<String> {
    let toktok = toktok::Tokenizer::builtin("o200k_base").expect("because it is compiled in");
    let tiktoken = tiktoken::get_encoding("o200k_base").expect("because the feature is on");
    on.timed("toktok-rs 0.3", move |it| vec![toktok.count(it.as_bytes()) as u64])
        .timed("tiktoken 4.1.2", move |it| vec![tiktoken.encode(it).len() as u64])
}
