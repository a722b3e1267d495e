//! The shapes of each API's messages from the files in `shapes`, each read once and found by name.
//!
//! ```text
//! "blob": {"closed": true, "members": {"mimeType!": "string+", "data!": "base64", "displayName": "string"}}
//!           no other member           a text, required, not empty  required               optional
//! "part": {"members": {"citations?": "citations"}}               looked at for who defines the format alone
//! "citations": {"meant": {"true": "{'enabled':true}"}, …}        a value of another type, and what a repair writes for it
//! "call": {"tag": "type", "default": "function", "kinds": {"function": {"arguments!={}": "string"}}}
//!           what it is says `type`                                      required; a repair writes `{}`
//! ```

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use msg_json::Kind;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// The messages of one API.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Api {
    /// The member that holds the messages.
    pub(super) list: &'static str,
    /// Whether other providers have requests of this format.
    #[serde(default)]
    pub(super) is_taken_over: bool,
    /// How places are written in answers.
    #[serde(default)]
    pub(super) path: Path,
    /// The members of a request that are checked, in the API's order.
    #[serde(deserialize_with = "in_order")]
    pub(super) members: Vec<Member>,
    /// The members for settings.
    #[serde(default, deserialize_with = "in_order")]
    pub(super) settings: Vec<Member>,
    /// Required members that may be missing if the request has another member. For example, `model` is in the URL if
    /// the request has Anthropic's version member.
    #[serde(default, borrow)]
    pub(super) elsewhere: BTreeMap<&'static str, &'static str>,
    /// The member of an element whose value must be unique in the list.
    #[serde(default)]
    pub(super) unique: Option<&'static str>,
    /// The member that asks for a cache breakpoint.
    #[serde(default)]
    pub(super) marker: Option<&'static str>,
    /// The type of that member, for the provider that defines the format.
    #[serde(default)]
    pub(super) marker_type: Option<Type>,
    /// The member of a part that only marks the part before it.
    #[serde(default)]
    pub(super) attached: Option<&'static str>,
    /// Whether `null` counts as a missing member.
    #[serde(default)]
    pub(super) null_is_absent: bool,
    /// The API's answer to each kind of breach, if known.
    pub(super) answers: BTreeMap<String, String>,
    #[serde(borrow)]
    types: BTreeMap<&'static str, Object>,
}

/// The notation for paths in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Path {
    /// `messages[0].content`
    #[default]
    Brackets,
    /// `messages.0.content`
    Dots,
    /// `contents[0].parts[0].inline_data`
    Snake,
}

/// An object of an API.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Object {
    /// The member that tells its kind, if there is one.
    #[serde(default)]
    pub(super) tag: Option<&'static str>,
    /// Its type without that member. If not set, the member is required.
    #[serde(default)]
    pub(super) untagged: Option<Type>,
    /// The kind that a repair writes.
    #[serde(default)]
    pub(super) default: Option<&'static str>,
    /// Whether paths into the object contain its kind.
    #[serde(default)]
    pub(super) in_path: bool,
    /// Whether there may be kinds that the table does not list.
    #[serde(default)]
    pub(super) open: bool,
    #[serde(default, borrow)]
    pub(super) kinds: BTreeMap<&'static str, Shape>,
    #[serde(default, deserialize_with = "in_order")]
    pub(super) members: Vec<Member>,
    /// Members of which exactly one must be present.
    #[serde(default, deserialize_with = "in_order")]
    pub(super) one_of: Vec<Member>,
    /// Members of which at least one must be present.
    #[serde(default, borrow)]
    pub(super) one_at_least: Vec<&'static str>,
    /// Whether the API refuses all other members.
    #[serde(default)]
    pub(super) closed: bool,
    /// Values of other types, each with the object that means the same; `'` for `"`.
    #[serde(default, borrow)]
    pub(super) meant: BTreeMap<&'static str, &'static str>,
    /// A member with a list, then the kinds that its last element must not have.
    #[serde(default, borrow)]
    pub(super) not_last: Vec<&'static str>,
}

impl Object {
    /// The object that means the same as a value of another type, if there is one.
    pub(super) fn meant(&self, json: &str) -> Option<String> {
        const LONGEST: usize = 40;
        let is_short = !self.meant.is_empty() && json.len() <= LONGEST;
        let word = is_short.then(|| json.split_ascii_whitespace().collect::<String>())?;
        let word = word.replace('"', "'");
        self.meant.get(&*word).map(|it| it.replace('\'', "\""))
    }
}

/// The shape of an object of one kind.
#[derive(Debug)]
pub(super) enum Shape {
    /// The shape of a named type.
    Named(Type),
    /// Has these members.
    Members(Vec<Member>),
}

/// A member of an object.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) name: &'static str,
    pub(super) is_required: bool,
    /// The value that a repair writes if the member is missing.
    pub(super) default: Option<&'static str>,
    /// Whether it applies only to the provider that defines the format, instead of another entry of this name.
    pub(super) is_own: bool,
    /// Whether another entry of this name applies to the provider that defines the format.
    pub(super) has_own: bool,
    /// Whether a repair removes it if the API has no word for its value.
    pub(super) may_go: bool,
    pub(super) value: Type,
}

