//! Accounts for each value of a document: values that are neither in the output nor explained by its report are
//! reported, each with a JSON Pointer into the source (MS-24).
//!
//! ```text
//! source   {"messages":[{"role":"user","content":"hi","x":5}]}      leaves "hi", 5 of x
//! written  [{"type":"message","content":[{"text":"hi"}], …}]        leaves "hi"
//! lost     5 at /messages/0/x, unless the report names x of message 0
//! ```
//!
//! Knows no format: one table, `rules`, defines which values count as equal. In the usual case that all values are
//! found, it costs one pass over each text.

mod conversion;
mod edits;
mod leaves;
mod pairing;
mod rules;
mod spent;
mod twice;
mod words;

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};

use msg_core::{Code, Diagnostic, Severity};
use msg_forms::turns::LowerOptions;
use msg_session::{Blob, Session};

pub use self::conversion::Conversion;
use self::edits::Kept;
pub use self::edits::{Cut, account_in_place, account_of_edits, name_left_out};
use self::pairing::{Element, Lacking, Missing, Written};
use self::rules::Scope;
use crate::document::Document;
use crate::format::Format;
use crate::ledger::leaves::{Frame, Leaf, pointer, steps, walk};
use crate::options::ReadOptions;

/// The maximum number of places reported; of the others, only their number.
const PLACES: usize = 10;

/// Turns findings about losses (`convert::lost-…`) into errors, and returns whether there are any. This is the
/// effect of the option `strict`.
///
/// ```
/// use msg_core::{Code, Diagnostic};
///
/// let mut found = [Diagnostic::warning(Code::new("convert::lost-value"), "`/x` is left out")];
/// assert!(msg_formats::losses_as_errors(&mut found) && found[0].is_error());
/// ```
pub fn losses_as_errors(found: &mut [Diagnostic]) -> bool {
    let is_loss = |it: &&mut Diagnostic| {
        it.code.as_str().strip_prefix("convert::").is_some_and(|it| it.starts_with("lost-"))
    };
    let lost = found.iter_mut().filter(is_loss).map(|it| it.severity = Severity::Error);
    lost.count() > 0
}

/// Values that a writer generates, such as an agent version; they do not come from the source. Taken from the output
/// for a nearly empty conversation.
#[derive(Debug, Default)]
pub(crate) struct MadeUp(HashSet<u64>);

impl MadeUp {
    /// The values of this output, except the words of the format.
    pub(crate) fn of(written: &str) -> Self {
        let mut keys = HashSet::new();
        walk(written, |leaf, _| {
            if !words::is_word(leaf.name) {
                keys.insert(leaf.place_key());
            }
        });
        MadeUp(keys)
    }

    fn has(&self, leaf: &Leaf<'_>) -> bool {
        !self.0.is_empty() && self.0.contains(&leaf.place_key())
    }
}

/// What is known about a conversion from a source to its output.
pub(crate) struct Told<'a> {
    /// The report.
    pub(crate) report: &'a [Diagnostic],
    /// The names of body members that are known to be left out.
    pub(crate) left_out: &'a [String],
    /// The format of the source.
    pub(crate) from: &'a str,
    /// Whether the output has the same format, and can hold everything.
    pub(crate) keeps_format: bool,
    /// Whether the source consists of an agent's records, which repeat content.
    pub(crate) has_records: bool,
    /// For a source whose members without conversation content are bookkeeping, which is left out by name: the member of
    /// the body with the messages, empty if it is unknown.
    pub(crate) bookkeeping: Option<String>,
    /// Whether the source is one text instead of several lines.
    pub(crate) is_one: bool,
    /// Whether the target has no ids, so call and result are adjacent.
    pub(crate) lacks_ids: bool,
    /// Whether request settings are accounted for elsewhere. Not for those that a response repeats.
    pub(crate) has_settings: bool,
    /// Whether calls were read from texts.
    pub(crate) has_text_calls: bool,
    /// Values that the target always contains.
    pub(crate) made_up: MadeUp,
    /// For a document that was cut: the elements of the source's list that were written unchanged.
    pub(crate) kept: Option<Kept>,
    /// The messages of the source in native form, which the indices of the report refer to.
    pub(crate) messages: &'a dyn Fn() -> Option<String>,
}

