//! Edits of a tree: adding sections, pairs, user text and results, clearing reasoning (CA-42 to CA-46, CA-56). Each
//! edit keeps sizes and index correct, costs O(what it changes), and reports the change.
//!
//! ```text
//! before  [user | assistant(call a)]                 add_tool_result("a", …)
//! after   [user | assistant(call a), tool(a)]        sizes of pair, section and chain follow, and the index by id
//! ```

mod push;

use std::sync::OnceLock;

use msg_core::{Content, Message, Part, ToolResult};

use crate::idx::{ById, Idx};
use crate::tree::{BodyPair, CallRef, ChainAst, ChainSection, Header, Links, Sizes};

/// The id of a section of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SectionId(pub(crate) usize);

/// The id of a body pair of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PairId {
    pub(crate) section: usize,
    pub(crate) pair: usize,
}

/// The effect of appending user text (CA-42) or adding a result (CA-43).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ChainChange {
    /// Added a section.
    Section(SectionId),
    /// Added a user message to the section, which had none.
    User(SectionId),
    /// Added a part to the user message of the section.
    Part(SectionId),
    /// Added the result of a pending call of the pair.
    Result(PairId),
    /// Replaced the result of a call that already had one.
    Replaced {
        /// The pair of the call.
        pair: PairId,
        /// The previous content of the result.
        content: Content,
        /// The previous name in the result.
        name: Option<String>,
    },
}

impl SectionId {
    /// Its index among the sections.
    pub fn index(self) -> usize {
        self.0
    }
}

impl PairId {
    /// The section of the pair.
    pub fn section(self) -> SectionId {
        SectionId(self.section)
    }

    /// Its index in the body of the section.
    pub fn index(self) -> usize {
        self.pair
    }
}

impl ChainAst {
    /// The ids of the sections, in order.
    pub fn section_ids(&self) -> impl ExactSizeIterator<Item = SectionId> + use<> {
        (0..self.sections.len()).map(SectionId)
    }

    /// Adds a section at the end, without checks (CA-45). O(section).
    #[doc(alias = "AddSection")]
    pub fn add_section(&mut self, section: ChainSection) -> SectionId {
        let id = self.sections.len();
        let pairs = section.body.len();
        self.sizes += section.sizes;
        self.sections.push(section);
        (0..pairs).for_each(|pair| self.index.add_pair(&self.sections, id, pair));
        self.assert_sizes();
        SectionId(id)
    }

    /// Adds a pair at the end of a section, without checks (CA-45). O(pair).
    ///
    /// ```
    /// use msg_chainast::{BodyPair, ChainAst, Header, Message, ChainSection};
    ///
    /// let mut chain = ChainAst::new();
    /// let id = chain.add_section(ChainSection::new(Header::new(None, Some(Message::user("Hi"))), vec![]));
    /// chain.add_body_pair(id, BodyPair::completion("Hello."));
    /// assert_eq!(chain.size(), 8);
    /// assert!(chain.validate().is_empty());
    /// ```
    ///
    /// # Panics
    /// If the id belongs to another tree and this one has fewer sections.
    #[doc(alias = "AddBodyPair")]
    pub fn add_body_pair(&mut self, section: SectionId, pair: BodyPair) -> PairId {
        let SectionId(at) = section;
        let id = PairId { section: at, pair: self.sections[at].body.len() };
        self.in_section(at, |it| it.add_body_pair(pair));
        self.index.add_pair(&self.sections, at, id.pair);
        self.assert_sizes();
        id
    }

    /// Replaces the header of a section and returns the old one, without checks (CA-45). O(header).
    ///
    /// # Panics
    /// If the id belongs to another tree and this one has fewer sections.
    pub fn set_header(&mut self, section: SectionId, header: Header) -> Header {
        let old = self.in_section(section.0, |it| it.set_header(header));
        self.assert_sizes();
        old
    }

