//! Runs one compaction of messages. `msg-compact` decides what to cut.
//!
//! Records the cost of the history before it is repaired, and the first message that differs afterwards. Parts are not
//! compared. The history is copied only if a plan is made: a hostile document may have so many messages that a second
//! copy would dominate the memory.

use std::borrow::Cow;

use msg_chainast::{ChainAst, ChainRepairOptions, MessageOrigin, ParseError};
use msg_compact::{
    Compactor, MediaRates, Plan, Step, SummaryError, SummaryRequest, TokenCounter, TokenIndex,
    Totals, count::ToolSpec,
};
use msg_core::{Diagnostic, Message, SeededIds, native};
use msg_formats::{Format, Refusal};
use msg_json::{JsonError, Kind, Reader, write_str};

use super::fitted::{Fitted, Texts, Wanted};
use super::fitter::Fitter;
use super::options::FitOptions;
use crate::api_shapes::{foreign_parts, may_have_orphans, unread_calls};
use crate::document::Document;
use crate::fit::fitter::Summarizer;
use crate::fit::{FitAnswer, Goal, Reached, tool_specs, tools_of};
use crate::lead::{Beside, Breakpoints, JoinedUsers, Lead, has_speakers};
use crate::rows::Row;

/// The source of ids: constant, so that the same input gives the same output (CA-91).
const SEED: u64 = 0x6d73_6720_6669_7400;

/// Compacts a document until it fits. `options` and `tools` in the document take precedence.
///
/// Fails if the document cannot be read, if it is not a chain and `repair` is not set, and for invalid
/// options. A history that cannot fit is not an error. For many documents, a [`Fitter`] compiles the
/// options once.
///
/// ```
/// use msg_document::{Digest, FitOptions, fit};
///
/// let json = br#"[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]"#;
/// let fitted = fit(json, &FitOptions::default().with_budget(1000), &Digest)?;
/// assert!(fitted.fits() && fitted.first_changed.is_none());
/// # Ok::<(), msg_document::Refusal>(())
/// ```
pub fn fit(
    json: &[u8],
    options: &FitOptions,
    summarizer: &dyn Summarizer,
) -> Result<Fitted, Refusal> {
    Fitter::new(options.clone())?.fit(json, summarizer)
}

impl Fitter {
    /// Compacts a document until it fits. `options` and `tools` in the document take precedence.
    ///
    /// Fails as [`fit`] does.
    pub fn fit(&self, json: &[u8], summarizer: &dyn Summarizer) -> Result<Fitted, Refusal> {
        match self.options.of_line(json)? {
            Some(own) => Fitter::of_lines(own)?.fit_row(&document_of_line(json), summarizer),
            None => self.fit_row(json, summarizer),
        }
    }

    /// As [`Fitter::fit`], or the result of the plan in the options: the line of `msg fit --jsonl`.
    ///
    /// Fails as [`fit`] does, and if the plan does not belong to this document.
    pub fn answer(&self, json: &[u8], summarizer: &dyn Summarizer) -> Result<FitAnswer, Refusal> {
        match self.options.of_line(json)? {
            Some(own) => Fitter::of_lines(own)?.answer_json(&document_of_line(json), summarizer),
            None => self.answer_json(json, summarizer),
        }
    }

    fn answer_json(&self, json: &[u8], summarizer: &dyn Summarizer) -> Result<FitAnswer, Refusal> {
        let Some((goal, plan)) = &self.goal else {
            return Ok(FitAnswer::Fitted(Box::new(self.fit_row(json, summarizer)?)));
        };
        let mut document = Document::read(json, &self.options.read)?;
        let text = document.reached(*goal, plan, json);
        let messages = goal.reach(plan, document.take_messages())?;
        let applied = (*goal == Goal::Apply).then(|| plan.clone());
        let source = Some((Box::new(document), applied));
        Ok(FitAnswer::Reached(Box::new(Reached { goal: *goal, messages, source, text })))
    }

