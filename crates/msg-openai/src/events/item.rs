//! The items of a response while its events are written: what each is at its start and at its end.

use msg_json::{Writer, to_text};

#[derive(Debug, Clone)]
pub(super) struct Open {
    pub(super) place: usize,
    pub(super) kind: Kind,
    pub(super) text: String,
}

/// What an item of texts says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Refusal,
    Reasoning,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Call {
    pub(super) place: usize,
    pub(super) call_id: String,
    pub(super) name: String,
    pub(super) arguments: String,
}

impl Kind {
    /// The name of its events, the type of its part and the member that holds its text.
    pub(super) fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Text => ("output_text", "output_text", "text"),
            Self::Refusal => ("refusal", "refusal", "refusal"),
            // Clients show summaries only, and a thought of another provider is not OpenAI's own text.
            Self::Reasoning => ("reasoning_summary_text", "summary_text", "text"),
        }
    }

    /// The events of its part, and the member that numbers it.
    pub(super) fn part_words(self) -> (&'static str, &'static str) {
        match self {
            Self::Reasoning => ("reasoning_summary_part", "summary_index"),
            _ => ("content_part", "content_index"),
        }
    }

    pub(super) fn write_part(self, text: &str, it: &mut Writer<'_>) {
        let (_, kind, member) = self.words();
        it.object(|it| {
            it.key("type").str(kind);
            it.key(member).str(text);
            if self == Self::Text {
                it.key("annotations").array([], |_, _: ()| {});
            }
        });
    }

    /// The item of one such part; without text one that begins.
    pub(super) fn item(self, id: &str, text: Option<&str>) -> String {
        let status = if text.is_some() { "completed" } else { "in_progress" };
        to_text(|it| {
            it.object(|it| {
                let is_reasoning = self == Self::Reasoning;
                it.key("type").str(if is_reasoning { "reasoning" } else { "message" });
                it.key("id").str(id);
                if !is_reasoning {
                    it.key("role").str("assistant");
                    it.key("status").str(status);
                }
                let member = if is_reasoning { "summary" } else { "content" };
                it.key(member).array(text, |it, text| self.write_part(text, it));
            });
        })
    }
}

impl Call {
    pub(super) fn item(&self, status: &str) -> String {
        to_text(|it| {
            it.object(|it| {
                it.key("type").str("function_call");
                it.key("id").str(&id_of("fc", self.place));
                it.key("call_id").str(&self.call_id);
                it.key("name").str(&self.name);
                it.key("arguments").str(&self.arguments);
                it.key("status").str(status);
            });
        })
    }
}

pub(super) fn prefix(kind: Kind) -> &'static str {
    if kind == Kind::Reasoning { "rs" } else { "msg" }
}

/// The id of an item that has none of its own.
pub(super) fn id_of(prefix: &str, place: usize) -> String {
    format!("{prefix}_{place}")
}
