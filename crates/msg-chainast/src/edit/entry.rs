//! What bears one id: mostly one call, then one call and its result; lists only where there is more.

use super::index::{CallPlace, ResultPlace};

/// The calls and results of one id. There is at least one of them.
#[derive(Debug)]
pub(crate) enum Entry {
    /// One call, without a result.
    Pending(CallPlace),
    /// One call and its result, which stands in the same pair at this tool message and part.
    Answered(CallPlace, u32, u32),
    /// Anything else.
    More(Box<More>),
}

#[derive(Debug, Default)]
pub(crate) struct More {
    /// All results, in chain order.
    results: Vec<ResultPlace>,
    /// Calls without a result: pairs in chain order, the calls of a pair in reverse, so that the last is
    /// the one that the next result answers.
    pending: Vec<CallPlace>,
    /// The newest call that has a result, and the result.
    answered: Option<(CallPlace, ResultPlace)>,
}

impl Entry {
    pub(super) fn pending(call: CallPlace) -> Self {
        Entry::Pending(call)
    }

    /// A call and the result that answers it; both are in one pair.
    pub(super) fn answered(call: CallPlace, result: ResultPlace) -> Self {
        Entry::Answered(call, result.message, result.part)
    }

    pub(super) fn unmatched(result: ResultPlace) -> Self {
        Entry::More(Box::new(More { results: vec![result], ..More::default() }))
    }

    /// A call that bears the id, or else a result.
    pub(super) fn bearer(&self) -> (Option<CallPlace>, Option<ResultPlace>) {
        match self {
            Entry::Pending(call) | Entry::Answered(call, ..) => (Some(*call), None),
            Entry::More(it) => (it.pending.first().copied(), it.results.first().copied()),
        }
    }

    /// All results, in chain order.
    pub(super) fn results(&self) -> impl Iterator<Item = ResultPlace> {
        let (one, many) = match self {
            Entry::Pending(_) => (None, &[][..]),
            Entry::Answered(call, message, part) => (Some(beside(*call, *message, *part)), &[][..]),
            Entry::More(it) => (None, it.results.as_slice()),
        };
        one.into_iter().chain(many.iter().copied())
    }

    /// The call that the next result answers.
    pub(super) fn next_pending(&self) -> Option<CallPlace> {
        match self {
            Entry::Pending(call) => Some(*call),
            Entry::Answered(..) => None,
            Entry::More(it) => it.pending.last().copied(),
        }
    }

    /// The result of the newest call that has one.
    pub(super) fn last_answer(&self) -> Option<ResultPlace> {
        match self {
            Entry::Pending(_) => None,
            Entry::Answered(call, message, part) => Some(beside(*call, *message, *part)),
            Entry::More(it) => it.answered.map(|it| it.1),
        }
    }

    /// Gives the next pending call its result.
    pub(super) fn answer(&mut self, result: ResultPlace) {
        match self {
            Entry::Pending(call) => *self = Entry::answered(*call, result),
            Entry::Answered(..) => {}
            Entry::More(it) => {
                if let Some(call) = it.pending.pop() {
                    it.add_answered(call, result);
                }
            }
        }
    }

    /// Adds what is known of the same id.
    pub(super) fn join(&mut self, other: Entry) {
        if !matches!(self, Entry::More(_)) {
            let mut more = More::default();
            more.add(self);
            *self = Entry::More(Box::new(more));
        }
        if let Entry::More(it) = self {
            it.add(&other);
        }
    }
}

impl More {
    fn add(&mut self, entry: &Entry) {
        match entry {
            Entry::Pending(call) => insert(&mut self.pending, *call, CallPlace::turn),
            Entry::Answered(call, message, part) => {
                self.add_answered(*call, beside(*call, *message, *part));
            }
            Entry::More(other) => {
                for it in &other.results {
                    insert(&mut self.results, *it, |it| *it);
                }
            }
        }
    }

    fn add_answered(&mut self, call: CallPlace, result: ResultPlace) {
        if self.answered.is_none_or(|it| it.0 <= call) {
            self.answered = Some((call, result));
        }
        insert(&mut self.results, result, |it| *it);
    }
}

impl CallPlace {
    /// The order in which results answer calls of one id, the last first.
    fn turn(&self) -> impl Ord + use<> {
        (self.section, self.pair, std::cmp::Reverse(self.part))
    }
}

/// The place of a result in the pair of its call.
fn beside(call: CallPlace, message: u32, part: u32) -> ResultPlace {
    ResultPlace { section: call.section, pair: call.pair, message, part }
}

/// Puts a place where it belongs; nearly always that is the end.
fn insert<T: Copy, K: Ord>(all: &mut Vec<T>, it: T, key: impl Fn(&T) -> K) {
    let behind = all.last().is_none_or(|last| key(last) <= key(&it));
    let at = if behind { all.len() } else { all.partition_point(|other| key(other) <= key(&it)) };
    all.insert(at, it);
}
