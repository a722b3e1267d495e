//! `msg view`: what stands on its pages, and that nothing of a conversation does anything there.

use std::fs;

use serde_json::{Value, json};

use super::example::EXAMPLE;
use super::{msg, program, stderr, stdout};

/// A conversation of two sections: a prompt, a call with its result, Markdown.
fn conversation() -> Value {
    json!([
        {"role": "system", "content": "Be brief.\nOr else."},
        {"role": "user", "content": "What is in **a**?"},
        {"role": "assistant", "content": null, "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "read", "arguments": "{\"path\":\"a\"}"}}]},
        {"role": "tool", "tool_call_id": "call_1", "content": "b"},
        {"role": "assistant", "content": "It is `b`."},
        {"role": "user", "content": "Thanks."},
        {"role": "assistant", "content": "- one\n- two"}
    ])
}

fn page(args: &[&str], conversation: &Value) -> String {
    let output = msg(&[&["view"], args].concat(), conversation.to_string().as_bytes());
    assert!(output.status.code() < Some(2), "{}", stderr(&output));
    inert(&stdout(&output));
    stdout(&output)
}

/// Asserts that a page holds no markup but what a page is made of, and loads nothing.
fn inert(page: &str) {
    let (_, body) = page.split_once("<body>").expect("a page has a body");
    let tags = [
        "aside",
        "main",
        "section",
        "article",
        "nav",
        "fieldset",
        "legend",
        "label",
        "input",
        "details",
        "summary",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "p",
        "ol",
        "ul",
        "li",
        "a",
        "b",
        "bdi",
        "small",
        "code",
        "pre",
        "div",
        "span",
        "em",
        "strong",
        "del",
        "br",
        "hr",
        "blockquote",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "img",
        "body",
        "html",
    ];
    for tag in body.split('<').skip(1) {
        let (tag, _) = tag.split_once('>').expect("a tag ends");
        let (name, mut attributes) = tag.split_once([' ', '/']).unwrap_or((tag, ""));
        let name = if name.is_empty() { tag.trim_start_matches('/') } else { name };
        assert!(tags.contains(&name), "<{tag}>");
        while let Some((name, rest)) = attributes.split_once('=') {
            let (value, rest) =
                rest.strip_prefix('"').and_then(|it| it.split_once('"')).expect("a quoted value");
            attributes = rest;
            let name = name.rsplit(' ').next().unwrap();
            match name {
                "class" | "id" | "title" | "dir" | "type" | "value" | "alt" | "rel" | "start" => {}
                "style" => assert!(value.starts_with("text-align: "), "<{tag}>"),
                "href" => assert!(
                    ["#", "./", "http://", "https://", "mailto:"]
                        .iter()
                        .any(|it| value.to_ascii_lowercase().starts_with(it)),
                    "<{tag}>"
                ),
                "src" => assert!(value.starts_with("data:image/png;base64,"), "<{tag}>"),
                _ => panic!("{name} in <{tag}>"),
            }
        }
    }
}

#[test]
fn a_page_shows_messages_and_problems_and_loads_nothing() {
    let page =
        page(&[], &json!([{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]));
    assert!(page.starts_with("<!doctype html>"));
    assert!(
        page.contains("default-src 'none'") && !page.contains("<script") && !page.contains("url(")
    );
    assert!(page.contains("chain::consecutive-user") && page.contains("id=\"m1\""), "{page}");
}

#[test]
fn markdown_is_rendered_unless_raw_is_asked_for() {
    let rendered = page(&[], &conversation());
    assert!(
        rendered.contains("What is in <strong>a</strong>?") && rendered.contains("<li>one</li>")
    );
    let raw = page(&["--raw"], &conversation());
    assert!(raw.contains("What is in **a**?") && !raw.contains("<strong>"));
}

#[test]
fn a_result_stands_at_its_call_with_the_tools_name() {
    let page = page(&[], &conversation());
    let (_, behind) =
        page.split_once("<b><bdi>read</bdi></b> <bdi>call_1</bdi>").expect("the call");
    let (between, _) = behind.split_once("result of read").expect("the result");
    assert!(!between.contains("<article") && between.contains("id=\"m3\""), "{between}");
    assert_eq!(page.matches("id=\"m3\"").count(), 1);
}

#[test]
fn calls_without_ids_are_answered_in_their_order() {
    let page = stdout(&msg(&["view", EXAMPLE], b""));
    inert(&page);
    assert_eq!(page.matches("class=\"answer\"").count(), 15);
    for message in 0..53 {
        assert_eq!(page.matches(&format!(" id=\"m{message}\"")).count(), 1, "{message}");
    }
}

#[test]
fn a_prompt_is_folded_and_shows_its_beginning() {
    let page = page(&[], &conversation());
    assert!(
        page.contains("<details><summary><b><bdi>prompt</bdi></b> <bdi>Be brief.</bdi></summary>"),
        "{page}"
    );
}

#[test]
fn sections_have_contents_tokens_and_cost() {
    let page = page(&["--price", "1000000:0"], &conversation());
    assert!(page.contains("<li value=\"2\"><a href=\"#s2\"><bdi>Thanks.</bdi></a>"), "{page}");
    assert!(page.contains("<h2 id=\"s2\">Section 2 <small>2 messages, "), "{page}");
    let stats = msg(&["stats", "--json"], conversation().to_string().as_bytes());
    let stats: Value = serde_json::from_str(&stdout(&stats)).unwrap();
    // At a price of 1 a token, the last section costs what stands before its one answer.
    let before = stats["growth"][5].as_u64().unwrap();
    assert!(
        page.contains(&format!(
            "cost {before}.0000</small></h2>\n<article class=\"user\" id=\"m5\""
        )),
        "{page}"
    );
}

#[test]
fn each_problem_leads_to_the_next() {
    let page = stdout(&msg(&["view", EXAMPLE], b""));
    for number in 0..45 {
        assert_eq!(page.matches(&format!(" id=\"p{number}\"")).count(), 1, "{number}");
        assert_eq!(
            page.contains(&format!("href=\"#p{}\">next problem", number + 1)),
            number < 44,
            "{number}"
        );
    }
}

#[test]
fn roles_are_picked() {
    let page = page(&["--role", "user", "--role", "system"], &conversation());
    for (message, is_shown) in [(0, true), (1, true), (2, false), (3, false), (4, false), (5, true)]
    {
        assert_eq!(page.contains(&format!("id=\"m{message}\"")), is_shown, "{message}");
    }
    assert!(!page.contains("show-assistant\""), "{page}");
}

#[test]
fn a_long_conversation_is_several_pages_that_lead_to_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let first = folder.path().join("a b.html");
    let output = msg(&["view", EXAMPLE, "--page-size", "20", "-o", first.to_str().unwrap()], b"");
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let pages = ["a b.html", "a b-2.html", "a b-3.html"]
        .map(|it| fs::read_to_string(folder.path().join(it)).unwrap());
    pages.iter().for_each(|it| inert(it));
    assert!(pages[0].contains("href=\"./a%20b-2.html\""), "{}", pages[0]);
    let on = |message: u32| {
        pages.iter().position(|it| it.contains(&format!(" id=\"m{message}\""))).unwrap()
    };
    assert!((0..53).map(on).is_sorted() && on(0) == 0 && on(52) == 2);
    assert!(
        pages[0].contains("href=\"./a%20b-2.html#p"),
        "the last problem of a page leads to the next page"
    );

    let piped = msg(&["view", EXAMPLE, "--page-size", "20"], b"");
    assert_eq!(piped.status.code(), Some(2));
    assert!(stderr(&piped).contains("-o FILE"), "{}", stderr(&piped));
}

