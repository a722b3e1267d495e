//! Whether bytes that come in pieces are UTF-8, without keeping them. It decodes nothing.

/// The state between two pieces: at most the start of one character.
#[derive(Debug, Clone, Default)]
pub(super) struct Utf8 {
    held: Vec<u8>,
    /// Where the first byte of it stood.
    held_at: u64,
}

impl Utf8 {
    /// Takes the next bytes, which begin at `at`; gives the place of the first that is none of a
    /// character's. Each byte is looked at once.
    pub(super) fn feed(&mut self, bytes: &[u8], at: u64) -> Option<u64> {
        let mut from = 0;
        while !self.held.is_empty() && from < bytes.len() {
            self.held.push(bytes[from]);
            match std::str::from_utf8(&self.held) {
                Ok(_) => self.held.clear(),
                Err(it) if it.error_len().is_none() => {}
                Err(_) => return self.end(),
            }
            from += 1;
        }
        let rest = &bytes[from..];
        let Err(error) = std::str::from_utf8(rest) else { return None };
        let wrong_at = at + (from + error.valid_up_to()) as u64;
        if error.error_len().is_some() {
            return Some(wrong_at);
        }
        self.held = rest[error.valid_up_to()..].to_vec();
        self.held_at = wrong_at;
        None
    }

    /// Ends the text; gives the place of a character that is not whole.
    pub(super) fn end(&mut self) -> Option<u64> {
        let is_cut = !std::mem::take(&mut self.held).is_empty();
        is_cut.then_some(self.held_at)
    }
}
