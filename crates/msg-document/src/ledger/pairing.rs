//! Which values of a source are in what was written: by equal values first, then, for texts that were split, joined or
//! put into other texts, by their words.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use memchr::memchr;
use memchr::memmem::find;
use msg_json::Token;
use xxhash_rust::xxh3::xxh3_64;

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
    /// Whether any other value that is as empty would do: nothing is there that could be said elsewhere.
    is_empty: bool,
    /// What is said.
    said: String,
    synonyms: &'static [&'static str],
    /// The member of those that say one thing twice that it is in.
    twin: Option<&'static str>,
}

/// What of a source was not found at once.
#[derive(Default)]
pub(super) struct Lacking {
    pub(super) missing: Vec<Missing>,
    /// How many values there are beyond those.
    pub(super) more: usize,
    /// What is beside what is said, by the names of its members.
    pub(super) beside: Beside,
}

/// Values that are beside what is said: the keys of those under each name, or nothing where there are more than
/// [`SAME`](super::SAME).
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

    /// The names of the members that are left out. A value that became its JSON text is in that text, members and all.
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
                _ if told.has_bookkeeping && rules::is_own_empty(&leaf, way) => {
                    res.add(key, &leaf, way, told);
                }
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
        let has_empty = missing.iter().any(|it| it.is_empty);
        let in_texts = if has_empty { keys_in_texts(written) } else { HashSet::new() };
        let mut searches = SEARCHES;
        missing.retain(|it| {
            let is_synonym =
                it.synonyms.iter().any(|it| words.all.contains(&xxh3_64(it.as_bytes())));
            if it.is_free {
                words.take(it.name());
            }
            let mut spellings = rules::spellings(it.name(), &it.said).into_iter();
            // The digits of `1.0` are the words of other numbers.
            let is_one_word = it.is_text || !it.is_empty && !it.said.contains(['-', '.']);
            let is_in_text = it.is_empty && in_texts.contains(&it.key);
            let is_there =
                is_synonym || is_in_text || is_one_word && spellings.any(|it| words.take(&it)) || {
                    searches = searches.saturating_sub(1);
                    let found = |from: &str| find(from.as_bytes(), it.said.as_bytes());
                    searches > 0
                        && match it.is_text {
                            true => found(&words.joined).is_some(),
                            false => !it.is_empty && has_number(&words.joined, &it.said, found),
                        }
                };
            !is_there
        });
    }
}

/// The keys of the values in the texts that are JSON.
fn keys_in_texts(written: &str) -> HashSet<u64> {
    let mut keys = HashSet::new();
    walk(written, |leaf, _| {
        if matches!(leaf.text.as_bytes(), [b'"', b'{' | b'[', ..]) {
            let top = Frame { name: leaf.name, index: 0, is_list: true, is_free: false };
            walk_in(&leaf.said(), top, 2, &mut |inner, _| _ = keys.insert(inner.key()));
        }
    });
    keys
}

/// Whether a text has a number that is not part of another one, nor of a time.
fn has_number(text: &str, number: &str, find: impl Fn(&str) -> Option<usize>) -> bool {
    let of_number =
        |it: Option<char>| it.is_some_and(|it| it.is_alphanumeric() || "_.-+".contains(it));
    let mut at = 0;
    while let Some(found) = find(&text[at..]) {
        let (start, end) = (at + found, at + found + number.len());
        let (before, after) = (text[..start].chars().next_back(), text[end..].chars().next());
        let is_time = before == Some(':')
            && text[..start - 1].ends_with(|it: char| it.is_ascii_digit())
            || after == Some(':') && text[end + 1..].starts_with(|it: char| it.is_ascii_digit());
        if !of_number(before) && !of_number(after) && !is_time {
            return true;
        }
        at = end;
    }
    false
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
        let said = leaf.said();
        let mut add = |text: &str| {
            words_of(text).chain(marks_of(text)).for_each(|it| {
                *self.left.entry(it).or_insert(0) += 1;
            });
        };
        if leaf.is_free {
            add(leaf.name);
        }
        rules::spellings("", &said).iter().for_each(|it| add(it));
        self.joined.push_str(&said);
    }

    /// Takes the words of a text; none if one is not there. Of one without words, its other characters.
    fn take(&mut self, text: &str) -> bool {
        match words_of(text).next() {
            Some(_) => self.take_all(words_of(text)),
            None => self.take_all(marks_of(text)),
        }
    }

    fn take_all(&mut self, mut words: impl Iterator<Item = u64>) -> bool {
        let mut taken = Vec::new();
        let all = words.all(|it| match self.left.get_mut(&it).filter(|it| **it > 0) {
            Some(left) => {
                *left -= u32::from(self.are_spent);
                taken.push(it);
                true
            }
            None => false,
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
            is_empty: matches!(leaf.text, "null" | "[]" | "{}"),
            said: leaf.said().into_owned(),
            synonyms: rules::synonyms(leaf, way),
            twin: rules::twin(way),
        }
    }
}

