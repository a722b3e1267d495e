//! Events (XT-41): the queue that the machine writes to, the borrowed events that a caller gets, and the paths of
//! argument values. The queue holds positions; text is borrowed only when an event is taken.

use std::{borrow::Cow, fmt, ops::Range, sync::Arc};

use msg_core::{Diagnostic, IdSource, StreamEvent};

use crate::code::{Code, diagnostic};
use crate::input::Input;
use crate::parsed::{ParsedCall, PartialCall};

/// How a call ended.
#[derive(Clone, Debug, PartialEq)]
pub enum CallEnd {
    /// The call is complete and may be run.
    Complete(ParsedCall),
    /// The call was cut off by the end of the message. It must not be run.
    Partial(PartialCall),
}

impl CallEnd {
    /// The call, whole or not.
    pub(crate) fn call(&self) -> &ParsedCall {
        match self {
            CallEnd::Complete(call) => call,
            CallEnd::Partial(partial) => &partial.known,
        }
    }

    pub(crate) fn call_mut(&mut self) -> &mut ParsedCall {
        match self {
            CallEnd::Complete(call) => call,
            CallEnd::Partial(partial) => &mut partial.known,
        }
    }
}

/// The markup of thinking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ThinkingStyle {
    /// `<thinking>…</thinking>`.
    Tag,
    /// `[…]` on a line of its own.
    Bracket,
}

/// One event of a stream (XT-41). Spans are byte offsets into the whole input.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A piece of text.
    Text {
        /// The piece.
        text: Cow<'a, str>,
        /// The place of the piece in the input.
        span: Range<u64>,
    },
    /// A piece of thinking. Adjacent pieces belong together.
    Thinking {
        /// The piece.
        text: Cow<'a, str>,
        /// The place of the piece in the input.
        span: Range<u64>,
        /// Whether it was in tags or in brackets.
        style: ThinkingStyle,
    },
    /// The beginning of a call.
    ToolBegin {
        /// The number of the call.
        call: u32,
    },
    /// The name of the call.
    ToolName {
        /// The number of the call.
        call: u32,
        /// The tool's name.
        name: String,
    },
    /// A piece of a text value.
    Arg {
        /// The number of the call.
        call: u32,
        /// The path of the value.
        path: Cow<'a, ArgPath>,
        /// The piece.
        text: Cow<'a, str>,
    },
    /// The pieces under this path so far are void.
    ArgReset {
        /// The number of the call.
        call: u32,
        /// The path of the value, or of the value that contains it.
        path: ArgPath,
    },
    /// The end of the call.
    ToolEnd {
        /// The number of the call.
        call: u32,
        /// The result; boxed to keep the enum small.
        outcome: Box<CallEnd>,
    },
    /// It was not a call, or a limit removed it.
    ToolVoid {
        /// The number of the call.
        call: u32,
        /// The reason.
        code: Code,
    },
    /// Text or thinking that was emitted is part of the calls that follow. Only at the end of a message.
    Reclaim(Range<u64>),
    /// A finding.
    Diagnostic(Box<Diagnostic>),
}

impl<'a> Event<'a> {
    /// Converts the event to those of other crates (MS-23): text, reasoning, and each finished call as three events.
    /// Draws ids from `ids`.
    ///
    /// ```
    /// use msg_core::{CountingIds, StreamEvent};
    /// let event = msg_xml::Event::Text { text: "hi".into(), span: 0..2 };
    /// let mut ids = CountingIds::default();
    /// assert_eq!(event.into_stream_events(&mut ids).next(), Some(StreamEvent::TextDelta { choice: 0, text: "hi".into() }));
    /// ```
    pub fn into_stream_events(
        self,
        ids: &mut dyn IdSource,
    ) -> impl Iterator<Item = StreamEvent<'a>> + use<'a> {
        let events = match self {
            Event::Text { text, .. } => vec![StreamEvent::TextDelta { choice: 0, text }],
            Event::Thinking { text, .. } => vec![StreamEvent::ReasoningDelta { choice: 0, text }],
            Event::ToolEnd { call: index, outcome } => {
                let id = crate::parsed::fresh_id(ids);
                let complete = matches!(*outcome, CallEnd::Complete(_));
                let call = outcome.call().to_core(id);
                vec![
                    StreamEvent::ToolCallBegin {
                        choice: 0,
                        index,
                        id: Some(call.id.clone().into()),
                        name: call.name.clone().into(),
                    },
                    StreamEvent::ToolCallDelta {
                        choice: 0,
                        index,
                        arguments: call.arguments.text().to_owned().into(),
                    },
                    StreamEvent::ToolCall { choice: 0, index, call: Cow::Owned(call), complete },
                ]
            }
            _ => Vec::new(),
        };
        events.into_iter()
    }
}

