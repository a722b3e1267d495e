//! Nested columns (SC-7): a list of structs is written as the document that its writer had. A null member is an
//! absent one, for each struct is padded to the members of all.
//!
//! ```text
//! [{role: user, content: hi, tool_calls: null}]                       [{"role":"user","content":"hi"}]
//! arguments: "{\"a\":1}"                                              a text stays a text
//! arguments: {a: 1, b: null}                                          {"a":1}, and a warning
//! ```
//!
//! Which nulls of such arguments were written cannot be known. Does not look at what the members mean.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, StructArray};
use arrow_schema::{DataType, Field, Fields};
use msg_core::{Code, Diagnostic};
use msg_json::write_str;
use serde::Serialize;

use crate::error::Error;
use crate::types::Width;

/// What was left out of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Padding {
    /// Nothing that could have been written.
    None,
    /// Null members of the arguments of a call.
    OfArguments,
}

impl Padding {
    /// What is said of it.
    pub(crate) fn warning(self) -> Option<Diagnostic> {
        let text = "null members of a call's arguments are left out: the column pads each object to the members \
                    of all, and which nulls were written cannot be known";
        let code = Code::new("document::padded-arguments");
        let fix = "keep conversations as JSON text, or arguments as a text";
        (self == Padding::OfArguments).then(|| Diagnostic::warning(code, text).with_fix(fix))
    }
}

/// How deep the types of a column may nest.
const MAX_DEPTH: usize = 64;

/// The members that hold a call's arguments: of OpenAI, of Anthropic, of Gemini.
const ARGUMENTS: [&str; 3] = ["arguments", "input", "args"];

/// The item of a list, whatever its layout.
pub(crate) fn is_list(of: &DataType) -> Option<&Field> {
    match of {
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::FixedSizeList(item, _) => Some(item),
        _ => None,
    }
}

/// Fails for a list of anything but structs, and for members that JSON has no value for.
pub(crate) fn expect(of: &DataType, item: &Field) -> Result<Width, Error> {
    if !matches!(item.data_type(), DataType::Struct(_)) {
        let expected = "a list of structs with role and content, or with from and value";
        return Err(Error::Type { found: of.clone(), place: String::new(), expected });
    }
    expect_value(item.data_type(), "item", 0)?;
    match of {
        DataType::LargeList(_) | DataType::LargeListView(_) => Ok(Width::Large),
        _ => Ok(Width::Small),
    }
}

fn expect_value(of: &DataType, place: &str, depth: usize) -> Result<(), Error> {
    let refuse = |expected| Error::Type { found: of.clone(), place: place.to_owned(), expected };
    if depth > MAX_DEPTH {
        return Err(refuse("members that nest at most 64 deep"));
    }
    if let Some(item) = is_list(of) {
        return expect_value(item.data_type(), &format!("{place}.item"), depth + 1);
    }
    match of {
        DataType::Struct(members) => members.iter().try_for_each(|it| {
            expect_value(it.data_type(), &format!("{place}.{}", it.name()), depth + 1)
        }),
        DataType::Map(entries, _) => match entries.data_type() {
            DataType::Struct(pair) if pair.len() == 2 && is_text(pair[0].data_type()) => {
                expect_value(pair[1].data_type(), &format!("{place}.value"), depth + 1)
            }
            _ => Err(refuse("a map from texts")),
        },
        it if is_text(it) || is_scalar(it) => Ok(()),
        _ => Err(refuse("texts, numbers, booleans, lists, structs or maps from texts")),
    }
}

