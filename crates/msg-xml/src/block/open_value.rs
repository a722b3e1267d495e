//! What goes out of a value that is open (XT-42), by how it begins: plain text up to its first mark, a section, or
//! nothing before its end. Which value is open is the business of `preview`.

use super::opener::opener;
use super::preview::{Flow, Preview, State};
use crate::event::Queue;
use crate::input::{Incomplete, Input, MORE, Need};
use crate::lex::{self, ARGS, Tag};
use crate::options::Options;
use crate::value;

impl Preview {
    /// How a value begins.
    pub(super) fn lead(&mut self, w: &Input<'_>, opts: &Options) -> Result<(), Incomplete> {
        let State::Leaf(leaf) = &self.state else { return Ok(()) };
        let content = leaf.content;
        let (p, next) = w.after_blanks(content)?;
        let flow = match next {
            Some(b'<') if w.word(p, lex::CDATA)? => Flow::Section(p + lex::CDATA.len()),
            Some(b'<') if self.is_object(w, p, opts)? => {
                self.open_object(p);
                return Ok(());
            }
            Some(b'<') => Flow::Held(p, false),
            Some(b'&') | None => Flow::Held(p, false),
            Some(_) if w.word(p, value::PLACEHOLDER)? => Flow::Held(p, false),
            Some(_) => {
                let from = content + value::block_lead(w.str(content, p));
                Flow::Plain(from, from)
            }
        };
        self.flow(flow);
        Ok(())
    }

    /// Whether the value seems to be an object, whose first child stands at `p`.
    fn is_object(&self, w: &Input<'_>, p: usize, opts: &Options) -> Result<bool, Incomplete> {
        let bare = matches!(lex::tag(w, p)?, Tag::Open(t) if t.bare());
        Ok(bare && !self.wants_text(opts) && opener(w, p)?.is_none())
    }

    /// XT-30: whether the schema takes the value as text.
    fn wants_text(&self, opts: &Options) -> bool {
        let (Some(schema), Some(tool), Some(path)) = (&opts.schema, &self.tool, self.sent.path())
        else {
            return false;
        };
        schema.wants_text(tool, &path.keys().collect::<Vec<_>>())
    }

    /// The value is an object, whose first child stands at `p`.
    fn open_object(&mut self, p: usize) {
        let State::Leaf(leaf) = &self.state else { return };
        let own = leaf.own.clone();
        let path = self.sent.take_back();
        self.open_level(&own, path);
        self.at = p;
    }

    pub(super) fn plain(
        &mut self,
        w: &Input<'_>,
        queue: &mut Queue,
        sent: usize,
        at: usize,
    ) -> Result<(), Incomplete> {
        let rest = w.from(at);
        let stop = memchr::memchr2(b'<', b'&', rest);
        let end = at + stop.unwrap_or(rest.len());
        let to = self.sent.send_text(w, queue, self.call, (sent, end));
        match stop {
            Some(_) => self.flow(Flow::Held(end, false)),
            None => {
                self.flow(Flow::Plain(to, end));
                return Err(MORE);
            }
        }
        Ok(())
    }

    pub(super) fn section_goes_on(
        &mut self,
        w: &Input<'_>,
        queue: &mut Queue,
        at: usize,
    ) -> Result<(), Incomplete> {
        let rest = w.from(at);
        let Some(end) = w.find_text("]]>", at) else {
            let open = rest.iter().rev().take(2).take_while(|&&b| b == b']').count();
            let to = at + rest.len() - open;
            self.sent.send(queue, self.call, at, to);
            self.flow(Flow::Section(to));
            return Err(MORE);
        };
        self.sent.send(queue, self.call, at, end);
        self.flow(Flow::Section(end));
        let behind = end + 3;
        let flow = match w.word(behind, lex::CDATA)? {
            true => Flow::Section(behind + lex::CDATA.len()),
            false => Flow::Held(behind, true),
        };
        self.flow(flow);
        Ok(())
    }

    /// Looks for the close tag of a value that has more than can be sent.
    pub(super) fn held(
        &mut self,
        w: &Input<'_>,
        queue: &mut Queue,
        at: usize,
        sections: bool,
    ) -> Result<(), Incomplete> {
        let Some(p) = w.find(b'<', at) else { return Err(Incomplete::on(Need::Byte(b'<'))) };
        self.flow(Flow::Held(p, sections));
        if lex::marker(w, p)? {
            let Some(end) = w.find_text("]]>", p) else {
                return Err(Incomplete::on(Need::Byte(b'>')));
            };
            self.flow(Flow::Held(end + 3, true));
            return Ok(());
        }
        let State::Leaf(leaf) = &self.state else { return Ok(()) };
        let content = leaf.content;
        match lex::tag(w, p)? {
            Tag::Close(c) if c.is(&leaf.own) && self.ends_here(w, c.end)? => {
                if !sections {
                    let text = value::value(w.str(content, p), &[]).0;
                    self.sent.send_rest(queue, self.call, &text);
                }
                self.at = c.end;
                self.state = State::Elements;
            }
            _ => self.flow(Flow::Held(p + 1, sections)),
        }
        Ok(())
    }

    /// Whether what follows a close tag makes it one of the structure.
    fn ends_here(&self, w: &Input<'_>, end: usize) -> Result<bool, Incomplete> {
        let (q, next) = w.after_blanks(end)?;
        if next != Some(b'<') {
            return Ok(false);
        }
        let args = self.levels.len() == 1;
        let level = self.levels.last().map_or("", |level| level.name.as_str());
        Ok(match lex::tag(w, q)? {
            Tag::Close(c) => c.is(level) || args && lex::is_word(c.name, &ARGS) || c.is_tool(),
            Tag::Open(t) => t.bare() || t.named_param(),
            Tag::Cut | Tag::None => false,
        })
    }
}
