//! A rule of a provider, in the words in which the provider refuses what breaks it (PM-1 to PM-193).

use std::sync::Arc;

use msg_core::Diagnostic;
use serde::{Deserialize, Deserializer};

/// A rule of a provider, in the words in which the provider refuses what breaks it (PM-1 to PM-193).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ProviderRule {
    /// The number of the rule.
    #[serde(rename = "rule")]
    pub number: String,
    /// The codes of the findings that tell of a breach; none where messages do not show one.
    #[serde(default, rename = "code", deserialize_with = "by_commas")]
    pub codes: Vec<String>,
    /// What the sentence of such a finding says, if others have the same code.
    #[serde(default)]
    pub says: String,
    /// What the provider answers; `…` stands for what differs.
    #[serde(deserialize_with = "shared")]
    pub answer: Arc<str>,
    /// Where the answer was seen.
    pub source: String,
    /// Why nothing is found of it, if that is so.
    #[serde(default)]
    pub why_not: String,
}

impl ProviderRule {
    /// Whether it has all that a rule needs: a finding tells of it, or there is a reason why none does.
    pub(super) fn is_whole(&self) -> bool {
        let is_said = ![&*self.number, &self.answer, &self.source].contains(&"");
        is_said && self.codes.is_empty() != self.why_not.is_empty()
    }

    /// Whether a finding tells of a breach of this rule.
    pub(super) fn tells_of(&self, it: &Diagnostic) -> bool {
        self.codes.iter().any(|code| it.code == code.as_str())
            && (self.says.is_empty() || it.message().contains(&self.says))
    }
}

/// Codes that are parted by commas.
fn by_commas<'de, D: Deserializer<'de>>(text: D) -> Result<Vec<String>, D::Error> {
    let text = String::deserialize(text)?;
    Ok(text.split(", ").filter(|it| !it.is_empty()).map(str::to_owned).collect())
}

fn shared<'de, D: Deserializer<'de>>(text: D) -> Result<Arc<str>, D::Error> {
    String::deserialize(text).map(Arc::from)
}
