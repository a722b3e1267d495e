//! Conversations with options in, the bodies of their pages out; and Markdown in, the HTML of it out.

use msg_core::Message;
use msg_openai::{ReadOptions, chat};
use msg_view::{Pages, Recorded, TokenPrice, ViewOptions};
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
