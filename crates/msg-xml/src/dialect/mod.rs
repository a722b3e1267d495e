//! Foreign tool call syntaxes behind the same segments (section 6): the registry by name, and what reads a
//! block. All are off by default; what is not read is only recognised (XT-11).

mod cline;
mod closes;
mod grammar;
mod json;
mod tag_value;
mod tags;

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::block::{Block, Done, Draft, Head, Note, Outcome};
use crate::code::Code;
use crate::error::Error;
use crate::event::Queue;
use crate::lane::{Kind, Lane};
use crate::options::Options;
use crate::window::{Wait, Win};
use cline::Cline;
use closes::Known;
pub use grammar::{Grammar, NameForm, TagShape};
use json::JsonReader;
use tags::TagReader;

/// A built-in dialect, or one that is described as data.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Dialect {
    /// XT-35, XT-37, XT-39, XT-40 and those of users: tags by a grammar.
    Tags(Arc<Grammar>),
    /// XT-34.
    Hermes,
    /// XT-36.
    Glm(Arc<Grammar>),
    /// XT-38.
    Cline,
}

/// The dialects that are read; none by default.
///
/// ```
/// use msg_xml::{Dialects, Options, parse};
/// let opts = Options::new().with_dialects(Dialects::by_names(["hermes"])?);
/// let parsed = parse(br#"<tool_call>{"name":"ls","arguments":{}}</tool_call>"#, None, &opts);
/// assert_eq!(parsed.calls().next().map(|call| call.tool_name()), Some("ls"));
/// # Ok::<(), msg_xml::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dialects {
    /// In the order in which they are tried.
    list: Vec<Dialect>,
}

impl Dialects {
    /// The names of the built-in dialects, in the order in which they are tried (XT-32).
    pub const NAMES: [&'static str; 7] =
        ["invoke", "hermes", "glm", "qwen", "cline", "dsml", "minimax"];

    /// The built-in dialects of these names.
    ///
    /// # Errors
    /// A name that is none of [`Dialects::NAMES`].
    pub fn by_names<'n>(names: impl IntoIterator<Item = &'n str>) -> Result<Self, Error> {
        let mut wanted = [false; 7];
        for name in names {
            let unknown = || Error::InvalidDialect {
                name: name.to_owned(),
                reason: format!("expected one of {}", Self::NAMES.join(", ")),
            };
            wanted[Self::NAMES.iter().position(|known| *known == name).ok_or_else(unknown)?] = true;
        }
        let list = Self::NAMES
            .iter()
            .zip(wanted)
            .filter(|(_, on)| *on)
            .map(|(name, _)| built_in(name))
            .collect();
        Ok(Dialects { list })
    }

    /// Adds a dialect that is described as data; it is tried after the built-in ones.
    ///
    /// # Errors
    /// A name that is taken, or a grammar in which two tags cannot be told apart.
    pub fn add(&mut self, grammar: Grammar) -> Result<(), Error> {
        grammar.check()?;
        if self.names().any(|name| name == grammar.name)
            || Self::NAMES.contains(&grammar.name.as_str())
        {
            return Err(Error::InvalidDialect {
                name: grammar.name,
                reason: "the name is taken".to_owned(),
            });
        }
        self.list.push(Dialect::Tags(Arc::new(grammar)));
        Ok(())
    }

    /// Adds a dialect that is described in TOML.
    ///
    /// # Errors
    /// TOML that describes no [`Grammar`], and as [`Dialects::add`].
    ///
    /// ```
    /// # use msg_xml::{Dialects, Options, parse};
    /// let mut dialects = Dialects::default();
    /// dialects.add_toml(r#"
    ///     name = "actions"
    ///     call = [{ tag = "action", name = { attribute = "do" } }]
    ///     parameter = [{ tag = "with", name = { attribute = "key" } }]
    /// "#)?;
    /// let text = br#"<action do="ls"><with key="path">src</with></action>"#;
    /// let parsed = parse(text, None, &Options::new().with_dialects(dialects));
    /// assert_eq!(parsed.calls().next().map(|call| call.arguments().text()), Some(r#"{"path":"src"}"#));
    /// # Ok::<(), msg_xml::Error>(())
    /// ```
    #[cfg(feature = "toml")]
    pub fn add_toml(&mut self, text: &str) -> Result<(), Error> {
        self.add(toml::from_str(text).map_err(|error| invalid_grammar(text, &error))?)
    }

