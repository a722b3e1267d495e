//! What holds for any input. The files in here use nothing but the crates under test, so that the fuzz
//! targets can include them by path.

pub(crate) mod converse;
pub(crate) mod frames;
#[path = "../../../../msg-codec/tests/it/laws.rs"]
pub(crate) mod stream;
