//! The views that a model had of a session: what a resume sends, what was there before each compaction, and each
//! branch (SE-3, SE-161).

use std::collections::{HashSet, VecDeque};
use std::hash::{Hash, Hasher};

use msg_core::{Message, Part, ToolResult, native};

use super::account::Account;
use super::is_answer;
use crate::parts::INTERRUPTED;
use crate::view::Origin;
use crate::{BranchKind, Dialect, Error, Finding, RepairOptions, Session, View};

/// A view of a session.
#[derive(Debug)]
pub(super) struct ModelView {
    /// The leaf that it is read along; none of what a resume sends.
    pub(super) leaf: Option<String>,
    /// The last record of it.
    record: u32,
    pub(super) view: View,
    /// Whether a compaction is before it.
    pub(super) is_compacted: bool,
}

/// The views of a session, in the order of their last records.
pub(super) fn of(session: &Session) -> Result<Vec<ModelView>, Error> {
    if matches!(session.dialect(), Dialect::OpenAiJsonl | Dialect::ShareGpt) {
        return Err(Error::NotRead { what: "a data set already: its lines are samples" });
    }
    let mut res = Vec::new();
    let mut known = HashSet::new();
    let mut next = VecDeque::from([(None, u32::MAX)]);
    while let Some((leaf, record)) = next.pop_front() {
        let mut view = match session.read(&along(leaf.as_deref())) {
            Ok(view) => view,
            Err(_) if leaf.is_some() => continue,
            Err(error) => return Err(error),
        };
        let mut is_compacted = false;
        for branch in std::mem::take(&mut view.branches) {
            is_compacted |= branch.kind == BranchKind::Compacted;
            if known.insert(branch.leaf.clone()) {
                next.push_back((Some(branch.leaf), branch.record));
            }
        }
        if !view.messages.is_empty() {
            res.push(ModelView { leaf, record, view, is_compacted });
        }
    }
    res.sort_by_key(|it| it.record);
    Ok(res)
}

fn along(leaf: Option<&str>) -> RepairOptions {
    RepairOptions { leaf: leaf.map(str::to_owned), ..RepairOptions::default() }
}

/// A view that may become a sample.
#[derive(Debug)]
pub(super) struct Candidate {
    /// The number and the name of the session.
    pub(super) session: usize,
    pub(super) name: String,
    pub(super) leaf: Option<String>,
    pub(super) messages: Vec<Message>,
    /// The record of each message, where records have the numbers that they have in the session.
    pub(super) records: Vec<Option<Origin>>,
    /// What the messages up to each one say.
    pub(super) prefixes: Vec<u128>,
    /// What the parts up to each one say: an answer may be cut where the view ends.
    pub(super) parts: Vec<u128>,
    /// Whether a compaction is before it.
    pub(super) is_compacted: bool,
    /// The tools that the session defines, each as JSON.
    pub(super) tools: Vec<String>,
}

impl ModelView {
    /// The view mended and cut to what was really said; if it is none, the reason, where there is one.
    pub(super) fn candidate(
        &self,
        session: &Session,
        number: usize,
        name: &str,
        account: &mut Account,
    ) -> Result<Candidate, Option<String>> {
        let mended = self.mended(session);
        let (view, has_own_numbers) = match &mended {
            Ok(Some(view)) => (view, false),
            Ok(None) => (&self.view, true),
            Err(reason) => {
                account.explain_all(number, &self.view.messages, reason);
                return Err(Some(reason.clone()));
            }
        };
        let (end, unanswered) = said(&view.messages);
        let messages = &view.messages[..end];
        account.explain_cut(number, &view.messages[end..], &unanswered);
        if messages.is_empty() {
            return Err(None);
        }
        let record = |it: &Vec<Origin>| it.first().copied().filter(|_| has_own_numbers);
        Ok(Candidate {
            session: number,
            name: name.to_owned(),
            leaf: self.leaf.clone(),
            messages: messages.to_vec(),
            records: view.origins[..end].iter().map(record).collect(),
            prefixes: prefixes_of(messages),
            parts: prefixes_of_parts(messages).into_iter().map(|it| it.1).collect(),
            is_compacted: self.is_compacted,
            tools: super::sample::tools(session),
        })
    }

