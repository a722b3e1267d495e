//! The chart of a growth.

use super::*;

#[test]
fn a_long_growth_fits_the_width_and_ends_at_its_end() {
    let growth: Vec<u64> = (1..=1000).collect();
    let drawn = columns(&growth, 60);
    assert_eq!((drawn.len(), drawn.last()), (60, Some(&1000)));
}

#[test]
fn the_budget_is_a_line() {
    let chart = draw(&[10, 20, 30], Some(60));
    assert!(chart.contains('┄') && chart.contains("budget"), "{chart}");
}
