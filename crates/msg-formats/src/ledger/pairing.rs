//! Finds the values of a source in the output: first equal values, then, for texts that were split, joined or
//! embedded, their words.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use msg_codec::DataUrl;
use xxhash_rust::xxh3::xxh3_64;

use super::leaves::{Frame, Leaf, TOP, Visit, Walk, member_key, steps, text_key, walk, walk_in};
use super::spent::{WORD, Words, words_of};
use super::words::may_be_empty;
use super::{MadeUp, Told, rules};
use msg_session::marks::Hashed;

/// How many values may come before the arguments of a call.
const NEAR: usize = 2;

/// How many values not found at once are examined; in a larger document the rest is only counted.
const CANDIDATES: usize = 1 << 14;

/// The initial capacity for counts: growing step by step would move the first ones three times.
const ROOM: usize = 28;

/// How many texts are searched for character by character.
const SEARCHES: usize = 64;

/// A value of the source that has not been found.
pub(super) struct Missing {
    pub(super) key: u64,
    /// The index of its text and the element of the first list that contains it.
    pub(super) element: Element,
    /// The path to it.
    pub(super) steps: Vec<String>,
    /// Whether its name is data.
    pub(super) is_free: bool,
    pub(super) is_text: bool,
    /// Whether it may be written once for several occurrences.
    pub(super) is_shared: bool,
    /// Whether it is empty, so any other empty value matches it.
    pub(super) is_empty: bool,
    /// Its text.
    pub(super) said: String,
    synonyms: &'static [&'static str],
    /// The member of a pair with the same content that contains it.
    pub(super) twin: Option<&'static str>,
}

/// The values of a source that were not found at once.
#[derive(Default)]
pub(super) struct Lacking {
    pub(super) missing: Vec<Missing>,
    /// The number of values beyond those.
    pub(super) more: usize,
    /// The values outside the conversation, by member name.
    pub(super) beside: Beside,
}

/// Values outside the conversation: their keys by member name, or `None` for more than [`SAME`](super::SAME).
#[derive(Default)]
pub(super) struct Beside(BTreeMap<String, Option<HashSet<u64>>>);

impl Beside {
    fn add(&mut self, name: &str, key: u64) {
        let Some(known) = self.0.get_mut(name) else {
            self.0.insert(name.to_owned(), Some(HashSet::from([key])));
            return;
        };
        if let Some(keys) = known {
            keys.insert(key);
            if keys.len() > super::SAME {
                *known = None;
            }
        }
    }

    /// The names of the members that are left out. A value that was converted to JSON text is in that text with its
    /// members.
    pub(super) fn left_out(mut self, written: &str) -> Vec<String> {
        let has_few = self.0.values().any(Option::is_some);
        let in_texts = if has_few { keys_in_texts(written) } else { HashSet::new() };
        self.0.retain(|_, keys| keys.as_ref().is_none_or(|it| !it.is_subset(&in_texts)));
        self.0.into_keys().collect()
    }
}

impl Lacking {
    fn add(&mut self, key: u64, leaf: &Leaf<'_>, way: &[Frame<'_>], told: &Told<'_>) {
        let is_left_out =
            |it: &&Frame<'_>| !it.is_list && told.left_out.iter().any(|name| name == it.name);
        if rules::is_option(told.from, way) || way.iter().take(3).any(|it| is_left_out(&it)) {
            return;
        }
        if let Some(name) = rules::beside(told, leaf, way) {
            self.beside.add(name, key);
        } else if told.lacks_ids && rules::is_id(leaf) {
            self.beside.add(leaf.name, key);
        } else if self.missing.len() < CANDIDATES {
            self.missing.push(Missing::of(key, leaf, way, told.is_one));
        } else {
            self.more += 1;
        }
    }
}

/// The index of a text, and the element of its first list that contains a value, if any.
pub(super) type Element = (usize, Option<usize>);

