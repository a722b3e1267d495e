//! Criterion's measurements of a row, and whether all answers are right.
//!
//! ```text
//! target/criterion/json_read/msg-openai/new/benchmark.json   {"group_id":"json/read","function_id":"msg-openai",…}
//!                                      …/estimates.json      {"median":{"point_estimate":812.4,"confidence_interval":{…}}}
//! ```

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::clock::Clock;
use crate::contest::{Answers, Contest, Entry, Size};
use crate::data::Data;
use crate::row::Row;

/// A contestant's result.
#[derive(Debug, Clone)]
pub struct Figure {
    /// The contestant.
    pub name: &'static str,
    /// The median of the runs.
    pub time: Interval,
    /// The error in the answer, with the input.
    pub wrong: Option<String>,
}

/// Processor time in nanoseconds, with its 95 % confidence interval.
#[derive(Debug, Clone, Copy)]
pub struct Interval {
    /// The time.
    pub median: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// A row that ran; the first figure is ours.
#[derive(Debug, Clone)]
pub struct Measured {
    /// The row.
    pub row: &'static Row,
    /// The amount of work in a run.
    pub size: Size,
    /// The figures of all contestants.
    pub figures: Vec<Figure>,
    /// Contestants that do not run here, with the reason.
    pub absent: Vec<(&'static str, String)>,
}

impl Measured {
    /// The fastest peer with the right answers.
    pub fn fastest_peer(&self) -> Option<&Figure> {
        let peers = self.figures.iter().skip(1).filter(|it| it.wrong.is_none());
        peers.min_by(|one, other| one.time.median.total_cmp(&other.time.median))
    }

    /// The figure of a contestant.
    pub fn of(&self, name: &str) -> Option<&Figure> {
        self.figures.iter().find(|it| it.name == name)
    }

    /// How many times faster than this peer we are.
    pub fn ratio(&self, peer: &Figure) -> f64 {
        peer.time.median / self.ours().time.median.max(1e-3)
    }

    /// Our own figure.
    pub fn ours(&self) -> &Figure {
        &self.figures[0]
    }
}

/// Criterion's stored estimates, by row and contestant.
#[derive(Debug, Default)]
pub struct Estimates(BTreeMap<(String, String), Interval>);

#[derive(Deserialize)]
struct Id {
    group_id: String,
    function_id: String,
}

#[derive(Deserialize)]
struct Stored {
    median: Estimate,
}

#[derive(Deserialize)]
struct Estimate {
    point_estimate: f64,
    confidence_interval: Bounds,
}

#[derive(Deserialize)]
struct Bounds {
    lower_bound: f64,
    upper_bound: f64,
}

impl Estimates {
    /// Reads criterion's folder, two levels deep: row, then contestant.
    pub fn read(folder: &Path) -> Self {
        let mut res = Self::default();
        for entry in folders(folder).iter().flat_map(|it| folders(it)) {
            let new = entry.join("new");
            let id: Option<Id> = json(&new.join("benchmark.json"));
            let stored: Option<Stored> = json(&new.join("estimates.json"));
            if let (Some(id), Some(stored)) = (id, stored) {
                let Estimate { point_estimate, confidence_interval: bounds } = stored.median;
                let (low, high) = (bounds.lower_bound, bounds.upper_bound);
                let time = Interval { median: point_estimate, low, high };
                res.0.insert((id.group_id, id.function_id), time);
            }
        }
        res
    }

    fn of(&self, row: &str, who: &str) -> Option<Interval> {
        self.0.get(&(row.to_owned(), who.to_owned())).copied()
    }
}

fn folders(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|it| it.path()).filter(|it| it.is_dir()).collect()
}

fn json<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// A row with its estimates; `None` if ours was not measured. Runs every contestant once more to compare the answers.
pub fn measured(row: &'static Row, data: &Data, estimates: &Estimates) -> Option<Measured> {
    estimates.0.keys().find(|it| it.0 == row.name)?;
    let mut contest = (row.make)(data);
    let first = contest.entries.first()?;
    estimates.of(row.name, first.name)?;
    let right = contest.right.clone().unwrap_or_else(|| first.run(&mut Clock::default()));
    let figure = |it: &Entry| {
        let time = estimates.of(row.name, it.name)?;
        Some(Figure { name: it.name, time, wrong: wrong(it, &contest, &right) })
    };
    let figures: Vec<Figure> = contest.entries.iter().filter_map(figure).collect();
    let peers = contest.entries.iter().skip(1);
    let early: Vec<_> = peers.filter(|it| it.stops_early(&right)).map(|it| it.name).collect();
    let reason = || "it gives up on each input, so that it is not timed".to_owned();
    contest.absent.extend(early.into_iter().map(|it| (it, reason())));
    Some(Measured { row, size: contest.size, figures, absent: contest.absent })
}

/// The first input with a wrong answer.
fn wrong(entry: &Entry, contest: &Contest, right: &Answers) -> Option<String> {
    let said = entry.run(&mut Clock::default());
    if said.len() != right.len() {
        return Some(format!("{} answers instead of {}", said.len(), right.len()));
    }
    let differ = |it: &usize| said[*it] != right[*it];
    let n = (0..right.len()).filter(differ).count();
    let at = (0..right.len()).find(differ)?;
    let input = contest.inputs.get(at).map_or("the input", String::as_str);
    Some(format!("{input}: {} instead of {} ({n} of {} wrong)", said[at], right[at], right.len()))
}
