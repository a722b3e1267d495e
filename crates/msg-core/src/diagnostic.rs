//! Findings (MS-26): a stable code, a severity, a place, a sentence, and the edit if there is one. The program decides
//! how to display them.
//!
//! Also the tables of diagnostic codes: their row type, and the table of this crate.
//!
//! Each crate lists its codes in a table `CODES`, from which `docs/diagnostics.md` is written. `cargo
//! xtask tidy` fails for a code that is used but not listed, or listed but not used. The sentence of
//! a finding is made where the finding is made, not here.

use std::{
    borrow::Cow,
    fmt,
    hash::{Hash, Hasher},
    ops::Range,
    sync::Arc,
};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// One finding about a conversation, or one change that was made to it.
///
/// The JSON form is the serde form; members that do not apply are absent. The sentence about a call is
/// built when it is read, so a repair of many calls builds no text that is never used.
///
/// ```
/// use msg_core::{Code, Diagnostic};
///
/// let it = Diagnostic::error(Code::new("chain::missing-tool-result"), "call call_1 has no result")
///     .at_part(3, 0)
///     .with_fix("inserted a placeholder result");
/// assert_eq!(it.to_string(), "error[chain::missing-tool-result]: call call_1 has no result");
/// assert_eq!((it.at.message, it.at.part), (Some(3), Some(0)));
/// ```
#[derive(Debug, Clone)]
pub struct Diagnostic {
    /// The stable name of the finding.
    pub code: Code,
    /// How bad it is.
    pub severity: Severity,
    /// Where it is.
    pub at: Position,
    /// The edit that was made, or that would repair it.
    pub fix: Option<Cow<'static, str>>,
    /// The provider's error message for such a request, if a profile was given and the message is
    /// known.
    pub answer: Option<Arc<str>>,
    sentence: Sentence,
}

/// The sentence of a diagnostic.
#[derive(Debug, Clone)]
enum Sentence {
    /// The whole sentence.
    Text(Cow<'static, str>),
    /// A sentence that contains [`CALL_ID`], which is replaced by the id of the call.
    OfCall(&'static str),
}

/// Marks the place of the call's id in the sentence of [`Diagnostic::about_call`].
const CALL_ID: &str = "{id}";

/// The place of a finding: the members that apply. Indices are 0-based and count in the input.
/// Lines and columns are 1-based. `start` and `end` are byte offsets.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Position {
    /// Index of the message (or turn) in the input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<usize>,
    /// Index of the part in its message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<usize>,
    /// Index of the other message that the sentence names, such as the one with a second result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_message: Option<usize>,
    /// Index of the section in the tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub section: Option<usize>,
    /// Id of the tool call concerned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// JSON Pointer (RFC 6901) into the document as it was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
    /// Line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// Column in characters, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
    /// First byte.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<usize>,
    /// Byte offset after the last byte.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<usize>,
}

impl Position {
    /// Whether no member is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Diagnostic {
    /// A finding of this severity, without a place.
    pub fn new(severity: Severity, code: Code, message: impl Into<Cow<'static, str>>) -> Self {
        let sentence = Sentence::Text(message.into());
        Self { code, severity, at: Position::default(), fix: None, answer: None, sentence }
    }

    /// A finding about the call that [`Diagnostic::at_call`] names. Each `{id}` in the sentence is
    /// replaced by the id of the call.
    ///
    /// ```
    /// use msg_core::{Code, Diagnostic, Severity};
    ///
    /// let code = Code::new("chain::missing-tool-result");
    /// let it = Diagnostic::about_call(Severity::Error, code, "call {id} has no result");
    /// assert_eq!(it.at_call("call_1").message(), "call call_1 has no result");
    /// ```
    pub fn about_call(severity: Severity, code: Code, message: &'static str) -> Self {
        let sentence = Sentence::OfCall(message);
        Self { code, severity, at: Position::default(), fix: None, answer: None, sentence }
    }

    /// A finding of severity error.
    pub fn error(code: Code, message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Severity::Error, code, message)
    }

