//! Turns of a session that are sound whatever comes behind them: they leave the excerpt, so that a session
//! of millions of records is diagnosed within little memory (SE-2). Of each dropped record two hashes are kept,
//! by which a later record that goes back to it is noticed; then the session is read again and all of it kept.
//!
//! ```text
//! question    kept       a turn is a question, answers with their results, and a last answer;
//! answer      dropped    a stretch is one or more turns in a row in which no rule finds anything
//! results     dropped
//! question    dropped
//! answer      kept       questions and answers still take turns
//! question    …
//! ```
//!
//! What a record is for its neighbours is said by its dialect. Here is no rule: what is not plainly sound stays.

#![expect(clippy::disallowed_types, reason = "the hashes live no longer than one reading")]

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// What a record is for its neighbours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// Nothing that is sent.
    Aside,
    /// The user says something; what is not an answer stands before it in its message at most.
    Question,
    /// The model says something, as a piece of the answer with this id.
    Answer(Option<String>),
    /// Results, and nothing else.
    Results,
    /// A thought that needs an answer behind it.
    Thought,
    /// Nothing is wrong with it, whatever stands around it.
    Sound,
    /// Anything else: what stands around it may be wrong.
    Unknown,
    /// It goes back to what was before in a way that nobody knows here.
    Back,
}

/// What a record is to its neighbours, as its dialect says.
#[derive(Debug, Clone)]
pub(crate) struct Outline {
    pub(crate) step: Step,
    /// The ids of the record and of the one before it, in a dialect whose records are linked.
    pub(crate) link: Option<(String, Option<String>)>,
    /// Other ids of records that it names.
    pub(crate) names: Vec<String>,
    /// The ids of its calls, and of the calls that its results answer.
    pub(crate) calls: Vec<String>,
    pub(crate) results: Vec<String>,
}

impl Outline {
    pub(crate) fn of(step: Step) -> Self {
        let (names, calls, results) = (Vec::new(), Vec::new(), Vec::new());
        Self { step, link: None, names, calls, results }
    }
}

/// Where a record begins: in the excerpt, its omissions, its records, and the clean text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) text: usize,
    pub(super) omissions: usize,
    pub(super) record: usize,
    pub(super) clean: u64,
}

/// What is to be done behind a record.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Nothing,
    /// This stretch leaves the excerpt.
    Drop(Mark, Mark),
    /// A dropped record matters after all.
    Restart,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Last {
    Nothing,
    Answer,
    Results,
    Question,
    Other,
}

/// What is known of the records so far.
pub(super) struct SoundTurns {
    records: Ids,
    calls: Ids,
    /// Hashes of the ids of records that were named before they came.
    awaited: HashSet<u64>,
    /// How many records are kept at least, from the first.
    kept: usize,
    last: Last,
    last_id: Option<String>,
    last_answer: Option<String>,
    open: Vec<String>,
    thinks: bool,
    /// Behind the first question of the stretch.
    from: Option<Mark>,
    /// Where the last answer of the turn begins; none of a turn that is not sound.
    answer: Option<Mark>,
    is_sound: bool,
}

impl SoundTurns {
    /// Drops nothing of the first `kept` records.
    pub(super) fn new(kept: usize) -> Self {
        Self {
            records: Ids::default(),
            calls: Ids::default(),
            awaited: HashSet::new(),
            kept,
            last: Last::Nothing,
            last_id: None,
            last_answer: None,
            open: Vec::new(),
            thinks: false,
            from: None,
            answer: None,
            is_sound: false,
        }
    }

    /// Takes a record that begins at `start`; the next one begins at `behind`.
    pub(super) fn record(&mut self, it: Outline, start: Mark, behind: Mark) -> Verdict {
        let Some(is_linked) = self.link(&it, start) else { return Verdict::Restart };
        if !is_linked {
            self.keep_turn();
        }
        let verdict = match it.step {
            Step::Aside => Verdict::Nothing,
            Step::Question => self.question(start, behind, is_linked),
            Step::Answer(answer) => self.answer(answer, start),
            Step::Results => self.results(),
            Step::Thought => {
                self.thinks = true;
                Verdict::Nothing
            }
            Step::Sound => self.sound(start, behind),
            Step::Unknown => self.keep_turn(),
            Step::Back => Verdict::Restart,
        };
        let is_known = self.calls_and_results(it.calls, &it.results, start);
        self.last_id = it.link.map(|it| it.0).or(self.last_id.take());
        if !is_known {
            return Verdict::Restart;
        }
        if let Verdict::Drop(from, to) = verdict {
            self.records.forget(from.record, to.record);
            self.calls.forget(from.record, to.record);
        }
        verdict
    }

    /// Drops a record by itself, with those before it that are sound too.
    fn sound(&mut self, start: Mark, behind: Mark) -> Verdict {
        if start.record < self.kept {
            return Verdict::Nothing;
        }
        Verdict::Drop(*self.from.get_or_insert(start), behind)
    }

