//! The problems of a document, in order: those of the reader, of the chain rules and the provider's
//! profile, and of single messages.
//!
//! The rules are in `msg-chainast` and `msg-core`.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use msg_chainast::{Acceptance, ChainRepairOptions, Profile, ReasoningRequired, RequestThinking};
use msg_core::request::RequestHead;
use msg_core::{Code, Diagnostic, Message, RawJson, Severity, request, with_article};
use msg_formats::{Format, ReadOptions, Refusal, Side};
use serde::Serialize;

use crate::api_shapes::{
    Judged, Seen, add_refused, foreign_parts, is_not_understood, may_be_completed, refused_by_api,
    remove_orphans, unread_calls,
};
use crate::document::{Document, is_foreign_part};
use crate::json::{repair_json, to_json};
use crate::lead::has_speakers;
use crate::options::{CheckOptions, RepairOptions};
use crate::repair::repair_one;
use crate::rows::{Row, new_findings};
use crate::schemas::check_head;
use crate::settings::{Asked, check_settings};
use crate::shapes::{
    STRICT, check_prompt, give_answers, is_asked, is_strict, other_notes, refused_shapes,
    says_unread, tool_names,
};
use crate::skeleton::Skeleton;

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
    let row = match Row::of(json, &options.read)? {
        Some(row) => row,
        None => match check_one(json, options) {
            Err(refusal) => Row::instead(json, &options.read, refusal)?,
            checked => return checked,
        },
    };
    check_row(&row, options)
}

/// Checks each conversation.
fn check_row(row: &Row, options: &CheckOptions) -> Result<Checked, Refusal> {
    let mut res: Option<Checked> = None;
    for (at, document) in row.documents().enumerate() {
        let options = options.of_row(row, at);
        let mut checked = check_one(document, &options).map_err(|it| row.refused(at, it))?;
        row.place(at, &mut checked.diagnostics);
        res = Some(match res {
            None => checked,
            Some(mut all) => {
                all.ok &= checked.ok;
                all.messages += checked.messages;
                all.diagnostics.extend(new_findings(&all.diagnostics, checked.diagnostics));
                all
            }
        });
    }
    Ok(res.expect("because a row has a conversation"))
}

/// Checks a document that is one conversation.
fn check_one(json: &[u8], options: &CheckOptions) -> Result<Checked, Refusal> {
    let text = std::str::from_utf8(json).ok();
    let skeleton = text.and_then(|it| options.skeleton(it));
    if let Some((skeleton, text)) = skeleton.as_ref().zip(text)
        && let Some(checked) = skeleton.check_text(text, options)
    {
        checked.trace();
        return Ok(checked);
    }
    let known = skeleton.map(|_| Format::default());
    let mut document = read_whole(json, &options.read, known)?;
    document.say_who_made_it(options.read.made_by.as_ref());
    let mut checked = document.check_text(Some(json), options);
    document.remove_unkept_fixes(json, options, &mut checked);
    Ok(checked)
}

/// Whether a document has no errors: the `ok` of [`check`].
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
    check(json, options).map(|it| it.ok)
}

/// Reads a whole document. `known` is its format if a skeleton was read; then it is not recognised again.
pub(crate) fn read_whole(
    json: &[u8],
    options: &ReadOptions,
    known: Option<Format>,
) -> Result<Document, Refusal> {
    match known.filter(|_| options.from.is_none()) {
        // The skeleton has already looked for signs of other formats.
        Some(_) => Document::read_known(json, &options.clone().with_from(known)),
        None => Document::read(json, options),
    }
}

impl CheckOptions {
    /// The options for a conversation of a row, which may end with an answer.
    fn of_row(&self, row: &Row, number: usize) -> Cow<'_, Self> {
        let rules = row.rules(number, self.chain);
        match rules == self.chain {
            true => Cow::Borrowed(self),
            false => Cow::Owned(self.clone().with_chain(rules)),
        }
    }

    /// The provider whose API rules apply, and whether they include the settings of the request.
    fn judged(&self) -> (Option<&Profile>, bool) {
        (self.profile.as_ref(), self.chain.request)
    }

    /// The skeleton, if the check does not need the whole document. `None` if the head is to be checked.
    fn skeleton(&self, json: &str) -> Option<Skeleton> {
        let asks_head = self.chain.request && self.profile.is_some();
        if asks_head { None } else { Skeleton::of_text(json, &self.read) }
    }
}

