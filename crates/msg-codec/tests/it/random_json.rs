//! JSON at random, for the laws over documents of wire formats: right and odd values, members in any order.
//! The tests of the wire crates take this file in by its path.

use proptest::prelude::*;

pub(crate) type Json = BoxedStrategy<String>;

/// A text, escapes and other scripts among it.
pub(crate) fn text() -> Json {
    prop_oneof![
        Just(r#""""#.to_owned()),
        Just(r#""a""#.to_owned()),
        Just(r#""\u00e9\/\n\ud83e\udd80""#.to_owned()),
        Just(r#""data:text/plain;base64,aGk=""#.to_owned()),
        Just(r#""aGk=""#.to_owned()),
        "[a-c\\n\u{e9}]{1,3}".prop_map(|it| serde_json::to_string(&it).unwrap()),
    ]
    .boxed()
}

/// JSON that fits nowhere in particular.
pub(crate) fn any_value() -> Json {
    prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("-1.50E2".to_owned()),
        Just("[]".to_owned()),
        Just(r#"{"a": [1.0, "\u00e9"]}"#.to_owned()),
        text(),
    ]
    .boxed()
}

/// Mostly what belongs there, sometimes anything.
pub(crate) fn mostly(right: Json) -> Json {
    prop_oneof![8 => right, 1 => any_value()].boxed()
}

#[allow(dead_code, reason = "not every format tells its objects by a word")]
pub(crate) fn word(word: &'static str) -> Json {
    Just(format!("\"{word}\"")).boxed()
}

pub(crate) fn one_of(words: &'static [&'static str]) -> Json {
    prop::sample::select(words).prop_map(|it| format!("\"{it}\"")).boxed()
}

pub(crate) fn list(items: Json) -> Json {
    prop::collection::vec(items, 0..4).prop_map(|it| format!("[{}]", it.join(","))).boxed()
}

/// An object of some of these members and some unknown ones, in any order; `kept` says how
/// often a member is there.
pub(crate) fn object_of(
    members: Vec<(&'static str, Json)>,
    kept: fn(&str) -> f64,
    unknown: &[&'static str],
) -> Json {
    let members: Vec<_> = members
        .into_iter()
        .map(|(name, value)| {
            prop::option::weighted(kept(name), value).prop_map(move |it| Some((name, it?)))
        })
        .collect();
    let unknown = prop::sample::subsequence(unknown.to_vec(), 0..2);
    (members, unknown, any_value())
        .prop_map(|(members, unknown, value)| {
            let unknown = unknown.into_iter().map(|name| (name, value.clone()));
            let members = members.into_iter().flatten().chain(unknown);
            members.map(|(name, value)| format!("\"{name}\":{value}")).collect::<Vec<_>>()
        })
        .prop_shuffle()
        .prop_map(|it| format!("{{{}}}", it.join(",")))
        .boxed()
}

/// Files with the failures of former runs would be beside the sources; cases are kept instead.
pub(crate) fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(23),
        ..ProptestConfig::default()
    }
}