    /// The view of the mended session; none if nothing is to be mended.
    fn mended(&self, session: &Session) -> Result<Option<View>, String> {
        let options = along(self.leaf.as_deref());
        let findings = session.check(&options).map_err(|it| it.to_string())?;
        let mut errors = findings.iter().filter(|it| it.is_error());
        let is_lasting = |it: &&&Finding| it.fix.is_none() && !LOADING.contains(&it.code.as_str());
        if let Some(it) = errors.clone().find(|it| is_lasting(&it)) {
            return Err(format!("{}: {}", it.code, it.message));
        }
        if errors.next().is_none() {
            return Ok(None);
        }
        let before = session.record_count();
        let mut session = session.clone();
        session.repair(&options).map_err(|it| it.to_string())?;
        // A leaf that is a number moves with the records before it.
        let leaf = self.leaf.as_ref().map(|leaf| match leaf.parse::<usize>() {
            Ok(number) => (number + session.record_count()).saturating_sub(before).to_string(),
            Err(_) => leaf.clone(),
        });
        session.read(&along(leaf.as_deref())).map(Some).map_err(|it| it.to_string())
    }
}

/// Errors that keep an agent from loading a session, and say nothing about what was said in it.
const LOADING: [&str; 3] =
    ["session::missing-time", "session::missing-header", "session::bad-header"];

/// How many messages were really said, up to the last answer before a call whose result a mend invented; and the ids
/// of such calls.
fn said(messages: &[Message]) -> (usize, Vec<String>) {
    let invented = messages.iter().flat_map(Message::tool_results).filter(|it| is_invented(it));
    let ids: Vec<String> = invented.map(|it| it.call_id.clone()).collect();
    let is_cut = |it: &Message| it.tool_calls().any(|call| ids.contains(&call.id));
    let end = match ids.is_empty() {
        true => messages.len(),
        false => messages.iter().position(is_cut).unwrap_or(messages.len()),
    };
    let end = messages[..end].iter().rposition(is_answer).map_or(0, |it| it + 1);
    (end, ids)
}

fn is_invented(result: &ToolResult) -> bool {
    result.is_error && result.content.text() == INTERRUPTED
}

/// What the parts up to each one say, with the message that each is of. Who made a message is not a part of it.
#[expect(clippy::disallowed_types, reason = "hashes are compared within one run only")]
fn prefixes_of_parts(messages: &[Message]) -> Vec<(usize, u128)> {
    let mut hashers = (std::hash::DefaultHasher::new(), std::hash::DefaultHasher::new());
    1_u8.hash(&mut hashers.1);
    let mut res = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        for (n, part) in message.parts.iter().enumerate() {
            let mut alone = Message::new(message.role.clone());
            alone.name.clone_from(&message.name);
            alone.parts.push(part.clone());
            let said = (n == 0, content(&alone));
            said.hash(&mut hashers.0);
            said.hash(&mut hashers.1);
            let hash = u128::from(hashers.0.finish()) << 64 | u128::from(hashers.1.finish());
            res.push((at, hash));
        }
    }
    res
}

/// What the messages up to each one say.
pub(super) fn prefixes_of(messages: &[Message]) -> Vec<u128> {
    let mut res = vec![0; messages.len()];
    for (at, hash) in prefixes_of_parts(messages) {
        res[at] = hash;
    }
    res
}

/// What a message says, as JSON.
pub(super) fn content(message: &Message) -> Vec<u8> {
    let mut res = Vec::new();
    native::write(std::slice::from_ref(message), &mut res);
    res
}

/// Whether the user stopped the answer before it ended.
pub(super) fn is_interrupted(messages: &[Message], at: usize) -> bool {
    let next = messages.get(at + 1).and_then(|it| it.parts.first()).and_then(Part::as_text);
    next.is_some_and(|it| it == "[Request interrupted by user]" || it.starts_with("<turn_aborted>"))
}
