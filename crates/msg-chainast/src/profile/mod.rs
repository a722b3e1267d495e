//! What a provider accepts, as data (CA-70 to CA-73).
//!
//! A profile knows nothing of a wire format. The built-in ones are generated from `profiles.toml`; one that
//! a user writes in a file of the same shape is loaded with the feature `toml`.

#[rustfmt::skip]
mod answers;
mod class;
mod fields;
#[cfg(feature = "toml")]
mod file;
mod rules;
#[rustfmt::skip]
mod table;

use std::sync::{Arc, LazyLock};

use msg_core::Severity;

pub use class::CharClass;
#[cfg(feature = "toml")]
pub(crate) use fields::FIELDS;
pub(crate) use fields::FieldError;
pub(crate) use fields::Value;
pub use rules::{
    Acceptance, ArgumentsRule, LaterResults, ReasoningBound, ReasoningKept, ReasoningRequired,
    ServerTools, SystemPlace, UserMessage,
};

use crate::ids::IdPattern;

/// What one provider accepts (CA-72). Plain data: change a copy to make another.
///
/// ```
/// use msg_chainast::Profile;
///
/// let bedrock = Profile::named("bedrock").ok_or("no such profile")?;
/// assert!(bedrock.ids_unique_in_chain);
/// assert_eq!(Profile::named("moonshot").map(|it| it.name.as_str()), Some("kimi"));
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Profile {
    /// The name by which it is asked for.
    pub name: String,
    /// What it is the profile of, for people.
    pub title: String,
    /// Other names.
    pub aliases: Vec<String>,
    /// The name of the format in which the provider takes requests.
    pub format: String,
    /// The model that is asked, if that is known; for what is bound to a model.
    pub model: String,
    /// The account that asks, if that is known.
    pub account: String,
    /// The characters of a call id.
    pub id_class: CharClass,
    /// The least length of a call id in bytes.
    pub id_min: usize,
    /// The greatest length of a call id in bytes; 0 for no limit.
    pub id_max: usize,
    /// The pattern of fresh ids.
    pub id_pattern: IdPattern,
    /// Whether an id has to be of the pattern, and not only of the class.
    pub id_shape: bool,
    /// Whether an id may occur once in the whole chain, and not only once in a message (`id_unique`).
    pub ids_unique_in_chain: bool,
    /// How bad an id is that is not accepted.
    pub id_severity: Severity,
    /// The characters of a tool's name.
    pub name_class: CharClass,
    /// What a tool's name begins with.
    pub name_first: CharClass,
    /// The greatest length of a tool's name in bytes; 0 for no limit.
    pub name_max: usize,
    /// Whether a user message is required.
    pub user: UserMessage,
    /// Whether the chain may begin with an assistant message (rule 1 of the chain).
    pub first_role: Acceptance,
    /// Whether a user message may follow another one.
    pub consecutive_user: Acceptance,
    /// Whether a system message may stand behind other messages.
    pub system_place: Acceptance,
    /// Whether the chain may begin with several system messages.
    pub repeated_system: Acceptance,
    /// Whether a system message that is not accepted where it stands becomes a user message there; else it joins
    /// the one at the front (`later_system`).
    pub later_system_as_user: bool,
    /// Whether results may come behind messages that follow their pair.
    pub interleaved_calls: LaterResults,
    /// Whether results may come before the first call, where the chain continues one that the provider has.
    pub leading_results: Acceptance,
    /// Whether two assistant messages in a row are refused.
    pub alternate: bool,
    /// Whether no user message may follow tool results (`after_tool`).
    pub assistant_after_tool: bool,
    /// Where the system prompt goes; for wire formats.
    pub system: SystemPlace,
    /// Whether the role developer is not known, so that system stands in its place (`developer`).
    pub developer_as_system: bool,
    /// Whose messages are refused without content.
    pub empty: Vec<msg_core::Role>,
    /// Whether only a message without a part is empty, and not one of empty texts (`empty_is`).
    pub empty_texts_count: bool,
    /// Whether white space alone is no content.
    pub blank: bool,
    /// Whether an empty text part beside other content is accepted.
    pub empty_text: Acceptance,
    /// What the arguments of a call have to be.
    pub arguments: ArgumentsRule,
    /// Whether a result has to bear the name of its call (`result_name`).
    pub results_named: bool,
    /// The characters of a message's name; none if messages have no name.
    pub message_name: Option<CharClass>,
    /// The greatest length of a message's name in bytes; 0 for no limit.
    pub message_name_max: usize,
    /// How many calls a message may hold; 0 for no limit.
    pub max_calls: usize,
    /// Whether a request may not end with an assistant message (`last`).
    pub user_last: bool,
    /// Which reasoning is accepted.
    pub reasoning_keep: ReasoningKept,
    /// Whether only signed, redacted or encrypted reasoning is accepted.
    pub reasoning_signed: bool,
    /// Whether reasoning that the provider keeps is accepted by the id of its item, too.
    pub reasoning_stored: Acceptance,
    /// Whether the item of such reasoning may stand without the one that it was made for.
    pub lone_reasoning: Acceptance,
    /// To what signed reasoning is bound: what somebody else made is refused.
    pub reasoning_bound: ReasoningBound,
    /// Where reasoning is required.
    pub reasoning_require: ReasoningRequired,
    /// What stands in the place of reasoning that is required and missing.
    pub reasoning_fallback: String,
    /// Whether the answer with calls that a request goes on from has to begin with reasoning, where the request
    /// turns thinking on.
    pub reasoning_first: bool,
    /// Whether the signature of a call is refused (`call_signature`).
    pub drops_call_signatures: bool,
    /// Where media may stand: roles, or `role:kind` with `image`, `audio`, `file` or `video`; or `any`.
    pub media_roles: Vec<String>,
    /// Whether media may be given by their address.
    pub media_urls: Acceptance,
    /// The MIME types of images; none for all.
    pub image_types: Vec<String>,
    /// The greatest size of an image in bytes of base64; 0 for no limit.
    pub image_bytes_max: usize,
    /// The greatest width and height of an image in pixels; 0 for no limit.
    pub image_side_max: usize,
    /// How many images may stand in a request before they have to be smaller; 0 for any number.
    pub many_images: usize,
    /// The greatest width and height in pixels where there are more images.
    pub many_images_side_max: usize,
    /// The MIME types of documents; none for all.
    pub file_types: Vec<String>,
    /// The characters of a document's name.
    pub file_name_class: CharClass,
    /// The greatest length of a document's name in bytes; 0 for no limit.
    pub file_name_max: usize,
    /// Whether a document needs a text beside it.
    pub file_needs_text: bool,
    /// Whether a result may be without content.
    pub empty_result: Acceptance,
    /// Whether a failed result may hold more than text.
    pub error_result: Acceptance,
    /// Whether a content part may be without a type.
    pub untyped_parts: Acceptance,
    /// Whether only extra members are taken that this model knows (`members`).
    pub known_members_only: bool,
    /// The names of members that are refused wherever they stand.
    pub refused_members: Vec<String>,
    /// How many cache markers a request may have; 0 for no limit.
    pub cache_max: usize,
    /// The members of a cache marker; none for all.
    pub cache_members: Vec<String>,
    /// What of the provider's own tools may be sent.
    pub server_tools: ServerTools,
    /// Whether the last text of a request that ends with an assistant message may not end in white space.
    pub last_trim: bool,
    /// The fields that are not certain.
    pub doubt: Vec<String>,
    /// Where a field's value comes from: (field, source).
    pub sources: Vec<(String, String)>,
    /// What the provider is known to answer where a rule is broken.
    pub rules: Vec<ProviderRule>,
}

