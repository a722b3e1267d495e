//! What is wrong with a document, in order: what the reader found odd, what the chain rules and the
//! provider's profile say, and what is wrong with single messages.
//!
//! Judges nothing itself: the rules are `msg-chainast`'s and `msg-core`'s.

use std::borrow::Cow;

use msg_chainast::{Profile, Thinking};
use msg_core::request::{self, RequestHead};
use msg_core::{Diagnostic, InputRules, Message, RawJson, Severity};
use serde::{Deserialize, Serialize};

use crate::api_shapes::{add_refused, refused_by_api};
use crate::codec::Side;
use crate::document::Document;
use crate::foreign_parts::foreign_parts;
use crate::format::Format;
use crate::json::to_json;
use crate::options::CheckMembers;
use crate::read_options::ReadOptions;
use crate::refusal::Refusal;
use crate::schemas::check_head;
use crate::shapes::{is_strict, other_notes, refused_shapes};
use crate::skeleton::Skeleton;

/// What to check by.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(try_from = "CheckMembers")]
pub struct CheckOptions {
    /// How the document is read.
    pub read: ReadOptions,
    /// Also judge by what this provider accepts.
    pub profile: Option<Profile>,
    /// The rules of the chain.
    pub chain: msg_chainast::CheckOptions,
    /// Also check each message by itself (MS-18).
    pub messages: Option<InputRules>,
}

/// What a check found.
#[derive(Debug, Clone)]
pub struct Checked {
    /// No finding is an error.
    pub ok: bool,
    /// What was read.
    pub format: Format,
    /// How many messages were read.
    pub messages: usize,
    /// All findings, in the order of the messages.
    pub diagnostics: Vec<Diagnostic>,
}

/// Checks a document.
///
/// Fails if it cannot be read. Linear in the document.
///
/// ```
/// use msg_document::{CheckOptions, check};
///
/// let json = br#"[{"role":"assistant","content":"hello"}]"#;
/// let checked = check(json, &CheckOptions::default())?;
/// assert_eq!(checked.diagnostics[0].code.as_str(), "chain::unexpected-first-role");
/// # Ok::<(), msg_document::Refusal>(())
/// ```
pub fn check(json: &[u8], options: &CheckOptions) -> Result<Checked, Refusal> {
    let _span = tracing::debug_span!("check", bytes = json.len()).entered();
    let skeleton = options.skeleton(json);
    if let Some(checked) = skeleton.and_then(|it| it.check(options)) {
        checked.trace();
        return Ok(checked);
    }
    let mut document = Document::read(json, &options.read)?;
    document.say_who_made_it(options.read.made_by.as_ref());
    Ok(document.check_text(Some(json), options))
}

/// Whether a document has no error: what [`check`] calls `ok`, found without looking on behind the first error.
///
/// Fails if it cannot be read. Linear in the document.
///
/// ```
/// use msg_document::{CheckOptions, is_valid};
///
/// assert!(is_valid(br#"[{"role":"user","content":"hi"}]"#, &CheckOptions::default())?);
/// # Ok::<(), msg_document::Refusal>(())
/// ```
pub fn is_valid(json: &[u8], options: &CheckOptions) -> Result<bool, Refusal> {
    let skeleton = options.skeleton(json);
    if let Some(checked) = skeleton.and_then(|it| it.check(options)) {
        return Ok(checked.ok);
    }
    let mut document = Document::read(json, &options.read)?;
    document.say_who_made_it(options.read.made_by.as_ref());
    let none = |found: &[Diagnostic]| !found.iter().any(Diagnostic::is_error);
    let messages = |rules: &InputRules| {
        document.messages().iter().all(|it| !it.check(rules).iter().any(Diagnostic::is_error))
    };
    Ok(none(document.notes())
        && refused_shapes(&document, options.profile.as_ref()).next().is_none()
        && document.refused(Some(json), options.profile.as_ref()).is_empty()
        && foreign_parts(document.messages()).next().is_none()
        && none(&document.check_head(options))
        && none(&document.check_chain(options))
        && options.messages.as_ref().is_none_or(messages))
}