/// The hashes of the words of a text.
fn words_of(text: &str) -> impl Iterator<Item = u64> {
    let words = text.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty());
    words.map(|it| xxh3_64(it.as_bytes()))
}

/// Its other characters but for white space.
fn marks_of(text: &str) -> impl Iterator<Item = u64> {
    let others = text.chars().filter(|it| !it.is_alphanumeric() && !it.is_whitespace());
    others.map(|it| u64::from(u32::from(it)))
}

// The leaves of a JSON text in the order in which they are written: every string, number, boolean and null, and
// every list and object that is empty. What is held is the way to where the walk is, nothing else.
//
// ```text
// {"a":[{"b":1},[]]}      leaf 1 at /a/0/b      leaf [] at /a/1
// ```

/// A list or an object that the walk is in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame<'t> {
    /// The name of the member that the walk is at, as it is written between its quotes; of a list, that of the list.
    pub(super) name: &'t str,
    /// How many elements or members are after the walk.
    pub(super) index: usize,
    pub(super) is_list: bool,
    /// Whether names are data, such as those of a tool's parameters.
    is_free: bool,
}

/// A value that holds no other.
#[derive(Debug, Clone, Copy)]
pub(super) struct Leaf<'t> {
    /// The name of the nearest member that holds it.
    pub(super) name: &'t str,
    /// Its source text; `[]` and `{}` for what is empty.
    pub(super) text: &'t str,
    /// Whether its name is data, too.
    pub(super) is_free: bool,
    /// Whether it is the only member of its object.
    pub(super) is_only: bool,
}

impl<'t> Leaf<'t> {
    /// Whether it is a string.
    pub(super) fn is_text(&self) -> bool {
        self.text.starts_with('"')
    }

    /// The text of a string; any other value as it is written.
    pub(super) fn said(&self) -> Cow<'t, str> {
        match self.text.strip_prefix('"').and_then(|it| it.strip_suffix('"')) {
            Some(inner) => msg_json::unescape(inner).text,
            None => Cow::Borrowed(self.text),
        }
    }

    /// What it is paired by: a string by its text, wherever it is; any other value by its name, too.
    pub(super) fn key(&self) -> u64 {
        let value = match is_spelled_freely(self.text) {
            true => text_key(&self.said()),
            false => xxh3_64(self.text.as_bytes()),
        };
        match self.is_free || !self.is_text() {
            true => value ^ rules::name_hash(self.name),
            false => value,
        }
    }
}

/// The key of a string that says this.
pub(super) fn text_key(said: &str) -> u64 {
    let mut text = Vec::with_capacity(said.len() + 2);
    msg_json::write_str(&mut text, said);
    xxh3_64(&text)
}

/// The key of a value that is not a string in a member of this name.
pub(super) fn member_key(name: &str, value: &str) -> u64 {
    xxh3_64(value.as_bytes()) ^ rules::name_hash(name)
}

/// Room for so many levels is taken at once.
const FRAMES: usize = 16;

