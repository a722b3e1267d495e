//! Base64 (RFC 4648), both alphabets: of images, whose beginning is enough, and of sessions in a line.

/// The bytes that a text stands for, as far as it is base64.
pub(crate) fn decode_start(text: &str) -> Vec<u8> {
    decode(text).0
}

/// The bytes that a whole text stands for; none if it is something else.
pub(crate) fn decode_all(text: &str) -> Option<Vec<u8>> {
    let (bytes, rest) = decode(text);
    rest.bytes().all(|it| it == b'=').then_some(bytes)
}

/// The bytes, and the text from the first character on that is no base64.
fn decode(text: &str) -> (Vec<u8>, &str) {
    let mut res = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0u32, 0);
    for (at, it) in text.bytes().enumerate() {
        let value = match it {
            b'A'..=b'Z' => it - b'A',
            b'a'..=b'z' => it - b'a' + 26,
            b'0'..=b'9' => it - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            // The slash of a JSON escape.
            b'\\' => continue,
            _ => return (res, &text[at..]),
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            res.push((bits >> count) as u8);
        }
    }
    (res, "")
}
