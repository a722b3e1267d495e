//! A message that has been read: its segments in order and its diagnostics (XT-2), and the `Collector` that builds it
//! from events.
//!
//! Calls, tool results and tool definitions. Complete calls and partial calls are two types, so that only complete ones
//! can be run. Nothing here runs a call.

use std::{borrow::Cow, collections::VecDeque, ops::Range, sync::Arc};

use msg_core::{
    Arguments, Diagnostic, IdSource, Message, Part, RawJson, Reasoning, Role, ToolCall,
};
use serde::{Deserialize, Deserializer};

use crate::code::{Code, Error};
use crate::event::{CallEnd, Event, ThinkingStyle};
use crate::json::{Json, Members};
use crate::schema::SchemaSet;
use crate::{json, lex};

/// A segment of the message.
#[derive(Clone, Debug, PartialEq)]
pub struct ParsedPart {
    /// The bytes of the input that it covers. Markup around thinking is not included.
    pub span: Range<usize>,
    /// Its kind.
    pub kind: SegmentKind,
}

/// The kind of a segment.
#[derive(Clone, Debug, PartialEq)]
pub enum SegmentKind {
    /// Text for the reader, unchanged.
    Text(String),
    /// Thinking, unchanged.
    Thinking {
        /// The text.
        text: String,
        /// Whether it was in tags or in brackets.
        style: ThinkingStyle,
    },
    /// A complete call, which may be run.
    Call(ParsedCall),
    /// A call that was cut off.
    Partial(PartialCall),
}

/// A parsed message.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parsed {
    /// The segments, in order.
    pub segments: Vec<ParsedPart>,
    /// The findings, by position.
    pub diagnostics: Vec<Diagnostic>,
}

impl Parsed {
    /// The complete calls.
    pub fn calls(&self) -> impl Iterator<Item = &ParsedCall> {
        self.segments.iter().filter_map(|s| match &s.kind {
            SegmentKind::Call(call) => Some(call),
            _ => None,
        })
    }

    /// The missing and unknown parameters of the complete calls ([`SchemaSet::check`]), by position. `diagnostics`
    /// does not contain them.
    pub fn check(&self, schema: &SchemaSet) -> Vec<Diagnostic> {
        self.calls().flat_map(|call| schema.check(call)).collect()
    }

    /// The call that was cut off, if there is one.
    pub fn partial(&self) -> Option<&PartialCall> {
        self.segments.iter().find_map(|s| match &s.kind {
            SegmentKind::Partial(call) => Some(call),
            _ => None,
        })
    }

    /// All text, concatenated.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for segment in &self.segments {
            if let SegmentKind::Text(text) = &segment.kind {
                out.push_str(text);
            }
        }
        out
    }

    /// The texts of all thinking.
    pub fn thinking(&self) -> impl Iterator<Item = &str> {
        self.segments.iter().filter_map(|s| match &s.kind {
            SegmentKind::Thinking { text, .. } => Some(text.as_str()),
            _ => None,
        })
    }

    /// Converts it to a message, parts in order. A call that was cut off also becomes a tool call part, with the
    /// arguments that were read.
    pub fn into_message(self, ids: &mut dyn IdSource) -> Message {
        let mut message = Message::new(Role::Assistant);
        for segment in self.segments {
            message.parts.push(match segment.kind {
                SegmentKind::Text(text) => Part::text(text),
                SegmentKind::Thinking { text, .. } => Part::Reasoning(Reasoning::new(text)),
                SegmentKind::Call(call) => Part::ToolCall(call.to_core(fresh_id(ids))),
                SegmentKind::Partial(call) => Part::ToolCall(call.known.to_core(fresh_id(ids))),
            });
        }
        message
    }
}

// Builds a message from events, so that whole and streamed reading cannot differ (XT-41).
//
// ```text
// text "Look: "   thinking "I call ls "   text "<tool>…"    pieces as they were sent
//                                         reclaim           the last turns out to be a call, which goes there
// ```

/// What a piece is: text, or thinking in a style.
type Kind = Option<ThinkingStyle>;

/// Text or thinking. If it is as long as its span, it is the bytes of it.
#[derive(Debug)]
struct Piece {
    kind: Kind,
    text: String,
    /// The number of bytes that were removed from the start of the text.
    gone: usize,
    span: Range<u64>,
}

