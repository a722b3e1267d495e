//! What a history may cost (CP-10, CP-12, CP-16): a limit, what is reserved, and when to begin and
//! where to stop. It only compares numbers.

use std::{collections::BTreeMap, str::FromStr};

use msg_chainast::{ChainAst, Profile};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{CacheCost, Error, TokenIndex, cache_cost::CacheTarget, token_index::Cost};

/// What costs are measured in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Tokens of the token index's counter, the base of the request included.
    #[default]
    Tokens,
    /// UTF-8 bytes of the messages (CA-20).
    Bytes,
}

impl Unit {
    /// The word: `tokens`, `bytes`.
    pub fn as_str(self) -> &'static str {
        match self {
            Unit::Tokens => "tokens",
            Unit::Bytes => "bytes",
        }
    }

    pub(crate) fn of(self, cost: Cost) -> u64 {
        match self {
            Unit::Tokens => cost.tokens,
            Unit::Bytes => cost.bytes,
        }
    }
}

impl FromStr for Unit {
    type Err = Error;

    /// Reads `tokens` or `bytes`.
    fn from_str(name: &str) -> Result<Self, Error> {
        match name {
            "tokens" => Ok(Unit::Tokens),
            "bytes" => Ok(Unit::Bytes),
            _ => Err(Error::unknown("unit", name, "tokens or bytes")),
        }
    }
}

/// What is kept free of the limit, for the reply (CP-10); in JSON a number, or a text like `"25%"`.
///
/// ```
/// use msg_compact::Reserve;
///
/// assert_eq!("25%".parse(), Ok(Reserve::Percent(25)));
/// assert_eq!("2000".parse(), Ok(Reserve::Fixed(2000)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reserve {
    /// This much, in the budget's unit.
    Fixed(u64),
    /// This share of the limit, below 100.
    Percent(u64),
}

impl FromStr for Reserve {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let read = match text.strip_suffix('%') {
            Some(percent) => percent.trim().parse().map(Reserve::Percent),
            None => text.trim().parse().map(Reserve::Fixed),
        };
        read.map_err(|_| Error::BadOption {
            option: "reserve".to_owned(),
            reason: format!("found {text:?}, expected a number or a percentage"),
        })
    }
}

impl<'de> Deserialize<'de> for Reserve {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "expected a number or a percentage as a text")]
        enum Stored {
            Number(u64),
            Text(String),
        }
        match Stored::deserialize(deserializer)? {
            Stored::Number(number) => Ok(Reserve::Fixed(number)),
            Stored::Text(text) => text.parse().map_err(serde::de::Error::custom),
        }
    }
}

impl Serialize for Reserve {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Reserve::Fixed(number) => serializer.serialize_u64(*number),
            Reserve::Percent(percent) => serializer.collect_str(&format_args!("{percent}%")),
        }
    }
}

/// A limit with its reserve, its trigger and its target (CP-10).
///
/// ```
/// use msg_compact::{Budget, Reserve};
///
/// let budget = Budget::tokens(100_000).with_reserve(Reserve::Percent(25)).with_trigger(90).with_target(60);
/// assert_eq!(budget.usable()?, 75_000);
///
/// let json = r#"{"limit": 100000, "reserve": "25%", "trigger": 90, "target": 60}"#;
/// assert_eq!(serde_json::from_str::<Budget>(json)?, budget);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    limit: u64,
    #[serde(default)]
    unit: Unit,
    #[serde(default = "nothing")]
    reserve: Reserve,
    #[serde(default = "all")]
    trigger: u64,
    #[serde(default)]
    target: Option<u64>,
    #[serde(default)]
    tool_caps: BTreeMap<String, u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cache: Option<CacheTarget>,
}

fn nothing() -> Reserve {
    Reserve::Fixed(0)
}

fn all() -> u64 {
    100
}

/// Whether a history is over its budget (CP-16).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision {
    /// Whether to compact: the total is over the trigger.
    pub over: bool,
    /// What the history costs, in the budget's unit.
    pub total: u64,
    /// What it may cost.
    pub usable: u64,
}

impl Budget {
    /// A budget in tokens.
    pub fn tokens(limit: u64) -> Self {
        Self::new(limit, Unit::Tokens)
    }

    /// A budget in bytes.
    pub fn bytes(limit: u64) -> Self {
        Self::new(limit, Unit::Bytes)
    }

    /// A budget in a unit; nothing reserved, trigger and target at 100 %.
    pub fn new(limit: u64, unit: Unit) -> Self {
        let (reserve, tool_caps) = (Reserve::Fixed(0), BTreeMap::new());
        Self { limit, unit, reserve, trigger: 100, target: None, tool_caps, cache: None }
    }

    /// The same numbers in another unit.
    #[must_use]
    pub fn with_unit(mut self, unit: Unit) -> Self {
        self.unit = unit;
        self
    }

