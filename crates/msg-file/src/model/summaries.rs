//! Summaries: which cells they cover, and where the summary of a cell comes from (MF-20).

use super::cell::{Cell, HistoryMode};
use super::kinds::{CellKind, Summarised};
use crate::diag::Findings;
use crate::syntax::grammar;
use std::ops::RangeInclusive;

/// Splits tried for one item, so that a line of dots stays cheap.
const MAX_SPLITS: usize = 64;

/// Reads `covers`: ranges of ordinals, in order and merged.
pub(super) fn ranges(
    covers: &str,
    refer: impl Fn(&str) -> Option<usize>,
) -> Vec<RangeInclusive<usize>> {
    let mut all: Vec<(usize, usize)> = Vec::new();
    for item in covers.split(|c: char| c == ',' || c.is_whitespace()).filter(|i| !i.is_empty()) {
        if let Some(one) = refer(item) {
            all.push((one, one));
            continue;
        }
        let range = grammar::covers_range(item)
            .take(MAX_SPLITS)
            .find_map(|(a, b)| Some((refer(a)?, refer(b)?)));
        all.extend(range.filter(|(a, b)| a <= b));
    }
    all.sort_unstable();
    let mut merged: Vec<(usize, usize)> = Vec::new();
    for (a, b) in all {
        match merged.last_mut() {
            Some(last) if a <= last.1 + 1 => last.1 = last.1.max(b),
            _ => merged.push((a, b)),
        }
    }
    merged.into_iter().map(|(a, b)| a..=b).collect()
}

/// Fills in `covered_by`; the newest summary of a cell counts. An excluded one covers nothing.
pub(super) fn cover(cells: &mut [Cell]) {
    // next[i]: the first ordinal from i on that nothing covers so far.
    let mut next: Vec<usize> = (0..=cells.len() + 1).collect();
    for s in (0..cells.len()).rev() {
        if cells[s].history == HistoryMode::Exclude {
            continue;
        }
        let CellKind::Summary(summary) = &cells[s].kind else { continue };
        for range in summary.covers.clone().unwrap_or_default() {
            let mut at = free(&mut next, *range.start());
            while at <= *range.end() {
                cells[at - 1].sent.covered_by = Some(s + 1).into();
                next[at] = at + 1;
                at = free(&mut next, at + 1);
            }
        }
    }
}

fn free(next: &mut [usize], at: usize) -> usize {
    let mut root = at;
    while next[root] != root {
        root = next[root];
    }
    let mut step = at;
    while next[step] != root {
        step = std::mem::replace(&mut next[step], root);
    }
    root
}

/// Finds the cells of summaries for the cells with that view.
pub(super) fn sources(cells: &mut [Cell], found: &mut Findings) {
    for i in 0..cells.len() {
        if let CellKind::Summary(summary) = &cells[i].kind
            && cells[i].history != HistoryMode::Exclude
            && let Some(of) = summary.of
        {
            cells[of - 1].sent.summary = Some(i + 1).into();
        }
    }
    for cell in cells.iter().filter(|it| it.summarised() == Some(Summarised::FirstParagraph)) {
        found.add(cell.span().start, "msgfile::summary-missing");
    }
}
