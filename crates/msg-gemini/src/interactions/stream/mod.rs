//! Interaction streams (GI-16 to GI-22): steps in, one assistant message out.
//!
//! ```text
//! interaction.created                    id, model, status
//! step.start   index 0                   a step: thought, model_output, function_call, another
//! step.delta   index 0                   one string grows, or a whole content comes
//! step.stop    index 0
//! interaction.completed                  status, usage; the end
//! ```

mod assembler;
mod step;

use msg_codec::{Json, StreamFamily};

pub use assembler::{Interacting, InteractionAssembler};

/// Interaction streams, for a [`StreamReader`](msg_codec::StreamReader).
///
/// ```
/// use msg_codec::{StreamOptions, StreamReader};
/// use msg_gemini::interactions::INTERACTIONS;
///
/// let mut reader = StreamReader::new(&[INTERACTIONS], StreamOptions::default());
/// reader.feed(
///     br#"{"object":"interaction","status":"completed",
///          "steps":[{"type":"model_output","content":[{"type":"text","text":"Hi"}]}]}"#,
///     &mut |_| {},
/// );
/// let res = reader.finish(&mut |_| {});
/// assert!(res.complete);
/// assert_eq!(res.choices[0].message.text(), "Hi");
/// ```
pub const INTERACTIONS: StreamFamily = StreamFamily {
    name: "interactions",
    recognises,
    assembler: Some(|options| Box::new(InteractionAssembler::new(options))),
};

fn recognises(event: Json<'_>) -> bool {
    let event = unwrapped(event);
    let starts = ["interaction.", "step.", "content."];
    let kind = event.get("event_type").and_then(Json::text).unwrap_or_default();
    starts.iter().any(|start| kind.starts_with(start)) || is_body(event)
}

/// What an SDK logs around an event is taken off.
pub(super) fn unwrapped(event: Json<'_>) -> Json<'_> {
    let data = event.get("data").filter(|it| it.is_object() && event.get("event_type").is_none());
    data.unwrap_or(event)
}

/// Whether this is a whole interaction.
pub(super) fn is_body(event: Json<'_>) -> bool {
    let is_list = |name| event.get(name).is_some_and(Json::is_array);
    let is_named = event.get("object").and_then(Json::text).is_some_and(|it| it == "interaction");
    event.get("event_type").is_none()
        && (is_named || (is_list("steps") || is_list("outputs")) && event.get("status").is_some())
}