    /// As [`Fitter::fit_json`], also for a row: its conversation is fitted and put back.
    fn fit_row(&self, json: &[u8], summarizer: &dyn Summarizer) -> Result<Fitted, Refusal> {
        let read = &self.options.read;
        let row = match Row::of(json, read)? {
            Some(row) => row,
            None => match self.fit_json(json, summarizer, false) {
                Err(refusal) => Row::instead(json, read, refusal)?,
                fitted => return fitted,
            },
        };
        let is_answered = row.rules(0, msg_chainast::ChainCheckOptions::new()).answered;
        let mut fitted = self.fit_json(row.only()?, summarizer, is_answered)?;
        fitted.row = Some(row);
        Ok(fitted)
    }

    fn fit_json(
        &self,
        json: &[u8],
        summarizer: &dyn Summarizer,
        is_answered: bool,
    ) -> Result<Fitted, Refusal> {
        let mut document = Document::read(json, &self.options.read)?;
        let own = self.own_tools(json);
        let tools = own.as_deref().unwrap_or(&self.tools);
        let open = self.options.open || is_answered;
        let given = Given { tools, open, ..Given::with(self, &document) };
        let read = self.options.plan.then(|| document.messages().to_vec());
        let mut fitted = self.compact(document.take_messages(), given, summarizer)?;
        fitted.expect_writer(&mut document)?;
        match fitted.first_changed {
            Some(_) => fitted.text.read = Some(json.to_vec()),
            None => document.set_source(json.to_vec()),
        }
        if let Some(read) = read {
            let messages = fitted.messages.clone();
            fitted.text.written = fitted.write_into(&mut document);
            fitted.messages = messages;
            if let Some(written) = fitted.text.written.clone() {
                fitted.plan_as_written((json, &read), &document, &written);
            }
        }
        fitted.source = Some(Box::new(document));
        Ok(fitted)
    }

    /// The tools of the document, unless the options set some.
    pub(super) fn own_tools(&self, json: &[u8]) -> Option<Vec<ToolSpec>> {
        let own = self.options.count.tools.is_none().then(|| tools_of(json)).flatten();
        own.map(|it| tool_specs(Some(&it)))
    }

    /// Compacts the messages of a document, and takes them out of it. For turns it also makes a plan, with
    /// which [`Document::put_planned`](msg_formats::Document::put_planned) keeps all turns that the plan does
    /// not name.
    ///
    /// Fails as [`fit`] does.
    pub fn fit_document(
        &self,
        document: &mut Document,
        summarizer: &dyn Summarizer,
    ) -> Result<Fitted, Refusal> {
        let given = Given::with(self, document);
        let mut fitted = self.compact(document.take_messages(), given, summarizer)?;
        fitted.expect_writer(document)?;
        Ok(fitted)
    }

    /// Compacts a history until it fits.
    ///
    /// Fails as [`fit`] does.
    pub fn fit_messages(
        &self,
        messages: Vec<Message>,
        summarizer: &dyn Summarizer,
    ) -> Result<Fitted, Refusal> {
        self.compact(messages, Given::messages_alone(self), summarizer)
    }

    fn compact(
        &self,
        messages: Vec<Message>,
        given: Given<'_>,
        summarizer: &dyn Summarizer,
    ) -> Result<Fitted, Refusal> {
        let summarizer = self.test.as_ref().map_or(summarizer, |it| it as &dyn Summarizer);
        self.run(messages, given, |requests| summarizer.answer(requests))
    }