impl Document {
    /// Checks this document. Members that the provider requires or does not know are found only if the document has
    /// its [source](msg_formats::Document::source).
    pub fn check(&self, options: &CheckOptions) -> Checked {
        let text = self.source().filter(|_| !self.is_edited());
        let mut checked = self.check_text(text, options);
        if let Some(text) = text {
            self.remove_unkept_fixes(text, options, &mut checked);
        }
        checked
    }

    /// Removes the `help` of errors that a repair would leave. A format other than the provider's, and a model's
    /// answer, may have no place for the repaired value; chat messages have one for every value. Repairs the document
    /// to find out, if it has such an error.
    fn remove_unkept_fixes(&self, text: &[u8], options: &CheckOptions, checked: &mut Checked) {
        let is_promised = |it: &Diagnostic| {
            it.is_error() && it.fix.is_some() && it.code != "profile::other-format"
        };
        let is_chat = self.format() == Format::default();
        let profile = options.profile.as_ref();
        let may_lack = profile.is_some_and(|it| !is_chat && !is_asked(it, self))
            || matches!(self.side(), Side::Answer | Side::Choices);
        if !may_lack || !checked.diagnostics.iter().any(is_promised) {
            return;
        }
        let read = options.read.clone().with_from(Some(self.format()));
        let mut chain = ChainRepairOptions::new().with_check(options.chain);
        if let Some(profile) = profile {
            chain = chain.with_profile(profile);
        }
        let options = RepairOptions::default().with_read(read).with_chain(chain);
        let of = |it: &Diagnostic| (it.code.clone(), it.at.message, it.at.part);
        let kept: HashSet<_> = match repair_one(text, &options) {
            Ok(repaired) => repaired.edits.iter().map(of).collect(),
            Err(_) => HashSet::new(),
        };
        for it in checked.diagnostics.iter_mut().filter(|it| is_promised(it)) {
            if !kept.contains(&of(it)) {
                it.fix = None;
            }
        }
    }

    /// As [`Document::check`], for a document that was read from this text.
    pub(crate) fn check_text(&self, text: Option<&[u8]>, options: &CheckOptions) -> Checked {
        let read = text.and_then(|it| std::str::from_utf8(it).ok());
        let (checked, can_be_completed) =
            self.check_found(self.check_chain(options), (read, None), options);
        let completed = text
            .filter(|_| can_be_completed)
            .and_then(|it| self.completed(it, &options.read, options.judged()));
        let Some((text, (again, mut missing))) = text.zip(completed) else { return checked };
        // The other findings are those of the document with the missing words filled in.
        let completed = std::str::from_utf8(again.source().unwrap_or_default()).ok();
        let found = again.check_chain(options);
        let (mut checked, _) = again.check_found(found, (completed, None), options);
        for it in checked.diagnostics.iter_mut().filter(|it| it.at.message.is_some()) {
            (it.at.pointer, it.at.line, it.at.column) = (None, None, None);
        }
        give_answers(&mut missing, &mut checked.diagnostics);
        missing.extend(checked.diagnostics);
        msg_core::sort_by_rank(&mut missing, |it| (it.at.message, it.at.part));
        again.locate(text, &mut missing);
        checked.diagnostics = missing.into_iter().map(Diagnostic::into_advice).collect();
        Checked { ok: false, ..checked }
    }