#[derive(Debug)]
enum Item {
    Piece(Piece),
    Call(CallEnd),
    /// Something was removed: texts around it do not merge.
    Gap,
}

/// Builds a [`Parsed`] from events (XT-41).
///
/// ```
/// use msg_xml::{Collector, ParseOptions, StreamParser, parse};
/// let text = b"[I look first]\n<tool><tool_name>ls</tool_name></tool>";
/// let mut parser = StreamParser::new(ParseOptions::default());
/// let mut all = Collector::default();
/// for byte in text.chunks(1) {
///     parser.feed(byte).for_each(|event| all.push(event));
/// }
/// parser.finish(None).for_each(|event| all.push(event));
/// assert_eq!(all.finish(), parse(text, None, &ParseOptions::default()));
/// ```
#[derive(Debug, Default)]
pub struct Collector {
    items: Vec<Item>,
    diagnostics: Vec<Diagnostic>,
    /// The items after the calls that were reclaimed last.
    after: Option<VecDeque<Item>>,
}

impl Collector {
    /// Takes the next event.
    pub fn push(&mut self, event: Event<'_>) {
        match event {
            Event::Text { text, span } => self.piece(None, &text, span),
            Event::Thinking { text, span, style } => self.piece(Some(style), &text, span),
            Event::ToolEnd { outcome, .. } => self.items.push(Item::Call(*outcome)),
            Event::ToolVoid { code: Code::ToolTooLarge | Code::DepthLimit, .. } => {
                self.items.push(Item::Gap);
            }
            Event::Reclaim(range) => self.reclaim(&range),
            Event::Diagnostic(diagnostic) => self.diagnostics.push(*diagnostic),
            _ => {}
        }
    }

    /// The message, after the parser has finished.
    pub fn finish(self) -> Parsed {
        let mut open = Open::default();
        for item in self.items.into_iter().chain(self.after.into_iter().flatten()) {
            match item {
                Item::Piece(piece) => open.piece(piece),
                Item::Gap => open.gap = true,
                Item::Call(outcome) => {
                    let span = range(&outcome.call().span);
                    let kind = match outcome {
                        CallEnd::Complete(call) => SegmentKind::Call(call),
                        CallEnd::Partial(call) => SegmentKind::Partial(call),
                    };
                    open.flush();
                    open.segments.push(ParsedPart { span, kind });
                }
            }
        }
        open.flush();
        let mut diagnostics = self.diagnostics;
        msg_core::sort_by_rank(&mut diagnostics, |d| d.at.start);
        Parsed { segments: open.segments, diagnostics }
    }

    /// A piece that goes on with the one before becomes part of it, so that few are kept.
    fn piece(&mut self, kind: Kind, text: &str, span: Range<u64>) {
        let piece = Piece { kind, text: String::new(), gone: 0, span };
        match self.items.last_mut() {
            Some(Item::Piece(last))
                if last.kind == kind
                    && last.span.end == piece.span.start
                    && last.is_exact(last.text.len())
                    && piece.is_exact(text.len()) =>
            {
                last.text.push_str(text);
                last.span.end = piece.span.end;
            }
            _ => self.items.push(Item::Piece(Piece { text: text.to_owned(), ..piece })),
        }
    }

    /// Takes the range out of what was collected and goes to its place. Ranges come in order, and what is before the last one is
    /// not looked at again.
    fn reclaim(&mut self, range: &Range<u64>) {
        let after = self.after.get_or_insert_with(|| std::mem::take(&mut self.items).into());
        while let Some(item) = after.pop_front() {
            #[cfg(test)]
            crate::growth::count();
            let mut piece = match item {
                Item::Piece(piece) if piece.span.end > range.start => piece,
                item => {
                    self.items.push(item);
                    continue;
                }
            };
            let is_over = piece.span.end >= range.end;
            self.items.extend(piece.take(range.start).map(Item::Piece));
            piece.skip(range.end);
            if !piece.text().is_empty() {
                after.push_front(Item::Piece(piece));
            }
            if is_over {
                break;
            }
        }
    }
}