    /// The turn may have something wrong in it: it stays, and what is around it.
    pub(super) fn keep_turn(&mut self) -> Verdict {
        (self.from, self.answer, self.is_sound) = (None, None, false);
        (self.last, self.thinks) = (Last::Other, false);
        self.open.clear();
        self.keep_all();
        Verdict::Nothing
    }

    /// What stands before stays.
    fn keep_all(&mut self) {
        self.records.tail.clear();
        self.calls.tail.clear();
    }

    /// Whether the record hangs behind the one before it, and nobody knew it before; none if it has to do with
    /// one that was dropped.
    fn link(&mut self, it: &Outline, start: Mark) -> Option<bool> {
        let parent = it.link.as_ref().and_then(|it| it.1.as_ref());
        let follows = it.link.is_none() || parent == self.last_id.as_ref();
        for name in it.names.iter().chain(parent.filter(|_| !follows)) {
            match self.records.state(name) {
                State::Dropped => return None,
                State::Kept => {}
                State::New => {
                    self.awaited.insert(hash(name));
                }
            }
        }
        let Some((id, _)) = &it.link else { return Some(follows) };
        let is_awaited = self.awaited.contains(&hash(id));
        match self.records.add(id, start.record) {
            State::Dropped => None,
            State::Kept => Some(false),
            State::New => Some(follows && !is_awaited),
        }
    }

    fn question(&mut self, start: Mark, behind: Mark, is_linked: bool) -> Verdict {
        let ends =
            self.is_sound && self.last == Last::Answer && !self.thinks && self.open.is_empty();
        let begins = is_linked && matches!(self.last, Last::Answer | Last::Nothing);
        let dropped = match (self.from, self.answer) {
            (Some(from), Some(answer)) if ends && from.record < answer.record => {
                Some((from, answer))
            }
            _ => None,
        };
        if !ends {
            self.from = None;
        }
        if self.from.is_none() {
            self.keep_all();
        }
        (self.last, self.answer, self.thinks) = (Last::Question, None, false);
        self.open.clear();
        self.is_sound = begins;
        if self.from.is_none() && begins && start.record >= self.kept {
            self.from = Some(behind);
        }
        dropped.map_or(Verdict::Nothing, |(from, to)| Verdict::Drop(from, to))
    }

    fn answer(&mut self, answer: Option<String>, start: Mark) -> Verdict {
        let goes_on = self.last == Last::Answer && answer.is_some() && answer == self.last_answer;
        if !goes_on {
            self.is_sound &= self.open.is_empty();
            self.answer = Some(start);
        }
        (self.last, self.last_answer, self.thinks) = (Last::Answer, answer, false);
        Verdict::Nothing
    }

    fn results(&mut self) -> Verdict {
        self.is_sound &= matches!(self.last, Last::Answer | Last::Results) && !self.thinks;
        self.last = Last::Results;
        Verdict::Nothing
    }

    /// Takes the calls of a record and its results; says whether none is of a call that was dropped.
    fn calls_and_results(&mut self, calls: Vec<String>, results: &[String], start: Mark) -> bool {
        for id in results {
            if let Some(at) = self.open.iter().position(|it| it == id) {
                self.open.swap_remove(at);
            } else if self.calls.state(id) == State::Dropped {
                return false;
            } else {
                self.keep_turn();
            }
        }
        for id in calls {
            match self.calls.add(&id, start.record) {
                // One of two calls with one id is gone already.
                State::Dropped => return false,
                State::Kept => {
                    self.keep_turn();
                }
                State::New => {}
            }
            self.open.push(id);
        }
        true
    }
}

/// Ids by their hashes.
#[derive(Default)]
struct Ids {
    /// Whether what has the id is dropped.
    all: HashMap<u64, bool>,
    /// Those of records that may be dropped yet, with the record.
    tail: Vec<(usize, u64)>,
}

/// What is known of an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Kept,
    Dropped,
}

impl Ids {
    fn state(&self, id: &str) -> State {
        State::of(self.all.get(&hash(id)).copied())
    }

    /// Takes the id of a record, or of a call in it; gives what was known of it.
    fn add(&mut self, id: &str, record: usize) -> State {
        let hash = hash(id);
        self.tail.push((record, hash));
        State::of(self.all.insert(hash, false))
    }

    /// The records between these are dropped; what is behind moves up.
    fn forget(&mut self, from: usize, to: usize) {
        let all = &mut self.all;
        self.tail.retain_mut(|(record, hash)| {
            let is_dropped = (from..to).contains(record);
            if is_dropped {
                all.insert(*hash, true);
            } else if *record >= to {
                *record -= to - from;
            }
            !is_dropped
        });
    }
}

impl State {
    fn of(is_dropped: Option<bool>) -> Self {
        match is_dropped {
            None => State::New,
            Some(false) => State::Kept,
            Some(true) => State::Dropped,
        }
    }
}

/// The hash of an id. Two ids with one hash cost a second reading, nothing else.
fn hash(id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
}