#[test]
fn several_inputs_become_pages_in_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a", "b"] {
        fs::write(folder.path().join(format!("{name}.json")), conversation().to_string()).unwrap();
    }
    let (pattern, pages) = (folder.path().join("*.json"), folder.path().join("pages"));
    let args = ["view", pattern.to_str().unwrap(), "-o", pages.to_str().unwrap()];
    assert_eq!(msg(&args, b"").status.code(), Some(0));
    for name in ["a.html", "b.html"] {
        inert(&fs::read_to_string(pages.join(name)).unwrap());
    }
    assert_eq!(msg(&args[..2], b"").status.code(), Some(2));
}

#[cfg(unix)]
#[test]
fn a_browser_is_opened_on_a_page_that_stays() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let (browser, seen) = (folder.path().join("browser"), folder.path().join("seen"));
    fs::write(&browser, format!("#!/bin/sh\ncp \"$1\" '{}'\n", seen.display())).unwrap();
    fs::set_permissions(&browser, fs::Permissions::from_mode(0o755)).unwrap();
    let run = |browser: &std::path::Path| {
        let mut program = program();
        program.env("BROWSER", browser).env("TMPDIR", folder.path()).args(["view", "--browser"]);
        program.write_stdin(conversation().to_string()).output().unwrap()
    };
    assert_eq!(run(&browser).status.code(), Some(0));
    inert(&fs::read_to_string(&seen).unwrap());

    let none = run(&folder.path().join("none"));
    assert_eq!(none.status.code(), Some(2));
    assert!(stderr(&none).contains("page.html yourself"), "{}", stderr(&none));
}

/// What would do something, if it were let.
const EVIL: [&str; 12] = [
    "<script>alert(1)</script>",
    "\"'><img src=x onerror=alert(1)>",
    "\" onmouseover=\"alert(1)",
    "</title></style><script>",
    "[a](javascript:alert(1)) <javascript:alert(1)>",
    "![a](https://b.example/c.png) ![a](data:image/svg+xml;base64,PHN2Zz4=)",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<svg><style>@import 'https://b.example'</style></svg>",
    "[a]: https://b.example/\"onclick=alert(1) 'b'\n[a]",
    "```\"><script>\nb\n```",
    "<!--\n</details></article></main>",
    "a\u{202e}b\u{0}\u{1b}[31m",
];

#[test]
fn nothing_of_a_conversation_is_markup() {
    for evil in EVIL {
        let call =
            json!({"id": evil, "type": "function", "function": {"name": evil, "arguments": evil}});
        let image = json!({"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{evil}")}});
        let conversation = json!([
            {"role": "system", "content": evil},
            {"role": "user", "name": evil, "content": [{"type": "text", "text": evil}, image]},
            {"role": "assistant", "content": evil, "refusal": evil, "reasoning_content": evil, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": evil, "content": evil},
            {"role": "tool", "tool_call_id": "x", "name": evil, "content": evil},
            {"role": evil, "content": evil},
        ]);
        page(&[], &conversation);
        page(&["--raw"], &conversation);
    }
}

#[test]
fn marks_of_direction_turn_nothing_around_beside_their_text() {
    let evil = "a\u{202e}b";
    let call =
        json!({"id": evil, "type": "function", "function": {"name": evil, "arguments": "{}"}});
    let page = page(
        &["--raw"],
        &json!([
            {"role": "user", "name": evil, "content": evil},
            {"role": "assistant", "content": null, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": evil, "content": evil},
        ]),
    );
    let (_, body) = page.split_once("<main>").unwrap();
    for (at, _) in body.match_indices(evil) {
        let before = &body[..at];
        let isolated =
            ["<bdi>", "<bdi>result of ", "dir=\"auto\">"].iter().any(|it| before.ends_with(it));
        assert!(isolated, "{}", &before[before.len().saturating_sub(60)..]);
    }
}