/// The account of the values of a source.
#[derive(Debug, Default)]
pub struct Account {
    /// The values that are missing in the output and that nothing explains.
    pub lost: Vec<Diagnostic>,
    /// The names of members that are left out because they do not belong to the conversation.
    pub left_out: Vec<String>,
}

/// Accounts for the values of `source`, whose output is `written`. Linear in both texts.
pub(crate) fn account(source: &str, written: &str, told: &Told<'_>) -> Account {
    let mut output = Written::of(written, &told.made_up);
    let Lacking { mut missing, more, beside } = output.without(source, told);
    let left_out = beside.left_out(written);
    twice::drop_types_of_data_urls(&mut missing, source, told.is_one, |it| output.take(it));
    output.pair_data_urls(&mut missing);
    if missing.is_empty() && more == 0 {
        return Account { lost: Vec::new(), left_out };
    }
    let accounts = Accounts::of(told);
    // Most missing values of a chat are named in a finding of their message. Searching the whole output and reading the
    // messages again would find no more.
    if more == 0 && told.from == "openai" && told.is_one && accounts.name_all(&missing) {
        return Account { lost: Vec::new(), left_out };
    }
    output.pair_by_words(&mut missing, written, told);
    twice::drop_said_twice(&mut missing, source);
    if told.from == "langchain" {
        twice::drop_calls_said_twice(&mut missing, source);
    }
    if told.keeps_format && told.kept.is_none() && told.is_one {
        let kept = if missing.is_empty() { None } else { Kept::of(source, written) };
        kept.into_iter().for_each(|kept| {
            pairing::move_to_edited(&mut missing, source, told.is_one, |it| kept.have(it));
        });
    }
    Account { lost: unaccounted(source, missing, more, &accounts, told), left_out }
}

/// Reports missing values that nothing explains.
fn unaccounted(
    source: &str,
    mut missing: Vec<Missing>,
    mut more: usize,
    accounts: &Accounts<'_>,
    told: &Told<'_>,
) -> Vec<Diagnostic> {
    let is_told = |it: &Missing, of: &Diagnostic| {
        rules::tells(of, &it.steps) || rules::says_change(of, it.said())
    };
    missing.retain(|it| !accounts.are_gone(&it.steps));
    missing.retain(|it| !accounts.body.iter().any(|of| is_told(it, of)));
    // The value of a kept element may have been paired with that of a removed one.
    missing.retain(|it| !told.kept.as_ref().is_some_and(|kept| kept.have(&it.steps)));
    let native = if missing.is_empty() { None } else { (told.messages)() };
    let mut places = Places::of(native.as_deref().unwrap_or_default(), source, &missing);
    places.are_guessed = told.is_one || !told.has_records;
    // Each of several equal values has its own place.
    let mut equal: HashMap<u64, (usize, usize)> = HashMap::new();
    missing.iter().for_each(|it| equal.entry(it.key).or_default().1 += 1);
    missing.retain(|it| {
        let (rank, n) = equal.entry(it.key).or_default();
        *rank += 1;
        !accounts.cover(it, (*rank - 1, *n), &places)
    });
    more += missing.len().saturating_sub(PLACES);
    missing.truncate(PLACES);
    let lost = missing.iter().map(|it| {
        let place = pointer(&it.steps);
        let text = format!("`{place}` is left out");
        let mut lost = Diagnostic::warning(Code::new("convert::lost-value"), text);
        lost.at.message = places.message(it);
        lost.at.pointer = Some(place);
        lost
    });
    let text = || format!("{more} more values are left out");
    let rest = || Diagnostic::warning(Code::new("convert::lost-value"), text());
    lost.chain((more > 0).then(rest)).collect()
}