impl Piece {
    fn is_exact(&self, len: usize) -> bool {
        self.span.end - self.span.start == len as u64
    }

    fn text(&self) -> &str {
        &self.text[self.gone..]
    }

    /// The offset in its text of this position of the input. A replaced sequence is one character, and is not split.
    fn index(&self, pos: u64) -> usize {
        if pos <= self.span.start {
            return self.gone;
        }
        match usize::try_from(pos - self.span.start).map(|at| self.gone + at) {
            Ok(at) if pos < self.span.end && self.text.is_char_boundary(at) => at,
            _ => self.text.len(),
        }
    }

    /// Cuts off what is before a position of the input. That is copied: the rest may be long.
    fn take(&mut self, pos: u64) -> Option<Piece> {
        let start = self.span.start;
        let text = self.text[self.gone..self.index(pos)].to_owned();
        self.skip(pos);
        let span = start..self.span.start;
        (!text.is_empty()).then_some(Piece { text, span, kind: self.kind, gone: 0 })
    }

    /// Leaves out what is before a position of the input.
    fn skip(&mut self, pos: u64) {
        self.gone = self.index(pos);
        self.span.start = pos.clamp(self.span.start, self.span.end);
    }
}

/// The text, and the thinking after it, that are not a segment yet.
#[derive(Default)]
struct Open {
    segments: Vec<ParsedPart>,
    text: Option<Piece>,
    thought: Option<Piece>,
    gap: bool,
}

impl Open {
    fn piece(&mut self, piece: Piece) {
        if piece.kind.is_some() {
            return self.think(piece);
        }
        self.end_thought();
        match &mut self.text {
            Some(text) if !self.gap => text.join(&piece),
            _ => {
                self.end_text();
                self.text = Some(piece);
            }
        }
        self.gap = false;
    }

    fn think(&mut self, piece: Piece) {
        match &mut self.thought {
            Some(known) if known.kind == piece.kind && known.span.end == piece.span.start => {
                known.join(&piece);
            }
            _ => {
                self.end_thought();
                self.thought = Some(piece);
            }
        }
    }

    /// A thought of blanks only is not one, and the texts around it are one.
    fn end_thought(&mut self) {
        let Some(thought) = self.thought.take().filter(|it| !lex::all_blank(it.text())) else {
            return;
        };
        self.end_text();
        self.segments.push(thought.segment());
    }

    fn end_text(&mut self) {
        let text = self.text.take().filter(|it| !lex::all_blank(it.text()));
        self.segments.extend(text.map(Piece::segment));
    }

    fn flush(&mut self) {
        self.end_thought();
        self.end_text();
    }
}

impl Piece {
    fn join(&mut self, more: &Piece) {
        self.text.push_str(more.text());
        self.span.end = more.span.end;
    }

    fn segment(mut self) -> ParsedPart {
        self.text.drain(..self.gone);
        let kind = match self.kind {
            Some(style) => SegmentKind::Thinking { text: self.text, style },
            None => SegmentKind::Text(self.text),
        };
        ParsedPart { span: range(&self.span), kind }
    }
}

fn range(span: &Range<u64>) -> Range<usize> {
    let size = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    size(span.start)..size(span.end)
}

/// How a call was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallOrigin {
    /// The dialect (`json` for a JSON body); `None` for `<tool>` with elements.
    pub format: Option<Arc<str>>,
    /// Whether it was in a code fence (XT-5).
    pub fenced: bool,
    /// Whether it was in thinking that was never closed (XT-7). An application may want to confirm
    /// such calls.
    pub recovered: bool,
}

/// The name of a server; most calls share it and own no text.
pub(crate) type Server = Cow<'static, str>;

/// The server of calls that name none.
pub(crate) const LOCAL: Server = Cow::Borrowed("local");

/// The server of this name.
pub(crate) fn server(name: &str) -> Server {
    if name == LOCAL { LOCAL } else { Cow::Owned(name.to_owned()) }
}

