//! The layout: a conversation in sections and pages, with its problems, tokens and cost.
//!
//! ```text
//! messages   system user assistant tool │ user assistant │ user …
//! sections   0─────────────────────────── 1────────────── 2      a user's message begins one
//! pages      a.html─────────────────────────────────────── a-2.html
//! ```
//!
//! The chain need not be valid: a page shows what is wrong with it too. What a page looks like is `page`'s.

use std::convert::Infallible;
use std::ops::Range;

use msg_core::{Diagnostic, Message, Part, Role};
use msg_document::{CountOptions, MediaRates, Stats, StatsOptions};

use crate::options::ViewOptions;
use crate::page;
use crate::recorded::Recorded;

/// A conversation as pages that lead to each other.
///
/// ```
/// use msg_core::Message;
/// use msg_view::{ViewOptions, Pages};
///
/// let messages = [Message::user("hi"), Message::assistant("hello"), Message::user("bye")];
/// let options = ViewOptions::default().with_page_size(2).with_file("talk.html");
/// let pages = Pages::new(&messages, &[], &options);
/// let names: Vec<String> = (0..pages.count()).map(|it| pages.file_name(it)).collect();
/// assert_eq!(names, ["talk.html", "talk-2.html"]);
///
/// let mut second = String::new();
/// pages.write(1, |piece| {
///     second.push_str(piece);
///     Ok::<(), std::io::Error>(())
/// })?;
/// assert!(second.contains("bye") && second.contains("href=\"./talk.html\""));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Pages<'a> {
    pub(crate) messages: &'a [Message],
    /// By message, those about none first.
    pub(crate) problems: Vec<&'a Diagnostic>,
    pub(crate) options: &'a ViewOptions,
    pub(crate) stats: Stats,
    /// What was recorded, by message; empty if nothing was.
    recorded: Vec<Recorded>,
    /// What was recorded of the whole.
    pub(crate) whole: Recorded,
    /// The first message of each section.
    sections: Vec<usize>,
    /// The first message of each page.
    pages: Vec<usize>,
}

/// What messages come to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Sum {
    pub(crate) messages: usize,
    pub(crate) tokens: u64,
    pub(crate) cost: Option<f64>,
}

impl<'a> Pages<'a> {
    /// Finds sections and pages. `problems` are what is wrong with these messages, as any check of this workspace
    /// gives it. Linear in the messages, and n log n in the problems.
    pub fn new(
        messages: &'a [Message],
        problems: &'a [Diagnostic],
        options: &'a ViewOptions,
    ) -> Self {
        let mut problems: Vec<_> = problems.iter().collect();
        problems.sort_by_key(|it| it.at.message.map_or(0, |it| it + 1));
        let sections = starts(messages, begins_a_section);
        let pages = first_messages(messages, options.page_size.unwrap_or(usize::MAX));
        let counting = StatsOptions {
            count: CountOptions { counter: options.counter, ..CountOptions::default() },
            top: Some(0),
            ..StatsOptions::default()
        };
        let stats = Stats::gather(messages.to_vec(), &counting, MediaRates::default());
        let (recorded, whole) = Default::default();
        Pages { messages, problems, options, stats, recorded, whole, sections, pages }
    }

    /// With what was recorded of each message, and of the whole, which may be more: answers of branches and of agents
    /// within are not messages here.
    ///
    /// ```
    /// use msg_core::Message;
    /// use msg_view::{ViewOptions, Pages, Recorded};
    ///
    /// let (messages, options) = ([Message::user("hi")], ViewOptions::default());
    /// let time = Some("2026-11-23T09:00:12Z".to_owned());
    /// let recorded = vec![Recorded { time, ..Recorded::default() }];
    /// let pages = Pages::new(&messages, &[], &options).with_recorded(recorded, Recorded::default());
    /// let mut page = String::new();
    /// pages.write(0, |it| {
    ///     page.push_str(it);
    ///     Ok::<(), std::fmt::Error>(())
    /// })?;
    /// assert!(page.contains(">2026-11-23 09:00:12</time>"));
    /// # Ok::<(), std::fmt::Error>(())
    /// ```
    #[must_use]
    pub fn with_recorded(self, recorded: Vec<Recorded>, whole: Recorded) -> Self {
        Pages { recorded, whole, ..self }
    }

    /// What was recorded of a message.
    pub(crate) fn recorded(&self, message: usize) -> Option<&Recorded> {
        self.recorded.get(message)
    }

    /// What was recorded of some messages together.
    pub(crate) fn recorded_of(&self, messages: Range<usize>) -> Recorded {
        let mut res = Recorded::default();
        messages.filter_map(|it| self.recorded.get(it)).for_each(|it| res.add(it));
        res
    }

    /// How many pages there are: at least one.
    pub fn count(&self) -> usize {
        self.pages.len()
    }

    /// The name of the file that a page is expected in, next to the others: `talk.html`, `talk-2.html` ….
    pub fn file_name(&self, number: usize) -> String {
        match number {
            0 => self.options.file.clone(),
            number => neighbour(&self.options.file, number + 1),
        }
    }

    /// Hands a page to `put`, in pieces: it is many times the conversation. Linear in its messages and problems.
    ///
    /// # Errors
    /// Those of `put`, after which nothing more is handed on.
    ///
    /// # Panics
    /// For a page that is not there.
    pub fn write<E>(&self, number: usize, put: impl FnMut(&str) -> Result<(), E>) -> Result<(), E> {
        page::page(self, number, put)
    }

