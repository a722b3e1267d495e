//! What holds for every chain. Each law takes its input and panics where it does not hold; fuzz targets
//! take this file in.

#[path = "losses.rs"]
mod losses;

use std::collections::HashSet;

use msg_chainast::{
    ChainAst, ChainCheckOptions, ChainRepairOptions, IdPattern, Message, MessageOrigin, Profile,
    SeededIds, check, repair,
};
use msg_core::{Diagnostic, Role};

fn ids() -> SeededIds {
    SeededIds::new(11)
}

fn flat(chain: &ChainAst) -> Vec<Message> {
    chain.messages().cloned().collect()
}

/// Law 1: parsing accepts what a check finds no error in, and a repair leaves it alone.
pub(crate) fn parse_is_check(messages: &[Message]) {
    for open in [false, true] {
        let found = check(messages, None, &ChainCheckOptions { open, ..ChainCheckOptions::new() });
        let parse = if open { ChainAst::parse_open } else { ChainAst::parse };
        match parse(messages.to_vec()) {
            Err(it) => {
                assert!(found.iter().any(Diagnostic::is_error), "refused without an error: {it}");
                assert_eq!(it.into_messages(), messages, "given back otherwise");
            }
            Ok(chain) => {
                assert!(!found.iter().any(Diagnostic::is_error), "accepted: {found:?}");
                assert_eq!(flat(&chain), messages);
                sizes_are_counted(&chain);
                let options = ChainRepairOptions::new()
                    .with_check(ChainCheckOptions { open, ..ChainCheckOptions::new() });
                let (mended, edits) = ChainAst::repair(messages.to_vec(), &options, &mut ids());
                assert!(edits.iter().all(|it| !it.is_error()));
                if edits.iter().all(|it| it.fix.is_none()) {
                    assert_eq!(flat(&mended), messages, "an unmended chain came out otherwise");
                }
            }
        }
    }
}

/// Law 2: a repair gives a valid chain that the profile accepts, and leaves what it gave alone.
pub(crate) fn repair_is_valid(
    messages: &[Message],
    options: &ChainRepairOptions,
    profile: Option<&Profile>,
    open: bool,
) {
    let (chain, edits) = ChainAst::repair(messages.to_vec(), options, &mut ids());
    sizes_are_counted(&chain);
    let mended = flat(&chain);
    let parse = if open { ChainAst::parse_open } else { ChainAst::parse };
    match parse(mended.clone()) {
        Err(refused) => {
            panic!("not valid: {:?}\n{mended:#?}\nedits {edits:?}", refused.diagnostics());
        }
        Ok(parsed) => assert_eq!(chain, parsed, "a tree otherwise than that of its messages"),
    }
    let (traced, found, origins) =
        ChainAst::repair_with_origins(messages.to_vec(), options, &mut ids());
    assert_eq!((&traced, &found), (&chain, &edits), "a repair that is traced is another");
    assert_eq!(origins.len(), mended.len());
    assert!(origins.iter().all(|it| it.message < messages.len()), "from nowhere: {origins:?}");
    if edits.iter().all(|it| it.fix.is_none()) {
        let own = |(at, it): (usize, &MessageOrigin)| it.message == at && !it.inserted;
        assert!(origins.iter().enumerate().all(own), "from elsewhere: {origins:?}");
    }
    a_mended_list_stays(messages, options, profile, open);
    let left = check(&mended, profile, &ChainCheckOptions { open, ..ChainCheckOptions::new() });
    let stays = |it: &Diagnostic| it.fix.is_none() || !options.all && !it.is_error();
    assert!(left.iter().all(stays), "left unmended: {left:?}\n{mended:#?}");
    let (again, edits) = ChainAst::repair(mended.clone(), options, &mut ids());
    assert!(edits.iter().all(|it| it.fix.is_none()), "mended again: {edits:?}\n{mended:#?}");
    assert_eq!(flat(&again), mended, "a second repair changed something");
}