/// A rule of a provider, in the words in which the provider refuses what breaks it (PM-1 to PM-191).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProviderRule {
    /// The number of the rule.
    pub number: String,
    /// The codes of the findings that tell of a breach.
    pub codes: Vec<String>,
    /// What the provider answers; `…` stands for what differs.
    pub answer: Arc<str>,
    /// Where the answer was seen.
    pub source: String,
}

impl ProviderRule {
    /// The rule of its number, codes, answer and source; codes are parted by commas.
    fn of([number, codes, answer, source]: &[&str; 4]) -> Self {
        ProviderRule {
            number: (*number).to_owned(),
            codes: codes.split(", ").map(str::to_owned).collect(),
            answer: (*answer).into(),
            source: (*source).to_owned(),
        }
    }
}

impl Profile {
    /// A profile that accepts what the default of the table accepts.
    pub fn new(name: impl Into<String>) -> Self {
        let mut profile = BASE.clone();
        profile.name = name.into();
        profile
    }

    /// The built-in profile of this name or alias.
    pub fn named(name: &str) -> Option<&'static Profile> {
        let is_it = |it: &&Profile| it.name == name || it.aliases.iter().any(|it| it == name);
        Profile::all().iter().find(is_it)
    }

    /// All built-in profiles.
    pub fn all() -> &'static [Profile] {
        &ALL
    }

    /// What the provider answers to a chain with this finding, if that is known.
    ///
    /// ```
    /// use msg_chainast::Profile;
    ///
    /// let openai = Profile::named("openai").ok_or("no such profile")?;
    /// let answer = openai.answer("chain::missing-tool-result").ok_or("not known")?;
    /// assert!(answer.starts_with("An assistant message with 'tool_calls' must be followed by"));
    /// # Ok::<(), &str>(())
    /// ```
    pub fn answer(&self, code: &str) -> Option<&Arc<str>> {
        let tells = |it: &&ProviderRule| it.codes.iter().any(|it| it == code);
        self.rules.iter().find(tells).map(|it| &it.answer)
    }

    /// Sets a field from its text in a profile file.
    ///
    /// # Errors
    /// If there is no such field, or it holds something else.
    pub(crate) fn set(&mut self, field: &str, value: Value<'_>) -> Result<(), FieldError> {
        fields::set(self, field, value)
    }

    /// The text of each field, in the order of the table; for printing.
    ///
    /// ```
    /// use msg_chainast::Profile;
    ///
    /// let mistral = Profile::named("mistral").ok_or("no such profile")?;
    /// assert!(mistral.fields().any(|it| it == ("id_pattern", "{r:9:b}".to_owned())));
    /// # Ok::<(), &str>(())
    /// ```
    pub fn fields(&self) -> impl Iterator<Item = (&'static str, String)> + '_ {
        fields::all(self).into_iter()
    }
}