/// An event in the queue: places instead of text, in the input or in the queue's own texts.
#[derive(Debug)]
pub(crate) enum Ev {
    Text { from: usize, to: usize },
    Thinking { from: usize, to: usize, style: ThinkingStyle },
    Begin { call: u32 },
    Name { call: u32, text: Range<usize> },
    Arg { call: u32, path: ArgPath, from: usize, to: usize },
    ArgText { call: u32, path: ArgPath, text: Range<usize> },
    Reset { call: u32, path: ArgPath },
    End { call: u32, outcome: Box<CallEnd> },
    Void { call: u32, code: Code },
    Reclaim { from: usize, to: usize },
    Report { code: Code, from: usize, to: usize, detail: Option<Box<str>> },
}

impl Ev {
    /// A report without further details.
    pub(crate) fn report(code: Code, from: usize, to: usize) -> Self {
        Ev::Report { code, from, to, detail: None }
    }
}

/// The pending events. It is muted while a text is read that may turn out not to be a call. Readers of whole messages
/// want only the calls, not their beginnings and values.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    pub(crate) events: Vec<Ev>,
    /// Texts of events that are not in the input in this form.
    pub(crate) texts: String,
    muted: bool,
    pub(crate) calls_only: bool,
}

/// The maximum capacity for texts that is kept after they are taken.
const TEXTS_KEPT: usize = 64 << 10;

impl Queue {
    /// Forgets the events of the last chunk.
    pub(crate) fn clear(&mut self) {
        self.events.clear();
        self.texts.clear();
        self.texts.shrink_to(TEXTS_KEPT);
    }

    fn text(&mut self, text: &str) -> Range<usize> {
        let from = self.texts.len();
        self.texts.push_str(text);
        from..self.texts.len()
    }

    /// Whether beginnings and values of calls are wanted.
    pub(crate) fn wants_values(&self) -> bool {
        !self.muted && !self.calls_only
    }

    pub(crate) fn mute(&mut self, muted: bool) {
        self.muted = muted;
    }

    pub(crate) fn push(&mut self, ev: Ev) {
        if !self.muted {
            self.events.push(ev);
        }
    }

    fn push_value(&mut self, ev: Ev) {
        if self.wants_values() {
            self.events.push(ev);
        }
    }

    pub(crate) fn begin(&mut self, call: u32) {
        self.push_value(Ev::Begin { call });
    }

    pub(crate) fn name(&mut self, call: u32, name: &str) {
        if self.wants_values() {
            let text = self.text(name);
            self.events.push(Ev::Name { call, text });
        }
    }

    pub(crate) fn arg(&mut self, call: u32, path: &ArgPath, from: usize, to: usize) {
        self.push_value(Ev::Arg { call, path: path.clone(), from, to });
    }

    pub(crate) fn arg_text(&mut self, call: u32, path: &ArgPath, text: &str) {
        if self.wants_values() {
            let text = self.text(text);
            self.events.push(Ev::ArgText { call, path: path.clone(), text });
        }
    }

    pub(crate) fn reset(&mut self, call: u32, path: &ArgPath) {
        self.push_value(Ev::Reset { call, path: path.clone() });
    }
}

