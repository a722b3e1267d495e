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

    /// Of these known members, which have no place, those that are set.
    pub(crate) fn members(&mut self, target: &str, members: &[(&str, bool)]) {
        members.iter().filter(|it| it.1).for_each(|it| self.member(it.0, target));
    }

    /// What a target that has nothing but text takes of a part.
    pub(crate) fn text_of<'p>(&mut self, part: &'p Part, target: &str) -> Option<&'p str> {
        match part {
            Part::Text(it) | Part::Refusal(it) => {
                self.extra(&it.extra, None);
                Some(&it.text)
            }
            Part::Other(it) if it.format == Origin::Json => {
                self.warn("convert::json-as-text", "JSON part written as its text");
                self.extra(&it.extra, None);
                Some(it.value.text())
            }
            _ => {
                self.part(part, target);
                None
            }
        }
    }

    /// Texts as one, joined with a line break.
    pub(crate) fn join<'t>(&mut self, texts: &[&'t str]) -> Cow<'t, str> {
        match texts {
            [] => Cow::Borrowed(""),
            [one] => Cow::Borrowed(one),
            more => {
                self.warn("convert::merged-parts", "texts joined with a line break");
                Cow::Owned(more.join("\n"))
            }
        }
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
