//! Losses of a target format (MS-24), with the diagnostic codes of this crate; the member layout, which readers keep
//! for writers (MS-6); and the order of results by their calls, for formats without ids. Sorting adds, changes or
//! removes no result.

use std::{borrow::Cow, collections::HashMap, ops::Range};

use msg_core::{
    CodeInfo, Diagnostic, Extra, Message, OpenCalls, Origin, Part, Report, Role, codes,
    with_article,
};

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

    /// Sets the part of the following losses; `None` for the message itself.
    pub(crate) fn at_part(&mut self, part: Option<usize>) {
        self.part = part;
    }

    pub(crate) fn warn(&mut self, code: &'static str, text: impl Into<Cow<'static, str>>) {
        let it = Diagnostic::warning(code.into(), text);
        self.push(it);
    }

    /// Reports a part, or a part inside a result's content, that cannot be written.
    pub(crate) fn part(&mut self, part: &Part, target: &str) {
        let text =
            format!("{target} have no place for {} part", with_article(&part.kind_of_source()));
        self.warn("convert::lost-part", text);
    }

    /// Reports a known member that cannot be written.
    pub(crate) fn member(&mut self, name: &str, target: &str) {
        self.warn("convert::lost-member", format!("{target} have no place for `{name}`"));
    }

    /// Reports those of these known members that are set.
    pub(crate) fn members(&mut self, target: &str, members: &[(&str, bool)]) {
        members.iter().filter(|it| it.1).for_each(|it| self.member(it.0, target));
    }

    /// The text of a part, for a target with only text.
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

    /// Reports members of formats other than the target's.
    pub(crate) fn extra(&mut self, extra: &Extra, target: Option<&Origin>) {
        for (origin, name, _) in extra.all().filter(|it| Some(it.0) != target) {
            let text = format!("member `{name}` of format {origin}, dropped");
            self.push(Diagnostic::info("convert::lost-member".into(), text));
        }
    }

    /// Reports members of the target's own format whose name is now that of a known member.
    pub(crate) fn taken(&mut self, extra: &Extra, target: &Origin, known: &[&str]) {
        for (name, _) in extra.iter(target).filter(|it| known.contains(&it.0)) {
            let text = format!("unknown member `{name}`, dropped: its name is already used");
            self.push(Diagnostic::info("convert::lost-member".into(), text));
        }
    }

    /// Reports a message of which nothing is left.
    pub(crate) fn message(&mut self, message: &Message) {
        self.part = None;
        let text = format!("empty {} message, not written", message.role);
        self.warn("convert::lost-message", text);
    }

    /// Reports a message that became several.
    pub(crate) fn split(&mut self) {
        self.part = None;
        self.warn("convert::split-message", "message split: one message per tool result");
    }

    fn push(&mut self, mut it: Diagnostic) {
        it.at.message = Some(self.message);
        it.at.part = self.part;
        self.report.push(it);
    }
}

// The layout that a reader stores for the writer of the same form: the order of members, and one flag (MS-6). Canonical
// documents have none.
//
// The bytes are private to a form; when their meaning changes, the version of [`msg_core::Layouts`] does.

/// The slot of an unknown member.
const UNKNOWN: u8 = u8::MAX;

/// The order of an object's members: a known member by its canonical number, an unknown one by its index among the
/// unknown.
#[derive(Debug, Default)]
pub(crate) struct Order {
    seen: Vec<u8>,
    flag: bool,
}

impl Order {
    /// Records a known member; the first place of a duplicate counts.
    pub(crate) fn known(&mut self, number: u8) {
        if !self.seen.contains(&number) {
            self.seen.push(number);
        }
    }

    /// Records an unknown member that goes to `extra` next, unless it is there.
    pub(crate) fn unknown(&mut self, extra: &Extra, origin: &Origin, name: &str) {
        if extra.get(origin, name).is_none() {
            self.seen.push(UNKNOWN);
        }
    }

    /// Sets the flag of the form.
    pub(crate) fn flag(&mut self, flag: bool) {
        self.flag = flag;
    }

