//! What a history may cost (CP-10, CP-12, CP-16): a limit, what is reserved, and when to begin and
//! where to stop. It only compares numbers.

use std::{collections::BTreeMap, str::FromStr};

use msg_chainast::{ChainAst, Profile};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::token_index::Cost;
use crate::{Error, TokenIndex};

/// The unit of costs and limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Tokens of the token index's counter, with the base of the request.
    #[default]
    Tokens,
    /// UTF-8 bytes of the messages (CA-20).
    Bytes,
}

impl Unit {
    /// The name: `tokens`, `bytes`.
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

/// The part of the limit that is kept free for the reply (CP-10); in JSON a number, or a text such
/// as `"25%"`.
///
/// ```
/// use msg_compact::Reserve;
///
/// assert_eq!("25%".parse(), Ok(Reserve::Percent(25)));
/// assert_eq!("2000".parse(), Ok(Reserve::Fixed(2000)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reserve {
    /// An amount in the budget's unit.
    Fixed(u64),
    /// A percentage of the limit, below 100.
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

/// Whether a history exceeds its budget (CP-16).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision {
    /// Whether to compact: the total exceeds the trigger.
    pub over: bool,
    /// The cost of the history, in the budget's unit.
    pub total: u64,
    /// The usable part of the budget.
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

    /// A budget without a reserve, with trigger and target at 100 %.
    pub fn new(limit: u64, unit: Unit) -> Self {
        let (reserve, tool_caps) = (Reserve::Fixed(0), BTreeMap::new());
        Self { limit, unit, reserve, trigger: 100, target: None, tool_caps, cache: None }
    }

    /// Changes the unit, not the numbers.
    #[must_use]
    pub fn with_unit(mut self, unit: Unit) -> Self {
        self.unit = unit;
        self
    }

    /// Sets the reserve.
    #[must_use]
    pub fn with_reserve(mut self, reserve: Reserve) -> Self {
        self.reserve = reserve;
        self
    }

    /// Sets the percentage of the usable budget above which to compact [default: 100].
    #[must_use]
    pub fn with_trigger(mut self, percent: u64) -> Self {
        self.trigger = percent;
        self
    }

    /// Sets the percentage of the usable budget down to which to compact [default: the trigger].
    #[must_use]
    pub fn with_target(mut self, percent: u64) -> Self {
        self.target = Some(percent);
        self
    }

    /// Sets the prices of a prompt cache, which then determine how deep to cut: a deep cut rewrites less of the cache
    /// and postpones the next cut (CL-61). The target of [`Budget::with_target`] is then used only if no cut keeps
    /// enough.
    #[must_use]
    pub fn with_cache(mut self, cost: CacheCost) -> Self {
        self.cache = Some(CacheTarget { cost, ..self.cache.unwrap_or_default() });
        self
    }

    /// Sets the minimum that is kept, besides the system message and the tools, if [`Budget::with_cache`]
    /// determines the cut [default: an eighth of the limit].
    #[must_use]
    pub fn with_cache_keep(mut self, keep: u64) -> Self {
        self.cache = Some(CacheTarget { keep: Some(keep), ..self.cache.unwrap_or_default() });
        self
    }

    /// Sets that the prompt cache has expired, so the next request rewrites everything: compacts from three
    /// quarters of the usable budget on.
    #[must_use]
    pub fn with_cold_cache(mut self) -> Self {
        self.trigger = self.trigger.min(COLD_TRIGGER);
        self.target = self.target.map(|it| it.min(COLD_TRIGGER));
        self
    }

    /// Cuts outputs of this tool (`*`: of all others) to this many bytes, always and first (CP-33).
    #[must_use]
    pub fn with_tool_cap(mut self, tool: impl Into<String>, bytes: u64) -> Self {
        self.tool_caps.insert(tool.into(), bytes);
        self
    }

    /// The limit, with the reserve.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// The unit of the limit.
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// The usable part: the limit without the reserve.
    ///
    /// # Errors
    /// The budget is invalid: limit or usable part is 0, the reserve is 100 % or more, or 1 ≤
    /// target ≤ trigger ≤ 100 does not hold.
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
            let given = self.target.map(|it| format!("target {it} and ")).unwrap_or_default();
            let found = format!("found {given}trigger {trigger}");
            let reason =
                format!("{found}, expected percentages: 1 ≤ target ≤ trigger ≤ 100").into();
            return Err(Error::BadBudget { reason });
        }
        Ok(usable)
    }

    /// Whether a history exceeds the budget. O(1).
    ///
    /// # Errors
    /// As [`Budget::usable`].
    pub fn check(&self, index: &TokenIndex) -> Result<Decision, Error> {
        let usable = self.usable()?;
        let total = self.unit.of(index.total());
        Ok(Decision { over: total > share(usable, self.trigger), total, usable })
    }

    /// The total above which compacting begins, and the total down to which it goes.
    pub(crate) fn marks(&self, usable: u64) -> (u64, u64) {
        (share(usable, self.trigger), share(usable, self.target.unwrap_or(self.trigger)))
    }

    /// The target for a history: chosen by price, if the budget says so.
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

/// The trigger if the prompt cache has expired, in percent.
const COLD_TRIGGER: u64 = 75;

/// A percentage, rounded down.
pub(crate) fn share(whole: u64, percent: u64) -> u64 {
    u64::try_from(u128::from(whole) * u128::from(percent) / 100).unwrap_or(u64::MAX)
}

// Chooses a cut by price: what a prompt cache must write again after a cut, against what later requests read less
// (CL-61).
//
// The caller supplies prices; no provider is known here.

/// The prices of tokens that a prompt cache reads and writes, as shares of the price of an input token; `0.1:1.25` as
/// text.
///
/// ```
/// use msg_compact::CacheCost;
///
/// assert_eq!("0.1:1.25".parse(), Ok(CacheCost::default()));
/// assert!("cheap".parse::<CacheCost>().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheCost {
    /// A token read, in thousandths.
    read: u32,
    /// A token written, in thousandths.
    write: u32,
}

impl Default for CacheCost {
    /// A tenth to read, a quarter more to write: Anthropic's prices for five-minute entries.
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

msg_core::serde_as_text!(read CacheCost);

impl Serialize for CacheCost {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (read, write) = (f64::from(self.read) / 1000.0, f64::from(self.write) / 1000.0);
        serializer.collect_str(&format_args!("{read}:{write}"))
    }
}

/// How a budget chooses its target by price.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct CacheTarget {
    pub(crate) cost: CacheCost,
    /// The minimum to keep besides the system message and the tools; by default an eighth of the limit.
    pub(crate) keep: Option<u64>,
}

/// A history before a cut.
struct Course {
    cost: CacheCost,
    usable: u64,
    /// The system message and the tools.
    front: u64,
    /// The growth per request.
    growth: u64,
}

/// The average cost of a request until the next cut, as a fraction.
#[derive(Clone, Copy)]
struct Average {
    sum: u128,
    requests: u128,
}

impl Average {
    /// Whether this is at most `percent` percent of the other.
    fn is_within(self, percent: u128, other: Self) -> bool {
        self.sum * other.requests * 100 <= other.sum * self.requests * percent
    }
}

impl Course {
    /// The average cost of a request if a cut keeps `left`: written again once, and read as long as the history fits.
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
    /// The most that a cut may keep with a cost at most a tenth above the cheapest; `None` if no cut keeps enough.
    /// O(messages).
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
