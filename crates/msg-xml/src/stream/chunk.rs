//! Chunks that are kept without a look at what is in them.

/// Longest chunk that is pushed byte by byte: for so few that costs less than a check and a copy.
const SHORT: usize = 4;

/// Appends `bytes` to `carry`, if they are UTF-8.
pub(super) fn keep(bytes: &[u8], carry: &mut String) -> bool {
    if bytes.len() <= SHORT && bytes.is_ascii() {
        bytes.iter().for_each(|&b| carry.push(char::from(b)));
        return true;
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => {
            carry.push_str(text);
            true
        }
        Err(_) => false,
    }
}
