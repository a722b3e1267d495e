//! Where to cut by money: what a cut makes a prompt cache write again, against what later requests read less (CL-61).
//!
//! Prices are numbers that the caller brings; no provider is known here.

use std::str::FromStr;

use msg_chainast::{ChainAst, Profile};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Error, TokenIndex, budget::Unit};

/// What tokens that a prompt cache reads and writes cost, as shares of the price of an input token; `0.1:1.25` as text.
///
/// ```
/// use msg_compact::CacheCost;
///
/// assert_eq!("0.1:1.25".parse(), Ok(CacheCost::default()));
/// assert!("cheap".parse::<CacheCost>().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheCost {
    /// A token that is read, in thousandths.
    read: u32,
    /// A token that is written, in thousandths.
    write: u32,
}

impl Default for CacheCost {
    /// A tenth to read, a quarter more to write: what Anthropic asks for entries of five minutes.
    fn default() -> Self {
        CacheCost { read: 100, write: 1250 }
    }
}

impl FromStr for CacheCost {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let share = |it: &str| {
            let share: f64 = it.trim().parse().ok()?;
            (0.0..=1000.0).contains(&share).then_some((share * 1000.0).round() as u32)
        };
        let read = text.split_once(':').and_then(|it| Some((share(it.0)?, share(it.1)?)));
        let (read, write) = read.ok_or_else(|| Error::BadOption {
            option: "cache".to_owned(),
            reason: format!(
                "found {text:?}, expected READ:WRITE, shares of the input price, such as 0.1:1.25"
            ),
        })?;
        Ok(CacheCost { read, write })
    }
}

impl<'de> Deserialize<'de> for CacheCost {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl Serialize for CacheCost {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (read, write) = (f64::from(self.read) / 1000.0, f64::from(self.write) / 1000.0);
        serializer.collect_str(&format_args!("{read}:{write}"))
    }
}

/// How a budget chooses its target by money.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct CacheTarget {
    pub(crate) cost: CacheCost,
    /// The least that stays besides the system message and the tools; an eighth of the limit if not given.
    pub(crate) keep: Option<u64>,
}

/// A history in front of a cut.
struct Course {
    cost: CacheCost,
    usable: u64,
    /// The system message and the tools.
    front: u64,
    /// What a request adds.
    growth: u64,
}

/// What a request costs on average until the next cut: a fraction.
#[derive(Clone, Copy)]
struct Average {
    sum: u128,
    requests: u128,
}

impl Average {
    /// Whether this is at most so many percent of the other.
    fn is_within(self, percent: u128, other: Self) -> bool {
        self.sum * other.requests * 100 <= other.sum * self.requests * percent
    }
}

impl Course {
    /// What a request costs on average if this much is left by a cut: writing it again once, reading it as long as the
    /// history fits.
    fn average(&self, left: u64) -> Average {
        let requests = u128::from(((self.usable - left) / self.growth).max(1));
        let (left, growth) = (u128::from(left), u128::from(self.growth));
        let (read, write) = (u128::from(self.cost.read), u128::from(self.cost.write));
        let again = (left - u128::from(self.front)) * write.saturating_sub(read);
        let sum = 2 * again + read * (2 * requests * left + growth * requests * (requests + 1));
        Average { sum, requests }
    }
}

impl CacheTarget {
    /// The most that a cut may leave without costing more than a tenth above the cheapest; none where no cut keeps
    /// enough. O(messages).
    pub(crate) fn choose(
        &self,
        ast: &ChainAst,
        index: &TokenIndex,
        profile: Option<&Profile>,
        (unit, limit, usable): (Unit, u64, u64),
    ) -> Option<u64> {
        let of = |it: usize| index.message(it).map_or(0, |it| unit.of(it));
        let systems = ast.messages().take_while(|it| it.role.is_system()).count();
        let requests = ast.messages().filter(|it| it.role == msg_core::Role::Assistant).count();
        let total = unit.of(index.total());
        let front = unit.of(index.base_cost()) + (0..systems).map(of).sum::<u64>();
        let growth = (total.saturating_sub(front) / (requests as u64).max(1)).max(1);
        let course = Course { cost: self.cost, usable, front, growth };
        let keep = self.keep.unwrap_or(limit / 8);
        let mut left = total;
        let mut next = systems;
        let mut cuts = Vec::new();
        for cut in ast.cut_points(profile) {
            while next < cut.message_index() {
                left -= of(next);
                next += 1;
            }
            if left < total && left - front >= keep && left + growth <= usable {
                cuts.push((left, course.average(left)));
            }
        }
        let least =
            cuts.iter().map(|it| it.1).reduce(|a, b| if a.is_within(100, b) { a } else { b })?;
        cuts.iter().filter(|it| it.1.is_within(110, least)).map(|it| it.0).max()
    }
}