/// Law 2, of lists: a repair leaves nothing that the profile refuses and that can be mended, and leaves what
/// it gave alone. Without a profile its messages are those of the tree.
fn a_mended_list_stays(
    messages: &[Message],
    options: &ChainRepairOptions,
    profile: Option<&Profile>,
    open: bool,
) {
    let (mended, report) = repair(messages.to_vec(), options, &mut ids());
    if profile.is_none() {
        let all = options.clone().with_all();
        let list = repair(messages.to_vec(), &all, &mut ids());
        let (chain, edits) = ChainAst::repair(messages.to_vec(), options, &mut ids());
        assert_eq!(list, (flat(&chain), edits), "a list is mended otherwise");
    }
    // Without a profile the strict chain is wanted, warnings included (CA-38a).
    let mends_all = options.all || profile.is_none();
    assert!(
        mends_all || report.iter().all(|it| it.fix.is_none() || is_mended_unasked(it, options))
    );
    if report.iter().all(|it| it.fix.is_none()) {
        assert_eq!(mended, messages, "changed without an edit");
    }
    let left = check(&mended, profile, &ChainCheckOptions { open, ..ChainCheckOptions::new() });
    let empty =
        |all: &[Diagnostic]| all.iter().filter(|it| it.code == "chain::empty-message").count();
    assert!(
        empty(&left) <= empty(&report),
        "emptied and not told: {left:?} {mended:?}\n{report:?}\n{messages:?}"
    );
    let stays = |it: &Diagnostic| it.fix.is_none() || !options.all && !it.is_error();
    assert!(left.iter().all(stays), "left unmended: {left:?}\n{mended:#?}\n{messages:#?}");
    let (again, edits) = repair(mended.clone(), options, &mut ids());
    assert!(edits.iter().all(|it| it.fix.is_none()), "mended again: {edits:?}\n{mended:#?}");
    assert_eq!(again, mended, "a second repair changed something");
}

/// Whether a repair mends it though not all is mended: an error, or what the option for arguments asks for.
fn is_mended_unasked(it: &Diagnostic, options: &ChainRepairOptions) -> bool {
    let sanitizes = options.arguments != ChainRepairOptions::new().arguments;
    it.is_error() || sanitizes && it.code.as_str().ends_with("-arguments")
}

/// Law 3: check, parse and repair say the same, in the order of the input.
pub(crate) fn reports_agree(messages: &[Message], profile: Option<&Profile>) {
    let told = |it: &Diagnostic| (it.code.clone(), it.severity, it.at.clone());
    let found: Vec<_> = check(messages, None, &ChainCheckOptions::new()).iter().map(told).collect();
    assert!(found.is_sorted_by_key(|it| (it.2.message, it.2.part)), "not in order: {found:?}");
    if let Err(refused) = ChainAst::parse(messages.to_vec()) {
        let parsed: Vec<_> = refused.diagnostics().iter().map(told).collect();
        assert_eq!(parsed, found, "parse says something else");
    }
    let options = ChainRepairOptions::new();
    let (_, edits) = ChainAst::repair(messages.to_vec(), &options, &mut ids());
    assert_eq!(edits.iter().map(told).collect::<Vec<_>>(), found, "repair says something else");
    if let Some(profile) = profile {
        let found: Vec<_> =
            check(messages, Some(profile), &ChainCheckOptions::new()).iter().map(told).collect();
        assert!(found.is_sorted_by_key(|it| (it.2.message, it.2.part)), "not in order: {found:?}");
        let (_, edits) = repair(messages.to_vec(), &options.with_profile(profile), &mut ids());
        assert_eq!(edits.iter().map(told).collect::<Vec<_>>(), found, "repair says something else");
    }
}

/// Law 4: whatever the input holds is in the output, or an edit names it: texts, media, opaque parts, all
/// reasoning, results, calls, ids, names, extra members, roles.
pub(crate) fn nothing_is_lost(messages: &[Message], options: &ChainRepairOptions) {
    let (chain, edits) = ChainAst::repair(messages.to_vec(), options, &mut ids());
    let (list, list_edits) = repair(messages.to_vec(), options, &mut ids());
    for roles in [false, true] {
        losses::are_named(messages, &flat(&chain), &edits, roles);
        losses::are_named(messages, &list, &list_edits, roles);
    }
}