    /// The messages of a page.
    pub(crate) fn page(&self, number: usize) -> Range<usize> {
        self.pages[number]..self.pages.get(number + 1).copied().unwrap_or(self.messages.len())
    }

    /// The address of a page, as seen from its neighbours.
    pub(crate) fn address(&self, number: usize) -> String {
        address(&self.file_name(number))
    }

    /// The page that a message is on.
    pub(crate) fn page_of(&self, message: usize) -> usize {
        self.pages.partition_point(|it| *it <= message).saturating_sub(1)
    }

    /// The sections that begin among these messages: their numbers.
    pub(crate) fn sections_in(&self, messages: &Range<usize>) -> Range<usize> {
        let at = |message: usize| self.sections.partition_point(|it| *it < message);
        at(messages.start)..at(messages.end)
    }

    /// The messages of a section.
    pub(crate) fn section(&self, number: usize) -> Range<usize> {
        let end = self.sections.get(number + 1).copied().unwrap_or(self.messages.len());
        self.sections[number]..end
    }

    /// The section that a message is in.
    pub(crate) fn section_of(&self, message: usize) -> usize {
        self.sections.partition_point(|it| *it <= message).saturating_sub(1)
    }

    /// The problems about a message, or about none: their numbers.
    pub(crate) fn problems_of(&self, message: Option<usize>) -> Range<usize> {
        let at = |past: Option<usize>| self.problems.partition_point(|it| it.at.message < past);
        match message {
            None => 0..at(Some(0)),
            Some(message) => at(Some(message))..at(Some(message + 1)),
        }
    }

    /// Whether a message is shown.
    pub(crate) fn is_shown(&self, message: usize) -> bool {
        let role = self.messages[message].role.as_str();
        self.options.roles.is_empty() || self.options.roles.iter().any(|it| it == role)
    }

    /// The tokens of all messages before this one, with what a request costs besides.
    fn tokens_before(&self, message: usize) -> u64 {
        let growth = &self.stats.growth;
        message.checked_sub(1).map_or(self.stats.base, |it| growth[it])
    }

    /// The tokens of a message.
    pub(crate) fn tokens(&self, message: usize) -> u64 {
        self.stats.growth[message] - self.tokens_before(message)
    }

    /// What messages come to. Each of the assistant's is paid for with all that is before it.
    pub(crate) fn sum(&self, messages: Range<usize>) -> Sum {
        let asked = messages.clone().filter(|it| self.messages[*it].role == Role::Assistant);
        let cost = self.options.price.map(|price| {
            asked.fold(0.0, |sum, it| sum + price.of(self.tokens_before(it), self.tokens(it)))
        });
        let tokens = messages.clone().map(|it| self.tokens(it)).sum();
        Sum { messages: messages.len(), tokens, cost }
    }
}

/// 0, and each message at which something begins.
fn starts(messages: &[Message], begins: impl Fn(&Message, &Message) -> bool) -> Vec<usize> {
    let later = messages.windows(2).enumerate().filter(|it| begins(&it.1[0], &it.1[1]));
    std::iter::once(0).chain(later.map(|it| it.0 + 1)).collect()
}

/// What a user says begins a section, unless it goes on with the beginning of one.
fn begins_a_section(before: &Message, message: &Message) -> bool {
    let is_head = |it: &Message| matches!(it.role, Role::System | Role::Developer | Role::User);
    is_head(message) && !has_results(message) && (!is_head(before) || has_results(before))
}

/// The first message of each page: results stay on the page of their calls.
fn first_messages(messages: &[Message], size: usize) -> Vec<usize> {
    let mut res = vec![0];
    let mut first = 0;
    for (number, message) in messages.iter().enumerate() {
        if number - first >= size && !has_results(message) {
            res.push(number);
            first = number;
        }
    }
    res
}

/// Whether results of tools are in the message.
pub(crate) fn has_results(message: &Message) -> bool {
    message.role == Role::Tool || message.parts.iter().any(|it| matches!(it, Part::ToolResult(_)))
}

/// `page.html` as `page-2.html`.
fn neighbour(name: &str, number: usize) -> String {
    match name.rsplit_once('.').filter(|it| !it.0.is_empty()) {
        Some((stem, ending)) => format!("{stem}-{number}.{ending}"),
        None => format!("{name}-{number}"),
    }
}

/// A file's name as a relative address.
fn address(name: &str) -> String {
    let mut res = "./".to_owned();
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => res.push(byte.into()),
            byte => res.push_str(&format!("%{byte:02X}")),
        }
    }
    res
}

// A conversation on one page, in memory.

/// Appends a conversation as one page; of `options` the size of a page does not count. [`Pages`] makes several,
/// and hands them on in pieces. `problems` are what is wrong with the messages. Linear in both.
pub fn write(
    messages: &[Message],
    problems: &[Diagnostic],
    options: &ViewOptions,
    out: &mut Vec<u8>,
) {
    let options = ViewOptions { page_size: None, ..options.clone() };
    let written = Pages::new(messages, problems, &options).write(0, |piece| {
        out.extend_from_slice(piece.as_bytes());
        Ok::<(), Infallible>(())
    });
    match written {
        Ok(()) => {}
        Err(never) => match never {},
    }
}