    /// Appends user text (CA-42): to the last section's user message if it has no answer yet, as its
    /// user message if it has none, else as a new section. Empty text also becomes a part. O(1).
    ///
    /// ```
    /// use msg_chainast::{ChainAst, Message};
    ///
    /// let mut chain = ChainAst::parse(vec![Message::user("Hi"), Message::assistant("Hello.")])?;
    /// chain.append_user("Tell me more");
    /// chain.append_user("and more");
    /// assert_eq!(chain.sections().len(), 2);
    /// assert_eq!(chain.messages().last().map(|it| it.parts.len()), Some(2));
    /// # Ok::<(), msg_chainast::ParseError>(())
    /// ```
    #[doc(alias = "AppendHumanMessage")]
    pub fn append_user(&mut self, text: impl Into<String>) -> ChainChange {
        let last = self.sections.len().checked_sub(1);
        let change = match last.filter(|it| self.sections[*it].body.is_empty()) {
            None => {
                let header = Header::new(None, Some(Message::user(text)));
                return ChainChange::Section(
                    self.add_section(ChainSection::new(header, Vec::new())),
                );
            }
            Some(at) if self.sections[at].header.user.is_some() => {
                self.in_section(at, |it| it.add_user_part(Part::text(text)));
                ChainChange::Part(SectionId(at))
            }
            Some(at) => {
                self.in_section(at, |it| it.put_user(Message::user(text)));
                ChainChange::User(SectionId(at))
            }
        };
        self.assert_sizes();
        change
    }

    /// Changes a section, which updates its own sizes, and then the sizes of the chain.
    fn in_section<T>(&mut self, at: usize, change: impl FnOnce(&mut ChainSection) -> T) -> T {
        let section = &mut self.sections[at];
        self.sizes -= section.sizes;
        let res = change(section);
        self.sizes += section.sizes;
        res
    }

    /// Puts a tool message at the end of a pair.
    fn push_tool(&mut self, pair: PairId, message: Message) {
        let sizes = Sizes::of(&message);
        self.in_section(pair.section, |it| {
            it.in_pair(pair.pair, |it| {
                it.sizes += sizes;
                it.tools.push(message);
            });
        });
    }

    /// Counts pairs, sections and the tree again after messages were changed in place.
    pub(crate) fn recount(&mut self) {
        self.sizes = Sizes::default();
        for section in &mut self.sections {
            section.header.recount();
            section.body.iter_mut().for_each(BodyPair::recount);
            section.sum();
            self.sizes += section.sizes;
        }
    }

    /// In test builds: asserts that every size equals a recount (CA-22). Trees of many messages are
    /// counted only where tests do so themselves, because otherwise a test of n edits would take
    /// O(n²).
    pub(crate) fn assert_sizes(&self) {
        const MAX: usize = 1_000;
        debug_assert!(
            self.sizes.messages > MAX || {
                let mut counted = self.clone();
                counted.recount();
                counted.sizes == self.sizes && counted.sections == self.sections
            },
            "because an edit keeps sizes right"
        );
    }
}

// The calls and results with one id: mostly one call, then one call and its result; lists only where there is more.

/// The calls and results of one id. There is at least one of them.
#[derive(Debug)]
pub(crate) enum Entry {
    /// One call, without a result.
    Pending(CallPlace),
    /// One call and its result, which is in the same pair at this tool message and part.
    Answered(CallPlace, u32, u32),
    /// Anything else.
    More(Box<More>),
}

#[derive(Debug, Default)]
pub(crate) struct More {
    /// All results, in chain order.
    results: Vec<ResultPlace>,
    /// Calls without a result: pairs in chain order, the calls of a pair in reverse order. The last one
    /// is answered next.
    pending: Vec<CallPlace>,
    /// The newest call that has a result, and the result.
    answered: Option<(CallPlace, ResultPlace)>,
}

impl Entry {
    pub(crate) fn pending(call: CallPlace) -> Self {
        Entry::Pending(call)
    }

    /// A call and the result that answers it; both are in one pair.
    pub(crate) fn answered(call: CallPlace, result: ResultPlace) -> Self {
        Entry::Answered(call, result.message, result.part)
    }

    pub(crate) fn unmatched(result: ResultPlace) -> Self {
        Entry::More(Box::new(More { results: vec![result], ..More::default() }))
    }

    /// A call that has the id, or else a result.
    pub(crate) fn bearer(&self) -> (Option<CallPlace>, Option<ResultPlace>) {
        match self {
            Entry::Pending(call) | Entry::Answered(call, ..) => (Some(*call), None),
            Entry::More(it) => (it.pending.first().copied(), it.results.first().copied()),
        }
    }

