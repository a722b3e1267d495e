//! Changes a valid chain into one that a provider accepts (CA-71, CA-72), in steps over the whole chain, in the order
//! of the rules.
//!
//! The chain is valid before and after each step. Problems without a repair are reported without a fix.
//!
//! ```text
//! valid chain ─▶ roles ─▶ names ─▶ arguments ─▶ media, results ─▶ reasoning ─▶ members ─▶ neighbours, empty messages ─▶ accepted
//!                   each finding is a Diagnostic, with the provider's own words where they are known
//! ```

mod content;
mod media;
mod members;
mod names;
mod reasoning;
mod systems;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use msg_core::{Code, Diagnostic, IdSource, Part, Role, Severity, with_article};

use crate::{
    analyze::{Chain, Enforced, Scope},
    profile::{Acceptance, Profile},
    repair::{Item, messages_of},
    tree::ChainAst,
};

impl ChainAst {
    /// Changes a valid chain into one that this provider accepts without a warning. Returns the edits, in the
    /// order of the chain (CA-72). Linear.
    ///
    /// ```
    /// use msg_chainast::{ChainAst, ChainCheckOptions, Message, Profile, SeededIds};
    ///
    /// let bedrock = Profile::named("bedrock").ok_or("no such profile")?;
    /// let mut chain = ChainAst::parse(vec![Message::user("Hi"), Message::assistant(" ").with_text(" ")])?;
    /// let edits = chain.conform(bedrock, &mut SeededIds::new(1));
    /// assert_eq!(edits[0].code, "profile::empty-message");
    /// assert!(chain.check(bedrock, &ChainCheckOptions::new()).is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn conform(&mut self, profile: &Profile, ids: &mut dyn IdSource) -> Vec<Diagnostic> {
        let _span = tracing::debug_span!("chain_conform", messages = self.sizes.messages).entered();
        let messages = std::mem::take(self).into_messages();
        let items = messages.into_iter().enumerate().map(|(at, it)| Item::whole(it, at)).collect();
        let scope = Scope { enforced: Enforced::STRICT, all: true };
        let (items, mut report) = conform(items, profile, scope, ids, &HashMap::new());
        msg_core::sort_by_rank(&mut report, position);
        *self = ChainAst::build(messages_of(items));
        tracing::debug!(sections = self.sections().len(), found = report.len());
        report
    }
}

/// Runs all steps. `ids_in_input` holds the ids that were others in the input, by place.
pub(crate) fn conform<'m>(
    items: Vec<Item<'m>>,
    profile: &Profile,
    Scope { enforced, all }: Scope,
    ids: &mut dyn IdSource,
    ids_in_input: &HashMap<(usize, usize), String>,
) -> (Vec<Item<'m>>, Vec<Diagnostic>) {
    let mut it = Conform {
        profile,
        enforced,
        all,
        items,
        ids_in_input,
        report: Vec::new(),
        emptied: Vec::new(),
    };
    it.developer_role();
    it.empty_systems();
    it.system_role();
    it.user_message();
    it.tool_names();
    it.split_results();
    it.message_names();
    it.arguments();
    // Comes before every step that depends on the beginnings of turns, because it may insert a user message.
    it.media_places();
    it.empty_results();
    it.media_types();
    it.file_names();
    it.surplus_files();
    it.file_texts();
    it.item_ids();
    it.foreign_reasoning();
    it.reasoning_kept();
    it.lone_reasoning();
    it.reasoning_required();
    it.server_tools();
    it.untyped_parts();
    it.unknown_members();
    it.consecutive_assistants();
    it.null_contents();
    it.empty_messages();
    it.last_reasoning();
    it.empty_texts();
    it.cache_markers();
    // Comes after every step that may insert user messages, and before the step that separates them from results.
    it.later_systems();
    it.user_after_tool();
    it.surplus_calls();
    it.call_ids(ids);
    it.emptied_messages();
    (it.items, it.report)
}

