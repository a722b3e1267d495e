//! The laws over random chains. Seeded: the same chains on every run.

use msg_chainast::{ChainAst, ChainRepairOptions, IdPattern, Profile, SeededIds};
use testkit::random::over_bytes;

use crate::{
    hostile::{self, Choices},
    laws,
};

/// As [`over_bytes`], in four threads: each over strings of other lengths, so that none tries what another does.
fn spread(cases: u32, length: usize, law: impl Fn(&[u8]) + Sync) {
    std::thread::scope(|scope| {
        for nth in 0..4 {
            let law = &law;
            scope.spawn(move || over_bytes(cases / 4, length - 7 * nth, law));
        }
    });
}

fn chain(bytes: &[u8]) -> Vec<msg_chainast::Message> {
    let mut choices = Choices::new(bytes);
    match choices.below(3) {
        0 => choices.nearly_valid(24),
        _ => choices.chain(16),
    }
}

#[test]
fn parsing_is_checking() {
    spread(1500, 120, |bytes| laws::parse_is_check(&chain(bytes)));
}

#[test]
fn reports_agree() {
    over_bytes(1000, 120, |bytes| {
        let profiles = Profile::all();
        laws::reports_agree(&chain(bytes), Some(&profiles[bytes.len() % profiles.len()]));
    });
}

#[test]
fn repairs_are_valid() {
    spread(3000, 140, |bytes| {
        let (head, tail) = bytes.split_at(bytes.len().min(9));
        let (options, profile, open) = options(head);
        laws::repair_is_valid(&chain(tail), &options, profile, open);
    });
}

#[test]
fn repairs_lose_nothing() {
    spread(4000, 140, |bytes| {
        let (head, tail) = bytes.split_at(bytes.len().min(9));
        let (options, _, open) = options(head);
        laws::nothing_is_lost(&chain(tail), &options);
        laws::results_stand_with_their_calls(&chain(tail), &options, open);
    });
}

fn options(head: &[u8]) -> (ChainRepairOptions, Option<&'static Profile>, bool) {
    Choices::new(head).options()
}

#[test]
fn every_profile_is_kept() {
    let is_kept = |profile: &Profile| {
        let options = ChainRepairOptions::new().with_profile(profile);
        over_bytes(120, 140, |bytes| {
            laws::repair_is_valid(&chain(bytes), &options, Some(profile), false);
            laws::nothing_is_lost(&chain(bytes), &options);
        });
    };
    std::thread::scope(|scope| {
        let profiles = Profile::all().chunks(Profile::all().len().div_ceil(4));
        for some in profiles {
            scope.spawn(|| some.iter().for_each(is_kept));
        }
    });
}

#[test]
fn profiles_of_users_are_kept() {
    spread(1500, 160, |bytes| {
        let (head, tail) = bytes.split_at(bytes.len().min(24));
        let profile = Choices::new(head).own_profile();
        let options = ChainRepairOptions::new().with_profile(&profile);
        laws::repair_is_valid(&chain(tail), &options, Some(&profile), false);
        laws::reports_agree(&chain(tail), Some(&profile));
        laws::nothing_is_lost(&chain(tail), &options);
    });
}

#[test]
fn pushing_is_parsing() {
    over_bytes(1000, 140, |bytes| laws::pushing_is_parsing(&chain(bytes)));
}

#[test]
fn edits_keep_sizes_and_lookups() {
    over_bytes(800, 260, |bytes| {
        let (tail, head) = bytes.split_at(bytes.len().min(180));
        let messages = Choices::new(head).chain(10);
        let mut chain =
            ChainAst::repair(messages, &ChainRepairOptions::new(), &mut SeededIds::new(3)).0;
        let mut choices = Choices::new(tail);
        for _ in 0..30 {
            choices.edit(&mut chain);
            laws::sizes_are_counted(&chain);
            laws::lookups_are_scans(&chain, hostile::ids());
        }
    });
}

#[test]
fn ids_are_normalized() {
    let patterns: Vec<IdPattern> =
        ["call_{r:24:x}", "functions.{f}:{n}", "{r:1:d}", "fixed", "{f}"]
            .iter()
            .map(|it| it.parse().unwrap())
            .collect();
    over_bytes(800, 120, |bytes| {
        let pattern = &patterns[bytes.len() % patterns.len()];
        let messages = chain(bytes);
        laws::a_growing_chain_keeps_its_ids(&messages, &patterns[0]);
        let repaired =
            ChainAst::repair(messages, &ChainRepairOptions::new(), &mut SeededIds::new(3)).0;
        laws::ids_are_normalized(&repaired, pattern);
    });
}

#[test]
fn cuts_are_legal() {
    over_bytes(800, 140, |bytes| {
        let profile = &Profile::all()[bytes.len() % Profile::all().len()];
        let options = ChainRepairOptions::new().with_profile(profile);
        let messages = chain(bytes);
        laws::cuts_are_legal(&messages, None);
        let repaired = ChainAst::repair(messages, &options, &mut SeededIds::new(3)).0;
        laws::cuts_are_legal(&repaired.into_messages(), Some(profile));
    });
}