/// The element of the first list on a path.
pub(super) fn element(way: &[Frame<'_>]) -> Element {
    (way[0].index, way.iter().skip(1).find(|it| it.is_list).map(|it| it.index))
}

/// The output, read as far as needed to look for values of the source. Most come in the same order: then only texts are
/// compared, and just the values elsewhere are hashed and counted.
pub(super) struct Written<'w> {
    counts: HashMap<u64, Count, Hashed>,
    rest: Walk<'w>,
    made_up: &'w MadeUp,
    /// The next value, if it has been read.
    next: Option<Leaf<'w>>,
    /// A bit for each length of a text that is still expected.
    owed: u64,
    /// A bit for each length of a counted value.
    counted: u64,
    /// Values that may be written once for several occurrences and were found at the first place; few are needed again.
    found: Vec<Leaf<'w>>,
    /// The format word skipped last and not counted yet. If roles come after contents in the source, it is the next
    /// value there.
    word: Option<Leaf<'w>>,
}

/// How many times a value occurs that no value of the source was paired with.
#[derive(Default)]
struct Count {
    /// If negative: how many unread occurrences are claimed by a format word that came before all other values.
    left: i32,
    is_written: bool,
}

impl<'w> Written<'w> {
    pub(super) fn of(written: &'w str, made_up: &'w MadeUp) -> Self {
        let counts = HashMap::with_capacity_and_hasher(ROOM, Hashed::default());
        let rest = Walk::new(written, TOP, 0);
        let found = Vec::new();
        Written { counts, rest, made_up, next: None, owed: 0, counted: 0, found, word: None }
    }

