//! What is shown, and how.

use std::str::FromStr;

use msg_document::Counter;
use serde::Deserialize;

/// What is shown of a conversation, and how. The default shows all of it on one page.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ViewOptions {
    /// What the conversation is called: a name, or the path of a file, whose last part heads the page.
    pub title: String,
    /// The roles that are shown; all, if none is named.
    pub roles: Vec<String>,
    /// Texts as they are, instead of rendered Markdown.
    pub raw: bool,
    /// How many messages are on a page, about: results stay with their calls. None puts all on one.
    pub page_size: Option<usize>,
    /// The name of the first page's file, after which further ones are called; pages lead to each other by it.
    pub file: String,
    /// How tokens are counted; by scripts, if nothing is said.
    pub counter: Option<Counter>,
    /// What a million tokens cost: each section is given its cost, nothing cached.
    pub price: Option<TokenPrice>,
}

impl Default for ViewOptions {
    fn default() -> Self {
        ViewOptions {
            title: String::new(),
            roles: Vec::new(),
            raw: false,
            page_size: None,
            file: "page.html".to_owned(),
            counter: None,
            price: None,
        }
    }
}

impl ViewOptions {
    /// With this title.
    #[must_use]
    pub fn with_title(self, title: impl Into<String>) -> Self {
        ViewOptions { title: title.into(), ..self }
    }

    /// With messages of these roles only.
    #[must_use]
    pub fn with_roles(self, roles: impl IntoIterator<Item = impl Into<String>>) -> Self {
        ViewOptions { roles: roles.into_iter().map(Into::into).collect(), ..self }
    }

    /// With texts as they are.
    #[must_use]
    pub fn with_raw(self) -> Self {
        ViewOptions { raw: true, ..self }
    }

    /// With about so many messages on a page.
    #[must_use]
    pub fn with_page_size(self, messages: usize) -> Self {
        ViewOptions { page_size: Some(messages), ..self }
    }

    /// With pages in files that are called so, or after it.
    #[must_use]
    pub fn with_file(self, name: impl Into<String>) -> Self {
        ViewOptions { file: name.into(), ..self }
    }

    /// With tokens counted so.
    #[must_use]
    pub fn with_counter(self, counter: Counter) -> Self {
        ViewOptions { counter: Some(counter), ..self }
    }

    /// With the cost of each section.
    #[must_use]
    pub fn with_price(self, price: TokenPrice) -> Self {
        ViewOptions { price: Some(price), ..self }
    }
}

// What tokens cost, as a person writes it: `3:15`.
//
// It knows no provider's prices, and no currency.

/// A price that is not two numbers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected the price of a million tokens in and out, such as 3:15 or 0.25:2")]
#[non_exhaustive]
pub struct Error {}

/// Money for a million tokens, in and out; in whatever currency it was given.
///
/// ```
/// let price: msg_view::TokenPrice = "3:15".parse()?;
/// assert_eq!(price.of(1_000_000, 100_000), 4.5);
/// # Ok::<(), msg_view::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub struct TokenPrice {
    input: f64,
    output: f64,
}

impl TokenPrice {
    /// The money for so many tokens.
    pub fn of(self, input: u64, output: u64) -> f64 {
        (input as f64 * self.input + output as f64 * self.output) / 1e6
    }
}

impl FromStr for TokenPrice {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let number = |it: &str| it.parse().ok().filter(|it: &f64| it.is_finite() && *it >= 0.0);
        let both = text.split_once(':').and_then(|(one, other)| number(one).zip(number(other)));
        let (input, output) = both.ok_or(Error {})?;
        Ok(TokenPrice { input, output })
    }
}

impl TryFrom<String> for TokenPrice {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}