    /// As [`Document::check_text`], given the findings of [`Document::check_chain`] and the place of the list of
    /// messages in the text, if known. Also returns whether missing words can be filled in.
    pub(crate) fn check_found(
        &self,
        mut found: Vec<Diagnostic>,
        (text, list): (Option<&str>, Option<&Range<usize>>),
        options: &CheckOptions,
    ) -> (Checked, bool) {
        // A different spelling alone is not a problem of the conversation.
        let notes = other_notes(self, options.profile.as_ref());
        let notes = notes.filter(|it| it.severity != Severity::Info || says_unread(it));
        let shapes = refused_shapes(self, options.profile.as_ref());
        let noted = self.notes().iter().filter(|it| is_foreign_part(it));
        let noted: HashSet<_> = noted.map(|it| it.at.message).collect();
        // A message with parts of another format is not also reported as unread.
        let is_noted = |it: &Diagnostic| {
            it.code == "message::unread-content" && noted.contains(&it.at.message)
        };
        let mut foreign: Vec<_> = foreign_parts(self.messages()).collect();
        foreign.retain(|it| !is_noted(it));
        let unread = unread_calls(self.as_unread(), &foreign, &found);
        if !unread.is_empty() || foreign.iter().any(is_not_understood) {
            // Such a document is not repaired.
            found.iter_mut().for_each(|it| it.fix = None);
        }
        let notes = notes.cloned().chain(shapes).chain(foreign);
        let notes = notes.chain(self.check_head(options));
        let notes = notes.chain(check_prompt(self, options.profile.as_ref()));
        let mut notes: Vec<_> =
            notes.chain(other_body(self, text.map(str::as_bytes), options)).collect();
        if !unread.is_empty() {
            remove_orphans(&mut found, &unread);
            notes.extend(unread);
        }
        // There may be very many findings: no second list, and no growth by doubling.
        found.reserve_exact(notes.len());
        found.splice(..0, notes);
        let (refused, seen) = self.refused_and_seen((text, list), options.judged()).unzip();
        let refused = refused.unwrap_or_default();
        let can_be_completed = seen.as_ref().is_some_and(|it| it.can_be_completed);
        if refused.iter().any(Diagnostic::is_error) {
            // The API's finding about a part replaces the one that its type is unknown.
            let is_told = |it: &Diagnostic| {
                refused
                    .iter()
                    .any(|other| (other.at.message, other.at.part) == (it.at.message, it.at.part))
            };
            found.retain(|it| it.code != "message::unknown-part" || !is_told(it));
        }
        add_refused(&mut found, refused);
        if let Some(rules) = &options.messages {
            found.extend(msg_core::check_all(self.messages(), rules).into_vec());
        }
        let place = |it: &Diagnostic| (it.at.message, it.at.part);
        msg_core::sort_by_rank(&mut found, place);
        if let Some(text) = text {
            self.locate_in(text, seen, &mut found);
        }
        let checked = Checked {
            ok: !found.iter().any(Diagnostic::is_error),
            format: self.format(),
            messages: self.messages().len(),
            diagnostics: found.into_iter().map(Diagnostic::into_advice).collect(),
        };
        checked.trace();
        let can_be_completed = can_be_completed && may_be_completed(&checked.diagnostics);
        (checked, can_be_completed)
    }
}

impl Document {
    /// The findings about everything in the text that the provider's API refuses, if it takes documents of this format;
    /// with the settings if these are checked (RQ-1). Also returns whether missing words can be filled in.
    pub(crate) fn refused(
        &self,
        text: Option<&[u8]>,
        judged: (Option<&Profile>, bool),
    ) -> (Vec<Diagnostic>, bool) {
        let text = text.and_then(|it| std::str::from_utf8(it).ok());
        let (found, seen) = self.refused_and_seen((text, None), judged).unwrap_or_default();
        let can_be_completed = seen.can_be_completed && may_be_completed(&found);
        (found, can_be_completed)
    }

    fn refused_and_seen<'t>(
        &self,
        (text, list): (Option<&'t str>, Option<&Range<usize>>),
        judged: (Option<&Profile>, bool),
    ) -> Option<(Vec<Diagnostic>, Seen<'t>)> {
        let (text, (profile, judged)) = text.zip(self.judged_by(judged))?;
        refused_by_api((text, list), self.format(), (&profile, judged), self.messages())
    }

