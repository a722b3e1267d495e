//! Text as HTML: everything is escaped, and JSON is laid out.

/// Text that is markup nowhere, neither between tags nor in a quoted attribute.
pub(crate) fn escape(text: &str) -> String {
    let mut res = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => res.push_str("&amp;"),
            '<' => res.push_str("&lt;"),
            '>' => res.push_str("&gt;"),
            '"' => res.push_str("&quot;"),
            '\'' => res.push_str("&#39;"),
            c if is_no_text(c) => res.push('\u{fffd}'),
            c => res.push(c),
        }
    }
    res
}

/// Whether HTML has no place for this character, escaped or not.
pub(crate) fn is_no_text(c: char) -> bool {
    matches!(c, '\0'..='\x08' | '\x0b' | '\x0c' | '\x0e'..='\x1f' | '\x7f')
}

/// `12345` as `12,345`.
pub(crate) fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut res = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            res.push(',');
        }
        res.push(digit);
    }
    res
}

/// `1 message`, `2 messages`.
pub(crate) fn plural(n: usize, word: &str) -> String {
    if n == 1 { format!("1 {word}") } else { format!("{n} {word}s") }
}

/// Valid JSON with one member a line, spelling unchanged.
pub(crate) fn indent(text: &str) -> String {
    let laid_out = String::from_utf8(msg_document::pretty(text.as_bytes()));
    laid_out.map_or_else(|_| text.to_owned(), |it| it.trim_end().to_owned())
}
