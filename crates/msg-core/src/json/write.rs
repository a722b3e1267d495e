//! Appends JSON tokens to a buffer. Text that is not ASCII is not escaped.

use super::scan::next_special;

/// Appends a string with its quotes; quotes, backslashes and control characters escaped.
///
/// ```
/// let mut out = Vec::new();
/// msg_core::json::write_str(&mut out, "a \"b\"\né");
/// assert_eq!(out, "\"a \\\"b\\\"\\né\"".as_bytes());
/// ```
#[inline]
pub fn write_str(out: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    out.reserve(bytes.len() + 2);
    out.push(b'"');
    let mut start = 0;
    loop {
        let at = next_special(bytes, start);
        out.extend_from_slice(&bytes[start..at]);
        let Some(&special) = bytes.get(at) else { break };
        write_escape(out, special);
        start = at + 1;
    }
    out.push(b'"');
}

/// Appends `"name":`.
#[inline]
pub fn write_member_name(out: &mut Vec<u8>, name: &str) {
    write_str(out, name);
    out.push(b':');
}

/// Appends a whole number.
pub fn write_u64(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(number.to_string().as_bytes());
}

fn write_escape(out: &mut Vec<u8>, byte: u8) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let short = match byte {
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0c => b'f',
        _ => {
            out.extend_from_slice(b"\\u00");
            out.push(HEX[usize::from(byte >> 4)]);
            out.push(HEX[usize::from(byte & 15)]);
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}
