//! What a session recorded of its messages: when each was written, which model answered, what the answer used and cost.
//!
//! ```text
//! claude-opus-4-5 · 2026-11-23 09:00:12 · 12 s · read 12,000, written 400, new 10, out 50 · $0.02
//! ```
//!
//! Nothing is estimated here; a message of which nothing is recorded shows nothing.

use std::fmt::Write as _;

use crate::call::{escape, grouped, plural};

/// What was recorded of a message, or of several together.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recorded {
    /// When it was written, in RFC 3339.
    pub time: Option<String>,
    /// Seconds since the message before it.
    pub seconds: Option<f64>,
    /// The models that answered, joined by commas.
    pub model: Option<String>,
    /// How many responses of the model it is; 0 if no usage is recorded.
    pub responses: u64,
    /// Tokens of the prompt that were read from the cache.
    pub read: u64,
    /// Tokens of the prompt that were written to the cache.
    pub written: u64,
    /// All other tokens of the prompt.
    pub new: u64,
    /// Tokens of the answer.
    pub output: u64,
    /// What it cost, in dollars.
    pub cost: Option<f64>,
}

impl Recorded {
    /// Adds what was recorded of the same message, or of the next one. The time stays.
    pub fn add(&mut self, other: &Recorded) {
        let sum = |one: &mut Option<f64>, other: Option<f64>| {
            *one = other.map(|it| it + one.unwrap_or(0.0)).or(*one);
        };
        sum(&mut self.seconds, other.seconds);
        sum(&mut self.cost, other.cost);
        self.responses += other.responses;
        self.read = self.read.saturating_add(other.read);
        self.written = self.written.saturating_add(other.written);
        self.new = self.new.saturating_add(other.new);
        self.output = self.output.saturating_add(other.output);
        let model = other.model.as_deref().unwrap_or_default();
        if !self.model.iter().flat_map(|it| it.split(", ")).any(|it| it == model) {
            match &mut self.model {
                _ if model.is_empty() => {}
                Some(models) => models.extend([", ", model]),
                None => self.model = Some(model.to_owned()),
            }
        }
    }

    /// All of it in one line, as HTML; empty if nothing is recorded.
    pub(crate) fn line(&self) -> String {
        let mut parts: Vec<String> = Vec::new();
        parts.extend(self.model.as_deref().map(|it| format!("<bdi>{}</bdi>", escape(it))));
        parts.extend(self.time.as_deref().map(moment));
        parts.extend(self.seconds.map(duration));
        if self.responses > 0 {
            parts.push(self.tokens());
        }
        parts.extend(self.cost.map(money));
        parts.join(" \u{b7} ")
    }

    /// The same of several messages, in fewer words.
    pub(crate) fn short(&self) -> String {
        let parts = [self.seconds.map(duration), self.cost.map(money)];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// The same of the whole conversation.
    pub(crate) fn total(&self) -> String {
        let mut res = format!("recorded: {}", plural(self.responses as usize, "response"));
        let _ = write!(res, " \u{b7} {}", self.line());
        res
    }

    fn tokens(&self) -> String {
        let count = |it: u64, name: &str| (it > 0).then(|| format!("{name} {}", grouped(it)));
        let parts = [
            count(self.read, "read"),
            count(self.written, "written"),
            count(self.new, "new"),
            Some(format!("out {}", grouped(self.output))),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

/// `2026-11-23T09:00:12.345Z` as `2026-11-23 09:00:12`, for programs as it is.
fn moment(time: &str) -> String {
    let is_cut = time.get(19..).is_some_and(|it| it.is_empty() || it.starts_with(['.', 'Z']));
    let shown = match time.get(..19).filter(|_| is_cut) {
        Some(it) => it.replace('T', " "),
        None => time.to_owned(),
    };
    format!("<time datetime=\"{}\">{}</time>", escape(time), escape(&shown))
}

/// `0.4 s`, `12 s`, `13 min`, `2 h 5 min`.
fn duration(seconds: f64) -> String {
    let minutes = (seconds / 60.0).round() as u64;
    match minutes {
        _ if seconds < 9.95 => format!("{seconds:.1} s"),
        _ if seconds < 119.5 => format!("{seconds:.0} s"),
        0..120 => format!("{minutes} min"),
        _ => format!("{} h {} min", minutes / 60, minutes % 60),
    }
}

/// Dollars: to the cent, or two digits of what is less.
fn money(it: f64) -> String {
    if it > 0.0 && it < 0.095 { format!("${it:.4}") } else { format!("${it:.2}") }
}

#[cfg(test)]
mod tests {
    use super::Recorded;

    #[test]
    fn what_is_recorded_adds_up_and_is_one_line() {
        let one = Recorded {
            time: Some("2026-11-23T09:00:12.345Z".to_owned()),
            seconds: Some(12.0),
            model: Some("a<b".to_owned()),
            responses: 1,
            read: 12_000,
            output: 50,
            cost: Some(0.02),
            ..Recorded::default()
        };
        assert_eq!(
            one.line(),
            "<bdi>a&lt;b</bdi> \u{b7} <time datetime=\"2026-11-23T09:00:12.345Z\">2026-11-23 09:00:12</time> \u{b7} \
             12 s \u{b7} read 12,000, out 50 \u{b7} $0.0200"
        );
        let mut sum = Recorded::default();
        sum.add(&one);
        sum.add(&one);
        sum.add(&Recorded { seconds: Some(7_200.0), model: Some("c".to_owned()), ..one.clone() });
        assert_eq!(sum.short(), "2 h 0 min, $0.0600");
        assert_eq!((sum.model.as_deref(), sum.responses), (Some("a<b, c"), 3));
        assert_eq!(Recorded::default().line(), "");
    }
}
