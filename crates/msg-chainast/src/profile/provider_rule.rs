//! A rule of a provider, in the words in which the provider refuses what breaks it (PM-1 to PM-191).

use std::sync::Arc;

use msg_core::Diagnostic;

/// The members of a rule in a profile file, in the order of [`ProviderRule::of`].
pub(super) const MEMBERS: [&str; 6] = ["rule", "code", "says", "answer", "source", "why_not"];

/// A rule of a provider, in the words in which the provider refuses what breaks it (PM-1 to PM-191).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProviderRule {
    /// The number of the rule.
    pub number: String,
    /// The codes of the findings that tell of a breach; none where messages do not show one.
    pub codes: Vec<String>,
    /// What the sentence of such a finding says, if others have the same code.
    pub says: String,
    /// What the provider answers; `…` stands for what differs.
    pub answer: Arc<str>,
    /// Where the answer was seen.
    pub source: String,
    /// Why nothing is found of it, if that is so.
    pub why_not: String,
}

impl ProviderRule {
    /// The rule of these members; codes are parted by commas.
    pub(super) fn of(members: &[&str; MEMBERS.len()]) -> Self {
        let [number, codes, says, answer, source, why_not] = members.map(str::to_owned);
        let codes = codes.split(", ").filter(|it| !it.is_empty()).map(str::to_owned).collect();
        ProviderRule { number, codes, says, answer: answer.into(), source, why_not }
    }

    /// Whether a finding tells of a breach of this rule.
    pub(super) fn tells_of(&self, it: &Diagnostic) -> bool {
        self.codes.iter().any(|code| it.code == code.as_str())
            && (self.says.is_empty() || it.message().contains(&self.says))
    }
}
