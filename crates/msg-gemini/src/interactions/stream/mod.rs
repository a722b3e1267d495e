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
mod family;
mod step;

pub use assembler::InteractionAssembler;
pub use family::INTERACTIONS;