impl CheckOptions {
    /// What can be checked without reading the whole document; nothing if its head is asked for.
    fn skeleton(&self, json: &[u8]) -> Option<Skeleton> {
        let asks_head = self.chain.request && self.profile.is_some();
        if asks_head { None } else { Skeleton::of_json(json, &self.read) }
    }

    /// The document is read so.
    #[must_use]
    pub fn with_read(mut self, read: ReadOptions) -> Self {
        self.read = read;
        self
    }

    /// Judged by what this provider accepts, too.
    #[must_use]
    pub fn with_profile(mut self, profile: Profile) -> Self {
        self.profile = Some(profile);
        self
    }

    /// These are the rules of the chain.
    #[must_use]
    pub fn with_chain(mut self, chain: msg_chainast::CheckOptions) -> Self {
        self.chain = chain;
        self
    }

    /// Each message is checked by itself, too.
    #[must_use]
    pub fn with_messages(mut self, rules: InputRules) -> Self {
        self.messages = Some(rules);
        self
    }
}

impl Document {
    /// Checks what was read. What only its text shows, a member that the provider requires or does not know, is seen
    /// where the document has its [source](Document::source).
    pub fn check(&self, options: &CheckOptions) -> Checked {
        self.check_text(self.source().filter(|_| !self.is_edited()), options)
    }

    /// As [`Document::check`], of a document that was read from this text.
    pub(crate) fn check_text(&self, text: Option<&[u8]>, options: &CheckOptions) -> Checked {
        // What was merely spelled otherwise is no problem of the conversation.
        let notes = other_notes(self, options.profile.as_ref());
        let notes = notes.filter(|it| it.severity != Severity::Info);
        let shapes = refused_shapes(self, options.profile.as_ref());
        let notes = notes.cloned().chain(shapes).chain(foreign_parts(self.messages()));
        let notes: Vec<_> = notes.chain(self.check_head(options)).collect();
        let mut found = self.check_chain(options);
        // There may be very many: no second list of them is made, and no room for twice as many.
        found.reserve_exact(notes.len());
        found.splice(..0, notes);
        add_refused(&mut found, self.refused(text, options.profile.as_ref()));
        if let Some(rules) = &options.messages {
            found.extend(msg_core::check_all(self.messages(), rules).into_vec());
        }
        let place = |it: &Diagnostic| (it.at.message, it.at.part);
        if !found.is_sorted_by_key(place) {
            found.sort_by_key(place);
        }
        if let Some(text) = text {
            self.locate(text, &mut found);
        }
        let checked = Checked {
            ok: !found.iter().any(Diagnostic::is_error),
            format: self.format(),
            messages: self.messages().len(),
            diagnostics: found,
        };
        checked.trace();
        checked
    }
}

impl Document {
    /// What the API of a provider refuses of the text of this document, if it takes such documents.
    pub(crate) fn refused(
        &self,
        text: Option<&[u8]>,
        profile: Option<&Profile>,
    ) -> Vec<Diagnostic> {
        let is_request = matches!(self.side(), Side::Conversation | Side::Continuation);
        match (text, profile.filter(|it| is_request && is_strict(it, self))) {
            (Some(text), Some(profile)) => {
                let profile = profile.in_format(self.format().name());
                refused_by_api(text, self.format(), &profile, self.messages())
            }
            _ => Vec::new(),
        }
    }

    /// What the provider refuses in the head of the request, where that is asked for (RQ-1).
    fn check_head(&self, options: &CheckOptions) -> Vec<Diagnostic> {
        let profile = options.profile.as_ref().filter(|_| options.chain.request);
        let Some(profile) = profile else { return Vec::new() };
        self.head().map(|it| check_head(&it, profile)).unwrap_or_default()
    }