/// The findings that explain missing values.
struct Accounts<'a> {
    messages: HashMap<usize, OfMessage<'a>>,
    /// Findings about the body.
    body: Vec<&'a Diagnostic>,
    /// Places in the body that an edit removed, with everything in them.
    gone: HashSet<&'a str>,
    /// Whether parts are in a list of their message, so members of the message itself are outside it.
    has_part_lists: bool,
}

/// The findings about one message, which may be many.
#[derive(Default)]
struct OfMessage<'a> {
    /// Findings about one member, by its name.
    by_name: HashMap<String, Vec<(&'a Diagnostic, Scope)>>,
    others: Vec<(&'a Diagnostic, Scope)>,
}

impl<'a> OfMessage<'a> {
    fn push(&mut self, it: &'a Diagnostic, scope: Scope) {
        let name = rules::only_name(it).filter(|_| scope == Scope::Named);
        let list = name.map_or(&mut self.others, |it| self.by_name.entry(it).or_default());
        list.push((it, scope));
    }

    /// The findings that may apply to a value on this path.
    fn about(&self, steps: &[String]) -> impl Iterator<Item = &(&'a Diagnostic, Scope)> {
        let named = steps.iter().filter_map(|it| self.by_name.get(&**it)).flatten();
        self.others.iter().chain(named)
    }
}

impl<'a> Accounts<'a> {
    fn of(told: &Told<'a>) -> Self {
        let has_part_lists = matches!(told.from, "openai" | "anthropic" | "gemini" | "bedrock");
        let mut res = Accounts {
            messages: HashMap::new(),
            body: Vec::new(),
            gone: HashSet::new(),
            has_part_lists,
        };
        let mut known = HashSet::new();
        for it in told.report {
            match (rules::scope(it), it.at.message) {
                (Scope::Nothing, _) => {}
                (scope, Some(at)) => res.messages.entry(at).or_default().push(it, scope),
                (_, None) if rules::takes_place_away(it) => {
                    res.gone.extend(it.at.pointer.as_deref());
                }
                // Findings may repeat for each record; only one is kept.
                (_, None) if known.insert((it.code.as_str(), it.message(), it.fix.as_deref())) => {
                    res.body.push(it);
                }
                (_, None) => {}
            }
        }
        res
    }

    /// Whether a value is in a place that an edit removed.
    fn are_gone(&self, steps: &[String]) -> bool {
        if self.gone.is_empty() {
            return false;
        }
        let place = pointer(steps);
        let ends = place.match_indices('/').skip(1).map(|it| it.0).chain([place.len()]);
        ends.into_iter().any(|end| self.gone.contains(&place[..end]))
    }

    /// Whether findings about the messages of these values name each of them. A chat message is the list element with
    /// its index. A finding about a part explains one value, because several parts may have one.
    fn name_all(&self, missing: &[Missing]) -> bool {
        let mut named: HashMap<(usize, &str), usize> = HashMap::new();
        missing.iter().all(|it| {
            let (message, steps) = match it.steps.as_slice() {
                [list, message, steps @ ..] if list == "messages" => (message, steps),
                [message, steps @ ..] => (message, steps),
                [] => return false,
            };
            let Ok(message) = message.parse() else { return false };
            let Some(found) = self.messages.get(&message) else { return false };
            let mut lists = steps.iter().filter_map(|it| Some((it, found.by_name.get(it)?)));
            let is_named = lists.any(|(name, list)| {
                let of_all = list.first().filter(|(it, _)| it.at.part.is_none());
                let n = named.entry((message, name.as_str())).or_default();
                *n += 1;
                let one = of_all.or_else(|| list.get(*n - 1));
                one.is_some_and(|(of, _)| rules::tells(of, &it.steps))
            });
            // The reasoning of such a message is its first part, if it is a text.
            let may_be_thought = it.is_text() && steps.len() == 1 && rules::is_of_thoughts(steps);
            let is_lost =
                |it: &Diagnostic| it.code == "convert::lost-part" && it.at.part == Some(0);
            is_named
                || may_be_thought
                    && named.insert((message, ""), 1).is_none()
                    && found.others.iter().any(|(it, _)| is_lost(it))
        })
    }

    /// Whether a finding explains a value at one of its places, or near it if the place is unknown. `rank` is its index
    /// among `n` equal values; if the messages have as many, it is the one with this rank.
    fn cover(&self, it: &Missing, (rank, n): (usize, usize), places: &Places) -> bool {
        match places.native.get(&it.key) {
            Some(found) if found.len() == n && !it.is_shared => {
                let at = &found[rank];
                self.covers(at.message, at.part, &at.steps)
            }
            Some(found) => found.iter().any(|at| self.covers(at.message, at.part, &at.steps)),
            None => places.near(it).any(|message| self.covers_near(message, &it.steps)),
        }
    }

    /// [`Accounts::covers`] for a value that is in none of the messages read: findings about a part or about an odd
    /// value noted by the reader do not apply to it.
    fn covers_near(&self, message: usize, steps: &[String]) -> bool {
        let mut inner = steps.iter().skip_while(|it| !it.bytes().all(|it| it.is_ascii_digit()));
        let may_be_of_part = !self.has_part_lists || inner.nth(2).is_some();
        let Some(found) = self.messages.get(&message) else { return false };
        found.about(steps).any(|(it, scope)| match scope {
            Scope::Place if rules::is_of_all(it) => may_be_of_part || rules::is_of_message(it),
            Scope::Place => rules::writes_value(it) && rules::tells(it, steps),
            _ => rules::tells(it, steps),
        })
    }

    fn covers(&self, message: usize, part: Option<usize>, steps: &[String]) -> bool {
        let Some(found) = self.messages.get(&message) else { return false };
        found.about(steps).any(|(it, scope)| {
            // Reasoning details are in a member of their message.
            let may_be = || part.is_none() && rules::is_of_thoughts(steps);
            let is_there = it.at.part.is_none() || it.at.part == part || may_be();
            is_there && (*scope == Scope::Place || rules::tells(it, steps))
        })
    }
}

/// The places of the missing values among the messages.
struct Places {
    /// In the native form of the messages.
    native: HashMap<u64, Vec<Place>>,
    /// The messages that the elements of the source became.
    elements: HashMap<Element, BTreeSet<usize>>,
    /// Whether the message of an unmatched element is guessed by its relative position; not for records.
    are_guessed: bool,
    /// The members of the body whose lists contain messages: an element of another list is not a message.
    lists: BTreeSet<String>,
}

struct Place {
    message: usize,
    part: Option<usize>,
    steps: Vec<String>,
}

/// The maximum number of places inspected for one value.
const SAME: usize = 64;

impl Places {
    fn of(native: &str, source: &str, missing: &[Missing]) -> Self {
        let mut places: HashMap<u64, Vec<Place>> = HashMap::new();
        let mut spelled: HashMap<u64, Vec<u64>> = HashMap::new();
        for it in missing {
            if places.insert(it.key, Vec::new()).is_some() {
                continue;
            }
            for key in it.native_keys() {
                let known = spelled.entry(key).or_default();
                if known.len() < SAME && !known.contains(&it.key) {
                    known.push(it.key);
                }
            }
        }
        let mut messages: HashMap<u64, Vec<usize>> = HashMap::new();
        walk(native, |leaf, way| {
            let (key, Some(place)) = (leaf.key(), way.get(1)) else { return };
            // Words of the format are in every message.
            if leaf.is_text() && !rules::is_form(&leaf, way) {
                let found = messages.entry(key).or_default();
                if found.len() < SAME && found.last() != Some(&place.index) {
                    found.push(place.index);
                }
            }
            // Application data in the source may be in an unparsed part, where it has no name.
            let named =
                (leaf.is_text() && !leaf.is_free).then(|| key ^ rules::name_hash(leaf.name));
            for of in spelled.get(&key).into_iter().flatten().chain(&named) {
                if let Some(found) = places.get_mut(of).filter(|it| it.len() < SAME) {
                    found.push(Place::of(way));
                }
            }
        });
        places.retain(|_, found| !found.is_empty());
        let mut elements: HashMap<_, BTreeSet<usize>> =
            missing.iter().map(|it| (it.element, BTreeSet::new())).collect();
        let mut by_ids = elements.clone();
        let mut lists = BTreeSet::new();
        walk(source, |leaf, way| {
            if !leaf.is_text() || rules::is_form(&leaf, way) {
                return;
            }
            let element = pairing::element(way);
            let list = way.get(1).filter(|it| element.1.is_some() && !it.is_list);
            if let Some(list) = list.filter(|it| !lists.contains(it.name))
                && messages.contains_key(&leaf.key())
            {
                lists.insert(list.name.to_owned());
            }
            let found = match rules::is_shared(&leaf) {
                true => by_ids.get_mut(&element),
                false => elements.get_mut(&element),
            };
            if let Some((found, places)) = found.zip(messages.get(&leaf.key())) {
                // Repeated content is assigned by its relative position.
                let index = element.1.unwrap_or_default();
                found.extend(places.iter().min_by_key(|it| it.abs_diff(index)));
            }
        });
        // Ids occur in two messages.
        for (element, found) in elements.iter_mut().filter(|it| it.1.is_empty()) {
            *found = by_ids.remove(element).unwrap_or_default();
        }
        Places { native: places, elements, are_guessed: true, lists }
    }

    /// Whether a value is in a list whose elements are messages, as far as known.
    fn is_of_messages(&self, it: &Missing) -> bool {
        let is_index = |it: &str| it.bytes().all(|it| it.is_ascii_digit());
        let list = it.steps.first().filter(|it| !is_index(it));
        list.is_none_or(|it| match self.lists.is_empty() {
            true => rules::holds_conversation(it),
            false => self.lists.contains(it),
        })
    }

    /// The messages that the element of a value became, if they contain its texts.
    fn known(&self, it: &Missing) -> Option<&BTreeSet<usize>> {
        let found = self.elements.get(&it.element).filter(|_| it.element.1.is_some());
        found.filter(|found| !found.is_empty() && self.is_of_messages(it))
    }

    /// The messages that contain a value or are next to it.
    fn near(&self, it: &Missing) -> impl Iterator<Item = usize> {
        let known = self.known(it);
        let is_guessed = known.is_none() && self.are_guessed && self.is_of_messages(it);
        let guessed = it.element.1.filter(|_| is_guessed).into_iter().flat_map(|it| [it, it + 1]);
        known.into_iter().flatten().copied().chain(guessed)
    }

    /// The message that contains a value: among those with the same content, the one that its element became.
    fn message(&self, it: &Missing) -> Option<usize> {
        let native = self.native.get(&it.key).map(Vec::as_slice).unwrap_or_default();
        let index = it.element.1.unwrap_or_default();
        let near: BTreeSet<usize> = self.near(it).collect();
        let nearest =
            |all: &mut dyn Iterator<Item = usize>| all.min_by_key(|it| it.abs_diff(index));
        let said_near = native.iter().map(|it| it.message).filter(|it| near.contains(it));
        let is_known = self.known(it).is_some();
        match native {
            [one] if !is_known => Some(one.message),
            _ => nearest(&mut { said_near }).or_else(|| nearest(&mut near.iter().copied())),
        }
    }
}

impl Place {
    fn of(way: &[Frame<'_>]) -> Self {
        let is_part = way.get(2).is_some_and(|it| it.name == "parts");
        let part = way.get(3).filter(|_| is_part).map(|it| it.index);
        Place { message: way[1].index, part, steps: steps(&way[2..], false) }
    }
}

/// Whether a document is one text instead of several lines.
pub(crate) fn is_one(format: Format, source: &str) -> bool {
    let end = || msg_json::value_end(source.as_bytes(), 0);
    !format.codec().spans_lines() || end() == Some(source.trim_end().len())
}

/// The document as JSON: itself, or its messages if it is not JSON. Damaged lines are repaired or dropped as the reader
/// does, which the report names.
pub(crate) fn json_of<'d>(
    document: &'d [u8],
    format: Format,
    read: &ReadOptions,
    lower: &LowerOptions,
) -> Option<Cow<'d, str>> {
    if !format.is_json() {
        return native(document, read, lower).map(Cow::Owned);
    }
    let text = std::str::from_utf8(document).ok().map(|it| it.trim_start_matches('\u{feff}'));
    if !format.codec().spans_lines() {
        return text.map(Cow::Borrowed);
    }
    let is_sound = |it: &&str| is_value(it) || it.lines().all(|it| it.is_empty() || is_value(it));
    Some(match text.filter(is_sound) {
        Some(text) => Cow::Borrowed(text),
        None => Cow::Owned(sound_lines(document, format)),
    })
}