    /// Runs one compaction: sets aside messages that a tree cannot hold, parses or repairs the rest, counts, compacts,
    /// and puts everything together again.
    pub(super) fn run(
        &self,
        mut messages: Vec<Message>,
        given: Given<'_>,
        answer: impl FnMut(&[SummaryRequest<'_>]) -> Vec<Result<String, SummaryError>>,
    ) -> Result<Fitted, Refusal> {
        self.expect_budget()?;
        let mut ids = SeededIds::new(SEED);
        let is_mended = self.options.repair || given.beside != Beside::Nothing || given.joins_users;
        let original = is_mended.then(|| self.original(&messages, &given));
        // A plan replaces whole messages, so breakpoints are not moved.
        let breakpoints = Breakpoints::of(&messages).filter(|_| !given.wants_plan);
        let joined = given.joins_users.then(|| JoinedUsers::take(&mut messages));
        let lead = Lead::take(&mut messages, given.beside).with_joined(joined.unwrap_or_default());
        let Tree { ast, mended, remaining, origins } =
            self.tree(messages, &lead, &given, &mut ids)?;
        let counter = self.counter(ast.messages(), given.tools, given.media);
        // The reported size before is that of the input, before repairs.
        let input = original.as_ref().map(|it| it.totals(&*counter, given.tools));
        let index = TokenIndex::of(&ast, counter, given.tools).with_beside(lead.messages());
        let budget = self.budget.as_ref();
        let mut compactor = Compactor::plan(&ast, &index, budget, &self.pipeline, &mut ids)?;
        if let Some(origins) = &origins {
            compactor = compactor.with_origins(origins);
        }
        let outcome = outcome(compactor, answer)?;
        let mut fitted = Fitted {
            messages: Vec::new(),
            plan: None,
            outcome,
            mended,
            remaining,
            input,
            lead,
            unit: self.unit,
            limit: budget.and_then(|it| it.usable().ok()),
            first_changed: None,
            rewrite: None,
            wanted: Wanted::by(&self.options),
            source: None,
            text: Texts::default(),
            lost: Vec::new(),
            row: None,
        };
        fitted.finish(ast, given.wants_plan, original.as_ref())?;
        if let Some(breakpoints) = breakpoints.filter(|_| fitted.first_changed.is_some()) {
            fitted.mended.extend(breakpoints.keep_in(&mut fitted.messages));
        }
        let edits = fitted.records().len();
        tracing::debug!(status = fitted.status(), limit = fitted.limit, edits, "fitted");
        Ok(fitted)
    }

    /// The record of the messages before a repair.
    fn original(&self, messages: &[Message], given: &Given<'_>) -> Original {
        // A reported usage calibrates the counter by the repaired messages, so the originals are counted later.
        if given.wants_plan || self.options.count.usage.is_some() {
            return Original::Whole(messages.to_vec());
        }
        let counter = self.counter(messages.iter(), given.tools, given.media);
        Original::hashed(messages, totals(messages, &*counter, given.tools))
    }

    /// The tree of the messages after the lead, repaired if requested.
    fn tree(
        &self,
        messages: Vec<Message>,
        lead: &Lead,
        &Given { open, is_native, .. }: &Given<'_>,
        ids: &mut SeededIds,
    ) -> Result<Tree, Refusal> {
        let mut remaining = Vec::new();
        let (ast, mut mended, mut origins) = if self.options.repair {
            let mut repair = ChainRepairOptions::default();
            repair.check.open = open;
            if let Some(profile) = self.profile {
                repair = repair.with_profile(profile);
            }
            if let Some(unread) = self.unread_call((&messages, is_native), &repair) {
                return Err(lead.refused(unread.into()));
            }
            let (ast, mut found, origins) = ChainAst::repair_with_origins(messages, &repair, ids);
            remaining = found.extract_if(.., |it| it.is_error() && it.fix.is_none()).collect();
            found.retain(|it| it.fix.is_some());
            (ast, found, Some(origins))
        } else {
            let parse = if open { ChainAst::parse_open } else { ChainAst::parse };
            let ast = parse(messages).map_err(|it| lead.refused(refusal(it, open)))?;
            (ast, Vec::new(), None)
        };
        mended.iter_mut().chain(&mut remaining).for_each(|it| lead.put_before(it));
        if !lead.is_empty() || lead.has_joined() {
            origins = Some(lead.origins(origins, ast.messages().len()));
        }
        Ok(Tree { ast, mended, remaining, origins })
    }

    /// The error for a result whose call may be in unread content: a repair would drop the result (RG-12).
    fn unread_call(
        &self,
        (messages, is_native): (&[Message], bool),
        repair: &ChainRepairOptions,
    ) -> Option<Diagnostic> {
        if !may_have_orphans(messages) {
            return None;
        }
        let found = msg_chainast::check(messages, self.profile, &repair.check);
        let foreign: Vec<_> = foreign_parts(messages).collect();
        unread_calls((messages, is_native), &foreign, &found).into_iter().next()
    }
}

/// The document of a line with options: the line without them, or only the list of `{"messages":[…],"options":{…}}` if
/// its messages are Gemini contents or Responses items, because no body of these APIs has a member `messages`.
pub(crate) fn document_of_line(json: &[u8]) -> Cow<'_, [u8]> {
    let left = without_options(json);
    let list = || {
        let mut reader = Reader::new(&left).ok()?;
        reader.begin_object().ok()?;
        let key = reader.next_key().ok()??;
        let list = (key.text == "messages").then(|| reader.raw().ok()).flatten()?.as_bytes();
        let format = Format::recognise(list, "").ok()?;
        let is_alone = reader.next_key().ok()?.is_none();
        (is_alone && matches!(format.name(), "gemini" | "responses")).then(|| list.to_vec())
    };
    list().map_or(left.clone(), Cow::Owned)
}

/// A line of JSON without its member `options`, which is about the line and no part of its document. Any other text
/// as it is. Linear.
///
/// ```
/// let line = br#"{"messages":[],"options":{"budget":100}}"#;
/// assert_eq!(*msg_document::without_options(line), *br#"{"messages":[]}"#);
/// ```
pub fn without_options(line: &[u8]) -> Cow<'_, [u8]> {
    match cut(line) {
        Ok(Some(left)) => Cow::Owned(left),
        // Invalid input is refused by the reader of the document.
        _ => Cow::Borrowed(line),
    }
}