/// A complete call, ready to be run. Equality compares server, tool and arguments.
///
/// ```
/// let call = msg_xml::ParsedCall::new("read_file", r#"{"path":"a.txt"}"#.to_owned());
/// assert_eq!(call.server_name(), "local");
/// ```
#[derive(Clone, Debug)]
pub struct ParsedCall {
    pub(crate) server: Server,
    pub(crate) tool: String,
    pub(crate) arguments: Arguments,
    pub(crate) raws: Vec<(Arc<str>, Range<usize>)>,
    pub(crate) source: String,
    pub(crate) origin: CallOrigin,
    /// In the input.
    pub(crate) span: Range<u64>,
}

impl PartialEq for ParsedCall {
    fn eq(&self, other: &Self) -> bool {
        self.server == other.server
            && self.tool == other.tool
            && self.arguments.text() == other.arguments.text()
    }
}

impl ParsedCall {
    /// A call of a local tool.
    pub fn new(tool: impl Into<String>, arguments: impl Into<Arguments>) -> Self {
        ParsedCall {
            server: LOCAL,
            tool: tool.into(),
            arguments: arguments.into(),
            raws: Vec::new(),
            source: String::new(),
            origin: CallOrigin::default(),
            span: 0..0,
        }
    }

    /// Sets the server.
    #[must_use]
    pub fn with_server(mut self, server: impl Into<String>) -> Self {
        self.server = Cow::Owned(server.into());
        self
    }

    /// The server; `local` if the call names none.
    pub fn server_name(&self) -> &str {
        &self.server
    }

    /// The name of the tool.
    pub fn tool_name(&self) -> &str {
        &self.tool
    }

    /// The arguments as JSON text, members in source order.
    pub fn arguments(&self) -> &Arguments {
        &self.arguments
    }

    /// The source text of a parameter; of the first one with this name.
    pub fn raw_str(&self, parameter: &str) -> Option<&str> {
        let (_, range) = self.raws.iter().find(|(key, _)| **key == *parameter)?;
        self.source.get(range.clone())
    }

    /// The source text of the call; empty if it was not read from text.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// How it was written.
    pub fn origin(&self) -> &CallOrigin {
        &self.origin
    }

    /// Converts it to a tool call of `msg-core`. A server other than `local` is stored in `extra`
    /// as `xml.server_name`.
    pub fn to_core(&self, id: impl Into<String>) -> ToolCall {
        let mut call = ToolCall::new(id, self.tool.as_str(), self.arguments.clone());
        if self.server != LOCAL {
            call.extra.insert(msg_core::Origin::Xml, "server_name", RawJson::string(&self.server));
        }
        call
    }
}

/// A call that was cut off by the end of the message. It cannot be turned into a [`ParsedCall`].
#[derive(Clone, Debug, PartialEq)]
pub struct PartialCall {
    /// The known part of the call; it has no name if the name was not closed.
    pub(crate) known: ParsedCall,
    pub(crate) has_name: bool,
}

impl PartialCall {
    /// The server; `local` if none is known.
    pub fn server_name(&self) -> &str {
        self.known.server_name()
    }

    /// The name of the tool, if it is complete.
    pub fn tool_name(&self) -> Option<&str> {
        self.has_name.then(|| self.known.tool_name())
    }

    /// The arguments that were read.
    pub fn arguments(&self) -> &Arguments {
        self.known.arguments()
    }

    /// The source text of a parameter, as far as it was read.
    pub fn raw_str(&self, parameter: &str) -> Option<&str> {
        self.known.raw_str(parameter)
    }

    /// The source text from the opener to the end of the message.
    pub fn source(&self) -> &str {
        self.known.source()
    }

    /// How it was written.
    pub fn origin(&self) -> &CallOrigin {
        self.known.origin()
    }
}

/// An id from the caller's source of numbers.
pub(crate) fn fresh_id(ids: &mut dyn IdSource) -> String {
    format!("call_{:016x}", ids.next_u64())
}

/// The text of a tree as arguments.
pub(crate) fn arguments_of(value: &Json) -> Arguments {
    Arguments::from(value.text())
}

// Tool results as text, both ways (XT-45). Where an API has no tool role, the text goes as a user message.

