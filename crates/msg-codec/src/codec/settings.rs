//! The settings of a request that are one value each (AN-21), by the names that an API has for them: read, written, and
//! reported where an API has none.
//!
//! ```text
//! ("maxTokens", Word::MaxTokens, Takes::From(1))      {"maxTokens":9} ▶ head, max_tokens 9 ▶ {"maxTokens":9}
//! ```

use msg_core::request::{Effort, RequestHead};
use msg_core::{RawJson, Report};

/// A setting that several providers have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the members of a head, where they are described")]
pub enum Word {
    MaxTokens,
    Temperature,
    TopP,
    TopK,
    Seed,
    FrequencyPenalty,
    PresencePenalty,
    Stop,
    Stream,
    ParallelToolCalls,
    Choices,
    Logprobs,
    TopLogprobs,
    Modalities,
    Effort,
    ServiceTier,
    User,
    SafetyIdentifier,
}

/// Which values of a setting an API takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Takes {
    /// All of them.
    All,
    /// Numbers of at least this.
    From(u64),
    /// Numbers between these.
    Between(u8, u8),
    /// So many texts.
    Most(usize),
    /// Efforts between these.
    Efforts(Effort, Effort),
}

/// The names that an API has for settings.
#[derive(Debug)]
pub struct Settings {
    /// What documents of the format are called in a report.
    pub target: &'static str,
    /// The members of one object that are settings, in the order in which they are written.
    pub members: &'static [(&'static str, Word, Takes)],
    /// Settings that the API has elsewhere.
    pub elsewhere: &'static [Word],
}

impl Settings {
    /// Takes a member of the object at this pointer; none if it is not a setting, or of another type.
    pub fn take(
        &self,
        head: &mut RequestHead,
        pointer: &str,
        name: &str,
        raw: &RawJson,
    ) -> Option<()> {
        let (_, word, _) = self.members.iter().find(|it| it.0 == name)?;
        word.set(head, raw)?;
        if !pointer.is_empty() || name != word.name() {
            head.place(word.name(), format!("{pointer}/{name}"));
        }
        Some(())
    }

    /// Takes all members of the object that the member `path` is; those that are not settings go to `other`, and what
    /// that does not take is left over.
    pub fn take_all(
        &self,
        head: &mut RequestHead,
        path: &str,
        raw: &RawJson,
        mut other: impl FnMut(&mut RequestHead, &str, &RawJson) -> Option<()>,
    ) -> Option<()> {
        let pointer = format!("/{path}");
        take_members(head, path, raw, |head, name, raw| {
            self.take(head, &pointer, name, raw).or_else(|| other(head, name, raw))
        })
    }

    /// Gives the members for the settings of a head, each value reported that had to become another one.
    pub fn write(
        &self,
        head: &RequestHead,
        report: &mut Report,
        mut member: impl FnMut(&'static str, &RawJson),
    ) {
        for (name, word, takes) in self.members {
            let value = match takes {
                Takes::All => word.get(head),
                Takes::From(least) => {
                    let n = head.tokens_of_at_least(self.target, *least, report);
                    n.map(|n| RawJson::written(|it| it.u64(n)))
                }
                Takes::Between(least, most) => {
                    let (value, bounds) = (word.get(head), (*least, *most));
                    head.clamped(self.target, word.name(), value.as_ref(), bounds, report)
                }
                Takes::Most(most) => list(head.first_stops(self.target, *most, report)),
                Takes::Efforts(least, most) => {
                    let (least, most) = (least.clone(), most.clone());
                    let effort = head.effort_between(self.target, least, most, report);
                    effort.map(|it| RawJson::string(it.word()))
                }
            };
            value.into_iter().for_each(|it| member(name, &it));
        }
    }

    /// Reports the settings that are said and have no place, what only OpenAI has, what else `placeless` says, and all
    /// that is left over.
    pub fn lose(&self, head: &RequestHead, placeless: &[(&str, bool)], report: &mut Report) {
        head.lose_of_openai(self.target, report);
        for word in Word::ALL {
            let has_place = self.elsewhere.contains(&word)
                || self.members.iter().any(|it| it.1 == word)
                || placeless.iter().any(|it| it.0 == word.name());
            if !has_place && word.get(head).is_some() {
                head.lose_word(self.target, word.name(), report);
            }
        }
        head.lose(self.target, placeless, report);
    }
}

/// Takes all members of the object that the member `path` is; what `take` does not take is left over.
pub fn take_members(
    head: &mut RequestHead,
    path: &str,
    raw: &RawJson,
    mut take: impl FnMut(&mut RequestHead, &str, &RawJson) -> Option<()>,
) -> Option<()> {
    for (name, raw) in raw.present_members()? {
        if take(head, &name, &raw).is_none() {
            head.rest.push((format!("{path}.{name}"), raw));
        }
    }
    Some(())
}

impl Word {
    const ALL: [Self; 18] = [
        Self::MaxTokens,
        Self::Temperature,
        Self::TopP,
        Self::TopK,
        Self::Seed,
        Self::FrequencyPenalty,
        Self::PresencePenalty,
        Self::Stop,
        Self::Stream,
        Self::ParallelToolCalls,
        Self::Choices,
        Self::Logprobs,
        Self::TopLogprobs,
        Self::Modalities,
        Self::Effort,
        Self::ServiceTier,
        Self::User,
        Self::SafetyIdentifier,
    ];

