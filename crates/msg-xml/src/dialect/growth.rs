//! What reading costs grows with the input here too, whatever is not closed (XT-43).

use crate::steps::grow_with_input;
use crate::{Dialects, Options, StreamParser, parse};

fn options() -> Options {
    let dialects = Dialects::by_names(["invoke"]).expect("because it is built in");
    Options::new().with_dialects(dialects)
}

fn read(text: &str) {
    parse(text.as_bytes(), None, &options());
}

fn read_in_pieces(text: &str) {
    let mut parser = StreamParser::new(options());
    for piece in text.as_bytes().chunks(7) {
        parser.feed(piece).for_each(drop);
    }
    parser.finish(None).for_each(drop);
}

fn check(make: impl Fn(usize) -> String) {
    grow_with_input(&make, read);
    grow_with_input(&make, read_in_pieces);
}

const OPEN: &str = r#"<parameter name="a">"#;

fn call(body: &str) -> String {
    format!("<invoke name=\"f\">{body}</invoke>")
}

#[test]
fn unclosed_values() {
    check(|k| call(&format!("{OPEN}1{OPEN}2</parameter>").repeat(k)));
    check(|k| call(&(format!("{OPEN}1").repeat(k) + &"</parameter>x".repeat(k))));
    for end in ["</function_calls> t", "</function_calls></invoke>", ""] {
        check(|k| {
            format!("<function_calls><invoke name=\"f\">{}{end}", format!("{OPEN}3").repeat(k))
        });
    }
}

#[test]
fn values_with_calls_in_them() {
    let nested = r#"<invoke name="z"></invoke>"#;
    check(|k| call(&format!("{OPEN}{nested}{OPEN}v</parameter>").repeat(k)));
    let open = r#"<invoke name="z">"#;
    check(|k| call(&(format!("{OPEN}{open}").repeat(k) + &"</invoke>".repeat(k))));
}

#[test]
fn values_of_many_blocks() {
    let unit = format!(r#"<invoke name="f">{OPEN}<invoke name="z">{OPEN}v</parameter></invoke> x"#);
    check(|k| unit.repeat(k) + &"</invoke>".repeat(k));
}
