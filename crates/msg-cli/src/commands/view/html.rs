//! Text as HTML: everything is escaped, and JSON is laid out.

use msg_core::json;

/// JSON is indented no further than this many levels, so that deep nesting stays linear.
const MAX_INDENT: usize = 24;

/// Text that is markup nowhere, neither between tags nor in a quoted attribute.
pub(super) fn escape(text: &str) -> String {
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
pub(super) fn is_no_text(c: char) -> bool {
    matches!(c, '\0'..='\x08' | '\x0b' | '\x0c' | '\x0e'..='\x1f' | '\x7f')
}

/// `12345` as `12,345`.
pub(super) fn grouped(n: u64) -> String {
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

/// Valid JSON with one member a line, spelling unchanged.
pub(super) fn indent(text: &str) -> String {
    let mut res = String::with_capacity(text.len() * 2);
    let mut depth = 0usize;
    let line = |res: &mut String, depth: usize| {
        res.push('\n');
        res.extend(std::iter::repeat_n("  ", depth.min(MAX_INDENT)));
    };
    let mut tokens = json::tokens(text).peekable();
    while let Some(token) = tokens.next() {
        match token {
            "{" | "[" => {
                res.push_str(token);
                if tokens.peek().is_some_and(|it| !matches!(*it, "}" | "]")) {
                    depth += 1;
                    line(&mut res, depth);
                } else if let Some(end) = tokens.next() {
                    res.push_str(end);
                }
            }
            "}" | "]" => {
                depth = depth.saturating_sub(1);
                line(&mut res, depth);
                res.push_str(token);
            }
            "," => {
                res.push(',');
                line(&mut res, depth);
            }
            ":" => res.push_str(": "),
            other => res.push_str(other),
        }
    }
    res
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_laid_out_and_keeps_its_spelling() {
        assert_eq!(
            indent(r#"{"a":1.0,"b":[],"c":[1,{}]}"#),
            "{\n  \"a\": 1.0,\n  \"b\": [],\n  \"c\": [\n    1,\n    {}\n  ]\n}"
        );
        let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
        assert!(indent(&deep).len() < 10_000 * 2 * (2 * MAX_INDENT + 3));
    }

    #[test]
    fn digits_stand_in_groups() {
        let grouped = [0, 999, 1_000, 12_345, 1_234_567].map(grouped);
        assert_eq!(grouped, ["0", "999", "1,000", "12,345", "1,234,567"]);
    }
}
