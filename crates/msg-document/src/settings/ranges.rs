//! The ranges of settings in each API (RQ-13 to RQ-15). Single models may have smaller ranges, which
//! are not checked here.

use msg_chainast::Profile;
use msg_core::RawJson;
use msg_core::request::{Effort, RequestHead, Thinking};

use super::{Asked, Refused};

/// The ranges that an API accepts.
struct Limits {
    temperature: f64,
    /// The minimum for the maximum tokens of an answer.
    tokens: u64,
    /// The maximum number of stop sequences; `None` if unknown.
    stops: Option<usize>,
    /// The maximum number of answers.
    choices: Option<u64>,
    /// Whether penalties must be from -2 to 2.
    penalties: bool,
    /// The maximum of `top_logprobs`.
    logprobs: Option<u64>,
    /// The lowest and the highest effort; `None` if unknown.
    efforts: Option<(Effort, Effort)>,
}

impl Limits {
    /// The ranges of a profile's API; `None` if unknown.
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

/// Settings outside of their range. The repair is the nearest value.
pub(super) fn refused(asked: &Asked<'_>) -> Vec<Refused> {
    let Some(limits) = Limits::of_profile(asked.profile) else { return Vec::new() };
    let mut res = numbers(asked.head, &limits);
    res.extend(counts(asked.head, &limits));
    res.extend(stops(asked.head, &limits));
    res.extend(effort(asked, &limits));
    res.extend(budget(asked));
    res
}

fn numbers(head: &RequestHead, limits: &Limits) -> Vec<Refused> {
    let sampling = &head.sampling;
    let penalties = Some((-2.0, 2.0)).filter(|_| limits.penalties);
    let numbers = [
        ("temperature", &sampling.temperature, Some((0.0, limits.temperature))),
        ("top_p", &sampling.top_p, Some((0.0, 1.0))),
        ("frequency_penalty", &sampling.frequency_penalty, penalties),
        ("presence_penalty", &sampling.presence_penalty, penalties),
    ];
    let outside = |(word, number, range): (_, &Option<RawJson>, Option<(f64, f64)>)| {
        let ((least, most), number) = range.zip(number.as_ref())?;
        let value = number.parse::<f64>().ok().filter(|it| !(least..=most).contains(it))?;
        let nearest = if value < least { least } else { most };
        let nearest = RawJson::written(|it| it.raw(&nearest.to_string()));
        Some(outside(head, word, &format!("from {least} to {most}"), number.text(), Some(nearest)))
    };
    numbers.into_iter().filter_map(outside).collect()
}

fn counts(head: &RequestHead, limits: &Limits) -> Vec<Refused> {
    let (choices, logprobs) = (head.output.choices, head.output.top_logprobs);
    let counts = [
        ("max_tokens", head.max_tokens, limits.tokens, Some(u64::MAX)),
        ("choices", choices, 1, limits.choices),
        ("top_logprobs", logprobs, 0, limits.logprobs),
    ];
    let outside = |(word, count, least, most): (_, Option<u64>, u64, Option<u64>)| {
        let (count, most) = count.zip(most)?;
        let nearest = Some(count.clamp(least, most)).filter(|it| *it != count)?;
        let range = match most {
            u64::MAX => format!("at least {least}"),
            _ => format!("from {least} to {most}"),
        };
        let nearest = RawJson::written(|it| it.u64(nearest));
        Some(outside(head, word, &range, &count.to_string(), Some(nearest)))
    };
    counts.into_iter().filter_map(outside).collect()
}

/// Too many stop sequences. The repair keeps the first ones.
fn stops(head: &RequestHead, limits: &Limits) -> Option<Refused> {
    let most = limits.stops.filter(|it| head.stop.len() > *it)?;
    let first = RawJson::written(|it| it.array(&head.stop[..most], |it, text| it.str(text)));
    let range = format!("at most {most} texts");
    Some(outside(head, "stop", &range, &head.stop.len().to_string(), Some(first)))
}

/// An effort that the API has no word for.
fn effort(asked: &Asked<'_>, limits: &Limits) -> Option<Refused> {
    let head = asked.head;
    let (effort, (least, most)) = (head.reasoning.effort.as_ref()?, limits.efforts.as_ref()?);
    let nearest = match effort {
        Effort::Other(_) => None,
        known if (least..=most).contains(&known) => return None,
        known => Some(if known < least { least } else { most }),
    };
    let in_case = |it: &Effort| match asked.format {
        "gemini" => it.word().to_ascii_uppercase(),
        _ => it.word().to_owned(),
    };
    let range = format!("from `{}` to `{}`", least.word(), most.word());
    if effort.word().is_empty() {
        let pointer = head.pointer("effort");
        let name = pointer.trim_start_matches('/').replace('/', ".");
        let text = format!("`{name}` is empty, expected a word {range}");
        return Some(Refused::of(&text, &pointer).removed(&pointer));
    }
    let nearest = nearest.map(|it| RawJson::string(&in_case(it)));
    Some(outside(head, "effort", &range, &format!("`{}`", effort.word()), nearest))
}

/// A thinking budget below Anthropic's minimum.
fn budget(asked: &Asked<'_>) -> Option<Refused> {
    let Some(Thinking::Budget(tokens @ ..1024)) = asked.head.reasoning.thinking else {
        return None;
    };
    let pointer = "/thinking/budget_tokens";
    let least = RawJson::written(|it| it.u64(1024));
    let text = format!("`thinking.budget_tokens` must be at least 1024, found {tokens}");
    let refused = Refused::of(&text, pointer);
    // With so few tokens for the answer, the minimum does not fit, so the setting is removed.
    let is_short =
        asked.head.max_tokens.is_some_and(|it| it <= 1024) && asked.head.tools.is_empty();
    (asked.profile.name == "anthropic").then(|| match is_short {
        true => refused.removed("/thinking"),
        false => refused.set(pointer, least),
    })
}

/// A setting outside of its range, by its name in a head. The repair is the nearest value.
fn outside(
    head: &RequestHead,
    word: &str,
    range: &str,
    found: &str,
    nearest: Option<RawJson>,
) -> Refused {
    let pointer = head.pointer(word);
    let name = pointer.trim_start_matches('/').replace('/', ".");
    let refused = Refused::of(&format!("`{name}` must be {range}, found {found}"), &pointer);
    match nearest {
        Some(nearest) => refused.set(&pointer, nearest),
        None => refused,
    }
}
