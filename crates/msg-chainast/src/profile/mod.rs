//! What a provider accepts, as data (CA-70 to CA-73).
//!
//! A profile has no wire format. The built-in ones are generated from `profiles.toml`. With the feature `toml`, users
//! load their own from a file of the same form.
//!
//! ```text
//! profiles.toml   [mistral]  id_min = 9   codegen ▶ table.json, docs/formats/profiles.md
//!                                                      ▼
//!                 Profile { name: "mistral", id_min: 9, … } ▶ what conform and check ask
//! ```

mod fields;
#[cfg(feature = "toml")]
mod file;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::{Arc, LazyLock, OnceLock};

use msg_core::{Diagnostic, Role};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::error::Error;
use crate::profile::fields::FIELDS;
use fields::FieldError;

pub use fields::{
    Acceptance, ArgumentsRule, CharClass, EffortBesideTools, LaterResults, Profile, ReasoningBound,
    ReasoningKept, ReasoningRequired, ServerTools, SystemPlace, ThinkingRule, UserMessage,
};

/// The built-in profile of this name or alias, to change.
///
/// ```
/// use msg_chainast::Profile;
///
/// let profile: Profile = "mistral".parse()?;
/// assert_eq!(profile.name, "mistral");
/// assert!("mistal".parse::<Profile>().is_err_and(|it| it.to_string().contains("expected openai, ")));
/// # Ok::<(), msg_chainast::Error>(())
/// ```
impl FromStr for Profile {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let unknown = || Error::UnknownProfile { name: name.to_owned() };
        Profile::named(name).cloned().ok_or_else(unknown)
    }
}

/// A copy, so that options take a built-in profile as well as one of your own.
impl From<&Profile> for Profile {
    fn from(profile: &Profile) -> Self {
        profile.clone()
    }
}

impl Profile {
    /// A profile with the defaults of the built-in table.
    pub fn new(name: impl Into<String>) -> Self {
        let mut profile = BASE.clone();
        profile.name = name.into();
        profile
    }

    /// The built-in profile with this name or alias.
    pub fn named(name: &str) -> Option<&'static Profile> {
        let of_alias = || Profile::all().iter().find(|it| it.aliases.iter().any(|it| it == name));
        TABLE.profiles.iter().find(|it| it.name == name).map(BuiltIn::profile).or_else(of_alias)
    }

    /// The names of the built-in profiles, in the order of the table. Reads no profile.
    pub fn names() -> impl Iterator<Item = &'static str> {
        TABLE.profiles.iter().map(|it| it.name)
    }

    /// All built-in profiles. The first call reads the whole table.
    pub fn all() -> &'static [Profile] {
        &ALL
    }

    /// Whether a field is uncertain.
    pub(crate) fn doubts(&self, field: &str) -> bool {
        self.doubt.iter().any(|it| it == field)
    }

    /// The provider's error message for a chain with this finding, if it is known.
    ///
    /// ```
    /// use msg_chainast::{ChainCheckOptions, Message, Profile, ToolCall, check};
    ///
    /// let openai = Profile::named("openai").ok_or("no such profile")?;
    /// let call = ToolCall::new("call_1", "f", "{}");
    /// let messages = [Message::user("Go."), Message::assistant("").with_part(call)];
    /// let found = check(&messages, None, &ChainCheckOptions::new());
    /// let answer = openai.answer(&found[0]).ok_or("not known")?;
    /// assert!(answer.starts_with("An assistant message with 'tool_calls' must be followed by"));
    /// # Ok::<(), &str>(())
    /// ```
    pub fn answer(&self, finding: &Diagnostic) -> Option<&Arc<str>> {
        let tells = self.rules.iter().filter(|it| it.tells_of(finding));
        // The rule with the longest matching text wins, otherwise the first one.
        tells.rev().max_by_key(|it| it.says.len()).map(|it| &it.answer)
    }

    /// All fields as in a profile file, in the order of the table; for printing.
    ///
    /// ```
    /// use msg_chainast::Profile;
    ///
    /// let mistral = Profile::named("mistral").ok_or("no such profile")?;
    /// assert!(mistral.fields().any(|it| it.0 == "id_pattern" && it.1 == "{r:9:b}"));
    /// # Ok::<(), &str>(())
    /// ```
    pub fn fields(&self) -> impl Iterator<Item = (&'static str, Value)> + '_ {
        fields::all(self).into_iter()
    }
}

static BASE: LazyLock<Profile> = LazyLock::new(fields::base);

static ALL: LazyLock<Vec<Profile>> =
    LazyLock::new(|| TABLE.profiles.iter().map(|it| it.profile().clone()).collect());

// What holds for some models of a provider only, and how models are named.
//
// ```text
// [deepseek.models."deepseek-reasoner"]     last = "user"
//                   gpt-4o*   all that begin so      *llama*   all that hold it
// ```