/// Calls `visit` for each leaf of a text, or of several texts one after the other, with the way to it: first the list
/// of the texts, of which most documents have one. Arguments of a call that are an object in a string count as the
/// object. Linear.
pub(super) fn walk(text: &str, mut visit: impl FnMut(Leaf<'_>, &[Frame<'_>])) {
    walk_in(text, Frame { name: "", index: 0, is_list: true, is_free: false }, 0, &mut visit);
}

fn walk_in<V: FnMut(Leaf<'_>, &[Frame<'_>])>(
    text: &str,
    top: Frame<'_>,
    outer: usize,
    visit: &mut V,
) {
    let mut frames = Vec::with_capacity(FRAMES);
    frames.push(top);
    let mut tokens = msg_json::tokens(text);
    while let Some(token) = tokens.next_token() {
        let depth = frames.len();
        let frame = frames.last_mut().expect("the one at the top stays");
        let text = match token {
            Token::Mark(b',') => {
                frame.index += 1;
                continue;
            }
            Token::Mark(b'}' | b']') if depth > 1 => {
                frames.pop();
                if let [top] = &mut frames[..] {
                    top.index += 1;
                }
                continue;
            }
            Token::Mark(open @ (b'{' | b'[')) => {
                let is_list = open == b'[';
                let (close, empty) = if is_list { (b']', "[]") } else { (b'}', "{}") };
                if tokens.peek_byte() != Some(close) {
                    let is_free = frame.is_free
                        || !frame.is_list && rules::is_free(frame.name, outer + depth);
                    let name = if is_list { frame.name } else { "" };
                    frames.push(Frame { name, index: 0, is_list, is_free });
                    continue;
                }
                tokens.next_token();
                empty
            }
            Token::Mark(_) => continue,
            Token::Name(source) => {
                frame.name = source.get(1..source.len() - 1).unwrap_or_default();
                continue;
            }
            Token::Text(text) | Token::Scalar(text) => text,
        };
        let is_only = !frame.is_list && frame.index == 0 && tokens.peek_byte() == Some(b'}');
        let leaf = Leaf { name: frame.name, text, is_free: frame.is_free, is_only };
        if leaf.is_free || !in_a_string(leaf, &frames, visit) {
            visit(leaf, &frames);
        }
        if let [top] = &mut frames[..] {
            top.index += 1;
        }
    }
}

/// Whether a string has an escape that a writer need not use: one of a code point, or that of a slash.
fn is_spelled_freely(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(escape) = bytes.get(at..).and_then(|it| memchr(b'\\', it)) {
        at += escape + 2;
        if matches!(bytes.get(at - 1), Some(b'u' | b'/')) {
            return true;
        }
    }
    false
}

/// Visits the leaves of an object that is written in a string, where that is usual.
fn in_a_string(
    leaf: Leaf<'_>,
    frames: &[Frame<'_>],
    visit: &mut dyn FnMut(Leaf<'_>, &[Frame<'_>]),
) -> bool {
    let is_value = matches!(leaf.text.as_bytes(), [b'"', b'{' | b'[', ..]);
    if !is_value || !rules::holds_json(leaf.name) {
        return false;
    }
    let object = leaf.said();
    if msg_json::value_end(object.as_bytes(), 0) != Some(object.trim_end().len()) {
        return false;
    }
    let is_free = rules::is_free(leaf.name, usize::MAX);
    let top = Frame { name: leaf.name, index: 0, is_list: true, is_free };
    walk_in(&object, top, frames.len(), &mut |inner, _| visit(inner, frames));
    true
}

/// The names and indices on the way to a value. `is_one` if the document is one text, not lines of several.
pub(super) fn steps(frames: &[Frame<'_>], is_one: bool) -> Vec<String> {
    let step = |it: &Frame<'_>| match it.is_list {
        true => it.index.to_string(),
        false => msg_json::unescape(it.name).text.into_owned(),
    };
    frames[usize::from(is_one)..].iter().map(step).collect()
}

/// These steps as a JSON Pointer (RFC 6901).
pub(super) fn pointer(steps: &[String]) -> String {
    steps.iter().map(|it| format!("/{}", it.replace('~', "~0").replace('/', "~1"))).collect()
}
