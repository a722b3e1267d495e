//! Lowering a conversation again after it grew, at the cost of what is new (OA-6).

use super::{LowerOptions, Lowered, emit, ids::Ids, prompt};
use crate::Turn;
use msg_core::{Diagnostic, Message, Part, Report};

/// Keeps the messages of turns that were lowered. The caller says from which turn on something
/// changed; lowering after an append costs the append.
///
/// ```
/// use msg_forms::{Turn, TurnPart, turns::{LowerCache, LowerOptions, lower}};
/// let mut turns = vec![Turn::new("m1", "user")];
/// turns[0].parts.push(TurnPart::text("t1", "Hello"));
/// let mut cache = LowerCache::new(LowerOptions::strict());
/// assert_eq!(cache.lower(&turns, 0).len(), 1);
///
/// turns.push(Turn::new("m2", "assistant"));
/// turns[1].parts.push(TurnPart::text("t1", "Hi"));
/// let messages = cache.lower(&turns, 1);
/// assert_eq!(messages, lower(&turns, &LowerOptions::strict()).messages);
/// ```
#[derive(Debug, Clone)]
pub struct LowerCache {
    options: LowerOptions,
    /// The prompt, if it is in, and the messages of the turns.
    messages: Vec<Message>,
    diagnostics: Vec<Diagnostic>,
    turns: Vec<Entry>,
    ids: Ids,
    has_prompt: bool,
    n_system: usize,
}

/// What one turn became: up to where messages and diagnostics go that are its own, the prompt not
/// counted.
#[derive(Debug, Clone, Copy)]
struct Entry {
    n_messages: usize,
    n_diagnostics: usize,
}

impl LowerCache {
    /// An empty cache for these options.
    pub fn new(options: LowerOptions) -> Self {
        Self {
            options,
            messages: Vec::new(),
            diagnostics: Vec::new(),
            turns: Vec::new(),
            ids: Ids::default(),
            has_prompt: false,
            n_system: 0,
        }
    }

    /// The options of the cache.
    pub fn options(&self) -> &LowerOptions {
        &self.options
    }

    /// The messages of `turns`, of which those before `changed_from` are the ones of the last call.
    /// Costs the turns from there on; a prompt that comes in or goes out moves the messages once.
    pub fn lower(&mut self, turns: &[Turn], changed_from: usize) -> &[Message] {
        self.forget_from(changed_from.min(turns.len()));
        let first = self.turns.len();
        let mut report = Report::default();
        for (at, turn) in turns.iter().enumerate().skip(first) {
            let (options, ids) = (&self.options, &mut self.ids);
            emit::turn(turn, at, options, ids, &mut self.messages, &mut report);
            let n_diagnostics = self.diagnostics.len() + report.len();
            self.turns.push(Entry { n_messages: self.n_own(), n_diagnostics });
        }
        let from = first.checked_sub(1).map_or(0, |it| self.turns[it].n_messages);
        self.n_system += self.count_system(from + usize::from(self.has_prompt));
        self.diagnostics.extend(report.into_vec());
        self.place_prompt();
        &self.messages
    }

    /// The messages of the last call.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// What was left out or changed, for all turns of the last call.
    pub fn report(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Gives messages and report away.
    pub(super) fn into_lowered(self) -> Lowered {
        Lowered { messages: self.messages, report: self.diagnostics }
    }

    /// Messages of turns: all but the prompt.
    fn n_own(&self) -> usize {
        self.messages.len() - usize::from(self.has_prompt)
    }

    fn forget_from(&mut self, turn: usize) {
        if turn >= self.turns.len() {
            return;
        }
        self.turns.truncate(turn);
        let kept = self.turns.last().copied();
        let n_messages = kept.map_or(0, |it| it.n_messages) + usize::from(self.has_prompt);
        self.n_system -= self.count_system(n_messages);
        let gone = self.messages.drain(n_messages..);
        let calls = gone.flat_map(|it| it.parts).filter_map(|it| match it {
            Part::ToolCall(it) => Some(it.id),
            _ => None,
        });
        self.ids.forget(calls);
        self.diagnostics.truncate(kept.map_or(0, |it| it.n_diagnostics));
    }

    fn count_system(&self, from: usize) -> usize {
        let is_system = |it: &&Message| prompt::is_system(it, &self.options);
        self.messages[from..].iter().filter(is_system).count()
    }

    fn place_prompt(&mut self) {
        let wanted = self.n_system == 0;
        if self.has_prompt && !wanted {
            self.messages.remove(0);
            self.has_prompt = false;
        } else if !self.has_prompt
            && wanted
            && let Some(prompt) = prompt::message(&self.options)
        {
            self.messages.insert(0, prompt);
            self.has_prompt = true;
        }
    }
}