impl Profile {
    /// This profile with the rules of one model. If several rows of [`models`](Profile::models) match,
    /// the one with the whole name wins, else the longest.
    ///
    /// ```
    /// use msg_chainast::Profile;
    ///
    /// let deepseek = Profile::named("deepseek").ok_or("no such profile")?;
    /// assert!(deepseek.asked_as("deepseek-reasoner").user_last);
    /// assert!(!deepseek.asked_as("deepseek-chat").user_last);
    /// # Ok::<(), &str>(())
    /// ```
    #[must_use]
    pub fn asked_as(&self, model: &str) -> Profile {
        let own = self.models.iter().filter(|it| fits(&it.0, undated(model)));
        let closest = own.max_by_key(|it| (!it.0.contains('*'), it.0.len()));
        let mut profile = closest.map_or(self, |it| &it.1).clone();
        model.clone_into(&mut profile.model);
        profile
    }
}

impl Profile {
    /// This profile without rules for call ids: for messages whose ids are replaced before they are
    /// sent.
    ///
    /// ```
    /// use msg_chainast::Profile;
    ///
    /// let anthropic = Profile::named("anthropic").ok_or("no such profile")?;
    /// assert_eq!(anthropic.clone().with_any_ids().id_max, 0);
    /// # Ok::<(), &str>(())
    /// ```
    #[must_use]
    pub fn with_any_ids(self) -> Profile {
        let id_class = CharClass::any();
        Profile { id_class, id_min: 0, id_max: 0, id_shape: false, ..self }
    }

    /// The profile for a body in this format: this one, or that of another API of the provider.
    ///
    /// ```
    /// use msg_chainast::Profile;
    ///
    /// let azure = Profile::named("azure").ok_or("no such profile")?;
    /// let of_items = azure.in_format("responses");
    /// assert_eq!((&*of_items.name, &*of_items.format), ("azure", "responses"));
    /// assert_eq!(azure.in_format("openai").as_ref(), azure);
    /// # Ok::<(), &str>(())
    /// ```
    #[must_use]
    pub fn in_format(&self, format: &str) -> Cow<'_, Profile> {
        if self.format == format {
            return Cow::Borrowed(self);
        }
        let in_format = |it: &String| {
            Profile::named(it.strip_prefix(format).and_then(|it| it.strip_prefix(':'))?)
        };
        let other = self.other_formats.iter().find_map(in_format);
        other.map_or(Cow::Borrowed(self), |it| {
            let (name, model, account) = (&self.name, &self.model, &self.account);
            let of_model = if model.is_empty() { it.clone() } else { it.asked_as(model) };
            Cow::Owned(Profile { name: name.clone(), account: account.clone(), ..of_model })
        })
    }
}

/// Whether a model has such a name. A star matches any text at that end.
fn fits(pattern: &str, name: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(_), Some(_)) => name.contains(pattern.trim_matches('*')),
        (Some(end), None) => name.ends_with(end),
        (None, Some(start)) => name.starts_with(start),
        (None, None) => name == pattern,
    }
}

/// The name of a model without gateway or cloud before it, and without release date or `latest` after it. A
/// request for `claude-sonnet-4-5` is answered by `claude-sonnet-4-5-20250929`.
pub(crate) fn undated(name: &str) -> &str {
    let name = name.rsplit('/').next().unwrap_or(name);
    let name = name.rsplit_once("anthropic.").map_or(name, |it| it.1);
    let name = name.split([':', '@']).next().unwrap_or(name);
    let name = name.strip_suffix("-v1").unwrap_or(name);
    let name = name.strip_suffix("-latest").unwrap_or(name);
    [DAY_WITH_DASHES, DAY].into_iter().find_map(|form| without(name, form)).unwrap_or(name)
}

const DAY: &str = "-00000000";
const DAY_WITH_DASHES: &str = "-0000-00-00";

/// The name before a date of this form.
fn without<'n>(name: &'n str, form: &str) -> Option<&'n str> {
    let (name, end) = name.split_at_checked(name.len().checked_sub(form.len())?)?;
    let fits = |(it, form): (u8, u8)| if form == b'0' { it.is_ascii_digit() } else { it == form };
    (!name.is_empty() && end.bytes().zip(form.bytes()).all(fits)).then_some(name)
}

/// A rule of a provider, with the error message for requests that break it (`PM-…`).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ProviderRule {
    /// The number of the rule.
    #[serde(rename = "rule")]
    pub number: String,
    /// The codes of findings about this rule; empty if messages cannot show that it is broken.
    #[serde(default, rename = "code", deserialize_with = "by_commas")]
    pub codes: Vec<String>,
    /// A phrase in the sentence of such a finding, if other findings have the same code.
    #[serde(default)]
    pub says: String,
    /// The provider's error message; `…` replaces the variable parts.
    #[serde(deserialize_with = "shared")]
    pub answer: Arc<str>,
    /// Where the error message was seen.
    pub source: String,
    /// Why no finding reports this rule, if that is so.
    #[serde(default)]
    pub why_not: String,
}

