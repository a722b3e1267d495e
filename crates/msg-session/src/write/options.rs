//! How a session is written: what the agent will find in it.

use serde::Deserialize;

/// Options of writing a session (SE-80 to SE-82). The program fills in what a library does not know: the
/// time, a new id, the folder.
///
/// ```
/// use msg_session::{Context, WriteOptions};
/// let options = WriteOptions::default().with_cwd("/srv/app").with_context(Context::Keep);
/// assert_eq!(options.cwd, "/srv/app");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WriteOptions {
    /// The folder that the agent works in.
    pub cwd: String,
    /// The id of the session, a UUID for agents that want one.
    pub session_id: String,
    /// The time of all records, RFC 3339 with milliseconds.
    pub now: String,
    /// The version of the agent that is named in the records.
    pub version: String,
    /// What happens to system texts and context that an agent injected.
    pub context: Context,
    /// What happens to thoughts that only their provider can verify.
    pub signatures: Signatures,
    /// How a store of a framework writes what others of its kind write otherwise; 0 is the usual way.
    #[serde(skip)]
    pub(crate) style: u8,
}

/// What happens to system texts and injected context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Context {
    /// They stay behind: the other agent has its own.
    #[default]
    Drop,
    /// They go along, where the dialect has a place for them.
    Keep,
}

/// What happens to signed thoughts and encrypted reasoning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Signatures {
    /// They stay behind: no other provider takes them.
    #[default]
    Drop,
    /// They go along, back into the dialect that they came from.
    Keep,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self {
            cwd: "/".to_owned(),
            session_id: "00000000-0000-4000-8000-000000000000".to_owned(),
            now: "1970-01-01T00:00:00.000Z".to_owned(),
            version: "0.0.0".to_owned(),
            context: Context::default(),
            signatures: Signatures::default(),
            style: 0,
        }
    }
}

impl WriteOptions {
    /// As the store of a framework that this session is writes its records: in the version and with the names that it
    /// has. Other sessions have one way.
    ///
    /// ```
    /// use msg_core::Message;
    /// use msg_session::{Blob, Dialect, Session, WriteOptions, write};
    ///
    /// let flat = r#"[{"type":"human","content":"hi"}]"#;
    /// let session = Session::new(Dialect::LangChain, vec![Blob::new("", flat)]);
    /// let options = WriteOptions::default().in_style_of(&session);
    /// let (written, _) = write(Dialect::LangChain, &[Message::user("hi")], &options)?;
    /// assert_eq!(written, br#"[{"content":"hi","type":"human"}]"#);
    /// # Ok::<(), msg_session::Error>(())
    /// ```
    #[must_use]
    pub fn in_style_of(self, session: &crate::Session) -> Self {
        let store = crate::dialects::frameworks::store(session.dialect());
        let bytes = session.blobs().first().map_or(&[][..], |it| &it.bytes);
        Self { style: store.map_or(0, |it| it.style_of(bytes)), ..self }
    }
}

macro_rules! builders {
    ($($(#[$doc:meta])* $name:ident: $field:ident, $type:ty;)*) => {
        impl WriteOptions {
            $($(#[$doc])*
            #[must_use]
            pub fn $name(mut self, $field: impl Into<$type>) -> Self {
                self.$field = $field.into();
                self
            })*
        }
    };
}

builders! {
    /// The folder that the agent works in.
    with_cwd: cwd, String;
    /// The id of the session.
    with_session_id: session_id, String;
    /// The time of all records.
    with_now: now, String;
    /// The version of the agent.
    with_version: version, String;
    /// What happens to system texts and injected context.
    with_context: context, Context;
    /// What happens to signed thoughts.
    with_signatures: signatures, Signatures;
}
