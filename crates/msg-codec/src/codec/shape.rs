//! The known members of one kind of JSON object, and the writer of such an object.

use super::fields::RawMember;
use super::layout::Plan;

/// The names of the known members, in canonical order; the code of a member is its place from 1.
///
/// A member may have a second spelling. A source that used it has a bit of the variant of the slot for it,
/// so that a shape with second spellings has the variants 0 to 3 ([`Plan::variant_of_any`]).
///
/// ```
/// use msg_json::Reader;
/// use msg_codec::codec::{Context, Fields, Plan, Shape, bit};
///
/// static FILE: Shape = Shape::with_aliases(&["fileUri"], &["file_uri"]);
/// let mut report = msg_core::Report::new();
/// let mut reader = Reader::from_text(r#"{"file_uri":"gs://b"}"#);
/// let fields = Fields::read(&FILE, &mut Context::new(&mut report), &mut reader)?;
/// assert_eq!(fields.raw(1), Some(r#""gs://b""#));
/// let mut out = Vec::new();
/// FILE.write(&mut out, Plan::new(Some(fields.slots())), bit(1), &[], |out, _| out.push(b'1'));
/// assert_eq!(out, br#"{"file_uri":1}"#);
/// # Ok::<(), msg_json::JsonError>(())
/// ```
pub struct Shape {
    names: &'static [&'static str],
    /// The second spelling of each name, `""` for none; empty if no name has one.
    aliases: &'static [&'static str],
}

/// The value of a member that is written.
#[derive(Debug, Clone, Copy)]
pub enum Value<'v> {
    /// The member is left out.
    Absent,
    /// A text.
    Text(&'v str),
    /// JSON.
    Json(&'v [u8]),
}

impl Value<'_> {
    fn write(self, out: &mut Vec<u8>) {
        match self {
            Self::Absent => {}
            Self::Text(text) => msg_json::write_str(out, text),
            Self::Json(json) => out.extend_from_slice(json),
        }
    }
}

impl<'v, T: AsRef<str> + ?Sized> From<&'v T> for Value<'v> {
    fn from(text: &'v T) -> Self {
        Self::Text(text.as_ref())
    }
}

impl<'v> From<Option<&'v Vec<u8>>> for Value<'v> {
    fn from(json: Option<&'v Vec<u8>>) -> Self {
        json.map_or(Self::Absent, |it| Self::Json(it))
    }
}

impl<'v> From<Option<&'v str>> for Value<'v> {
    fn from(text: Option<&'v str>) -> Self {
        text.map_or(Self::Absent, Self::Text)
    }
}

/// The bit of a variant that says that the member had its second spelling.
pub(crate) const ALIASED: u8 = 4;

/// The bit of a member's code.
pub const fn bit(code: u8) -> u32 {
    1 << code
}

/// The bit of a member's code, if the condition holds.
pub const fn mask(condition: bool, code: u8) -> u32 {
    if condition { 1 << code } else { 0 }
}