impl ProviderRule {
    /// Whether the rule is complete: it has a diagnostic, or a reason for having none.
    pub(crate) fn is_whole(&self) -> bool {
        let is_said = ![&*self.number, &self.answer, &self.source].contains(&"");
        is_said && self.codes.is_empty() != self.why_not.is_empty()
    }

    /// Whether a diagnostic reports a breach of this rule.
    pub(crate) fn tells_of(&self, it: &Diagnostic) -> bool {
        self.codes.iter().any(|code| it.code == code.as_str())
            && (self.says.is_empty() || it.message().contains(&self.says))
    }
}

/// Codes that are parted by commas.
fn by_commas<'de, D: Deserializer<'de>>(text: D) -> Result<Vec<String>, D::Error> {
    let text = String::deserialize(text)?;
    Ok(text.split(", ").filter(|it| !it.is_empty()).map(str::to_owned).collect())
}

fn shared<'de, D: Deserializer<'de>>(text: D) -> Result<Arc<str>, D::Error> {
    String::deserialize(text).map(Arc::from)
}

// The built-in profiles: `table.json`, which `cargo xtask codegen` writes from `profiles.toml`.
//
// ```text
// {"default": {"id_max": 0, …}, "profiles": [["mistral", {"last": "user", …, "sources": {…}, "rules": [{…}]}], …]}
// ```

/// A profile of the table or of a file: the fields that differ from the default.
#[derive(Debug, Default, Deserialize)]
#[serde(expecting = "a table of fields; begin one with [NAME]")]
pub(super) struct Row {
    /// The sources of the fields.
    #[serde(default)]
    sources: BTreeMap<String, String>,
    #[serde(default)]
    rules: Vec<ProviderRule>,
    /// The fields of some models, by their names.
    #[serde(default)]
    models: BTreeMap<String, Fields>,
    #[serde(flatten)]
    fields: Fields,
}

type Fields = BTreeMap<String, Value>;

/// The default fields, and the profiles in the order of the file.
struct Table {
    default: Fields,
    profiles: Vec<BuiltIn>,
}

/// A built-in profile, read on first use.
struct BuiltIn {
    name: &'static str,
    row: &'static RawValue,
    read: OnceLock<Profile>,
}

impl BuiltIn {
    fn profile(&self) -> &Profile {
        const WHY: &str = "because the generator reads each value as this does";
        self.read.get_or_init(|| {
            let row: Row = serde_json::from_str(self.row.get()).expect(WHY);
            Profile::new("").with_row(self.name, &row).expect(WHY)
        })
    }
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    #[derive(Deserialize)]
    struct Source<'a> {
        default: Fields,
        #[serde(borrow)]
        profiles: Vec<(&'a str, &'a RawValue)>,
    }

    let source: Source<'_> =
        serde_json::from_str(include_str!("table.json")).expect("because it is generated");
    let built_in = |(name, row)| BuiltIn { name, row, read: OnceLock::new() };
    Table { default: source.default, profiles: source.profiles.into_iter().map(built_in).collect() }
});

pub(super) fn default() -> &'static Fields {
    &TABLE.default
}

impl Profile {
    /// A copy with another name and the fields of a row.
    pub(super) fn with_row(&self, name: &str, row: &Row) -> Result<Self, FieldError> {
        let mut profile = Profile { name: name.to_owned(), ..self.clone() };
        profile.fill(&row.fields)?;
        if let Some(field) = row.sources.keys().find(|it| !FIELDS.contains(&it.as_str())) {
            return Err(FieldError::unknown(field).within("sources"));
        }
        profile.sources.extend(row.sources.clone());
        if let Some(rule) = row.rules.iter().find(|it| !it.is_whole()) {
            let problem =
                format!("{:?} must have `answer`, `source` and `code` or `why_not`", rule.number);
            return Err(FieldError::wrong("rules", &problem));
        }
        profile.rules.extend_from_slice(&row.rules);
        let of_model = |(model, fields): (&String, &Fields)| {
            let mut of_model = profile.clone();
            of_model.fill(fields).map_err(|err| err.within(model).within("models"))?;
            Ok((model.clone(), of_model))
        };
        profile.models = row.models.iter().map(of_model).collect::<Result<_, _>>()?;
        Ok(profile)
    }

    fn fill(&mut self, fields: &Fields) -> Result<(), FieldError> {
        fields.iter().try_for_each(|(field, value)| fields::set(self, field, value))?;
        match self.empty.iter().find(|it| Role::known(it.as_str()).is_none()) {
            Some(role) => Err(FieldError::wrong("empty", &format!("unknown role `{role}`"))),
            None => Ok(()),
        }
    }
}
