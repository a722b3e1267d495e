//! The known members of one kind of JSON object, and the writer of such an object.

use msg_core::json;

use super::{Plan, RawMember};

/// The names of the known members, in canonical order; the code of a member is its place from 1.
pub struct Shape(&'static [&'static str]);

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
        assert!(names.len() < super::fields::CODES, "a shape has at most 11 members");
        Self(names)
    }

    /// The code of a name, 0 for an unknown one.
    pub fn code(&self, name: &str) -> u8 {
        self.0.iter().position(|it| *it == name).map_or(0, |it| it as u8 + 1)
    }

    /// The name of a code.
    pub fn name(&self, code: u8) -> &'static str {
        self.0.get(usize::from(code) - 1).copied().unwrap_or_default()
    }

    /// Writes an object: the members `want` through `value`, in the order of the plan where it has
    /// one for them and canonically behind that; then what is left of `raw`. Gives the number of
    /// raw members whose place was taken.
    pub fn write(
        &self,
        out: &mut Vec<u8>,
        plan: Plan<'_>,
        want: u32,
        raw: &[RawMember<'_>],
        value: impl FnMut(&mut Vec<u8>, u8),
    ) -> usize {
        out.push(b'{');
        let mut it =
            Writer { shape: self, start: out.len(), out, want, raw, next: 0, done: 0, value };
        for &slot in plan.slots().unwrap_or_default() {
            it.slot(slot & 0x1f);
        }
        let lost = it.rest();
        out.push(b'}');
        lost
    }
}

struct Writer<'a, 'b, F> {
    shape: &'a Shape,
    out: &'a mut Vec<u8>,
    /// Where the first member begins.
    start: usize,
    want: u32,
    raw: &'a [RawMember<'b>],
    /// The next raw member that has no slot of its own.
    next: usize,
    /// Codes that are written.
    done: u32,
    value: F,
}

impl<F: FnMut(&mut Vec<u8>, u8)> Writer<'_, '_, F> {
    fn slot(&mut self, code: u8) {
        if code == 0 {
            self.next_unknown();
        } else if usize::from(code) <= self.shape.0.len() && self.done & bit(code) == 0 {
            if self.want & bit(code) != 0 {
                self.member(code);
            } else {
                self.raw_named(code);
            }
        }
    }

    fn member(&mut self, code: u8) {
        self.done |= bit(code);
        separate(self.out, self.start);
        json::write_str(self.out, self.shape.name(code));
        self.out.push(b':');
        (self.value)(self.out, code);
    }

    fn raw_named(&mut self, code: u8) {
        let name = self.shape.name(code);
        if let Some(it) = self.raw.iter().find(|it| it.name == name) {
            self.done |= bit(code);
            write_raw(self.out, self.start, it);
        }
    }

    /// Members with a known name have a slot of their own, wherever they come from.
    fn next_unknown(&mut self) {
        while let Some(it) = self.raw.get(self.next) {
            self.next += 1;
            if self.shape.code(&it.name) == 0 {
                write_raw(self.out, self.start, it);
                return;
            }
        }
    }

    fn rest(&mut self) -> usize {
        let mut open = self.want & !self.done;
        while open != 0 {
            let code = open.trailing_zeros() as u8;
            open &= open - 1;
            self.member(code);
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
                write_raw(self.out, self.start, it);
            } else if self.want & !1 & bit(code) != 0 {
                lost += 1;
            }
        }
        lost
    }
}

fn separate(out: &mut Vec<u8>, start: usize) {
    if out.len() > start {
        out.push(b',');
    }
}

fn write_raw(out: &mut Vec<u8>, start: usize, it: &RawMember<'_>) {
    separate(out, start);
    json::write_str(out, &it.name);
    out.push(b':');
    out.extend_from_slice(it.value.as_bytes());
}