    /// All results, in chain order.
    pub(crate) fn results(&self) -> impl Iterator<Item = ResultPlace> {
        let (one, many) = match self {
            Entry::Pending(_) => (None, &[][..]),
            Entry::Answered(call, message, part) => (Some(beside(*call, *message, *part)), &[][..]),
            Entry::More(it) => (None, it.results.as_slice()),
        };
        one.into_iter().chain(many.iter().copied())
    }

    /// The call that the next result answers.
    pub(crate) fn next_pending(&self) -> Option<CallPlace> {
        match self {
            Entry::Pending(call) => Some(*call),
            Entry::Answered(..) => None,
            Entry::More(it) => it.pending.last().copied(),
        }
    }

    /// The result of the newest call that has one.
    pub(crate) fn last_answer(&self) -> Option<ResultPlace> {
        match self {
            Entry::Pending(_) => None,
            Entry::Answered(call, message, part) => Some(beside(*call, *message, *part)),
            Entry::More(it) => it.answered.map(|it| it.1),
        }
    }

    /// Gives the next pending call its result.
    pub(crate) fn answer(&mut self, result: ResultPlace) {
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

    /// Adds the entry of the same id.
    pub(crate) fn join(&mut self, other: Entry) {
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
    /// The order in which results answer calls of one id. The highest is answered first.
    fn turn(&self) -> impl Ord + use<> {
        (self.section, self.pair, std::cmp::Reverse(self.part))
    }
}

/// The place of a result in the pair of its call.
fn beside(call: CallPlace, message: u32, part: u32) -> ResultPlace {
    ResultPlace { section: call.section, pair: call.pair, message, part }
}

/// Inserts a place in order, nearly always at the end.
fn insert<T: Copy, K: Ord>(all: &mut Vec<T>, it: T, key: impl Fn(&T) -> K) {
    let after = all.last().is_none_or(|last| key(last) <= key(&it));
    let at = if after { all.len() } else { all.partition_point(|other| key(other) <= key(&it)) };
    all.insert(at, it);
}

// Where the calls and results of an id are, for edits and lookups (CA-43, CA-44).
//
// Built when it is first asked for, kept right by the edits that follow, and forgotten by those that
// move calls. It owns no id: it goes by their hashes, and a lookup compares with the id in the tree, so that a
// call costs a place of 24 bytes and a number in the table.
//
// ```text
// "call_1" ─▶ entry 7 (pending at section 0, pair 2, part 1)
// ```

/// The index of a tree. A copy of a tree builds its own.
#[derive(Debug, Default)]
pub(crate) struct EditIndex(OnceLock<Ids>);

/// Places by id.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    entries: ById<Entry>,
}

/// A call: section, pair, part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CallPlace {
    pub(crate) section: u32,
    pub(crate) pair: u32,
    pub(crate) part: u32,
}

/// A result: section, pair, tool message, part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ResultPlace {
    pub(crate) section: u32,
    pub(crate) pair: u32,
    pub(crate) message: u32,
    pub(crate) part: u32,
}

/// The place of a new result.
pub(crate) enum Target {
    /// To this call; the number is for [`Ids::answer`].
    Pending(CallPlace, Idx<Entry>),
    Answered(ResultPlace),
}

impl EditIndex {
    /// The index of these sections, built if it is not there yet.
    pub(crate) fn of(&self, sections: &[ChainSection]) -> &Ids {
        self.0.get_or_init(|| Ids::of(sections))
    }

    /// Like [`EditIndex::of`], mutable.
    pub(crate) fn of_mut(&mut self, sections: &[ChainSection]) -> &mut Ids {
        if self.0.get().is_none() {
            self.0 = OnceLock::from(Ids::of(sections));
        }
        self.0.get_mut().expect("because it was just built")
    }

    /// Takes in a pair that was added to a section, if the index was built.
    pub(crate) fn add_pair(&mut self, sections: &[ChainSection], section: usize, pair: usize) {
        if let Some(ids) = self.0.get_mut() {
            ids.add_pair(sections, (section as u32, pair as u32), &mut Scratch::default());
        }
    }

    /// Forgets everything: calls have moved.
    pub(crate) fn reset(&mut self) {
        self.0 = OnceLock::new();
    }
}

impl Clone for EditIndex {
    fn clone(&self) -> Self {
        EditIndex::default()
    }
}