    /// The names of those that are on, in the order in which they are tried.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(Dialect::name)
    }

    /// Whether none is on.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The words that may follow a `<`.
    pub(crate) fn opener_words(&self) -> impl Iterator<Item = String> {
        self.list.iter().flat_map(|dialect| match dialect {
            Dialect::Tags(grammar) => grammar.opener_words(),
            Dialect::Hermes | Dialect::Glm(_) | Dialect::Cline => Vec::new(),
        })
    }

    pub(crate) fn cline(&self) -> bool {
        self.list.contains(&Dialect::Cline)
    }
}

#[cfg(feature = "toml")]
fn invalid_grammar(text: &str, error: &toml::de::Error) -> Error {
    let at = error.span().map_or(0, |span| span.start.min(text.len()));
    let before = text.get(..at).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(0, |i| i + 1);
    Error::InvalidGrammar {
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
        reason: error.message().to_owned(),
    }
}

impl Dialect {
    fn name(&self) -> &str {
        match self {
            Dialect::Tags(grammar) | Dialect::Glm(grammar) => &grammar.name,
            Dialect::Hermes => "hermes",
            Dialect::Cline => "cline",
        }
    }
}

fn built_in(name: &str) -> Dialect {
    match name {
        "hermes" => Dialect::Hermes,
        "cline" => Dialect::Cline,
        "glm" => Dialect::Glm(Arc::new(Grammar::glm())),
        "qwen" => Dialect::Tags(Arc::new(Grammar::qwen())),
        "dsml" => Dialect::Tags(Arc::new(Grammar::dsml())),
        "minimax" => Dialect::Tags(Arc::new(Grammar::minimax())),
        _ => Dialect::Tags(Arc::new(Grammar::invoke())),
    }
}

/// A name, or a grammar.
#[derive(Deserialize)]
#[serde(untagged)]
enum Entry {
    Name(String),
    Grammar(Box<Grammar>),
}

impl Serialize for Dialects {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(untagged)]
        enum Entry<'a> {
            Name(&'a str),
            Grammar(&'a Grammar),
        }
        serializer.collect_seq(self.list.iter().map(|dialect| match dialect {
            Dialect::Tags(grammar) if !Self::NAMES.contains(&grammar.name.as_str()) => {
                Entry::Grammar(grammar)
            }
            other => Entry::Name(other.name()),
        }))
    }
}

impl<'de> Deserialize<'de> for Dialects {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error as _;
        let entries = Vec::<Entry>::deserialize(deserializer)?;
        let names = entries
            .iter()
            .filter_map(|e| if let Entry::Name(name) = e { Some(name.as_str()) } else { None });
        let mut dialects = Dialects::by_names(names).map_err(D::Error::custom)?;
        for entry in entries {
            if let Entry::Grammar(grammar) = entry {
                dialects.add(*grammar).map_err(D::Error::custom)?;
            }
        }
        Ok(dialects)
    }
}

/// What readers of dialects share over one message.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// Where values end.
    values: Known,
    /// The name that is looked at before a block begins, and how far it goes at least.
    name: (usize, usize),
}

/// What a reader of a dialect may look at and write to.
pub(crate) struct Cx<'a, 'w> {
    pub(crate) w: &'a Win<'w>,
    pub(crate) memory: &'a mut Memory,
    pub(crate) queue: &'a mut Queue,
    pub(crate) opts: &'a Options,
    /// The finish reason says that the message was cut; meaningful at the end of input only.
    pub(crate) cut: bool,
}

/// Whatever reads a block; boxed where it is kept.
#[derive(Debug)]
pub(crate) enum Reader {
    Native(Block),
    Tags(Box<TagReader>),
    Json(JsonReader),
    Cline(Cline),
}

impl Reader {
    /// A reader for the native block at `start`, whose opener ends at `body`.
    pub(crate) fn native(
        w: &Win<'_>,
        start: usize,
        body: usize,
        first_call: u32,
        queue: &mut Queue,
    ) -> Self {
        Reader::Native(Block::new(w, Head { start, body }, first_call, queue))
    }

