//! The JSON form of documents (MF-58): members in a fixed order, written straight to text.
//!
//! Reading JSON is not done here, and neither is anything a library user cannot get from the types.
//!
//! ```text
//! {"ordinal":0,"kind":"message","level":1,"heading":"strong","title":"Question","id":"1","type":"markdown",…}   a cell
//! ```

mod cell;
mod document;
mod out;

pub(crate) use out::Out;