fn is_value(text: &str) -> bool {
    msg_json::value_end(text.as_bytes(), 0) == Some(text.trim_end().len())
}

/// The valid and repaired lines of a partly damaged document. Other documents, such as a list that ends early, are
/// returned whole.
fn sound_lines(document: &[u8], format: Format) -> String {
    let session = |dialect| Session::new(dialect, vec![Blob::new("", document)]);
    if let Some(text) = format.name().parse().ok().and_then(|it| session(it).sound_text()) {
        return text;
    }
    let text = String::from_utf8_lossy(document).into_owned();
    let (sound, damaged): (Vec<&str>, Vec<&str>) =
        text.lines().filter(|it| !it.trim().is_empty()).partition(|it| is_value(it));
    if sound.len() < damaged.len() { text } else { sound.join("\n") }
}

/// The messages of a document in native form.
pub(crate) fn native(document: &[u8], read: &ReadOptions, lower: &LowerOptions) -> Option<String> {
    // It was read before, so its members of other formats are known.
    let again = Document::read_known(document, read);
    let mut document = again.or_else(|_| Document::read_unlowered(document, read)).ok()?;
    document.lower(lower);
    let mut out = Vec::new();
    msg_core::native::write(document.messages(), &mut out);
    String::from_utf8(out).ok()
}
#[cfg(test)]
mod tests {
    use msg_core::{Diagnostic, RawJson};
    use serde::Deserialize;