/// Law 5: every size is what a count gives, every lookup what a scan gives.
pub(crate) fn sizes_are_counted(chain: &ChainAst) {
    let count = |messages: msg_chainast::Messages<'_>| messages.map(Message::size).sum::<usize>();
    assert_eq!(chain.size(), count(chain.messages()));
    assert_eq!(
        chain.reasoning_size(),
        chain.messages().map(Message::reasoning_size).sum::<usize>()
    );
    assert_eq!(chain.messages().len(), chain.messages().count());
    for section in chain.sections() {
        assert_eq!(section.size(), count(section.messages()));
        assert_eq!(section.messages().len(), section.messages().count());
        assert_eq!(section.header().size(), count(section.header().messages()));
        for pair in section.body() {
            assert_eq!(pair.size(), count(pair.messages()));
        }
    }
}

/// Law 5, of lookups.
pub(crate) fn lookups_are_scans(chain: &ChainAst, ids: &[&str]) {
    for id in ids {
        let found: Vec<_> = chain.find_tool_results(id).collect();
        let scanned: Vec<_> = chain
            .sections()
            .iter()
            .flat_map(|it| it.body())
            .flat_map(|it| it.tool_messages())
            .flat_map(Message::tool_results)
            .filter(|it| it.call_id == *id)
            .collect();
        assert_eq!(found, scanned, "results of {id}");
    }
}

/// Law 6: after a repair each result has one call, in its pair; messages that no edit names keep their
/// order.
pub(crate) fn results_stand_with_their_calls(
    messages: &[Message],
    options: &ChainRepairOptions,
    open: bool,
) {
    let (chain, edits) = ChainAst::repair(messages.to_vec(), options, &mut ids());
    let pairs: Vec<_> = chain.sections().iter().flat_map(|it| it.body()).collect();
    for (at, pair) in pairs.iter().enumerate() {
        let info = pair.tool_calls_info();
        assert!(info.unmatched.is_empty());
        assert!(info.pending.is_empty() || open && at + 1 == pairs.len());
        let ids: HashSet<_> = pair.assistant().tool_calls().map(|it| &it.id).collect();
        assert_eq!(ids.len(), pair.assistant().tool_calls().count(), "an id twice in a message");
    }
    let named: HashSet<_> =
        edits.iter().flat_map(|it| [it.at.message, it.at.other_message]).flatten().collect();
    let once = |it: &Message, all: &[Message]| all.iter().filter(|other| *other == it).count() == 1;
    let mended = flat(&chain);
    let mut last = 0;
    for (at, message) in messages.iter().enumerate() {
        let marked = is_marked(message);
        if named.contains(&at) || !marked || !once(message, messages) || !once(message, &mended) {
            continue;
        }
        let place = mended.iter().position(|it| it == message).unwrap_or_default();
        assert!(place >= last, "message {at} was moved before an earlier one\n{edits:?}");
        last = place;
    }
}

/// Whether a message says something that others do not say by chance: an empty one may be mistaken for
/// another that was mended.
fn is_marked(message: &Message) -> bool {
    let results = message.tool_results().map(|it| it.content.text());
    results.chain([message.text()]).any(|it| it.trim().starts_with("text "))
}

/// Law 7: normalised ids are of the pattern, found again both ways, and normalised once.
pub(crate) fn ids_are_normalized(chain: &ChainAst, pattern: &IdPattern) {
    let mut normalized = chain.clone();
    let map = normalized.normalize_tool_call_ids(pattern, &mut ids());
    sizes_are_counted(&normalized);
    let before: HashSet<&str> = map.iter().map(|it| it.old.as_str()).collect();
    let mut fresh = HashSet::new();
    for change in map.iter().filter(|it| it.old != it.new) {
        assert!(fresh.insert(&change.new), "{} was given twice", change.new);
        assert!(!before.contains(change.new.as_str()), "{} was in use", change.new);
        assert_eq!(map.old_id(&change.new), Some(change.old.as_str()));
    }
    assert_eq!(chain.validate().len(), normalized.validate().len(), "a link was broken");
    let mut again = normalized.clone();
    let map = again.normalize_tool_call_ids(pattern, &mut ids());
    assert!(map.iter().all(|it| it.old == it.new), "normalised twice: {map:?}");
    assert!(again == normalized);
}