/// White space that a request may not end with (PM-8).
pub(crate) fn trim_last(items: &mut [Item<'_>], profile: &Profile) -> Option<Diagnostic> {
    let last = items.last_mut().filter(|it| it.message.role == Role::Assistant)?;
    let part = last.message.parts.len().checked_sub(1)?;
    let place = last.place(part);
    let Part::Text(it) = &last.message.parts[part] else { return None };
    let end = it.text.trim_end().len();
    if !profile.last_trim || end == it.text.len() || end == 0 {
        return None;
    }
    if let Part::Text(it) = &mut last.message.to_mut().parts[part] {
        it.text.truncate(end);
    }
    let sentence = "the last assistant text ends with whitespace";
    let code = Code::new("profile::trailing-white-space");
    let it = Diagnostic::error(code, sentence).with_fix("trimmed");
    Some(it.at_part(place.0, place.1))
}

/// Reports an end that a request must not have. Never repaired.
pub(crate) fn last_message(items: &[Item<'_>], profile: &Profile) -> Option<Diagnostic> {
    let last = items.last()?;
    // If the provider has a member for it, a request may begin the answer for the model.
    let begins = |name: &str| !name.is_empty() && name == profile.prefill;
    let is_begun = last.message.extra.all().any(|it| begins(it.1) && it.2.text() == "true");
    (profile.user_last && last.message.role == Role::Assistant && !is_begun).then(|| {
        let sentence = "the last message must not be from the assistant";
        Diagnostic::error(Code::new("profile::last-message"), sentence)
            .at_message(last.origin.message)
    })
}

/// Requires a thought at the beginning of the answer that results belong to, or that the model shall continue, if
/// thinking is on (PM-18). Never repaired, because a thought cannot be invented.
pub(crate) fn missing_thinking(items: &[Item<'_>], profile: &Profile) -> Option<Diagnostic> {
    let is = |it: &Item<'_>, role: Role| it.message.role == role;
    let n_results = items.iter().rev().take_while(|it| is(it, Role::Tool)).count();
    let before = &items[..items.len() - n_results];
    // Consecutive assistant messages count as one.
    let n_answers = before.iter().rev().take_while(|it| is(it, Role::Assistant)).count();
    let answer = &before[before.len() - n_answers..];
    let first = answer.iter().find_map(|it| it.message.parts.first().map(|part| (it, part)));
    // A message that may not end a request is reported as such.
    let is_judged = profile.reasoning_first && (n_results > 0 || !profile.user_last);
    let (item, part) = first.filter(|_| is_judged)?;
    let sentence = match n_results {
        0 => "the assistant message at the end must begin with thinking while thinking is on",
        _ => "an assistant message with tool calls must begin with thinking while thinking is on",
    };
    part.as_reasoning().is_none().then(|| {
        Diagnostic::error(Code::new("profile::thinking-missing"), sentence)
            .at_message(item.origin.message)
    })
}

/// The order of the input.
pub(crate) fn position(it: &Diagnostic) -> (Option<usize>, Option<usize>) {
    (it.at.message, it.at.part)
}

// The state that the steps share: the messages, the report, and how a breach is reported.

/// A chain during the steps, and their findings.
pub(crate) struct Conform<'a, 'm> {
    pub(crate) profile: &'a Profile,
    /// The rules of the chain that hold besides: a tree is always of a strict chain.
    pub(crate) enforced: Enforced,
    /// Whether to repair warnings too.
    pub(crate) all: bool,
    pub(crate) items: Vec<Item<'m>>,
    pub(crate) ids_in_input: &'a HashMap<(usize, usize), String>,
    pub(crate) report: Vec<Diagnostic>,
    /// The input messages without content after reasoning was removed.
    pub(crate) emptied: Vec<usize>,
}

/// An error with the edit that repairs it.
pub(crate) fn error(
    code: &'static str,
    sentence: impl Into<Cow<'static, str>>,
    fix: impl Into<Cow<'static, str>>,
) -> Diagnostic {
    Diagnostic::error(Code::new(code), sentence).with_fix(fix)
}

/// Like [`error`], for content that is accepted but probably unintended or ignored.
pub(crate) fn warning(
    code: &'static str,
    sentence: impl Into<Cow<'static, str>>,
    fix: impl Into<Cow<'static, str>>,
) -> Diagnostic {
    Diagnostic::warning(Code::new(code), sentence).with_fix(fix)
}

/// Adds to the diagnostic that nothing was repaired, if so.
pub(crate) fn mended_if(mended: bool, mut it: Diagnostic) -> Diagnostic {
    it.fix = it.fix.filter(|_| mended);
    it
}

impl Conform<'_, '_> {
    /// Makes the breach of an uncertain field a warning.
    pub(crate) fn doubting(&self, field: &str, mut it: Diagnostic) -> Diagnostic {
        if self.profile.doubts(field) {
            it.severity = Severity::Warning;
        }
        it
    }

    /// Whether to repair the breach of a field. Uncertain fields are repaired only if warnings are.
    pub(crate) fn mends(&self, field: &str) -> bool {
        self.all || !self.profile.doubts(field)
    }

    /// Reports a finding at a message.
    pub(crate) fn at_message(&mut self, item: usize, it: Diagnostic) {
        self.at_input(self.items[item].origin.message, it);
    }

    /// Reports a finding at a message of the input.
    pub(crate) fn at_input(&mut self, message: usize, it: Diagnostic) {
        self.report.push(it.at_message(message));
    }

    /// Reports a finding at a part, with the id of its call in the input.
    pub(crate) fn at_part(&mut self, item: usize, part: usize, it: Diagnostic) {
        let place = self.items[item].place(part);
        let id = match self.items[item].message.parts.get(part) {
            Some(Part::ToolCall(it)) => Some(it.id.as_str()),
            Some(Part::ToolResult(it)) => Some(it.call_id.as_str()),
            _ => None,
        };
        let mut it = it.at_part(place.0, place.1);
        it.at.tool_call_id = id
            .map(|id| self.ids_in_input.get(&place).map_or(id, String::as_str))
            .map(str::to_owned);
        self.report.push(it);
    }

    /// Reports the parts that break a rule, and repairs them. `judge` returns the problem and the input of `mend`,
    /// or `None` for a part that stays unchanged.
    pub(crate) fn mend_parts<T>(
        &mut self,
        mut judge: impl FnMut(&Part) -> Option<(Diagnostic, Option<T>)>,
        mend: impl Fn(&mut Part, T),
    ) {
        for at in 0..self.items.len() {
            for part in 0..self.items[at].message.parts.len() {
                let Some((it, new)) = judge(&self.items[at].message.parts[part]) else { continue };
                self.at_part(at, part, mended_if(new.is_some(), it));
                if let Some(new) = new {
                    mend(&mut self.items[at].message.to_mut().parts[part], new);
                }
            }
        }
    }

    /// Removes parts of reasoning, and records a message without content.
    pub(crate) fn remove_reasoning(&mut self, item: usize, goes: impl Fn(usize) -> bool) {
        let item = &mut self.items[item];
        item.retain_parts(|part, _| !goes(part));
        if item.message.parts.iter().all(|it| is_empty_text(it, false)) {
            self.emptied.push(item.origin.message);
        }
    }

    /// Reports emptied messages as a later check would (CA-11).
    fn emptied_messages(&mut self) {
        let emptied = std::mem::take(&mut self.emptied);
        let mut emptied = emptied.into_iter().collect::<HashSet<_>>();
        for item in &self.items {
            let message = &item.message;
            let empty = message.parts.iter().all(|it| is_empty_text(it, false));
            if empty && emptied.remove(&item.origin.message) {
                let sentence =
                    format!("{} message without content", with_article(message.role.as_str()));
                let it = Diagnostic::warning(Code::new("chain::empty-message"), sentence);
                self.report.push(it.at_message(item.origin.message));
            }
        }
    }

    /// The places of an item's calls.
    pub(crate) fn calls(&self, item: usize) -> Vec<usize> {
        let parts = self.items[item].message.parts.iter().enumerate();
        parts.filter(|it| it.1.as_tool_call().is_some()).map(|it| it.0).collect()
    }
}

/// Whether a part is an empty text; with `blank`, also a text of white space.
pub(crate) fn is_empty_text(part: &Part, blank: bool) -> bool {
    matches!(part, Part::Text(it) if is_empty(&it.text, blank))
}

/// Whether a text is empty; with `blank`, also if it is white space.
pub(crate) fn is_empty(text: &str, blank: bool) -> bool {
    if blank { text.trim().is_empty() } else { text.is_empty() }
}

// Media that a provider refuses and only decoding could repair: types, addresses, sizes (PM-33 to PM-36, PM-110,
// PM-111). Judged on the input messages.

/// Checks all media, in the order of the input. Linear: reads only the size of payloads and the headers of images.
pub(crate) fn unmendable(chain: Chain<'_>, profile: Option<&Profile>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let Some(profile) = profile.filter(|it| judges(it)) else { return found };
    let side_max = side_max(chain, profile);
    for at in 0..chain.len() {
        for (part, it) in chain.message(at as u32).parts.iter().enumerate() {
            let parts = match it {
                Part::ToolResult(it) => it.content.parts(),
                Part::Image(_) | Part::File(_) => std::slice::from_ref(it),
                _ => continue,
            };
            for it in parts {
                let refused = refused(it, profile).or_else(|| too_large(it, side_max));
                found.extend(refused.map(|it| it.at_part(at, part)));
            }
        }
    }
    found
}

fn judges(profile: &Profile) -> bool {
    !profile.image_types.is_empty()
        || !profile.file_types.is_empty()
        || profile.image_bytes_max > 0
        || profile.image_side_max > 0
        || profile.many_images > 0
        || profile.media_urls == Acceptance::Reject
        || profile.media_s3 == Acceptance::Reject
}

/// The maximum pixels of an image side, which depends on the number of images; 0 for no limit.
fn side_max(chain: Chain<'_>, profile: &Profile) -> usize {
    let images = |it: &Part| match it {
        Part::Image(_) => 1,
        Part::ToolResult(it) => {
            it.content.parts().iter().filter(|it| matches!(it, Part::Image(_))).count()
        }
        _ => 0,
    };
    let n = || chain.iter().flat_map(|it| &it.parts).map(images).sum::<usize>();
    match profile.many_images > 0 && n() > profile.many_images {
        true => profile.many_images_side_max,
        false => profile.image_side_max,
    }
}

fn too_large(part: &Part, side_max: usize) -> Option<Diagnostic> {
    let Part::Image(it) = part else { return None };
    let (width, height) = it.pixels().filter(|_| side_max > 0)?;
    let is_larger = width.max(height) as usize > side_max;
    let sentence = format!("image is {width} x {height} pixels, the limit is {side_max} per side");
    is_larger.then(|| Diagnostic::error(Code::new("profile::image-size"), sentence))
}

/// The accepted types, if there are few.
fn expected(types: &[String]) -> String {
    const FEW: usize = 7;
    match types.split_last() {
        Some((last, others)) if !others.is_empty() && types.len() <= FEW => {
            format!(", expected {} or {last}", others.join(", "))
        }
        _ => String::new(),
    }
}

fn refused(part: &Part, profile: &Profile) -> Option<Diagnostic> {
    let error = |code, sentence: String| Some(Diagnostic::error(Code::new(code), sentence));
    let (url, kind) = match part {
        Part::Image(it) => (it.url.as_deref(), it.media_type.as_deref()),
        Part::File(it) => (it.data.as_deref().or(it.url.as_deref()), it.media_type.as_deref()),
        _ => return None,
    };
    let is_image = matches!(part, Part::Image(_));
    let data = url.and_then(|it| it.strip_prefix("data:"));
    let is_address = url.is_some_and(|it| it.starts_with("http://") || it.starts_with("https://"));
    if is_address && profile.media_urls == Acceptance::Reject {
        let code = if is_image { "profile::image-type" } else { "profile::file-type" };
        return error(code, "found a URL, only inline data is accepted".to_owned());
    }
    if url.is_some_and(|it| it.starts_with("s3://")) && profile.media_s3 == Acceptance::Reject {
        let what = msg_core::with_article(media::kind(part).unwrap_or("file"));
        let text = format!("{what} in S3, expected its bytes: only Amazon Nova takes S3 links");
        return error("profile::media-url", text);
    }
    let kind = data.and_then(|it| it.split([';', ',']).next()).filter(|it| !it.is_empty()).or(kind);
    let (types, code) = match is_image {
        true => (&profile.image_types, "profile::image-type"),
        false => (&profile.file_types, "profile::file-type"),
    };
    if let Some(kind) = kind
        // A repaired one is reported with its edit.
        && media::wrong_type(part, profile).is_none()
        && (is_image || media::is_document(part))
        && !types.is_empty()
        && !types.iter().any(|it| it == kind)
    {
        return error(code, format!("media type `{kind}` is not accepted{}", expected(types)));
    }
    let size = data.and_then(|it| it.split_once(',')).map_or(0, |it| it.1.len());
    (is_image && profile.image_bytes_max > 0 && size > profile.image_bytes_max).then(|| {
        let max = profile.image_bytes_max;
        let sentence = format!("image is {size} bytes of base64, the limit is {max}");
        Diagnostic::error(Code::new("profile::image-size"), sentence)
    })
}
