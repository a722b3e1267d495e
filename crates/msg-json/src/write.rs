//! Appends JSON tokens to a buffer. Text that is not ASCII is not escaped.

use crate::string::copy_plain;

/// Appends a string with its quotes; quotes, backslashes and control characters escaped.
///
/// ```
/// let mut out = Vec::new();
/// msg_json::write_str(&mut out, "a \"b\"\né");
/// assert_eq!(out, "\"a \\\"b\\\"\\né\"".as_bytes());
/// ```
#[inline]
pub fn write_str(out: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    // Room for the quotes and some escapes, and for the surplus of a copied word.
    out.reserve(bytes.len() + bytes.len() / 16 + 16);
    out.push(b'"');
    let mut at = 0;
    loop {
        at = copy_plain(bytes, at, out);
        let Some(&special) = bytes.get(at) else { break };
        write_escape(out, special);
        at += 1;
    }
    out.push(b'"');
}

/// Appends a whole number.
pub(crate) fn write_u64(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(number.to_string().as_bytes());
}

#[inline]
fn write_escape(out: &mut Vec<u8>, byte: u8) {
    let short = match byte {
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0c => b'f',
        _ => 0,
    };
    if short == 0 {
        const HEX: &[u8; 16] = b"0123456789abcdef";
        let digits = [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]];
        out.extend_from_slice(b"\\u00");
        return out.extend_from_slice(&digits);
    }
    out.extend_from_slice(&[b'\\', short]);
}
