//! The progress line of a long `--jsonl` run.
//!
//! Drawn on standard error, only where that is a terminal, only after a second, and never with
//! `--quiet`. Says nothing that a program would want to read.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How long a run must take before anything is drawn.
const PATIENCE: Duration = Duration::from_secs(1);

const KNOWN: &str =
    "{bar:24} {percent:>3}%  {msg}, {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left";
const UNKNOWN: &str = "{spinner} {msg}, {bytes}, {bytes_per_sec}";

/// See the module.
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    drawn: bool,
    /// Output goes to the same terminal: the line has to make way for it.
    shares_terminal: bool,
    started: Instant,
    lines: u64,
}

impl Progress {
    /// A line that is not drawn yet; never drawn if `quiet`.
    pub(crate) fn new(total_bytes: Option<u64>, quiet: bool) -> Self {
        let bar = (!quiet && std::io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::with_draw_target(total_bytes, ProgressDrawTarget::hidden());
            let template = if total_bytes.is_some() { KNOWN } else { UNKNOWN };
            bar.with_style(
                ProgressStyle::with_template(template)
                    .expect("because the templates are constants that a test draws"),
            )
        });
        Progress {
            bar,
            drawn: false,
            shares_terminal: std::io::stdout().is_terminal(),
            started: Instant::now(),
            lines: 0,
        }
    }

    /// `bytes` of input, `lines` of them whole, have been answered; `print` prints the answers.
    pub(crate) fn advance<T>(&mut self, bytes: u64, lines: u64, print: impl FnOnce() -> T) -> T {
        let Some(bar) = &self.bar else { return print() };
        self.lines += lines;
        bar.inc(bytes);
        if !self.drawn && self.started.elapsed() > PATIENCE {
            bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
            self.drawn = true;
        }
        if !self.drawn {
            return print();
        }
        bar.set_message(format!("{} lines", self.lines));
        if self.shares_terminal { bar.suspend(print) } else { print() }
    }

    /// Takes the line off the terminal.
    pub(crate) fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_templates_are_valid() {
        for template in [KNOWN, UNKNOWN] {
            assert!(ProgressStyle::with_template(template).is_ok(), "{template}");
        }
    }
}
