//! Elements of a list that are kept whole: those in which a value was of a wrong type, and those that cannot be
//! written again from what was read of them, for a member came twice or half a surrogate pair stood there. As long
//! as nothing of such an element is edited its source goes out again.

use msg_core::{Error, Extra, Origin};
use msg_json::Reader;

use super::{Context, Mended, PartWriter, layout};

/// The section of a layout that is the source of an element, behind all others.
const SECTION: usize = 7;

/// Reads an element. Where something in it is odd, it is read as `mend` says that it is meant. `keep` gets the source
/// of what cannot be written from what was read.
///
/// # Errors
/// What is no JSON, and what `read` refuses.
pub fn read_mended<'a, T>(
    reader: &mut Reader<'a>,
    cx: &mut Context<'a, '_>,
    mend: impl FnOnce(&str) -> Option<Mended>,
    read: impl for<'x, 'r> Fn(&mut Reader<'x>, &mut Context<'x, 'r>) -> Result<T, Error>,
    keep: impl FnOnce(&mut T, &'a str),
) -> Result<T, Error> {
    let (mut before, mark) = (reader.clone(), cx.mark());
    cx.expect_nothing();
    let res = read(reader, cx);
    if res.is_ok() && !cx.is_odd() {
        return res;
    }
    let Ok(source) = before.raw() else { return res };
    let mended = mend(source).and_then(|it| {
        let mut report = msg_core::Report::with_cap(0);
        let mut inner = Context::new(&mut report);
        inner.message = cx.message;
        let read = read(&mut Reader::from_text(&it.json), &mut inner).ok()?;
        Some((read, inner.into_findings(), it.notes))
    });
    let Some((mut value, findings, notes)) = mended else {
        return res.map(|mut it| {
            if cx.is_lossy() {
                keep(&mut it, source);
            }
            it
        });
    };
    *reader = before;
    cx.back_to(mark);
    cx.take_findings(findings);
    notes.into_iter().for_each(|it| cx.wrong_kind(it));
    keep(&mut value, source);
    Ok(value)
}

/// Keeps the source of an element on what it became.
pub fn keep_whole(extra: &mut Extra, origin: &Origin, source: &str) {
    let mut layout = extra.layout(origin).unwrap_or_default().to_vec();
    let sections = layout::count(&layout);
    layout.extend(std::iter::repeat_n(layout::SECTION, SECTION + 1 - sections));
    layout.extend_from_slice(source.as_bytes());
    extra.set_layout(origin.clone(), layout);
}

/// Forgets the source of an element; the rest of its layout stays.
pub fn forget_whole(extra: &mut Extra, origin: &Origin) {
    let Some(layout) = extra.layout(origin) else { return };
    let Some(source) = whole_in(Some(layout)) else { return };
    let mut rest = &layout[..layout.len() - source.len()];
    while let [before @ .., layout::SECTION] = rest {
        rest = before;
    }
    let rest = rest.to_vec();
    match rest.is_empty() {
        true => extra.clear_layout(),
        false => extra.set_layout(origin.clone(), rest),
    }
}

/// The source that a layout keeps.
#[must_use]
pub fn whole_in(layout: Option<&[u8]>) -> Option<&str> {
    std::str::from_utf8(layout::section(layout, SECTION)?).ok()
}

impl PartWriter<'_> {
    /// The source of an element that is kept whole, if it still says what is written: `says` reads it once more.
    #[must_use]
    pub fn whole<'b>(&self, extra: &'b Extra, says: impl FnOnce(&str) -> bool) -> Option<&'b str> {
        whole_in(self.layout(extra)).filter(|it| says(it))
    }
}

/// What a reader makes of the source of an element by itself.
pub fn read_alone<T>(
    source: &str,
    read: impl for<'x, 'r> FnOnce(&mut Reader<'x>, &mut Context<'x, 'r>) -> Result<T, Error>,
) -> Option<T> {
    let mut report = msg_core::Report::with_cap(0);
    read(&mut Reader::from_text(source), &mut Context::new(&mut report)).ok()
}