    /// A finding of severity warning.
    pub fn warning(code: Code, message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Severity::Warning, code, message)
    }

    /// A finding of severity info.
    pub fn info(code: Code, message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Severity::Info, code, message)
    }

    /// Sets the message.
    #[must_use]
    pub fn at_message(mut self, message: usize) -> Self {
        self.at.message = Some(message);
        self
    }

    /// Sets the message and the part.
    #[must_use]
    pub fn at_part(mut self, message: usize, part: usize) -> Self {
        self.at.message = Some(message);
        self.at.part = Some(part);
        self
    }

    /// Sets the id of the call.
    #[must_use]
    pub fn at_call(mut self, id: impl Into<String>) -> Self {
        self.at.tool_call_id = Some(id.into());
        self
    }

    /// Sets the JSON Pointer into the input document.
    #[must_use]
    pub fn at_pointer(mut self, pointer: impl Into<String>) -> Self {
        self.at.pointer = Some(pointer.into());
        self
    }

    /// Sets the byte span in the input.
    #[must_use]
    pub fn at_span(mut self, span: Range<usize>) -> Self {
        self.at.start = Some(span.start);
        self.at.end = Some(span.end);
        self
    }

    /// Sets the line and the column, both from 1.
    #[must_use]
    pub fn at_line(mut self, line: usize, column: usize) -> Self {
        self.at.line = Some(line);
        self.at.column = Some(column);
        self
    }

    /// Sets the edit that was made, or that would repair it.
    #[must_use]
    pub fn with_fix(mut self, fix: impl Into<Cow<'static, str>>) -> Self {
        self.fix = Some(fix.into());
        self
    }

    /// Rewords its `fix` as advice: `insert a placeholder result` instead of `inserted a
    /// placeholder result`. A check changes nothing, so it reports advice.
    ///
    /// ```
    /// use msg_core::{Code, Diagnostic};
    ///
    /// let found = Diagnostic::error(Code::new("chain::empty-call-id"), "a tool call without an id")
    ///     .with_fix("given a fresh id");
    /// assert_eq!(found.into_advice().fix.as_deref(), Some("give it a fresh id"));
    /// ```
    #[must_use]
    pub fn into_advice(mut self) -> Self {
        if let Some(advice) = self.fix.as_deref().and_then(advice) {
            self.fix = Some(advice.into());
        }
        self
    }

    /// Replaces the sentence.
    pub fn set_message(&mut self, message: impl Into<Cow<'static, str>>) {
        self.sentence = Sentence::Text(message.into());
    }

    /// The sentence for people: lower case, without a full stop.
    pub fn message(&self) -> Cow<'_, str> {
        match &self.sentence {
            Sentence::Text(it) => Cow::Borrowed(it),
            Sentence::OfCall(it) => Cow::Owned(with_id(it, self.at.tool_call_id.as_deref())),
        }
    }

    /// Whether `is` holds for a text that the [`message`](Self::message) consists of: the sentence, or the id of the
    /// call in it. Does not build the message.
    pub fn any_text(&self, mut is: impl FnMut(&str) -> bool) -> bool {
        match &self.sentence {
            Sentence::Text(it) => is(it),
            Sentence::OfCall(it) => is(it) || self.at.tool_call_id.as_deref().is_some_and(is),
        }
    }

    /// Whether it is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// A sentence with each [`CALL_ID`] replaced by the id of a call.
fn with_id(sentence: &str, id: Option<&str>) -> String {
    let id = id.unwrap_or_default();
    let mut res = String::with_capacity(sentence.len() + id.len());
    let mut rest = sentence;
    while let Some(at) = rest.find('{') {
        let is_place = rest[at..].starts_with(CALL_ID);
        let end = at + if is_place { CALL_ID.len() } else { 1 };
        res.push_str(if is_place { &rest[..at] } else { &rest[..end] });
        res.push_str(if is_place { id } else { "" });
        rest = &rest[end..];
    }
    res + rest
}

/// A role or a kind of part with its article, for sentences of diagnostics.
///
/// ```
/// use msg_core::with_article;
///
/// assert_eq!((with_article("image"), with_article("user")), ("an image".into(), "a user".into()));
/// ```
pub fn with_article(word: &str) -> String {
    let article =
        if word.starts_with(['a', 'e', 'i', 'o', 'A', 'E', 'I', 'O']) { "an" } else { "a" };
    format!("{article} {word}")
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]: {}", self.severity, self.code, self.message())
    }
}

/// Two diagnostics with the same content are equal, however they were built.
impl PartialEq for Diagnostic {
    fn eq(&self, other: &Self) -> bool {
        (&self.code, self.severity, &self.at, &self.fix, &self.answer)
            == (&other.code, other.severity, &other.at, &other.fix, &other.answer)
            && self.message() == other.message()
    }
}

impl Eq for Diagnostic {}

impl Hash for Diagnostic {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.code, &self.at, self.message()).hash(state);
    }
}

