//! The settings in the head of a request: those outside of the range that a provider takes (RQ-13 to RQ-15).
//!
//! ```text
//! {"temperature":1.5,…}     for anthropic: error[profile::setting] `temperature` must be from 0 to 1, found 1.5
//! ```
//!
//! The ranges are those of the APIs; single models take less, which is not judged here.

use msg_chainast::Profile;
use msg_core::request::{Effort, RequestHead, Thinking};
use msg_core::{Code, Diagnostic, RawJson};

/// What an API takes.
struct Limits {
    temperature: f64,
    /// The fewest tokens that an answer may be limited to.
    tokens: u64,
    /// The most texts at which the model stops; none if no limit is known.
    stops: Option<usize>,
    /// The most answers at once.
    choices: Option<u64>,
    /// Whether penalties are from -2 to 2.
    penalties: bool,
    /// The most of the likeliest tokens.
    logprobs: Option<u64>,
    /// The least and the most effort; none if no range is known.
    efforts: Option<(Effort, Effort)>,
}

impl Limits {
    /// Of a profile; none if nothing is known of its settings.
    fn of_profile(profile: &Profile) -> Option<Self> {
        let common = Self {
            temperature: 2.0,
            tokens: 1,
            stops: None,
            choices: None,
            penalties: false,
            logprobs: None,
            efforts: Some((Effort::Minimal, Effort::Max)),
        };
        Some(match &*profile.name {
            "openai" | "azure" => Self {
                stops: Some(4),
                choices: Some(128),
                penalties: true,
                logprobs: Some(20),
                ..common
            },
            "openai-responses" => Self { tokens: 16, logprobs: Some(20), ..common },
            "anthropic" => {
                Self { temperature: 1.0, efforts: Some((Effort::Low, Effort::Max)), ..common }
            }
            "gemini" | "vertex" | "gemini-interactions" => {
                Self { stops: Some(5), efforts: Some((Effort::Minimal, Effort::High)), ..common }
            }
            "bedrock" => Self { temperature: 1.0, efforts: None, ..common },
            _ => return None,
        })
    }
}

/// What a provider refuses in the settings of a head.
pub(crate) fn check_settings(head: &RequestHead, profile: &Profile) -> Vec<Diagnostic> {
    let Some(limits) = Limits::of_profile(profile) else { return Vec::new() };
    let sampling = &head.sampling;
    let mut res = Vec::new();
    let mut between = |word: &str, number: Option<&RawJson>, (least, most): (f64, f64)| {
        let Some(number) = number else { return };
        let value = number.parse::<f64>().ok();
        if value.is_some_and(|it| !(least..=most).contains(&it)) {
            let range = format!("from {least} to {most}");
            res.push(refused(head, word, &range, number.text()));
        }
    };
    between("temperature", sampling.temperature.as_ref(), (0.0, limits.temperature));
    between("top_p", sampling.top_p.as_ref(), (0.0, 1.0));
    if limits.penalties {
        between("frequency_penalty", sampling.frequency_penalty.as_ref(), (-2.0, 2.0));
        between("presence_penalty", sampling.presence_penalty.as_ref(), (-2.0, 2.0));
    }
    let counts = [
        ("max_tokens", head.max_tokens, limits.tokens, u64::MAX),
        (
            "choices",
            head.output.choices.filter(|_| limits.choices.is_some()),
            1,
            limits.choices.unwrap_or(1),
        ),
        (
            "top_logprobs",
            head.output.top_logprobs.filter(|_| limits.logprobs.is_some()),
            0,
            limits.logprobs.unwrap_or(0),
        ),
    ];
    for (word, count, least, most) in counts {
        let Some(count) = count.filter(|it| !(least..=most).contains(it)) else { continue };
        let range = match most {
            u64::MAX => format!("at least {least}"),
            _ => format!("from {least} to {most}"),
        };
        res.push(refused(head, word, &range, &count.to_string()));
    }
    if let Some(most) = limits.stops.filter(|it| head.stop.len() > *it) {
        let range = format!("at most {most} texts");
        res.push(refused(head, "stop", &range, &head.stop.len().to_string()));
    }
    res.extend(effort(head, &limits));
    res.extend(budget(head, profile));
    res
}

/// An effort that the API has no word for.
fn effort(head: &RequestHead, limits: &Limits) -> Option<Diagnostic> {
    let (effort, (least, most)) = (head.reasoning.effort.as_ref()?, limits.efforts.as_ref()?);
    let is_taken = !matches!(effort, Effort::Other(_)) && (least..=most).contains(&effort);
    let range = format!("from `{}` to `{}`", least.word(), most.word());
    (!is_taken).then(|| refused(head, "effort", &range, &format!("`{}`", effort.word())))
}

/// Fewer tokens for thinking than Anthropic takes.
fn budget(head: &RequestHead, profile: &Profile) -> Option<Diagnostic> {
    let Some(Thinking::Budget(tokens @ ..1024)) = head.reasoning.thinking else { return None };
    let pointer = "/thinking/budget_tokens";
    (profile.name == "anthropic")
        .then(|| at(pointer, "thinking.budget_tokens", "at least 1024", &tokens.to_string()))
}

/// A setting, by its word in a head, that must be in a range.
fn refused(head: &RequestHead, word: &str, range: &str, found: &str) -> Diagnostic {
    let pointer = head.pointer(word);
    let name = pointer.trim_start_matches('/').replace('/', ".");
    at(&pointer, &name, range, found)
}

fn at(pointer: &str, name: &str, range: &str, found: &str) -> Diagnostic {
    let text = format!("`{name}` must be {range}, found {found}");
    Diagnostic::error(Code::new("profile::setting"), text).at_pointer(pointer)
}
