//! What the readers and writers of both wire formats share: the known members of an object, the
//! order in which a source had them, and the raw members around them. It knows no format.

mod context;
mod document;
mod fields;
mod losses;
mod order;
mod raw;
mod shape;
pub(crate) mod spelling;

pub(crate) use context::Context;
pub(crate) use document::{DocumentShape, Family, read_document};
pub(crate) use fields::Fields;
pub(crate) use losses::Losses;
pub(crate) use order::{EMPTY, Plan, SECTION, section};
pub(crate) use raw::{Raw, members_of, object_members, object_of, text_of};
pub(crate) use shape::{Shape, bit, mask};
