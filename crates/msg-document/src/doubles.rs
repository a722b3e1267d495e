//! Members that come more than once in an object, and halves of surrogate pairs, of the formats whose readers take the
//! last one, or U+FFFD, and say nothing: the stores of agents and frameworks.
//!
//! ```text
//! {"type":"human","data":{"content":"a","content":"b"}}
//!                         -----------^ "a" is not read: message::duplicate-member at line 1, column 39
//! ```

use std::borrow::Cow;
use std::collections::HashSet;

use msg_core::{Code, Diagnostic};
use msg_json::{Token, tokens, unescape};

/// So many are said; the rest of a file that is full of them says nothing new.
const MAX: usize = 32;

/// An object with more members looks names up in a set.
const FEW: usize = 16;

/// The names of an object so far.
#[derive(Default)]
struct Names<'t> {
    few: Vec<Cow<'t, str>>,
    many: HashSet<Cow<'t, str>>,
}

impl<'t> Names<'t> {
    /// Whether the name is a new one.
    fn add(&mut self, name: Cow<'t, str>) -> bool {
        if self.few.len() < FEW {
            let is_new = !self.few.contains(&name);
            self.few.push(name);
            return is_new;
        }
        !self.few.contains(&name) && self.many.insert(name)
    }
}

/// A warning for each member that another of its object replaces, and for each text with half a surrogate pair, of one
/// JSON text or of a line each. `noted` levels of objects are those of which a reader says it. Linear.
pub(crate) fn doubles(text: &str, noted: usize) -> Vec<Diagnostic> {
    let mut res = Vec::new();
    let is_one = msg_json::validate(text).is_ok();
    let mut number = 0;
    for piece in text.split_inclusive(|it| it == '\n' && !is_one) {
        number += 1;
        of_value(piece, (number, noted), &mut res);
        if res.len() >= MAX {
            break;
        }
    }
    res
}

/// Those of one value, whose text begins at a line.
fn of_value(text: &str, (line, noted): (usize, usize), res: &mut Vec<Diagnostic>) {
    let mut open: Vec<Option<Names<'_>>> = Vec::new();
    let mut tokens = tokens(text);
    while let Some(token) = tokens.next_token() {
        match token {
            Token::Mark(b'{') => open.push(Some(Names::default())),
            Token::Mark(b'[') => open.push(None),
            Token::Mark(b'}' | b']') => drop(open.pop()),
            Token::Name(quoted) => {
                let name = unescape(inner(quoted)).text;
                let Some(Some(names)) = open.last_mut() else { continue };
                if !names.add(name.clone()) && open.len() > noted && res.len() < MAX {
                    let said = format!("duplicate member `{name}`, readers take the last value");
                    let code = Code::new("message::duplicate-member");
                    res.push(at(Diagnostic::warning(code, said), before(text, quoted), line));
                }
            }
            Token::Text(quoted) => {
                let may_be = memchr::memmem::find(quoted.as_bytes(), b"\\u").is_some();
                if may_be && unescape(inner(quoted)).lone_surrogate && res.len() < MAX {
                    let said = "half a surrogate pair is read as U+FFFD";
                    let code = Code::new("message::lone-surrogate");
                    res.push(at(Diagnostic::warning(code, said), before(text, quoted), line));
                }
            }
            Token::Mark(_) | Token::Scalar(_) => {}
        }
    }
}

/// What is between the quotes of a string; one that is cut off has no second one.
fn inner(quoted: &str) -> &str {
    quoted[1..].strip_suffix('"').unwrap_or(&quoted[1..])
}

/// The text before a piece of it.
fn before<'t>(text: &'t str, piece: &str) -> &'t str {
    &text[..piece.as_ptr() as usize - text.as_ptr() as usize]
}

/// A finding at the end of a text that begins at a line.
fn at(it: Diagnostic, before: &str, first_line: usize) -> Diagnostic {
    let line = first_line + before.bytes().filter(|it| *it == b'\n').count();
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    it.at_line(line, column)
}

#[cfg(test)]
mod tests {
    use super::doubles;

    fn shown(text: &str) -> Vec<String> {
        let place =
            |it: &msg_core::Diagnostic| (it.at.line.unwrap_or(0), it.at.column.unwrap_or(0));
        doubles(text, 0).iter().map(|it| format!("{:?} {}", place(it), it.message())).collect()
    }

    #[test]
    fn of_one_value_and_of_lines() {
        let said = "duplicate member `a`, readers take the last value";
        assert_eq!(shown("{\"a\":1,\n \"\\u0061\":[{\"a\":3}]}"), [format!("(2, 2) {said}")]);
        assert_eq!(shown("{\"a\":1}\n{\"a\":1,\"a\":2}\n{\"a"), [format!("(2, 8) {said}")]);
        assert!(shown("[{\"a\":\"a\"},{\"a\":1}]").is_empty());
        assert_eq!(
            shown(r#"["\ud83e\udd80","\ud83e"]"#),
            ["(1, 17) half a surrogate pair is read as U+FFFD"]
        );
    }

    #[test]
    fn many_names_are_looked_up() {
        let members: Vec<_> = (0..100).map(|it| format!("\"m{}\":0", it % 99)).collect();
        assert_eq!(shown(&format!("{{{}}}", members.join(","))).len(), 1);
    }
}
