//! What holds for any input. The files in here use nothing but the crates under test, so that the fuzz
//! targets can take them in by path.

pub(crate) mod again;
#[path = "../../../../msg-codec/tests/it/laws.rs"]
pub(crate) mod stream;
pub(crate) mod wire;
