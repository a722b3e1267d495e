//! Which values of a source are in what was written: by equal values first, then, for texts that were split, joined or
//! put into other texts, by their words.

use std::collections::{BTreeSet, HashMap, HashSet};

use memchr::memmem::find;
use xxhash_rust::xxh3::xxh3_64;

use super::leaves::{Frame, Leaf, member_key, steps, text_key, walk};
use super::{Told, rules};
use crate::hash::Hashed;

/// As many values are looked at that are not found at once; of a document with more, the others are counted.
const CANDIDATES: usize = 1 << 14;

/// As many texts are searched for letter by letter.
const SEARCHES: usize = 64;

/// A value of the source that has not been found.
pub(super) struct Missing {
    pub(super) key: u64,
    /// The element of the first list that it is in, after the index of its text.
    pub(super) element: Element,
    /// The way to it.
    pub(super) steps: Vec<String>,
    /// Whether its name is data, too.
    is_free: bool,
    is_text: bool,
    /// What is said.
    said: String,
    synonym: Option<&'static str>,
    /// The member of those that say one thing twice that it is in.
    twin: Option<&'static str>,
}

/// What of a source was not found at once.
#[derive(Default)]
pub(super) struct Lacking {
    pub(super) missing: Vec<Missing>,
    /// How many values there are beyond those.
    pub(super) more: usize,
    /// The names of members that were left out, being beside what is said.
    pub(super) behind: BTreeSet<String>,
}

impl Lacking {
    fn add(&mut self, key: u64, leaf: &Leaf<'_>, way: &[Frame<'_>], told: &Told<'_>) {
        let is_behind =
            |it: &&Frame<'_>| !it.is_list && told.behind.iter().any(|name| name == it.name);
        if rules::is_option(told.from, way) || way.iter().take(3).any(|it| is_behind(&it)) {
            return;
        }
        if let Some(name) = rules::beside(told, leaf, way) {
            self.behind.insert(name.to_owned());
        } else if told.lacks_ids && rules::is_id(leaf) {
            self.behind.insert(leaf.name.to_owned());
        } else if self.missing.len() < CANDIDATES {
            self.missing.push(Missing::of(key, leaf, way, told.is_one));
        } else {
            self.more += 1;
        }
    }
}

/// The index of a text, and in it the element of the first list, if a value is in one.
pub(super) type Element = (usize, Option<usize>);