fn cut(line: &[u8]) -> Result<Option<Vec<u8>>, JsonError> {
    let mut reader = Reader::new(line)?;
    if reader.peek()? != Kind::Object {
        return Ok(None);
    }
    reader.begin_object()?;
    let (mut left, mut is_cut) = (b"{".to_vec(), false);
    while let Some(key) = reader.next_key()? {
        let name = key.text.into_owned();
        let value = reader.raw()?;
        if name == "options" {
            is_cut = true;
            continue;
        }
        if left.len() > 1 {
            left.push(b',');
        }
        write_str(&mut left, &name);
        left.push(b':');
        left.extend_from_slice(value.as_bytes());
    }
    reader.finish()?;
    left.push(b'}');
    Ok(is_cut.then_some(left))
}

/// Runs a compaction to its end.
fn outcome(
    mut compactor: Compactor<'_>,
    mut answer: impl FnMut(&[SummaryRequest<'_>]) -> Vec<Result<String, SummaryError>>,
) -> Result<msg_compact::CompactOutcome, Refusal> {
    loop {
        match compactor.next() {
            Step::Done(outcome) => return Ok(outcome),
            Step::Summarize(requests) => {
                for (request, answer) in requests.iter().zip(answer(&requests)) {
                    compactor.answer(request.id(), answer)?;
                }
            }
        }
    }
}

/// The facts about one document besides its messages.
#[derive(Clone, Copy)]
pub(super) struct Given<'a> {
    pub(super) beside: Beside,
    pub(super) tools: &'a [ToolSpec],
    pub(super) wants_plan: bool,
    /// Whether calls at the end may be without results.
    pub(super) open: bool,
    /// Whether its format allows adjacent user messages, which are then joined.
    pub(super) joins_users: bool,
    /// How images, sound and files are counted.
    pub(super) media: MediaRates,
    /// Whether calls in wrong places are read.
    pub(super) is_native: bool,
}

impl<'a> Given<'a> {
    fn messages_alone(fitter: &'a Fitter) -> Self {
        let wants_plan = fitter.options.plan;
        let media = MediaRates::default();
        let (beside, joins_users) = (Beside::Nothing, false);
        let (open, is_native) = (fitter.options.open, true);
        Given { beside, tools: &fitter.tools, wants_plan, open, media, joins_users, is_native }
    }

    pub(super) fn with(fitter: &'a Fitter, document: &Document) -> Self {
        let wants_plan = fitter.options.plan || document.is_edited_by_plan();
        let (beside, media) = (document.beside(), document.media_rates());
        let joins_users = document.format().joins_users() || has_speakers(document.messages());
        let is_native = document.is_native();
        Given { beside, wants_plan, media, joins_users, is_native, ..Given::messages_alone(fitter) }
    }
}

/// A tree, and the repairs that were needed for it.
struct Tree {
    ast: ChainAst,
    mended: Vec<Diagnostic>,
    /// The errors that stay.
    remaining: Vec<Diagnostic>,
    /// The origin of each message, if the messages are not those of the input.
    origins: Option<Vec<MessageOrigin>>,
}

/// The refusal of messages that are not a valid chain: the first error, the number of others, and the remedy.
fn refusal(error: ParseError, open: bool) -> Refusal {
    let errors = error.diagnostics().iter().filter(|it| it.is_error());
    let more = errors.clone().count().saturating_sub(1);
    let Some(mut first) = errors.into_iter().next().cloned() else {
        return Refusal::bad_option(error.to_string());
    };
    if more > 0 {
        first.set_message(format!(
            "{}, and {more} more error{}",
            first.message(),
            if more == 1 { "" } else { "s" }
        ));
    }
    let only_open = !open && ChainAst::parse_open(error.into_messages()).is_ok();
    Refusal::from(first.with_fix(if only_open {
        "--open leaves calls at the end without results, --repair answers them"
    } else {
        "--repair mends the chain first; `msg check` lists what is wrong with it"
    }))
}

/// The history before it was repaired.
pub(super) enum Original {
    /// A copy.
    Whole(Vec<Message>),
    /// Its size, and the hash of each message.
    Hashed(Totals, Vec<u64>),
}

impl Original {
    /// The record without a copy of the messages.
    pub(super) fn hashed(messages: &[Message], totals: Totals) -> Self {
        let mut room = Vec::new();
        Self::Hashed(totals, messages.iter().map(|it| hash(it, &mut room)).collect())
    }

    pub(super) fn totals(&self, counter: &dyn TokenCounter, tools: &[ToolSpec]) -> Totals {
        match self {
            Self::Whole(messages) => totals(messages, counter, tools),
            Self::Hashed(totals, _) => *totals,
        }
    }

    /// The index of the first message that differs now.
    pub(super) fn first_changed(&self, now: &[Message]) -> Option<usize> {
        let (before, same) = match self {
            Self::Whole(it) => (it.len(), it.iter().zip(now).take_while(|(a, b)| a == b).count()),
            Self::Hashed(_, hashes) => {
                let mut room = Vec::new();
                let mut pairs = hashes.iter().zip(now);
                let changed = pairs.position(|(was, now)| *was != hash(now, &mut room));
                (hashes.len(), changed.unwrap_or(hashes.len().min(now.len())))
            }
        };
        (same < before || same < now.len()).then_some(same)
    }

    /// The plan from the original to these messages; `None` if no copy was kept.
    pub(super) fn plan(&self, now: &[Message]) -> Option<Plan> {
        match self {
            Self::Whole(messages) => Some(Plan::between(messages, now)),
            Self::Hashed(..) => None,
        }
    }
}

/// The hash of a message's JSON, which tells any two messages apart.
#[expect(
    clippy::disallowed_types,
    reason = "the hashes are compared by the process that made them"
)]
fn hash(message: &Message, room: &mut Vec<u8>) -> u64 {
    use std::hash::{DefaultHasher, Hasher as _};

    room.clear();
    native::write_message(message, room);
    let mut hasher = DefaultHasher::new();
    hasher.write(room);
    hasher.finish()
}

/// The size of messages.
pub(super) fn totals(
    messages: &[Message],
    counter: &dyn TokenCounter,
    tools: &[ToolSpec],
) -> Totals {
    let base = if messages.is_empty() && tools.is_empty() { 0 } else { counter.request(tools) };
    Totals {
        messages: messages.len(),
        bytes: messages.iter().map(|it| it.size() as u64).sum(),
        tokens: base + messages.iter().map(|it| counter.message(it)).sum::<u64>(),
    }
}