    use super::{Kept, MadeUp, Told, account};

    /// A source, its output, and other facts.
    #[derive(Deserialize)]
    struct Case {
        source: String,
        written: String,
        #[serde(default)]
        from: String,
        #[serde(default)]
        has_records: bool,
        #[serde(default)]
        list: String,
        #[serde(default)]
        lacks_ids: bool,
        #[serde(default)]
        has_text_calls: bool,
        /// The document that was cut; `written` then contains it and what was removed.
        cut: Option<String>,
        #[serde(default)]
        report: Vec<Diagnostic>,
        #[serde(default)]
        left_out: Vec<String>,
        messages: Option<RawJson>,
    }

    #[test]
    fn values_are_paired() {
        testkit::rows!("ledger.jsonl").check_lines(|row| {
            let case: Case = serde_json::from_str(&row.text).expect("because a row is a case");
            let told = Told {
                report: &case.report,
                left_out: &case.left_out,
                from: &case.from,
                keeps_format: false,
                has_records: case.has_records,
                bookkeeping: case.has_records.then(|| case.list.clone()),
                is_one: !case.source.contains('\n'),
                lacks_ids: case.lacks_ids,
                has_text_calls: case.has_text_calls,
                has_settings: true,
                made_up: MadeUp::default(),
                kept: case.cut.as_ref().and_then(|it| Kept::of(&case.source, it)),
                messages: &|| case.messages.as_ref().map(|it| it.text().to_owned()),
            };
            let found = account(&case.source, &case.written, &told);
            let lost: Vec<_> = found.lost.iter().map(|it| it.message()).collect();
            format!("lost {lost:?} left out {:?}", found.left_out)
        });
    }
}
