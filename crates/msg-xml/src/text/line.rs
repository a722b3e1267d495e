//! What a line begins with: a fence, a quote, a bracket, or nothing of note (XT-4, XT-5, XT-8).

use crate::input::{Incomplete, Input, Need};
use crate::lex::need;

/// The kind of a line, by its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// The opening run, its character and length, and where the next line begins.
    Fence {
        run: usize,
        ch: u8,
        n: usize,
        body: usize,
    },
    Quote,
    /// Where the `[` stands.
    Bracket(usize),
    Plain,
}

/// Looks at the line that begins at `pos`. It is read from its beginning each time, so every wait names the byte that
/// can change something.
pub(super) fn line(w: &Input<'_>, pos: usize) -> Result<Line, Incomplete> {
    let p = skip(w, pos, b" \t>")?;
    let mut run = p;
    if let Some(after) = list_marker(w, p)? {
        run = after;
    }
    if let Some(ch @ (b'`' | b'~')) = w.at(run)
        && let Some(fence) = opening(w, run, ch)?
    {
        return Ok(fence);
    }
    let indent = w.from(pos).iter().take_while(|&&b| b == b' ').count();
    let first = if indent <= 3 { w.at(pos + indent) } else { None };
    Ok(match first {
        Some(b'>') => Line::Quote,
        Some(b'[') => Line::Bracket(pos + indent),
        _ => Line::Plain,
    })
}

/// After a list marker and its blanks, if one stands at `p`.
fn list_marker(w: &Input<'_>, p: usize) -> Result<Option<usize>, Incomplete> {
    let digits = w.from(p).iter().take(10).take_while(|b| b.is_ascii_digit()).count();
    let after = match need(w, p + digits)? {
        Some(b'-' | b'*' | b'+') if digits == 0 => p + 1,
        Some(b'.' | b')') if (1..=9).contains(&digits) => p + digits + 1,
        _ => return Ok(None),
    };
    let q = skip(w, after, b" \t")?;
    Ok((q > after).then_some(q))
}

/// The opening line whose run begins at `run`, if it is one.
fn opening(w: &Input<'_>, run: usize, ch: u8) -> Result<Option<Line>, Incomplete> {
    let n = skip(w, run, fence_run(ch))? - run;
    if n < 3 {
        return Ok(None);
    }
    let rest = w.from(run);
    let stop = match ch {
        b'`' => memchr::memchr3(b'`', b'\n', b'\r', &rest[n..]),
        _ => memchr::memchr2(b'\n', b'\r', &rest[n..]),
    };
    let Some(i) = stop else {
        return if w.eof {
            Ok(Some(Line::Fence { run, ch, n, body: w.end() }))
        } else {
            Err(Incomplete::on(Need::In(if ch == b'`' { b"`\n\r" } else { b"\n\r" })))
        };
    };
    let at = run + n + i;
    Ok(match w.at(at) {
        Some(b'`') => None,
        Some(b'\r') if w.at(at + 1) == Some(b'\n') => {
            Some(Line::Fence { run, ch, n, body: at + 2 })
        }
        _ => Some(Line::Fence { run, ch, n, body: at + 1 }),
    })
}

/// A closing line that begins at `pos`: where its line break stands. `Ok(None)` if the line is none.
pub(super) fn closing(
    w: &Input<'_>,
    pos: usize,
    ch: u8,
    n: usize,
) -> Result<Option<usize>, Incomplete> {
    let p = skip(w, pos, b" \t>")?;
    let mut q = skip(w, p, fence_run(ch))?;
    let run = q - p;
    if run < n {
        return Ok(None);
    }
    // A CR before the LF is a blank of the line; alone it is the line break itself.
    let mut cr = None;
    while let Some(b @ (b' ' | b'\t' | b'\r')) = w.at(q) {
        if b == b'\r' {
            cr.get_or_insert(q);
        }
        q += 1;
    }
    match w.at(q) {
        None if !w.eof => Err(Incomplete::on(Need::NotIn(b" \t\r"))),
        None | Some(b'\n') => Ok(Some(q)),
        Some(_) => Ok(cr),
    }
}

/// The first byte from `pos` on that is none of `bytes`, or the end of input.
fn skip(w: &Input<'_>, pos: usize, bytes: &'static [u8]) -> Result<usize, Incomplete> {
    let rest = w.from(pos);
    match rest.iter().position(|b| !bytes.contains(b)) {
        Some(n) => Ok(pos + n),
        None if w.eof => Ok(pos + rest.len()),
        None => Err(Incomplete::on(Need::NotIn(bytes))),
    }
}

/// What a fence's run is made of.
fn fence_run(ch: u8) -> &'static [u8] {
    if ch == b'`' { b"`" } else { b"~" }
}
