//! What a reader, a diagnosis and a mend are told.

use serde::Deserialize;

/// Options of reading, diagnosis and mending, as in `msg doctor --jsonl` (SE-91).
///
/// ```
/// use msg_session::SessionOptions;
/// assert!(SessionOptions::default().with_all().all);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SessionOptions {
    /// Whether the mends of warnings are made too.
    pub all: bool,
    /// Whether thinking blocks of the active path go (SE-45).
    pub drop_thinking: bool,
    /// Whether items that only another account can decrypt go (SE-54).
    pub drop_encrypted: bool,
    /// Whether lines of a data set that have errors go (SE-70).
    pub drop: bool,
    /// The message of a provider whose cause is sought (SE-45, SE-90).
    pub error: Option<String>,
    /// The version of the agent by which findings are judged, instead of the newest one that is known (SE-136).
    pub agent_version: Option<String>,
    /// The record along which the session is read, instead of the one that a resume would take.
    pub leaf: Option<String>,
    /// Records longer than this many bytes are not looked into (SE-2).
    pub max_record: u64,
    /// Whether tool calls in the text of older sessions are read (SE-67).
    pub xml: bool,
}

/// The size above which a record is not looked into: 256 MiB (SE-2).
const MAX_RECORD: u64 = 256 << 20;

impl Default for SessionOptions {
    fn default() -> Self {
        Self {
            all: false,
            drop_thinking: false,
            drop_encrypted: false,
            drop: false,
            error: None,
            agent_version: None,
            leaf: None,
            max_record: MAX_RECORD,
            xml: false,
        }
    }
}

impl SessionOptions {
    /// These over others: what is switched on by either is on, what both say is said by these.
    pub(crate) fn over(self, base: &Self) -> Self {
        Self {
            all: base.all || self.all,
            drop_thinking: base.drop_thinking || self.drop_thinking,
            drop_encrypted: base.drop_encrypted || self.drop_encrypted,
            drop: base.drop || self.drop,
            error: self.error.or_else(|| base.error.clone()),
            agent_version: self.agent_version.or_else(|| base.agent_version.clone()),
            leaf: self.leaf.or_else(|| base.leaf.clone()),
            max_record: if self.max_record == MAX_RECORD {
                base.max_record
            } else {
                self.max_record
            },
            xml: base.xml || self.xml,
        }
    }
}

macro_rules! builders {
    ($($(#[$doc:meta])* $name:ident => $field:ident = $value:expr $(, $arg:ident: $type:ty)?;)*) => {
        impl SessionOptions {
            $($(#[$doc])*
            #[must_use]
            pub fn $name(mut self $(, $arg: impl Into<$type>)?) -> Self {
                self.$field = $value;
                self
            })*
        }
    };
}

builders! {
    /// Makes the mends of warnings too.
    with_all => all = true;
    /// Drops thinking blocks of the active path.
    with_drop_thinking => drop_thinking = true;
    /// Drops items that only another account can decrypt.
    with_drop_encrypted => drop_encrypted = true;
    /// Drops lines of a data set that have errors.
    with_drop => drop = true;
    /// Reads tool calls in the text of older sessions.
    with_xml => xml = true;
    /// Looks for the cause of this message of a provider.
    with_error => error = Some(error.into()), error: String;
    /// Judges findings by this version of the agent.
    with_agent_version => agent_version = Some(version.into()), version: String;
    /// Reads along this record.
    with_leaf => leaf = Some(leaf.into()), leaf: String;
    /// Does not look into records above this size, in bytes.
    with_max_record => max_record = bytes.into(), bytes: u64;
}
