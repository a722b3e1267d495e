//! Sends the name of a block and pieces of its open value before the block is read (XT-42). It follows the usual form
//! and stops at anything else. Structure may turn out to be text later, so the final values are compared with what
//! was sent. It decides nothing.

use super::draft::{Counts, Sent};
use super::grammar::{Name, opener_attributes, param_key, read_name};
use super::tokens::opener;
use crate::event::{ArgPath, Queue};
use crate::input::{Incomplete, Input, MORE, Need, Turn};
use crate::lex;
use crate::lex::{ARGS, NAME, OpenTag, Tag};
use crate::options::ParseOptions;
use crate::stream::{FastPath, Kind};

#[derive(Debug, Default)]
pub(crate) enum State {
    /// Names and ARGS.
    #[default]
    Top,
    /// Between elements.
    Elements,
    /// In a value.
    Leaf(Leaf),
    /// The rest comes with the reading.
    Off,
}

/// ARGS, or an object in it.
#[derive(Debug)]
pub(crate) struct Level {
    pub(crate) name: String,
    path: ArgPath,
    counts: Counts,
}

/// A value that is open.
#[derive(Debug)]
pub(crate) struct Leaf {
    pub(crate) own: String,
    pub(crate) content: usize,
    pub(crate) flow: Flow,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Flow {
    /// Only blanks so far.
    Lead,
    /// Plain text: sent up to here, looked through up to there.
    Plain(usize, usize),
    /// In a section, of which everything before has been sent.
    Section(usize),
    /// The rest comes with the value, whose end is searched for from here on; sections were seen.
    Held(usize, bool),
}

/// A preview of one block.
#[derive(Debug, Default)]
pub(crate) struct Preview {
    pub(crate) call: u32,
    pub(crate) at: usize,
    pub(crate) state: State,
    pub(crate) tool: Option<String>,
    pub(crate) levels: Vec<Level>,
    /// Whether ARGS has ended without a name.
    args_closed: bool,
    /// Its name has been sent.
    pub(crate) has_name: bool,
    pub(crate) sent: Sent,
    turn: Turn,
}

impl Preview {
    pub(crate) fn new(w: &Input<'_>, start: usize, body: usize, call: u32) -> Self {
        let attrs = opener_attributes(w, start, body);
        let tool = lex::attribute(attrs, &NAME).map(lex::decoded);
        let tool = tool.map(|name| lex::trim(&name).to_owned());
        let tool = tool.filter(|name| lex::valid_tool_name(name));
        Preview { call, at: body, tool, ..Preview::default() }
    }

    /// For arguments in the element `tool`, whose content begins at `body`. The call's name is
    /// known.
    pub(crate) fn of_arguments(body: usize, tool: &str, call: u32) -> Self {
        let tool_name = Some(tool.to_owned());
        let mut preview = Preview { call, at: body, tool: tool_name, ..Preview::default() };
        preview.open_level(tool, ArgPath::root());
        preview
    }

    /// Sends the name, if it came with the opener.
    pub(crate) fn announce(&mut self, queue: &mut Queue) {
        if let Some(name) = self.tool.as_ref().filter(|_| !self.has_name) {
            queue.name(self.call, name);
            self.has_name = true;
        }
    }

    /// Sends the values in the new bytes.
    pub(crate) fn run(&mut self, w: &Input<'_>, queue: &mut Queue, opts: &ParseOptions) {
        self.announce(queue);
        if !self.turn.comes(w) {
            return;
        }
        loop {
            let res = match &self.state {
                State::Off => return,
                State::Top => self.top(w, queue),
                State::Elements => self.element(w),
                State::Leaf(leaf) => match leaf.flow {
                    Flow::Lead => self.lead(w, opts),
                    Flow::Plain(sent, at) => self.plain(w, queue, sent, at),
                    Flow::Section(at) => self.section_goes_on(w, queue, at),
                    Flow::Held(at, sections) => self.held(w, queue, at, sections),
                },
            };
            if let Err(wait) = res {
                self.turn.put_off(w, wait);
                return;
            }
        }
    }

    fn off(&mut self) {
        self.state = State::Off;
    }

    /// A name or ARGS.
    fn top(&mut self, w: &Input<'_>, queue: &mut Queue) -> Result<(), Incomplete> {
        let (p, next) = w.after_blanks(self.at)?;
        let Tag::Open(t) = (if next == Some(b'<') { lex::tag(w, p)? } else { Tag::None }) else {
            self.off();
            return Ok(());
        };
        let is_name = lex::is_word(t.name, &NAME) && self.tool.is_none();
        if is_name || lex::is_word(t.name, &lex::SERVER) {
            return self.name(w, queue, &t, is_name);
        }
        let args = lex::is_word(t.name, &ARGS) && !t.self_closing && !self.args_closed;
        if !args || w.after_blanks(t.end)?.1 == Some(b'{') {
            self.off();
            return Ok(());
        }
        self.open_level(t.name, ArgPath::root());
        self.at = t.end;
        Ok(())
    }

    fn name(
        &mut self,
        w: &Input<'_>,
        queue: &mut Queue,
        t: &OpenTag<'_>,
        is_name: bool,
    ) -> Result<(), Incomplete> {
        let name = match t.self_closing {
            true => Name::empty(t.end),
            false => read_name(w, t.name, t.end)?.ok_or(MORE)?,
        };
        self.at = name.end;
        let content = lex::trim(&name.content);
        if is_name && !lex::valid_tool_name(content) {
            self.off();
        } else if is_name {
            queue.name(self.call, content);
            (self.tool, self.has_name) = (Some(content.to_owned()), true);
        }
        Ok(())
    }

