//! Openers of tool call syntaxes that are not read (XT-11): markup words, tokens between bars, `[TOOL_CALLS]`.
//! It only recognises them, once a message; they stay text.
//!
//! ```text
//! <|python_tag|>{"name":"ls"}          Llama
//! [TOOL_CALLS][{"name":"ls"}]          Mistral
//! <|tool_call_begin|>functions.ls:0    Kimi
//! <｜tool▁call▁begin｜>function          DeepSeek
//! <|channel|>commentary to=functions.ls <|message|>{}<|call|>    Harmony
//! ```

use super::Machine;
use crate::block::opener::OPENER_MAX;
use crate::code::Code;
use crate::input::{Incomplete, Input, MORE, is_blank};

/// The openers that are plain words.
pub(crate) const WORDS: [&str; 7] = [
    "function_calls",
    "function_call",
    "invoke",
    "tool_call",
    "tool_calls",
    "tool_use",
    "function",
];

/// Tokens that are only where a call begins, or in one.
const TOKENS: [&str; 16] = [
    "<|python_tag|>",
    "<|tool_calls_section_begin|>",
    "<|tool_call_begin|>",
    "<|tool_calls|>",
    "<|tool_call|>",
    "<|constrain|>",
    "<|call|>",
    "<｜tool▁calls▁begin｜>",
    "<｜tool▁call▁begin｜>",
    "<｜tool_calls_begin｜>",
    "<｜tool_call_begin｜>",
    "<|tool▁calls▁begin|>",
    "<｜DSML｜",
    "<｜｜DSML｜",
    "<|DSML|",
    "<||DSML|",
];

/// Tokens of Harmony after which a header may name a tool.
const HEADERS: [&str; 2] = ["<|channel|>", "<|start|>"];
/// How long such a header may be.
const HEADER_MAX: usize = 256;
/// Mistral's token.
const LIST: &str = "[TOOL_CALLS]";

impl Machine {
    /// Reports the first foreign opener of the message, if one is at the `<` at `p`.
    pub(crate) fn foreign_at(&mut self, w: &Input<'_>, p: usize) -> Result<(), Incomplete> {
        if !self.message.foreign
            && let Some(end) = foreign(w, p)?
        {
            self.message.foreign = true;
            self.report(Code::ForeignToolSyntax, p, end);
        }
        Ok(())
    }

    /// The same for the `[` that begins a line at `p`; whether there is one.
    pub(crate) fn foreign_list(&mut self, w: &Input<'_>, p: usize) -> Result<bool, Incomplete> {
        let end = p + LIST.len();
        // In lower case it is a table of TOML.
        let found = w.word(p, LIST)? && w.str(p, end) == LIST;
        if found && !self.message.foreign {
            self.message.foreign = true;
            self.text_upto(p);
            self.report(Code::ForeignToolSyntax, p, end);
        }
        Ok(found)
    }
}

/// An opener of a foreign syntax at `p`; one past what shows it.
fn foreign(w: &Input<'_>, p: usize) -> Result<Option<usize>, Incomplete> {
    if matches!(w.at(p + 1), Some(b'|' | 0xEF)) {
        return token(w, p);
    }
    if w.word(p, "<function=")? {
        return Ok(Some(p + "<function=".len()));
    }
    if w.word(p, "<minimax:tool_call>")? {
        return Ok(Some(p + "<minimax:tool_call>".len()));
    }
    let from = p + 1 + if w.word(p + 1, "antml:")? { "antml:".len() } else { 0 };
    for word in WORDS {
        if w.word(from, word)?
            && let Some(end) = after_word(w, from + word.len())?
        {
            return Ok(Some(end));
        }
    }
    Ok(None)
}

/// One past the tag whose word ends at `after`, if it does end there.
fn after_word(w: &Input<'_>, after: usize) -> Result<Option<usize>, Incomplete> {
    let b = match crate::lex::need(w, after)? {
        Some(b'>') => return Ok(Some(after + 1)),
        Some(b) if b == b'/' || is_blank(b) => b,
        _ => return Ok(None),
    };
    let rest = w.from(after);
    match memchr::memchr2(b'<', b'>', rest) {
        Some(i) if rest[i] == b'>' && (b != b'/' || i == 1) => Ok(Some(after + i + 1)),
        Some(_) => Ok(None),
        None if w.eof || rest.len() > OPENER_MAX => Ok(None),
        None => Err(MORE.by(after + OPENER_MAX + 1)),
    }
}

/// A token between bars at `p`.
fn token(w: &Input<'_>, p: usize) -> Result<Option<usize>, Incomplete> {
    if let Some(token) = w.any_word(p, &HEADERS)? {
        return recipient(w, p + token.len());
    }
    Ok(w.any_word(p, &TOKENS)?.map(|token| p + token.len()))
}

/// One past `to=` in the header that begins at `from` and goes to the next token.
fn recipient(w: &Input<'_>, from: usize) -> Result<Option<usize>, Incomplete> {
    let rest = w.from(from);
    let header = &rest[..rest.len().min(HEADER_MAX)];
    // It does not go beyond its line, so that little is held of a text that is not one.
    let end = memchr::memchr3(b'<', b'\n', b'\r', header);
    let header = &header[..end.unwrap_or(header.len())];
    match memchr::memmem::find(header, b" to=") {
        Some(i) => Ok(Some(from + i + " to=".len())),
        None if end.is_some() || w.eof || rest.len() >= HEADER_MAX => Ok(None),
        None => Err(MORE),
    }
}
