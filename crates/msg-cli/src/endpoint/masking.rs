//! The key of an endpoint, taken out of what the endpoint says: proxies and echo servers send back what they got.
//!
//! Knows the key as it was sent, not in other spellings of it.

/// Takes a key out of a text that comes in pieces.
#[derive(Debug, Default)]
pub(crate) struct Masking {
    key: Option<String>,
    /// The end of what came, as far as the key may begin with it.
    waiting: String,
    /// As `waiting`, of bytes.
    held: Vec<u8>,
}

/// The shortest key that is looked for: shorter ones are words.
const LEAST_KEY: usize = 6;

impl Masking {
    /// For this key.
    pub(crate) fn of(key: Option<&str>) -> Self {
        let key = key.filter(|it| it.len() >= LEAST_KEY).map(str::to_owned);
        Masking { key, ..Masking::default() }
    }

    /// A text without the key in it, as far as it is known to be none of the key.
    pub(crate) fn piece(&mut self, text: &str) -> String {
        let Some(key) = &self.key else { return text.to_owned() };
        let mut text = (std::mem::take(&mut self.waiting) + text).replace(key, MASK);
        let starts = (1..key.len()).rev().filter(|it| key.is_char_boundary(*it));
        let begun = starts.map(|it| &key[..it]).find(|it| text.ends_with(it));
        self.waiting = text.split_off(text.len() - begun.map_or(0, str::len));
        text
    }

    /// As [`Masking::piece`], of bytes that are read later.
    pub(crate) fn bytes(&mut self, piece: &[u8]) -> Vec<u8> {
        let Some(key) = self.key.as_deref().map(str::as_bytes) else { return piece.to_vec() };
        let mut all = std::mem::take(&mut self.held);
        all.extend_from_slice(piece);
        let mut res = Vec::with_capacity(all.len());
        let mut rest = all.as_slice();
        while let Some(at) = memchr::memmem::find(rest, key) {
            res.extend_from_slice(&rest[..at]);
            res.extend_from_slice(MASK.as_bytes());
            rest = &rest[at + key.len()..];
        }
        let begun = (1..key.len()).rev().find(|it| rest.ends_with(&key[..*it])).unwrap_or(0);
        let (said, held) = rest.split_at(rest.len() - begun);
        res.extend_from_slice(said);
        self.held = held.to_vec();
        res
    }

    /// The bytes that still wait, at the end.
    pub(crate) fn rest_of_bytes(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.held)
    }

    /// What still waits, at the end of a text.
    pub(crate) fn rest(&mut self) -> String {
        std::mem::take(&mut self.waiting)
    }

    /// A whole text without the key in it.
    pub(crate) fn whole(&self, text: String) -> String {
        match &self.key {
            Some(key) if text.contains(key) => text.replace(key, MASK),
            _ => text,
        }
    }
}

const MASK: &str = "[key]";

#[cfg(test)]
mod tests {
    use super::Masking;

    #[test]
    fn a_key_in_pieces_is_masked() {
        let text = "sk-s, sk-secret and sk-sk-secrets";
        for cut in (0..text.len()).chain([text.len()]) {
            for end in cut..=text.len() {
                let mut it = Masking::of(Some("sk-secret"));
                let pieces = [&text[..cut], &text[cut..end], &text[end..]];
                let shown = pieces.map(|piece| it.piece(piece)).concat() + &it.rest();
                assert_eq!(shown, "sk-s, [key] and sk-[key]s");
            }
        }
    }

    #[test]
    fn nothing_waits_without_a_key_or_for_a_word() {
        for key in [None, Some("ab")] {
            let mut it = Masking::of(key);
            assert_eq!((it.piece("cab"), it.rest()), ("cab".to_owned(), String::new()));
        }
    }

    #[test]
    fn bytes_hold_no_key_however_they_are_cut() {
        let whole = b"{\"id\":\"sk-secret-1\",\"model\":\"sk-sk-secret-1\"}";
        for len in 1..whole.len() {
            let mut masking = Masking::of(Some("sk-secret-1"));
            let mut out: Vec<u8> = whole.chunks(len).flat_map(|it| masking.bytes(it)).collect();
            out.extend(masking.rest_of_bytes());
            assert_eq!(out, b"{\"id\":\"[key]\",\"model\":\"sk-[key]\"}", "{len}");
        }
    }
}
