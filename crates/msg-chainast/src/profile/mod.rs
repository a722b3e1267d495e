//! What a provider accepts, as data (CA-70 to CA-73).
//!
//! A profile knows nothing of a wire format. The built-in ones are generated from `profiles.toml`; one that
//! a user writes in a file of the same shape is loaded with the feature `toml`.
//!
//! ```text
//! profiles.toml   [mistral]  id_min = 9   codegen ▶ table.json, docs/formats/profiles.md
//!                                                      ▼
//!                 Profile { name: "mistral", id_min: 9, … } ▶ what conform and check ask
//! ```

mod class;
mod fields;
#[cfg(feature = "toml")]
mod file;
mod model;
mod provider_rule;
mod rules;
mod table;
mod value;

use std::sync::{Arc, LazyLock};

use msg_core::Diagnostic;
use serde_json::Value;

pub use class::CharClass;
pub use fields::Profile;
pub(crate) use model::undated;
pub use provider_rule::ProviderRule;
pub use rules::{
    Acceptance, ArgumentsRule, LaterResults, ReasoningBound, ReasoningKept, ReasoningRequired,
    ServerTools, SystemPlace, UserMessage,
};

impl Profile {
    /// A profile that accepts what the default of the table accepts.
    pub fn new(name: impl Into<String>) -> Self {
        let mut profile = BASE.clone();
        profile.name = name.into();
        profile
    }

    /// The built-in profile of this name or alias.
    pub fn named(name: &str) -> Option<&'static Profile> {
        let is_it = |it: &&Profile| it.name == name || it.aliases.iter().any(|it| it == name);
        Profile::all().iter().find(is_it)
    }

    /// All built-in profiles.
    pub fn all() -> &'static [Profile] {
        &ALL
    }

    /// Whether it is not certain that a field holds.
    pub(crate) fn doubts(&self, field: &str) -> bool {
        self.doubt.iter().any(|it| it == field)
    }

    /// What the provider answers to a chain with this finding, if that is known.
    ///
    /// ```
    /// use msg_chainast::{CheckOptions, Message, Profile, ToolCall, check};
    ///
    /// let openai = Profile::named("openai").ok_or("no such profile")?;
    /// let call = ToolCall::new("call_1", "f", "{}");
    /// let messages = [Message::user("Go."), Message::assistant("").with_part(call)];
    /// let found = check(&messages, None, &CheckOptions::new());
    /// let answer = openai.answer(&found[0]).ok_or("not known")?;
    /// assert!(answer.starts_with("An assistant message with 'tool_calls' must be followed by"));
    /// # Ok::<(), &str>(())
    /// ```
    pub fn answer(&self, finding: &Diagnostic) -> Option<&Arc<str>> {
        let tells = self.rules.iter().filter(|it| it.tells_of(finding));
        // Of several the one that says most of the finding, else the first.
        tells.rev().max_by_key(|it| it.says.len()).map(|it| &it.answer)
    }

    /// Each field as a profile file has it, in the order of the table; for printing.
    ///
    /// ```
    /// use msg_chainast::Profile;
    ///
    /// let mistral = Profile::named("mistral").ok_or("no such profile")?;
    /// assert!(mistral.fields().any(|it| it.0 == "id_pattern" && it.1 == "{r:9:b}"));
    /// # Ok::<(), &str>(())
    /// ```
    pub fn fields(&self) -> impl Iterator<Item = (&'static str, Value)> + '_ {
        fields::all(self).into_iter()
    }
}

static BASE: LazyLock<Profile> = LazyLock::new(fields::base);

static ALL: LazyLock<Vec<Profile>> = LazyLock::new(|| table::profiles().collect());
