//! What surrounds the object and its tokens: white space, comments, fences, special tokens,
//! the same object once more.

use super::{Edit, Relaxed, bare::ident_len};
use crate::error::{JsonError, Problem};

/// Special tokens are short; what is longer is text.
const TOKEN_LEN: usize = 64;
/// Names that come before arguments.
const PREFIXES: [&str; 6] = ["json", "arguments", "args", "parameters", "input", "tool_input"];

impl Relaxed<'_> {
    /// White space and comments.
    pub(super) fn blanks(&mut self) -> Result<(), JsonError> {
        loop {
            match &self.bytes[self.at..] {
                [b' ' | b'\n' | b'\r' | b'\t', ..] => self.at += 1,
                [b'/', b'*', rest @ ..] => {
                    let len = memchr::memmem::find(rest, b"*/");
                    let Some(len) = len else { return Err(self.end("the end of a comment")) };
                    self.comment(len + 4);
                }
                [b'/', b'/', rest @ ..] | [b'#', rest @ ..] => {
                    let line = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
                    self.comment(self.bytes.len() - self.at - rest.len() + line);
                }
                [0x0b | 0x0c | 0xc2 | 0xe1..=0xef, ..] => {
                    let Some(it) = self.text[self.at..].chars().next().filter(|it| is_space(*it))
                    else {
                        return Ok(());
                    };
                    self.edits.add(Edit::WhiteSpace);
                    self.at += it.len_utf8();
                }
                _ => return Ok(()),
            }
        }
    }

    fn comment(&mut self, len: usize) {
        self.edits.add(Edit::Comment);
        self.at += len;
    }

    /// What comes before the object; says whether it is the argument of a call.
    pub(super) fn before(&mut self) -> Result<bool, JsonError> {
        loop {
            self.blanks()?;
            if self.token() {
                continue;
            }
            let rest = &self.bytes[self.at..];
            let len = ident_len(rest);
            if len == 0 || rest[0].is_ascii_digit() {
                return Ok(false);
            }
            let name = self.text[self.at..self.at + len].to_ascii_lowercase();
            let name_end = self.at + len;
            match rest.get(len) {
                Some(b'(') => self.at = name_end + 1,
                _ if PREFIXES.contains(&name.as_str()) => self.at = name_end,
                _ => return Err(self.unexpected("an object")),
            }
            self.edits.add(Edit::Prefix);
            self.blanks()?;
            if rest.get(len) == Some(&b'(') {
                return Ok(true);
            }
            self.at += usize::from(matches!(self.peek(), Some(b':' | b'=')));
        }
    }

    /// What comes after the object.
    pub(super) fn after(&mut self, in_call: bool) -> Result<(), JsonError> {
        let mut in_call = in_call;
        let mut is_over = false;
        loop {
            self.blanks()?;
            match self.peek() {
                None => return Ok(()),
                Some(b'{') if !is_over => {
                    self.once_more()?;
                    continue;
                }
                _ if self.token() => {}
                Some(b')') if in_call => {
                    in_call = false;
                    self.at += 1;
                    continue;
                }
                Some(b',' | b';') if !is_over => {
                    self.edits.add(Edit::Comma);
                    self.at += 1;
                }
                Some(b'}' | b']') => {
                    self.edits.add(Edit::ExtraClose);
                    self.at += 1;
                }
                Some(_) => return Err(JsonError::new(self.at, Problem::Trailing)),
            }
            is_over = true;
        }
    }

    /// The same object again, or one after an empty one. One that is cut off is another.
    fn once_more(&mut self) -> Result<(), JsonError> {
        let (start, place) = (self.out.len(), self.at);
        self.object().map_err(|_| JsonError::new(place, Problem::Trailing))?;
        let (before, again) = self.out.split_at(start);
        if before == "{}" {
            self.out.replace_range(..start, "");
        } else if before == again {
            self.out.truncate(start);
        } else {
            return Err(JsonError::new(place, Problem::Trailing));
        }
        self.edits.add(Edit::Repeated);
        Ok(())
    }

    /// Passes over the fence or the special token at this place, if there is one.
    fn token(&mut self) -> bool {
        let rest = &self.text[self.at..];
        if let Some(fence) = rest.strip_prefix("```") {
            let language = fence.bytes().take_while(u8::is_ascii_alphanumeric).count();
            self.edits.add(Edit::Fence);
            self.at += 3 + language;
            return true;
        }
        let Some(len) = token_len(rest) else { return false };
        self.edits.add(Edit::Token);
        self.at += len;
        true
    }
}

/// The length of the special token or tag at the beginning.
fn token_len(text: &str) -> Option<usize> {
    for (open, close) in [("<|", "|>"), ("<｜", "｜>")] {
        if let Some(inside) = text.strip_prefix(open) {
            let near = inside.char_indices().nth(TOKEN_LEN).map_or(inside.len(), |it| it.0);
            let len = inside[..near].find(close)?;
            return (!inside[..len].contains('\n')).then_some(open.len() + len + close.len());
        }
    }
    let (open, close) = match text.as_bytes().first()? {
        b'<' => ('<', b'>'),
        b'[' => ('[', b']'),
        _ => return None,
    };
    let inside = &text.as_bytes()[1..];
    let slash = usize::from(inside.first() == Some(&b'/'));
    let name = &inside[slash..];
    let len = ident_len(&name[..name.len().min(TOKEN_LEN)]);
    let is_name = len > 0
        && !name[0].is_ascii_digit()
        && (open == '<' || name[..len].iter().all(|it| it.is_ascii_uppercase() || *it == b'_'));
    (is_name && name.get(len) == Some(&close)).then_some(1 + slash + len + 1)
}

fn is_space(it: char) -> bool {
    it.is_whitespace()
        || matches!(it, '\u{200b}' | '\u{200c}' | '\u{2060}' | '\u{feff}' | '\u{180e}')
}
