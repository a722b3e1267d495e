//! `msg stats`: what a conversation is made of (CP-71): messages, bytes and tokens by role, section
//! and tool, the largest parts, and how it grew.
//!
//! `msg-document` counts; this file formats the output.
//!
//! The numbers for people: a table, and the growth of a conversation as a chart of blocks.

use std::{
    fmt::{Display, Write as _},
    path::PathBuf,
};

use msg_core::Severity;
use msg_document::{
    Accept, Format, MadeOf, MediaRates, PartTotals, SectionTotals, Stats, StatsOptions, stats,
};
use msg_session::Dialect;
use unicode_width::UnicodeWidthStr;

use super::Command;
use crate::commands::fit::CountArgs;
use crate::context::Context;
use crate::documents::{AnswerArgs, Form, Lines, RowArgs};
use crate::exit::{Failure, Status, refuse_if};
use crate::input::{Input, Sources};
use crate::jsonl::Answer;
use crate::options::Flags;
use crate::output::{Output, PrettyArgs, end_line, json_line};
use crate::render::{Quotes, plural, safe};
use crate::sessions::load::Used;
use crate::{input, words};

/// Count messages, bytes and tokens by role, section and tool; show the largest parts and the growth.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  msg stats session.json
  msg stats --budget 128k --svg growth.svg session.json
  msg stats --json --top 0 'logs/*.json'")]
pub(crate) struct Args {
    #[command(flatten)]
    io: AnswerArgs,
    #[command(flatten)]
    rows: RowArgs,
    /// A limit in tokens (k, M), drawn as a line over the growth.
    #[arg(help_heading = "Output", long, value_name = "N", value_parser = words::above_zero)]
    budget: Option<u64>,
    #[command(flatten)]
    count: CountArgs,
    /// How many of the largest parts to list.
    #[arg(help_heading = "Output", long, value_name = "N", default_value_t = 10)]
    top: usize,
    /// Draw the growth as a picture into FILE.
    #[arg(help_heading = "Output", long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Print the numbers as JSON.
    #[arg(help_heading = "Output", long)]
    json: bool,
    #[command(flatten)]
    pretty: PrettyArgs,
}

impl Command for Args {
    fn run(self, cx: &Context) -> Result<Status, Failure> {
        refuse_if(
            self.budget.is_some() && self.json && self.svg.is_none(),
            "with --json, --budget needs --svg",
        )?;
        self.pretty.expect(self.json, "it needs --json")?;
        self.io.input.sources()?.expect_one("--svg", self.svg.is_some())?;
        let max_bytes = self.io.input.max_bytes();
        let flags = Flags::of(&self.io.input).and(&self.rows).and(&self.count);
        let mut options = flags.options::<StatsOptions>()?.with_top(self.top);
        options.count.tools = self.count.read_tools(max_bytes)?;
        let read = options.read.clone().with_accept(Accept::Json);
        let of_lines = options.clone().with_read(read);
        let lines = |it: Lines<'_>| {
            self.expect_no_picture()?;
            if it.is_row() && !self.json {
                return it.show(|_, row| {
                    let stats = stats(row, &of_lines)?;
                    let text = for_people(&stats, None);
                    Ok(Answer::new(text.into_bytes(), Status::of(stats.messages > 0)))
                });
            }
            it.answer(|line| {
                let stats = stats(line, &of_lines)?;
                Ok(Answer::new(stats.to_json(), Status::of(stats.messages > 0)))
            })
        };
        let one =
            |input, sources: &_, out: &mut _| self.document(cx, input, &options, sources, out);
        self.io.run(cx, (Form::of(self.json), Some(&self.rows)), lines, one)
    }
}

impl Args {
    fn expect_no_picture(&self) -> Result<(), Failure> {
        if self.budget.is_none() && self.svg.is_none() {
            return Ok(());
        }
        let text = "--budget and --svg draw one document; lines are answered in JSON";
        Err(Failure::Usage(text.to_owned()))
    }