    /// Keeps this free.
    #[must_use]
    pub fn with_reserve(mut self, reserve: Reserve) -> Self {
        self.reserve = reserve;
        self
    }

    /// Compacts only above this percentage of what is usable; 100 if not set.
    #[must_use]
    pub fn with_trigger(mut self, percent: u64) -> Self {
        self.trigger = percent;
        self
    }

    /// Compacts down to this percentage of what is usable; the trigger if not set.
    #[must_use]
    pub fn with_target(mut self, percent: u64) -> Self {
        self.target = Some(percent);
        self
    }

    /// Cuts as deep as costs least at a provider with a prompt cache of these prices: a deep cut writes less again
    /// and lets more requests pass until the next one (CL-61). The target of [`Budget::with_target`] is not used then,
    /// unless no cut keeps enough.
    #[must_use]
    pub fn with_cache(mut self, cost: CacheCost) -> Self {
        self.cache = Some(CacheTarget { cost, ..self.cache.unwrap_or_default() });
        self
    }

    /// Keeps at least this much besides the system message and the tools where [`Budget::with_cache`] chooses the
    /// cut; an eighth of the limit if not set.
    #[must_use]
    pub fn with_cache_keep(mut self, keep: u64) -> Self {
        self.cache = Some(CacheTarget { keep: Some(keep), ..self.cache.unwrap_or_default() });
        self
    }

    /// The entries of the prompt cache have expired, so that the next request writes everything again whatever is
    /// cut: compacts from three quarters of what is usable on.
    #[must_use]
    pub fn with_cold_cache(mut self) -> Self {
        self.trigger = self.trigger.min(COLD_TRIGGER);
        self.target = self.target.map(|it| it.min(COLD_TRIGGER));
        self
    }

    /// Cuts outputs of this tool (`*`: of any other) to this many bytes, always and first (CP-33).
    #[must_use]
    pub fn with_tool_cap(mut self, tool: impl Into<String>, bytes: u64) -> Self {
        self.tool_caps.insert(tool.into(), bytes);
        self
    }

    /// The limit, nothing subtracted.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// What it is measured in.
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// What may be used: the limit without the reserve.
    ///
    /// # Errors
    /// The budget makes no sense: limit or usable part 0, a reserve of 100 % or more, or not
    /// 1 ≤ target ≤ trigger ≤ 100.
    pub fn usable(&self) -> Result<u64, Error> {
        let bad = |reason: &'static str| Err(Error::BadBudget { reason: reason.into() });
        if self.limit == 0 {
            return bad("the limit must be above 0");
        }
        let usable = match self.reserve {
            Reserve::Percent(100..) => return bad("the reserve must be below 100 %"),
            Reserve::Percent(percent) => share(self.limit, 100 - percent),
            Reserve::Fixed(reserve) => self.limit.saturating_sub(reserve),
        };
        if usable == 0 {
            return bad("the reserve leaves nothing");
        }
        let (trigger, target) = (self.trigger, self.target.unwrap_or(self.trigger));
        if !(1..=100).contains(&trigger) || !(1..=trigger).contains(&target) {
            let found = format!("found target {target} and trigger {trigger}");
            let reason = format!("{found}, expected 1 ≤ target ≤ trigger ≤ 100").into();
            return Err(Error::BadBudget { reason });
        }
        Ok(usable)
    }

    /// Whether a history is over the budget. O(1).
    ///
    /// # Errors
    /// As [`Budget::usable`].
    pub fn check(&self, index: &TokenIndex) -> Result<Decision, Error> {
        let usable = self.usable()?;
        let total = self.unit.of(index.total());
        Ok(Decision { over: total > share(usable, self.trigger), total, usable })
    }

    /// Above this total compacting begins; down to this one it goes.
    pub(crate) fn marks(&self, usable: u64) -> (u64, u64) {
        (share(usable, self.trigger), share(usable, self.target.unwrap_or(self.trigger)))
    }

    /// The target of a history: chosen by money, if the budget wants that.
    pub(crate) fn target_of(
        &self,
        ast: &ChainAst,
        index: &TokenIndex,
        profile: Option<&Profile>,
        usable: u64,
    ) -> u64 {
        let (_, target) = self.marks(usable);
        let measure = (self.unit, self.limit, usable);
        let by_money = self.cache.and_then(|it| it.choose(ast, index, profile, measure));
        by_money.unwrap_or(target)
    }

    pub(crate) fn tool_caps(&self) -> &BTreeMap<String, u64> {
        &self.tool_caps
    }
}

/// Where compacting begins if nothing is left of a prompt cache.
const COLD_TRIGGER: u64 = 75;

/// A percentage, rounded down.
pub(crate) fn share(whole: u64, percent: u64) -> u64 {
    u64::try_from(u128::from(whole) * u128::from(percent) / 100).unwrap_or(u64::MAX)
}