/// Lists that are used again for each pair.
#[derive(Default)]
struct Scratch<'a> {
    calls: Vec<CallRef<'a>>,
    answered: Vec<bool>,
}

impl Ids {
    fn of(sections: &[ChainSection]) -> Self {
        let pairs = || sections.iter().flat_map(ChainSection::body);
        let n_calls = pairs().map(|it| it.assistant().tool_calls().count()).sum();
        let mut ids = Ids::default();
        ids.entries.reserve(n_calls);
        let mut scratch = Scratch::default();
        for (section, it) in sections.iter().enumerate() {
            for pair in 0..it.body().len() {
                ids.add_pair(sections, (section as u32, pair as u32), &mut scratch);
            }
        }
        ids
    }

    /// The places of the results of an id, in chain order.
    pub(crate) fn results<'s>(
        &'s self,
        sections: &[ChainSection],
        id: &str,
    ) -> impl Iterator<Item = ResultPlace> + use<'s> {
        let entry = self.find(sections, id).map(|at| &self.entries[at]);
        entry.into_iter().flat_map(Entry::results)
    }

    /// The place of a new result with this id.
    pub(crate) fn target(&self, sections: &[ChainSection], id: &str) -> Option<Target> {
        let at = self.find(sections, id)?;
        let entry = &self.entries[at];
        let pending = entry.next_pending().map(|it| Target::Pending(it, at));
        pending.or_else(|| entry.last_answer().map(Target::Answered))
    }

    /// Records this result for the pending call that [`Ids::target`] returned.
    pub(crate) fn answer(&mut self, entry: Idx<Entry>, result: ResultPlace) {
        self.entries[entry].answer(result);
    }

    /// Takes in a pair.
    fn add_pair<'a>(
        &mut self,
        sections: &'a [ChainSection],
        (section, pair): (u32, u32),
        scratch: &mut Scratch<'a>,
    ) {
        let it = &sections[section as usize].body()[pair as usize];
        let Scratch { calls, answered } = scratch;
        calls.clear();
        calls.extend(it.calls());
        answered.clear();
        answered.resize(calls.len(), false);
        let place = |call: &CallRef<'_>| CallPlace { section, pair, part: call.part() as u32 };
        let mut links = Links::new(calls);
        for ((message, part), result) in it.results() {
            let at = ResultPlace { section, pair, message, part };
            let call = links.take(calls, &result.call_id);
            let entry = match call {
                Some(call) => {
                    answered[call] = true;
                    Entry::answered(place(&calls[call]), at)
                }
                None => Entry::unmatched(at),
            };
            self.add(sections, &result.call_id, entry);
        }
        // Calls with the same id in a pair are answered in order, so the first call is added last.
        for (call, answered) in calls.iter().zip(answered).rev() {
            if !*answered {
                self.add(sections, &call.id, Entry::pending(place(call)));
            }
        }
    }

    /// Adds an entry to the known ones of an id.
    fn add(&mut self, sections: &[ChainSection], id: &str, entry: Entry) {
        let hash = self.entries.hash(id);
        match self.entries.find(hash, |it| id_of(sections, it) == id) {
            Some(at) => self.entries[at].join(entry),
            None => {
                self.entries.add(hash, entry);
            }
        }
    }

    fn find(&self, sections: &[ChainSection], id: &str) -> Option<Idx<Entry>> {
        self.entries.find(self.entries.hash(id), |it| id_of(sections, it) == id)
    }
}

/// The id that an entry is about, as a call or a result in the tree has it.
fn id_of<'a>(sections: &'a [ChainSection], entry: &Entry) -> &'a str {
    let pair = |section: u32, pair: u32| &sections[section as usize].body()[pair as usize];
    let (call, result) = entry.bearer();
    let of_call = call.and_then(|at| {
        let part = pair(at.section, at.pair).assistant().parts.get(at.part as usize)?;
        Some(part.as_tool_call()?.id.as_str())
    });
    let of_result = || {
        let at = result?;
        Some(result_at(pair(at.section, at.pair), at)?.call_id.as_str())
    };
    of_call.or_else(of_result).unwrap_or_default()
}

/// The result at a place of this pair.
pub(super) fn result_at(pair: &BodyPair, at: ResultPlace) -> Option<&ToolResult> {
    pair.tool_messages().get(at.message as usize)?.parts.get(at.part as usize)?.as_tool_result()
}