/// The element of the first list on a way.
pub(super) fn element(way: &[Frame<'_>]) -> Element {
    (way[0].index, way.iter().skip(1).find(|it| it.is_list).map(|it| it.index))
}

/// A value takes so many bytes of a document, about.
const BYTES: usize = 64;

/// How often each value is there that no value of the source was paired with.
pub(super) struct Written(HashMap<u64, u32, Hashed>);

impl Written {
    pub(super) fn of(written: &str) -> Self {
        let mut res = HashMap::with_capacity_and_hasher(written.len() / BYTES, Hashed::default());
        walk(written, |leaf, _| *res.entry(leaf.key()).or_insert(0_u32) += 1);
        Written(res)
    }

    /// What of a source is not there.
    pub(super) fn without(&mut self, source: &str, told: &Told<'_>) -> Lacking {
        let mut res = Lacking::default();
        walk(source, |leaf, way| {
            let key = leaf.key();
            match self.0.get_mut(&key) {
                Some(left @ 1..) => *left -= 1,
                Some(_) if told.has_records || rules::is_shared(&leaf) => {}
                _ if rules::is_form(&leaf, way) => {}
                _ => res.add(key, &leaf, way, told),
            }
        });
        res
    }

    /// Takes out the values whose words are among those of what was written and paired with nothing. An agent's records
    /// say things several times, so that of theirs any word will do.
    pub(super) fn pair_by_words(
        &mut self,
        missing: &mut Vec<Missing>,
        written: &str,
        told: &Told<'_>,
    ) {
        let mut words = Words::default();
        walk(written, |leaf, _| match self.0.get_mut(&leaf.key()) {
            Some(left @ 1..) => {
                *left -= 1;
                words.add(&leaf);
            }
            _ if told.has_records => words.add(&leaf),
            _ => {}
        });
        words.are_spent = !told.has_records;
        words.all = words.left.keys().copied().collect();
        let mut searches = SEARCHES;
        missing.retain(|it| {
            let is_synonym =
                it.synonym.is_some_and(|it| words.all.contains(&xxh3_64(it.as_bytes())));
            if it.is_free {
                words.take(it.name());
            }
            let mut spellings = rules::spellings(it.name(), &it.said).into_iter();
            // The digits of `1.0` are the words of other numbers.
            let is_one_word = it.is_text || !it.said.contains(['-', '.']);
            let is_there = is_synonym || is_one_word && spellings.any(|it| words.take(&it)) || {
                searches = searches.saturating_sub(1);
                searches > 0 && find(words.joined.as_bytes(), it.said.as_bytes()).is_some()
            };
            !is_there
        });
    }
}

/// The words of what was written.
#[derive(Default)]
struct Words {
    left: HashMap<u64, u32>,
    all: HashSet<u64>,
    /// Whether each is there as often as it was written.
    are_spent: bool,
    joined: String,
}

impl Words {
    fn add(&mut self, leaf: &Leaf<'_>) {
        let mut add = |it| *self.left.entry(it).or_insert(0) += 1;
        if leaf.is_free {
            each_word(leaf.name, &mut add);
        }
        let said = leaf.said();
        rules::spellings("", &said).iter().for_each(|it| each_word(it, &mut add));
        self.joined.push_str(&said);
    }

    /// Takes the words of a text; none if one is not there.
    fn take(&mut self, text: &str) -> bool {
        let has_words = text.contains(char::is_alphanumeric);
        let (mut taken, mut all) = (Vec::new(), true);
        each_word(text, |it| {
            if has_words && it <= u64::from(u32::from(char::MAX)) || !all {
                return;
            }
            match self.left.get_mut(&it).filter(|it| **it > 0) {
                Some(left) => {
                    *left -= u32::from(self.are_spent);
                    taken.push(it);
                }
                None => all = false,
            }
        });
        if !all && self.are_spent {
            taken.into_iter().for_each(|it| *self.left.entry(it).or_insert(0) += 1);
        }
        all
    }
}

/// Takes out what another member of the same element says.
pub(super) fn drop_said_twice(missing: &mut Vec<Missing>, source: &str) {
    let twins = missing.iter().filter(|it| it.twin.is_some());
    let mut said: HashMap<_, Vec<(&str, String)>> =
        twins.map(|it| (it.element, Vec::new())).collect();
    if said.is_empty() {
        return;
    }
    walk(source, |leaf, way| {
        let Some(name) = rules::twin(way).filter(|_| rules::is_thought(&leaf)) else { return };
        let Some(said) = said.get_mut(&element(way)) else { return };
        match said.iter_mut().find(|it| it.0 == name) {
            Some(known) => known.1.push_str(&leaf.said()),
            None => said.push((name, leaf.said().into_owned())),
        }
    });
    missing.retain(|it| {
        let others = said.get(&it.element).into_iter().flatten();
        let mut others = others.filter(|other| Some(other.0) != it.twin);
        it.twin.is_none() || !others.any(|other| other.1.contains(&it.said))
    });
}

impl Missing {
    /// The keys that it may have among the messages as they were read: its own, those of its other spellings, and that of
    /// a part that only its format knows.
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

    /// The text of a string; any other value as it is written.
    pub(super) fn said(&self) -> &str {
        &self.said
    }

    /// The name of the member that holds it.
    fn name(&self) -> &str {
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
            said: leaf.said().into_owned(),
            synonym: rules::synonym(leaf),
            twin: rules::twin(way),
        }
    }
}

/// The hashes of the words of a text; of one without words, those of its other characters.
fn each_word(text: &str, mut give: impl FnMut(u64)) {
    let words = text.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty());
    words.for_each(|it| give(xxh3_64(it.as_bytes())));
    let others = text.chars().filter(|it| !it.is_alphanumeric() && !it.is_whitespace());
    others.for_each(|it| give(u64::from(u32::from(it))));
}
