//! The sessions on this machine: where agents put them, how one is loaded and put back.
//!
//! What a session says and how it is mended is `msg_session`'s; here are folders, files, backups and
//! clocks.
//!
//! ```text
//! latest, an id, a folder, a file ─ places ─▶ load ─▶ msg_session ─▶ put_back: backup, synced, renamed
//! ```

pub(crate) mod load;
pub(crate) mod places;
pub(crate) mod put_back;
pub(crate) mod usage;
