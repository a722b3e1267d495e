//! Documents of the providers' wire formats.

#[path = "../../../crates/msg-anthropic/tests/it/laws/messages.rs"]
mod anthropic_messages;
#[path = "../../../crates/msg-bedrock/tests/it/laws/converse.rs"]
mod bedrock_converse;
#[path = "../../../crates/msg-gemini/tests/it/laws/contents.rs"]
mod gemini_contents;
#[path = "../../../crates/msg-openai/tests/it/laws/wire.rs"]
mod openai_wire;

pub(crate) fn anthropic(bytes: &[u8]) {
    anthropic_messages::identity(bytes);
    anthropic_messages::canonical_is_a_fixpoint(bytes);
    anthropic_messages::sealed_texts_survive(bytes);
    anthropic_messages::options_write_documents(bytes);
    if let Ok((messages, _)) = msg_core::native::read(bytes) {
        anthropic_messages::sent_in_silence_comes_back(&messages);
    }
}

pub(crate) fn bedrock(bytes: &[u8]) {
    bedrock_converse::identity(bytes);
    bedrock_converse::canonical_is_a_fixpoint(bytes);
    bedrock_converse::seals_survive(bytes);
    bedrock_converse::options_write_documents(bytes);
    if let Ok((messages, _)) = msg_core::native::read(bytes) {
        bedrock_converse::sent_in_silence_comes_back(&messages);
    }
}

pub(crate) fn gemini(bytes: &[u8]) {
    gemini_contents::identity(bytes);
    gemini_contents::canonical_is_a_fixpoint(bytes);
    gemini_contents::signatures_stay_on_their_parts(bytes);
    gemini_contents::options_write_documents(bytes);
    if let Ok((messages, _)) = msg_core::native::read(bytes) {
        gemini_contents::sent_in_silence_comes_back(&messages);
    }
}

pub(crate) fn wire(bytes: &[u8]) {
    openai_wire::chat_identity(bytes);
    openai_wire::chat_canonical_fixpoint(bytes);
    openai_wire::responses_identity(bytes);
    openai_wire::responses_canonical_fixpoint(bytes);
    openai_wire::converted_in_silence_comes_back(bytes);
}
