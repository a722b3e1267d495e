//! The columns that people have (SC-5): text and bytes in all their layouts are read in place, a row is a slice of
//! the column's buffer; nested columns are written as the document that they came from (`nested`).
//!
//! ```text
//! Utf8  LargeUtf8  Utf8View  Binary  LargeBinary  BinaryView      a slice
//! Dictionary<any, one of these>                                   a slice of the dictionary
//! List<Struct{role, content, …}>, List<Struct{from, value}>       written, without null members
//! ```

use std::borrow::Cow;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowDictionaryKeyType, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, LargeBinaryArray, LargeStringArray, StringArray,
    StringViewArray,
};
use arrow_buffer::ArrowNativeType;
use arrow_schema::DataType;

use crate::error::Error;
use crate::nested::{self, Padding};
use crate::output::{Texts, utf8};
use crate::types::Width;

/// A column of documents.
pub(crate) enum Column<'a> {
    Utf8(&'a StringArray),
    LargeUtf8(&'a LargeStringArray),
    Utf8View(&'a StringViewArray),
    Binary(&'a BinaryArray),
    LargeBinary(&'a LargeBinaryArray),
    BinaryView(&'a BinaryViewArray),
    Dictionary { keys: &'a dyn Array, values: Box<Column<'a>> },
    Nested(&'a dyn Array),
}

/// A row that is not null.
pub(crate) struct Row<'a> {
    pub(crate) json: Cow<'a, [u8]>,
    /// What was left out where a nested column was padded.
    pub(crate) padding: Padding,
}

impl<'a> Column<'a> {
    /// A column of texts, bytes or nested documents.
    pub(crate) fn of_documents(array: &'a dyn Array) -> Result<Self, Error> {
        expect_documents(array.data_type())?;
        Column::of(array)
    }

    fn of(array: &'a dyn Array) -> Result<Self, Error> {
        Ok(match array.data_type() {
            DataType::Utf8 => Column::Utf8(array.as_string()),
            DataType::LargeUtf8 => Column::LargeUtf8(array.as_string()),
            DataType::Utf8View => Column::Utf8View(array.as_string_view()),
            DataType::Binary => Column::Binary(array.as_binary()),
            DataType::LargeBinary => Column::LargeBinary(array.as_binary()),
            DataType::BinaryView => Column::BinaryView(array.as_binary_view()),
            DataType::Dictionary(..) => dictionary(array)?,
            _ => Column::Nested(array),
        })
    }

    /// Row `i`; none if it is null. `i` is below the length of the array.
    pub(crate) fn row(&self, i: usize) -> Option<Row<'a>> {
        let text = |it: &'a [u8]| Row { json: Cow::Borrowed(it), padding: Padding::None };
        match self {
            Column::Utf8(it) => it.is_valid(i).then(|| text(it.value(i).as_bytes())),
            Column::LargeUtf8(it) => it.is_valid(i).then(|| text(it.value(i).as_bytes())),
            Column::Utf8View(it) => it.is_valid(i).then(|| text(it.value(i).as_bytes())),
            Column::Binary(it) => it.is_valid(i).then(|| text(it.value(i))),
            Column::LargeBinary(it) => it.is_valid(i).then(|| text(it.value(i))),
            Column::BinaryView(it) => it.is_valid(i).then(|| text(it.value(i))),
            Column::Dictionary { keys, values } => key(*keys, i).and_then(|it| values.row(it)),
            Column::Nested(it) => it.is_valid(i).then(|| {
                let (json, padding) = nested::document(*it, i);
                Row { json: Cow::Owned(json), padding }
            }),
        }
    }
}

fn dictionary(array: &dyn Array) -> Result<Column<'_>, Error> {
    let dictionary = array.as_any_dictionary_opt();
    let dictionary = dictionary.ok_or_else(|| no_column(array.data_type()))?;
    let values = Box::new(Column::of(&**dictionary.values())?);
    Ok(Column::Dictionary { keys: dictionary.keys(), values })
}

/// The number of a row's value in its dictionary; none for null.
pub(crate) fn key(keys: &dyn Array, i: usize) -> Option<usize> {
    fn of<K: ArrowDictionaryKeyType>(keys: &dyn Array, i: usize) -> usize {
        keys.as_primitive::<K>().value(i).as_usize()
    }
    keys.is_valid(i).then(|| match keys.data_type() {
        DataType::Int8 => of::<Int8Type>(keys, i),
        DataType::Int16 => of::<Int16Type>(keys, i),
        DataType::Int32 => of::<Int32Type>(keys, i),
        DataType::Int64 => of::<Int64Type>(keys, i),
        DataType::UInt8 => of::<UInt8Type>(keys, i),
        DataType::UInt16 => of::<UInt16Type>(keys, i),
        DataType::UInt32 => of::<UInt32Type>(keys, i),
        _ => of::<UInt64Type>(keys, i),
    })
}

/// Fails for what holds no documents.
pub(crate) fn expect_documents(of: &DataType) -> Result<Width, Error> {
    nested::is_list(of).map_or_else(|| expect_text(of), |item| nested::expect(of, item))
}

/// Fails for what holds neither text nor bytes.
pub(crate) fn expect_text(of: &DataType) -> Result<Width, Error> {
    match of {
        DataType::Utf8 | DataType::Binary => Ok(Width::Small),
        DataType::LargeUtf8 | DataType::LargeBinary => Ok(Width::Large),
        // A view's texts and a dictionary's values may be more than offsets of 32 bits hold, but so seldom that the
        // usual type is given.
        DataType::Utf8View | DataType::BinaryView => Ok(Width::Small),
        DataType::Dictionary(key, value) if key.is_dictionary_key_type() => {
            let is_dictionary = matches!(**value, DataType::Dictionary(..));
            if is_dictionary { Err(no_column(of)) } else { expect_text(value) }
        }
        _ => Err(no_column(of)),
    }
}

fn no_column(found: &DataType) -> Error {
    let expected = "texts, bytes, or lists of structs with role and content";
    Error::Type { found: found.clone(), place: String::new(), expected }
}

/// A column of lists of texts.
pub(crate) struct TextLists<'a> {
    lists: &'a dyn Array,
    texts: Column<'a>,
}

impl<'a> TextLists<'a> {
    /// Fails for other columns.
    pub(crate) fn of(lists: &'a dyn Array) -> Result<Self, Error> {
        let small = lists.as_list_opt::<i32>().map(|it| &**it.values());
        let texts = small.or_else(|| lists.as_list_opt::<i64>().map(|it| &**it.values()));
        let texts = texts.filter(|it| expect_text(it.data_type()).is_ok());
        let (found, expected) = (lists.data_type(), "lists of texts");
        let no_lists = || Error::Type { found: found.clone(), place: String::new(), expected };
        Ok(TextLists { lists, texts: Column::of(texts.ok_or_else(no_lists)?)? })
    }

    /// The texts of a row; none for null.
    pub(crate) fn row(&self, i: usize) -> Vec<Option<String>> {
        let range = match (self.lists.as_list_opt::<i32>(), self.lists.as_list_opt::<i64>()) {
            _ if self.lists.is_null(i) => 0..0,
            (Some(it), _) => at(it.value_offsets(), i),
            (_, Some(it)) => at(it.value_offsets(), i),
            _ => 0..0,
        };
        let text = |it: Row<'_>| utf8(&it.json).into_owned();
        range.map(|it| self.texts.row(it).map(text)).collect()
    }
}

/// Where the items of a list are.
fn at<O: ArrowNativeType>(offsets: &[O], i: usize) -> std::ops::Range<usize> {
    offsets[i].as_usize()..offsets[i + 1].as_usize()
}

/// The documents of a column as texts: what the kernels read of a nested column, bytes that are UTF-8 as they are.
/// Text is the form to keep documents in (SC-7).
///
/// Bytes that are not UTF-8 have their wrong ones replaced.
///
/// Fails for a column that holds no documents, and with [`Error::TooLarge`].
///
/// ```
/// use arrow_array::{Array, BinaryArray, cast::AsArray};
///
/// let rows = BinaryArray::from(vec![Some(&b"[]"[..]), None]);
/// let texts = msg_arrow::to_text(&rows)?;
/// assert_eq!(texts.as_string::<i32>().value(0), "[]");
/// assert!(texts.is_null(1));
/// # Ok::<(), msg_arrow::Error>(())
/// ```
pub fn to_text(column: &dyn Array) -> Result<ArrayRef, Error> {
    let width = expect_documents(column.data_type())?;
    let rows = Column::of(column)?;
    let mut out = Texts::new(width);
    for i in 0..column.len() {
        let row = rows.row(i);
        let text = row.as_ref().map(|it| utf8(&it.json));
        out.push(text.as_deref()).map_err(|_| Error::TooLarge { row: i })?;
    }
    Ok(out.finish())
}
