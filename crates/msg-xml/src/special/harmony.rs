//! The headers of harmony, in which gpt-oss writes (XT-48): each message names its channel, and a call its recipient.
//!
//! ```text
//! <|start|>assistant<|channel|>commentary to=functions.ls <|constrain|>json<|message|>{"path":"."}<|call|>
//! role               channel   recipient               type
//! ```

use super::token;
use crate::input::{Incomplete, Input, MORE, Need};

/// What a message is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Message<'a> {
    /// To the user: the channel is `final`, or `commentary` without a recipient.
    Text,
    /// The channel is `analysis`.
    Thinking,
    /// A call of this tool.
    Call(&'a str),
}

/// A header, and one past its `<|message|>`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Header<'a> {
    pub(crate) message: Message<'a>,
    pub(crate) end: usize,
}

/// A longer header is text.
const HEADER_MAX: usize = 512;

/// The header of a message of the assistant at `p`, where a `<` is.
pub(crate) fn header<'a>(w: &Input<'a>, p: usize) -> Result<Option<Header<'a>>, Incomplete> {
    let Some(mut end) = token(w, p, &["<|start|>", "<|channel|>"])? else { return Ok(None) };
    let mut part = if w.str(p, end) == "<|start|>" { Part::Role } else { Part::Channel };
    let (mut channel, mut to) = ("", None);
    loop {
        let Some(next) = next_token(w, p, end)? else { return Ok(None) };
        let mut words = w.str(end, next).split([' ', '\t']).filter(|it| !it.is_empty());
        let first = words.clone().next().filter(|it| !it.starts_with("to="));
        match (part, first) {
            (Part::Role, Some("assistant")) => {}
            (Part::Role, _) => return Ok(None),
            (Part::Channel, Some(name)) => channel = name,
            (Part::Channel | Part::Type, _) => {}
        }
        to = to.or_else(|| words.find_map(|it| it.strip_prefix("to=")));
        let known = ["<|message|>", "<|channel|>", "<|constrain|>"];
        let Some(after) = token(w, next, &known)? else { return Ok(None) };
        part = match w.str(next, after) {
            "<|channel|>" => Part::Channel,
            "<|constrain|>" => Part::Type,
            _ => {
                let message = message(channel, to);
                return Ok(Some(Header { message, end: after }));
            }
        };
        end = after;
    }
}

/// A part of a header.
#[derive(Clone, Copy)]
enum Part {
    Role,
    Channel,
    Type,
}

/// The next `<` from `from` on of the header that begins at `p`; it is on the same line.
fn next_token(w: &Input<'_>, p: usize, from: usize) -> Result<Option<usize>, Incomplete> {
    let limit = p + HEADER_MAX;
    match memchr::memchr3(b'<', b'\n', b'\r', w.from(from)).map(|i| from + i) {
        Some(at) => Ok((at < limit && w.at(at) == Some(b'<')).then_some(at)),
        None if w.eof || w.end() >= limit => Ok(None),
        None => Err(Incomplete { need: Need::In(b"<\n\r"), ..MORE.by(limit) }),
    }
}

fn message<'a>(channel: &str, to: Option<&'a str>) -> Message<'a> {
    match to {
        Some(to) if !matches!(to, "assistant" | "user" | "all") => {
            Message::Call(to.strip_prefix("functions.").unwrap_or(to))
        }
        _ if channel == "analysis" => Message::Thinking,
        _ => Message::Text,
    }
}