    /// The next leaf that is not generated, as returned by [`Walk::next_leaf`].
    fn next_leaf(&mut self, like: &str, object: Option<&str>) -> Option<Leaf<'w>> {
        loop {
            let leaf = self.rest.next_leaf(like, object)?;
            if !self.made_up.has(&leaf) {
                return Some(leaf);
            }
        }
    }

    /// The values of a source that are missing. If any are, the whole output has been counted afterwards.
    pub(super) fn without(&mut self, source: &str, told: &Told<'_>) -> Lacking {
        let mut pairing = Pairing { written: self, found: Lacking::default(), told };
        walk_in(source, TOP, 0, &mut pairing);
        pairing.found
    }

    /// Counts a value that no value of the source was compared with.
    fn add(&mut self, leaf: &Leaf<'_>) {
        self.counted |= length_bit(leaf.text);
        let count = self.counts.entry(leaf.key()).or_default();
        *count = Count { left: count.left + 1, is_written: true };
    }

    /// The next value, which may be equal to `like`.
    fn peek(&mut self, like: &str) -> Option<Leaf<'w>> {
        while self.next.is_none() {
            let leaf = self.next_leaf(like, None)?;
            self.keep(leaf);
        }
        self.next
    }

    /// Keeps a value that was read; for an object in a string, counts its values.
    fn keep(&mut self, leaf: Leaf<'w>) {
        let Some(object) = leaf.object() else {
            self.next = Some(leaf);
            return;
        };
        let (top, depth) = (leaf.top(), self.rest.frames.len());
        let mut add = |inner: Leaf<'_>, _: &[Frame<'_>]| self.add(&inner);
        walk_in(&object, top, depth, &mut add);
    }

    /// Takes the next value, skipping format words, if it equals `leaf` and no earlier source value claims it.
    fn take_next(&mut self, leaf: &Leaf<'_>) -> Option<Leaf<'w>> {
        if self.word.as_ref().is_some_and(|it| leaf.is_same(it)) {
            return self.word.take();
        }
        while let Some(next) = self.peek(leaf.text) {
            if !leaf.is_same(&next) {
                if next.is_free || !matches!(next.name, "type" | "role") {
                    return None;
                }
                self.next = None;
                match self.may_owe(&next) {
                    true => self.add(&next),
                    false => self.word.replace(next).into_iter().for_each(|it| self.add(&it)),
                }
                continue;
            }
            self.next = None;
            let is_owed =
                self.may_owe(leaf) && self.counts.get(&leaf.key()).is_some_and(|it| it.left < 0);
            if !is_owed {
                return Some(next);
            }
            self.add(leaf);
        }
        None
    }

    /// Whether one of the next values is this string with an object, or the object itself; then all values inside it
    /// are found.
    fn find_whole(&mut self, leaf: &Leaf<'_>, object: &str) -> bool {
        // An empty object equals that of any schema, so its name counts.
        let is_full = |it: &str| !it.trim_start().starts_with('}');
        if !object.strip_prefix('{').is_some_and(is_full) || !leaf.top().is_free {
            return false;
        }
        // The name of a call may come before its arguments.
        for _ in 0..=NEAR {
            if let Some(next) = self.next.take() {
                self.add(&next);
            }
            let Some(next) = self.next_leaf(leaf.text, Some(object)) else { return false };
            match next.is_free {
                true if next.text == &object[1..] => return true,
                false if next.text == leaf.text && next.name == leaf.name => return true,
                _ => self.keep(next),
            }
        }
        false
    }

    /// Reads on up to this value, which may also be in an object in a string.
    fn find(&mut self, leaf: &Leaf<'_>, key: u64) -> bool {
        while self.take_next(leaf).is_none() {
            let next = self.next.take();
            next.into_iter().for_each(|it| self.add(&it));
            if self.take(key) {
                return true;
            }
            if next.is_none() {
                return false;
            }
        }
        true
    }

    /// Takes this value if it was counted and no value of the source was paired with it.
    fn take_left(&mut self, leaf: &Leaf<'_>) -> bool {
        self.counted & length_bit(leaf.text) != 0 && self.take(leaf.key())
    }

    /// Takes one of the counted values.
    pub(super) fn take(&mut self, key: u64) -> bool {
        self.count_word();
        let found = self.counts.get_mut(&key).filter(|it| it.left > 0);
        found.map(|it| it.left -= 1).is_some()
    }

    /// Claims one of the unread values, if it is among them.
    fn owe(&mut self, key: u64, text: &str) {
        self.counts.entry(key).or_default().left -= 1;
        self.owed |= length_bit(text);
    }

    /// Whether a source value may claim a value like this one.
    fn may_owe(&self, leaf: &Leaf<'_>) -> bool {
        self.owed & length_bit(leaf.text) != 0
    }

    fn count_word(&mut self) {
        self.word.take().into_iter().for_each(|it| self.add(&it));
    }

    fn has_written(&mut self, key: u64) -> bool {
        self.count_word();
        for it in self.found.drain(..) {
            self.counts.entry(it.key()).or_default().is_written = true;
        }
        self.counts.get(&key).is_some_and(|it| it.is_written)
    }

    /// Removes data URLs whose type and data were written as two values. Call it after everything was counted.
    pub(super) fn pair_data_urls(&mut self, missing: &mut Vec<Missing>) {
        missing.retain(|it| {
            let url = DataUrl::parse(&it.said).filter(|_| it.is_text && !it.is_free);
            !url.is_some_and(|it| {
                self.take_both([it.media_type, it.data].map(text_key))
                    // Formats whose word is a format word were not counted.
                    || rules::format_of_form(it.media_type).is_some()
                        && self.take(text_key(it.data))
            })
        });
    }

    /// Takes two counted values, or neither.
    fn take_both(&mut self, [a, b]: [u64; 2]) -> bool {
        if !self.take(a) {
            return false;
        }
        let is_there = self.take(b);
        if !is_there {
            self.counts.entry(a).or_default().left += 1;
        }
        is_there
    }

    /// Removes the values whose words are among the unpaired words of the output. An agent's records repeat content, so
    /// for those any word will do.
    pub(super) fn pair_by_words(
        &mut self,
        missing: &mut Vec<Missing>,
        written: &str,
        told: &Told<'_>,
    ) {
        self.count_word();
        let mut words = Words::default();
        walk(written, |leaf, way| {
            if rules::marks_failure(leaf.name) && leaf.text != "null" {
                words.add_word("error");
            }
            // The digits of a time or an id are not words.
            let has_words = !told.made_up.has(&leaf) && !is_stamp(leaf.text) && !is_flag(&leaf);
            if has_words && (self.take_left(&leaf) || told.has_records) {
                // The kind of a part only matches a value with another word in its place.
                match says_kind(&leaf, way) {
                    true => words.all.extend(words_of(&leaf.said())),
                    false => words.add(&leaf),
                }
            }
        });
        words.are_spent = !told.has_records;
        words.all.extend(words.left.keys().copied());
        let has_empty = missing.iter().any(|it| it.is_empty);
        let in_texts = if has_empty { keys_in_texts(written) } else { HashSet::new() };
        let (mut searches, mut cuts, mut looks) = (SEARCHES, SEARCHES, SEARCHES);
        let has_short = words.are_spent && missing.iter().any(|it| it.said.len() < WORD);
        // For calls read from texts, whether their servers may be in the output.
        let with_servers =
            told.has_text_calls.then(|| !told.report.iter().any(rules::tells_of_server));
        // A short text may occur anywhere by chance, so it is searched in what longer texts leave.
        let mut order: Vec<usize> = (0..missing.len()).collect();
        order.sort_by_key(|it| std::cmp::Reverse(missing[*it].said.len()));
        let mut is_there = vec![false; missing.len()];
        for at in order {
            let it = &missing[at];
            let format = rules::format_of_form(&it.said).filter(|_| it.is_text);
            let mut synonyms = it.synonyms.iter().copied().chain(format);
            is_there[at] = synonyms.any(|it| words.all.contains(&xxh3_64(it.as_bytes())));
            if it.is_free {
                words.take(it.name());
            }
            is_there[at] |= it.is_empty && in_texts.contains(&it.key);
            if is_there[at] || !words.may_hold(&it.said) {
                continue;
            }
            let mut spellings = rules::spellings(it.name(), &it.said);
            if let Some(with_servers) = with_servers.filter(|_| it.is_text) {
                let said = rules::said_in_text(&it.said, with_servers, |it| {
                    words_of(it).all(|it| words.all.contains(&it))
                });
                spellings.extend(said.into_iter().map(Cow::Owned));
            }
            // The digits of `1.0` are also words of other numbers.
            let is_one_word = it.is_text || !it.is_empty && !it.said.contains(['-', '.']);
            let is_long = !words.are_spent || it.said.len() >= WORD;
            let mut take = |said: &Cow<'_, str>| match is_long {
                true => words.take(said),
                false => words.take_short(said, it.is_text, &mut looks),
            };
            is_there[at] = is_one_word && spellings.iter().any(&mut take);
            let searches = if is_there[at] { &mut cuts } else { &mut searches };
            if *searches > 0 && (!is_there[at] || has_short) {
                *searches -= 1;
                let is_whole = words.take_whole(it);
                is_there[at] |= is_whole;
            }
        }
        let mut at = 0;
        missing.retain(|_| {
            at += 1;
            !is_there[at - 1]
        });
    }
}

