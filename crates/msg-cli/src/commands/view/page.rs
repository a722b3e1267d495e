//! One conversation as one HTML page that needs nothing else: no script, no font, no network.
//!
//! Shows what is there and interprets nothing: text is text, Markdown included, and no URL of the
//! conversation becomes a link. Every byte of it is escaped, and every text of it is isolated, so that
//! marks of writing direction turn nothing around beside it.

use std::fmt::Write as _;

use msg_core::{Diagnostic, Image, Message, Part, ToolCall, ToolResult, json};

use crate::render::plural;

/// Text beyond this many bytes is folded away until it is asked for.
const FOLD: usize = 1_200;
/// JSON is indented no further than this many levels, so that deep nesting stays linear.
const MAX_INDENT: usize = 24;

/// A page that is as long as this is handed on before it goes on: it is many times the conversation.
const PIECE: usize = 1 << 16;

/// Hands the page on in pieces. Linear in the messages.
pub(super) fn page<E>(
    title: &str,
    messages: &[Message],
    problems: &[Diagnostic],
    mut put: impl FnMut(&str) -> Result<(), E>,
) -> Result<(), E> {
    let mut res = String::with_capacity(4096);
    let mut put_if = |least: usize, res: &mut String| match res.len() >= least {
        true => put(res).map(|()| res.clear()),
        false => Ok(()),
    };
    head(title, messages.len(), problems, &mut res);
    for it in problems {
        problem(it, &mut res);
        put_if(PIECE, &mut res)?;
    }
    if !problems.is_empty() {
        res.push_str("</nav>\n");
    }
    let mut rest = problems.iter().peekable();
    for (number, message) in messages.iter().enumerate() {
        article(number, message, &mut res);
        // Problems come in the order of the messages; those of a message follow its text.
        while let Some(it) = rest.next_if(|it| it.at.message.is_some_and(|it| it <= number)) {
            problem(it, &mut res);
        }
        res.push_str("</article>\n");
        put_if(PIECE, &mut res)?;
    }
    res.push_str("</body></html>\n");
    put_if(0, &mut res)
}

fn head(title: &str, n_messages: usize, problems: &[Diagnostic], res: &mut String) {
    let title = escape(title);
    let _ = write!(
        res,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n\
         <meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n\
         <title>{title}</title>\n<style>\n{css}</style></head>\n<body>\n<h1><bdi>{title}</bdi></h1>\n\
         <p class=\"about\">{messages}</p>\n",
        css = include_str!("page.css"),
        messages = plural(n_messages, "message"),
    );
    if !problems.is_empty() {
        let _ = writeln!(res, "<nav><b>{}</b>", crate::render::count(problems));
    }
}

fn problem(it: &Diagnostic, res: &mut String) {
    let (severity, code) = (it.severity, escape(it.code.as_str()));
    let _ = write!(res, "<p class=\"problem {severity}\"><code>{code}</code> <bdi>{}</bdi>", escape(&it.message()));
    if let Some(number) = it.at.message {
        let _ = write!(res, " <a class=\"about\" href=\"#m{number}\">message {number}</a>");
    }
    res.push_str("</p>\n");
}

/// A message up to where its problems go; the caller closes it.
fn article(number: usize, message: &Message, res: &mut String) {
    let role = message.role.as_str();
    // Roles are any text; as a class they are a word or nothing.
    let class = if role.bytes().all(|it| it.is_ascii_lowercase()) { role } else { "" };
    let _ = write!(
        res,
        "<article class=\"{class}\" id=\"m{number}\"><h2><a href=\"#m{number}\">{number}</a><bdi>{}</bdi>",
        escape(role)
    );
    if let Some(name) = &message.name {
        let _ = write!(res, " <small><bdi>{}</bdi></small>", escape(name));
    }
    let _ = writeln!(res, " <small>{} bytes</small></h2>", message.size());
    for it in &message.parts {
        part(it, res);
    }
}

fn part(it: &Part, res: &mut String) {
    match it {
        Part::Text(it) => text("text", &it.text, res),
        Part::Refusal(it) => fold("refusal", "", &it.text, true, res),
        Part::Reasoning(it) => {
            let sealed = if it.is_signed() { "signed" } else { "" };
            fold("reasoning", sealed, &it.display_text(), false, res);
        }
        Part::Image(it) => image(it, res),
        Part::Audio(it) => note("audio", it.transcript.as_deref().unwrap_or_default(), res),
        Part::File(it) => note("file", it.filename.as_deref().unwrap_or_default(), res),
        Part::ToolCall(it) => call(it, res),
        Part::ToolResult(it) => result(it, res),
        Part::Other(it) => fold("other", &it.format.to_string(), &indent(it.value.text()), false, res),
        _ => note(it.kind(), "", res),
    }
}

fn call(it: &ToolCall, res: &mut String) {
    let arguments = it.arguments.text();
    let arguments = if json::validate(arguments).is_ok() { indent(arguments) } else { arguments.to_owned() };
    fold(&it.name, &it.id, &arguments, arguments.len() < FOLD, res);
}

