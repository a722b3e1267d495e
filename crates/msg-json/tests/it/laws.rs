//! The laws of JSON texts: a function each, which panics where the law is broken.

/// A text is written as serde_json writes it, and read back.
pub fn strings_are_read_back(text: &str) {
    let mut out = Vec::new();
    msg_json::write_str(&mut out, text);
    let written = String::from_utf8(out).expect("written text is UTF-8");
    assert_eq!(written, serde_json::to_string(text).expect("because a text is JSON"));
    let mut reader = msg_json::Reader::from_text(&written);
    assert_eq!(reader.string().expect("what was written can be read").text, text);
    assert_eq!(msg_json::unescape(&written[1..written.len() - 1]).text, text);
}
