//! Walks a request together with the shapes of its API. Linear; skips everything that no shape
//! names.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::ops::Range;

use msg_json::{Kind, Reader};

use super::breach::{Breach, Inner, Marker};
use super::json_text::{
    Marks, Members, elements, members, members_around, next_element, of, part_count, text, text_of,
};
use super::missing::{
    Insertion, forced_kind, forced_type, forced_value, is_tool, offset, other_tool,
};
use super::table::{Api, Member, Object, Path, Shape, Type, Value, is_named, snake};
use super::texts::meant;
use super::unread::is_name_of_calls;

/// If an object has more unknown members than this, they stay.
const MANY: usize = 64;

/// A walk over a request, and what it found.
pub(super) struct Walk<'a> {
    pub(super) api: &'static Api,
    pub(super) scope: Scope,
    pub(super) path: String,
    element: Option<usize>,
    inner: Option<Inner>,
    pub(super) breaches: Vec<Breach>,
    /// The number of parts of each element.
    pub(super) elements: Vec<usize>,
    pub(super) markers: Vec<Marker>,
    /// The unique member of each element that has it.
    pub(super) ids: Vec<(usize, Cow<'a, str>, Option<Insertion>)>,
    pub(super) source: Source<'a>,
    /// The role of each element, and its breach that counts only if the next role differs.
    last: Vec<(Cow<'a, str>, Option<Breach>)>,
    /// The parts of the text that were read.
    pub(super) seen: Seen<'a>,
}

/// The scope of the rules that apply.
pub(super) struct Scope {
    /// Whether rules that only the provider defining the format has apply.
    pub(super) is_own: bool,
    /// Whether this member of the request was visited before.
    is_again: bool,
}

/// The places that a walk saw, so they can be found without reading the request again.
#[derive(Default)]
pub(crate) struct Seen<'a> {
    /// The members of the request; empty for a list of messages.
    pub(crate) members: Members<'a>,
    /// The text of the list.
    pub(crate) list: &'a str,
    /// The start and end of its elements.
    pub(crate) elements: Vec<(usize, usize)>,
    /// The members of each element with a problem, and its offset.
    pub(crate) odd: Vec<(usize, Members<'a>)>,
    /// Whether the text can be repaired: see [`Completed`](super::Completed).
    pub(crate) can_be_completed: bool,
}

impl<'a> Seen<'a> {
    fn begin(&mut self, list: &'a str) {
        *self = Seen { list, ..Seen::default() };
    }
}

/// The text of a walk, and where the walk is.
#[derive(Default)]
pub(super) struct Source<'a> {
    /// The request.
    pub(super) json: &'a str,
    /// Whether it is a list of messages alone.
    is_list: bool,
    /// Whether it has calls of custom tools.
    pub(super) has_custom_calls: OnceCell<bool>,
    /// The role of the current element.
    pub(super) role: Cow<'a, str>,
}

