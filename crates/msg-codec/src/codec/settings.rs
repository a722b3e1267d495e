//! The settings of a request that are one value each (AN-21), by the names that an API has for them: read, written, and
//! reported where an API has none.
//!
//! ```text
//! ("maxTokens", "max_tokens", 1..=u64::MAX)      {"maxTokens":9} ▶ head, max_tokens 9 ▶ {"maxTokens":9}
//! ```

use std::ops::RangeInclusive;

use msg_core::request::{Effort, RequestHead};
use msg_core::{RawJson, Report};

/// The names that an API has for settings.
#[derive(Debug)]
pub struct Settings {
    /// What documents of the format are called in a report.
    pub target: &'static str,
    /// The members of one object that are settings, in the order in which they are written: the name, what it is called
    /// in a head, and the values that the API takes, of which there may be a range: of `max_tokens` and of numbers between
    /// 0 and another, of `stop` as a count, and of `effort` by place from 0 for the least.
    pub members: &'static [(&'static str, &'static str, RangeInclusive<u64>)],
    /// Settings that the API has elsewhere.
    pub elsewhere: &'static [&'static str],
}

impl Settings {
    /// The setting that a member of this name is.
    #[must_use]
    pub fn word_of(&self, name: &str) -> Option<&'static str> {
        self.members.iter().find(|it| it.0 == name).map(|it| it.1)
    }

    /// Takes a member of the object at this pointer; none if it is not a setting, or of another type.
    pub fn take(
        &self,
        head: &mut RequestHead,
        pointer: &str,
        name: &str,
        raw: &RawJson,
    ) -> Option<()> {
        let word = self.word_of(name)?;
        Self::set(head, word, raw)?;
        if !pointer.is_empty() || name != word {
            head.place(word, format!("{pointer}/{name}"));
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
        Self::take_members(head, path, raw, |head, name, raw| {
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
            let (least, most) = (*takes.start(), *takes.end());
            let value = match *word {
                _ if most == u64::MAX && least == 0 => get(head, word),
                "max_tokens" => {
                    let n = head.tokens_of_at_least(self.target, least, report);
                    n.map(|n| RawJson::written(|it| it.u64(n)))
                }
                "stop" => list(head.first_stops(self.target, most as usize, report)),
                "effort" => {
                    let bound = |at: u64| EFFORTS[at as usize % EFFORTS.len()].clone();
                    let bounds = (bound(least), bound(most));
                    let effort = head.effort_between(self.target, bounds.0, bounds.1, report);
                    effort.map(|it| RawJson::string(it.word()))
                }
                word => {
                    let (value, bounds) = (get(head, word), (least as u8, most as u8));
                    head.clamped(self.target, word, value.as_ref(), bounds, report)
                }
            };
            value.into_iter().for_each(|it| member(name, &it));
        }
    }

    /// Reports the settings that are said and have no place, what only OpenAI has, what else `placeless` says, and all
    /// that is left over.
    pub fn lose(&self, head: &RequestHead, placeless: &[(&str, bool)], report: &mut Report) {
        head.lose_of_openai(self.target, report);
        for word in WORDS {
            let has_place = self.elsewhere.contains(&word)
                || self.members.iter().any(|it| it.1 == word)
                || placeless.iter().any(|it| it.0 == word);
            if !has_place && get(head, word).is_some() {
                head.lose_word(self.target, word, report);
            }
        }
        head.lose(self.target, placeless, report);
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

    /// Puts the value of what is called so into a head; none if it is of another type.
    pub fn set(head: &mut RequestHead, word: &str, raw: &RawJson) -> Option<()> {
        let (sampling, output, caller) = (&mut head.sampling, &mut head.output, &mut head.caller);
        match word {
            "max_tokens" => head.max_tokens = Some(raw.parse().ok()?),
            "temperature" => sampling.temperature = Some(raw.number()?),
            "top_p" => sampling.top_p = Some(raw.number()?),
            "top_k" => sampling.top_k = Some(raw.number()?),
            "seed" => sampling.seed = Some(raw.number()?),
            "frequency_penalty" => sampling.frequency_penalty = Some(raw.number()?),
            "presence_penalty" => sampling.presence_penalty = Some(raw.number()?),
            "stop" => head.stop = raw.parse().ok()?,
            "stream" => head.stream = Some(raw.parse().ok()?),
            "parallel_tool_calls" => head.parallel_tool_calls = Some(raw.parse().ok()?),
            "choices" => output.choices = Some(raw.parse().ok()?),
            "logprobs" => output.logprobs = Some(raw.parse().ok()?),
            "top_logprobs" => output.top_logprobs = Some(raw.parse().ok()?),
            "modalities" => output.modalities = raw.parse().ok()?,
            "effort" => {
                head.reasoning.effort = Some(Effort::of_word(&raw.parse::<String>().ok()?));
            }
            "service_tier" => caller.service_tier = Some(raw.parse().ok()?),
            "user" => caller.user = Some(raw.parse().ok()?),
            "safety_identifier" => caller.safety_identifier = Some(raw.parse().ok()?),
            _ => return None,
        }
        Some(())
    }
}

/// What the settings are called in a head.
const WORDS: [&str; 18] = [
    "max_tokens",
    "temperature",
    "top_p",
    "top_k",
    "seed",
    "frequency_penalty",
    "presence_penalty",
    "stop",
    "parallel_tool_calls",
    "stream",
    "choices",
    "logprobs",
    "top_logprobs",
    "modalities",
    "effort",
    "service_tier",
    "user",
    "safety_identifier",
];

/// The efforts, from the least.
const EFFORTS: [Effort; 6] =
    [Effort::Minimal, Effort::Low, Effort::Medium, Effort::High, Effort::XHigh, Effort::Max];

/// The value of what is called so in a head.
fn get(head: &RequestHead, word: &str) -> Option<RawJson> {
    let (sampling, output, caller) = (&head.sampling, &head.output, &head.caller);
    let number = |n: Option<u64>| n.map(|n| RawJson::written(|it| it.u64(n)));
    let flag = |is: Option<bool>| is.map(|is| RawJson::written(|it| it.bool(is)));
    let text = |text: &Option<String>| text.as_deref().map(RawJson::string);
    match word {
        "max_tokens" => number(head.max_tokens),
        "temperature" => sampling.temperature.clone(),
        "top_p" => sampling.top_p.clone(),
        "top_k" => sampling.top_k.clone(),
        "seed" => sampling.seed.clone(),
        "frequency_penalty" => sampling.frequency_penalty.clone(),
        "presence_penalty" => sampling.presence_penalty.clone(),
        "stop" => list(&head.stop),
        "stream" => flag(head.stream),
        "parallel_tool_calls" => flag(head.parallel_tool_calls),
        "choices" => number(output.choices),
        "logprobs" => flag(output.logprobs),
        "top_logprobs" => number(output.top_logprobs),
        "modalities" => list(&output.modalities),
        "effort" => head.reasoning.effort.as_ref().map(|it| RawJson::string(it.word())),
        "service_tier" => text(&caller.service_tier),
        "user" => text(&caller.user),
        "safety_identifier" => text(&caller.safety_identifier),
        _ => None,
    }
}

/// A list of texts; none if it is empty.
fn list(texts: &[String]) -> Option<RawJson> {
    let write = |it: &mut msg_json::Writer<'_>| it.array(texts, |it, text| it.str(text));
    (!texts.is_empty()).then(|| RawJson::written(write))
}