    fn document(
        &self,
        cx: &Context,
        mut input: Input,
        options: &StatsOptions,
        sources: &Sources,
        out: &mut Output,
    ) -> Result<Status, Failure> {
        let bytes = input.read_all()?;
        let named = self.io.input.from.and_then(|it| it.name().parse().ok());
        let dialect = named.or_else(|| session_of(&bytes, &input.name));
        let used = dialect.and_then(|it| Used::of(it, &bytes));
        let options = options.clone().for_document(&bytes);
        let read = input::read(cx, bytes, &input.name, &self.io.input);
        let (status, stats) = match read {
            // The recorded usage is shown anyway.
            Err(Failure::Document(it))
                if used.is_some() && it.diagnostic.code == "session::no-messages" =>
            {
                if !cx.quiet {
                    let mut found = [it.diagnostic];
                    found[0].severity = Severity::Warning;
                    cx.note(&cx.list(&input.name, &Quotes::default()).findings(&found));
                }
                (Status::Problems, Stats::gather(Vec::new(), &options, MediaRates::default()))
            }
            read => {
                let document = read?;
                let status = input::say_unread(cx, &document, &input.name);
                (status, Stats::of(document, &options))
            }
        };
        if let Some(path) = &self.svg {
            let mut file = Output::file(path, sources)?;
            file.write(draw_svg(&stats, self.budget).as_bytes())?;
            file.finish()?;
        }
        let mut text = match self.json {
            true => {
                let json = with_usage(stats.to_json(), used.as_ref());
                self.pretty.laid_out(sources.headed_json(&input.name, json))
            }
            false => {
                let recorded = used.as_ref().map(recorded).unwrap_or_default();
                let text = for_people(&stats, self.budget);
                (sources.head(&input.name) + &recorded + &text).into_bytes()
            }
        };
        end_line(&mut text);
        out.write(&text)?;
        Ok(status)
    }
}

/// The agent of a session document, if it is one.
fn session_of(bytes: &[u8], name: &str) -> Option<Dialect> {
    let format = Format::recognise(bytes, name).ok().filter(|it| it.is_session())?;
    format.name().parse().ok()
}

/// The JSON form with the recorded usage as its last member.
fn with_usage(mut json: Vec<u8>, used: Option<&Used>) -> Vec<u8> {
    if let Some(used) = used
        && json.pop_if(|it| *it == b'}').is_some()
    {
        json.extend_from_slice(b",\"usage\":");
        json.extend_from_slice(json_line(used).trim_ascii_end());
        json.push(b'}');
    }
    json
}

fn for_people(stats: &Stats, budget: Option<u64>) -> String {
    let table = draw(stats);
    let chart = draw_chart(&stats.growth, budget);
    format!("{table}\n{chart}")
}

/// The table: totals, roles, sections, tools, largest parts.
fn draw(stats: &Stats) -> String {
    let mut text = format!(
        "{}, {}, {} ({})\n{}",
        plural(stats.messages, "message"),
        plural(stats.bytes, "byte"),
        plural(stats.tokens, "token"),
        how_counted(stats),
        made_of(&stats.made_of)
    );
    if let Some(it) = &stats.media {
        let (parts, tokens) =
            (plural(it.parts, "image, sound or file part"), plural(it.tokens, "token"));
        writeln!(text, "{parts}: {tokens} of these, by the formula that {} documents", it.formula)
            .expect("because a String takes all");
    }
    for block in blocks(stats) {
        text.push('\n');
        let names = block.iter().map(|it| it.name.width());
        let width = names.max().unwrap_or(0).max(LEAST_NAME);
        for Row { name, numbers: [a, b, c] } in block {
            let gap = " ".repeat(width - name.width());
            writeln!(text, "{name}{gap} {a:>10} {b:>12} {c:>10}")
                .expect("because a String takes all");
        }
    }
    if stats.sections.is_none() {
        text.push_str("\nno sections: the messages are not a valid chain (msg check says why)\n");
    }
    text
}

/// Whether token counts are exact, which is possible for text.
fn how_counted(stats: &Stats) -> String {
    match stats.made_of.exact_texts {
        true => format!("texts exact by {}, all else estimated", stats.counter),
        false => format!("all estimated, with {}", stats.counter),
    }
}

fn made_of(it: &MadeOf) -> String {
    let parts = [
        (it.texts, "in texts, calls and results"),
        (it.frames, "in frames of messages"),
        (it.tool_definitions, "in tool definitions"),
        (it.media, "in media"),
    ];
    let parts = parts.iter().filter(|it| it.0 > 0).map(|it| format!("{} {}", it.0, it.1));
    let parts = parts.collect::<Vec<_>>().join(", ");
    if parts.is_empty() { parts } else { format!("of these {parts}\n") }
}

/// The recorded usage of a session (SE-160): tokens as counted by the provider, by model and day.
fn recorded(used: &Used) -> String {
    let responses = plural(used.responses, "response");
    let mut text = format!("recorded: {responses}, ${:.2}", used.cost);
    if used.unpriced > 0 {
        write!(text, " without {} of models without a price", used.unpriced)
            .expect("because a String takes all");
    }
    text.push('\n');
    for (heading, sums) in [("model", &used.models), ("day", &used.days)] {
        let [a, b, c, d, e] = ["input", "cache read", "cache write", "output", "cost"];
        writeln!(text, "{heading:24} {a:>10} {b:>12} {c:>12} {d:>10} {e:>9}")
            .expect("because a String takes all");
        for (name, it) in sums {
            let name = msg_core::truncate(&safe(name), 24).into_owned();
            let cost = format!("${:.2}", it.cost);
            let [a, b, c, d] = [it.input, it.cache_read, it.cache_write, it.output];
            writeln!(text, "{name:24} {a:>10} {b:>12} {c:>12} {d:>10} {cost:>9}")
                .expect("because a String takes all");
        }
    }
    text + "\n"
}

