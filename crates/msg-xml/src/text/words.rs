//! The words that may begin something after a `<` in text, so that all other tags pass at once (XT-42).

use std::borrow::Cow;

use super::foreign;
use crate::input::{Incomplete, Input, MORE, Need, is_name_byte};
use crate::lex::{self, THINK};
use crate::options::{Options, Thinking};

/// The foreign words with the prefix that they may have.
const FOREIGN_PREFIXED: [&str; 7] = [
    "antml:function_calls",
    "antml:function_call",
    "antml:invoke",
    "antml:tool_call",
    "antml:tool_calls",
    "antml:tool_use",
    "antml:function",
];

/// What a word after `<` may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    Nothing,
    Open,
    Close,
    /// `<` and a bar.
    Bar,
}

#[derive(Debug)]
pub(super) struct Words {
    open: Vec<Cow<'static, str>>,
    close: Vec<&'static str>,
    longest: usize,
}

impl Words {
    pub(super) fn new(opts: &Options) -> Self {
        let mut open: Vec<Cow<'static, str>> = vec!["tool".into(), "minimax:tool_call".into()];
        let mut close = vec!["tool"];
        for (word, prefixed) in foreign::WORDS.iter().zip(FOREIGN_PREFIXED) {
            open.extend([Cow::Borrowed(*word), Cow::Borrowed(prefixed)]);
        }
        if opts.thinking != Thinking::Off {
            open.extend(THINK.iter().map(|word| Cow::Borrowed(*word)));
            close.extend(THINK);
        }
        open.extend(opts.dialects.opener_words().map(Cow::Owned));
        if opts.dialects.cline() {
            open.extend(opts.tool_names().map(|name| Cow::Owned(name.to_owned())));
        }
        let longest = open.iter().map(|word| word.len()).max().unwrap_or_default();
        Words { open, close, longest }
    }

    /// Whether a word begins with `text`, and whether one is `text`, case aside.
    fn find(&self, close: bool, text: &str) -> (bool, bool) {
        let first = text.as_bytes().first().map(u8::to_ascii_lowercase);
        let same = |word: &str, n: usize| {
            // Most words differ in their first letter.
            first.is_none_or(|b| {
                word.as_bytes().first().is_some_and(|w| w.to_ascii_lowercase() == b)
            }) && word.as_bytes().get(..n).is_some_and(|w| w.eq_ignore_ascii_case(text.as_bytes()))
        };
        let check = |(prefix, whole): (bool, bool), word: &str| {
            let fits = same(word, text.len());
            (prefix | fits, whole | (fits && word.len() == text.len()))
        };
        match close {
            true => self.close.iter().fold((false, false), |found, word| check(found, word)),
            false => self.open.iter().fold((false, false), |found, word| check(found, word)),
        }
    }

    /// What stands at the `<` at `pos`.
    pub(super) fn at(&self, w: &Input<'_>, pos: usize) -> Result<Known, Incomplete> {
        let Some(next) = w.at(pos + 1) else {
            return if w.eof { Ok(Known::Nothing) } else { Err(MORE) };
        };
        if next == b'|' || next == 0xEF {
            return Ok(Known::Bar);
        }
        let close = next == b'/';
        let from = pos + 1 + usize::from(close);
        let rest = w.str(from, w.end());
        let bytes = rest.as_bytes();
        let n = bytes
            .iter()
            .take(self.longest + 1)
            .position(|&b| b < 0x80 && !is_name_byte(b))
            .unwrap_or(bytes.len().min(self.longest + 1));
        let word = rest.get(..n).unwrap_or_default();
        if word.is_empty() && n > 0 {
            return Ok(Known::Nothing);
        }
        let cut = n == bytes.len() && !w.eof;
        if !cut && lex::same(word, "tool") {
            return Ok(if close { Known::Close } else { Known::Open });
        }
        let (prefix, whole) = self.find(close, word);
        if cut {
            // A word that the window cuts waits while it may become one of ours.
            return if prefix { Err(MORE) } else { Ok(Known::Nothing) };
        }
        Ok(match (whole, close) {
            (false, _) => Known::Nothing,
            (true, true) => Known::Close,
            (true, false) => Known::Open,
        })
    }
}

/// Blanks from `pos` and then `>`: one past it. `None` for anything else.
pub(super) fn bare_end(w: &Input<'_>, pos: usize) -> Result<Option<usize>, Incomplete> {
    match w.after_blanks(pos) {
        Ok((p, Some(b'>'))) => Ok(Some(p + 1)),
        Ok(_) => Ok(None),
        Err(_) => Err(Incomplete::on(Need::NonBlank)),
    }
}
