//! Which calls of a pair have their results (CA-41).

use std::ops::Deref;

use std::collections::HashMap;

use msg_core::{ToolCall, ToolResult};

use super::pair::{BodyPair, BodyPairKind};

/// Up to this many calls are searched one by one.
const SMALL_PAIR: usize = 8;

/// A call, with its place in the assistant message. Dereferences to the call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CallRef<'a> {
    call: &'a ToolCall,
    part: usize,
}

impl<'a> CallRef<'a> {
    pub(crate) fn new(call: &'a ToolCall, part: usize) -> Self {
        CallRef { call, part }
    }

    /// The call, for as long as the tree is borrowed.
    pub fn call(&self) -> &'a ToolCall {
        self.call
    }

    /// Its index among the parts of the assistant message.
    pub fn part(&self) -> usize {
        self.part
    }
}

impl Deref for CallRef<'_> {
    type Target = ToolCall;

    fn deref(&self) -> &ToolCall {
        self.call
    }
}

/// The calls and results of a pair, sorted by whether they belong together (CA-41).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolCallsInfo<'a> {
    /// Calls without a result, in call order.
    #[doc(alias = "PendingToolCallIDs")]
    pub pending: Vec<CallRef<'a>>,
    /// Results without a call, in the order of the results.
    #[doc(alias = "UnmatchedToolCallIDs")]
    pub unmatched: Vec<&'a ToolResult>,
    /// Calls with their result, in call order.
    #[doc(alias = "CompletedToolCalls")]
    pub completed: Vec<(CallRef<'a>, &'a ToolResult)>,
}

impl BodyPair {
    /// Links results to calls by id; of an id that occurs several times, the n-th result answers the
    /// n-th call (CA-15). Linear in the pair.
    ///
    /// ```
    /// use msg_chainast::{BodyPair, Message, Part, ToolCall};
    ///
    /// let call = ToolCall::new("call_1", "get_weather", "{}");
    /// let pair = BodyPair::new(Message::assistant("").with_part(Part::ToolCall(call)), vec![]);
    /// assert_eq!(pair.tool_calls_info().pending[0].id, "call_1");
    /// assert!(!pair.is_valid());
    /// ```
    #[doc(alias = "GetToolCallsInfo")]
    pub fn tool_calls_info(&self) -> ToolCallsInfo<'_> {
        let calls: Vec<_> = self.calls().collect();
        let mut links = Links::new(&calls);
        let mut unmatched = Vec::new();
        let mut answers = vec![None; calls.len()];
        for (_, result) in self.results() {
            match links.take(&calls, &result.call_id) {
                Some(call) => answers[call] = Some(result),
                None => unmatched.push(result),
            }
        }
        let mut info = ToolCallsInfo { unmatched, ..ToolCallsInfo::default() };
        for (call, answer) in calls.into_iter().zip(answers) {
            match answer {
                Some(result) => info.completed.push((call, result)),
                None => info.pending.push(call),
            }
        }
        info
    }

    /// Whether the pair is what its kind asks for: a completion has no result, a request-response at
    /// least one, a summarization exactly one; no call is pending and no result without a call.
    #[doc(alias = "IsValid")]
    pub fn is_valid(&self) -> bool {
        let n_results = self.results().count();
        let fits = match self.kind() {
            BodyPairKind::Completion => n_results == 0,
            BodyPairKind::RequestResponse => n_results >= 1,
            BodyPairKind::Summarization => n_results == 1,
        };
        fits && {
            let info = self.tool_calls_info();
            info.pending.is_empty() && info.unmatched.is_empty()
        }
    }

    /// The calls of the assistant message, in order.
    pub(crate) fn calls(&self) -> impl Iterator<Item = CallRef<'_>> {
        let parts = self.assistant.parts.iter().enumerate();
        parts.filter_map(|(at, it)| Some(CallRef::new(it.as_tool_call()?, at)))
    }
}

/// The calls of a pair that have no result yet, by id.
pub(crate) enum Links<'a> {
    Small { taken: u32 },
    Wide { heads: HashMap<&'a str, usize>, next: Vec<usize> },
}

impl<'a> Links<'a> {
    pub(crate) fn new(calls: &[CallRef<'a>]) -> Self {
        if calls.len() <= SMALL_PAIR {
            return Links::Small { taken: 0 };
        }
        let mut heads = HashMap::with_capacity(calls.len());
        let mut next = vec![usize::MAX; calls.len()];
        for (at, call) in calls.iter().enumerate().rev() {
            next[at] = heads.insert(call.call().id.as_str(), at).unwrap_or(usize::MAX);
        }
        Links::Wide { heads, next }
    }

    /// The first call of this id that was not taken yet.
    pub(crate) fn take(&mut self, calls: &[CallRef<'a>], id: &str) -> Option<usize> {
        match self {
            Links::Small { taken } => {
                let free = |it: &usize| *taken & (1 << it) == 0 && calls[*it].id == id;
                let call = (0..calls.len()).find(free)?;
                *taken |= 1 << call;
                Some(call)
            }
            Links::Wide { heads, next } => {
                let head = heads.get_mut(id)?;
                let call = *head;
                *head = *next.get(call)?;
                Some(call)
            }
        }
    }
}