/// The name column's width if all names are short.
const LEAST_NAME: usize = 32;
/// The maximum width of a name.
const MOST_NAME: usize = 48;

/// A name, which may come from the conversation, and three numbers or their headings.
struct Row {
    name: String,
    numbers: [String; 3],
}

impl Row {
    fn new(name: &str, numbers: [&dyn Display; 3]) -> Self {
        let name = msg_core::truncate(&safe(name), MOST_NAME).into_owned();
        Row { name, numbers: numbers.map(ToString::to_string) }
    }
}

/// The blocks, separated by blank lines; each begins with its headings.
fn blocks(stats: &Stats) -> Vec<Vec<Row>> {
    let mut roles = vec![Row::new("role", [&"messages", &"bytes", &"tokens"])];
    roles.extend(
        stats.roles.iter().map(|(role, it)| Row::new(role, [&it.messages, &it.bytes, &it.tokens])),
    );
    let mut blocks = vec![roles];
    if let Some(sections) = &stats.sections {
        blocks.push(section_rows(sections));
    }
    if !stats.tools.is_empty() {
        let mut rows = vec![Row::new("tool", [&"calls", &"bytes", &"tokens"])];
        rows.extend(stats.tools.iter().map(|it| {
            let name = if it.name.is_empty() { "(without a name)" } else { &it.name };
            Row::new(name, [&it.calls, &it.bytes, &it.tokens])
        }));
        blocks.push(rows);
    }
    let mut rows = vec![Row::new("largest parts", [&"message", &"bytes", &"tokens"])];
    let row = |it: &PartTotals| Row::new(&title(it), [&it.message, &it.bytes, &it.tokens]);
    rows.extend(stats.largest.iter().map(row));
    blocks.push(rows);
    blocks
}

/// How many sections to list; the others share one row.
const MOST_SECTIONS: usize = 50;

fn section_rows(sections: &[SectionTotals]) -> Vec<Row> {
    let (shown, folded) = sections.split_at(sections.len().min(MOST_SECTIONS));
    let mut rows = vec![Row::new("section", [&"pairs", &"bytes", &"tokens"])];
    let row = |name: &str, it: &SectionTotals| Row::new(name, [&it.pairs, &it.bytes, &it.tokens]);
    rows.extend(shown.iter().enumerate().map(|(number, it)| row(&number.to_string(), it)));
    if !folded.is_empty() {
        let sum = folded.iter().fold(SectionTotals::default(), |sum, it| SectionTotals {
            messages: sum.messages + it.messages,
            pairs: sum.pairs + it.pairs,
            bytes: sum.bytes + it.bytes,
            tokens: sum.tokens + it.tokens,
        });
        let name = format!("{} more ({} to {})", folded.len(), shown.len(), sections.len() - 1);
        rows.push(row(&name, &sum));
    }
    rows
}

/// The title of a part: its tool, or else its role.
fn title(it: &PartTotals) -> String {
    match it.tool.as_deref() {
        None => format!("{} of {}", it.kind, it.role),
        Some("") => it.kind.to_owned(),
        Some(tool) => format!("{} {tool}", it.kind),
    }
}

// Draws the growth of a conversation as a block chart for the terminal: 8 rows, the budget as a line.

/// Rows of the chart.
const ROWS: u64 = 8;
/// Maximum number of columns, labels included.
const MAX_COLUMNS: usize = 100;
/// Minimum width of a label.
const LABEL: usize = 9;

/// One step is an eighth of a block.
const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Draws the totals after each message.
fn draw_chart(growth: &[u64], budget: Option<u64>) -> String {
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

/// The block at a column and row; without one, the budget line.
fn cell(total: u64, row: u64, most: u64, is_budget: bool) -> char {
    let eighths = (u128::from(total) * u128::from(ROWS * 8) / u128::from(most)) as u64;
    let filled = eighths.saturating_sub((row - 1) * 8).min(8);
    match BLOCKS[usize::try_from(filled).unwrap_or(8)] {
        ' ' if is_budget => '┄',
        block => block,
    }
}

/// The totals, one per column: the last one if several share a column.
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

// Draws the growth of a conversation as a self-contained SVG, readable on light and dark backgrounds.

const WIDTH: f64 = 800.0;
const HEIGHT: f64 = 320.0;
const LEFT: f64 = 70.0;
const BOTTOM: f64 = 40.0;
const TOP: f64 = 30.0;
const RIGHT: f64 = 20.0;

/// The SVG: the total after each message as an area, the budget as a dashed line.
fn draw_svg(stats: &Stats, budget: Option<u64>) -> String {
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
        let chart = draw_chart(&[10, 20, 30], Some(60));
        assert!(chart.contains('┄') && chart.contains("budget"), "{chart}");
    }
}