fn result(it: &ToolResult, res: &mut String) {
    let title = if it.is_error { "failed" } else { "result" };
    match it.content.as_text() {
        Some(text) => fold(title, &it.call_id, text, text.len() < FOLD, res),
        None => {
            note(title, &it.call_id, res);
            for inner in it.content.parts() {
                // A result in a result is no document that any reader gives; it is named only.
                match inner {
                    Part::ToolResult(_) => note("result", "", res),
                    inner => part(inner, res),
                }
            }
        }
    }
}

fn image(it: &Image, res: &mut String) {
    let url = it.url.as_deref().unwrap_or_default();
    if is_picture(url) {
        let _ = writeln!(res, "<p><img alt=\"image\" src=\"{}\"></p>", escape(url));
    } else {
        note("image", if url.is_empty() { it.file_id.as_deref().unwrap_or_default() } else { url }, res);
    }
}

/// Whether a URL holds a picture itself; SVG is left out, since it is a program's canvas.
fn is_picture(url: &str) -> bool {
    let kinds = ["png", "jpeg", "jpg", "gif", "webp"];
    url.strip_prefix("data:image/").and_then(|it| it.split_once(";base64,")).is_some_and(
        |(kind, data)| {
            kinds.contains(&kind)
                && data.bytes().all(|it| it.is_ascii_alphanumeric() || b"+/=".contains(&it))
        },
    )
}

fn text(class: &str, text: &str, res: &mut String) {
    if text.len() > 4 * FOLD {
        fold("text", &format!("{} bytes", text.len()), text, true, res);
    } else if !text.is_empty() {
        let _ = writeln!(res, "<pre class=\"{class}\" dir=\"auto\">{}</pre>", escape(text));
    }
}

fn note(title: &str, more: &str, res: &mut String) {
    let _ = writeln!(res, "<p class=\"about\">{} <bdi>{}</bdi></p>", escape(title), escape(more));
}

fn fold(title: &str, more: &str, text: &str, open: bool, res: &mut String) {
    let open = if open { " open" } else { "" };
    let (title, more, text) = (escape(title), escape(more), escape(text));
    let _ = writeln!(
        res,
        "<details{open}><summary><b><bdi>{title}</bdi></b> <bdi>{more}</bdi></summary><pre dir=\"auto\">{text}</pre></details>"
    );
}

/// Valid JSON with one member a line, spelling unchanged.
fn indent(text: &str) -> String {
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

fn escape(text: &str) -> String {
    let mut res = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => res.push_str("&amp;"),
            '<' => res.push_str("&lt;"),
            '>' => res.push_str("&gt;"),
            '"' => res.push_str("&quot;"),
            '\'' => res.push_str("&#39;"),
            // HTML has no place for these, escaped or not.
            '\0'..='\x08' | '\x0b' | '\x0c' | '\x0e'..='\x1f' | '\x7f' => res.push('\u{fffd}'),
            c => res.push(c),
        }
    }
    res
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(title: &str, message: Message) -> String {
        let mut res = String::new();
        let put = |it: &str| -> Result<(), std::convert::Infallible> {
            res.push_str(it);
            Ok(())
        };
        let Ok(()) = page(title, &[message], &[], put);
        res
    }

    #[test]
    fn nothing_of_the_conversation_is_markup() {
        let evil = "<script>alert(1)</script>\"'&";
        let message = Message::user(evil).with_name(evil).with_part(Part::Image(Image::from_url(
            "data:image/png;base64,\" onerror=\"alert(1)",
        )));
        let page = whole(evil, message);
        assert!(!page.contains("<script"), "{page}");
        assert!(!page.contains("<img"), "{page}");
        assert!(!page.contains("\" onerror"), "{page}");
    }

    #[test]
    fn marks_of_direction_turn_nothing_around_beside_their_text() {
        let evil = "a\u{202e}b";
        let call = ToolCall::new(evil, evil, "{}");
        let mut message = Message::user(evil).with_name(evil);
        message.parts.push(Part::ToolCall(call));
        let page = whole(evil, message);
        let body = &page[page.find("<h1>").unwrap()..];
        for (at, _) in body.match_indices(evil) {
            let before = &body[..at];
            let isolated = before.ends_with("<bdi>") || before.ends_with("dir=\"auto\">");
            assert!(isolated, "{}", &before[before.len().saturating_sub(60)..]);
        }
    }

    #[test]
    fn json_is_laid_out_and_keeps_its_spelling() {
        assert_eq!(indent(r#"{"a":1.0,"b":[],"c":[1,{}]}"#), "{\n  \"a\": 1.0,\n  \"b\": [],\n  \"c\": [\n    1,\n    {}\n  ]\n}");
        let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
        assert!(indent(&deep).len() < 10_000 * 2 * (2 * MAX_INDENT + 3));
    }
}
