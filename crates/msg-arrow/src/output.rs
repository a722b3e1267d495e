//! Columns of answers under construction: one builder a type of SC-10, each takes an answer or nothing a row.
//!
//! No offset wraps: a text or a list that has no place in its column is [`Full`] (SC-15).

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::builder::{
    ArrayBuilder, FixedSizeBinaryBuilder, Int32Builder, Int64Builder, LargeStringBuilder,
    StringBuilder,
};
use arrow_array::{Array, ArrayRef, FixedSizeBinaryArray, ListArray, StructArray};
use arrow_buffer::{NullBuffer, NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Fields};
use msg_core::Diagnostic;
use msg_document::Key;

use crate::types::{self, Width};

/// The answers have no place in their column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Full;

/// A column that takes an item or nothing a row.
pub(crate) trait Build<T> {
    fn push(&mut self, item: Option<T>) -> Result<(), Full>;
    fn finish(&mut self) -> ArrayRef;
}

/// A column of texts.
pub(crate) enum Texts {
    Small(StringBuilder),
    Large(LargeStringBuilder),
}

impl Texts {
    pub(crate) fn new(width: Width) -> Self {
        match width {
            Width::Small => Texts::Small(StringBuilder::new()),
            Width::Large => Texts::Large(LargeStringBuilder::new()),
        }
    }

    /// With room for so many bytes: growing step by step copies what is there each time.
    pub(crate) fn with_room(width: Width, bytes: usize) -> Self {
        match width {
            Width::Small => Texts::Small(StringBuilder::with_capacity(0, bytes)),
            Width::Large => Texts::Large(LargeStringBuilder::with_capacity(0, bytes)),
        }
    }

    /// Names, sentences and the like: small whatever the column is.
    pub(crate) fn small() -> Self {
        Texts::new(Width::Small)
    }

    pub(crate) fn push(&mut self, text: Option<&str>) -> Result<(), Full> {
        match self {
            Texts::Small(it) => {
                place(it.values_slice().len(), text.map_or(0, str::len))?;
                it.append_option(text);
            }
            Texts::Large(it) => it.append_option(text),
        }
        Ok(())
    }

    pub(crate) fn finish(&mut self) -> ArrayRef {
        match self {
            Texts::Small(it) => Arc::new(it.finish()),
            Texts::Large(it) => Arc::new(it.finish()),
        }
    }
}

/// Whether there is room for more bytes after those that are there.
fn place(len: usize, more: usize) -> Result<(), Full> {
    let fits = len.checked_add(more).is_some_and(|it| i32::try_from(it).is_ok());
    if fits { Ok(()) } else { Err(Full) }
}

