//! Markdown of a conversation as HTML that does nothing.
//!
//! ```text
//! **a** <b onclick=x>    <strong>a</strong> &lt;b onclick=x&gt;      HTML is shown as text
//! [a](https://b)         a link that does not say where it comes from
//! [a](javascript:b)      a, with its address as text
//! ![a](https://b)        a, with its address as text: nothing is loaded
//! ```
//!
//! Line breaks are kept, as in the chats where such text is written. Reading and writing are
//! `pulldown_cmark`'s; what is let through is decided here.

use std::borrow::Cow;
use std::ops::Range;

use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html};

/// Longer texts are not prose; they are shown as they are.
pub(crate) const LONGEST: usize = 1 << 20;
/// A longer line after `#` is not a heading but a comment of some program.
const LONGEST_HEADING: usize = 160;
/// Quotes and lists within each other are drawn so deep; what is deeper is on the deepest.
const DEEPEST: usize = 32;

/// Appends the text as HTML. Linear in it.
pub(crate) fn markdown(text: &str, res: &mut String) {
    let text: Cow<'_, str> = match text.contains(is_no_text) {
        true => text.replace(is_no_text, "\u{fffd}").into(),
        false => text.into(),
    };
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut inert = Inert { text: &text, is_link: false, depth: 0 };
    let events = Parser::new_ext(&text, options).into_offset_iter();
    html::push_html(res, events.filter_map(|(event, at)| inert.event(event, at)));
}

/// Lets events through that cannot do anything.
struct Inert<'t> {
    text: &'t str,
    /// Whether the open link leads anywhere; links are not in each other.
    is_link: bool,
    depth: usize,
}

impl Inert<'_> {
    fn event<'a>(&mut self, event: Event<'a>, at: Range<usize>) -> Option<Event<'a>> {
        Some(match event {
            Event::Start(tag) => return self.start(tag, at),
            Event::End(tag) => return self.end(tag, at),
            Event::Html(it) | Event::InlineHtml(it) => Event::Text(it),
            Event::SoftBreak => Event::HardBreak,
            event => event,
        })
    }

    fn start<'a>(&mut self, tag: Tag<'a>, at: Range<usize>) -> Option<Event<'a>> {
        Some(match tag {
            Tag::HtmlBlock => markup("<p class=\"html\">"),
            Tag::Heading { .. } if at.len() > LONGEST_HEADING => {
                let line = &self.text[at];
                markup(format!("<p>{} ", &line[..line.len() - line.trim_start_matches('#').len()]))
            }
            Tag::Link { dest_url, .. } => {
                self.is_link = is_address(&dest_url);
                link(&dest_url, self.is_link)
            }
            Tag::Image { dest_url, .. } => {
                markup(format!("<span class=\"about\">image <bdi>{}</bdi> ", escape(&dest_url)))
            }
            Tag::BlockQuote(_) | Tag::List(_) | Tag::Item => {
                self.depth += 1;
                return (self.depth <= DEEPEST).then_some(Event::Start(tag));
            }
            tag => Event::Start(tag),
        })
    }

    fn end<'a>(&mut self, tag: TagEnd, at: Range<usize>) -> Option<Event<'a>> {
        Some(match tag {
            TagEnd::HtmlBlock => markup("</p>\n"),
            TagEnd::Heading(_) if at.len() > LONGEST_HEADING => markup("</p>\n"),
            TagEnd::Link => markup(if self.is_link { "</a>" } else { "</span>" }),
            TagEnd::Image => markup("</span>"),
            TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::Item => {
                self.depth = self.depth.saturating_sub(1);
                return (self.depth < DEEPEST).then_some(Event::End(tag));
            }
            tag => Event::End(tag),
        })
    }
}

fn markup<'a>(html: impl Into<CowStr<'a>>) -> Event<'a> {
    Event::InlineHtml(html.into())
}

fn link<'a>(address: &str, is_link: bool) -> Event<'a> {
    let address = escape(address);
    markup(match is_link {
        true => format!(
            "<a href=\"{address}\" title=\"{address}\" rel=\"noopener noreferrer nofollow\">"
        ),
        false => format!("<span class=\"about\" title=\"{address}\">"),
    })
}

/// Whether a link may lead there: a page or a letter, and no program.
fn is_address(url: &str) -> bool {
    let starts = |with: &str| url.get(..with.len()).is_some_and(|it| it.eq_ignore_ascii_case(with));
    ["https://", "http://", "mailto:"].into_iter().any(starts)
}

// Text as HTML: everything is escaped, and JSON is laid out.

/// Text that is markup nowhere, neither between tags nor in a quoted attribute.
pub(crate) fn escape(text: &str) -> String {
    let mut res = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => res.push_str("&amp;"),
            '<' => res.push_str("&lt;"),
            '>' => res.push_str("&gt;"),
            '"' => res.push_str("&quot;"),
            '\'' => res.push_str("&#39;"),
            c if is_no_text(c) => res.push('\u{fffd}'),
            c => res.push(c),
        }
    }
    res
}

/// Whether HTML has no place for this character, escaped or not.
pub(crate) fn is_no_text(c: char) -> bool {
    matches!(c, '\0'..='\x08' | '\x0b' | '\x0c' | '\x0e'..='\x1f' | '\x7f')
}

/// `12345` as `12,345`.
pub(crate) fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut res = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            res.push(',');
        }
        res.push(digit);
    }
    res
}

/// `1 message`, `2 messages`.
pub(crate) fn plural(n: usize, word: &str) -> String {
    if n == 1 { format!("1 {word}") } else { format!("{n} {word}s") }
}

/// Valid JSON with one member a line, spelling unchanged.
pub(crate) fn indent(text: &str) -> String {
    let laid_out = String::from_utf8(msg_document::pretty(text.as_bytes()));
    laid_out.map_or_else(|_| text.to_owned(), |it| it.trim_end().to_owned())
}
