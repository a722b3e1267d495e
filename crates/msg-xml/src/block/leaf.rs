//! The usual element: `<key>text</key>` or `<key><![CDATA[…]]></key>` that is wholly there and whose end nothing puts
//! in doubt. It is read in one look and never becomes an open element. What it gives is what `text` and `cdata` would
//! give; whatever may be anything else is left to them.

use super::{Block, Cx};
use crate::event::ArgPath;
use crate::lex::{self, OpenTag, Tag};
use crate::look::Parent;
use crate::value;
use crate::window::Win;

/// An element with text only.
pub(super) struct Leaf {
    /// Where its content ends, which is where its close tag begins.
    pub(super) to: usize,
    pub(super) end: usize,
    /// The content of its one section; there are only blanks around it.
    pub(super) section: Option<(usize, usize)>,
}

impl Block {
    /// The element of this open tag, if it is such a one.
    pub(super) fn leaf(
        &self,
        cx: &mut Cx<'_, '_>,
        t: &OpenTag<'_>,
        parent: &Parent,
    ) -> Option<Leaf> {
        // A word of the envelope may end more than its element.
        let plain = !t.self_closing && !t.is("tool") && !Parent::Args.closed_by(t.name);
        if !plain || self.bare_end.is_some() {
            return None;
        }
        let mut to = cx.w.find(b'<', t.end)?;
        let mut section = None;
        if cx.w.at(to + 1) == Some(b'!') {
            let (from, end) = plain_section(cx, t.end, to)?;
            section = Some((from, end));
            to = cx.w.skip_blanks(end + "]]>".len());
        }
        let end = own_close(cx.w, to, t.name)?;
        (ends_element(cx.w, end, parent) && !self.over(cx, end)).then_some(Leaf {
            to,
            end,
            section,
        })
    }
}

impl Leaf {
    /// Its value, if its content begins at `from`; sent, if there is anything to send.
    pub(super) fn value(
        &self,
        cx: &mut Cx<'_, '_>,
        call: u32,
        path: &ArgPath,
        from: usize,
    ) -> (String, value::Notes) {
        let content = cx.w.str(from, self.to);
        let place = self
            .section
            .or_else(|| value::as_it_stands(content).map(|it| (from + it.start, from + it.end)));
        if let Some((from, to)) = place {
            if from < to {
                cx.queue.arg(call, path, from, to);
            }
            return (cx.w.str(from, to).to_owned(), value::Notes::default());
        }
        let (value, notes) = value::value(content, &[]);
        if !value.is_empty() {
            cx.queue.arg_text(call, path, &value);
        }
        (value, notes)
    }
}

/// The content of the section at `marker`, if it is all of the content that begins at `from`, blanks aside, and nothing
/// in it could be a section again.
pub(super) fn plain_section(
    cx: &mut Cx<'_, '_>,
    from: usize,
    marker: usize,
) -> Option<(usize, usize)> {
    if !lex::all_blank(cx.w.str(from, marker)) || !lex::marker(cx.w, marker).ok()? {
        return None;
    }
    let from = marker + lex::CDATA.len();
    let to = cx.look.section_end(cx.w, from).ok()?? - "]]>".len();
    let content = cx.w.str(from, to).as_bytes();
    let nested = memchr::memchr_iter(b'<', content).any(|i| content.get(i + 1) == Some(&b'!'));
    (!nested).then_some((from, to))
}

/// One past the close tag at `pos`, if it is written exactly like the open tag.
pub(super) fn own_close(w: &Win<'_>, pos: usize, name: &str) -> Option<usize> {
    let rest = w.from(pos).strip_prefix(b"</")?.strip_prefix(name.as_bytes())?;
    (rest.first() == Some(&b'>')).then_some(pos + "</>".len() + name.len())
}

/// XT-22 without what needs a closer look: blanks, then a bare open tag or the close tag of the parent or the call.
fn ends_element(w: &Win<'_>, pos: usize, parent: &Parent) -> bool {
    let p = w.skip_blanks(pos);
    if w.at(p) != Some(b'<') {
        return false;
    }
    match lex::tag(w, p) {
        Ok(Tag::Close(c)) => c.is_tool() || parent.closed_by(c.name),
        Ok(Tag::Open(t)) => t.bare(),
        _ => false,
    }
}
