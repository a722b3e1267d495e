//! Who made a message (MS-1), where the source says it or the caller does. It is no part of what the message
//! says: equality does not see it, and formats do not write it.

use serde::{Deserialize, Serialize};

use crate::{Extra, Origin, RawJson};

/// The member of a message in native form that says it. It is a member like any that the form does not
/// know: it goes back as it came, and is made only where that is asked for.
const MEMBER: &str = "provenance";

/// Who made a message: what a signature in it may be bound to.
///
/// ```
/// use msg_core::{Message, Provenance};
///
/// let mut message = Message::assistant("Hello.");
/// message.set_provenance(Provenance { model: Some("m-1".to_owned()), ..Provenance::default() });
/// assert_eq!(message.provenance().and_then(|it| it.model.as_deref()), Some("m-1"));
/// assert_eq!(message, Message::assistant("Hello."));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Provenance {
    /// The provider's name, as profiles call it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The model's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The account or organisation whose key was used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
}

impl Provenance {
    /// What a message in native form says of its maker; none if it says nothing, or something else.
    pub(crate) fn kept_in(extra: &Extra) -> Option<Self> {
        extra.get(&Origin::Native, MEMBER)?.parse().ok()
    }

    /// Makes it a member of a message in native form.
    pub(crate) fn keep_in(&self, extra: &mut Extra) {
        let value = RawJson::written(|it| {
            it.object(|it| {
                for (name, text) in [
                    ("provider", &self.provider),
                    ("model", &self.model),
                    ("account", &self.account),
                ] {
                    it.optional(name, text.as_ref(), |it, text| it.str(text));
                }
            });
        });
        extra.insert(Origin::Native, MEMBER, value);
    }
}
