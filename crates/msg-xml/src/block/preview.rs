//! What can be said of a block before it is read (XT-42): its name, and pieces of the value that is open. It follows
//! the usual form and stops at anything else; what it took for structure may turn out to be text, so what was sent is
//! compared with the values that the reading gives. It decides nothing.

use super::names::{Name, opener_attributes, param_key, read_name};
use super::sent::{Counts, Sent};
use crate::event::Queue;
use crate::input::{Incomplete, Input, MORE, Turn};
use crate::lex::{self, ARGS, NAME, OpenTag, Tag};
use crate::options::Options;
use crate::passthrough::{FastPath, Kind};
use crate::path::ArgPath;
use crate::value;

#[derive(Debug, Default)]
pub(super) enum State {
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
pub(super) struct Level {
    pub(super) name: String,
    path: ArgPath,
    counts: Counts,
}

/// A value that is open.
#[derive(Debug)]
pub(super) struct Leaf {
    pub(super) own: String,
    pub(super) content: usize,
    pub(super) flow: Flow,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Flow {
    /// Only blanks so far.
    Lead,
    /// Plain text: sent up to here, looked through up to there.
    Plain(usize, usize),
    /// In a section, of which everything before has been sent.
    Section(usize),
    /// The rest comes with the value, whose end is looked for from here on; sections were seen.
    Held(usize, bool),
}

/// A preview of one block.
#[derive(Debug, Default)]
pub(crate) struct Preview {
    pub(super) call: u32,
    pub(super) at: usize,
    pub(super) state: State,
    pub(super) tool: Option<String>,
    pub(super) levels: Vec<Level>,
    /// ARGS is over, and the name has not come.
    args_closed: bool,
    /// Its name has been sent.
    pub(crate) has_name: bool,
    pub(crate) sent: Sent,
    turn: Turn,
}

impl Preview {
    pub(crate) fn new(w: &Input<'_>, start: usize, body: usize, call: u32) -> Self {
        let attrs = opener_attributes(w, start, body);
        let tool = lex::attribute(attrs, &NAME).map(value::decoded);
        let tool = tool.map(|name| lex::trim(&name).to_owned());
        let tool = tool.filter(|name| lex::valid_tool_name(name));
        Preview { call, at: body, tool, ..Preview::default() }
    }

    /// Of arguments whose element `tool` has their content at `body`; the call's name is known.
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

    /// Sends what the new bytes show.
    pub(crate) fn run(&mut self, w: &Input<'_>, queue: &mut Queue, opts: &Options) {
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

    pub(super) fn open_level(&mut self, name: &str, path: ArgPath) {
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

    pub(super) fn flow(&mut self, to: Flow) {
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

    /// Moves to `end` over a value of which everything up to `to` has been sent.
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