static BASE: LazyLock<Profile> = LazyLock::new(|| {
    let mut base = Profile {
        name: String::new(),
        title: String::new(),
        aliases: Vec::new(),
        format: "openai".to_owned(),
        model: String::new(),
        account: String::new(),
        id_class: CharClass::any(),
        id_min: 1,
        id_max: 0,
        id_pattern: "call_{r:24:b}".parse().expect("because the text is a pattern"),
        id_shape: false,
        ids_unique_in_chain: false,
        id_severity: Severity::Error,
        name_class: CharClass::any(),
        name_first: CharClass::any(),
        name_max: 0,
        user: UserMessage::Any,
        first_role: Acceptance::Reject,
        consecutive_user: Acceptance::Reject,
        system_place: Acceptance::Reject,
        repeated_system: Acceptance::Reject,
        later_system_as_user: false,
        interleaved_calls: LaterResults::Reject,
        leading_results: Acceptance::Reject,
        alternate: false,
        assistant_after_tool: false,
        system: SystemPlace::Message,
        developer_as_system: false,
        empty: Vec::new(),
        empty_texts_count: false,
        blank: false,
        empty_text: Acceptance::Accept,
        arguments: ArgumentsRule::Any,
        results_named: false,
        message_name: None,
        message_name_max: 0,
        max_calls: 0,
        user_last: false,
        reasoning_keep: ReasoningKept::All,
        reasoning_signed: false,
        reasoning_stored: Acceptance::Reject,
        lone_reasoning: Acceptance::Accept,
        reasoning_bound: ReasoningBound::None,
        reasoning_require: ReasoningRequired::None,
        reasoning_fallback: String::new(),
        reasoning_first: false,
        drops_call_signatures: false,
        media_roles: vec!["any".to_owned()],
        media_urls: Acceptance::Accept,
        image_types: Vec::new(),
        image_bytes_max: 0,
        image_side_max: 0,
        many_images: 0,
        many_images_side_max: 0,
        file_types: Vec::new(),
        file_name_class: CharClass::any(),
        file_name_max: 0,
        file_needs_text: false,
        empty_result: Acceptance::Accept,
        error_result: Acceptance::Accept,
        untyped_parts: Acceptance::Accept,
        known_members_only: false,
        refused_members: Vec::new(),
        cache_max: 0,
        cache_members: Vec::new(),
        server_tools: ServerTools::Keep,
        last_trim: false,
        doubt: Vec::new(),
        sources: Vec::new(),
        rules: Vec::new(),
    };
    fill(&mut base, table::DEFAULT);
    base
});

static ALL: LazyLock<Vec<Profile>> = LazyLock::new(|| {
    let profile = |it: &table::Row| {
        let mut profile = Profile::new(it.name);
        fill(&mut profile, it.fields);
        let owned = |it: &(&str, &str)| (it.0.to_owned(), it.1.to_owned());
        profile.sources = it.sources.iter().map(owned).collect();
        let answers = answers::ANSWERS.iter().find(|rules| rules.0 == it.name);
        profile.rules = answers.into_iter().flat_map(|it| it.1).map(ProviderRule::of).collect();
        profile
    };
    table::ROWS.iter().map(profile).collect()
});

fn fill(profile: &mut Profile, fields: &[(&str, Value<'_>)]) {
    for (field, value) in fields {
        profile.set(field, *value).expect("because the generator reads each value as this does");
    }
}
