//! The growth of a conversation as a chart of blocks for the terminal: 8 rows, the budget as a line.

use std::fmt::Write as _;

use msg_document::Stats;

use crate::render::plural;

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

// The growth of a conversation as a picture: self-contained, readable on light and dark.

const WIDTH: f64 = 800.0;
const HEIGHT: f64 = 320.0;
const LEFT: f64 = 70.0;
const BOTTOM: f64 = 40.0;
const TOP: f64 = 30.0;
const RIGHT: f64 = 20.0;

/// The picture: the total after each message as an area, the budget as a dashed line.
pub(super) fn draw_svg(stats: &Stats, budget: Option<u64>) -> String {
    let most = stats.growth.iter().copied().max().unwrap_or(1).max(budget.unwrap_or(0)).max(1);
    let y = |tokens: u64| TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - tokens as f64 / most as f64);
    let step = (WIDTH - LEFT - RIGHT) / stats.growth.len().max(1) as f64;
    let floor = HEIGHT - BOTTOM;
    let mut path = format!("M{LEFT:.1} {floor:.1}");
    for (number, total) in stats.growth.iter().enumerate() {
        let x = LEFT + step * number as f64;
        push(&mut path, format_args!(" L{x:.1} {y:.1} L{:.1} {y:.1}", x + step, y = y(*total)));
    }
    push(&mut path, format_args!(" L{:.1} {floor:.1} Z", LEFT + step * stats.growth.len() as f64));
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
         font-family=\"system-ui, sans-serif\" font-size=\"12\">\n\
         <title>Tokens over the messages</title>\n\
         <style>text{{fill:#333}}.area{{fill:#4a7fb5;fill-opacity:.55;stroke:#2f5f8f}}\
         .axis{{stroke:#888}}.budget{{stroke:#c0392b;stroke-dasharray:6 4}}.limit{{fill:#c0392b}}\
         @media(prefers-color-scheme:dark){{text{{fill:#ddd}}.area{{fill:#6ea3d8;stroke:#9cc4ec}}\
         .budget{{stroke:#ff7b6b}}.limit{{fill:#ff7b6b}}}}</style>\n\
         <path class=\"area\" d=\"{path}\"/>\n\
         <line class=\"axis\" x1=\"{LEFT}\" y1=\"{floor}\" x2=\"{}\" y2=\"{floor}\"/>\n\
         <line class=\"axis\" x1=\"{LEFT}\" y1=\"{TOP}\" x2=\"{LEFT}\" y2=\"{floor}\"/>\n\
         <text x=\"{}\" y=\"{}\" text-anchor=\"end\">{most}</text>\n\
         <text x=\"{}\" y=\"{floor}\" text-anchor=\"end\">0</text>\n\
         <text x=\"{LEFT}\" y=\"{}\">{}, {} ({})</text>\n",
        WIDTH - RIGHT,
        LEFT - 8.0,
        TOP + 10.0,
        LEFT - 8.0,
        HEIGHT - 14.0,
        plural(stats.messages, "message"),
        plural(stats.tokens, "token"),
        stats.counter,
    );
    if let Some(budget) = budget {
        let y = y(budget);
        push(
            &mut svg,
            format_args!(
                "<line class=\"budget\" x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\"/>\n\
                 <text class=\"limit\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">budget {budget}</text>\n",
                WIDTH - RIGHT,
                WIDTH - RIGHT,
                y - 6.0
            ),
        );
    }
    svg.push_str("</svg>\n");
    svg
}

fn push(text: &mut String, args: std::fmt::Arguments<'_>) {
    text.write_fmt(args).expect("because a String takes all");
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
