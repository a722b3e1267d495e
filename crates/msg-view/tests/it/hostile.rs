//! Texts that would do something to a page, if they were let.

use msg_core::{Message, Part, Role, ToolCall, ToolResult};
use msg_view::ViewOptions;
use proptest::prelude::*;

use super::cases::rendered;
use super::laws;

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
