//! The laws that only hold between crates, over any conversation.
