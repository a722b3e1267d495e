//! What an object leaves beside the part that it became: its unknown members, those of the object inside of it,
//! and the layout of both.
//!
//! ```text
//! {"type":"image","id":7,"source":{"type":"url","url":"u","x":1}}
//!     extra   id: 7, source: {"x":1}          the inner members under the name of their object
//!     layout  type id source | type url x     kept only if canonical writing would differ
//! ```

use msg_core::{Extra, Origin, RawJson};

use super::{Context, Fields, Plan, layout::filled};

/// What the object inside of another leaves.
#[derive(Default)]
pub struct Inner {
    /// The member that holds the object.
    name: &'static str,
    /// Its unknown members, as an object.
    pub unknown: Option<RawJson>,
    /// Its slots, if they are not the canonical ones.
    slots: Option<Vec<u8>>,
}

impl Inner {
    /// What is left of an object when the model has what it knows of it.
    pub fn new<'a>(
        name: &'static str,
        mut fields: Fields<'a>,
        canonical: u32,
        cx: &mut Context<'a, '_>,
    ) -> Self {
        let is_canonical = fields.is_canonical(canonical);
        let unknown = fields.move_object(cx);
        let slots = (!is_canonical).then(|| fields.slots().to_vec());
        Self { name, unknown, slots }
    }

    /// As of an object that another member holds.
    #[must_use]
    pub fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    /// Puts its unknown members into `extra`.
    fn move_members(&mut self, origin: &Origin, extra: &mut Extra) {
        if let Some(unknown) = self.unknown.take() {
            extra.insert(origin.clone(), self.name, unknown);
        }
    }

    /// Keeps it beside an outer object of which nothing but these slots is left.
    pub fn keep(mut self, origin: &Origin, slots: &[u8]) -> Extra {
        let mut extra = Extra::default();
        self.move_members(origin, &mut extra);
        let mut layout = vec![filled(slots)];
        layout.extend(self.slots.as_deref().map(filled));
        extra.set_layout(origin.clone(), Plan::sections(&layout));
        extra
    }
}

impl<'a> Fields<'a> {
    /// What an object keeps beside the model, where the canonical writer writes the members `canonical`.
    pub fn keep(&mut self, canonical: u32, origin: &Origin, cx: &mut Context<'a, '_>) -> Extra {
        self.keep_with(canonical, Inner::default(), None, (origin, cx))
    }

    /// As [`Fields::keep`], of an object that held another; `raw` is the source of a value that has no canonical
    /// spelling, a third section.
    pub fn keep_with(
        &mut self,
        canonical: u32,
        mut inner: Inner,
        raw: Option<&str>,
        (origin, cx): (&Origin, &mut Context<'a, '_>),
    ) -> Extra {
        let mut extra = Extra::default();
        inner.move_members(origin, &mut extra);
        let is_canonical = self.is_canonical(canonical);
        self.move_extra(cx, origin, &mut extra);
        let slots = inner.slots.as_deref().map(filled);
        if !is_canonical || slots.is_some() || raw.is_some() {
            let layout =
                [self.section(), slots.unwrap_or_default(), raw.unwrap_or_default().as_bytes()];
            let n_sections = if raw.is_some() { 3 } else { 1 + usize::from(slots.is_some()) };
            extra.set_layout(origin.clone(), Plan::sections(&layout[..n_sections]));
        }
        extra
    }
}
