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

/// What is JSON is that to serde_json too, its value ends where it ends, and its strings say the same; cut off anywhere it is an
/// error whose place is no place behind it.
pub fn texts_are_judged_as_by_serde(text: &str) {
    let expected = serde_json::from_str::<serde_json::Value>(text);
    let found = msg_json::validate(text);
    assert_eq!(found.is_ok(), expected.is_ok(), "{text:?}: {found:?} and {expected:?}");
    let Ok(value) = expected else {
        let at = found.expect_err("because it is none").offset;
        return assert!(at <= text.len(), "{text:?}: {at}");
    };
    let whole = text.trim_end();
    assert_eq!(msg_json::value_end(text.as_bytes(), 0), Some(whole.len()), "{text:?}");
    assert_eq!(msg_json::value_end(format!("{text},1").as_bytes(), 0), Some(whole.len()));
    let mut compact = Vec::new();
    msg_json::write_compact(&mut compact, text);
    let again: serde_json::Value = serde_json::from_slice(&compact).expect("it stays JSON");
    assert_eq!(again, value, "{text:?}");
    if let Some(said) = value.as_str() {
        let source = text.trim();
        assert_eq!(msg_json::unescape(&source[1..source.len() - 1]).text, said);
    }
}
