//! The colours: those of rustc, or none.

use anstyle::{AnsiColor, Style};
use msg_core::Severity;

/// Colours, if they are wanted.
pub(super) struct Palette {
    color: bool,
}

impl Palette {
    pub(super) fn new(color: bool) -> Self {
        Palette { color }
    }

    pub(super) fn severity(&self, severity: Severity, text: &str) -> String {
        let color = match severity {
            Severity::Error => AnsiColor::BrightRed,
            Severity::Warning => AnsiColor::Yellow,
            Severity::Info => AnsiColor::BrightCyan,
        };
        self.paint(color.on_default().bold(), text)
    }

    /// What went wrong and is mended.
    pub(super) fn done(&self, text: &str) -> String {
        self.paint(AnsiColor::BrightGreen.on_default().bold(), text)
    }

    pub(super) fn strong(&self, text: &str) -> String {
        self.paint(Style::new().bold(), text)
    }

    pub(super) fn margin(&self, text: &str) -> String {
        self.paint(AnsiColor::BrightBlue.on_default().bold(), text)
    }

    fn paint(&self, style: Style, text: &str) -> String {
        if self.color { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }
}
