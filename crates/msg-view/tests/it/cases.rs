//! Conversations with options in, the bodies of their pages out; and Markdown in, the HTML of it out.
//!
//! Texts that would do something to a page, if they were let.

use msg_core::{Message, Part, Role, ToolCall, ToolResult};
use msg_openai::{ReadOptions, chat};
use msg_view::{Pages, Recorded, TokenPrice, ViewOptions};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::laws;

/// The messages of a row, in OpenAI form.
fn messages(row: &Value) -> Vec<Message> {
    let json = row["messages"].to_string();
    match chat::read(json.as_bytes(), &ReadOptions::new()).unwrap().0 {
        chat::Document::List(list) => list,
        other => panic!("no list of messages: {other:?}"),
    }
}

/// What differs between pages: the whole without its style sheet.
fn body(page: &str) -> &str {
    page.split_once("<body>\n").unwrap().1.strip_suffix("</body></html>\n").unwrap()
}

#[test]
fn pages_are_as_expected() {
    testkit::rows!("pages.jsonl").check_expect(|row| {
        let row: Value = serde_json::from_str(&row.text).unwrap();
        let options: ViewOptions = serde_json::from_value(row["options"].clone()).unwrap();
        let messages = messages(&row);
        let pages = laws::pages(&messages, &options);
        pages.iter().for_each(|it| laws::nothing_is_markup(&it.1));
        laws::each_stands_once(&messages, &options);
        laws::ways_lead_somewhere(&pages);
        let page = |it: &(String, String)| json!([it.0, body(&it.1).lines().collect::<Vec<_>>()]);
        Value::from(pages.iter().map(page).collect::<Vec<_>>()).to_string()
    });
}

#[test]
fn one_page_holds_what_several_do() {
    for row in testkit::rows!("pages.jsonl").rows() {
        let row: Value = serde_json::from_str(&row.text).unwrap();
        let mut options: ViewOptions = serde_json::from_value(row["options"].clone()).unwrap();
        let messages = messages(&row);
        let problems =
            msg_chainast::check(&messages, None, &msg_chainast::ChainCheckOptions::new());
        let mut whole = Vec::new();
        msg_view::write(&messages, &problems, &options, &mut whole);
        options.page_size = None;
        assert_eq!(laws::pages(&messages, &options)[0].1.as_bytes(), whole);
    }
}

#[test]
fn what_was_recorded_is_at_its_message() {
    let (messages, options) = ([Message::user("hi"), Message::user("ho")], ViewOptions::default());
    let model = |it: &str| Recorded { model: Some(it.to_owned()), ..Recorded::default() };
    let recorded = vec![model("first-model"), model("second-model")];
    let pages = Pages::new(&messages, &[], &options).with_recorded(recorded, Recorded::default());
    let mut page = String::new();
    let write = |it: &str| {
        page.push_str(it);
        Ok::<(), std::fmt::Error>(())
    };
    pages.write(0, write).unwrap();
    let second = page.split_once("id=\"m1\"").unwrap();
    assert!(second.0.contains("first-model") && second.1.contains("second-model"), "{page}");
}

#[test]
fn markdown_is_rendered_and_does_nothing() {
    testkit::rows!("markdown.jsonl").check_expect(|row| {
        let row: Value = serde_json::from_str(&row.text).unwrap();
        Value::from(rendered(row["text"].as_str().unwrap())).to_string()
    });
}

/// The HTML of a text that a user said.
pub(crate) fn rendered(text: &str) -> String {
    let pages = laws::pages(&[Message::user(text)], &ViewOptions::default());
    laws::nothing_is_markup(&pages[0].1);
    let (_, html) = pages[0].1.split_once("<div class=\"md\" dir=\"auto\">").unwrap();
    html.rsplit_once("</article>").unwrap().0.rsplit_once("</div>").unwrap().0.to_owned()
}

#[test]
fn a_price_is_two_numbers() {
    for text in ["", "3", "3:", ":15", "a:b", "-1:2", "NaN:1", "1:inf"] {
        assert!(text.parse::<TokenPrice>().is_err(), "{text}");
        assert!(serde_json::from_value::<TokenPrice>(text.into()).is_err(), "{text}");
    }
    let price: TokenPrice = serde_json::from_value("0.25:2".into()).unwrap();
    assert_eq!(price.of(4_000_000, 1_000_000), 3.0);
}

/// What would do something.
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
    EVIL.into_iter().for_each(laws::no_text_is_markup);
}

proptest! {
    #[test]
    fn no_made_up_text_is_markup(text in "[<>\"'&\\[\\]()!`*#:/ a\n-]{0,40}") {
        laws::no_text_is_markup(&text);
    }
}

#[test]
fn marks_of_direction_turn_nothing_around_beside_their_text() {
    let evil = "a\u{202e}b";
    let call = ToolCall::new(evil, evil, "{}");
    let mut user = Message::user(evil);
    user.name = Some(evil.to_owned());
    let messages = [
        user,
        Message::new(Role::Assistant).with_part(Part::ToolCall(call)),
        Message::new(Role::Tool).with_part(Part::ToolResult(ToolResult::new(evil, evil))),
    ];
    let page = laws::pages(&messages, &ViewOptions::default().with_raw()).remove(0).1;
    let (_, body) = page.split_once("<main>").unwrap();
    for (at, _) in body.match_indices(evil) {
        let before = &body[..at];
        let isolated =
            ["<bdi>", "<bdi>result of ", "dir=\"auto\">"].iter().any(|it| before.ends_with(it));
        assert!(isolated, "{}", &before[before.len().saturating_sub(60)..]);
    }
}

#[test]
fn nothing_is_nested_without_a_bound() {
    for deep in [">", "- ", "[", "*a "] {
        let html = rendered(&deep.repeat(50_000));
        assert!(html.matches("<blockquote").count() + html.matches("<ul").count() <= 32);
    }
}

#[test]
fn a_long_comment_is_no_heading() {
    let long = "b ".repeat(100);
    assert_eq!(rendered(&format!("# {long}")), format!("<p># {}</p>\n", long.trim_end()));
}