impl Shape {
    /// The shape of an object with these members.
    ///
    /// # Panics
    /// At compile time, where a shape is a constant: there are more than 11 names.
    #[must_use]
    pub const fn new(names: &'static [&'static str]) -> Self {
        Self::with_aliases(names, &[])
    }

    /// The shape of an object whose members have a second spelling, `""` where one has none.
    ///
    /// # Panics
    /// At compile time, where a shape is a constant: there are more than 11 names.
    #[must_use]
    pub const fn with_aliases(
        names: &'static [&'static str],
        aliases: &'static [&'static str],
    ) -> Self {
        assert!(names.len() < super::fields::CODES, "a shape has at most 11 members");
        Self { names, aliases }
    }

    /// The code of a name in either spelling, 0 for an unknown one.
    pub fn code(&self, name: &str) -> u8 {
        self.find(name).0
    }

    /// The code of a name, and the variant bits that say how it is spelled.
    #[inline]
    pub(crate) fn find(&self, name: &str) -> (u8, u8) {
        let place = |list: &[&str]| list.iter().position(|it| *it == name);
        match (place(self.names), self.aliases) {
            (Some(at), _) => (at as u8 + 1, 0),
            (None, []) => (0, 0),
            (None, aliases) => {
                let alias = place(aliases).filter(|_| !name.is_empty());
                alias.map_or((0, 0), |at| (at as u8 + 1, ALIASED))
            }
        }
    }

    /// The name of a code.
    pub fn name(&self, code: u8) -> &'static str {
        self.names.get(usize::from(code) - 1).copied().unwrap_or_default()
    }

    /// The second spelling of a code, if it has one.
    fn alias(&self, code: u8) -> Option<&'static str> {
        self.aliases.get(usize::from(code) - 1).copied().filter(|it| !it.is_empty())
    }

    /// The name of a member as the slot says that it was spelled.
    fn spelled(&self, code: u8, slot: u8) -> &'static str {
        let alias = self.alias(code).filter(|_| slot >> 5 & ALIASED != 0);
        alias.unwrap_or_else(|| self.name(code))
    }

    /// Writes an object whose members have these values, in the order of their codes; see [`Shape::write`].
    pub fn write_values(
        &self,
        out: &mut Vec<u8>,
        plan: Plan<'_>,
        values: &[Value<'_>],
        raw: &[RawMember<'_>],
    ) -> usize {
        let there = values.iter().zip(1..);
        let there = there.map(|(it, code)| mask(!matches!(it, Value::Absent), code));
        self.write(out, plan, there.fold(0, |bits, it| bits | it), raw, |out, code| {
            values[usize::from(code) - 1].write(out);
        })
    }

    /// Writes an object: the members `want` through `value`, in the order of the plan where it has
    /// one for them and canonically after that; then what is left of `raw`. Gives the number of
    /// raw members whose place was taken.
    pub fn write(
        &self,
        out: &mut Vec<u8>,
        plan: Plan<'_>,
        want: u32,
        raw: &[RawMember<'_>],
        value: impl FnMut(&mut Vec<u8>, u8),
    ) -> usize {
        let mut lost = 0;
        msg_json::Writer::new(out).object(|out| {
            let mut it = Members { shape: self, out, want, raw, next: 0, done: 0, value };
            plan.slots().unwrap_or_default().iter().for_each(|slot| it.slot(*slot));
            lost = it.rest();
        });
        lost
    }
}

/// An object while it is written.
struct Members<'a, 'b, 'o, F> {
    shape: &'a Shape,
    out: &'a mut msg_json::Writer<'o>,
    want: u32,
    raw: &'a [RawMember<'b>],
    /// The next raw member that has no slot of its own.
    next: usize,
    /// Codes that are written.
    done: u32,
    value: F,
}

impl<F: FnMut(&mut Vec<u8>, u8)> Members<'_, '_, '_, F> {
    fn slot(&mut self, slot: u8) {
        let code = slot & 0x1f;
        if code == 0 {
            self.next_unknown();
        } else if usize::from(code) <= self.shape.names.len() && self.done & bit(code) == 0 {
            let name = self.shape.spelled(code, slot);
            if self.want & bit(code) != 0 {
                self.member(code, name);
            } else {
                self.raw_named(code, name);
            }
        }
    }

    fn member(&mut self, code: u8, name: &'static str) {
        self.done |= bit(code);
        self.out.plain_key(name).value(|out| (self.value)(out, code));
    }

    fn raw_named(&mut self, code: u8, spelled: &str) {
        let name = self.shape.name(code);
        if let Some(it) = self.raw.iter().find(|it| it.name == name) {
            self.done |= bit(code);
            self.out.key(spelled).raw(it.value);
        }
    }

    /// Members with a known name have a slot of their own, wherever they come from.
    fn next_unknown(&mut self) {
        while let Some(it) = self.raw.get(self.next) {
            self.next += 1;
            if self.shape.code(&it.name) == 0 {
                return self.out.key(&it.name).raw(it.value);
            }
        }
    }

    fn rest(&mut self) -> usize {
        let mut open = self.want & !self.done;
        while open != 0 {
            let code = open.trailing_zeros() as u8;
            open &= open - 1;
            self.member(code, self.shape.name(code));
        }
        let mut lost = 0;
        let before = self.done;
        for (at, it) in self.raw.iter().enumerate() {
            let code = self.shape.code(&it.name);
            let is_open = match code {
                0 => at >= self.next,
                _ => before & bit(code) == 0,
            };
            if is_open {
                self.out.key(&it.name).raw(it.value);
            } else if self.want & !1 & bit(code) != 0 {
                lost += 1;
            }
        }
        lost
    }
}
