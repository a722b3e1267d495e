//! Reads the members of one object: hands out the known ones, keeps the unknown ones, and records
//! the order of all.

use std::borrow::Cow;

use msg_core::{Extra, Origin, RawJson};
use msg_json::{JsonError, Reader};

use super::{
    Context, Shape,
    layout::{Order, filled},
};

/// More known members than any object here has.
pub(super) const CODES: usize = 12;

/// The members of one object while it is read.
pub struct Fields<'a> {
    shape: &'static Shape,
    order: Order,
    /// The source of known members that are not read at once, by code.
    raw: [Option<&'a str>; CODES],
    /// Where the unknown members of this object begin in the context.
    from: usize,
}

impl<'a> Fields<'a> {
    /// Fields of an object that begins; its members are handed out by [`Fields::next`].
    pub fn new(shape: &'static Shape, cx: &Context<'a, '_>) -> Self {
        Self { shape, order: Order::default(), raw: [None; CODES], from: cx.unknown.len() }
    }

    /// Steps to the next known member, whose value must then be read; unknown ones are passed.
    pub fn next(
        &mut self,
        cx: &mut Context<'a, '_>,
        reader: &mut Reader<'a>,
    ) -> Result<Option<u8>, JsonError> {
        while let Some(key) = reader.next_key()? {
            match self.shape.find(&key.text) {
                (0, _) => {
                    if key.lone_surrogate {
                        cx.lone_surrogate_in_name();
                    }
                    let value = reader.raw_json()?;
                    self.unknown(cx, key.text, value);
                }
                (code, spelling) => {
                    self.known(cx, code);
                    self.order.spell(code, spelling);
                    return Ok(Some(code));
                }
            }
        }
        Ok(None)
    }

    /// Reads all members as raw ones.
    pub fn read(
        shape: &'static Shape,
        cx: &mut Context<'a, '_>,
        reader: &mut Reader<'a>,
    ) -> Result<Self, JsonError> {
        let mut res = Self::new(shape, cx);
        reader.begin_object()?;
        while let Some(code) = res.next(cx, reader)? {
            res.set_raw(code, Some(reader.raw()?));
        }
        Ok(res)
    }

    /// The name of a known member.
    pub(super) fn name(&self, code: u8) -> &'static str {
        self.shape.name(code)
    }

    /// The source of a known member.
    pub fn raw(&self, code: u8) -> Option<&'a str> {
        self.raw[usize::from(code)]
    }

    /// Keeps the source of a known member, or forgets it: it is in the model.
    pub fn set_raw(&mut self, code: u8, value: Option<&'a str>) {
        self.raw[usize::from(code)] = value;
    }

    /// Takes a known member that is a string into the model; another type stays raw.
    pub fn text(&mut self, cx: &mut Context<'a, '_>, code: u8) -> Option<String> {
        let text = super::text_of(self.raw(code)?)?;
        self.set_raw(code, None);
        Some(cx.text(text, self.shape.name(code)))
    }

    /// As [`Fields::text`], reporting a type that is neither string nor null.
    pub fn text_or_report(&mut self, cx: &mut Context<'a, '_>, code: u8) -> Option<String> {
        let res = self.text(cx, code);
        if self.raw(code).is_some_and(|it| it != "null") {
            cx.wrong_type(self.shape.name(code));
        }
        res
    }

    /// Says in which variant a known member came.
    pub fn vary(&mut self, code: u8, variant: u8) {
        self.order.vary(code, variant);
    }

    /// Whether the source had this member.
    pub fn has(&self, code: u8) -> bool {
        self.order.seen() & (1 << code) != 0
    }

    /// The known members that are in the model, as bits: those that are not kept raw.
    pub fn in_model(&self) -> u32 {
        let raw = (0..CODES).filter(|it| self.raw[*it].is_some());
        self.order.seen() & !raw.fold(0, |bits, it| bits | 1 << it)
    }

    /// Whether there are members that are not in the model.
    pub fn has_extra(&self, cx: &Context<'a, '_>) -> bool {
        cx.unknown.len() > self.from || self.raw.iter().any(Option::is_some)
    }

    /// Moves all members that are not in the model into `extra`, in source order.
    pub fn move_extra(&mut self, cx: &mut Context<'a, '_>, origin: &Origin, extra: &mut Extra) {
        if !self.has_extra(cx) {
            return;
        }
        if self.raw.iter().flatten().any(|it| *it != "null") {
            cx.odd();
        }
        let mut unknown = cx.unknown.drain(self.from..);
        let mut doubles = Vec::new();
        for (at, &slot) in self.order.slots().iter().enumerate() {
            let code = slot & 0x1f;
            if code != 0 {
                if let Some(value) = self.raw[usize::from(code)] {
                    extra.insert(origin.clone(), self.shape.name(code), kept(value));
                }
            } else if let Some((name, value)) = unknown.next()
                && extra.insert(origin.clone(), name, value).is_some()
            {
                doubles.push(at);
            }
        }
        drop(unknown);
        if !doubles.is_empty() {
            cx.lossy();
        }
        self.order.remove(&doubles);
    }

    /// Moves the members that are not in the model into an object of their own; none if there are
    /// none.
    pub fn move_object(&mut self, cx: &mut Context<'a, '_>) -> Option<RawJson> {
        if !self.has_extra(cx) {
            return None;
        }
        let mut extra = Extra::default();
        self.move_extra(cx, &Origin::Json, &mut extra);
        let members = extra.all().map(|(_, name, value)| (name, value.text()));
        Some(super::object_of(members))
    }

    /// Whether the canonical writer, which writes the members `canonical`, gives the object back.
    pub fn is_canonical(&self, canonical: u32) -> bool {
        self.order.is_canonical(self.in_model(), canonical)
    }

    /// The recorded order, as slots.
    pub fn slots(&self) -> &[u8] {
        self.order.slots()
    }

    /// The recorded order, as a section of a layout.
    pub fn section(&self) -> &[u8] {
        filled(self.slots())
    }

    fn known(&mut self, cx: &mut Context<'a, '_>, code: u8) {
        if !self.order.known(code) {
            cx.duplicate(self.shape.name(code));
            self.raw[usize::from(code)] = None;
        }
    }

    fn unknown(&mut self, cx: &mut Context<'a, '_>, name: Cow<'a, str>, value: RawJson) {
        self.order.unknown();
        cx.unknown.push((name, value));
    }
}

/// A source text that the reader has already found to be one value.
fn kept(source: &str) -> RawJson {
    RawJson::new(source).expect("the reader has walked over this value")
}
