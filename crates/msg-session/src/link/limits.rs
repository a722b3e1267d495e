//! What providers take of images (SE-39): `limits.json`, where each number has its source.
//!
//! ```text
//! {"providers": ["anthropic"], "side": 8000, "base64": 5242880, "many": 20, "many_side": 2000, "sources": {…}}
//! ```

use std::sync::LazyLock;

use serde::Deserialize;

/// What a provider takes; nothing where no limit is known.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Limits {
    /// Its names, as agents write them.
    providers: Vec<String>,
    /// Pixels a side.
    pub(super) side: Option<u32>,
    /// Bytes of base64.
    pub(super) base64: Option<usize>,
    /// How many images of a request are not yet many, and the pixels a side of many.
    pub(super) many: Option<usize>,
    pub(super) many_side: Option<u32>,
}

static ALL: LazyLock<Vec<Limits>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("limits.json")).expect("because a test reads it")
});

/// The limits of a provider; of one that is not named, or not known, those of the first, the strictest.
pub(crate) fn of(provider: Option<&str>) -> &'static Limits {
    let is_meant = |it: &&Limits| it.providers.iter().any(|it| Some(it.as_str()) == provider);
    ALL.iter().find(is_meant).unwrap_or(&ALL[0])
}