/// A finding may be what a function of your own fails with.
impl std::error::Error for Diagnostic {}

/// The JSON form, in the order of its members.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Form<'a> {
    code: Cow<'a, Code>,
    severity: Severity,
    message: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "is_nowhere")]
    at: Cow<'a, Position>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fix: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answer: Option<Cow<'a, str>>,
}

fn is_nowhere(at: &Position) -> bool {
    at.is_empty()
}

impl Serialize for Diagnostic {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let form = Form {
            code: Cow::Borrowed(&self.code),
            severity: self.severity,
            message: self.message(),
            at: Cow::Borrowed(&self.at),
            fix: self.fix.as_deref().map(Cow::Borrowed),
            answer: self.answer.as_deref().map(Cow::Borrowed),
        };
        form.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Diagnostic {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let form = Form::deserialize(deserializer)?;
        let owned = |it: Cow<'_, str>| Cow::Owned(it.into_owned());
        Ok(Self {
            code: form.code.into_owned(),
            severity: form.severity,
            at: form.at.into_owned(),
            fix: form.fix.map(owned),
            answer: form.answer.map(|it| it.into()),
            sentence: Sentence::Text(owned(form.message)),
        })
    }
}

// The name of a kind of finding, and its severity (MS-26).

/// The stable name of a kind of finding: `area::kebab-case`. Codes of a later version survive a
/// round trip.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Code(Cow<'static, str>);

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; nothing is wrong.
    Info,
    /// Probably unintended, but accepted.
    Warning,
    /// Malformed, or refused by the provider.
    Error,
}

impl Code {
    /// A code that is known at compile time: `area::kebab-case`.
    pub const fn new(code: &'static str) -> Self {
        Self(Cow::Borrowed(code))
    }

    /// The code as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The part before `::`: `chain`, `message` …
    pub fn area(&self) -> &str {
        self.0.split_once("::").map_or("", |it| it.0)
    }
}

impl From<String> for Code {
    fn from(code: String) -> Self {
        Self(Cow::Owned(code))
    }
}

impl From<&'static str> for Code {
    fn from(code: &'static str) -> Self {
        Self::new(code)
    }
}