/// Law 7: a longer chain has the same fresh ids at its beginning.
pub(crate) fn a_growing_chain_keeps_its_ids(messages: &[Message], pattern: &IdPattern) {
    let Ok(whole) = ChainAst::parse(messages.to_vec()) else { return };
    let end = (1..messages.len()).rfind(|it| messages[*it].role == Role::User);
    let Some(end) = end else { return };
    let Ok(mut start) = ChainAst::parse(messages[..end].to_vec()) else { return };
    let mut whole = whole;
    let short = start.normalize_tool_call_ids(pattern, &mut ids());
    let long = whole.normalize_tool_call_ids(pattern, &mut ids());
    assert!(short.iter().zip(long.iter()).all(|it| it.0 == it.1), "{short:?} {long:?}");
}

/// Law 8: each cut leaves a chain that parses, and that the profile accepts if it accepted the whole.
pub(crate) fn cuts_are_legal(messages: &[Message], profile: Option<&Profile>) {
    let Ok(chain) = ChainAst::parse_open(messages.to_vec()) else { return };
    let options = ChainCheckOptions::new().with_open();
    let accepted = profile.is_some_and(|it| breaches(&chain, it, &options).is_empty());
    for point in chain.cut_points(profile) {
        let mut cut = chain.clone();
        let front = cut.cut_before(point);
        sizes_are_counted(&cut);
        let kept = flat(&cut);
        assert_eq!(front.len() + kept.len(), messages.len(), "a message is gone");
        let first = kept.iter().position(|it| *it == messages[point.message_index()]);
        assert!(first.is_some(), "the cut lies elsewhere");
        if let Err(refused) = ChainAst::parse_open(kept) {
            panic!("a cut at {point:?} is not legal: {refused}");
        }
        if let Some(profile) = profile.filter(|_| accepted) {
            let broken = breaches(&cut, profile, &options);
            assert!(broken.is_empty(), "{point:?} of {}: {broken:?}\n{messages:#?}", profile.name);
        }
    }
}

fn breaches(chain: &ChainAst, profile: &Profile, options: &ChainCheckOptions) -> Vec<Diagnostic> {
    let mut found = chain.check(profile, options);
    found.retain(|it| it.code.area() == "profile");
    found
}

/// Law 9: a chain that lacks so many results, and is valid but for that, gets so many placeholders and no
/// other edit.
pub(crate) fn only_missing_results_are_mended(messages: &[Message], missing: usize) {
    assert_eq!(ChainAst::parse(messages.to_vec()).is_ok(), missing == 0);
    let (mended, edits) =
        ChainAst::repair(messages.to_vec(), &ChainRepairOptions::new(), &mut ids());
    assert_eq!(edits.len(), missing);
    assert!(edits.iter().all(|it| it.code == "chain::missing-tool-result"), "{edits:?}");
    assert_eq!(mended.messages().len(), messages.len() + missing);
}

/// Law 10: pushing takes a message exactly where the chain with it is a valid open chain, gives it back
/// otherwise, and popping undoes it.
pub(crate) fn pushing_is_parsing(messages: &[Message]) {
    let mut chain = ChainAst::new();
    let mut taken: Vec<Message> = Vec::new();
    for message in messages {
        taken.push(message.clone());
        match (chain.push(message.clone()), ChainAst::parse_open(taken.clone())) {
            (Ok(()), Ok(parsed)) => assert!(chain == parsed, "another tree: {taken:?}"),
            (Err(it), Err(parsed)) => {
                assert_eq!(it.diagnostics(), parsed.diagnostics());
                assert_eq!(it.into_messages(), std::slice::from_ref(message));
                taken.pop();
            }
            (pushed, parsed) => panic!("{pushed:?}, but {:?}\n{taken:?}", parsed.map(drop)),
        }
        sizes_are_counted(&chain);
    }
    assert_eq!(chain.lend_messages(<[Message]>::to_vec), taken, "lent otherwise");
    lookups_are_scans(&chain, &all_ids(&taken));
    while let Some(message) = chain.pop() {
        assert_eq!(Some(message), taken.pop());
        sizes_are_counted(&chain);
        lookups_are_scans(&chain, &all_ids(&taken));
    }
    assert!(taken.is_empty() && chain == ChainAst::new());
}

fn all_ids(messages: &[Message]) -> Vec<&str> {
    messages.iter().flat_map(Message::tool_calls).map(|it| it.id.as_str()).collect()
}