// The path of a value in the arguments.
//
// ```text
// <edits><search>a</search></edits><edits><search>b</search></edits>   edits.search, edits[1].search
// ```

/// A step of a path into arguments.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PathItem {
    /// A parameter or a member.
    Key(Arc<str>),
    /// The (n+1)-th sibling with the key before, for n ≥ 1.
    Index(usize),
}

/// The place of a piece in the arguments; cheap to clone.
///
/// ```
/// use msg_xml::ArgPath;
/// assert_eq!(ArgPath::from_iter(["edits", "search"]).to_string(), "edits.search");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct ArgPath(Option<Arc<[PathItem]>>);

impl ArgPath {
    /// The path of the arguments as a whole.
    pub fn root() -> Self {
        ArgPath(None)
    }

    /// The steps.
    pub fn items(&self) -> &[PathItem] {
        self.0.as_deref().unwrap_or_default()
    }

    /// Whether this path is `prefix` or below it.
    pub fn starts_with(&self, prefix: &ArgPath) -> bool {
        self.items().starts_with(prefix.items())
    }

    /// The keys only.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.items().iter().filter_map(|item| match item {
            PathItem::Key(key) => Some(&**key),
            PathItem::Index(_) => None,
        })
    }

    /// The path of the `nth` value (from 0) of `key` below this one.
    pub(crate) fn child(&self, key: &str, nth: usize) -> Self {
        let last = [PathItem::Key(key.into())];
        let index = (nth > 0).then_some(PathItem::Index(nth));
        ArgPath(Some(self.items().iter().cloned().chain(last).chain(index).collect()))
    }
}

impl<'a> FromIterator<&'a str> for ArgPath {
    fn from_iter<T: IntoIterator<Item = &'a str>>(keys: T) -> Self {
        let items: Vec<PathItem> = keys.into_iter().map(|k| PathItem::Key(k.into())).collect();
        ArgPath(Some(items.into()))
    }
}

impl fmt::Display for ArgPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, item) in self.items().iter().enumerate() {
            match item {
                PathItem::Key(key) if i == 0 => f.write_str(key)?,
                PathItem::Key(key) => write!(f, ".{key}")?,
                PathItem::Index(n) => write!(f, "[{n}]")?,
            }
        }
        Ok(())
    }
}

// The events of one chunk for the caller: text borrowed from the chunk or the stream, and machine positions converted
// to input positions.

/// The differences between positions of the machine and of the input, from each position on.
#[derive(Debug, Default)]
pub(crate) struct Shifts(Vec<(usize, i64)>);

impl Shifts {
    /// The position of the input that is `pos` for the machine.
    #[inline]
    pub(crate) fn raw(&self, pos: usize) -> u64 {
        if self.0.is_empty() { pos as u64 } else { self.shifted(pos) }
    }

    fn shifted(&self, pos: usize) -> u64 {
        let n = self.0.partition_point(|&(p, _)| p <= pos);
        let by = n.checked_sub(1).map_or(0, |i| self.0[i].1);
        pos.checked_add_signed(by as isize).unwrap_or_default() as u64
    }

    pub(crate) fn add(&mut self, pos: usize, by: i64) {
        let total = self.0.last().map_or(0, |&(_, by)| by) + by;
        match self.0.last_mut() {
            Some(last) if last.0 == pos => last.1 = total,
            _ => self.0.push((pos, total)),
        }
    }
}

/// The events of one `feed` or `finish`. Events that are not consumed are lost.
#[derive(Debug)]
pub struct Drain<'a> {
    /// The short way: all of `text` is one piece.
    whole: Option<Whole<'a>>,
    /// The queued events.
    events: std::slice::IterMut<'a, Ev>,
    /// Text of them that is not in the input.
    texts: &'a str,
    /// The text that places refer to; it begins at `base`.
    text: &'a str,
    base: usize,
    shifts: &'a Shifts,
}

