//! Compacts a document to a budget (CP-70), and reports the cuts.
//!
//! ```text
//! FitOptions --read once--> Fitter --a document--> Fitted, or Reached where a plan was given
//! ```
//!
//! `msg-compact` decides what to cut, the caller who writes the summaries.

mod fitted;
mod fitter;
mod options;
mod run;

use std::{collections::BTreeMap, str::FromStr};

use msg_compact::count::{Forge, Script, ToolSpec, Wolo};
use msg_compact::{MediaRates, Plan, TokenCounter};
use msg_core::{Message, RawJson, Report};
use msg_formats::{ReadOptions, Refusal};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::document::Document;
use crate::fit::fitted::openai;
use crate::json::{ObjectWriter, may_have_member};
#[cfg(feature = "bpe")]
use msg_compact::count::Bpe;

pub use self::fitted::Fitted;
pub use self::fitter::Fitter;
pub(crate) use self::fitter::counter;
pub use self::options::{
    CountOptions, FitCut, FitLimit, FitOptions, FitTarget, ReportedUsage, StatsOptions,
};
pub(crate) use self::run::document_of_line;
pub use self::run::{fit, without_options};
pub use crate::fit::fitter::{Digest, Summarizer};

// How tokens are counted, by name.

/// How tokens are counted (CP-50).
///
/// ```
/// use msg_document::Counter;
///
/// assert_eq!("forge".parse::<Counter>()?, Counter::Forge);
/// assert!("abacus".parse::<Counter>().is_err());
/// # Ok::<(), msg_document::Refusal>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Counter {
    /// An estimate by script, without tables.
    Script,
    /// As the agent forge counts.
    Forge,
    /// As the agent wolo counts.
    Wolo,
    /// Exact, with the vocabulary of GPT-4o and later models.
    #[cfg(feature = "bpe")]
    O200k,
    /// Exact, with the vocabulary of GPT-4.
    #[cfg(feature = "bpe")]
    Cl100k,
}

impl Counter {
    /// Makes the counter, with these formulas for media. The estimates of the two agents use their own.
    pub(crate) fn make(self, media: MediaRates) -> Box<dyn TokenCounter> {
        match self {
            Counter::Script => Box::new(Script::new().with_media(media)),
            Counter::Forge => Box::new(Forge),
            Counter::Wolo => Box::new(Wolo),
            #[cfg(feature = "bpe")]
            Counter::O200k => Box::new(Bpe::o200k().with_media(media)),
            #[cfg(feature = "bpe")]
            Counter::Cl100k => Box::new(Bpe::cl100k().with_media(media)),
        }
    }
}

impl FromStr for Counter {
    type Err = Refusal;

    fn from_str(name: &str) -> Result<Self, Refusal> {
        Ok(match name {
            "script" => Counter::Script,
            "forge" => Counter::Forge,
            "wolo" => Counter::Wolo,
            #[cfg(feature = "bpe")]
            "o200k" => Counter::O200k,
            #[cfg(feature = "bpe")]
            "cl100k" => Counter::Cl100k,
            #[cfg(not(feature = "bpe"))]
            "o200k" | "cl100k" => {
                let text = format!(
                    "counter {name:?} needs tables that this build does not have (feature `bpe`), expected script, forge or wolo"
                );
                return Err(Refusal::bad_option(text));
            }
            other => {
                let tables = if cfg!(feature = "bpe") { "o200k, cl100k, " } else { "" };
                let expected = format!("expected script, {tables}forge or wolo");
                let text = format!("no counter is called {other:?}, {expected}");
                return Err(Refusal::bad_option(text));
            }
        })
    }
}

msg_core::serde_as_text!(read Counter);

// Tool definitions, from a request body or a file.

/// The `tools` of a request body; none if the document is something else or has none.
pub(super) fn tools_of(json: &[u8]) -> Option<Vec<RawJson>> {
    #[derive(Deserialize)]
    struct Body {
        #[serde(default)]
        tools: Option<Vec<RawJson>>,
    }
    let may_have = json.trim_ascii_start().first() == Some(&b'{');
    if !may_have || !may_have_member(json, "\"tools\"") {
        return None;
    }
    serde_json::from_slice::<Body>(json).ok()?.tools
}

/// The first of some values that is not a tool definition, neither a function nor a tool of a provider's own.
pub(super) fn no_tool(tools: &[RawJson]) -> Option<usize> {
    let is_typed =
        |it: &RawJson| it.parse::<Map<String, Value>>().is_ok_and(|it| it.contains_key("type"));
    tools.iter().position(|it| tool_spec(it).is_none() && !is_typed(it))
}

/// The tool definitions in the form that a counter takes. Other values are skipped.
pub(crate) fn tool_specs(tools: Option<&[RawJson]>) -> Vec<ToolSpec> {
    tools.into_iter().flatten().filter_map(tool_spec).collect()
}

/// A tool definition: `{"type":"function","function":{…}}`, or the function alone.
fn tool_spec(raw: &RawJson) -> Option<ToolSpec> {
    #[derive(Deserialize)]
    struct Outer {
        function: Option<Function>,
        #[serde(flatten)]
        own: BTreeMap<String, Value>,
    }
    #[derive(Deserialize)]
    struct Function {
        name: String,
        #[serde(default)]
        description: Option<String>,
        #[serde(default)]
        parameters: Option<Value>,
    }
    let outer: Outer = raw.parse().ok()?;
    let function = match outer.function {
        Some(function) => function,
        None => serde_json::from_value(Value::Object(outer.own.into_iter().collect())).ok()?,
    };
    let parameters = function.parameters.and_then(|it| RawJson::new(it.to_string()).ok());
    let description = function.description.unwrap_or_default();
    Some(ToolSpec { name: function.name, description, parameters })
}