    /// Stores the layout, unless it is canonical: known members by number, unknown ones last.
    pub(crate) fn leave(self, origin: Origin, extra: &mut Extra) {
        if !self.flag && self.seen.is_sorted() {
            return;
        }
        let mut bytes = self.seen;
        bytes.push(u8::from(self.flag));
        extra.set_layout(origin, bytes);
    }

    /// The stored layout, or the canonical order of `n_known` members.
    pub(crate) fn of(extra: &Extra, origin: &Origin, n_known: u8) -> Self {
        match extra.layout(origin).and_then(|it| it.split_last()) {
            Some((flag, seen)) => Self { seen: seen.to_vec(), flag: *flag != 0 },
            None => Self { seen: (0..n_known).collect(), flag: false },
        }
    }

    /// The stored flag.
    pub(crate) fn is_flagged(&self) -> bool {
        self.flag
    }

    /// Walks the members in the stored order: known members by number, unknown ones by index. Members missing in the
    /// layout come last.
    pub(crate) fn walk(&self, n_known: u8, n_unknown: usize, mut step: impl FnMut(Step)) {
        let mut next = 0;
        for number in &self.seen {
            if *number != UNKNOWN {
                step(Step::Known(*number));
            } else if next < n_unknown {
                step(Step::Unknown(next));
                next += 1;
            }
        }
        (0..n_known).filter(|it| !self.seen.contains(it)).for_each(|it| step(Step::Known(it)));
        (next..n_unknown).for_each(|it| step(Step::Unknown(it)));
    }
}

/// One member to be written.
pub(crate) enum Step {
    /// The known member with this number.
    Known(u8),
    /// The unknown member with this index.
    Unknown(usize),
}

// The diagnostic codes of this crate. Those of unreadable documents are in `msg-core`.

/// The diagnostic codes of turns and of losses in these forms.
pub const CODES: &[CodeInfo] = codes! {
    error "turn::illegal-transition" "MS-21" "illegal state transition";
    warning "turn::half-streamed" "MS-21" "call stored before its arguments were complete";
    error "turn::unexpected-event" "MS-21" "unexpected stream event";
    warning "turn::skipped-role" "OA-6" "turn with a role that is not sent";
    warning "turn::empty-message" "OA-6" "empty turn, not sent";
    warning "turn::filtered-call" "OA-7" "tool call in a state that is not sent";
    warning "turn::ignored-tool-part" "OA-6" "tool part outside an assistant turn";
    warning "turn::skipped-part" "OA-6" "part of a type that is not sent";
    warning "turn::placeholder-output" "OA-7" "placeholder text for an empty output";
    warning "turn::synthesised-output" "OA-7" "placeholder result for an unfinished call";
    warning "turn::unknown-status" "OA-7" "tool call in an unknown state";
    warning "turn::generated-id" "OA-8" "call without an id, an id was generated";
    warning "turn::renamed-id" "OA-8" "duplicate call id, renamed";
    warning "turn::empty-tool-name" "OA-8" "call without a tool name";
    warning "turn::invalid-arguments" "OA-8" "call arguments are not valid JSON";
    warning "turn::non-object-arguments" "OA-8" "call arguments are not an object";
    warning "convert::orphan-result" "MS-22, MS-24" "result without a pending call";
    warning "convert::split-message" "MS-5, MS-24" "message split into several";
    warning "convert::merged-parts" "MS-24" "texts joined into one";
    warning "convert::json-as-text" "MS-24" "JSON converted to text";
    warning "convert::invalid-arguments" "MS-13, MS-24" "arguments that are not valid JSON, converted to a string";
    warning "convert::text-as-call" "MS-24" "text that is read as a call or a result in the target";
    warning "convert::role-changed" "MS-24" "role changed, the target has no such role";
};

/// The position of a part: its message, and its index.
type Position = (usize, usize);

