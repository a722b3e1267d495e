//! Who writes the summaries: the caller, the digest, or one of those that make tests repeatable
//! (CP-66).

use msg_compact::{SummaryError, SummaryRequest, digest};

use crate::refusal::Refusal;

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