/// Pairs the values of a source with those of the output.
struct Pairing<'p, 'w> {
    written: &'p mut Written<'w>,
    found: Lacking,
    told: &'p Told<'p>,
}

impl Visit for Pairing<'_, '_> {
    fn leaf(&mut self, leaf: Leaf<'_>, way: &[Frame<'_>]) {
        let (written, told) = (&mut *self.written, self.told);
        let is_said_once = told.has_records || rules::is_shared(&leaf);
        if let Some(next) = written.take_next(&leaf) {
            if is_said_once {
                written.found.push(next);
            }
            return;
        }
        // Most missing values are nulls under such a name, which nothing else is paired with.
        let is_null = leaf.text == "null" && !leaf.is_free && may_be_empty(leaf.name);
        if is_null && told.has_settings {
            return;
        }
        let key = leaf.key();
        if written.take(key) {
            return;
        }
        let is_own_empty =
            told.bookkeeping.is_some() && rules::is_own_empty(&leaf, way, told.is_one);
        let is_said_again = !told.has_settings && rules::is_setting(&leaf, way);
        let is_form = !is_own_empty && !is_said_again && rules::is_form(&leaf, way);
        if is_said_once && written.has_written(key) || is_form {
            written.owe(key, leaf.text);
        } else if let Some(it) = leaf.wrapped().filter(|it| written.find(it, it.key())) {
            written.counts.entry(it.key()).or_default().is_written |= is_said_once;
        } else if written.find(&leaf, key) {
            written.counts.entry(key).or_default().is_written |= is_said_once;
        } else if !is_said_once || !written.has_written(key) {
            self.found.add(key, &leaf, way, told);
        }
    }

    fn holds(&mut self, leaf: &Leaf<'_>, object: &str) -> bool {
        // In records each value is counted, because it may be repeated.
        !self.told.has_records && self.written.find_whole(leaf, object)
    }
}

/// Whether a value only names the kind of its object; one such kind includes the name of a tool.
fn says_kind(leaf: &Leaf<'_>, way: &[Frame<'_>]) -> bool {
    !leaf.text.starts_with("\"tool-") && rules::is_form(leaf, way)
}