/// The kind of a text that is sent without the machine. Plain data, so the common chunk needs no code to drop it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Whole<'a> {
    Text,
    Thinking,
    /// The value of an argument: its call and path.
    Arg(u32, &'a ArgPath),
}

impl<'a> Drain<'a> {
    /// The whole `text` as one event; `None` if it is empty.
    #[inline]
    pub(crate) fn whole(whole: Whole<'a>, text: &'a str, base: usize, shifts: &'a Shifts) -> Self {
        let whole = (!text.is_empty()).then_some(whole);
        Drain { whole, events: Default::default(), texts: "", text, base, shifts }
    }

    /// The events queued about `text`.
    #[inline]
    pub(crate) fn queued(
        queue: &'a mut Queue,
        text: &'a str,
        base: usize,
        shifts: &'a Shifts,
    ) -> Self {
        let Queue { events, texts, .. } = queue;
        Drain { whole: None, events: events.iter_mut(), texts, text, base, shifts }
    }

    #[inline]
    fn whole_event(&self, whole: Whole<'a>) -> Event<'a> {
        let text = Cow::Borrowed(self.text);
        let span = || {
            let from = self.shifts.raw(self.base);
            from..from + self.text.len() as u64
        };
        match whole {
            Whole::Text => Event::Text { text, span: span() },
            Whole::Thinking => Event::Thinking { text, span: span(), style: ThinkingStyle::Tag },
            Whole::Arg(call, path) => Event::Arg { call, path: Cow::Borrowed(path), text },
        }
    }
}

impl<'a> Iterator for Drain<'a> {
    type Item = Event<'a>;

    #[inline]
    fn next(&mut self) -> Option<Event<'a>> {
        match self.whole.take() {
            Some(whole) => Some(self.whole_event(whole)),
            // By value: a drain whose address is never taken can stay in registers.
            None => Some(event(self.events.next()?, self.texts, self.text, self.base, self.shifts)),
        }
    }
}

/// The event that `ev` represents, which refers to `texts`, and to `text`, which begins at `base`.
#[inline(never)]
fn event<'a>(
    ev: &mut Ev,
    texts: &'a str,
    text: &'a str,
    base: usize,
    shifts: &Shifts,
) -> Event<'a> {
    let str = |from, to| Input { text, base, eof: false }.str(from, to);
    let places = |from, to| shifts.raw(from)..shifts.raw(to);
    // The remaining event is cleared with the next chunk.
    match std::mem::replace(ev, Ev::Begin { call: 0 }) {
        Ev::Text { from, to } => Event::Text { text: str(from, to).into(), span: places(from, to) },
        Ev::Thinking { from, to, style } => {
            Event::Thinking { text: str(from, to).into(), span: places(from, to), style }
        }
        Ev::Begin { call } => Event::ToolBegin { call },
        Ev::Name { call, text } => Event::ToolName { call, name: texts[text].to_owned() },
        Ev::Arg { call, path, from, to } => {
            Event::Arg { call, path: Cow::Owned(path), text: str(from, to).into() }
        }
        Ev::ArgText { call, path, text } => {
            Event::Arg { call, path: Cow::Owned(path), text: texts[text].into() }
        }
        Ev::Reset { call, path } => Event::ArgReset { call, path },
        Ev::End { call, mut outcome } => {
            let it = outcome.call_mut();
            let (from, to) = (it.span.start as usize, it.span.end as usize);
            if it.source.is_empty() {
                str(from, to).clone_into(&mut it.source);
            }
            it.span = places(from, to);
            Event::ToolEnd { call, outcome }
        }
        Ev::Void { call, code } => Event::ToolVoid { call, code },
        Ev::Reclaim { from, to } => Event::Reclaim(places(from, to)),
        Ev::Report { code, from, to, detail } => {
            let span = places(from, to);
            Event::Diagnostic(Box::new(diagnostic(
                code,
                span.start as usize..span.end as usize,
                detail.as_deref(),
            )))
        }
    }
}