    /// The profile, and the parts of this document that its API rules cover. `None` if they cover nothing.
    pub(crate) fn judged_by<'p>(
        &self,
        (profile, judges_settings): (Option<&'p Profile>, bool),
    ) -> Option<(Cow<'p, Profile>, Judged)> {
        let is_request = matches!(self.side(), Side::Conversation | Side::Continuation);
        let profile = profile.filter(|_| is_request)?;
        let judged = match (is_strict(profile, self), judges_settings) {
            (true, true) => Judged::Request,
            (true, false) => Judged::Messages,
            (false, true) if is_asked(profile, self) => Judged::CommonSettings,
            (false, _) => return None,
        };
        Some((profile.in_format(self.format().name()), judged))
    }

    /// The findings about the head of the request, if the options ask for them (RQ-1).
    pub(crate) fn check_head(&self, options: &CheckOptions) -> Vec<Diagnostic> {
        let profile = options.profile.as_ref().filter(|_| options.chain.request);
        let Some(profile) = profile else { return Vec::new() };
        let Some(head) = self.head() else { return Vec::new() };
        let mut res = check_head(&head, profile);
        res.extend(self.of_settings(&head, profile, check_settings));
        if is_strict(profile, self) {
            res.extend(tool_names(&head, profile));
        }
        res
    }

    /// Calls `make` with the settings of the head and the profile for the requested model.
    pub(crate) fn of_settings<T>(
        &self,
        head: &RequestHead,
        profile: &Profile,
        make: impl FnOnce(&Asked<'_>) -> T,
    ) -> T {
        let (_, of_model) = self.rules(msg_chainast::ChainCheckOptions::default(), Some(profile));
        let profile = of_model.as_deref().unwrap_or(profile);
        let (messages, format) = (self.messages(), self.format().name());
        make(&Asked { head, profile, messages, format })
    }

    /// The findings of the chain rules and the profile, without those of the reader.
    pub fn check_chain(&self, options: &CheckOptions) -> Vec<Diagnostic> {
        let (rules, profile) = self.rules(options.chain, options.profile.as_ref());
        let mut messages = Cow::Borrowed(self.messages());
        if self.withholds_ids(profile.as_deref()) {
            self.without_given_ids(messages.to_mut());
        }
        let messages = messages.as_ref();
        let judge = |messages: &[Message], rules: msg_chainast::ChainCheckOptions| {
            msg_chainast::check(messages, profile.as_deref(), &rules)
        };
        match self.side() {
            Side::Conversation => judge(messages, rules),
            Side::Continuation => judge(messages, rules.with_continued()),
            Side::Exchange { is_continued: false } => judge(messages, rules.with_open()),
            Side::Exchange { is_continued: true } => {
                judge(messages, rules.with_continued().with_open())
            }
            Side::Answer => {
                adapted_to_answer(messages, judge(messages, rules.with_continued().with_open()))
            }
            Side::Choices => {
                let rules = rules.with_continued().with_open();
                let choices = messages.chunks(1).enumerate();
                choices
                    .flat_map(|(at, it)| moved(adapted_to_answer(it, judge(it, rules)), at))
                    .collect()
            }
        }
    }

    /// Whether the provider refuses `function_call`, so that the ids assigned to it while reading must not be used.
    pub(crate) fn withholds_ids(&self, profile: Option<&Profile>) -> bool {
        let is_refused = |it: &Profile| it.old_calls == Acceptance::Reject;
        self.format().name() == "openai" && self.has_given_ids() && profile.is_some_and(is_refused)
    }

    /// The chain rules for this document, and the profile for the model that the request names, unless the options name
    /// one.
    pub(crate) fn rules<'p>(
        &self,
        rules: msg_chainast::ChainCheckOptions,
        profile: Option<&'p Profile>,
    ) -> (msg_chainast::ChainCheckOptions, Option<Cow<'p, Profile>>) {
        let head = profile.and_then(|_| self.borrowed_head());
        let model = head.as_ref().and_then(|it| it.model.as_deref());
        let of_model = |it: &Profile| match model {
            Some(model) if it.model.is_empty() => Some(it.asked_as(model)),
            _ => None,
        };
        let profile = profile.map(|it| {
            let it = it.in_format(self.format().name());
            let it = of_model(&it).map_or(it, Cow::Owned);
            without_impossible_rules(self.format().name(), it)
        });
        // Provider rules about a history do not apply to a lone answer, whose calls are still to be run.
        let is_answer = profile.is_some() && !rules.request && self.is_lone_answer();
        let rules = msg_chainast::ChainCheckOptions {
            open: rules.open || is_answer,
            continued: rules.continued || is_answer,
            several_systems: self.has_text_calls(),
            several_users: rules.several_users
                || self.format().joins_users()
                || has_speakers(self.messages()),
            own_format: profile.as_ref().is_some_and(|it| it.format == self.format().name()),
            thinking: match head.as_deref().map_or(rules.thinking, thinking) {
                // A provider that takes chat messages and Responses requires reasoning only in chat messages
                // (DeepSeek): Responses have no member for a placeholder, and such requests were answered.
                RequestThinking::Unknown if self.format().name() == "responses" => {
                    RequestThinking::Off
                }
                thinking => thinking,
            },
            ..rules
        };
        (rules, profile)
    }
}