    fn open_level(&mut self, name: &str, path: ArgPath) {
        self.levels.push(Level { name: name.to_owned(), path, counts: Counts::default() });
        self.state = State::Elements;
    }

    /// An element's open tag, or the close tag of the level.
    fn element(&mut self, w: &Input<'_>) -> Result<(), Incomplete> {
        let (p, next) = w.after_blanks(self.at)?;
        let tag = if next == Some(b'<') { lex::tag(w, p)? } else { Tag::None };
        let depth = self.levels.len();
        let Some(level) = self.levels.last_mut() else {
            self.off();
            return Ok(());
        };
        match tag {
            Tag::Open(t) if !t.is_tool() && (depth == 1 || t.bare()) => {
                let key = if depth == 1 { param_key(&t) } else { t.name };
                let path = level.path.child(key, level.counts.add(key));
                self.at = t.end;
                if !t.self_closing {
                    let own = t.name.to_owned();
                    self.sent.open(path);
                    self.state = State::Leaf(Leaf { own, content: t.end, flow: Flow::Lead });
                }
            }
            Tag::Close(c) if depth > 1 && c.is(&level.name) => {
                self.levels.pop();
                self.at = c.end;
            }
            // The name may come last.
            Tag::Close(c) if depth == 1 && c.is(&level.name) && self.tool.is_none() => {
                self.levels.pop();
                (self.at, self.state, self.args_closed) = (c.end, State::Top, true);
            }
            _ => self.off(),
        }
        Ok(())
    }

    pub(crate) fn flow(&mut self, to: Flow) {
        if let State::Leaf(leaf) = &mut self.state {
            leaf.flow = to;
        }
    }

    /// The fast path for the bytes from `end` on, if a value is being sent there.
    pub(crate) fn fast_path(&self, end: usize, until: usize) -> FastPath {
        let (State::Leaf(Leaf { flow, .. }), Some(path)) = (&self.state, self.sent.path()) else {
            return FastPath::new(Kind::Closed);
        };
        match *flow {
            Flow::Section(at) if at == end => {
                FastPath::value(Kind::Cdata, self.call, path.clone(), at, until)
            }
            Flow::Plain(sent, at) if at == end => {
                FastPath::value(Kind::Plain, self.call, path.clone(), sent, until)
            }
            _ => FastPath::new(Kind::Closed),
        }
    }

    /// Moves to `end`, past a value that was sent up to `to`.
    pub(crate) fn pass_on(&mut self, to: usize, end: usize) {
        let State::Leaf(Leaf { flow, .. }) = &mut self.state else { return };
        let from = match flow {
            Flow::Section(at) => std::mem::replace(at, end),
            Flow::Plain(sent, at) => {
                *at = end;
                std::mem::replace(sent, to.max(*sent))
            }
            Flow::Lead | Flow::Held(..) => return,
        };
        self.sent.note(from, to);
        self.turn = Turn::default();
    }
}

// The pieces to send of an open value (XT-42): plain text up to its first mark, a CDATA section, or nothing before its
// end.

impl Preview {
    /// How a value begins.
    pub(crate) fn lead(&mut self, w: &Input<'_>, opts: &ParseOptions) -> Result<(), Incomplete> {
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
            Some(_) if w.word(p, lex::PLACEHOLDER)? => Flow::Held(p, false),
            Some(_) => {
                let from = content + lex::block_lead(w.str(content, p));
                Flow::Plain(from, from)
            }
        };
        self.flow(flow);
        Ok(())
    }

    /// Whether the value seems to be an object, whose first child is at `p`.
    fn is_object(&self, w: &Input<'_>, p: usize, opts: &ParseOptions) -> Result<bool, Incomplete> {
        let bare = matches!(lex::tag(w, p)?, Tag::Open(t) if t.bare());
        Ok(bare && !self.wants_text(opts) && opener(w, p)?.is_none())
    }

    /// XT-30: whether the schema takes the value as text.
    fn wants_text(&self, opts: &ParseOptions) -> bool {
        let (Some(schema), Some(tool), Some(path)) = (&opts.schema, &self.tool, self.sent.path())
        else {
            return false;
        };
        schema.wants_text(tool, &path.keys().collect::<Vec<_>>())
    }

    /// The value is an object, whose first child is at `p`.
    fn open_object(&mut self, p: usize) {
        let State::Leaf(leaf) = &self.state else { return };
        let own = leaf.own.clone();
        let path = self.sent.take_back();
        self.open_level(&own, path);
        self.at = p;
    }

    pub(crate) fn plain(
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

    fn section_goes_on(
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
        let after = end + 3;
        let flow = match w.word(after, lex::CDATA)? {
            true => Flow::Section(after + lex::CDATA.len()),
            false => Flow::Held(after, true),
        };
        self.flow(flow);
        Ok(())
    }

    /// Looks for the close tag of a value that has more than can be sent.
    pub(crate) fn held(
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
                    let text = lex::value_of(w.str(content, p), &[]).0;
                    self.sent.send_rest(queue, self.call, &text);
                }
                self.at = c.end;
                self.state = State::Elements;
            }
            _ => self.flow(Flow::Held(p + 1, sections)),
        }
        Ok(())
    }

    /// Whether the token after a close tag makes it structural.
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
