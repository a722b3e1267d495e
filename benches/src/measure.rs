//! Runs a row: first everybody's answers are compared with what is right, then all are timed in turns, so that what
//! else the machine does hits all alike; the best run of each counts.

use std::time::{Duration, Instant};

use crate::clock::Clock;
use crate::contest::{Answers, Contest, Entry, Size};
use crate::data::Data;
use crate::row::Row;

/// What somebody took.
#[derive(Debug, Clone)]
pub struct Figure {
    /// Who.
    pub name: &'static str,
    /// The fastest run.
    pub best: Duration,
    /// What is wrong with the answer, with the input.
    pub wrong: Option<String>,
}

/// A row that was run; the first figure is ours.
#[derive(Debug, Clone)]
pub struct Measured {
    /// The row.
    pub row: &'static Row,
    /// What a run worked through.
    pub size: Size,
    /// Everybody's figures.
    pub figures: Vec<Figure>,
    /// Who does not run here, and why.
    pub absent: Vec<(&'static str, String)>,
}

impl Measured {
    /// The fastest peer whose answers are right.
    pub fn fastest_peer(&self) -> Option<&Figure> {
        let peers = self.figures.iter().skip(1).filter(|it| it.wrong.is_none());
        peers.min_by_key(|it| it.best)
    }

    /// The figure of somebody.
    pub fn of(&self, name: &str) -> Option<&Figure> {
        self.figures.iter().find(|it| it.name == name)
    }

    /// How many times as fast as this peer we are.
    pub fn ratio(&self, peer: &Figure) -> f64 {
        peer.best.as_secs_f64() / self.ours().best.as_secs_f64().max(1e-12)
    }

    /// Our own figure.
    pub fn ours(&self) -> &Figure {
        &self.figures[0]
    }

    /// Keeps the better of two runs of the same row.
    pub fn better(&mut self, other: &Measured) {
        for (figure, other) in self.figures.iter_mut().zip(&other.figures) {
            figure.best = figure.best.min(other.best);
        }
    }
}

/// Runs a row; everybody gets about so much time, and two runs at least. Where even our own part does not run here (the
/// Python package), that is said, and there is no row.
pub fn measure(row: &'static Row, data: &Data, budget: Duration) -> Option<Measured> {
    let contest = (row.make)(data);
    if let Some((_, reason)) = contest.absent.iter().find(|it| it.0 == "msg") {
        eprintln!("{} is left out: {reason}", row.name);
        return None;
    }
    let first = contest.entries.first()?;
    let right = contest.right.clone().unwrap_or_else(|| first.run(&mut Clock::default()));
    let mut figures: Vec<Figure> = contest
        .entries
        .iter()
        .map(|it| Figure { name: it.name, best: Duration::MAX, wrong: wrong(it, &contest, &right) })
        .collect();
    let mut left: Vec<Duration> = vec![budget; figures.len()];
    for round in 0.. {
        let mut rests = true;
        for ((entry, figure), left) in contest.entries.iter().zip(&mut figures).zip(&mut left) {
            if round < 2 || !left.is_zero() {
                let (start, mut clock) = (Instant::now(), Clock::default());
                entry.run(&mut clock);
                figure.best = figure.best.min(clock.spent());
                *left = left.saturating_sub(start.elapsed());
                rests = false;
            }
        }
        if rests {
            break;
        }
    }
    Some(Measured { row, size: contest.size, figures, absent: contest.absent })
}

/// The first input of which somebody says something else than is right.
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
