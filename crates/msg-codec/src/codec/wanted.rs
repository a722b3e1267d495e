//! The required type of each member of an object, and the intended object if one has another type (MS-29).
//!
//! ```text
//! {"role":"user","content":{"type":"text","text":"hi"}}   ─▶  "content":[{"type":"text","text":"hi"}]
//! {"role":"tool","content":{"temp":20}}                   ─▶  "content":"{\"temp\":20}"
//! ```
//!
//! A format supplies tables; this code knows no format. A reader uses it only after it has found an
//! unexpected value ([`read_mended`](super::read_mended)), so valid documents have no cost.

use msg_json::{Kind, Reader, to_text, write_compact};

use super::fields::{text_of, type_of};
use super::layout::argument_text;
use super::losses::has_owned_member;

/// The required type of a value.
#[derive(Clone, Copy)]
pub enum Want {
    /// Anything.
    Any,
    /// A text. Other values become their JSON text.
    Text,
    /// A text, but null does not count as one.
    Name,
    /// A text or a number. Other values become their JSON text.
    Id,
    /// A text whose value is meaningless if it had another type, such as a signature or base64.
    Opaque,
    /// True or false.
    Flag,
    /// An object, or a text that contains one.
    Arguments,
    /// A word that follows from the other members; a value of another kind becomes this one.
    Word(&'static str),
    /// An object of this form, or a text that contains one.
    Object(&'static Wants),
    /// An object whose `type` determines its form, if known.
    Typed(fn(&str) -> Option<&'static Wants>),
    /// A list of such objects; an object becomes a list of one, and a text may contain either.
    Objects(&'static Wants),
    /// A value of this kind, kept unchanged, or else the required type.
    Or(Kind, &'static Want),
    /// A text, or a list of parts; a part becomes a list of one.
    Content(&'static Parts),
}

/// The required types of an object's members.
pub struct Wants {
    /// The inspected members, and their types.
    pub members: &'static [(&'static str, Want)],
    /// The object must have a member from each of these lists.
    pub needs: &'static [&'static [&'static str]],
    /// An object in place of a list is treated as an element if it has one of these members.
    pub marks: &'static [&'static str],
    /// The member for a text in place of the object.
    pub bare: Option<&'static str>,
}

impl Wants {
    /// The inspected members, and those that an object must have.
    #[must_use]
    pub const fn new(
        members: &'static [(&'static str, Want)],
        needs: &'static [&'static [&'static str]],
    ) -> Self {
        Self { members, needs, marks: &[], bare: None }
    }
}

/// The required types of the parts of a content.
pub struct Parts {
    /// The form of the part in this object; [`Found::NoPart`] if it is not a part.
    pub of: fn(&str) -> Found,
    /// The part for a text.
    pub text: fn(&str) -> String,
    /// Whether strings are allowed among parts.
    pub may_be_bare: bool,
    /// Whether the content may be a string.
    pub may_be_text: bool,
    /// Whether the content may be null, or an empty list.
    pub may_be_null: bool,
    /// Whether a list without any part is a value by itself, such as tool output.
    pub may_be_value: bool,
    /// The members of which a part may have one, in both spellings; empty if a type determines the kind.
    pub kinds: &'static [(&'static str, &'static str)],
}

/// The classification of an object among parts.
#[derive(Clone, Copy)]
pub enum Found {
    /// A part of a known form.
    Known(&'static Wants),
    /// A part of an unknown form.
    Unknown,
    /// An object that does not look like a part.
    NoPart,
}

impl Parts {
    /// Parts of these forms, and the part for a text; a content is a list of them that is not empty.
    #[must_use]
    pub const fn new(of: fn(&str) -> Found, text: fn(&str) -> String) -> Self {
        Self {
            of,
            text,
            may_be_bare: false,
            may_be_text: false,
            may_be_null: false,
            may_be_value: false,
            kinds: &[],
        }
    }

    /// The part of the type `text` whose text is in this member: `{"type":"text","content":…}`.
    #[must_use]
    pub fn typed_text(member: &str, text: &str) -> String {
        to_text(|it| {
            it.object(|it| {
                it.key("type").str("text");
                it.key(member).str(text);
            });
        })
    }

    /// The parts for an object with the members of several parts, and these members. Other members go with its text if
    /// it is marked as reasoning, otherwise with the last part.
    fn apart(&self, source: &str) -> Option<(Vec<String>, Vec<String>)> {
        let mut reader = Reader::from_text(source);
        reader.begin_object().ok().filter(|()| !self.kinds.is_empty())?;
        let (mut kinds, mut others) = (Vec::new(), Vec::new());
        while let Some(key) = reader.next_key().ok()? {
            let is_null = reader.peek().ok()? == Kind::Null;
            let member = (key.text.into_owned(), reader.raw().ok()?);
            let is_kind = |it: &&(&str, &str)| it.0 == member.0 || it.1 == member.0;
            match self.kinds.iter().position(|it| is_kind(&it)) {
                Some(_) if is_null => {}
                Some(kind) if kinds.iter().any(|it: &(usize, _)| it.0 == kind) => return None,
                Some(kind) => kinds.push((kind, member)),
                None => others.push(member),
            }
        }
        (kinds.len() >= 2).then_some(())?;
        // The call gets the signature.
        kinds.sort_by_key(|it| it.0);
        let names = kinds.iter().map(|it| format!("`{}`", it.1.0)).collect();
        let last = kinds.len() - 1;
        let parts = kinds.iter().enumerate().map(|(at, (_, (name, value)))| {
            let is_own = |it: &&(String, &str)| at == if it.0 == "thought" { 0 } else { last };
            to_text(|out| {
                out.object(|out| {
                    out.key(name).raw(value);
                    others.iter().filter(is_own).for_each(|it| out.key(&it.0).raw(it.1));
                });
            })
        });
        Some((names, parts.collect()))
    }

    /// Identifies parts by the text of their `type`.
    pub fn by_type(source: &str, known: fn(&str) -> Option<&'static Wants>) -> Found {
        match type_of(Reader::from_text(source)) {
            Ok(Some(kind)) => known(&kind).map_or(Found::Unknown, Found::Known),
            _ if has_owned_member(source) => Found::Unknown,
            _ => Found::NoPart,
        }
    }
}

/// The intended object, and the problems of the original.
pub struct Mended {
    /// JSON text.
    pub json: String,
    /// A sentence for each value of the wrong type.
    pub notes: Vec<String>,
}

impl Want {
    /// The intended value for one with this name; `None` if it is valid, or cannot be interpreted. Linear in the text.
    #[must_use]
    pub fn mend(&self, name: &str, source: &str) -> Option<Mended> {
        let mut mender = Mender { path: name.to_owned(), notes: Vec::new() };
        match mender.value(self, source) {
            Outcome::New(json) => Some(Mended { json, notes: mender.notes }),
            _ => None,
        }
    }

    /// Whether an element is read even if a member has a value that cannot be interpreted this way.
    fn may_be_carried(&self) -> bool {
        matches!(self, Self::Object(_) | Self::Objects(_))
    }

    /// The required type in words.
    fn expected(&self) -> String {
        match self {
            Self::Any => "a value".to_owned(),
            Self::Text | Self::Id | Self::Opaque | Self::Name => "a string".to_owned(),
            Self::Flag => "true or false".to_owned(),
            Self::Arguments | Self::Object(_) | Self::Typed(_) => "an object".to_owned(),
            Self::Word(word) => format!("`{word}`"),
            Self::Objects(_) => "a list of objects".to_owned(),
            Self::Or(kind, want) => format!("{} or {}", kind.name(), want.expected()),
            Self::Content(Parts { may_be_text: true, .. }) => {
                "a string or a list of parts".to_owned()
            }
            Self::Content(_) => "a list of parts".to_owned(),
        }
    }
}

/// The result for a value.
enum Outcome {
    /// It is valid.
    Same,
    /// The intended value.
    New(String),
    /// It cannot be interpreted.
    Not,
}

/// Walks an object along its required types.
struct Mender {
    /// The current path.
    path: String,
    notes: Vec<String>,
}

impl Mender {
    fn value(&mut self, want: &Want, source: &str) -> Outcome {
        let Ok(kind) = Reader::from_text(source).peek() else { return Outcome::Same };
        match (want, kind) {
            (Want::Any, _) | (Want::Text | Want::Opaque | Want::Id | Want::Name, Kind::String) => {
                Outcome::Same
            }
            (Want::Or(fine, _), _) if *fine == kind => Outcome::Same,
            (Want::Or(_, want), _) => self.value(want, source),
            (Want::Id, Kind::Number) | (Want::Flag, Kind::Bool) => Outcome::Same,
            (Want::Word(_), Kind::String) | (Want::Arguments, Kind::Object) => Outcome::Same,
            (Want::Content(Parts { may_be_text: true, .. }), Kind::String) => Outcome::Same,
            (Want::Name, Kind::Null) => Outcome::Not,
            (Want::Content(Parts { may_be_null: false, .. }), Kind::Null) => {
                self.found(want, source, "\"\"".to_owned())
            }
            (_, Kind::Null) if !matches!(want, Want::Word(_)) => Outcome::Same,
            (Want::Text | Want::Id | Want::Name, _) => {
                self.found(want, source, json_string(source))
            }
            (Want::Opaque, _) => Outcome::Not,
            (Want::Word(word), _) => {
                self.note(&want.expected(), source);
                self.left_out(source);
                Outcome::New(to_text(|it| it.str(word)))
            }
            (Want::Flag, _) => match source.trim_matches('"') {
                it @ ("true" | "false") => self.found(want, source, it.to_owned()),
                _ => Outcome::Not,
            },
            (Want::Arguments, _) => match held(source).filter(|it| it.starts_with('{')) {
                Some(text) => self.found(want, source, text),
                None => Outcome::Same,
            },
            (Want::Object(of), Kind::Object) => self.object(of, source),
            (Want::Typed(of), Kind::Object) => match Parts::by_type(source, *of) {
                Found::Known(wants) => self.object(wants, source),
                Found::Unknown => Outcome::Same,
                Found::NoPart => Outcome::Not,
            },
            (Want::Typed(_), _) => Outcome::Not,
            (Want::Object(of), _) => self.held_object(want, of, source),
            (Want::Objects(of), Kind::Array) => self.objects(of, source),
            (Want::Objects(of), _) => self.held_objects(want, of, source),
            (Want::Content(of), Kind::Array) => self.parts(want, of, source),
            (Want::Content(of), _) => self.lone_part(want, of, source),
        }
    }

    /// Notes an invalid value, and returns its interpretation.
    fn found(&mut self, want: &Want, source: &str, meant: String) -> Outcome {
        self.note(&want.expected(), source);
        Outcome::New(meant)
    }

    fn note(&mut self, expected: &str, source: &str) {
        let found = Reader::from_text(source).peek().map_or("nothing", Kind::name);
        self.notes.push(format!("{} must be {expected}, found {found}", self.path));
    }

    /// Adds to the last note that the value is dropped, and what it was.
    fn left_out(&mut self, source: &str) {
        if let Some(note) = self.notes.last_mut() {
            note.push_str(&format!("; `{}` is left out", shortened(source)));
        }
    }

    /// The members of an object; fails if a required one is missing.
    fn object(&mut self, of: &Wants, source: &str) -> Outcome {
        let (mut has_changed, mut found, mut members) = (false, Vec::new(), Vec::new());
        let n_notes = self.notes.len();
        let mut reader = Reader::from_text(source);
        if reader.begin_object().is_err() {
            return Outcome::Not;
        }
        while let Ok(Some(key)) = reader.next_key() {
            let Ok(value) = reader.raw() else { return Outcome::Not };
            let Some((name, want)) = of.members.iter().find(|it| it.0 == key.text) else {
                members.push((key.text, value.to_owned()));
                continue;
            };
            match self.member(name, want, of.needs_one(name), value) {
                Member::Same => members.push((key.text, value.to_owned())),
                Member::New(json) => {
                    has_changed = true;
                    members.push((key.text, json));
                }
                Member::Gone => {
                    has_changed = true;
                    continue;
                }
                Member::Lacking => continue,
            }
            found.push(*name);
        }
        let lacks = |names: &&[&str]| !names.iter().any(|it| found.contains(it));
        if of.needs.iter().any(lacks) {
            if self.notes.len() == n_notes {
                let needs: Vec<_> = of.needs.iter().map(|it| it.join(" or ")).collect();
                self.notes.push(format!("{} must have {}", self.path, needs.join(" and ")));
            }
            return Outcome::Not;
        }
        if !has_changed {
            return Outcome::Same;
        }
        Outcome::New(to_text(|it| {
            it.object(|it| members.iter().for_each(|(name, value)| it.key(name).raw(value)));
        }))
    }

    fn member(&mut self, name: &str, want: &Want, is_needed: bool, value: &str) -> Member {
        let (before, n_notes) = (self.path.len(), self.notes.len());
        self.path.push_str(if before == 0 { "" } else { "." });
        self.path.push_str(name);
        let res = match self.value(want, value) {
            Outcome::Same if is_needed && value == "null" => match want {
                Want::Text => {
                    self.note("a string", value);
                    Member::New("\"\"".to_owned())
                }
                _ => Member::Lacking,
            },
            Outcome::Same => Member::Same,
            Outcome::New(json) => Member::New(json),
            Outcome::Not if is_needed => {
                if self.notes.len() == n_notes {
                    self.note(&want.expected(), value);
                }
                Member::Lacking
            }
            // A reader carries it among the unknown members and reports that.
            Outcome::Not if before == 0 && want.may_be_carried() => {
                self.notes.truncate(n_notes);
                Member::Same
            }
            Outcome::Not => {
                if self.notes.len() == n_notes {
                    self.note(&want.expected(), value);
                }
                self.left_out(value);
                Member::Gone
            }
        };
        self.path.truncate(before);
        res
    }

    /// An object inside a text, or for a text.
    fn held_object(&mut self, want: &Want, of: &Wants, source: &str) -> Outcome {
        let meant = match (held(source).filter(|it| it.starts_with('{')), of.bare) {
            (Some(object), _) => object,
            (None, Some(name)) if source.starts_with('"') => {
                to_text(|it| it.object(|it| it.key(name).str(&plain(source))))
            }
            _ => return Outcome::Not,
        };
        self.note(&want.expected(), source);
        match self.object(of, &meant) {
            Outcome::Same => Outcome::New(meant),
            other => other,
        }
    }

    fn objects(&mut self, of: &Wants, source: &str) -> Outcome {
        let (mut has_changed, mut list) = (false, Vec::new());
        for (at, element) in elements(source).enumerate() {
            let (before, n_notes) = (self.path.len(), self.notes.len());
            self.path.push_str(&format!("[{at}]"));
            let outcome = match Reader::from_text(element).peek() {
                Ok(Kind::Object) => self.object(of, element),
                _ => self.held_object(&Want::Any, of, element),
            };
            match outcome {
                Outcome::Same => list.push(element.to_owned()),
                // A missing member is reported elsewhere, and other values are carried.
                Outcome::Not => {
                    self.notes.truncate(n_notes);
                    list.push(element.to_owned());
                }
                Outcome::New(json) => {
                    has_changed = true;
                    list.push(json);
                }
            }
            self.path.truncate(before);
        }
        if has_changed { Outcome::New(array(&list)) } else { Outcome::Same }
    }

    /// A list for one of its elements, or for a text that contains it.
    fn held_objects(&mut self, want: &Want, of: &Wants, source: &str) -> Outcome {
        let text = held(source);
        let source = text.as_deref().unwrap_or(source);
        let list = match (source.as_bytes().first(), numbered(source)) {
            (_, Some(values)) => array(&values),
            (Some(b'['), _) => source.to_owned(),
            (Some(b'{'), _) if of.is_marked(source) => array(&[source.to_owned()]),
            (Some(b'"'), _) if of.bare.is_some() => array(&[source.to_owned()]),
            _ => return Outcome::Not,
        };
        self.note(&want.expected(), source);
        match self.objects(of, &list) {
            Outcome::Same => Outcome::New(list),
            other => other,
        }
    }

    fn parts(&mut self, want: &Want, of: &Parts, source: &str) -> Outcome {
        let is_part = |it: &str| match it.as_bytes().first() {
            Some(b'"') => true,
            Some(b'{') => !matches!((of.of)(it), Found::NoPart),
            _ => false,
        };
        match elements(source).next() {
            None if of.may_be_null => return Outcome::Same,
            None => return self.found(want, source, "\"\"".to_owned()),
            Some(_) if of.may_be_value && !elements(source).any(is_part) => {
                return self.whole(want, of, source);
            }
            Some(_) => {}
        }
        let (mut has_changed, mut list) = (false, Vec::new());
        for (at, element) in elements(source).enumerate() {
            let before = self.path.len();
            self.path.push_str(&format!("[{at}]"));
            let apart = of.apart(element);
            if let Some((names, _)) = &apart {
                self.notes.push(format!("{} must hold one of {}", self.path, names.join(", ")));
            }
            has_changed |= apart.is_some();
            for piece in apart.map_or_else(|| vec![element.to_owned()], |it| it.1) {
                match self.part(of, &piece) {
                    Outcome::New(json) => {
                        has_changed = true;
                        list.push(json);
                    }
                    _ => list.push(piece),
                }
            }
            self.path.truncate(before);
        }
        if has_changed { Outcome::New(array(&list)) } else { Outcome::Same }
    }

    /// An element of a content. An invalid part is carried unchanged, like a part of an unknown type.
    fn part(&mut self, of: &Parts, source: &str) -> Outcome {
        let n_notes = self.notes.len();
        match source.as_bytes().first() {
            Some(b'"') if !of.may_be_bare => {
                self.note("a part", source);
                Outcome::New((of.text)(&plain(source)))
            }
            Some(b'{') => match (of.of)(source) {
                Found::Known(wants) => match self.object(wants, source) {
                    Outcome::Not => {
                        self.notes.truncate(n_notes);
                        Outcome::Same
                    }
                    other => other,
                },
                Found::Unknown | Found::NoPart => Outcome::Same,
            },
            _ => Outcome::Same,
        }
    }

    /// A single part; anything else becomes a text.
    fn lone_part(&mut self, want: &Want, of: &Parts, source: &str) -> Outcome {
        let is_known = |it: &str| it.starts_with('{') && matches!((of.of)(it), Found::Known(_));
        if let Some(values) = numbered(source).filter(|it| it.iter().all(|it| is_known(it))) {
            self.note(&want.expected(), source);
            let list = array(&values);
            return match self.parts(want, of, &list) {
                Outcome::Same => Outcome::New(list),
                other => other,
            };
        }
        if !is_known(source) {
            return self.whole(want, of, source);
        }
        self.note(&want.expected(), source);
        let part = match self.part(of, source) {
            Outcome::New(json) => json,
            _ => source.to_owned(),
        };
        Outcome::New(array(&[part]))
    }

    /// A value that becomes a text as a whole.
    fn whole(&mut self, want: &Want, of: &Parts, source: &str) -> Outcome {
        self.note(&want.expected(), source);
        Outcome::New(match of.may_be_text {
            true => json_string(source),
            false => array(&[(of.text)(&plain(source))]),
        })
    }
}

/// The result for a member.
enum Member {
    Same,
    New(String),
    /// It is dropped.
    Gone,
    /// It is kept, but the object lacks a required member.
    Lacking,
}

impl Wants {
    fn needs_one(&self, name: &str) -> bool {
        self.needs.iter().any(|it| it.contains(&name))
    }

    fn is_marked(&self, source: &str) -> bool {
        let mut reader = Reader::from_text(source);
        if reader.begin_object().is_err() {
            return false;
        }
        while let Ok(Some(key)) = reader.next_key() {
            if self.marks.contains(&&*key.text) {
                return true;
            }
            if reader.raw().is_err() {
                return false;
            }
        }
        false
    }
}

/// The elements of an array.
fn elements(source: &str) -> impl Iterator<Item = &str> {
    let mut reader = Reader::from_text(source);
    let mut is_open = reader.begin_array().is_ok();
    std::iter::from_fn(move || {
        is_open = is_open && reader.next_element().unwrap_or(false);
        if is_open { reader.raw().ok() } else { None }
    })
}

/// The objects of an object whose member names are numbers, which is how PHP writes a filtered list.
fn numbered(source: &str) -> Option<Vec<String>> {
    let (mut reader, mut res) = (Reader::from_text(source), Vec::new());
    reader.begin_object().ok()?;
    while let Some(key) = reader.next_key().ok()? {
        let value = reader.raw().ok()?;
        let is_number = !key.text.is_empty() && key.text.bytes().all(|it| it.is_ascii_digit());
        (is_number && value.starts_with('{')).then(|| res.push(value.to_owned()))?;
    }
    Some(res).filter(|it| !it.is_empty())
}

fn array(elements: &[String]) -> String {
    to_text(|it| it.array(elements, |it, element| it.raw(element)))
}

/// The text of a value: of a string, or its JSON.
fn plain(source: &str) -> String {
    text_of(source).map_or_else(|| json_text(source), |it| it.0.into_owned())
}

/// JSON text without white space between its tokens.
fn json_text(source: &str) -> String {
    let mut out = Vec::with_capacity(source.len());
    write_compact(&mut out, source);
    argument_text(&String::from_utf8_lossy(&out))
}

fn json_string(source: &str) -> String {
    to_text(|it| it.str(&json_text(source)))
}

/// The JSON object or array inside a string.
fn held(source: &str) -> Option<String> {
    let (text, is_broken) = text_of(source)?;
    let text = text.trim_ascii();
    let holds = !is_broken && text.starts_with(['{', '[']) && msg_json::validate(text).is_ok();
    holds.then(|| text.to_owned())
}

/// A value, cut if it is long.
fn shortened(source: &str) -> String {
    const MOST: usize = 200;
    let text = json_text(source);
    match text.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
