//! Objects both ways: the known members, the order in which a source had them, the odd shapes of
//! their values, and the raw members around them. It knows no format.
//!
//! ```text
//! {"x":1,"content":null,"role":"user"}
//!     Shape(&["role","content"])            codes 1 and 2; 0 is every other member
//!     Fields     hands out codes while it reads; keeps x raw -> Extra, and the order
//!     layout     [0, 2|variant<<5, 1]       kept in Extra only if canonical writing would differ
//! Shape::write(plan, want, raw, |out, code| ..)   the same object again
//! ```

mod document;
mod fields;
mod kept;
mod layout;
mod losses;
mod object;
mod shape;
mod wanted;

pub use document::{BodyKind, Document, MessageBody, RequestBody};
pub use fields::{
    Context, Fields, RawMember, members_of, object_members, object_of, text_of, type_of,
};
pub(crate) use kept::note_model;
pub use kept::{Body, Inner, forget_whole, keep_whole, read_alone, read_mended, whole_in};
pub use layout::{NULL, Placement, Plan, argument_text};
pub use losses::{BEDROCK, Losses, owner_of_member, owner_of_type};
pub use object::{ArgumentForm, Build, Content, PartWriter, Placed, Purpose, text_of_part};
pub use shape::{Shape, Value, bit, mask};
pub use wanted::{Found, Mended, Parts, Want, Wants};
