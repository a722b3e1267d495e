//! What stands where: a conversation in sections and pages, with its problems, tokens and cost.
//!
//! ```text
//! messages   system user assistant tool │ user assistant │ user …
//! sections   0─────────────────────────── 1────────────── 2      a user's message begins one
//! pages      a.html─────────────────────────────────────── a-2.html
//! ```
//!
//! The chain need not be valid: a page shows what is wrong with it too. Draws nothing.

use std::ops::Range;
use std::path::{Path, PathBuf};

use msg_core::{Diagnostic, Message, Part, Role};
use msg_document::Stats;

use super::price::Price;

/// What is to be shown, and how.
pub(super) struct Show {
    /// The roles that are shown; all, if none is named.
    pub(super) roles: Vec<String>,
    /// Whether texts are shown as they are.
    pub(super) is_raw: bool,
    /// How many messages are on a page, about.
    pub(super) page_size: usize,
    pub(super) stats: Stats,
    pub(super) price: Option<Price>,
}

/// A conversation that is to be shown.
pub(super) struct Book<'a> {
    pub(super) title: &'a str,
    pub(super) messages: &'a [Message],
    /// By message, those about none first.
    pub(super) problems: Vec<&'a Diagnostic>,
    pub(super) show: Show,
    /// The first message of each section.
    sections: Vec<usize>,
    /// The first message of each page.
    pages: Vec<usize>,
    path: Option<PathBuf>,
}

/// What messages come to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Sum {
    pub(super) messages: usize,
    pub(super) tokens: u64,
    pub(super) cost: Option<f64>,
}

impl<'a> Book<'a> {
    /// Finds sections and pages. Linear in the messages, and n log n in the problems.
    pub(super) fn new(
        title: &'a str,
        messages: &'a [Message],
        problems: &'a [Diagnostic],
        show: Show,
        path: Option<PathBuf>,
    ) -> Self {
        let mut problems: Vec<_> = problems.iter().collect();
        problems.sort_by_key(|it| it.at.message.map_or(0, |it| it + 1));
        let sections = starts(messages, begins_a_section);
        let pages = pages(messages, show.page_size);
        Book { title, messages, problems, show, sections, pages, path }
    }

    pub(super) fn n_pages(&self) -> usize {
        self.pages.len()
    }

    /// The messages of a page.
    pub(super) fn page(&self, number: usize) -> Range<usize> {
        self.pages[number]..self.pages.get(number + 1).copied().unwrap_or(self.messages.len())
    }

    /// The file of a page; none if it goes to standard output.
    pub(super) fn path(&self, number: usize) -> Option<PathBuf> {
        let path = self.path.as_deref()?;
        Some(match number {
            0 => path.to_owned(),
            number => path.with_file_name(neighbour(path, number + 1)),
        })
    }

    /// The address of a page, as seen from its neighbours.
    pub(super) fn address(&self, number: usize) -> String {
        let path = self.path(number);
        let name = path.as_deref().and_then(Path::file_name);
        name.map_or_else(String::new, |it| address(&it.to_string_lossy()))
    }

    /// The page that a message is on.
    pub(super) fn page_of(&self, message: usize) -> usize {
        self.pages.partition_point(|it| *it <= message).saturating_sub(1)
    }

    /// The sections that begin among these messages: their numbers.
    pub(super) fn sections_in(&self, messages: &Range<usize>) -> Range<usize> {
        let at = |message: usize| self.sections.partition_point(|it| *it < message);
        at(messages.start)..at(messages.end)
    }

    /// The messages of a section.
    pub(super) fn section(&self, number: usize) -> Range<usize> {
        let end = self.sections.get(number + 1).copied().unwrap_or(self.messages.len());
        self.sections[number]..end
    }

    /// The section that a message is in.
    pub(super) fn section_of(&self, message: usize) -> usize {
        self.sections.partition_point(|it| *it <= message).saturating_sub(1)
    }

    /// The problems about a message, or about none: their numbers.
    pub(super) fn problems_of(&self, message: Option<usize>) -> Range<usize> {
        let at = |past: Option<usize>| self.problems.partition_point(|it| it.at.message < past);
        match message {
            None => 0..at(Some(0)),
            Some(message) => at(Some(message))..at(Some(message + 1)),
        }
    }

    /// Whether a message is shown.
    pub(super) fn is_shown(&self, message: usize) -> bool {
        let role = self.messages[message].role.as_str();
        self.show.roles.is_empty() || self.show.roles.iter().any(|it| it == role)
    }

    /// The tokens of all messages before this one, with what a request costs besides.
    fn tokens_before(&self, message: usize) -> u64 {
        let growth = &self.show.stats.growth;
        message.checked_sub(1).map_or(self.show.stats.base, |it| growth[it])
    }

    /// The tokens of a message.
    pub(super) fn tokens(&self, message: usize) -> u64 {
        self.show.stats.growth[message] - self.tokens_before(message)
    }

    /// What messages come to. Each of the assistant's is paid for with all that stands before it.
    pub(super) fn sum(&self, messages: Range<usize>) -> Sum {
        let asked = messages.clone().filter(|it| self.messages[*it].role == Role::Assistant);
        let cost = self.show.price.map(|price| {
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
fn pages(messages: &[Message], size: usize) -> Vec<usize> {
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
pub(super) fn has_results(message: &Message) -> bool {
    message.role == Role::Tool || message.parts.iter().any(|it| matches!(it, Part::ToolResult(_)))
}

/// `page.html` as `page-2.html`.
fn neighbour(path: &Path, number: usize) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
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

#[cfg(test)]
mod tests {
    use super::*;
    use msg_core::ToolResult;

    fn chain() -> Vec<Message> {
        let result =
            || Message::new(Role::Tool).with_part(Part::ToolResult(ToolResult::new("c", "d")));
        vec![
            Message::system("s"),
            Message::user("a"),
            Message::assistant("b"),
            result(),
            result(),
            Message::user("e"),
            Message::user("f"),
            Message::assistant("g"),
        ]
    }

    #[test]
    fn a_users_message_begins_a_section() {
        assert_eq!(starts(&chain(), begins_a_section), [0, 5]);
        assert_eq!(starts(&[], begins_a_section), [0]);
    }

    #[test]
    fn results_stay_on_the_page_of_their_calls() {
        assert_eq!(pages(&chain(), 3), [0, 5]);
        assert_eq!(pages(&chain(), 1), [0, 1, 2, 5, 6, 7]);
        assert_eq!(pages(&chain(), usize::MAX), [0]);
    }

    #[test]
    fn a_page_is_called_after_the_first() {
        assert_eq!(neighbour(Path::new("x/a.b.html"), 2), "a.b-2.html");
        assert_eq!(neighbour(Path::new("x/page"), 2), "page-2");
        assert_eq!(address("a b\"#.html"), "./a%20b%22%23.html");
    }
}