    /// What the chain rules and the profile say, without what the reader found odd.
    pub fn check_chain(&self, options: &CheckOptions) -> Vec<Diagnostic> {
        let messages = self.messages();
        let (rules, profile) = self.rules(options.chain, options.profile.as_ref());
        let judge = |messages: &[Message], rules: msg_chainast::CheckOptions| {
            msg_chainast::check(messages, profile.as_deref(), &rules)
        };
        match self.side() {
            Side::Conversation => judge(messages, rules),
            Side::Continuation => judge(messages, rules.with_continued()),
            Side::Exchange { is_continued: false } => judge(messages, rules.with_open()),
            Side::Exchange { is_continued: true } => {
                judge(messages, rules.with_continued().with_open())
            }
            Side::Answer => of_an_answer(judge(messages, rules.with_continued().with_open())),
            Side::Choices => {
                let rules = rules.with_continued().with_open();
                let choices = messages.chunks(1).enumerate();
                choices.flat_map(|(at, it)| moved(of_an_answer(judge(it, rules)), at)).collect()
            }
        }
    }

    /// The rules of the chain as they are for this document, and the profile, asked as the model that its request
    /// names, if no other was.
    pub(crate) fn rules<'p>(
        &self,
        rules: msg_chainast::CheckOptions,
        profile: Option<&'p Profile>,
    ) -> (msg_chainast::CheckOptions, Option<Cow<'p, Profile>>) {
        let head = profile.and_then(|_| self.head());
        let model = head.as_ref().and_then(|it| it.model.as_deref());
        let of_model = |it: &Profile| match model {
            Some(model) if it.model.is_empty() => Some(it.asked_as(model)),
            _ => None,
        };
        let profile = profile.map(|it| {
            let it = it.in_format(self.format().name());
            of_model(&it).map_or(it, Cow::Owned)
        });
        let rules = msg_chainast::CheckOptions {
            several_systems: self.has_text_calls(),
            several_users: rules.several_users || self.format().codec().joins_users(),
            own_format: profile.as_ref().is_some_and(|it| it.format == self.format().name()),
            thinking: match head.as_ref().map_or(rules.thinking, thinking) {
                // Who takes chat messages and Responses wants missing reasoning back in the former alone: the
                // latter have no member for a placeholder, and were answered without (DeepSeek).
                Thinking::Unknown if self.format().name() == "responses" => Thinking::Off,
                thinking => thinking,
            },
            ..rules
        };
        (rules, profile)
    }
}

/// What a request says of thinking. It is on for sure only where the request says how much of it.
fn thinking(head: &RequestHead) -> Thinking {
    match head.reasoning.thinking {
        Some(request::Thinking::Off | request::Thinking::Budget(0)) => Thinking::Off,
        Some(request::Thinking::Budget(_)) => Thinking::On,
        // Some who take chat messages have the member of Anthropic.
        _ if head.rest.iter().any(|it| it.0 == "thinking" && is_disabled(&it.1)) => Thinking::Off,
        _ => Thinking::Unknown,
    }
}

/// Whether a setting says `{"type":"disabled"}`.
fn is_disabled(setting: &RawJson) -> bool {
    let members = setting.present_members().unwrap_or_default();
    members.iter().any(|it| it.0 == "type" && it.1.text() == "\"disabled\"")
}

/// That an answer begins with the assistant goes without saying.
fn of_an_answer(mut found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    found.retain(|it| it.code.as_str() != "chain::unexpected-first-role");
    found
}

/// Findings about messages of a list that begins at `start`.
pub(crate) fn moved(mut found: Vec<Diagnostic>, start: usize) -> Vec<Diagnostic> {
    for it in &mut found {
        it.at.message = it.at.message.map(|it| it + start);
    }
    found
}

impl Checked {
    fn trace(&self) {
        let (format, findings) = (self.format.name(), self.diagnostics.len());
        tracing::debug!(format, messages = self.messages, findings, ok = self.ok, "checked");
    }

    /// Whether there is no error, and something that could have one.
    pub fn is_clean(&self) -> bool {
        self.ok && self.messages > 0
    }

    /// The line of `msg check --jsonl`, without its end.
    pub fn to_json(&self) -> Vec<u8> {
        #[derive(Serialize)]
        struct Line<'a> {
            ok: bool,
            format: Format,
            messages: usize,
            diagnostics: &'a [Diagnostic],
        }
        let Checked { ok, format, messages, ref diagnostics } = *self;
        to_json(&Line { ok, format, messages, diagnostics })
    }
}
