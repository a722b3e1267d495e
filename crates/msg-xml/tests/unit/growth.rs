//! Tests that the cost of reading grows linearly with the input, however malformed (XT-43).
//!
//! ```text
//! {"name":"…","parts":["<a>",{"repeat":"x"},"</a>"]}    a row of growth.jsonl: <a>xxx…</a>
//! ```

use std::cell::Cell;

use serde::Deserialize;

use crate::options::ParseOptions;
use crate::stream::{StreamParser, parse};

thread_local! {
    static STEPS: Cell<usize> = const { Cell::new(0) };
}

/// One more step of a reader: a look at a `<`, a part of misc, a bracket in it. No clock is read.
pub(crate) fn count() {
    STEPS.with(|n| n.set(n.get() + 1));
}

/// What `read` costs.
fn during(read: impl FnOnce()) -> usize {
    STEPS.with(|n| n.set(0));
    read();
    STEPS.with(Cell::get)
}

#[derive(Deserialize)]
struct Row {
    name: String,
    parts: Vec<Part>,
    #[serde(default)]
    options: ParseOptions,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Part {
    Once(String),
    /// Again and again, `{n}` being a number.
    Repeated {
        repeat: String,
    },
}

impl Row {
    fn text(&self, times: usize) -> String {
        let part = |part: &Part| match part {
            Part::Once(text) => text.clone(),
            Part::Repeated { repeat } if repeat.contains("{n}") => {
                (0..times).map(|n| repeat.replace("{n}", &n.to_string())).collect()
            }
            Part::Repeated { repeat } => repeat.repeat(times),
        };
        self.parts.iter().map(part).collect()
    }

    fn whole(&self, times: usize) -> usize {
        let text = self.text(times);
        during(|| drop(parse(text.as_bytes(), None, &self.options)))
    }

    fn in_pieces(&self, times: usize) -> usize {
        let text = self.text(times);
        let mut parser = StreamParser::new(self.options.clone());
        during(|| {
            text.as_bytes().chunks(7).for_each(|piece| parser.feed(piece).for_each(drop));
            parser.finish(None).for_each(drop);
        })
    }
}

/// Ten times as much costs about ten times as much (XT-43).
#[test]
fn cost_grows_with_the_input() {
    for row in testkit::rows!("growth.jsonl").rows() {
        let row: Row = serde_json::from_str(&row.text).expect("because the rows are of this form");
        for read in [Row::whole, Row::in_pieces] {
            // From so many on no value is read far in vain any more.
            let (few, many) = (read(&row, 100), read(&row, 1000));
            assert!(many <= 14 * few + 500, "{}: {few} and {many}", row.name);
        }
    }
}

/// Openers that nothing closes are each read with what shows the next one, and not with all that might: the steps for
/// each of them are few, however large the window is.
#[test]
fn openers_that_nothing_closes() {
    for opener in ["<tool name=\"a\">", "<tool><tool_name>a</tool_name>"] {
        let text = opener.repeat(1000);
        let steps = during(|| drop(parse(text.as_bytes(), None, &ParseOptions::default())));
        assert!(steps <= 60 * 1000, "{opener}: {steps}");
    }
}

/// However deep objects may nest, what is read of them in vain is bounded.
#[test]
fn values_in_many_levels() {
    let mut opts = ParseOptions::default();
    opts.limits.max_depth = 512;
    let deep = |n: usize| format!("{}x{}", "<a>".repeat(900), "</a>".repeat(n));
    for unit in ["<a>".repeat(900), "<a><b>1</b>".repeat(900), deep(900), deep(899), deep(10)] {
        let unit = unit.repeat(10);
        let text =
            format!("<tool><tool_name>t</tool_name><arguments><z>{unit}</y></arguments></tool>");
        let steps = during(|| drop(parse(text.as_bytes(), None, &opts)));
        assert!(steps <= 64 * text.len(), "{unit:.40}: {steps} of {}", text.len());
    }
}
