//! What a history comes to as a whole. How it is counted is `token_index`'s.

/// Messages, bytes and tokens of a history, the request's base included in the tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct Totals {
    /// How many messages.
    pub messages: usize,
    /// UTF-8 bytes (CA-20).
    pub bytes: u64,
    /// Tokens by the token index's counter.
    pub tokens: u64,
}
