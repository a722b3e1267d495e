//! What a reasoning part is as a block: thinking, signed or not, or sealed (AN-7).

use std::borrow::Cow;

use msg_core::Reasoning;

/// A reasoning part as a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Thought<'m> {
    /// `thinking`: a text that may be seen, and what proves it.
    Open { text: Cow<'m, str>, signature: Option<&'m str> },
    /// `redacted_thinking`: the sealed payload.
    Sealed(&'m str),
}

impl<'m> Thought<'m> {
    /// The block of a part. A signature that is empty is none.
    pub(crate) fn of(it: &'m Reasoning) -> Self {
        let signature = it.signature.as_deref().filter(|it| !it.is_empty());
        match (signature, it.redacted.as_deref()) {
            (None, Some(data)) => Self::Sealed(data),
            (signature, _) => Self::Open { text: it.display_text(), signature },
        }
    }

    /// Whether the provider takes it back.
    pub(crate) fn is_signed(&self) -> bool {
        !matches!(self, Self::Open { signature: None, .. })
    }

    /// The members of the part that the block has no place for.
    pub(crate) fn lost(&self, it: &Reasoning) -> impl Iterator<Item = &'static str> {
        let is_sealed = matches!(self, Self::Sealed(_));
        let found = [
            ("text", is_sealed && it.text.is_some()),
            ("summary", it.summary.as_ref().is_some_and(|it| !it.is_empty())),
            ("redacted", !is_sealed && it.redacted.is_some()),
            ("encrypted", it.encrypted.is_some()),
        ];
        found.into_iter().filter(|it| it.1).map(|it| it.0)
    }
}