/// Formats whose results have no name. A writer for a provider that requires one uses the name of the call.
const UNNAMED: [&str; 17] = [
    "ag-ui",
    "agent-framework",
    "agents-sdk",
    "anthropic",
    "atif",
    "bedrock",
    "claude-code",
    "cline",
    "codex",
    "copilot-cli",
    "goose",
    "haystack",
    "otel",
    "responses",
    "sharegpt",
    "swe-agent",
    "turns",
];

/// Formats whose calls can have a signature. For any other format, a writer uses the provider's placeholder.
const SIGNED: [&str; 12] = [
    "adk",
    "ai-sdk",
    "gemini",
    "interactions",
    "langchain",
    "langchaingo",
    "msgmd",
    "native",
    "openai",
    "openai-jsonl",
    "pydantic-ai",
    "vercel-ui",
];

/// Formats without call ids. The reader makes ids, and the writer of a request makes others.
const WITHOUT_IDS: [&str; 3] = ["msgmd", "plain", "sharegpt"];

/// Formats without a place for reasoning, so also without one for a placeholder.
const WITHOUT_REASONING: [&str; 2] = ["plain", "sharegpt"];

/// The profile without rules that cannot apply to the format: names of results, signatures and ids of calls, and
/// reasoning before calls, if the format has no place for them.
fn without_impossible_rules<'p>(format: &str, mut profile: Cow<'p, Profile>) -> Cow<'p, Profile> {
    if profile.results_named && UNNAMED.contains(&format) {
        profile.to_mut().results_named = false;
    }
    if profile.reasoning_require == ReasoningRequired::CallSignature && !SIGNED.contains(&format) {
        profile.to_mut().reasoning_require = ReasoningRequired::None;
    }
    if profile.reasoning_require != ReasoningRequired::None && WITHOUT_REASONING.contains(&format) {
        profile.to_mut().reasoning_require = ReasoningRequired::None;
    }
    match WITHOUT_IDS.contains(&format) {
        true => Cow::Owned(profile.into_owned().with_any_ids()),
        false => profile,
    }
}

/// The finding for a request in the format of another API that is not valid in the provider's format either. The
/// provider's API rules are then not applied to it.
pub(crate) fn other_body(
    document: &Document,
    text: Option<&[u8]>,
    options: &CheckOptions,
) -> Option<Diagnostic> {
    let profile = options.profile.as_ref().filter(|_| options.chain.request)?;
    let (format, is_body) = (document.format(), document.head().is_some());
    let is_own = is_asked(profile, document) || profile.name == "generic";
    let wanted: Format = profile.format.parse().ok()?;
    if is_own || !is_body || !format.is_of_an_api() || !STRICT.contains(&&*profile.name) {
        return None;
    }
    let read = options.read.clone().with_from(Some(wanted));
    let as_wanted = Document::read(text?, &read).ok();
    let is_sound =
        |it: Document| !it.check_text(text, options).diagnostics.iter().any(Diagnostic::is_error);
    if as_wanted.is_some_and(is_sound) {
        return None;
    }
    let (what, titled) = (document.what(), wanted.title());
    let text = format!("`{}` takes {titled} requests, found {}", profile.name, with_article(&what));
    let fix = format!("convert it: `msg convert --to {wanted} --request`");
    Some(Diagnostic::error(Code::new("profile::other-format"), text).with_fix(fix))
}

