//! Who made messages, where what stands around them says it (MS-1). Whether a model is the one that is asked
//! is for those to judge who know what is asked.

use msg_core::{Message, Provenance};

/// Says of messages which model made them: what a signature in them is bound to.
pub fn note_model<'m>(messages: impl IntoIterator<Item = &'m mut Message>, model: Option<&str>) {
    let Some(model) = model.filter(|it| !it.is_empty()) else { return };
    let maker = Provenance { model: Some(model.to_owned()), ..Provenance::default() };
    messages.into_iter().for_each(|it| it.set_provenance(maker.clone()));
}
