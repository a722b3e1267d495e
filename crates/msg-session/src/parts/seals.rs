//! What frameworks keep of providers beside a thought, a text or a call: signatures, sealed thoughts and the ids of items.
//! A seal goes where its provider keeps it, so that no other one is ever shown it (AN-7).
//!
//! ```text
//! "providerMetadata":{"anthropic":{"signature":"…"}}            signature
//! "providerMetadata":{"google":{"thoughtSignature":"…"}}        extra.gemini.thoughtSignature
//! "providerMetadata":{"openai":{"itemId":"rs_1","reasoningEncryptedContent":"…"}}   encrypted, extra.responses
//! ```

use msg_core::{Maker, Origin, Part, Reasoning};

use super::{gemini, openai};
use crate::edit::{Object, Value, quoted};

/// What a provider sealed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seal {
    pub(crate) maker: Option<Maker>,
    pub(crate) signature: Option<String>,
    pub(crate) redacted: Option<String>,
    pub(crate) encrypted: Option<String>,
    /// The id of the item of a Responses answer.
    pub(crate) item: Option<String>,
}

impl Seal {
    /// That of a member that holds an object a provider, as `providerMetadata`.
    pub(crate) fn by_provider(holder: Option<Object<'_>>) -> Self {
        let Some(holder) = holder else { return Self::default() };
        let known = holder.iter().filter_map(|(name, it)| Some((Maker::of(name)?, it.object()?)));
        let seals = known.map(|(maker, it)| {
            let text = |name: &str| said(&it, name);
            Self {
                maker: Some(maker),
                signature: text("signature").or_else(|| text("thoughtSignature")),
                redacted: text("redactedData"),
                encrypted: text("reasoningEncryptedContent"),
                item: text("itemId"),
            }
        });
        seals.into_iter().find(|it| !it.is_empty()).unwrap_or_default()
    }

    /// That of a part of any format.
    pub(crate) fn of(part: &Part) -> Self {
        let raw = |origin, name| part.extra().get(&origin, name);
        match part {
            Part::Reasoning(it) if it.encrypted.is_some() => {
                let item = raw(Origin::Responses, "item").and_then(|it| it.members());
                let id = item.into_iter().flatten().find(|it| it.0 == "id");
                let item = id.and_then(|it| it.1.parse().ok());
                let encrypted = it.encrypted.clone();
                Self { maker: Some(Maker::OpenAi), encrypted, item, ..Self::default() }
            }
            Part::Reasoning(it) if it.signature.is_some() || it.redacted.is_some() => {
                let (signature, redacted) = (it.signature.clone(), it.redacted.clone());
                Self { maker: Some(Maker::Anthropic), signature, redacted, ..Self::default() }
            }
            Part::ToolCall(it) => Self::of_gemini(it.signature.clone()),
            _ => Self::of_gemini(
                raw(Origin::Gemini, "thoughtSignature").and_then(|it| it.parse().ok()),
            ),
        }
    }

    fn of_gemini(signature: Option<String>) -> Self {
        let maker = signature.is_some().then_some(Maker::Gemini);
        Self { maker, signature, ..Self::default() }
    }

    /// What the provider sealed, whatever it calls it.
    pub(crate) fn sealed(&self) -> Option<&str> {
        let all = [&self.encrypted, &self.signature, &self.redacted];
        all.into_iter().find_map(|it| it.as_deref())
    }

    pub(crate) fn is_empty(&self) -> bool {
        [&self.signature, &self.redacted, &self.encrypted, &self.item].iter().all(|it| it.is_none())
    }

    /// The thought that it seals.
    pub(crate) fn thought(self, text: Option<String>) -> Part {
        let text = text.filter(|it| !it.is_empty());
        let read = match (self.maker, &self.signature) {
            (Some(Maker::OpenAi), _) if self.item.is_some() || self.encrypted.is_some() => {
                openai_thought(&self, text.as_deref())
            }
            (Some(Maker::Gemini), Some(signature)) => {
                let text = quoted(text.as_deref().unwrap_or_default());
                sealed(&format!(r#"{{"text":{text},"thought":true"#), signature)
            }
            _ => None,
        };
        let is_said = self.signature.is_some() && self.redacted.is_none();
        let text = text.or(is_said.then(String::new));
        let Self { signature, redacted, encrypted, .. } = self;
        let plain = Reasoning { text, signature, redacted, encrypted, ..Reasoning::default() };
        read.unwrap_or(Part::Reasoning(plain))
    }

    /// A text of an answer.
    pub(crate) fn text(&self, text: String) -> Part {
        let signature = self.gemini();
        let read = signature.and_then(|it| sealed(&format!(r#"{{"text":{}"#, quoted(&text)), it));
        read.unwrap_or_else(|| Part::text(text))
    }

    /// The signature of a thought of Gemini, which is beside its result.
    pub(crate) fn gemini(&self) -> Option<&str> {
        self.signature.as_deref().filter(|_| self.maker == Some(Maker::Gemini))
    }
}

/// What a member says, if that is not empty: the text of a string, the JSON of any other value.
pub(crate) fn said(object: &Object<'_>, name: &str) -> Option<String> {
    object.plain(name).filter(|it| !it.is_empty())
}

/// A part of Gemini, of which the last member is missing.
fn sealed(begun: &str, signature: &str) -> Option<Part> {
    let source = format!(r#"{begun},"thoughtSignature":{}}}"#, quoted(signature));
    gemini::part(Value { source: &source, at: 0 })
}

fn openai_thought(seal: &Seal, text: Option<&str>) -> Option<Part> {
    let member = |name: &str, value: &Option<String>| {
        value.as_deref().map(|it| format!(r#","{name}":{}"#, quoted(it))).unwrap_or_default()
    };
    let (id, sealed) = (member("id", &seal.item), member("encrypted_content", &seal.encrypted));
    let summary = text.map(|it| format!(r#"{{"type":"summary_text","text":{}}}"#, quoted(it)));
    let summary = summary.unwrap_or_default();
    item(&format!(r#"{{"type":"reasoning"{id},"summary":[{summary}]{sealed}}}"#))
}

/// The thought that an item of a Responses answer is.
pub(crate) fn item(source: &str) -> Option<Part> {
    let mut parts = openai::item(source, None).parts;
    parts.pop().filter(|it| parts.is_empty() && matches!(it, Part::Reasoning(_)))
}