    pub(crate) fn start(&self) -> usize {
        match self {
            Reader::Native(block) => block.start(),
            Reader::Tags(reader) => reader.start(),
            Reader::Json(reader) => reader.start(),
            Reader::Cline(reader) => reader.start,
        }
    }

    /// The first byte that may still be needed.
    pub(crate) fn keep(&self, opts: &Options) -> usize {
        match self {
            Reader::Native(block) => block.keep(),
            Reader::Tags(reader) => reader.out.keep(reader.cursor(), opts),
            Reader::Json(reader) => reader.out.keep(reader.cursor(), opts),
            Reader::Cline(reader) => reader.keep(opts),
        }
    }

    /// The lane for the bytes from `end` on.
    pub(crate) fn lane(&self, end: usize, opts: &Options) -> Lane {
        match self {
            Reader::Native(block) => block.lane(end, opts),
            _ => Lane::new(Kind::Closed),
        }
    }

    /// Moves to `end` over a value of which everything up to `to` has been sent.
    pub(crate) fn went_on(&mut self, to: usize, end: usize) {
        if let Reader::Native(block) = self {
            block.went_on(to, end);
        }
    }

    /// Reads on.
    pub(crate) fn run_with(
        &mut self,
        w: &Win<'_>,
        memory: &mut Memory,
        queue: &mut Queue,
        opts: &Options,
        cut: bool,
    ) -> Result<Done, Wait> {
        let mut cx = Cx { w, memory, queue, opts, cut };
        match self {
            Reader::Native(block) => block.run(w, cx.queue, opts, cut),
            Reader::Tags(reader) => reader.run(&mut cx),
            Reader::Json(reader) => reader.run(&mut cx),
            Reader::Cline(reader) => reader.run(&mut cx),
        }
    }
}

/// Tries the dialects that are on at the `<` at `p`, in the order of XT-32.
pub(crate) fn begin(
    w: &Win<'_>,
    p: usize,
    memory: &mut Memory,
    opts: &Options,
    first_call: u32,
    queue: &mut Queue,
) -> Result<Option<Reader>, Wait> {
    for dialect in &opts.dialects.list {
        let reader = match dialect {
            Dialect::Tags(grammar) => match json::begin_list(w, p, grammar, first_call)? {
                Some(reader) => Some(Reader::Json(reader)),
                None => {
                    tags::begin(w, p, grammar, first_call)?.map(|it| Reader::Tags(Box::new(it)))
                }
            },
            Dialect::Glm(grammar) => tags::begin_glm(w, p, memory, grammar, first_call)?
                .map(|it| Reader::Tags(Box::new(it))),
            Dialect::Hermes => json::begin_hermes(w, p, first_call)?.map(Reader::Json),
            Dialect::Cline => cline::begin(w, p, opts, first_call)?.map(Reader::Cline),
        };
        if let Some(reader) = reader {
            queue.begin(first_call);
            return Ok(Some(reader));
        }
    }
    Ok(None)
}

/// What a dialect's reader gathers about a block.
#[derive(Debug)]
struct Gathered {
    start: usize,
    /// Where the call begins that is being read, for its size.
    call_start: usize,
    /// The calls that begin before have their source; so many are they.
    settled: usize,
    settled_calls: usize,
    first_call: u32,
    format: Arc<str>,
    calls: Vec<Draft>,
    notes: Vec<Note>,
    reject: Option<Code>,
    begun: u32,
    /// Only the end of input decided where something ends (XT-29).
    at_eof: bool,
}

impl Gathered {
    fn new(start: usize, first_call: u32, format: &str) -> Self {
        Gathered {
            start,
            call_start: start,
            settled: start,
            settled_calls: 0,
            first_call,
            format: format.into(),
            calls: Vec::new(),
            notes: Vec::new(),
            reject: None,
            begun: 1,
            at_eof: false,
        }
    }

    /// Announces the call that comes next, and its name.
    fn announce(&mut self, queue: &mut Queue, name: Option<&str>) {
        let n = self.calls.len() as u32;
        if n >= self.begun {
            queue.begin(self.first_call + n);
            self.begun = n + 1;
        }
        if let Some(name) = name {
            queue.name(self.first_call + n, name);
        }
    }