impl PartialEq<str> for Code {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<&str> for Code {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Severity {
    /// The name: `error`, `warning`, `info`.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "info",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

// Turns an edit that was made into advice: `inserted a placeholder result` into `insert a placeholder result`.
//
// A repair reports what it did, a check what would help. Both use the same code to find problems, so the sentence is
// written once, in the past tense, and converted if nothing was changed.

/// Verbs in the form of a `fix`, and in the form of advice.
const VERBS: &[(&str, &str)] = &[
    ("added", "add"),
    ("appended", "append"),
    ("completed", "complete"),
    ("corrected", "correct"),
    ("cut", "cut"),
    ("dropped", "drop"),
    ("given", "give"),
    ("inserted", "insert"),
    ("joined", "join"),
    ("made", "make"),
    ("merged", "merge"),
    ("moved", "move"),
    ("named", "name"),
    ("put", "put"),
    ("read", "read"),
    ("removed", "remove"),
    ("renamed", "rename"),
    ("replaced", "replace"),
    ("set", "set"),
    ("split", "split"),
    ("trimmed", "trim"),
    ("written", "write"),
    ("wrote", "write"),
];

/// Words that begin an object: a verb before one of them needs no `it`.
const OBJECTS: &[&str] = &["a", "all", "an", "it", "its", "the"];

/// The advice for a `fix` in the past tense; `None` if it is advice already.
fn advice(fix: &str) -> Option<String> {
    let end = fix.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(fix.len());
    let (verb, rest) = fix.split_at(end);
    let (past, base) = VERBS.iter().find(|it| it.0 == verb)?;
    let next = rest.trim_start();
    let word = next.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    let has_object = match *past {
        "given" | "made" => word == "it",
        "wrote" => true,
        _ => OBJECTS.contains(&word) || next.starts_with('`') && rest.starts_with(' '),
    };
    if has_object && past == base {
        return None;
    }
    let rest =
        if *past == "replaced" { rest.replacen(" by ", " with ", 1) } else { rest.to_owned() };
    Some(format!("{base}{}{rest}", if has_object { "" } else { " it" }))
}

/// Escapes a name as a step of a JSON Pointer (RFC 6901).
///
/// ```
/// assert_eq!(msg_core::pointer_step("a/b~c"), "a~1b~0c");
/// ```
pub fn pointer_step(name: &str) -> Cow<'_, str> {
    match name.contains(['~', '/']) {
        true => Cow::Owned(name.replace('~', "~0").replace('/', "~1")),
        false => Cow::Borrowed(name),
    }
}

/// Unescapes a step of a JSON Pointer into the name that it represents.
///
/// ```
/// assert_eq!(msg_core::step_name("a~1b~0c"), "a/b~c");
/// ```
pub fn step_name(step: &str) -> Cow<'_, str> {
    match step.contains('~') {
        true => Cow::Owned(step.replace("~1", "/").replace("~0", "~")),
        false => Cow::Borrowed(step),
    }
}

/// A crate's table of diagnostic codes, one [`CodeInfo`] per row: severity, code, rule and meaning.
///
/// ```
/// use msg_core::{CodeInfo, Severity, codes};
///
/// const CODES: &[CodeInfo] = codes! {
///     error "chain::missing-tool-result" "CA-30" "a tool call has no result";
/// };
/// assert_eq!(CODES[0].severity, Severity::Error);
/// ```
#[macro_export]
macro_rules! codes {
    ($($severity:ident $code:literal $rule:literal $meaning:literal;)*) => {
        &[$($crate::CodeInfo::$severity($code, $rule, $meaning)),*]
    };
}

/// Writes the `with_…` setters of a struct's options, one per row. A row sets the field that has the name of its
/// argument, or the field and value that follow it. A first row `new;` writes the constructor of the defaults.
///
/// ```
/// #[derive(Default)]
/// struct Options {
///     limit: usize,
///     name: Option<String>,
///     open: bool,
/// }
///
/// impl Options {
///     msg_core::setters! {
///         new;
///         /// With this limit.
///         with_limit(limit: usize);
///         /// With a name.
///         with_name(name: impl Into<String>) name = Some(name.into());
///         /// With calls that stay open.
///         with_open() open = true;
///     }
/// }
///
/// let options = Options::new().with_limit(3).with_name("a").with_open();
/// assert!(options.limit == 3 && options.name.as_deref() == Some("a") && options.open);
/// ```
#[macro_export]
macro_rules! setters {
    (@set $this:ident $($arg:ident)? => $($field:ident).+ = $value:expr) => { $this.$($field).+ = $value };
    (@set $this:ident $arg:ident) => { $this.$arg = $arg };
    (new; $($setters:tt)*) => {
        /// The defaults.
        #[must_use]
        pub fn new() -> Self {
            Self::default()
        }

        $crate::setters! { $($setters)* }
    };
    ($($(#[$doc:meta])* $name:ident($($arg:ident: $ty:ty)?) $($($field:ident).+ = $value:expr)?;)*) => {$(
        $(#[$doc])*
        #[must_use]
        pub fn $name(mut self, $($arg: $ty)?) -> Self {
            $crate::setters!(@set self $($arg)? $(=> $($field).+ = $value)?);
            self
        }
    )*};
}

/// The serde form of a type whose JSON is a text: it is read with its `FromStr`, and written with its `Display`. A
/// type after `read` is only read.
///
/// ```
/// # #[derive(Debug, PartialEq)]
/// struct Version(u32);
///
/// impl std::str::FromStr for Version {
///     type Err = std::num::ParseIntError;
///
///     fn from_str(text: &str) -> Result<Self, Self::Err> {
///         text.trim_start_matches('v').parse().map(Self)
///     }
/// }
///
/// msg_core::serde_as_text!(read Version);
/// assert_eq!(serde_json::from_str::<Version>(r#""v3""#).ok(), Some(Version(3)));
/// ```
#[macro_export]
macro_rules! serde_as_text {
    (read $type:ty) => {
        /// From its text.
        impl<'de> ::serde::Deserialize<'de> for $type {
            fn deserialize<D: ::serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let text = <String as ::serde::Deserialize>::deserialize(from)?;
                text.parse().map_err(::serde::de::Error::custom)
            }
        }
    };
    ($type:ty) => {
        $crate::serde_as_text!(read $type);

        /// As its text.
        impl ::serde::Serialize for $type {
            fn serialize<S: ::serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }
    };
}

/// One row of a crate's table of diagnostic codes, written with [`codes!`](crate::codes!).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct CodeInfo {
    /// The stable name, `area::kebab-case`.
    pub code: &'static str,
    /// The usual severity; the profile of a provider may change it.
    pub severity: Severity,
    /// The rule of `docs/formats/` that defines it, such as `CA-30`; several rules are separated by
    /// a comma and a space.
    pub rule: &'static str,
    /// What it means, in general: lower case, no full stop.
    pub summary: &'static str,
}

impl CodeInfo {
    /// A code for input that is malformed or refused.
    pub const fn error(code: &'static str, rule: &'static str, summary: &'static str) -> Self {
        Self { code, severity: Severity::Error, rule, summary }
    }

