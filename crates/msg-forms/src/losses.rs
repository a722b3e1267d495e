//! Naming what a target format cannot hold (MS-24).

use std::borrow::Cow;

use msg_core::{Diagnostic, Extra, Message, Origin, Part, Report, with_article};

/// A report with the message whose losses are named.
pub(crate) struct Losses<'r> {
    report: &'r mut Report,
    message: usize,
    part: Option<usize>,
}

impl<'r> Losses<'r> {
    pub(crate) fn new(report: &'r mut Report, message: usize) -> Self {
        Self { report, message, part: None }
    }

    /// The part that the following losses concern; none for the message itself.
    pub(crate) fn at_part(&mut self, part: Option<usize>) {
        self.part = part;
    }

    pub(crate) fn warn(&mut self, code: &'static str, text: impl Into<Cow<'static, str>>) {
        let it = Diagnostic::warning(code.into(), text);
        self.push(it);
    }

    /// A part, or a part inside the content of a result, that has no place.
    pub(crate) fn part(&mut self, part: &Part, target: &str) {
        let text = format!("{target} have no place for {} part", with_article(part.kind()));
        self.warn("convert::lost-part", text);
    }

    /// A known member that has no place.
    pub(crate) fn member(&mut self, name: &str, target: &str) {
        self.warn("convert::lost-member", format!("{target} have no place for `{name}`"));
    }

    /// Members of formats other than the target's.
    pub(crate) fn extra(&mut self, extra: &Extra, target: Option<&Origin>) {
        for (origin, name, _) in extra.all().filter(|it| Some(it.0) != target) {
            let text = format!("member `{name}` of format {origin} is left out");
            self.push(Diagnostic::info("convert::lost-member".into(), text));
        }
    }

    /// Members of the target's own format that have got the name of one that the model knows.
    pub(crate) fn taken(&mut self, extra: &Extra, target: &Origin, known: &[&str]) {
        for (name, _) in extra.iter(target).filter(|it| known.contains(&it.0)) {
            let text = format!("unknown member `{name}` is left out: its name is taken");
            self.push(Diagnostic::info("convert::lost-member".into(), text));
        }
    }

    /// A message of which nothing is left.
    pub(crate) fn message(&mut self, message: &Message) {
        self.part = None;
        let text = format!("nothing is left to write of this {} message", message.role);
        self.warn("convert::lost-message", text);
    }

    /// A message that became several.
    pub(crate) fn split(&mut self) {
        self.part = None;
        self.warn("convert::split-message", "each tool result becomes a message of its own");
    }

    fn push(&mut self, mut it: Diagnostic) {
        it.at.message = Some(self.message);
        it.at.part = self.part;
        self.report.push(it);
    }
}