/// The alternatives for a value.
#[derive(Debug)]
pub(super) struct Type(pub(super) Vec<Value>);

/// One alternative for a value.
#[derive(Debug)]
pub(super) enum Value {
    Any,
    /// Always refused.
    Never,
    /// Of a kind that the API accepts only in other places.
    Misplaced,
    Of(Kind),
    /// A text that is not empty.
    FullText,
    /// Base64.
    Base64,
    /// Base64, or a data URL with base64.
    Data,
    /// A URL, or a data URL with base64.
    Address,
    /// A text that contains a JSON object.
    JsonText,
    /// This text, or another `Word` of the same type.
    Word(&'static str),
    List(Type),
    /// The object of this name.
    Object(&'static str),
}

static OPENAI: LazyLock<Api> = LazyLock::new(|| Api::read(include_str!("shapes/openai.json")));
static RESPONSES: LazyLock<Api> =
    LazyLock::new(|| Api::read(include_str!("shapes/responses.json")));
static ANTHROPIC: LazyLock<Api> =
    LazyLock::new(|| Api::read(include_str!("shapes/anthropic.json")));
static GEMINI: LazyLock<Api> = LazyLock::new(|| Api::read(include_str!("shapes/gemini.json")));
static BEDROCK: LazyLock<Api> = LazyLock::new(|| Api::read(include_str!("shapes/bedrock.json")));
static INTERACTIONS: LazyLock<Api> =
    LazyLock::new(|| Api::read(include_str!("shapes/interactions.json")));

impl Api {
    /// The API whose requests have this format.
    pub(super) fn of_format(format: &str) -> Option<&'static Api> {
        match format {
            "openai" => Some(&OPENAI),
            "responses" => Some(&RESPONSES),
            "anthropic" => Some(&ANTHROPIC),
            "gemini" => Some(&GEMINI),
            "bedrock" => Some(&BEDROCK),
            "interactions" => Some(&INTERACTIONS),
            _ => None,
        }
    }

    fn read(shapes: &'static str) -> Self {
        serde_json::from_str(shapes).expect("because a test reads each")
    }

    pub(super) fn object(&self, name: &str) -> Option<&Object> {
        self.types.get(name)
    }

    /// How many required members of a shape an object has. `None` if it lacks one that has no default, or if no member
    /// points to this shape.
    pub(super) fn fit(&self, shape: &Shape, has: &dyn Fn(&str) -> bool) -> Option<usize> {
        match shape {
            Shape::Members(members) => fit(members, &[], has),
            Shape::Named(named) => self.fit_of_type(named, has),
        }
    }

    /// As [`Api::fit`], for a type.
    pub(super) fn fit_of_type(&self, named: &Type, has: &dyn Fn(&str) -> bool) -> Option<usize> {
        let object = named.0.iter().find_map(|it| match it {
            Value::Object(name) => self.object(name),
            _ => None,
        })?;
        fit(&object.members, &object.one_at_least, has)
    }

    /// Whether the API has this kind of object, or a member that tells this kind, or allows elements of any kind.
    pub(super) fn has_kind(&self, kind: &str) -> bool {
        let is_step = |name: &&str| matches!(*name, "step" | "block");
        self.names_kind(kind) || self.types.iter().any(|(name, it)| it.open && is_step(name))
    }

    /// Whether the table lists this kind of object, or a member that tells this kind.
    pub(super) fn names_kind(&self, kind: &str) -> bool {
        let is_one_of = |it: &Object| it.one_of.iter().any(|it| it.name == kind);
        self.types.values().any(|it| it.kinds.contains_key(kind) || is_one_of(it))
    }

    /// Names of objects that the table uses and does not define.
    #[cfg(test)]
    pub(super) fn unknown_names(&self) -> Vec<&'static str> {
        let mut members: Vec<&Member> = self.members.iter().chain(&self.settings).collect();
        let mut types: Vec<&Type> = Vec::new();
        for object in self.types.values() {
            members.extend(object.members.iter().chain(&object.one_of));
            types.extend(&object.untagged);
            for shape in object.kinds.values() {
                match shape {
                    Shape::Named(it) => types.push(it),
                    Shape::Members(it) => members.extend(it),
                }
            }
        }
        types.extend(members.iter().map(|it| &it.value));
        types.extend(&self.marker_type);
        let mut res = Vec::new();
        while let Some(it) = types.pop() {
            for value in &it.0 {
                match value {
                    Value::List(inner) => types.push(inner),
                    Value::Object(name) if self.object(name).is_none() => res.push(*name),
                    _ => {}
                }
            }
        }
        res
    }
}

fn fit(members: &[Member], one_at_least: &[&str], has: &dyn Fn(&str) -> bool) -> Option<usize> {
    let required = || members.iter().filter(|it| it.is_required);
    let lacks = required().any(|it| it.default.is_none() && !has(it.name))
        || !one_at_least.is_empty() && !one_at_least.iter().any(|it| has(it));
    let n = required().filter(|it| has(it.name)).count() + usize::from(!one_at_least.is_empty());
    (!lacks && n > 0).then_some(n)
}

