//! What tokens cost, as a person writes it: `3:15`.
//!
//! It knows no provider's prices, and no currency.

use std::str::FromStr;

use serde::Deserialize;

/// A price that is not two numbers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected the price of a million tokens in and out, such as 3:15 or 0.25:2")]
#[non_exhaustive]
pub struct Error {}

/// Money for a million tokens, in and out; in whatever currency it was given.
///
/// ```
/// let price: msg_view::Price = "3:15".parse()?;
/// assert_eq!(price.of(1_000_000, 100_000), 4.5);
/// # Ok::<(), msg_view::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub struct Price {
    input: f64,
    output: f64,
}

impl Price {
    /// The money for so many tokens.
    pub fn of(self, input: u64, output: u64) -> f64 {
        (input as f64 * self.input + output as f64 * self.output) / 1e6
    }
}

impl FromStr for Price {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let number = |it: &str| it.parse().ok().filter(|it: &f64| it.is_finite() && *it >= 0.0);
        let both = text.split_once(':').and_then(|(one, other)| number(one).zip(number(other)));
        let (input, output) = both.ok_or(Error {})?;
        Ok(Price { input, output })
    }
}

impl TryFrom<String> for Price {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}
