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
    let mut opts = Options::default();
    // Each of them may be read through to the end.
    opts.limits.max_retries = 8;
    let read = |text: &str| drop(parse(text.as_bytes(), None, &opts));
    let unit = format!("{HEAD}<a>1<b>2</b>");
    grow_with_input(|k| unit.repeat(k) + &TAIL.repeat(k), read);
    grow_with_input(|k| unit.repeat(3 * k) + &"</tool>".repeat(3 * k) + TAIL, read);
}

/// However deep objects may nest, what is read of them in vain is bounded.
#[test]
fn values_in_many_levels() {
    let mut opts = Options::default();
    opts.limits.max_depth = 1000;
    let deep = |n: usize| format!("{}x{}", "<a>".repeat(900), "</a>".repeat(n));
    for unit in ["<a>".repeat(900), "<a><b>1</b>".repeat(900), deep(900), deep(899), deep(10)] {
        let text = format!("{HEAD}<z>{}</y>{TAIL}", unit.repeat(10));
        let steps = crate::steps::during(|| parse(text.as_bytes(), None, &opts)).1;
        assert!(steps <= 64 * text.len(), "{unit:.40}: {steps} of {}", text.len());
    }
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
