//! The growth of a conversation as a picture: self-contained, readable on light and dark.

use std::fmt::Write as _;

use msg_document::Stats;

use crate::render::plural;

const WIDTH: f64 = 800.0;
const HEIGHT: f64 = 320.0;
const LEFT: f64 = 70.0;
const BOTTOM: f64 = 40.0;
const TOP: f64 = 30.0;
const RIGHT: f64 = 20.0;

/// The picture: the total after each message as an area, the budget as a dashed line.
pub(super) fn draw(stats: &Stats, budget: Option<u64>) -> String {
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