    /// A code for input that is probably unintended, but accepted.
    pub const fn warning(code: &'static str, rule: &'static str, summary: &'static str) -> Self {
        Self { code, severity: Severity::Warning, rule, summary }
    }

    /// A code for a fact worth knowing; nothing is wrong.
    pub const fn info(code: &'static str, rule: &'static str, summary: &'static str) -> Self {
        Self { code, severity: Severity::Info, rule, summary }
    }
}

/// The codes of messages, their forms, turns and conversions.
pub const CODES: &[CodeInfo] = codes! {
    error "message::bad-json" "MS-9" "the document is not JSON";
    error "message::bad-shape" "MS-9" "the JSON does not have the shape of the format";
    error "message::missing-role" "MS-9" "a message has no role";
    error "message::foreign-format" "MS-9" "the document is in an unsupported format";
    warning "message::no-messages" "MS-9" "the document has no messages";
    info "message::role-spelling" "MS-2" "a role in another spelling";
    info "message::shape" "MS-2" "a value has a shape that the API of its format does not accept";
    warning "message::duplicate-member" "MS-8" "duplicate member, the last value is used";
    warning "message::unread-messages" "RG-8" "messages or instructions in a member that is not read";
    warning "message::lone-surrogate" "MS-8" "unpaired surrogate, read as U+FFFD";
    error "message::invalid-role" "MS-18" "the role of the message is unknown";
    error "message::empty-content" "MS-18" "the message has no content";
    error "message::too-long" "MS-18" "a user text exceeds the length limit";
    error "message::misplaced-part" "MS-18" "a part that is not allowed in messages of this role";
    error "message::empty-tool-name" "MS-18" "a call without the name of a tool";
    warning "message::invalid-arguments" "MS-18" "arguments of a call are not valid JSON";
    warning "message::arguments-not-object" "MS-18" "arguments of a call are not an object";
    error "agent::bad-shape" "MS-12" "an agent message of unknown shape";
    error "agent::unknown-role" "MS-12" "an agent message with an unknown role";
    error "turn::bad-shape" "MS-19" "a turn or part is not an object, or parts are not a list";
    warning "message::wrong-type" "MS-6" "a known member has a value of a wrong type";
    warning "convert::lost-part" "MS-24" "the target cannot hold a part";
    warning "convert::part-changed" "MS-24" "a part is written without some of it, or in another form";
    warning "convert::lost-member" "MS-24" "the target cannot hold a member";
    warning "convert::usage-inconsistent" "RQ-25" "a count is not a whole number, or is larger than the whole that it is a part of";
    warning "convert::value-changed" "RQ-13" "the target does not support the value, the nearest one was written";
    warning "convert::lost-message" "MS-24" "a message has nothing left to write";
    info "convert::refusal-as-text" "AN-20" "a refusal became text";
};

#[cfg(test)]
mod tests {
    use super::advice;

    #[test]
    fn what_was_done_becomes_what_to_do() {
        for (done, to_do) in [
            ("inserted a placeholder result", "insert a placeholder result"),
            ("given a fresh id", "give it a fresh id"),
            ("merged into the one before", "merge it into the one before"),
            ("set to `x`", "set it to `x`"),
            ("set the placeholder signature", "set the placeholder signature"),
            ("removed", "remove it"),
            ("removed `cache_control`", "remove `cache_control`"),
            ("replaced by {}", "replace it with {}"),
            ("dropped, the other result is kept", "drop it, the other result is kept"),
            ("made valid JSON", "make it valid JSON"),
            ("made a user message", "make it a user message"),
            ("written as the API has it", "write it as the API has it"),
        ] {
            let advised = advice(done).unwrap_or_else(|| done.to_owned());
            assert_eq!(advised, to_do);
            assert_eq!(advice(&advised), None, "{advised} is advice already");
        }
    }

    #[test]
    fn other_sentences_stay() {
        for fix in ["--from x reads it", "", "`msg x` does", "answers a call of its pair", "reads"]
        {
            assert_eq!(advice(fix), None, "{fix}");
        }
    }
}
