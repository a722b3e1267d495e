//! What reading costs grows with the input, whatever is wrong with it (XT-43): steps are counted, no clock is read.

use crate::steps::grow_with_input;
use crate::{Options, StreamParser, parse};

const HEAD: &str = "<tool><tool_name>t</tool_name><arguments>";
const TAIL: &str = "</arguments></tool>";

fn read(text: &str) {
    parse(text.as_bytes(), None, &Options::default());
}

fn read_in_pieces(text: &str) {
    let mut parser = StreamParser::new(Options::default());
    for piece in text.as_bytes().chunks(7) {
        parser.feed(piece).for_each(drop);
    }
    parser.finish(None).for_each(drop);
}

fn check(make: impl Fn(usize) -> String) {
    grow_with_input(make, read);
}

#[test]
fn pieces() {
    for unit in ["<a>x", "<a>1<b>2</b>", "<a><b><tool>{}</a>", "</tool>", "<a><![CDATA[y]]>x<b>"] {
        grow_with_input(|k| format!("{HEAD}{}{TAIL}", unit.repeat(k)), read_in_pieces);
    }
    grow_with_input(|k| format!("{HEAD}<a>1<b>2</b>").repeat(k), read_in_pieces);
}

#[test]
fn values_before_one_stop() {
    let sample = "<tool><tool_name>q</tool_name><arguments><z>1</z></arguments></tool>";
    let units = [
        "<a>x".to_owned(),
        "<a>1<b>2</b>".to_owned(),
        format!("<a>see {sample}"),
        format!("<a>see {sample}<b>2</b>"),
        "<a>1</b>".to_owned(),
        "<p name=\"k\">1</q>".to_owned(),
        "<param name=\"k\">1".to_owned(),
        "<a><b>1".to_owned(),
        // Values named like the block, which count its close tags as their own.
        "<tool> 1<b>".to_owned(),
        "</b><tool> 1".to_owned(),
        "<a><tool> 1</tool>x".to_owned(),
    ];
    for unit in &units {
        check(|k| format!("{HEAD}{}{TAIL}", unit.repeat(k)));
        // In a row with a section behind all of them.
        check(|k| format!("{HEAD}{}<z>.<![CDATA[]]>{TAIL}", unit.repeat(k)));
    }
}

#[test]
fn values_with_sections() {
    for unit in ["<a>x<![CDATA[y]]>", "<a><![CDATA[y]]>x<b>", "<a><![CDATA[<![CDATA[y]]>]]>"] {
        check(|k| format!("{HEAD}{}{TAIL}", unit.repeat(k)));
    }
    check(|k| {
        let values: String = (0..k).map(|n| format!("<a{n}>x<![CDATA[y]]>")).collect();
        format!("{HEAD}{values}{TAIL}")
    });
}

#[test]
fn parts_of_objects() {
    for unit in ["<a><b>1</b>x", "<a><b>1</b><c>2</c>x", "<a><b><tool>{}</a>"] {
        check(|k| format!("{HEAD}{}{TAIL}", unit.repeat(k)));
        check(|k| format!("{HEAD}{}", unit.repeat(k)));
    }
    check(|k| {
        let values: String = (0..k).map(|n| format!("<a{n}><b>1</b>x")).collect();
        format!("{HEAD}{values}</b>{TAIL}")
    });
}

#[test]
fn values_of_many_blocks() {
    let unit = format!("{HEAD}<a>1<b>2</b>");
    check(|k| unit.repeat(k) + &TAIL.repeat(k));
    check(|k| unit.repeat(k) + &"</tool>".repeat(k) + TAIL);
}

#[test]
fn close_tags_and_what_follows_them() {
    for unit in ["gt;</a>", "</a>", "<b></a>"] {
        check(|k| format!("{HEAD}<z>{}{}", unit.repeat(k), format!("<?{TAIL}").repeat(k)));
    }
    for unit in ["</a><!-- </a> x -->", "</a><!-- </b> x -->"] {
        check(|k| format!("{HEAD}<a>{} y</a>{TAIL}", unit.repeat(k)));
        check(|k| format!("{HEAD}<a><b>{} y</a>{TAIL}", unit.repeat(k)));
    }
}

#[test]
fn declarations_and_comments() {
    check(|k| format!("<tool><tool_name>t<a>{}</tool>", "<!DOCTYPE</b>".repeat(k)));
    check(|k| format!("{HEAD}<a>{}{}{TAIL}", "</b><!DOCTYPE [".repeat(k), "]>".repeat(k)));
    check(|k| format!("{HEAD}<a>{}{TAIL}", "</b><!DOCTYPE [".repeat(k)));
    check(|k| format!("{HEAD}<a><b>{}y{TAIL}", "<!--]</b><!DOCTYPE[</a-->".repeat(k)));
}
