//! What holds for some models of a provider only, and how models are named.
//!
//! ```text
//! [deepseek.models."deepseek-reasoner"]     last = "user"
//!                   gpt-4o*   all that begin so      *llama*   all that hold it
//! ```

use std::borrow::Cow;

use super::Profile;

impl Profile {
    /// This profile, asked as a model: what holds for that one alone is in it, too. Of several rows of
    /// [`models`](Profile::models) that have its name the longest counts.
    ///
    /// ```
    /// use msg_chainast::Profile;
    ///
    /// let deepseek = Profile::named("deepseek").ok_or("no such profile")?;
    /// assert!(deepseek.asked_as("deepseek-reasoner").user_last);
    /// assert!(!deepseek.asked_as("deepseek-chat").user_last);
    /// # Ok::<(), &str>(())
    /// ```
    #[must_use]
    pub fn asked_as(&self, model: &str) -> Profile {
        let own = self.models.iter().filter(|it| fits(&it.0, undated(model)));
        let mut profile = own.max_by_key(|it| it.0.len()).map_or(self, |it| &it.1).clone();
        model.clone_into(&mut profile.model);
        profile
    }
}

impl Profile {
    /// What judges a body in this format: the profile itself, or that of another API of the provider.
    ///
    /// ```
    /// use msg_chainast::Profile;
    ///
    /// let azure = Profile::named("azure").ok_or("no such profile")?;
    /// let of_items = azure.in_format("responses");
    /// assert_eq!((&*of_items.name, &*of_items.format), ("azure", "responses"));
    /// assert_eq!(azure.in_format("openai").as_ref(), azure);
    /// # Ok::<(), &str>(())
    /// ```
    #[must_use]
    pub fn in_format(&self, format: &str) -> Cow<'_, Profile> {
        let others = self.other_formats.iter().filter_map(|it| it.split_once(':'));
        let other = others.filter(|it| it.0 == format).find_map(|it| Profile::named(it.1));
        other.map_or(Cow::Borrowed(self), |it| {
            let (name, model, account) = (&self.name, &self.model, &self.account);
            let of_model = if model.is_empty() { it.clone() } else { it.asked_as(model) };
            Cow::Owned(Profile { name: name.clone(), account: account.clone(), ..of_model })
        })
    }
}

/// Whether a model has such a name; a star stands for any text at that end.
fn fits(pattern: &str, name: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(_), Some(_)) => name.contains(pattern.trim_matches('*')),
        (Some(end), None) => name.ends_with(end),
        (None, Some(start)) => name.starts_with(start),
        (None, None) => name == pattern,
    }
}

/// A model's name without what is not the model: the gateway or cloud before it, the date of its release or
/// `latest` behind it. Who asks for `claude-sonnet-4-5` is answered by `claude-sonnet-4-5-20250929`.
pub(crate) fn undated(name: &str) -> &str {
    let name = name.rsplit('/').next().unwrap_or(name);
    let name = name.rsplit_once("anthropic.").map_or(name, |it| it.1);
    let name = name.split([':', '@']).next().unwrap_or(name);
    let name = name.strip_suffix("-v1").unwrap_or(name);
    let name = name.strip_suffix("-latest").unwrap_or(name);
    [DAY_WITH_DASHES, DAY].into_iter().find_map(|form| without(name, form)).unwrap_or(name)
}

const DAY: &str = "-00000000";
const DAY_WITH_DASHES: &str = "-0000-00-00";

/// The name before a date of this form.
fn without<'n>(name: &'n str, form: &str) -> Option<&'n str> {
    let (name, end) = name.split_at_checked(name.len().checked_sub(form.len())?)?;
    let fits = |(it, form): (u8, u8)| if form == b'0' { it.is_ascii_digit() } else { it == form };
    (!name.is_empty() && end.bytes().zip(form.bytes()).all(fits)).then_some(name)
}
