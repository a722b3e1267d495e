//! Words for roles that a reader understands and the provider that is asked does not (MS-2).
//!
//! ```json
//! [{"role":"human","content":"hi"}]
//! ```
//!
//! is read as a user's message and goes back as it came; a provider of chat messages refuses it. Says nothing of
//! a document that has to be converted for that provider: a conversion writes the provider's words.

use msg_chainast::Profile;
use msg_core::{Code, Diagnostic};

use crate::document::Document;

/// What is to be said of each such word, in order, with its mending. Linear in the notes of the reader.
pub(crate) fn respelled_roles<'a>(
    document: &'a Document,
    profile: Option<&Profile>,
) -> impl Iterator<Item = Diagnostic> + use<'a> {
    let is_asked = profile.is_some_and(|it| it.format == document.format().name());
    let notes = document.notes().iter().filter(move |_| is_asked);
    notes.filter(|it| it.code == "message::role-spelling").map(refused)
}

fn refused(note: &Diagnostic) -> Diagnostic {
    let text = format!("{}, and the provider refuses the word", note.message());
    let mut res = Diagnostic::error(Code::new("profile::role-spelling"), text);
    res.at = note.at.clone();
    res.with_fix("wrote the word of the format")
}
