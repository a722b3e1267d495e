//! What has no quotes in nearly JSON: keys, words, numbers, and text.

use super::{Edit, Ending, Relaxed};
use crate::error::JsonError;

/// The length of the name at the beginning, as programming languages have names.
pub(super) fn ident_len(bytes: &[u8]) -> usize {
    let is_name = |it: &u8| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'$' | b'-' | b'.');
    match bytes.first() {
        Some(it) if it.is_ascii_alphabetic() || matches!(it, b'_' | b'$') => {
            bytes.iter().take_while(|it| is_name(it)).count()
        }
        _ => bytes.iter().take_while(|it| it.is_ascii_digit()).count(),
    }
}

impl Relaxed<'_> {
    pub(super) fn bare_key(&mut self) -> Result<(), JsonError> {
        let len = ident_len(&self.bytes[self.at..]);
        if len == 0 {
            return Err(self.unexpected("a member name"));
        }
        self.edits.add(Edit::Keys);
        self.out.push('"');
        self.out.push_str(&self.text[self.at..self.at + len]);
        self.out.push('"');
        self.at += len;
        Ok(())
    }

    /// A word, a number, or text without quotes.
    pub(super) fn bare(&mut self) -> Result<(), JsonError> {
        let end = self.bare_end();
        let text = self.text[self.at..end].trim();
        let is_cut = end == self.bytes.len();
        if is_cut && self.ending == Ending::Whole {
            return Err(self.end("the rest of a value"));
        }
        match self.meaning(text, is_cut) {
            Meaning::Same => self.out.push_str(text),
            Meaning::Word(word) => {
                self.edits.add(Edit::Word);
                self.out.push_str(word);
            }
            Meaning::Number(number) => {
                self.edits.add(Edit::Number);
                self.out.push_str(&number);
            }
            Meaning::Text if self.is_followed_by_value(end) => {
                return Err(self.unexpected("a value"));
            }
            Meaning::Text => {
                self.edits.add(Edit::BareText);
                self.out.push('"');
                self.push_escaped(text);
                self.out.push('"');
            }
            Meaning::Cut => return Err(self.end("the rest of a value")),
            Meaning::None => return Err(self.unexpected("a value")),
        }
        self.pending = None;
        self.at = end;
        if is_cut { Err(self.end("the end of an object")) } else { Ok(()) }
    }

    /// The next comma, bracket, line end, comment or quote after a blank.
    fn bare_end(&self) -> usize {
        let mut before_is_blank = false;
        for (at, it) in self.bytes.iter().enumerate().skip(self.at) {
            let stops = match it {
                b',' | b'{' | b'}' | b'[' | b']' | b'\n' | b'\r' => true,
                b'"' | b'\'' | b'#' => before_is_blank,
                b'/' => match self.bytes.get(at + 1) {
                    Some(b'*') => true,
                    Some(b'/') => before_is_blank,
                    _ => false,
                },
                _ => false,
            };
            if stops {
                return at;
            }
            before_is_blank = matches!(it, b' ' | b'\t');
        }
        self.bytes.len()
    }

    fn is_followed_by_value(&self, end: usize) -> bool {
        matches!(self.bytes.get(end), Some(b'{' | b'[' | b'"' | b'\''))
    }

    fn meaning(&self, text: &str, is_cut: bool) -> Meaning {
        if is_literal(text) {
            return Meaning::Same;
        }
        let lower = if text.len() <= 12 { text.to_ascii_lowercase() } else { String::new() };
        match lower.as_str() {
            "true" => return Meaning::Word("true"),
            "false" => return Meaning::Word("false"),
            "null" | "none" | "undefined" => return Meaning::Word("null"),
            "" if text.is_empty() => return Meaning::None,
            _ => {}
        }
        let unsigned = lower.trim_start_matches(['+', '-']);
        if matches!(unsigned, "nan" | "inf" | "infinity") {
            return Meaning::None;
        }
        if let Some(number) = number(text) {
            return Meaning::Number(number);
        }
        if is_cut {
            let words = ["true", "false", "null"];
            return match words.into_iter().find(|it| it.starts_with(text)) {
                Some(word) => Meaning::Word(word),
                None if text.starts_with(|it: char| it.is_ascii_digit() || "+-.".contains(it)) => {
                    Meaning::Cut
                }
                None => text_meaning(text),
            };
        }
        text_meaning(text)
    }
}

/// Text without quotes.
enum Meaning {
    /// It is JSON.
    Same,
    Word(&'static str),
    Number(String),
    Text,
    /// Half a number.
    Cut,
    None,
}

fn text_meaning(text: &str) -> Meaning {
    let is_value = |it: &str| is_literal(it) || number(it).is_some();
    let mut words = text.split_whitespace();
    let several_values = words.clone().count() > 1 && words.all(is_value);
    let call = ident_len(text.as_bytes());
    let is_call = call > 0 && text.as_bytes().get(call) == Some(&b'(');
    let is_member =
        text.contains(": ") || text.contains(":\t") || text.ends_with(':') || text.starts_with(':');
    let is_left_out = text.contains("...") || text.contains('…');
    let has_quotes = text.contains(['"', '`', '“', '”', '=']) && !text.contains("://");
    let starts_odd = text.starts_with([')', '(', '\\', '\'', '*', '&', '|', ';']);
    if several_values || is_call || is_member || is_left_out || has_quotes || starts_odd {
        return Meaning::None;
    }
    Meaning::Text
}

fn is_literal(text: &str) -> bool {
    let starts =
        text.starts_with(|it: char| it == '-' || it.is_ascii_digit() || "tfn".contains(it));
    starts && crate::validate(text).is_ok()
}

/// A number as other languages spell it: `+1`, `.5`, `5.`, `1_000`.
fn number(text: &str) -> Option<String> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    if !digits.starts_with(|it: char| it.is_ascii_digit() || it == '.') {
        return None;
    }
    let grouped = digits.contains('_');
    if grouped {
        let groups =
            digits.split('_').all(|it| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit()));
        return groups
            .then(|| format!("{sign}{}", digits.replace('_', "")))
            .filter(|it| is_literal(it));
    }
    let mantissa = digits.find(['e', 'E']).unwrap_or(digits.len());
    let (mantissa, exponent) = digits.split_at(mantissa);
    let before = if mantissa.starts_with('.') { "0" } else { "" };
    let after = if mantissa.ends_with('.') { "0" } else { "" };
    if mantissa == "." {
        return None;
    }
    Some(format!("{sign}{before}{mantissa}{after}{exponent}")).filter(|it| is_literal(it))
}
