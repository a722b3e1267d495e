//! Nonces keep the ids of calls from being guessed or repeated (MF-21, MF-37). Randomness is the caller's.

/// A segment of an id that nobody can foresee.
///
/// ```
/// use msg_file::Nonce;
/// assert_eq!(Nonce::from_random(0).as_str(), "a0000000");
/// assert_eq!(Nonce::from_random(u64::MAX).as_str().len(), 8);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Nonce(String);

impl Nonce {
    /// Eight characters, `[a-hjkmnp-tv-z][0-9a-hjkmnp-tv-z]{7}`, from 64 random bits, which are to be other ones each
    /// time: the same bits give the same nonce, and an answer with two calls takes two.
    #[must_use]
    pub fn from_random(bits: u64) -> Self {
        const SIGNS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
        let mut text = String::with_capacity(8);
        text.push(char::from(SIGNS[10 + (bits % 22) as usize]));
        let mut rest = bits / 22;
        for _ in 0..7 {
            text.push(char::from(SIGNS[(rest % 32) as usize]));
            rest /= 32;
        }
        Self(text)
    }

    /// The characters.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<String> for Nonce {
    fn from(text: String) -> Self {
        Self(text)
    }
}
