//! The laws of texts over made-up texts. Seeded, so that a run is repeatable.

use proptest::{
    collection::vec,
    prelude::*,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};

use crate::laws;

fn run<T: std::fmt::Debug>(strategy: impl Strategy<Value = T>, law: impl Fn(T)) {
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let config = Config { cases: 256, failure_persistence: None, ..Config::default() };
    let res = TestRunner::new_with_rng(config, rng).run(&strategy, |it| {
        law(it);
        Ok(())
    });
    res.unwrap();
}

fn text() -> BoxedStrategy<String> {
    prop_oneof![
        Just(String::new()),
        "[a-c \n]{0,6}",
        "\\PC{0,8}",
        Just("Tool: x\ny".to_owned()),
        Just("Error: \u{0}\"\\".to_owned()),
    ]
    .boxed()
}

#[test]
fn strings_are_read_back() {
    run(vec(text(), 0..9), |it| laws::strings_are_read_back(&it.concat()));
}

#[test]
fn cuts_are_clean() {
    let tricky = ["\r\n", "\u{301}", "\u{200D}", "🇩", "🏽", "👍", "a", " ", "\n", "é", "\u{7f}"];
    let text = vec(prop::sample::select(tricky.to_vec()), 0..60).prop_map(|it| it.concat());
    run((text, 0..60usize), |(text, max)| laws::cuts_are_clean(&text, max));
}
