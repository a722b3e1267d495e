//! Requests for summaries as rows, and answers that somebody writes elsewhere (SC-20): a model in a batch, a person.
//! No model is asked.
//!
//! ```text
//! document ─ requests ─▶ ["{…prompt…}", …] ─ whoever writes ─▶ texts ─ answer ─▶ the document that fits
//! ```

use msg_compact::{SummaryError, SummaryRequest, digest};
use msg_core::Message;
use serde_json::json;

use super::fitter::Fitter;
use super::run::Given;
use crate::document::Document;
use crate::refusal::Refusal;

/// Summaries that somebody wrote elsewhere (SC-20): the first for the first of [`Fitter::requests`], and so on. What has
/// none is summarised by a digest, and so is what the steps after the first ask for.
impl Summarizer for Vec<Option<String>> {
    fn answer(&self, requests: &[SummaryRequest<'_>]) -> Vec<Result<String, SummaryError>> {
        let given = |it: &SummaryRequest<'_>| self.get(it.id() as usize)?.clone();
        requests.iter().map(|it| Ok(given(it).unwrap_or_else(|| digest(it)))).collect()
    }
}

/// A request as people and programs can read it.
fn request_json(request: &SummaryRequest<'_>) -> String {
    let mut line = json!({
        "policy": request.policy(),
        "replaces": {"start": request.replaces().start, "end": request.replaces().end},
        "target": request.target(),
        "max": request.max(),
    });
    match request.prompt() {
        Ok(prompt) => line["prompt"] = prompt.iter().map(|it| it.text()).collect(),
        Err(refused) => line["error"] = refused.to_string().into(),
    }
    line.to_string()
}

impl Fitter {
    /// What would be asked for first to make a document fit: the lines of `msg fit --dry-run`, without their ends
    /// (SC-20). With their answers in this order [`Fitter::answer`] asks no model.
    ///
    /// Fails as [`Fitter::fit`] does.
    ///
    /// ```
    /// use msg_document::{FitOptions, Fitter};
    ///
    /// let turn = r#"{"role":"user","content":"why?"},{"role":"assistant","content":"since it is so, as I said"}"#;
    /// let json = format!("[{}]", vec![turn; 40].join(","));
    /// let options = FitOptions::default().with_preset("pentagi").with_budget(300);
    /// let fitter = Fitter::new(options)?;
    /// let requests = fitter.requests(json.as_bytes())?;
    /// assert!(!requests.is_empty() && requests[0].contains("prompt"));
    ///
    /// let answers = vec![Some("they talked".to_owned()); requests.len()];
    /// let mut fitted = fitter.answer(json.as_bytes(), &answers)?;
    /// let document = fitted.take_document().ok_or("it does not fit")?;
    /// assert!(String::from_utf8_lossy(&document).contains("they talked"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn requests(&self, json: &[u8]) -> Result<Vec<String>, Refusal> {
        match self.options.of_line(json)? {
            Some(own) => Fitter::of_lines(own)?.requests_json(json),
            None => self.requests_json(json),
        }
    }

    fn requests_json(&self, json: &[u8]) -> Result<Vec<String>, Refusal> {
        let mut document = Document::read(json, &self.options.read())?;
        let own = self.own_tools(json);
        let tools = own.as_deref().unwrap_or(&self.tools);
        let given = Given { tools, ..Given::with(self, &document) };
        self.asked_first(document.take_messages(), given)
    }

    /// As [`Fitter::requests`], for a document that has been read; its messages are taken out of it.
    ///
    /// Fails as [`Fitter::fit`] does.
    pub fn first_requests(&self, document: &mut Document) -> Result<Vec<String>, Refusal> {
        let given = Given::with(self, document);
        self.asked_first(document.take_messages(), given)
    }

    fn asked_first(
        &self,
        messages: Vec<Message>,
        given: Given<'_>,
    ) -> Result<Vec<String>, Refusal> {
        let mut first = None;
        let unasked = SummaryError::new("a dry run asks no model");
        self.run(messages, given, |requests| {
            first.get_or_insert_with(|| requests.iter().map(request_json).collect());
            vec![Err(unasked.clone()); requests.len()]
        })?;
        Ok(first.unwrap_or_default())
    }
}

// Who writes the summaries: the caller, the digest, or one of those that make tests repeatable
// (CP-66).

/// A way to answer requests for summaries.
pub trait Summarizer: Sync {
    /// Answers requests of one step, in their order.
    fn answer(&self, requests: &[SummaryRequest<'_>]) -> Vec<Result<String, SummaryError>>;
}

/// Summaries without a model (CP-22).
#[derive(Debug, Clone, Copy, Default)]
pub struct Digest;

impl Summarizer for Digest {
    fn answer(&self, requests: &[SummaryRequest<'_>]) -> Vec<Result<String, SummaryError>> {
        requests.iter().map(|it| Ok(digest(it))).collect()
    }
}

/// A testing aid: fails where a text occurs, answers by rule elsewhere.
pub(super) struct Test {
    fail_on: Vec<String>,
    answer: TestAnswer,
}

enum TestAnswer {
    Fixed(String),
    Len,
    Hash,
    Echo(usize),
    Digest,
    Error,
}

impl Summarizer for Test {
    fn answer(&self, requests: &[SummaryRequest<'_>]) -> Vec<Result<String, SummaryError>> {
        requests.iter().map(|it| self.one(it)).collect()
    }
}

impl Test {
    /// The aid that these texts describe; none if there are none.
    pub(super) fn parse(texts: &[String]) -> Result<Option<Self>, Refusal> {
        if texts.is_empty() {
            return Ok(None);
        }
        let mut test = Test { fail_on: Vec::new(), answer: TestAnswer::Digest };
        for text in texts {
            match text.split_once(':') {
                Some(("fail-on", what)) => test.fail_on.push(what.to_owned()),
                _ => test.answer = TestAnswer::parse(text)?,
            }
        }
        Ok(Some(test))
    }

    fn one(&self, request: &SummaryRequest<'_>) -> Result<String, SummaryError> {
        let source = request.source_text();
        if self.fail_on.iter().any(|it| source.contains(it.as_str())) {
            return Err(SummaryError::new("the test summariser fails on this text"));
        }
        match &self.answer {
            TestAnswer::Fixed(text) => Ok(text.clone()),
            TestAnswer::Len => Ok(format!("LEN {}", request.replaced_bytes())),
            TestAnswer::Hash => Ok(format!("{:016x}", request.source_hash())),
            TestAnswer::Echo(n) => Ok(source.chars().take(*n).collect()),
            TestAnswer::Digest => Ok(digest(request)),
            TestAnswer::Error => Err(SummaryError::new("the test summariser always fails")),
        }
    }
}

impl TestAnswer {
    fn parse(text: &str) -> Result<Self, Refusal> {
        let unknown = || Refusal::bad_option(format!("no test summariser is called {text:?}"));
        match (text, text.split_once(':')) {
            ("len", _) => Ok(TestAnswer::Len),
            ("hash", _) => Ok(TestAnswer::Hash),
            ("digest", _) => Ok(TestAnswer::Digest),
            ("error", _) => Ok(TestAnswer::Error),
            (_, Some(("fixed", text))) => Ok(TestAnswer::Fixed(text.to_owned())),
            (_, Some(("echo", n))) => n.parse().map(TestAnswer::Echo).map_err(|_| unknown()),
            _ => Err(unknown()),
        }
    }
}