    fn note(&mut self, code: Code, start: usize, end: usize) {
        let call = self.calls.len();
        self.notes.push(Note { code, start, end, call });
    }

    /// XT-28: whether the call that is being read is too large once it goes up to `pos`.
    fn over(&self, opts: &Options, pos: usize) -> bool {
        pos - self.call_start > opts.limits.max_tool_bytes
    }

    /// The call that was being read ends at `end`.
    fn push(&mut self, mut call: Draft, opts: &Options, end: usize) {
        call.end = end;
        call.too_large = self.over(opts, end);
        call.complete &= !call.too_large;
        self.calls.push(call);
        self.call_start = end;
    }

    /// Moves the end of the last call over what closes the block.
    fn extend_last(&mut self, end: usize) {
        if let Some(last) = self.calls.last_mut().filter(|call| call.source.is_empty()) {
            last.end = end;
        }
    }

    /// Copies the sources of the calls before one that is too large to be kept.
    fn settle(&mut self, cx: &Cx<'_, '_>, cursor: usize) {
        if !self.over(cx.opts, cursor) || self.settled == self.call_start {
            return;
        }
        for call in &mut self.calls[self.settled_calls..] {
            cx.w.str(call.start, call.end).clone_into(&mut call.source);
        }
        (self.settled, self.settled_calls) = (self.call_start, self.calls.len());
    }

    /// The first byte that may still be needed, if reading stands at `cursor`.
    fn keep(&self, cursor: usize, opts: &Options) -> usize {
        if self.settled == self.call_start && self.over(opts, cursor) {
            cursor
        } else {
            self.settled
        }
    }

    /// A report about the call before.
    fn note_last(&mut self, code: Code, start: usize, end: usize) {
        let call = self.calls.len().saturating_sub(1);
        self.notes.push(Note { code, start, end, call });
    }

    fn done(&mut self, cx: &Cx<'_, '_>, end: usize) -> Done {
        let calls = std::mem::take(&mut self.calls);
        let mut notes = std::mem::take(&mut self.notes);
        if let Some(last) =
            calls.len().checked_sub(1).filter(|&i| !calls[i].complete && !calls[i].too_large)
        {
            notes.retain(|n| n.call != last);
            notes.push(Note { code: Code::TruncatedToolCall, start: self.start, end, call: last });
        }
        let large = calls.iter().filter(|call| call.too_large).count();
        // What is too large was not stored: it cannot become text.
        let lost = self.reject.is_some() && (large > 0 || self.over(cx.opts, end));
        let outcome = if lost || large > 0 && large == calls.len() {
            Outcome::Dropped(Code::ToolTooLarge)
        } else {
            match self.reject {
                Some(Code::DepthLimit) => Outcome::Dropped(Code::DepthLimit),
                Some(code) => Outcome::Rejected(code),
                None => Outcome::Calls(calls),
            }
        };
        if let Outcome::Rejected(code) | Outcome::Dropped(code) = outcome {
            notes = vec![Note { code, start: self.start, end, call: 0 }];
        }
        let mut done = Done::new(self.start, end, outcome, notes);
        (done.at_eof, done.begun) = (self.at_eof, self.begun);
        done.format = Some(Arc::clone(&self.format));
        done
    }
}

/// A bar, `word`, a bar and blanks at `p` (XT-39): one past them.
pub(crate) fn bars(w: &Win<'_>, p: usize, word: &str) -> Result<Option<usize>, Wait> {
    let Some(at) = bar(w, p)? else { return Ok(None) };
    if !w.word(at, word)? {
        return Ok(None);
    }
    let Some(end) = bar(w, at + word.len())? else { return Ok(None) };
    Ok(Some(w.skip_blanks(end)))
}

/// One or two bars at `p`: one past them.
fn bar(w: &Win<'_>, p: usize) -> Result<Option<usize>, Wait> {
    let one = |p: usize| -> Result<Option<usize>, Wait> {
        match crate::lex::need(w, p)? {
            Some(b'|') => Ok(Some(p + 1)),
            Some(0xEF) => Ok(w.str(p, w.end()).starts_with('｜').then_some(p + '｜'.len_utf8())),
            _ => Ok(None),
        }
    };
    let Some(end) = one(p)? else { return Ok(None) };
    Ok(Some(one(end)?.unwrap_or(end)))
}