/// Whether the request turns thinking on or off. It is certainly on only if the request has a budget.
fn thinking(head: &RequestHead) -> RequestThinking {
    match head.reasoning.thinking {
        Some(request::Thinking::Off | request::Thinking::Budget(0)) => RequestThinking::Off,
        Some(request::Thinking::Budget(_)) => RequestThinking::On,
        // Some providers of chat messages use Anthropic's member.
        _ => match head.rest.iter().find(|it| it.0 == "thinking").and_then(|it| type_of(&it.1)) {
            Some(it) if it == "disabled" => RequestThinking::Off,
            Some(it) if it == "enabled" => RequestThinking::On,
            _ => RequestThinking::Unknown,
        },
    }
}

/// The `type` of a setting such as `{"type":"disabled"}`.
fn type_of(setting: &RawJson) -> Option<String> {
    setting.member("type")?.parse().ok()
}

/// Adapts findings to a lone answer: it may begin with the assistant, and results belong in the next request.
fn adapted_to_answer(messages: &[Message], mut found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    found.retain(|it| it.code.as_str() != "chain::unexpected-first-role");
    let part = |it: &Diagnostic| messages.get(it.at.message?)?.parts.get(it.at.part?);
    let is_result = |it: &&mut Diagnostic| {
        it.code == "chain::misplaced-part"
            && part(it).is_some_and(|it| it.as_tool_result().is_some())
    };
    for it in found.iter_mut().filter(is_result) {
        it.set_message(format!("{}: it belongs in the next request", it.message()));
    }
    found
}

/// Moves findings about a list of messages to its position `start` in the document.
pub(crate) fn moved(mut found: Vec<Diagnostic>, start: usize) -> Vec<Diagnostic> {
    for it in &mut found {
        it.at.message = it.at.message.map(|it| it + start);
    }
    found
}

// The results of a check and of a repair.

/// The result of a check.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// Whether no finding is an error.
    pub ok: bool,
    /// The format of the document.
    pub format: Format,
    /// The number of messages.
    pub messages: usize,
    /// All findings, in the order of the messages.
    pub diagnostics: Vec<Diagnostic>,
}

impl Checked {
    pub(crate) fn trace(&self) {
        let (format, findings) = (self.format.name(), self.diagnostics.len());
        tracing::debug!(format, messages = self.messages, findings, ok = self.ok, "checked");
    }

    /// Whether it has no errors, and has messages.
    pub fn is_clean(&self) -> bool {
        self.ok && self.messages > 0
    }

    /// The line of `msg check --jsonl`, without its line end.
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

/// A repaired document.
#[derive(Debug, Clone, PartialEq)]
pub struct Repaired {
    /// The document, in its own format.
    pub document: Vec<u8>,
    /// The format of the document; for a row, the format of its first conversation.
    pub format: Format,
    /// Whether anything was repaired.
    pub changed: bool,
    /// The number of messages.
    pub messages: usize,
    /// The edits, in the order of the input.
    pub edits: Vec<Diagnostic>,
    /// The errors that have no repair: the errors that a check of the repaired document finds, in its order.
    pub remaining: Vec<Diagnostic>,
}

impl Repaired {
    /// The line of the report, without its line end: `{"edits":[…]}`, and `remaining` if errors
    /// remain.
    pub fn report_json(&self) -> Vec<u8> {
        repair_json(&self.edits, &[], &self.remaining, None)
    }
}
