//! The words that may begin something after a `<` in text, so that all other tags pass at once (XT-42).

use std::collections::HashSet;

use crate::lex::THINK;
use crate::options::{Options, Thinking};
use crate::window::{MORE, Wait, Wake, Win, is_name_byte};

/// The foreign openers of XT-11 that are plain words.
pub(super) const FOREIGN: [&str; 7] = [
    "function_calls",
    "function_call",
    "invoke",
    "tool_call",
    "tool_calls",
    "tool_use",
    "function",
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
    open: HashSet<String>,
    close: HashSet<String>,
    /// All beginnings of the words, to decide about a word that the window cuts.
    prefixes: HashSet<String>,
    close_prefixes: HashSet<String>,
    longest: usize,
}

impl Words {
    pub(super) fn new(opts: &Options) -> Self {
        let mut open: HashSet<String> = HashSet::new();
        let mut close: HashSet<String> = HashSet::from(["tool".to_owned()]);
        open.insert("tool".to_owned());
        open.insert("minimax:tool_call".to_owned());
        for word in FOREIGN {
            open.insert(word.to_owned());
            open.insert(format!("antml:{word}"));
        }
        if opts.thinking != Thinking::Off {
            open.extend(THINK.iter().map(|w| w.to_ascii_lowercase()));
            close.extend(THINK.iter().map(|w| w.to_ascii_lowercase()));
        }
        open.extend(opts.dialects.opener_words().map(|w| w.to_ascii_lowercase()));
        if opts.dialects.cline() {
            open.extend(opts.tool_names().map(str::to_ascii_lowercase));
        }
        let longest = open.iter().map(String::len).max().unwrap_or_default();
        let beginnings = |words: &HashSet<String>| {
            words
                .iter()
                .flat_map(|w| w.char_indices().map(|(i, _)| w[..i].to_owned()).chain([w.clone()]))
                .collect()
        };
        Words {
            prefixes: beginnings(&open),
            close_prefixes: beginnings(&close),
            open,
            close,
            longest,
        }
    }

    /// What stands at the `<` at `pos`.
    pub(super) fn at(&self, w: &Win<'_>, pos: usize) -> Result<Known, Wait> {
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
        let (words, prefixes) =
            if close { (&self.close, &self.close_prefixes) } else { (&self.open, &self.prefixes) };
        let word = rest.get(..n).unwrap_or_default().to_ascii_lowercase();
        if word.is_empty() && n > 0 {
            return Ok(Known::Nothing);
        }
        if n == bytes.len() && !w.eof {
            if close && n == 0 || prefixes.contains(&word) {
                return Err(MORE);
            }
            // `<x:tool` may have to grow; nothing known has another prefix.
            return Ok(Known::Nothing);
        }
        Ok(match words.contains(&word) {
            false => Known::Nothing,
            true if close => Known::Close,
            true => Known::Open,
        })
    }
}

/// Blanks from `pos` and then `>`: one past it. `None` for anything else.
pub(super) fn bare_end(w: &Win<'_>, pos: usize) -> Result<Option<usize>, Wait> {
    match w.after_blanks(pos) {
        Ok((p, Some(b'>'))) => Ok(Some(p + 1)),
        Ok(_) => Ok(None),
        Err(_) => Err(Wait::on(Wake::NonBlank)),
    }
}
