//! The tests of the crate: cases of each dialect, and the law that a mend only ever loosens.
#![allow(clippy::unwrap_used)]

mod cases;

use msg_schema::Dialect;

/// All dialects, by name.
pub(crate) const DIALECTS: [Dialect; 10] = [
    Dialect::OPENAI,
    Dialect::OPENAI_STRICT,
    Dialect::ANTHROPIC,
    Dialect::ANTHROPIC_STRICT,
    Dialect::GEMINI,
    Dialect::GEMINI_OPENAPI,
    Dialect::BEDROCK,
    Dialect::KIMI,
    Dialect::DEEPSEEK_STRICT,
    Dialect::COHERE_STRICT,
];
