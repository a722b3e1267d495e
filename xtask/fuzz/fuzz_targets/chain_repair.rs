//! Fuzzes checking, parsing and repairing of hostile chains, with every option and profile.
#![no_main]

#[path = "../../../crates/msg-chainast/tests/it/hostile.rs"]
#[allow(dead_code, reason = "the other target has the other choices")]
mod hostile;
#[path = "../../../crates/msg-chainast/tests/it/laws.rs"]
#[allow(dead_code, reason = "the other target has the other laws")]
mod laws;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut choices = hostile::Choices::new(bytes);
    let (mut options, mut profile, open) = choices.options();
    let own = choices.own_profile();
    if profile.is_some() && choices.below(2) == 1 {
        options = options.with_profile(&own);
        profile = Some(&own);
    }
    let messages = if choices.below(3) == 0 { choices.nearly_valid(40) } else { choices.chain(40) };
    laws::parse_is_check(&messages);
    laws::pushing_is_parsing(&messages);
    laws::reports_agree(&messages, profile);
    laws::repair_is_valid(&messages, &options, profile, open);
    laws::nothing_is_lost(&messages, &options);
    if profile.is_none() {
        laws::results_stand_with_their_calls(&messages, &options, open);
    }
    laws::cuts_are_legal(&messages, profile);
});
