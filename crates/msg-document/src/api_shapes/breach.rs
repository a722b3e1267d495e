//! A problem at a place of a request, its report, and its repair in the text.

use std::borrow::Cow;

use msg_json::Kind;

use super::missing::{Insertion, offset};
use super::table::{Object, Path, Type, Value};
use super::texts::said_as_text;
use super::walk::Walk;

/// A problem at one place of a request.
#[derive(Debug, Clone)]
pub(super) struct Breach {
    /// The key of the API's answer in the table of answers.
    pub(super) answer: &'static str,
    pub(super) code: &'static str,
    /// The message, with the path in the API's notation.
    pub(super) sentence: String,
    pub(super) path: String,
    /// The found value and the expected type, to fill in the answer.
    pub(super) value: String,
    pub(super) expected: String,
    pub(super) kinds: String,
    /// The value that a repair writes there, if the part is a call.
    pub(super) default: Option<String>,
    /// The edits of the text that repair it, if the rest of the request allows only one repair.
    pub(super) insertions: Vec<Insertion>,
    /// The index of the element, if the place is in a list, and the part or call in the element.
    pub(super) element: Option<usize>,
    pub(super) inner: Option<Inner>,
}

impl Breach {
    /// A problem of the request as a whole.
    pub(super) fn new(answer: &'static str, code: &'static str, sentence: String) -> Self {
        Breach {
            answer,
            code,
            sentence,
            path: String::new(),
            value: String::new(),
            expected: String::new(),
            kinds: String::new(),
            default: None,
            insertions: Vec::new(),
            element: None,
            inner: None,
        }
    }

    /// Whether the repair removes the value.
    pub(super) fn removes(&self) -> bool {
        self.insertions.iter().all(|it| it.text.is_empty())
    }

    /// The name of the member.
    pub(super) fn name(&self) -> &str {
        self.path.rsplit('.').next().unwrap_or_default()
    }
}

/// A value in an element of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Inner {
    /// A part of its content.
    Part(usize),
    /// A call next to its content.
    Call(usize),
}

/// A cache breakpoint.
#[derive(Debug)]
pub(super) struct Marker {
    pub(super) path: String,
    pub(super) is_long: bool,
    pub(super) element: Option<usize>,
    /// The edit that removes it.
    pub(super) removal: Option<Insertion>,
    /// The edit that removes its lifetime.
    pub(super) shortening: Option<Insertion>,
}

/// The expected type, in the words of the API.
fn expected(wanted: &Type, path: Path) -> String {
    let kinds = wanted.kinds();
    match (kinds.as_slice(), path) {
        ([Kind::String, Kind::Array], Path::Brackets) => {
            "one of a string or array of objects".to_owned()
        }
        _ => kinds.iter().map(|it| word(*it, path)).collect::<Vec<_>>().join(" or "),
    }
}

fn word(kind: Kind, path: Path) -> &'static str {
    match (path, kind) {
        (Path::Dots, Kind::String) => "a valid string",
        (Path::Dots, Kind::Array) => "a valid list",
        (Path::Dots, Kind::Object) => "a valid dictionary",
        (Path::Dots, Kind::Bool) => "a valid boolean",
        (Path::Snake, Kind::String) => "TYPE_STRING",
        (Path::Snake, Kind::Bool) => "TYPE_BOOL",
        (_, kind) => kind.name(),
    }
}

// Reports values that are missing, of the wrong type or of an unknown kind.

impl<'a> Walk<'a> {
    pub(super) fn missing(&mut self, name: &str, default: Option<&str>) {
        let default = default.map(str::to_owned);
        self.below(name, |it| {
            let sentence = format!("`{}` is missing", it.path);
            let breach = it.breach("missing", "profile::missing-member", sentence);
            it.report(Breach { default, ..breach });
        });
    }

    /// Reports a missing kind that could be one of several.
    pub(super) fn missing_tag(&mut self, object: &'static Object, has: &dyn Fn(&str) -> bool) {
        let kinds = object.kinds.iter().filter(|it| self.api.fit(it.1, has).is_some());
        let kinds: Vec<_> = kinds.map(|it| format!("`{}`", it.0)).collect();
        let n = self.breaches.len();
        self.missing(object.tag.unwrap_or_default(), object.default);
        if let (Some(it), 2..=4) = (self.breaches.get_mut(n), kinds.len()) {
            it.sentence = format!("{}, expected {}", it.sentence, kinds.join(" or "));
        }
    }

    pub(super) fn forced(&mut self, name: &str, value: &str, written: Insertion) {
        self.below(name, |it| {
            let sentence = format!("`{}` is missing", it.path);
            let breach = it.breach("missing", "profile::missing-member", sentence);
            let (default, insertions) = (Some(value.to_owned()), vec![written]);
            it.report(Breach { default, insertions, ..breach });
        });
    }

    /// Reports a value of a wrong type, and repairs it if it means the same as a value of the right type.
    pub(super) fn other_type(&mut self, wanted: &Type, found: Kind, json: &'a str) {
        self.wrong_type(wanted, found, json);
        if found == Kind::Object && wanted.0.iter().any(|it| matches!(it, Value::JsonText)) {
            let meant = msg_json::to_text(|it| it.str(json));
            return self.write_last(json, meant);
        }
        let object = |it: &Value| match it {
            Value::Object(name) => self.api.object(name)?.meant(json),
            _ => None,
        };
        let meant = wanted.0.iter().find_map(object).map(Cow::Owned);
        if let Some(meant) = meant.or_else(|| said_as_text(wanted, json)) {
            self.mend_last(json, meant);
        }
    }

    /// Sets the correct value for the last problem.
    pub(super) fn mend_last(&mut self, json: &str, meant: Cow<'static, str>) {
        self.write_last(json, meant.clone().into_owned());
        if let Some(it) = self.breaches.last_mut() {
            it.default = Some(meant.into_owned());
        }
    }

    /// As [`Walk::mend_last`], for a value that is too long for a message.
    fn write_last(&mut self, json: &str, text: String) {
        let start = offset(self.source.json, json);
        let place = start..start + json.len();
        if let Some(it) = self.breaches.last_mut() {
            it.insertions.push(Insertion { place, text });
        }
    }

    pub(super) fn wrong_type(&mut self, wanted: &Type, found: Kind, json: &str) {
        let kinds: Vec<_> = wanted.kinds().into_iter().map(Kind::name).collect();
        let (told, found_name) = (kinds.join(" or "), found.name());
        let expected = expected(wanted, self.api.path);
        let sentence = format!("`{}` must be {told}, found {found_name}", self.path);
        let it = self.breach("type", "profile::shape", sentence);
        let value = json.chars().take(40).collect();
        self.report(Breach { expected, value, kinds: found_name.to_owned(), ..it });
    }

    pub(super) fn unknown_kind(
        &mut self,
        (tag, kind): (&str, &str),
        known: Vec<&str>,
        default: Option<&str>,
    ) {
        let place = self.path.clone();
        let (code, value) = ("profile::unknown-kind", kind.to_owned());
        let kinds = known.iter().map(|it| format!("'{it}'")).collect::<Vec<_>>().join(", ");
        let sentence = format!("`{place}` is of the unknown {tag} `{kind}`");
        let it = self.breach("kind", code, sentence);
        let default = default.map(str::to_owned);
        self.report(Breach { value, kinds, default, ..it });
    }
}