/// Tool results that were moved to the order of their calls.
///
/// ```
/// use msg_core::{Message, Part, Role, ToolCall, ToolResult};
/// use msg_forms::OrderedResults;
///
/// let call = |id: &str| Part::ToolCall(ToolCall::new(id, "weather", "{}"));
/// let result = |id: &str| {
///     Message::new(Role::Tool).with_part(Part::ToolResult(ToolResult::new(id, id)))
/// };
/// let mut chat = [Message::new(Role::Assistant).with_part(call("a")).with_part(call("b")), result("b"), result("a")];
/// let ordered = OrderedResults::of(&mut chat);
/// assert!(ordered.answer_by_place());
/// assert_eq!(chat[1].tool_results().next().map(|it| &*it.call_id), Some("a"));
/// ```
#[derive(Debug, Clone, Default)]
pub struct OrderedResults {
    /// For each moved result, its original position.
    moved: HashMap<Position, Position>,
    by_place: bool,
    /// Whether an earlier call has no result in its turn.
    has_open: bool,
}

impl OrderedResults {
    /// Sorts the results after each assistant turn by the order of their calls, using only the places where results
    /// were: a format without ids assigns the first result to the first call. Linear, except for the sorting.
    pub fn of(messages: &mut [Message]) -> Self {
        let mut res = Self { by_place: true, ..Self::default() };
        let mut at = 0;
        while at < messages.len() {
            let is_turn = |it: &Message| it.role == Role::Assistant;
            let length = |from: usize, wanted: bool| {
                messages[from..].iter().take_while(|it| is_turn(it) == wanted).count()
            };
            let answers = at + length(at, true);
            let end = answers + length(answers, false);
            res.turn(messages, at..answers, answers..end);
            at = end;
        }
        res
    }

    /// Whether each result follows the turn with its call and belongs to the first unanswered call there, and results
    /// without a call follow only when no call is open.
    pub fn answer_by_place(&self) -> bool {
        self.by_place
    }

    /// Changes the places of findings about the sorted messages to the original places of the
    /// results.
    pub fn placed_as_before(&self, found: &mut [Diagnostic]) {
        for it in found.iter_mut().filter(|_| !self.moved.is_empty()) {
            let place = it.at.message.map(|at| (at, it.at.part.unwrap_or(0)));
            if let Some((message, part)) = place.and_then(|it| self.moved.get(&it)) {
                it.at.message = Some(*message);
                it.at.part = it.at.part.map(|_| *part);
            }
        }
    }

    fn turn(&mut self, messages: &mut [Message], calls: Range<usize>, answers: Range<usize>) {
        let mut open = OpenCalls::default();
        // Results that do not belong to this turn: of earlier calls, of no call, and content of the assistant.
        let mut has_others =
            messages[calls.clone()].iter().any(|it| it.tool_results().next().is_some());
        let mut n_calls = 0;
        for message in &messages[calls] {
            open.begin(message);
            for it in message.tool_calls() {
                open.call(it, n_calls);
                n_calls += 1;
            }
        }
        // The positions of results, and the number of the call that each answers.
        let (mut places, mut numbers) = (Vec::new(), Vec::new());
        for at in answers {
            for (n, part) in messages[at].parts.iter().enumerate() {
                let Part::ToolResult(it) = part else { continue };
                match open.answered(&it.call_id, it.name.as_deref()) {
                    Some(number) => {
                        places.push((at, n));
                        numbers.push((number, (at, n)));
                    }
                    None => has_others = true,
                }
            }
        }
        numbers.sort_unstable();
        self.by_place &= numbers.iter().enumerate().all(|(n, it)| it.0 == n);
        // If no call is open, they answer none in the new document either.
        self.by_place &= !has_others || n_calls == 0 && !self.has_open;
        self.has_open |= numbers.len() < n_calls;
        let moves = places.iter().zip(&numbers).filter(|(to, from)| **to != from.1);
        let moves: Vec<_> = moves.map(|(to, from)| (*to, from.1)).collect();
        let parts: Vec<Part> =
            moves.iter().map(|it| messages[it.1.0].parts[it.1.1].clone()).collect();
        for ((to, from), part) in moves.into_iter().zip(parts) {
            messages[to.0].parts[to.1] = part;
            self.moved.insert(to, from);
        }
    }
}
