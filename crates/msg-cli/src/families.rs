//! The families of streams that this program reads, in the order in which they are asked whose an
//! event is (OA-17). What each is, is for its crate to say.

use msg_wire::Family;

/// All of them; what none recognises is Chat Completions, of which compatible servers send anything.
pub(crate) static ALL: [&dyn Family; 3] =
    [msg_openai::RESPONSES, msg_anthropic::ANTHROPIC, msg_openai::CHAT];

pub(crate) static CHAT: [&dyn Family; 1] = [msg_openai::CHAT];
pub(crate) static RESPONSES: [&dyn Family; 1] = [msg_openai::RESPONSES];
pub(crate) static ANTHROPIC: [&dyn Family; 1] = [msg_anthropic::ANTHROPIC];