    /// What it is called in a head.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::MaxTokens => "max_tokens",
            Self::Temperature => "temperature",
            Self::TopP => "top_p",
            Self::TopK => "top_k",
            Self::Seed => "seed",
            Self::FrequencyPenalty => "frequency_penalty",
            Self::PresencePenalty => "presence_penalty",
            Self::Stop => "stop",
            Self::Stream => "stream",
            Self::ParallelToolCalls => "parallel_tool_calls",
            Self::Choices => "choices",
            Self::Logprobs => "logprobs",
            Self::TopLogprobs => "top_logprobs",
            Self::Modalities => "modalities",
            Self::Effort => "effort",
            Self::ServiceTier => "service_tier",
            Self::User => "user",
            Self::SafetyIdentifier => "safety_identifier",
        }
    }

    fn set(self, head: &mut RequestHead, raw: &RawJson) -> Option<()> {
        let (sampling, output, caller) = (&mut head.sampling, &mut head.output, &mut head.caller);
        match self {
            Self::MaxTokens => head.max_tokens = Some(raw.parse().ok()?),
            Self::Temperature => sampling.temperature = Some(raw.number()?),
            Self::TopP => sampling.top_p = Some(raw.number()?),
            Self::TopK => sampling.top_k = Some(raw.number()?),
            Self::Seed => sampling.seed = Some(raw.number()?),
            Self::FrequencyPenalty => sampling.frequency_penalty = Some(raw.number()?),
            Self::PresencePenalty => sampling.presence_penalty = Some(raw.number()?),
            Self::Stop => head.stop = raw.parse().ok()?,
            Self::Stream => head.stream = Some(raw.parse().ok()?),
            Self::ParallelToolCalls => head.parallel_tool_calls = Some(raw.parse().ok()?),
            Self::Choices => output.choices = Some(raw.parse().ok()?),
            Self::Logprobs => output.logprobs = Some(raw.parse().ok()?),
            Self::TopLogprobs => output.top_logprobs = Some(raw.parse().ok()?),
            Self::Modalities => output.modalities = raw.parse().ok()?,
            Self::Effort => {
                head.reasoning.effort = Some(Effort::of_word(&raw.parse::<String>().ok()?));
            }
            Self::ServiceTier => caller.service_tier = Some(raw.parse().ok()?),
            Self::User => caller.user = Some(raw.parse().ok()?),
            Self::SafetyIdentifier => caller.safety_identifier = Some(raw.parse().ok()?),
        }
        Some(())
    }

    fn get(self, head: &RequestHead) -> Option<RawJson> {
        let (sampling, output, caller) = (&head.sampling, &head.output, &head.caller);
        let number = |n: Option<u64>| n.map(|n| RawJson::written(|it| it.u64(n)));
        let flag = |is: Option<bool>| is.map(|is| RawJson::written(|it| it.bool(is)));
        let text = |text: &Option<String>| text.as_deref().map(RawJson::string);
        match self {
            Self::MaxTokens => number(head.max_tokens),
            Self::Temperature => sampling.temperature.clone(),
            Self::TopP => sampling.top_p.clone(),
            Self::TopK => sampling.top_k.clone(),
            Self::Seed => sampling.seed.clone(),
            Self::FrequencyPenalty => sampling.frequency_penalty.clone(),
            Self::PresencePenalty => sampling.presence_penalty.clone(),
            Self::Stop => list(&head.stop),
            Self::Stream => flag(head.stream),
            Self::ParallelToolCalls => flag(head.parallel_tool_calls),
            Self::Choices => number(output.choices),
            Self::Logprobs => flag(output.logprobs),
            Self::TopLogprobs => number(output.top_logprobs),
            Self::Modalities => list(&output.modalities),
            Self::Effort => head.reasoning.effort.as_ref().map(|it| RawJson::string(it.word())),
            Self::ServiceTier => text(&caller.service_tier),
            Self::User => text(&caller.user),
            Self::SafetyIdentifier => text(&caller.safety_identifier),
        }
    }
}

/// A list of texts; none if it is empty.
fn list(texts: &[String]) -> Option<RawJson> {
    let write = |it: &mut msg_json::Writer<'_>| it.array(texts, |it, text| it.str(text));
    (!texts.is_empty()).then(|| RawJson::written(write))
}
