//! Plans of documents (CP-62): applied, undone, and made so that undoing gives back the text that was read.
//!
//! Most formats say more than messages do, or less. So a plan is one between what was read and what the
//! written document will be read as, and where the messages do not give back the text it holds the text.
//! Knows nothing of single formats.

use msg_compact::Plan;
use msg_core::{Message, Report};
use serde::Deserialize;

use super::fitted::Fitted;
use crate::document::Document;
use crate::read_options::ReadOptions;
use crate::refusal::Refusal;

/// What `--apply` and `--undo` do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goal {
    /// The plan is applied to a history.
    Apply,
    /// The history gets back what the plan took.
    Undo,
}

impl Goal {
    /// A plan from its JSON.
    ///
    /// Fails for a text that is not a plan.
    ///
    /// ```
    /// use msg_document::Goal;
    ///
    /// assert!(Goal::read_plan("[]").is_err());
    /// ```
    pub fn read_plan(json: &str) -> Result<Plan, Refusal> {
        if !json.trim_start().starts_with('{') {
            return Err(Refusal::bad_option("the plan is not understood: expected an object"));
        }
        let mut json = serde_json::Deserializer::from_str(json);
        Plan::deserialize(&mut json)
            .map_err(|it| Refusal::bad_option(format!("the plan is not understood: {it}")))
    }

    /// What is said of it when it is done.
    pub fn status(self) -> &'static str {
        match self {
            Goal::Apply => "applied",
            Goal::Undo => "undone",
        }
    }

    /// Applies or undoes a plan.
    pub fn reach(self, plan: &Plan, messages: Vec<Message>) -> Result<Vec<Message>, Refusal> {
        let done = match self {
            Goal::Apply => plan.apply(messages),
            Goal::Undo => plan.undo(messages),
        };
        done.map_err(|it| it.diagnostic().into())
    }
}

impl Fitted {
    /// Makes the plan one that is undone on what was written of `document` and gives back what was read, byte for
    /// byte: a text, and the messages in it. Nothing where no plan was wanted.
    pub fn plan_as_written(
        &mut self,
        (text, messages): (&[u8], &[Message]),
        document: &Document,
        written: &[u8],
    ) {
        let Some(plan) = self.plan.take() else { return };
        let Ok(again) = document.read_again(written) else { return self.plan = Some(plan) };
        let undone = plan.undo(again.messages().to_vec());
        let plan = match undone.is_ok_and(|it| it == messages) {
            true => plan,
            false => Plan::between(messages, again.messages()),
        };
        self.plan = Some(match (str::from_utf8(text), str::from_utf8(written)) {
            (Ok(text), Ok(made)) if !again.gives_back(&plan, made, text) => {
                plan.with_text(text, made)
            }
            _ => plan,
        });
    }
}

impl Goal {
    /// What a plan makes of a document that was read from `text`, in its own format, and what that leaves out.
    ///
    /// Fails as [`Goal::reach`] does.
    ///
    /// ```
    /// use msg_document::{Document, Goal, ReadOptions};
    ///
    /// let text = br#"[ {"role":"user","content":"hi"} ]"#;
    /// let mut document = Document::read(text, &ReadOptions::default())?;
    /// document.set_source(text.to_vec());
    /// let plan = Goal::read_plan(r#"{"edits":[],"before":"","after":""}"#)?;
    /// let (written, report) = Goal::Undo.reach_document(&plan, document, text)?;
    /// assert!(written == text && report.is_empty());
    /// # Ok::<(), msg_document::Refusal>(())
    /// ```
    pub fn reach_document(
        self,
        plan: &Plan,
        mut document: Document,
        text: &[u8],
    ) -> Result<(Vec<u8>, Report), Refusal> {
        if self == Goal::Undo
            && let Some(text) = document.undone(plan, text)
        {
            return Ok((text, Report::new()));
        }
        let messages = self.reach(plan, document.take_messages())?;
        match plan.is_empty() {
            true => document.put_messages(messages),
            false => document.put_planned(messages, Some(plan).filter(|_| self == Goal::Apply)),
        }
        document.expect_writer()?;
        let anew = document.written_anew();
        Ok((document.written(), Report::from_iter(anew)))
    }
}

impl Document {
    /// Whether undoing the messages of this document, which was read from `written`, gives back a text.
    fn gives_back(mut self, plan: &Plan, written: &str, text: &str) -> bool {
        self.set_source(written.as_bytes().to_vec());
        let undone = Goal::Undo.reach_document(plan, self, written.as_bytes());
        undone.is_ok_and(|it| it.0 == text.as_bytes())
    }

    /// The text from which a plan made this document, which was read from `written`; what was appended since
    /// is in it, too. None if the plan does not hold it, or if the document begins with something else.
    pub(super) fn undone(&self, plan: &Plan, written: &[u8]) -> Option<Vec<u8>> {
        let text = plan.undo_text(str::from_utf8(written).ok()?)?;
        // What was written may be recognised as another format than what was read.
        let anew = || Document::read(text.as_bytes(), &ReadOptions::default());
        let before = self.read_again(text.as_bytes()).or_else(|_| anew()).ok()?;
        let messages = plan.undo(self.messages().to_vec()).ok()?;
        (before.messages().len() == messages.len()).then(|| text.into_bytes())
    }
}
