//! What holds for the pages of every conversation.

use std::collections::BTreeMap;

use msg_chainast::ChainCheckOptions;
use msg_core::{Image, Message, Part, Reasoning, Role, ToolCall, ToolResult};
use msg_view::{Pages, ViewOptions};

/// The pages of a conversation, each by its name, with what is wrong with the chain.
pub(crate) fn pages(messages: &[Message], options: &ViewOptions) -> Vec<(String, String)> {
    let problems = msg_chainast::check(messages, None, &ChainCheckOptions::new());
    let pages = Pages::new(messages, &problems, options);
    let page = |number| {
        let mut text = String::new();
        let written = pages.write(number, |piece| {
            text.push_str(piece);
            Ok::<(), ()>(())
        });
        written.unwrap();
        (pages.file_name(number), text)
    };
    (0..pages.count()).map(page).collect()
}

/// Whatever the texts are: none becomes markup, each message has its place, and every link has a target.
pub(crate) fn no_text_is_markup(text: &str) {
    let messages = everywhere(text);
    for options in [ViewOptions::default(), ViewOptions::default().with_raw().with_page_size(2)] {
        let options = options.with_title(text).with_file("talk.html");
        let pages = pages(&messages, &options);
        pages.iter().for_each(|it| nothing_is_markup(&it.1));
        each_stands_once(&messages, &options);
        if !text.contains(['[', '<']) {
            ways_lead_somewhere(&pages);
        }
    }
}

/// A conversation that says a text wherever there is room for one.
fn everywhere(text: &str) -> Vec<Message> {
    let named = |mut it: Message| {
        it.name = Some(text.to_owned());
        it
    };
    let image = Image::from_url(format!("data:image/png;base64,{text}"));
    let result = |id: &str| Part::ToolResult(ToolResult::new(id, text));
    vec![
        Message::system(text),
        named(Message::user(text).with_part(Part::Image(image))),
        Message::assistant(text)
            .with_part(Part::Reasoning(Reasoning::new(text)))
            .with_part(Part::ToolCall(ToolCall::new(text, text, text))),
        Message::new(Role::Tool).with_part(result(text)),
        named(Message::new(Role::Tool).with_part(result("x"))),
        Message::new(Role::Other(text.into())).with_part(Part::text(text)),
    ]
}

/// No markup but what a page is made of, nothing that is loaded, and every tag is well formed.
pub(crate) fn nothing_is_markup(page: &str) {
    assert!(page.starts_with("<!doctype html>") && page.contains("default-src 'none'"));
    let (_, body) = page.split_once("<body>").expect("a page has a body");
    for tag in body.split('<').skip(1) {
        let (tag, _) = tag.split_once('>').expect("a tag ends");
        let (name, attributes) = tag.split_once([' ', '/']).unwrap_or((tag, ""));
        let name = if name.is_empty() { tag.trim_start_matches('/') } else { name };
        assert!(TAGS.split_whitespace().any(|it| it == name), "<{tag}>");
        each_attribute(tag, attributes);
    }
}

const TAGS: &str = "aside main section article nav fieldset legend label input details summary h1 h2 h3 h4 h5 h6 \
                    p ol ul li a b bdi small code pre div span em strong del br hr blockquote table thead tbody \
                    tr th td img body html";

fn each_attribute(tag: &str, mut attributes: &str) {
    while let Some((name, rest)) = attributes.split_once('=') {
        let (value, rest) =
            rest.strip_prefix('"').and_then(|it| it.split_once('"')).expect("a quoted value");
        attributes = rest;
        match name.rsplit(' ').next().unwrap() {
            "class" | "id" | "title" | "dir" | "type" | "value" | "alt" | "rel" | "start" => {}
            "style" => assert!(value.starts_with("text-align: "), "<{tag}>"),
            "href" => assert!(is_harmless(value), "<{tag}>"),
            "src" => assert!(value.starts_with("data:image/png;base64,"), "<{tag}>"),
            name => panic!("{name} in <{tag}>"),
        }
    }
}

fn is_harmless(address: &str) -> bool {
    let address = address.to_ascii_lowercase();
    ["#", "./", "http://", "https://", "mailto:"].iter().any(|it| address.starts_with(it))
}

/// Each message that is shown has one place, and each problem has one.
pub(crate) fn each_stands_once(messages: &[Message], options: &ViewOptions) {
    let all: String = pages(messages, options).into_iter().map(|it| it.1).collect();
    let mut places: BTreeMap<usize, usize> = BTreeMap::new();
    for number in ids(&all, " id=\"m") {
        *places.entry(number).or_default() += 1;
    }
    let is_shown = |it: &Message| {
        options.roles.is_empty() || options.roles.iter().any(|role| role == it.role.as_str())
    };
    let shown = messages.iter().enumerate().filter(|it| is_shown(it.1)).map(|it| (it.0, 1));
    assert_eq!(places, shown.collect::<BTreeMap<_, _>>(), "{all}");
    let mut problems: Vec<usize> = ids(&all, " id=\"p").collect();
    problems.sort_unstable();
    let n = problems.len();
    problems.dedup();
    assert_eq!(problems.len(), n, "{all}");
    assert!(!options.roles.is_empty() || problems.into_iter().eq(0..n), "{all}");
}

/// The tags of a page, without their brackets: a text may hold what looks like an attribute.
fn tags(page: &str) -> impl Iterator<Item = &str> {
    page.split('<').skip(1).filter_map(|it| it.split('>').next())
}

fn ids<'a>(page: &'a str, mark: &'a str) -> impl Iterator<Item = usize> + 'a {
    let number = |it: &str| it.split('"').next().and_then(|it| it.parse().ok());
    tags(page).flat_map(move |it| it.split(mark).skip(1)).filter_map(number)
}

/// Every way to another place of these pages leads to one.
pub(crate) fn ways_lead_somewhere(pages: &[(String, String)]) {
    let id = |at: &str| format!(" id=\"{at}\"");
    for (own, page) in pages {
        let addresses = tags(page).flat_map(|it| it.split("href=\"").skip(1));
        for address in addresses.filter_map(|it| it.split('"').next()) {
            let (file, at) = address.split_once('#').unwrap_or((address, ""));
            let name = file.strip_prefix("./").map(decoded);
            if name.is_none() && !file.is_empty() {
                continue;
            }
            let name = name.unwrap_or_else(|| own.clone());
            let there = pages.iter().find(|it| it.0 == name);
            let there = there.unwrap_or_else(|| panic!("{address} of {own} leads nowhere"));
            assert!(at.is_empty() || there.1.contains(&id(at)), "{address} of {own}");
        }
    }
}

fn decoded(address: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = address;
    while let Some(first) = rest.chars().next() {
        match rest.strip_prefix('%') {
            Some(escaped) => bytes.push(u8::from_str_radix(&escaped[..2], 16).unwrap()),
            None => bytes.extend_from_slice(&rest.as_bytes()[..first.len_utf8()]),
        }
        rest = &rest[if first == '%' { 3 } else { first.len_utf8() }..];
    }
    String::from_utf8(bytes).unwrap()
}