// Plans of documents (CP-62): applying and undoing them, and making plans whose undo restores the text that was read.
//
// Most formats contain more than messages do, or less. So a plan leads from the messages that were read to those that
// the written document will be read as. If messages cannot restore the text, the plan contains the text. The code is
// the same for all formats.

/// Whether to apply or to undo a plan: `--apply` and `--undo`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goal {
    /// Apply the plan to a history.
    Apply,
    /// Restore what the plan removed.
    Undo,
}

impl Goal {
    /// Reads a plan from JSON.
    ///
    /// Fails if the text is not a plan.
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

    /// The status word in the answer: `applied` or `undone`.
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
    /// Changes the plan so that undoing it on the written document restores the text and the messages that were
    /// read, byte for byte. Does nothing if no plan was requested.
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
        let read = document.read_again(text);
        let is_applied = read.is_ok_and(|it| it.gives(Goal::Apply, &plan, (text, written)));
        self.plan = Some(match is_applied {
            false => plan.with_both_texts(text, written),
            true if again.gives(Goal::Undo, &plan, (written, text)) => plan,
            true => plan.with_text(text, written),
        });
    }
}

impl Goal {
    /// Applies or undoes a plan on a document that was read from `text`. Returns the document in its own
    /// format, and the losses.
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
        if let Some(text) = document.reached(self, plan, text) {
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
    /// Whether the plan turns this document, read from `from`, into the text `to`.
    fn gives(mut self, goal: Goal, plan: &Plan, (from, to): (&[u8], &[u8])) -> bool {
        self.set_source(from.to_vec());
        goal.reach_document(plan, self, from).is_ok_and(|it| it.0 == to)
    }

    /// The text stored in the plan for the result on this document, which was read from `text`, with everything that
    /// was appended since. `None` if the plan stores no text, or if the document begins differently.
    fn reached(&self, goal: Goal, plan: &Plan, text: &[u8]) -> Option<Vec<u8>> {
        let reached = match goal {
            Goal::Apply => plan.apply_text(text),
            Goal::Undo => plan.undo_text(text),
        }?;
        // The result may be recognised as another format than the document.
        let anew = || Document::read(&reached, &ReadOptions::default());
        let read = self.read_again(&reached).or_else(|_| anew()).ok()?;
        let messages = goal.reach(plan, self.messages().to_vec()).ok()?;
        (read.messages().len() == messages.len()).then_some(reached)
    }
}

// The answer to a line of `msg fit --jsonl`: a compaction, or the result of a given plan.

/// The answer to a line of `msg fit --jsonl`.
#[derive(Debug)]
pub enum FitAnswer {
    /// A compaction.
    Fitted(Box<Fitted>),
    /// The result of the plan in the options.
    Reached(Box<Reached>),
}

impl FitAnswer {
    /// The line of `msg fit --jsonl`, without its line end.
    #[expect(
        clippy::wrong_self_convention,
        reason = "the messages go into their document and out again"
    )]
    pub fn to_json(&mut self) -> Vec<u8> {
        match self {
            FitAnswer::Fitted(it) => it.to_json(),
            FitAnswer::Reached(it) => it.to_json(),
        }
    }

    /// The status: [`Fitted::status`], `applied` or `undone`.
    pub fn status(&self) -> &'static str {
        match self {
            FitAnswer::Fitted(it) => it.status(),
            FitAnswer::Reached(it) => it.goal.status(),
        }
    }

    /// The compaction, if it is one.
    pub fn fitted(&self) -> Option<&Fitted> {
        match self {
            FitAnswer::Fitted(it) => Some(it),
            FitAnswer::Reached(_) => None,
        }
    }

    /// The document in its own format, as [`Fitted::take_document`] returns it.
    pub fn take_document(&mut self) -> Option<Vec<u8>> {
        match self {
            FitAnswer::Fitted(it) => it.take_document(),
            FitAnswer::Reached(it) => it.take_document(),
        }
    }

    /// Whether it fits, and there were messages to fit.
    pub fn is_clean(&self) -> bool {
        match self {
            FitAnswer::Fitted(it) => it.is_clean() && !it.messages.is_empty(),
            FitAnswer::Reached(_) => true,
        }
    }
}

/// A history after a plan was applied to it or undone.
#[derive(Debug)]
pub struct Reached {
    /// Whether the plan was applied or undone.
    pub goal: Goal,
    /// The history.
    pub messages: Vec<Message>,
    /// The document around it, and an applied plan, if a document was read.
    source: Option<(Box<Document>, Option<Plan>)>,
    /// The text of the result, if the plan stores it.
    text: Option<Vec<u8>>,
}

impl Reached {
    /// The result of applying or undoing a plan.
    pub fn new(goal: Goal, messages: Vec<Message>) -> Self {
        Reached { goal, messages, source: None, text: None }
    }

    fn take_document(&mut self) -> Option<Vec<u8>> {
        if let Some(text) = self.text.take() {
            return Some(text);
        }
        let (mut document, plan) = self.source.take()?;
        document.put_planned(std::mem::take(&mut self.messages), plan.as_ref());
        Some(document.written())
    }

    /// The answer of `--apply` and `--undo`, without its line end.
    pub fn to_json(&self) -> Vec<u8> {
        let status = self.goal.status();
        let members = ObjectWriter::new().with("status", &status);
        members.raw("messages", &openai(&self.messages)).finish()
    }
}