/// Whether a value is a flag, which means nothing without its name.
fn is_flag(leaf: &Leaf<'_>) -> bool {
    !leaf.is_free && matches!(leaf.text, "true" | "false")
}

/// Whether a text is a time or an id of hexadecimal digits.
fn is_stamp(text: &str) -> bool {
    let is_like = |form: &str| {
        let fits = |(it, form): (u8, u8)| match form {
            b'0' => it.is_ascii_hexdigit(),
            form => it == form,
        };
        text.len() > form.len() && text.bytes().zip(form.bytes()).all(fits)
    };
    is_like("\"0000-00-00T00:00:00") || is_like("\"00000000-0000-0000-0000-000000000000")
}

/// The keys of the values in JSON texts, and of the types and data in data URLs.
fn keys_in_texts(written: &str) -> HashSet<u64> {
    let mut keys = HashSet::new();
    walk(written, |leaf, _| {
        if matches!(leaf.text.as_bytes(), [b'"', b'{' | b'[', ..]) {
            let top = Frame { name: leaf.name, ..TOP };
            let mut add = |inner: Leaf<'_>, _: &[Frame<'_>]| _ = keys.insert(inner.key());
            walk_in(&leaf.said(), top, 2, &mut add);
        } else if leaf.text.starts_with("\"data:")
            && let Some(DataUrl { media_type, data }) = DataUrl::parse(&leaf.said())
        {
            keys.extend([media_type, data].map(text_key));
        }
    });
    keys
}

/// Values of elements that were written unchanged but were paired with equal ones of other elements: the missing values
/// are those of the edited elements. Linear in the source, if there are any.
pub(super) fn move_to_edited(
    missing: &mut [Missing],
    source: &str,
    is_one: bool,
    is_kept: impl Fn(&[String]) -> bool,
) {
    let mut wanted: HashMap<u64, Vec<usize>> = HashMap::new();
    let kept = missing.iter().enumerate().filter(|it| is_kept(&it.1.steps));
    kept.for_each(|(at, it)| wanted.entry(it.key).or_default().push(at));
    if wanted.is_empty() {
        return;
    }
    let known: HashSet<Vec<String>> = missing.iter().map(|it| it.steps.clone()).collect();
    walk(source, |leaf, way| {
        let key = leaf.key();
        let Some(places) = wanted.get_mut(&key).filter(|it| !it.is_empty()) else { return };
        let it = Missing::of(key, &leaf, way, is_one);
        if !is_kept(&it.steps)
            && !known.contains(&it.steps)
            && let Some(at) = places.pop()
        {
            missing[at] = it;
        }
    });
}

impl Missing {
    /// The possible keys among the messages as read: its own, those of its other spellings, and that of a part that
    /// only its format knows.
    pub(super) fn native_keys(&self) -> Vec<u64> {
        let mut res = vec![self.key];
        match self.is_text && !self.is_free {
            true => {
                let spellings = rules::spellings(self.name(), &self.said);
                res.extend(spellings.iter().map(|it| text_key(it)));
            }
            false if !self.is_text => res.push(member_key("value", &self.said)),
            false => {}
        }
        res
    }

    pub(super) fn is_text(&self) -> bool {
        self.is_text
    }

    /// The text of a string; other values as spelled.
    pub(super) fn said(&self) -> &str {
        &self.said
    }

    /// The name of its member.
    pub(super) fn name(&self) -> &str {
        let is_index = |it: &&String| it.bytes().all(|it| it.is_ascii_digit());
        self.steps.iter().rev().find(|it| !is_index(it)).map_or("", String::as_str)
    }

    fn of(key: u64, leaf: &Leaf<'_>, way: &[Frame<'_>], is_one: bool) -> Self {
        Missing {
            key,
            element: element(way),
            steps: steps(way, is_one),
            is_free: leaf.is_free,
            is_text: leaf.is_text(),
            is_shared: rules::is_shared(leaf),
            is_empty: matches!(leaf.text, "null" | "[]" | "{}"),
            said: leaf.said().into_owned(),
            synonyms: rules::synonyms(leaf, way),
            twin: rules::twin(way),
        }
    }
}

/// The bit for the length of a text.
fn length_bit(text: &str) -> u64 {
    1 << (text.len() % 64)
}