impl Type {
    /// The words that it allows.
    pub(super) fn words(&self) -> Vec<&'static str> {
        let word = |it: &Value| if let Value::Word(it) = it { Some(*it) } else { None };
        self.0.iter().filter_map(word).collect()
    }

    /// The JSON kinds that it allows, without duplicates.
    pub(super) fn kinds(&self) -> Vec<Kind> {
        let mut res: Vec<_> = self.0.iter().filter_map(Value::kind).collect();
        res.dedup();
        res
    }

    fn of(text: &'static str) -> Self {
        let mut depth = 0_i32;
        let at_the_top = |it: char| {
            depth += i32::from(it == '[') - i32::from(it == ']');
            it == '|' && depth == 0
        };
        Type(text.split(at_the_top).map(Value::of).collect())
    }
}

impl Value {
    fn of(word: &'static str) -> Self {
        if let Some(inner) = word.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
            return Value::List(Type::of(inner));
        }
        if let Some(text) = word.strip_prefix('\'').and_then(|it| it.strip_suffix('\'')) {
            return Value::Word(text);
        }
        match word {
            "any" => Value::Any,
            "never" => Value::Never,
            "misplaced" => Value::Misplaced,
            "string" => Value::Of(Kind::String),
            "string+" => Value::FullText,
            "base64" => Value::Base64,
            "data" => Value::Data,
            "address" => Value::Address,
            "json-text" => Value::JsonText,
            "bool" => Value::Of(Kind::Bool),
            "number" => Value::Of(Kind::Number),
            "object" => Value::Of(Kind::Object),
            "array" => Value::Of(Kind::Array),
            name => Value::Object(name),
        }
    }

    /// The JSON kind of the value; `None` for any kind.
    pub(super) fn kind(&self) -> Option<Kind> {
        match self {
            Value::Any | Value::Never | Value::Misplaced => None,
            Value::Of(kind) => Some(*kind),
            Value::FullText
            | Value::Base64
            | Value::Data
            | Value::Address
            | Value::JsonText
            | Value::Word(_) => Some(Kind::String),
            Value::List(_) => Some(Kind::Array),
            Value::Object(_) => Some(Kind::Object),
        }
    }
}

// Reads shapes as the files write them: a word, or members in the order of the file.

impl<'de: 'static> Deserialize<'de> for Type {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        <&'static str>::deserialize(json).map(Type::of)
    }
}

impl<'de: 'static> Deserialize<'de> for Shape {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        json.deserialize_any(ShapeVisitor)
    }
}

fn in_order<'de: 'static, D: Deserializer<'de>>(json: D) -> Result<Vec<Member>, D::Error> {
    match Shape::deserialize(json)? {
        Shape::Members(members) => Ok(members),
        Shape::Named(_) => Err(D::Error::custom("expected members and their types")),
    }
}

struct ShapeVisitor;

impl<'de: 'static> Visitor<'de> for ShapeVisitor {
    type Value = Shape;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a type, or an object of members and their types")
    }

    fn visit_borrowed_str<E: Error>(self, name: &'de str) -> Result<Shape, E> {
        Ok(Shape::Named(Type::of(name)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Shape, A::Error> {
        let mut res = Vec::new();
        while let Some((name, value)) = map.next_entry()? {
            res.push(Member::of(name, value));
        }
        let own: Vec<_> = res.iter().filter(|it| it.is_own).map(|it| it.name).collect();
        res.iter_mut().for_each(|it| it.has_own = !it.is_own && own.contains(&it.name));
        Ok(Shape::Members(res))
    }
}

impl Member {
    /// Parses `name`; `name!` is required, `name!=default` has a default, `name~` may be removed; `name?` and `name!?`
    /// apply only to the provider that defines the format.
    fn of(text: &'static str, value: Type) -> Self {
        let (text, is_own) = text.strip_suffix('?').map_or((text, false), |it| (it, true));
        let (text, may_go) = text.strip_suffix('~').map_or((text, false), |it| (it, true));
        let (name, default) = match text.split_once("!=") {
            Some((name, default)) => (name, Some(default)),
            None => (text, None),
        };
        let bare = name.trim_end_matches('!');
        let is_required = default.is_some() || bare.len() < name.len();
        Member { name: bare, is_required, default, is_own, has_own: false, may_go, value }
    }

    /// Whether it applies: to the provider that defines the format (`is_own`), or to others.
    pub(super) fn is_for(&self, is_own: bool) -> bool {
        if is_own { !self.has_own } else { !self.is_own }
    }
}

/// Whether a member has this name. Some APIs also accept its words joined by underscores.
pub(super) fn is_named(api: &Api, found: &str, name: &str) -> bool {
    found == name || api.path == Path::Snake && found.contains('_') && found == snake(name)
}

pub(super) fn snake(name: &str) -> String {
    let mut res = String::with_capacity(name.len() + 4);
    for it in name.chars() {
        if it.is_ascii_uppercase() {
            res.push('_');
        }
        res.push(it.to_ascii_lowercase());
    }
    res
}
