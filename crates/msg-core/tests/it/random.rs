//! The laws of texts over made-up texts.

use proptest::{collection::vec, prelude::*};
use testkit::random::for_all;

use crate::laws;

#[test]
fn cuts_are_clean() {
    let tricky = ["\r\n", "\u{301}", "\u{200D}", "🇩", "🏽", "👍", "a", " ", "\n", "é", "\u{7f}"];
    let text = vec(prop::sample::select(tricky.to_vec()), 0..60).prop_map(|it| it.concat());
    for_all(256, (text, 0..60usize), |(text, max)| laws::cuts_are_clean(&text, max));
}
