//! What tokens cost, as `--price` says it.

use std::str::FromStr;

/// Money for a million tokens, in and out; in whatever currency it was given.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Price {
    input: f64,
    output: f64,
}

impl Price {
    /// The money for so many tokens.
    pub(super) fn of(self, input: u64, output: u64) -> f64 {
        (input as f64 * self.input + output as f64 * self.output) / 1e6
    }
}

impl FromStr for Price {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |it: &str| it.parse().ok().filter(|it: &f64| it.is_finite() && *it >= 0.0);
        let both =
            text.split_once(':').and_then(|(input, output)| number(input).zip(number(output)));
        let (input, output) = both
            .ok_or("expected the price of a million tokens in and out, such as 3:15 or 0.25:2")?;
        Ok(Price { input, output })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_is_two_numbers() {
        let price: Price = "3:15".parse().unwrap();
        assert_eq!(price.of(1_000_000, 100_000), 4.5);
        for text in ["", "3", "3:", ":15", "a:b", "-1:2", "NaN:1", "1:inf"] {
            assert!(text.parse::<Price>().is_err(), "{text}");
        }
    }
}
