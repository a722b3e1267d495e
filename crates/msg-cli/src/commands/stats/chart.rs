//! The growth of a conversation as a chart of blocks for the terminal: 8 rows, the budget as a line.

/// Rows of the chart.
const ROWS: u64 = 8;
/// Columns at most, labels included.
const MAX_COLUMNS: usize = 100;
/// Columns of a label at least.
const LABEL: usize = 9;

/// An eighth of a block a step.
const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Draws the totals after each message.
pub(super) fn draw(growth: &[u64], budget: Option<u64>) -> String {
    if growth.is_empty() {
        return String::new();
    }
    let most = growth.iter().copied().max().unwrap_or(1).max(budget.unwrap_or(0)).max(1);
    let label_width = most.to_string().len().max(LABEL);
    let columns = columns(growth, width().saturating_sub(label_width + 2));
    let row_of = |it: u64| (u128::from(it) * u128::from(ROWS)).div_ceil(u128::from(most)) as u64;
    let budget_row = budget.map(|it| row_of(it).clamp(1, ROWS));
    let mut text = String::from("tokens over the messages\n");
    for row in (1..=ROWS).rev() {
        let label = match row {
            ROWS => most.to_string(),
            1 => (most / ROWS).to_string(),
            _ => String::new(),
        };
        let is_budget = budget_row == Some(row);
        let mark = if is_budget { '┤' } else { '│' };
        text.push_str(&format!("{label:>label_width$} {mark}"));
        for total in &columns {
            text.push(cell(*total, row, most, is_budget));
        }
        if is_budget {
            text.push_str(" budget");
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text
}

/// The block of a column in a row; where there is none, the budget's line.
fn cell(total: u64, row: u64, most: u64, is_budget: bool) -> char {
    let eighths = (u128::from(total) * u128::from(ROWS * 8) / u128::from(most)) as u64;
    let filled = eighths.saturating_sub((row - 1) * 8).min(8);
    match BLOCKS[usize::try_from(filled).unwrap_or(8)] {
        ' ' if is_budget => '┄',
        block => block,
    }
}

/// The totals, one a column: the last of those that fall together.
fn columns(growth: &[u64], width: usize) -> Vec<u64> {
    let n = growth.len().min(width.max(1));
    (1..=n).map(|it| growth[it * growth.len() / n - 1]).collect()
}

/// The width of the terminal, or what the environment says instead, at most 100 columns.
#[expect(clippy::disallowed_methods, reason = "the environment may tell another width")]
fn width() -> usize {
    let told = std::env::var("COLUMNS").ok().and_then(|it| it.parse::<usize>().ok());
    let seen = || terminal_size::terminal_size_of(std::io::stdout()).map(|it| usize::from(it.0.0));
    told.or_else(seen).unwrap_or(80).clamp(LABEL + 12, MAX_COLUMNS)
}

#[cfg(test)]
mod tests {
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
}
