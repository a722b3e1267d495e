//! The definition line below a heading: `[^id]: [type] key="value" …` (MF-9).
//!
//! Attributes are only found here, not taken apart: see `attributes`.

use crate::span::Span;
use crate::syntax::line::{is_blank, trim_white, white_len};
use nom::branch::alt;
use nom::bytes::complete::{tag, take_while_m_n, take_while1};
use nom::combinator::verify;
use nom::sequence::{delimited, preceded};
use nom::{IResult, Parser};

/// A line of metadata form. Spans are offsets within the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Definition {
    pub(crate) id: Span,
    /// The type, trimmed, not empty.
    pub(crate) ty: Option<Span>,
    /// Where the attributes begin; they go to the end of the line.
    pub(crate) attrs: usize,
}

/// Whether the bytes are an id (MF-7): text without blanks, controls, white space, brackets and `^`.
pub(crate) fn is_id(bytes: &[u8]) -> bool {
    if bytes.is_ascii() {
        return !bytes.is_empty()
            && bytes.iter().all(|&b| b > b' ' && !matches!(b, 0x7f | b'[' | b']' | b'^'));
    }
    std::str::from_utf8(bytes).is_ok_and(|s| {
        s.chars().all(|c| {
            c > ' ' && c != '\u{7f}' && !matches!(c, '[' | ']' | '^') && !c.is_whitespace()
        })
    })
}

fn reference(i: &[u8]) -> IResult<&[u8], &[u8]> {
    let id = verify(take_while1(|b| b != b']' && b != b'['), is_id);
    preceded(take_while_m_n(0, 3, |b| b == b' '), delimited(tag("[^"), id, tag("]:"))).parse(i)
}

fn bracketed(i: &[u8]) -> IResult<&[u8], &[u8]> {
    delimited(tag("["), take_while1(|b| !matches!(b, b'[' | b']' | b'=')), tag("]")).parse(i)
}

/// A key and its equals sign.
fn assignment(i: &[u8]) -> IResult<&[u8], &[u8]> {
    let (rest, key) = key(i)?;
    let (rest, _) = nom::bytes::complete::take_while(is_blank).parse(rest)?;
    let (rest, _) = tag("=").parse(rest)?;
    Ok((rest, key))
}

/// A run of key characters (MF-11).
pub(super) fn key(i: &[u8]) -> IResult<&[u8], &[u8]> {
    let mut n = 0;
    while n < i.len() && key_byte(&i[n..]) {
        n += 1;
    }
    if n == 0 {
        return Err(nom::Err::Error(nom::error::Error::new(i, nom::error::ErrorKind::TakeWhile1)));
    }
    Ok((&i[n..], &i[..n]))
}

/// Whether a key goes on at the beginning of `text`.
fn key_byte(text: &[u8]) -> bool {
    !matches!(text[0], b'=' | b'[' | b']' | b'"' | b'\'')
        && white_len(text) == 0
        && !text.starts_with("“".as_bytes())
        && !text.starts_with("”".as_bytes())
}

fn skip_white(mut i: &[u8]) -> &[u8] {
    while let n @ 1.. = white_len(i) {
        i = &i[n..];
    }
    i
}

/// Reads a line (without its terminator) of metadata form, or nothing.
pub(crate) fn definition(line: &[u8]) -> Option<Definition> {
    if !matches!(line.first()?, b'[' | b' ') {
        return None;
    }
    let (rest, id) = reference(line).ok()?;
    let id_end = line.len() - rest.len() - 2;
    let id = Span::new(id_end - id.len(), id_end);
    let rest = skip_white(rest);
    let at = line.len() - rest.len();
    if let Some(ty) = type_of(rest) {
        let ty_span = Span::new(at + ty.0.start, at + ty.0.end);
        return Some(Definition { id, ty: Some(ty_span), attrs: at + ty.1 });
    }
    (rest.is_empty() || begins_with_attribute(rest)).then_some(Definition {
        id,
        ty: None,
        attrs: at,
    })
}

/// A type at the beginning, and where what follows it begins: the end, white space or `key=` must follow.
fn type_of(rest: &[u8]) -> Option<(Span, usize)> {
    let (after, inner) = bracketed(rest).ok()?;
    let name = trim_white(inner);
    let follows = after.is_empty() || white_len(after) > 0 || assignment(after).is_ok();
    (!name.is_empty() && follows)
        .then_some((Span::new(name.start + 1, name.end + 1), rest.len() - after.len()))
}

/// Whether `key=` stands at the beginning, brackets and white space before it aside.
fn begins_with_attribute(mut i: &[u8]) -> bool {
    loop {
        i = skip_white(i);
        let bracket: IResult<&[u8], &[u8]> = alt((tag("["), tag("]"))).parse(i);
        match bracket {
            Ok((rest, _)) => i = rest,
            Err(_) => return assignment(i).is_ok(),
        }
    }
}