fn is_text(of: &DataType) -> bool {
    matches!(of, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
        || matches!(of, DataType::Dictionary(_, value) if is_text(value))
}

fn is_scalar(of: &DataType) -> bool {
    of.is_integer()
        || matches!(of, DataType::Null | DataType::Boolean)
        || matches!(of, DataType::Float32 | DataType::Float64)
}

/// The document of row `i`, which is not null.
pub(crate) fn document(array: &dyn Array, i: usize) -> (Vec<u8>, Padding) {
    let mut writer = Writer { out: Vec::new(), padding: Padding::None, in_arguments: false };
    writer.value(array, i);
    (writer.out, writer.padding)
}

struct Writer {
    out: Vec<u8>,
    padding: Padding,
    in_arguments: bool,
}

impl Writer {
    /// A value of a type that was expected; depth is that of the type.
    fn value(&mut self, array: &dyn Array, i: usize) {
        if is_null(array, i) {
            return self.out.extend_from_slice(b"null");
        }
        if let Some(items) = items(array, i) {
            return self.list(&items);
        }
        match array.data_type() {
            DataType::Struct(members) => self.object(array.as_struct(), members, i),
            DataType::Map(..) => self.map(&array.as_map().value(i)),
            DataType::Boolean => {
                let word: &[u8] = if array.as_boolean().value(i) { b"true" } else { b"false" };
                self.out.extend_from_slice(word);
            }
            _ => match text(array, i) {
                Some(text) => write_str(&mut self.out, text),
                None => self.number(array, i),
            },
        }
    }

    fn list(&mut self, items: &ArrayRef) {
        self.out.push(b'[');
        for i in 0..items.len() {
            if i > 0 {
                self.out.push(b',');
            }
            self.value(items, i);
        }
        self.out.push(b']');
    }

    fn object(&mut self, array: &StructArray, members: &Fields, i: usize) {
        let start = self.out.len();
        self.out.push(b'{');
        for (member, column) in members.iter().zip(array.columns()) {
            if is_null(column, i) {
                if self.in_arguments {
                    self.padding = Padding::OfArguments;
                }
                continue;
            }
            if self.out.len() > start + 1 {
                self.out.push(b',');
            }
            write_str(&mut self.out, member.name());
            self.out.push(b':');
            self.member(member, column, i);
        }
        self.out.push(b'}');
    }

    fn member(&mut self, member: &Field, column: &ArrayRef, i: usize) {
        let outer = self.in_arguments;
        self.in_arguments |= ARGUMENTS.contains(&member.name().as_str());
        self.value(column, i);
        self.in_arguments = outer;
    }

    fn map(&mut self, entries: &StructArray) {
        let (keys, values) = (entries.column(0), entries.column(1));
        self.out.push(b'{');
        for i in 0..entries.len() {
            if i > 0 {
                self.out.push(b',');
            }
            write_str(&mut self.out, text(keys, i).unwrap_or_default());
            self.out.push(b':');
            self.value(values, i);
        }
        self.out.push(b'}');
    }

    fn put(&mut self, number: impl Serialize) {
        serde_json::to_writer(&mut self.out, &number).expect("because a vector takes all bytes");
    }

    fn number(&mut self, array: &dyn Array, i: usize) {
        match array.data_type() {
            DataType::Int8 => self.put(array.as_primitive::<Int8Type>().value(i)),
            DataType::Int16 => self.put(array.as_primitive::<Int16Type>().value(i)),
            DataType::Int32 => self.put(array.as_primitive::<Int32Type>().value(i)),
            DataType::Int64 => self.put(array.as_primitive::<Int64Type>().value(i)),
            DataType::UInt8 => self.put(array.as_primitive::<UInt8Type>().value(i)),
            DataType::UInt16 => self.put(array.as_primitive::<UInt16Type>().value(i)),
            DataType::UInt32 => self.put(array.as_primitive::<UInt32Type>().value(i)),
            DataType::UInt64 => self.put(array.as_primitive::<UInt64Type>().value(i)),
            DataType::Float32 => self.put(array.as_primitive::<Float32Type>().value(i)),
            DataType::Float64 => self.put(array.as_primitive::<Float64Type>().value(i)),
            _ => self.put(()),
        }
    }
}

fn is_null(array: &dyn Array, i: usize) -> bool {
    match array.data_type() {
        DataType::Null => true,
        DataType::Dictionary(..) => text(array, i).is_none(),
        _ => array.is_null(i),
    }
}

/// The items of a list, if it is one.
fn items(array: &dyn Array, i: usize) -> Option<ArrayRef> {
    match array.data_type() {
        DataType::List(_) => Some(array.as_list::<i32>().value(i)),
        DataType::LargeList(_) => Some(array.as_list::<i64>().value(i)),
        DataType::ListView(_) => Some(array.as_list_view::<i32>().value(i)),
        DataType::LargeListView(_) => Some(array.as_list_view::<i64>().value(i)),
        DataType::FixedSizeList(..) => Some(array.as_fixed_size_list().value(i)),
        _ => None,
    }
}

/// The text of a value, if it is one and not null.
fn text(array: &dyn Array, i: usize) -> Option<&str> {
    if array.is_null(i) {
        return None;
    }
    match array.data_type() {
        DataType::Utf8 => Some(array.as_string::<i32>().value(i)),
        DataType::LargeUtf8 => Some(array.as_string::<i64>().value(i)),
        DataType::Utf8View => Some(array.as_string_view().value(i)),
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary_opt()?;
            let key = crate::input::key(dictionary.keys(), i)?;
            let values = dictionary.values();
            (key < values.len()).then(|| text(values, key)).flatten()
        }
        _ => None,
    }
}
