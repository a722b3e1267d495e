//! What an edit of a request makes a prompt cache write again (CL-60).

use std::fmt;

use msg_json::JsonValue as Value;
use serde::Serialize;

use crate::compare::{CachePlace, compare_prompts};
use crate::entry::{Entry, read};
use crate::family::Family;
use crate::ledger::{dollars, is_zero};
use crate::prompt::Prompt;
use crate::usage::Prices;

/// The first member that an edit changed in the order of the cache, and what comes after it. Tokens are estimates, four
/// bytes each.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rewrite {
    /// The first member that changed.
    pub first_changed: CachePlace,
    /// About how many tokens the edited request has.
    pub tokens: u64,
    /// About how many of them the provider reads anew, because they come after the change.
    pub written_again: u64,
    /// What writing them costs more than reading them from the cache, in dollars, if the model has a known price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// How many cache breakpoints the edit took away with what they marked.
    #[serde(skip_serializing_if = "is_zero")]
    pub breakpoints_lost: u64,
    #[serde(skip)]
    family: Family,
}

impl Rewrite {
    /// Compares a request before and after an edit. A list of messages is a request without tools, or with those of the
    /// body that it replaces the messages of.
    ///
    /// None if the edited request begins like the one before, or has nothing after that, and for a text that is not a
    /// request of this family. Linear in both.
    ///
    /// ```
    /// use msg_cache::{Family, Rewrite};
    ///
    /// let before = br#"[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]"#;
    /// let after = br#"[{"role":"user","content":"hi"},{"role":"assistant","content":"Hello!"}]"#;
    /// let rewrite = Rewrite::between(before, after, Family::OpenAi).expect("because a message differs");
    /// assert_eq!(rewrite.place(), "messages[1]");
    /// assert_eq!(Rewrite::between(before, before, Family::OpenAi), None);
    /// ```
    pub fn between(before: &[u8], after: &[u8], family: Family) -> Option<Rewrite> {
        let before = read(before).ok()?;
        let after = into_body(read(after).ok()?, &before, family);
        let before = into_body(before, &Value::Null, family);
        let (a, old) = Entry::of(&before, Some(family)).ok()?;
        let (b, new) = Entry::of(&after, Some(family)).ok()?;
        let (old, new) = (Prompt::of(old, family), Prompt::of(new, family));
        let compared = compare_prompts((&a, &old), (&b, &new), None);
        let first_changed = compared.first_changed?;
        let tokens = new.estimate();
        let written_again = tokens.saturating_sub(compared.shared_estimate);
        if written_again == 0 {
            return None;
        }
        let price = b.model.as_deref().and_then(|it| Prices::built_in().of(it));
        let cost = price.map(|it| {
            let more = it.write.max(it.input).saturating_sub(it.read);
            dollars(u128::from(written_again) * u128::from(more))
        });
        let marks = |it: &Prompt<'_>| it.cells.iter().map(|it| it.marks.len() as u64).sum::<u64>();
        let breakpoints_lost = marks(&old).saturating_sub(marks(&new));
        Some(Rewrite { first_changed, tokens, written_again, cost, breakpoints_lost, family })
    }

    /// Where the first change is, as the body spells it: `tools[2]`, `contents[0]`.
    pub fn place(&self) -> String {
        let CachePlace { level, index } = self.first_changed;
        let name = match (level, self.family) {
            ("all", _) => return "a setting of the request".to_owned(),
            ("tools", Family::Bedrock) => "toolConfig.tools",
            ("system", Family::OpenAi) => "messages",
            ("system", Family::Responses) => "instructions",
            ("system", Family::Gemini) => "systemInstruction.parts",
            ("messages", family) => &family.table().list,
            (level, _) => level,
        };
        index.map_or(name.to_owned(), |it| format!("{name}[{it}]"))
    }
}

impl fmt::Display for Rewrite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (place, again, all) = (self.place(), self.written_again, self.tokens);
        write!(f, "the first change is {place}, about {again} of {all} tokens are written again")?;
        if let Some(cost) = self.cost.filter(|it| *it >= 0.005) {
            write!(f, " (${cost:.2} more than reading them)")?;
        }
        match self.breakpoints_lost {
            0 => Ok(()),
            1 => f.write_str("; 1 cache breakpoint was removed with what it marked"),
            n => write!(f, "; {n} cache breakpoints were removed with what they marked"),
        }
    }
}

/// A list of messages as a body: of the body before, whose messages it replaces, or by itself.
fn into_body<'a>(value: Value<'a>, before: &Value<'a>, family: Family) -> Value<'a> {
    let Value::List(_) = value else { return value };
    let name = family.table().list.as_str();
    let mut members = before.members().to_vec();
    members.retain(|it| it.0 != name);
    members.push((name.into(), value));
    Value::Object(members)
}
