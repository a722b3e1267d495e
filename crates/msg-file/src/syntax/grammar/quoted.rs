//! The inside of a value in double quotes: what stands for other characters (MF-11).
//!
//! Where a value begins and ends is found by `attributes`.

use nom::IResult;
use nom::Parser;
use nom::branch::alt;
use nom::bytes::complete::{tag, tag_no_case, take_while_m_n};
use nom::combinator::map;
use nom::sequence::{delimited, preceded};
use std::borrow::Cow;

/// A numeric character reference at the beginning: its length and the character.
///
/// NUL and numbers that are no character are not references.
pub(crate) fn numeric_reference(text: &[u8]) -> Option<(usize, char)> {
    let hex = preceded(tag_no_case("x"), take_while_m_n(1, 6, |b: u8| b.is_ascii_hexdigit()));
    let decimal = take_while_m_n(1, 7, |b: u8| b.is_ascii_digit());
    let body = alt((map(hex, |d| (16, d)), map(decimal, |d| (10, d))));
    let parse: IResult<&[u8], (u32, &[u8])> = delimited(tag("&#"), body, tag(";")).parse(text);
    let (rest, (radix, digits)) = parse.ok()?;
    let number = u32::from_str_radix(std::str::from_utf8(digits).ok()?, radix).ok()?;
    let c = char::from_u32(number).filter(|&c| c != '\0')?;
    Some((text.len() - rest.len(), c))
}

/// Decodes the inside of `"…"`: `\"`, `\\` and numeric references, nothing else.
pub(crate) fn decode_double(text: &[u8]) -> Cow<'_, [u8]> {
    let Some(first) = memchr::memchr2(b'\\', b'&', text) else { return Cow::Borrowed(text) };
    let mut out = Vec::with_capacity(text.len());
    out.extend_from_slice(&text[..first]);
    let mut at = first;
    while at < text.len() {
        let rest = &text[at..];
        if let [b'\\', c @ (b'"' | b'\\'), ..] = rest {
            out.push(*c);
            at += 2;
        } else if let Some((n, c)) = numeric_reference(rest) {
            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            at += n;
        } else {
            out.push(rest[0]);
            at += 1;
        }
    }
    Cow::Owned(out)
}
