//! The JSON Schemas (2020-12) of the documented forms, as text (MS-7).
//!
//! They describe what is written; readers take more. Nothing is validated here.

/// Messages in native form (MS-7).
const NATIVE: &str = include_str!("../schemas/native.schema.json");

/// Messages in the documented agent form (MS-11).
const AGENT: &str = include_str!("../schemas/agent.schema.json");

/// Stored turns (MS-19).
const TURNS: &str = include_str!("../schemas/turns.schema.json");

/// One stream event (MS-23).
const EVENT: &str = include_str!("../schemas/event.schema.json");

/// One diagnostic (MS-26).
const DIAGNOSTIC: &str = include_str!("../schemas/diagnostic.schema.json");

/// Names and texts of all schemas.
pub const ALL: &[(&str, &str)] = &[
    ("native", NATIVE),
    ("agent", AGENT),
    ("turns", TURNS),
    ("event", EVENT),
    ("diagnostic", DIAGNOSTIC),
];

/// The schema of this name: `native`, `agent`, `turns`, `event` or `diagnostic`.
///
/// ```
/// use msg_forms::schema;
/// assert!(schema::by_name("turns").unwrap().contains("\"turns\""));
/// assert_eq!(schema::by_name("yaml"), None);
/// ```
pub fn by_name(name: &str) -> Option<&'static str> {
    ALL.iter().find(|it| it.0 == name).map(|it| it.1)
}