/// JSON and the like, which is UTF-8 as a rule: looking for wrong bytes one by one would cost a fifth of a repair.
pub(crate) fn utf8(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

/// A column of structs: which rows are there, beside the columns of the members.
#[derive(Default)]
pub(crate) struct Presence(Option<NullBufferBuilder>);

impl Presence {
    pub(crate) fn push(&mut self, is_there: bool) {
        self.0.get_or_insert_with(|| NullBufferBuilder::new(64)).append(is_there);
    }

    fn finish(&mut self) -> (usize, Option<NullBuffer>) {
        let Some(mut builder) = self.0.take() else { return (0, None) };
        (builder.len(), builder.finish())
    }

    /// The structs; members are in the order of `fields`, and of its types.
    pub(crate) fn structs(&mut self, fields: Fields, members: Vec<ArrayRef>) -> ArrayRef {
        let (len, nulls) = self.finish();
        debug_assert!(members.iter().all(|it| it.len() == len), "a member has another length");
        Arc::new(StructArray::new(fields, members, nulls))
    }
}

/// A column of lists.
pub(crate) struct Lists<B> {
    pub(crate) items: B,
    ends: Vec<i32>,
    end: i32,
    presence: Presence,
    of: DataType,
}

impl<B> Lists<B> {
    pub(crate) fn new(of: DataType, items: B) -> Self {
        Lists { items, ends: vec![0], end: 0, presence: Presence::default(), of }
    }

    pub(crate) fn push<T>(&mut self, list: Option<impl IntoIterator<Item = T>>) -> Result<(), Full>
    where
        B: Build<T>,
    {
        self.presence.push(list.is_some());
        for it in list.into_iter().flatten() {
            self.items.push(Some(it))?;
            self.end = self.end.checked_add(1).ok_or(Full)?;
        }
        self.ends.push(self.end);
        Ok(())
    }

    pub(crate) fn finish<T>(&mut self) -> ArrayRef
    where
        B: Build<T>,
    {
        Arc::new(self.finish_list())
    }

    /// As [`Lists::finish`], of its own type.
    pub(crate) fn finish_list<T>(&mut self) -> ListArray
    where
        B: Build<T>,
    {
        let ends = std::mem::replace(&mut self.ends, vec![0]);
        self.end = 0;
        let offsets = OffsetBuffer::new(ScalarBuffer::from(ends));
        let (_, nulls) = self.presence.finish();
        ListArray::new(types::item_of(self.of.clone()), offsets, self.items.finish(), nulls)
    }
}

/// A column of keys.
pub(crate) struct Keys(FixedSizeBinaryBuilder);

impl Keys {
    pub(crate) fn new() -> Self {
        Keys(FixedSizeBinaryBuilder::new(16))
    }

    pub(crate) fn finish_keys(&mut self) -> FixedSizeBinaryArray {
        self.0.finish()
    }
}

impl Build<Key> for Keys {
    fn push(&mut self, key: Option<Key>) -> Result<(), Full> {
        match key {
            Some(key) => self.0.append_value(key.bytes()).map_err(|_| Full),
            None => {
                self.0.append_null();
                Ok(())
            }
        }
    }

    fn finish(&mut self) -> ArrayRef {
        Arc::new(self.finish_keys())
    }
}

impl Build<String> for Texts {
    fn push(&mut self, text: Option<String>) -> Result<(), Full> {
        Texts::push(self, text.as_deref())
    }

    fn finish(&mut self) -> ArrayRef {
        Texts::finish(self)
    }
}

/// A number that is counted in 32 bits here; the most of them where there are more.
pub(crate) fn int(number: usize) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

/// The same in 64 bits.
pub(crate) fn long(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Finishes a builder of numbers or of truth values.
pub(crate) fn done(builder: &mut impl ArrayBuilder) -> ArrayRef {
    builder.finish()
}

/// A column of DIAGNOSTIC.
pub(crate) struct Diagnostics {
    presence: Presence,
    code: Texts,
    severity: Texts,
    message: Texts,
    at_message: Int32Builder,
    at_part: Int32Builder,
    section: Int32Builder,
    tool_call_id: Texts,
    start: Int64Builder,
    end: Int64Builder,
    fix: Texts,
}

impl Diagnostics {
    pub(crate) fn new() -> Self {
        Diagnostics {
            presence: Presence::default(),
            code: Texts::small(),
            severity: Texts::small(),
            message: Texts::small(),
            at_message: Int32Builder::new(),
            at_part: Int32Builder::new(),
            section: Int32Builder::new(),
            tool_call_id: Texts::small(),
            start: Int64Builder::new(),
            end: Int64Builder::new(),
            fix: Texts::small(),
        }
    }

    /// A column of lists of them.
    pub(crate) fn lists() -> Lists<Self> {
        Lists::new(DataType::Struct(types::diagnostic()), Diagnostics::new())
    }
}

impl<'a> Build<&'a Diagnostic> for Diagnostics {
    fn push(&mut self, it: Option<&'a Diagnostic>) -> Result<(), Full> {
        let at = it.map(|it| &it.at);
        let long = |it: usize| i64::try_from(it).unwrap_or(i64::MAX);
        self.presence.push(it.is_some());
        self.code.push(Some(it.map_or("", |it| it.code.as_str())))?;
        self.severity.push(Some(it.map_or("", |it| it.severity.as_str())))?;
        self.message.push(Some(&it.map(Diagnostic::message).unwrap_or_default()))?;
        self.at_message.append_option(at.and_then(|it| it.message).map(int));
        self.at_part.append_option(at.and_then(|it| it.part).map(int));
        self.section.append_option(at.and_then(|it| it.section).map(int));
        self.tool_call_id.push(at.and_then(|it| it.tool_call_id.as_deref()))?;
        self.start.append_option(at.and_then(|it| it.start).map(long));
        self.end.append_option(at.and_then(|it| it.end).map(long));
        self.fix.push(it.and_then(|it| it.fix.as_deref()))
    }

    fn finish(&mut self) -> ArrayRef {
        let members = vec![
            self.code.finish(),
            self.severity.finish(),
            self.message.finish(),
            done(&mut self.at_message),
            done(&mut self.at_part),
            done(&mut self.section),
            self.tool_call_id.finish(),
            done(&mut self.start),
            done(&mut self.end),
            self.fix.finish(),
        ];
        self.presence.structs(types::diagnostic(), members)
    }
}

#[cfg(test)]
mod tests {
    use super::{Full, place};

    #[test]
    fn no_offset_wraps() {
        let most = i32::MAX as usize;
        assert_eq!((place(most - 1, 1), place(most, 0)), (Ok(()), Ok(())));
        assert_eq!((place(most, 1), place(0, most + 1)), (Err(Full), Err(Full)));
        assert_eq!(place(usize::MAX, 1), Err(Full));
    }
}
