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

mod body;
mod context;
mod document;
mod fields;
mod kept;
mod layout;
mod losses;
mod object;
mod owners;
mod part;
mod placement;
mod raw;
mod shape;
mod spelling;
mod wanted;
mod whole;

pub use body::Body;
pub(crate) use body::note_model;
pub use context::Context;
pub use document::{BodyKind, Document, MessageBody, RequestBody};
pub use fields::Fields;
pub use kept::Inner;
pub use layout::Plan;
pub use losses::Losses;
pub use object::{ArgumentForm, PartWriter, Placed, Purpose, text_of_part};
pub use owners::{BEDROCK, owner_of_member, owner_of_type};
pub use part::{Build, Content};
pub use placement::Placement;
pub use raw::{RawMember, members_of, object_members, object_of, text_of, type_of};
pub use shape::{Shape, Value, bit, mask};
pub use spelling::{NULL, argument_text};
pub use wanted::{Found, Mended, Parts, Want, Wants};
pub use whole::{forget_whole, keep_whole, read_alone, read_mended, whole_in};