/// The result of a tool, as text.
///
/// ```
/// use msg_xml::ParsedResult;
/// let result = ParsedResult::parse("Tool: calculator\nError: division by zero");
/// assert_eq!(result.map(|r| (r.name, r.is_error)), Some(("calculator".to_owned(), true)));
/// let quoted = ParsedResult::parse("Tool 'calculator' result:\n8");
/// assert_eq!(quoted.map(|r| (r.name, r.content)), Some(("calculator".to_owned(), "8".to_owned())));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedResult {
    /// The name of the tool.
    pub name: String,
    /// The content; with its `Error:` if the tool failed.
    pub content: String,
    /// Whether it failed.
    pub is_error: bool,
}

impl ParsedResult {
    /// Parses `Tool: NAME` or `Tool 'NAME' result:`, a line break and the content; `None` for anything
    /// else.
    pub fn parse(text: &str) -> Option<Self> {
        let (head, content) = text.split_once('\n')?;
        let head = head.strip_suffix('\r').unwrap_or(head);
        let quoted = || head.strip_prefix("Tool '")?.strip_suffix("' result:");
        let name = head.strip_prefix("Tool: ").or_else(quoted)?;
        if !valid(name) {
            return None;
        }
        Some(ParsedResult {
            name: name.to_owned(),
            content: content.to_owned(),
            is_error: content.starts_with("Error:"),
        })
    }

    /// The text of the result.
    ///
    /// # Errors
    /// The name is empty, contains a line break, or has white space at its ends.
    ///
    /// ```
    /// let result = msg_xml::ParsedResult { name: "ls".into(), content: "none".into(), is_error: true };
    /// assert_eq!(result.render()?, "Tool: ls\nError: none");
    /// # Ok::<(), msg_xml::Error>(())
    /// ```
    pub fn render(&self) -> Result<String, Error> {
        if !valid(&self.name) {
            return Err(Error::InvalidToolName { name: self.name.clone() });
        }
        let mark =
            if self.is_error && !self.content.starts_with("Error:") { "Error: " } else { "" };
        Ok(format!("Tool: {}\n{mark}{}", self.name, self.content))
    }
}

fn valid(name: &str) -> bool {
    !name.is_empty() && name.trim() == name && !name.contains(['\n', '\r'])
}

// Tool definitions: they describe tools to a model and give the types of its arguments.

/// The definition of a tool: OpenAI's form, or an object with name, description and parameters.
///
/// ```
/// let tool: msg_xml::ToolDefinition = serde_json::from_str(r#"{"type":"function","function":{"name":"ls"}}"#)?;
/// assert_eq!(tool.name, "ls");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolDefinition {
    /// The name.
    pub name: String,
    /// The server of the tool; `None` for a local tool.
    pub server_name: Option<String>,
    /// The description.
    pub description: Option<String>,
    /// The JSON Schema of its parameters, with its member order.
    pub parameters: Option<RawJson>,
}

impl ToolDefinition {
    /// A local tool.
    pub fn new(name: impl Into<String>) -> Self {
        ToolDefinition { name: name.into(), server_name: None, description: None, parameters: None }
    }

    /// The schema as a tree.
    pub(crate) fn schema(&self) -> Json {
        let parsed = self.parameters.as_ref().and_then(|raw| json::parse(raw.text(), 512));
        parsed.map_or(Json::Object(Members::default()), |(value, _)| value)
    }
}

#[derive(Deserialize)]
struct Flat {
    name: Option<String>,
    server_name: Option<String>,
    description: Option<String>,
    parameters: Option<Box<serde_json::value::RawValue>>,
    input_schema: Option<Box<serde_json::value::RawValue>>,
    function: Option<Box<Flat>>,
}

impl<'de> Deserialize<'de> for ToolDefinition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        let mut flat = Flat::deserialize(deserializer)?;
        if let Some(function) = flat.function.take() {
            let server_name = flat.server_name.take();
            flat = *function;
            flat.server_name = flat.server_name.or(server_name);
        }
        let name = flat.name.ok_or_else(|| D::Error::missing_field("name"))?;
        let raw = flat.parameters.or(flat.input_schema).filter(|raw| raw.get() != "null");
        let parameters =
            raw.map(|raw| RawJson::new(raw.get())).transpose().map_err(D::Error::custom)?;
        Ok(ToolDefinition {
            name,
            server_name: flat.server_name,
            description: flat.description,
            parameters,
        })
    }
}
