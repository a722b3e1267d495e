//! How much a mend changes, in lines and bytes.
//!
//! ```text
//! old  {"a":1}\n{"b":2}\n        new  {"a":1}\n        written 0, removed 1, bytes -8
//! ```

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use serde::Deserialize;

use crate::finding::{Case, Finding, MendOutcome};
use crate::{Blob, Dialect};

/// How much a mend changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Effect {
    /// Lines that are written, those that only change included.
    pub written: u64,
    /// Lines that are removed, those that only change included.
    pub removed: u64,
    /// How many bytes the session has more.
    pub bytes: i64,
}

impl Effect {
    /// How much of a session that is held is changed, from its old files to its new ones. Linear.
    ///
    /// ```
    /// use msg_session::{Blob, Effect};
    ///
    /// let (old, new) = ([Blob::new("s.jsonl", "{}\n[]\n")], [Blob::new("s.jsonl", "{}\n")]);
    /// assert_eq!(Effect::between(&old, &new), Effect { written: 0, removed: 1, bytes: -3 });
    /// ```
    pub fn between(old: &[Blob], new: &[Blob]) -> Self {
        let (had, has) = (lines(old), lines(new));
        let size = |it: &[Blob]| it.iter().map(|it| it.bytes.len() as i64).sum::<i64>();
        Effect {
            written: without(&has, &had),
            removed: without(&had, &has),
            bytes: size(new) - size(old),
        }
    }
}

fn lines(blobs: &[Blob]) -> Vec<&[u8]> {
    blobs.iter().flat_map(|it| it.bytes.split(|it| *it == b'\n')).collect()
}

/// How many of these lines are none of the others.
fn without(lines: &[&[u8]], others: &[&[u8]]) -> u64 {
    let others: HashSet<_> = others.iter().collect();
    lines.iter().filter(|it| !others.contains(it)).count() as u64
}

// What each agent makes of each fault, by its version (SE-136): `outcomes.json`, a row a fact.
//
// ```text
// ["open-call", "claude-code", "2.1.197", "cut"]       from this version on
// ["open-call", "claude-code", "2.1.328", "healed"]
// ```

/// A row: the code after `session::`, the agent, the version from which on, what it makes of it, the case.
#[derive(Deserialize)]
#[serde(untagged)]
enum Row {
    Any(String, Dialect, String, MendOutcome),
    Case(String, Dialect, String, MendOutcome, Case),
}

/// The facts about a code and an agent.
type Facts = HashMap<(String, Dialect), Vec<Fact>>;

struct Fact {
    version: Vec<u64>,
    outcome: MendOutcome,
    case: Case,
}

static ALL: LazyLock<Facts> = LazyLock::new(|| {
    let rows: Vec<Row> =
        serde_json::from_str(include_str!("outcomes.json")).expect("because a test reads it");
    let mut res = Facts::new();
    for row in rows {
        let (code, dialect, version, outcome, case) = match row {
            Row::Any(code, dialect, version, outcome) => {
                (code, dialect, version, outcome, Case::Any)
            }
            Row::Case(code, dialect, version, outcome, case) => {
                (code, dialect, version, outcome, case)
            }
        };
        let version = numbers(&version);
        res.entry((code, dialect)).or_default().push(Fact { version, outcome, case });
    }
    res
});

/// Says of each finding what the agent makes of it; `version` is the newest one that is known if none is named.
pub(crate) fn judge(dialect: Dialect, version: Option<&str>, findings: &mut [Finding]) {
    let version = version.map(numbers);
    for it in findings {
        let Some(code) = it.code.as_str().strip_prefix("session::") else { continue };
        it.outcome = outcome(code, dialect, version.as_deref(), it.case);
    }
}

/// That of the newest version that is not above `version`; of an older one than all, that of the first.
fn outcome(
    code: &str,
    dialect: Dialect,
    version: Option<&[u64]>,
    case: Case,
) -> Option<MendOutcome> {
    let facts = ALL.get(&(code.to_owned(), dialect))?;
    let applies = |it: &&Fact| it.case == Case::Any || it.case == case;
    let known = |it: &&Fact| version.is_none_or(|version| it.version.as_slice() <= version);
    let newest = facts.iter().filter(applies).filter(known).max_by_key(|it| &it.version);
    let oldest = || facts.iter().filter(applies).min_by_key(|it| &it.version);
    newest.or_else(oldest).map(|it| it.outcome)
}

/// The versions of an agent about which something is known, the newest last.
pub(crate) fn newest_version(dialect: Dialect) -> Option<String> {
    let facts = ALL.iter().filter(|it| it.0.1 == dialect).flat_map(|it| it.1);
    facts.map(|it| &it.version).max().map(|it| written(it))
}

impl Finding {
    /// What the versions of the agent make of it, each from which version on, the oldest first (SE-136). Empty where
    /// nothing is known.
    ///
    /// ```
    /// use msg_session::{Blob, Dialect, MendOutcome, Session, SessionOptions};
    ///
    /// let call = r#"{"type":"assistant","uuid":"u","parentUuid":null,"timestamp":"2026-02-03T10:00:00Z","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"c","name":"n","input":{}}]}}"#;
    /// let session = Session::new(Dialect::ClaudeCode, vec![Blob::new("s.jsonl", call)]);
    /// let findings = session.check(&SessionOptions::default())?;
    /// let open = findings.iter().find(|it| it.code == "session::open-call");
    /// let verdicts = open.map(|it| it.verdicts(Dialect::ClaudeCode)).unwrap_or_default();
    /// assert_eq!(verdicts[0], ("2.1.197".to_owned(), MendOutcome::Cut));
    /// assert_eq!(verdicts[1], ("2.1.328".to_owned(), MendOutcome::Healed));
    /// # Ok::<(), msg_session::Error>(())
    /// ```
    pub fn verdicts(&self, dialect: Dialect) -> Vec<(String, MendOutcome)> {
        let Some(code) = self.code.as_str().strip_prefix("session::") else { return Vec::new() };
        let facts = ALL.get(&(code.to_owned(), dialect)).into_iter().flatten();
        let mut facts: Vec<_> =
            facts.filter(|it| it.case == Case::Any || it.case == self.case).collect();
        facts.sort_by(|a, b| a.version.cmp(&b.version));
        facts.into_iter().map(|it| (written(&it.version), it.outcome)).collect()
    }
}

fn written(version: &[u64]) -> String {
    version.iter().map(ToString::to_string).collect::<Vec<_>>().join(".")
}

fn numbers(version: &str) -> Vec<u64> {
    version.split(['.', '-', ' ']).map_while(|it| it.parse().ok()).collect()
}

impl Dialect {
    /// Whether there are rules by which sessions of this dialect are judged (SE-146); of others only the frame is.
    ///
    /// ```
    /// use msg_session::Dialect;
    /// assert!(Dialect::Codex.is_judged() && !Dialect::Aider.is_judged());
    /// ```
    pub fn is_judged(self) -> bool {
        !matches!(
            self,
            Dialect::Aider
                | Dialect::SweAgent
                | Dialect::Inspect
                | Dialect::Otel
                | Dialect::Kimi
                | Dialect::Droid
                | Dialect::Grok
        )
    }

    /// The newest version of the agent whose verdicts are known (SE-136); none where none are.
    ///
    /// ```
    /// use msg_session::Dialect;
    /// assert_eq!(Dialect::ClaudeCode.known_version().as_deref(), Some("2.1.328"));
    /// assert_eq!(Dialect::Aider.known_version(), None);
    /// ```
    pub fn known_version(self) -> Option<String> {
        newest_version(self)
    }
}
