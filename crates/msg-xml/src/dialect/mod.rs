//! Foreign tool call syntaxes behind the same segments (section 6): which are on, and what reads a block.

use serde::{Deserialize, Serialize};

use crate::block::{Block, Cx, Done};
use crate::event::Queue;
use crate::look::Look;
use crate::options::Options;
use crate::window::{Wait, Win};

/// The dialects that are on; none by default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Dialects(Vec<String>);

impl Dialects {
    /// By name.
    ///
    /// # Errors
    /// A name that is no dialect.
    pub fn by_names<'n>(names: impl IntoIterator<Item = &'n str>) -> Result<Self, crate::Error> {
        Ok(Dialects(names.into_iter().map(str::to_owned).collect()))
    }

    /// TOML.
    ///
    /// # Errors
    /// No grammar.
    pub fn add_toml(&mut self, _text: &str) -> Result<(), crate::Error> {
        Ok(())
    }

    pub(crate) fn opener_words(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|s| &**s).filter(|_| false)
    }

    pub(crate) fn cline(&self) -> bool {
        false
    }
}

/// Whatever reads a block.
#[derive(Debug)]
pub(crate) enum Reader {
    Native(Block),
}

impl Reader {
    /// A reader for the native block at `p`, whose opener ends at `end`.
    pub(crate) fn native(
        w: &Win<'_>,
        p: usize,
        end: usize,
        first_call: u32,
        queue: &mut Queue,
    ) -> Self {
        let tag = w.str(p, end);
        let attrs = tag.strip_suffix('>').and_then(|t| t.get("<tool".len()..)).unwrap_or_default();
        Reader::Native(Block::new(p, end, attrs, first_call, queue))
    }

    pub(crate) fn start(&self) -> usize {
        match self {
            Reader::Native(block) => block.start,
        }
    }

    pub(crate) fn keep(&self, opts: &Options) -> usize {
        match self {
            Reader::Native(block) => block.keep(opts),
        }
    }

    /// Reads on.
    pub(crate) fn run_with(
        &mut self,
        w: &Win<'_>,
        look: &mut Look,
        queue: &mut Queue,
        opts: &Options,
        cut: bool,
    ) -> Result<Done, Wait> {
        let mut cx = Cx { w, look, queue, opts, cut };
        match self {
            Reader::Native(block) => block.run(&mut cx),
        }
    }
}

/// Tries the dialects that are on at the `<` at `p`, in the order of XT-32.
pub(crate) fn begin(
    _w: &Win<'_>,
    _p: usize,
    _look: &mut Look,
    _opts: &Options,
    _first_call: u32,
    _queue: &mut Queue,
) -> Result<Option<Reader>, Wait> {
    Ok(None)
}

/// A bar, `word`, a bar and blanks at `p` (XT-39): one past them.
pub(crate) fn bars(w: &Win<'_>, p: usize, word: &str) -> Result<Option<usize>, Wait> {
    let Some(at) = bar(w, p)? else { return Ok(None) };
    if !w.word(at, word)? {
        return Ok(None);
    }
    let Some(end) = bar(w, at + word.len())? else { return Ok(None) };
    Ok(Some(w.skip_blanks(end)))
}

/// One or two bars at `p`: one past them.
fn bar(w: &Win<'_>, p: usize) -> Result<Option<usize>, Wait> {
    let one = |p: usize| -> Result<Option<usize>, Wait> {
        match crate::lex::need(w, p)? {
            Some(b'|') => Ok(Some(p + 1)),
            Some(0xEF) => Ok(w.str(p, w.end()).starts_with('｜').then_some(p + '｜'.len_utf8())),
            _ => Ok(None),
        }
    };
    let Some(end) = one(p)? else { return Ok(None) };
    Ok(Some(one(end)?.unwrap_or(end)))
}