impl<'a> Walk<'a> {
    /// Walks over the `judged` members of a request, or over a list of messages. `list` is its range, if known. `None`
    /// for any other text.
    pub(super) fn over(
        (json, list): (&'a str, Option<&Range<usize>>),
        api: &'static Api,
        (judged, is_own): (impl Iterator<Item = &'static Member>, bool),
    ) -> Option<Self> {
        let mut it = Walk {
            api,
            scope: Scope { is_own, is_again: false },
            path: String::new(),
            element: None,
            inner: None,
            breaches: Vec::new(),
            elements: Vec::new(),
            markers: Vec::new(),
            ids: Vec::new(),
            source: Source { json, ..Source::default() },
            last: Vec::new(),
            seen: Seen::default(),
        };
        let list = list.and_then(|it| json.get(it.clone())).unwrap_or_default().trim_ascii_end();
        let json = json.trim_start_matches('\u{feff}').trim();
        let is_list = Reader::from_text(json).peek().ok()? == Kind::Array;
        it.source.is_list = is_list;
        let members =
            if is_list { vec![(api.list.into(), json)] } else { members_around(json, list)? };
        let mut counted = HashSet::new();
        for member in judged {
            // A member may be listed as a setting too; its markers are counted once.
            it.scope.is_again = !counted.insert(member.name);
            it.request_member(member, &members);
        }
        it.end_of_turns();
        it.seen.members = if is_list { Vec::new() } else { members };
        Some(it)
    }

    /// Checks a member of the request.
    fn request_member(&mut self, member: &'static Member, members: &Members<'a>) {
        let has = |name: &str| members.iter().rev().find(|it| is_named(self.api, &it.0, name));
        let Some(value) = has(member.name).map(|it| it.1) else {
            // A list of messages is not a request.
            let is_elsewhere =
                self.api.elsewhere.get(member.name).is_some_and(|it| has(it).is_some());
            if member.is_required && !self.source.is_list && !is_elsewhere {
                self.missing(member.name, None);
            }
            return;
        };
        match member.name == self.api.list {
            true => self.list(member, value),
            false => self.members(std::slice::from_ref(member), members),
        }
    }

    /// Checks the messages.
    fn list(&mut self, member: &Member, value: &'a str) {
        let Some(inner) = member.value.0.iter().find_map(|it| match it {
            Value::List(inner) if value.starts_with('[') => Some(inner),
            _ => None,
        }) else {
            return;
        };
        let list = self.path.len();
        self.push(member.name);
        self.seen.begin(value);
        let mut rest = value.strip_prefix('[').unwrap_or_default();
        for at in 0.. {
            let Some((element, members, after)) = next_element(rest) else { break };
            rest = after;
            self.element = Some(at);
            self.elements.push(members.as_ref().map_or(0, |it| part_count(it, self.api.attached)));
            self.last.push((Cow::default(), None));
            self.source.role = Cow::default();
            if let Some(members) = &members {
                self.unique(at, members);
                self.source.role = text_of(members, "role").unwrap_or_default();
            }
            let n_breaches = self.breaches.len();
            self.index(at, |it| it.known_value(inner, element, members.as_ref()));
            let start = offset(self.source.json, element);
            self.seen.elements.push((start, start + element.len()));
            if let Some(members) = members.filter(|_| self.breaches.len() > n_breaches) {
                self.seen.odd.push((start, members));
            }
        }
        self.element = None;
        self.path.truncate(list);
    }

    fn unique(&mut self, at: usize, members: &Members<'a>) {
        let Some(name) = &self.api.unique else { return };
        // A reference has the id of the item that it refers to.
        let is_reference = text_of(members, "type").is_some_and(|it| it == "item_reference");
        if let Some(id) = text_of(members, name).filter(|_| !is_reference) {
            let removal = Insertion::without(self.source.json, members, name, &|it| it != *name);
            self.ids.push((at, id, removal));
        }
    }

    fn value(&mut self, wanted: &Type, json: &'a str) {
        self.known_value(wanted, json, None);
    }

    /// As [`Walk::value`], for an object whose members may be known.
    fn known_value(&mut self, wanted: &Type, json: &'a str, known: Option<&Members<'a>>) {
        let Ok(kind) = Reader::from_text(json).peek() else { return };
        let fits = |it: &&Value| it.kind().is_none_or(|it| it == kind);
        match wanted.0.iter().find(fits) {
            None => self.other_type(wanted, kind, json),
            Some(Value::Never) => {
                let sentence = format!("`{}` is not accepted", self.path);
                let it = self.breach("unknown", "profile::unknown-member", sentence);
                self.report(it);
            }
            Some(Value::Misplaced) => {
                let sentence = format!("`{}` is not accepted in a message of this role", self.path);
                let it = self.breach("misplaced", "profile::unknown-kind", sentence);
                self.report(it);
            }
            Some(Value::FullText | Value::Address) if json == "\"\"" => {
                let sentence = format!("`{}` is empty", self.path);
                let is_text =
                    self.path.ends_with(".text") || !self.api.answers.contains_key("short");
                let answer = if is_text { "empty" } else { "short" };
                let it = self.breach(answer, "profile::shape", sentence);
                self.report(it);
            }
            Some(Value::Base64) => self.base64(json),
            Some(Value::Data) => self.data(json),
            Some(Value::Word(_)) => self.word(&wanted.words(), json),
            Some(Value::Address) => self.address(json),
            Some(Value::JsonText) => self.json_text(json),
            Some(Value::List(inner)) => {
                let mut rest = json.strip_prefix('[').unwrap_or_default();
                let mut marks = Marks::new(self.api.attached);
                for at in 0.. {
                    let Some((element, members, after)) = next_element(rest) else { break };
                    rest = after;
                    let outer = self.inner;
                    if outer.is_none() && self.element.is_some() {
                        let is_call = self.path.ends_with("tool_calls");
                        let part = at - marks.up_to(members.as_ref());
                        self.inner =
                            Some(if is_call { Inner::Call(at) } else { Inner::Part(part) });
                    }
                    self.index(at, |it| it.known_value(inner, element, members.as_ref()));
                    self.inner = outer;
                }
            }
            Some(Value::Object(name)) => {
                let Some(object) = self.api.object(name) else { return };
                if let Some(meant) = object.meant(json).filter(|_| json == "{}") {
                    let sentence = format!("`{}` is empty", self.path);
                    let it = self.breach("missing", "profile::missing-member", sentence);
                    self.report(it);
                    return self.mend_last(json, meant.into());
                }
                match known {
                    Some(members) => self.object(object, json, members),
                    None => members(json).iter().for_each(|it| self.object(object, json, it)),
                }
            }
            Some(_) => {}
        }
    }

    fn object(&mut self, object: &'static Object, json: &'a str, members: &Members<'a>) {
        self.marker(members);
        if self.element.is_none() && is_tool(&self.path) && self.api.path == Path::Brackets {
            let is_chat = self.api.list == "messages";
            if let Some((lacks, text)) = other_tool(is_chat, members) {
                let start = offset(self.source.json, json);
                let written = Insertion { place: start..start + json.len(), text };
                return self.below(lacks, |it| {
                    let sentence = format!("`{}` is missing", it.path);
                    let breach = it.breach("missing", "profile::missing-member", sentence);
                    it.report(Breach { insertions: vec![written], ..breach });
                });
            }
        }
        let kind = match &object.tag {
            None => return self.single_kind(object, members),
            Some(tag) => of(members, tag).filter(|it| *it != "null").map(|it| (*tag, it)),
        };
        let known = || object.kinds.keys().copied();
        let shape = match kind {
            None => {
                let tag = object.tag.unwrap_or_default();
                let has = |name: &str| of(members, name).is_some_and(|it| it != "null");
                let forced = forced_kind(self, object, members);
                if let Some(other) = &object.untagged
                    && (forced.is_none()
                        || has("role")
                        || self.api.fit_of_type(other, &has).is_some())
                {
                    return self.value(other, json);
                }
                match forced.filter(|it| object.default != Some(*it)) {
                    Some(forced) => {
                        let written = Insertion::of(self.source.json, (tag, forced), members, json);
                        self.forced(tag, forced, written);
                        object.kinds.get(forced)
                    }
                    None => {
                        self.missing_tag(object, &has);
                        object.default.and_then(|it| object.kinds.get(it))
                    }
                }
            }
            Some((tag, source)) => {
                let Some(kind) = text(source) else {
                    let wanted = Type(vec![Value::Of(Kind::String)]);
                    let found = Reader::from_text(source).peek().unwrap_or(Kind::Null);
                    return self.below(tag, |it| it.wrong_type(&wanted, found, source));
                };
                let mut shape = object.kinds.get(&*kind);
                // The chain rules report unknown roles.
                if shape.is_none() && tag != "role" && !object.open {
                    // Empty words come from streams that repeat the member in each delta, and from clients that do not
                    // know the kind.
                    let default = object.default.filter(|_| kind.is_empty());
                    self.unknown_kind((tag, &kind), known().collect(), default);
                    if let Some(meant) = object.meant(json) {
                        self.mend_last(json, meant.into());
                    }
                    shape = default.and_then(|it| object.kinds.get(it));
                }
                if tag == "role"
                    && let Some(last) = self.last.last_mut()
                {
                    last.0 = kind.clone();
                }
                if object.in_path && shape.is_some() {
                    let start = self.path.len();
                    self.push(&kind);
                    self.shape(object, shape, members, json);
                    return self.path.truncate(start);
                }
                shape
            }
        };
        self.shape(object, shape, members, json);
    }

    fn shape(
        &mut self,
        object: &'static Object,
        shape: Option<&'static Shape>,
        members: &Members<'a>,
        json: &'a str,
    ) {
        match shape {
            None => {}
            Some(Shape::Named(named)) => self.value(named, json),
            Some(Shape::Members(wanted)) => self.members(wanted, members),
        }
        self.not_last(object, members);
    }

    /// Checks an object that has only one kind.
    fn single_kind(&mut self, object: &'static Object, members: &Members<'a>) {
        self.members(&object.members, members);
        self.members(&object.one_of, members);
        let is = |member: &Member, name: &str| is_named(self.api, name, member.name);
        let known = |name: &str| object.members.iter().chain(&object.one_of).any(|it| is(it, name));
        let is_unknown = |it: &&(Cow<'a, str>, &str)| object.closed && !known(&it.0);
        let unknown: Vec<String> =
            members.iter().filter(is_unknown).map(|it| it.0.clone().into_owned()).collect();
        let data = |it: &&(Cow<'a, str>, &str)| {
            it.1 != "null" && object.one_of.iter().any(|member| is(member, &it.0))
        };
        let data: Vec<String> =
            members.iter().filter(data).map(|it| it.0.clone().into_owned()).collect();
        // An unknown member is removed only if the object has known content: otherwise it may be the content.
        let says = !data.is_empty() || members.iter().any(|it| it.0 == "parts");
        let says = says && unknown.len() <= MANY;
        let left = |name: &str| known(name) || !says;
        for name in unknown {
            let sentence = format!("`{}` has the unknown member `{name}`", self.path);
            let it = self.breach("unknown", "profile::unknown-member", sentence);
            // A member that may hold unread calls is not removed.
            let insertions = match says && !is_name_of_calls(&name) {
                true => Insertion::without(self.source.json, members, &name, &left),
                false => None,
            };
            let insertions = insertions.into_iter().collect();
            self.report(Breach { value: name, insertions, ..it });
        }
        if let [first, second, ..] = data.as_slice() {
            let sentence = format!("`{}` holds both `{first}` and `{second}`", self.path);
            let it = self.breach("several", "profile::shape", sentence);
            self.report(Breach { value: second.clone(), ..it });
        }
        let has = |name: &&str| of(members, name).is_some_and(|it| it != "null");
        if let Some(first) = object.one_at_least.first()
            && !object.one_at_least.iter().any(has)
        {
            self.missing(first, None);
        }
    }

    fn members(&mut self, wanted: &'static [Member], members: &Members<'a>) {
        let is_own = self.scope.is_own;
        for member in wanted.iter().filter(|it| it.is_for(is_own)) {
            let found = members.iter().rev().find(|it| is_named(self.api, &it.0, member.name));
            let value = found.map(|it| it.1);
            let forced = match value {
                None | Some("null") if member.is_required => forced_value(member, members),
                Some("\"\"") => forced_type(member, members),
                _ => None,
            };
            // The first member tells where to insert; an empty object has none.
            if let Some(forced) = forced.filter(|_| !members.is_empty()) {
                let written = Insertion::after(self.source.json, (member.name, &forced), members);
                let n = self.breaches.len();
                if let Some(value) = value.filter(|it| *it != "null" || !self.api.null_is_absent) {
                    self.below(member.name, |it| it.value(&member.value, value));
                }
                match self.breaches.get_mut(n) {
                    Some(it) => {
                        (it.default, it.insertions) = (Some(forced.into_owned()), vec![written]);
                    }
                    None => self.forced(member.name, &forced, written),
                }
                continue;
            }
            if let Some(removal) = value.and_then(|it| self.removal(member, it, members)) {
                let n = self.breaches.len();
                let value = value.unwrap_or_default();
                self.below(member.name, |it| it.value(&member.value, value));
                let breach = self.breaches.get_mut(n);
                breach.into_iter().for_each(|it| it.insertions.push(removal.clone()));
                continue;
            }
            match value {
                Some("null") if !member.is_required => {}
                Some("null") if self.api.null_is_absent => {
                    self.missing(member.name, member.default);
                }
                Some(value) => self.below(member.name, |it| it.value(&member.value, value)),
                None if member.is_required => {
                    self.missing(member.name, member.default);
                }
                None => {}
            }
        }
    }

    /// The edit that removes a member: an empty one, one that an item of Responses refuses, or one that may be removed.
    fn removal(&self, member: &Member, value: &str, members: &Members<'a>) -> Option<Insertion> {
        let is_empty = value == "\"\"" && !member.is_required;
        let is_name = member.name == "name" && self.api.path == Path::Brackets;
        let is_word = matches!(member.value.0.first(), Some(Value::Word(_)));
        let is_refused = matches!(member.value.0.as_slice(), [Value::Never])
            && self.api.list == "input"
            && value != "null";
        let is_other = |it: &str| it != member.name;
        let says_more = || {
            let words = member.value.words();
            let told = text(value).unwrap_or_default();
            value != "null" && !words.iter().any(|it| told == *it) && meant(&told, &words).is_none()
        };
        (is_empty && (is_name || is_word) || is_refused || member.may_go && says_more())
            .then(|| Insertion::without(self.source.json, members, member.name, &is_other))?
    }

    /// Reports a list whose last element must not be there. Adjacent messages of one role count as one, so only the
    /// last of them matters.
    fn not_last(&mut self, object: &'static Object, members: &Members<'a>) {
        let Some((list, refused)) = object.not_last.split_first() else { return };
        let content = of(members, list).filter(|it| it.starts_with('['));
        let blocks = content.map(elements).unwrap_or_default();
        let Some(last) = blocks.last().copied().and_then(self::members) else { return };
        if text_of(&last, "type").is_some_and(|it| refused.iter().any(|other| *other == it)) {
            let sentence = format!("`{}` ends with thinking", self.path);
            let it = self.breach("last", "profile::shape", sentence);
            let inner = Some(Inner::Part(blocks.len() - 1));
            if let Some(last) = self.last.last_mut() {
                last.1 = Some(Breach { inner, ..it });
            }
        }
    }

    fn end_of_turns(&mut self) {
        let last = std::mem::take(&mut self.last);
        let roles: Vec<&str> = last.iter().map(|it| &*it.0).collect();
        let is_end = |at: usize| roles.get(at + 1).is_none_or(|it| *it != roles[at]);
        let ends = last.iter().enumerate().filter(|it| is_end(it.0) && it.1.0 == "assistant");
        self.breaches.extend(ends.filter_map(|it| it.1.1.clone()));
    }

    fn marker(&mut self, members: &Members<'a>) {
        let Some(name) = self.api.marker.as_ref().filter(|_| !self.scope.is_again) else { return };
        let Some(value) = of(members, name).filter(|it| *it != "null") else { return };
        if let Some(wanted) = self.api.marker_type.as_ref().filter(|_| self.scope.is_own) {
            self.below(name, |it| it.value(wanted, value));
        }
        let Some(marker) = self::members(value) else { return };
        let is_long = text_of(&marker, "ttl").is_some_and(|it| it == "1h");
        let without = |members: &Members<'_>, name: &str| {
            Insertion::without(self.source.json, members, name, &|it| it != name)
        };
        let (removal, shortening) = (without(members, name), without(&marker, "ttl"));
        let (path, element) = (self.path.clone(), self.element);
        self.markers.push(Marker { path, is_long, element, removal, shortening });
    }

    pub(super) fn breach(
        &self,
        answer: &'static str,
        code: &'static str,
        sentence: String,
    ) -> Breach {
        let (element, inner) = (self.element, self.inner);
        Breach { path: self.path.clone(), element, inner, ..Breach::new(answer, code, sentence) }
    }

    pub(super) fn report(&mut self, it: Breach) {
        self.breaches.push(it);
    }

    pub(super) fn below(&mut self, name: &str, walk: impl FnOnce(&mut Self)) {
        let start = self.path.len();
        self.push(name);
        walk(self);
        self.path.truncate(start);
    }

    fn push(&mut self, name: &str) {
        if !self.path.is_empty() {
            self.path.push('.');
        }
        match self.api.path {
            Path::Snake => self.path.push_str(&snake(name)),
            _ => self.path.push_str(name),
        }
    }

    fn index(&mut self, at: usize, walk: impl FnOnce(&mut Self)) {
        let start = self.path.len();
        let written = match self.api.path {
            Path::Dots => write!(self.path, ".{at}"),
            _ => write!(self.path, "[{at}]"),
        };
        written.expect("because a text takes all that is written");
        walk(self);
        self.path.truncate(start);
    }
}
