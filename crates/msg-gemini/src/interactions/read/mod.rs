//! Steps of an interaction: from bytes straight into [`Message`](msg_core::Message)s (GI-2 to GI-14). Nothing is judged here and nothing is
//! dropped; what the model has no place for is carried.
//!
//! ```text
//! thought, model_output, function_call       one assistant message, parts in step order    GI-3
//! function_result, function_result           one tool message
//! {"type":"user_input","content":[…]}        a user message
//! {"role":"model","content":[…]}             a turn of the older schema: a message         GI-14
//! ```

mod content;
mod item;
mod step;

pub(crate) use content::{read_content, says};
pub(crate) use item::{is_item, summary_of};
pub(crate) use step::{read_items, read_steps, silent_steps};
