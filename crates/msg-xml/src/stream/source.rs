//! A long call that has ended takes the stored bytes with it as its source: nobody else needs them any more, and a copy
//! would be as long as the call.

use super::StreamParser;
use crate::call::Call;
use crate::event::{Ev, Queue};

/// Shorter sources are copied.
const LONG: usize = 16 << 10;

impl StreamParser {
    /// Gives the source to a long call among the queued events, if they need nothing else before its end but short
    /// pieces of its values.
    pub(super) fn give_source(&mut self) {
        let Some((n, from, to)) = self.long_call() else { return };
        let base = self.base;
        let Queue { events, texts, .. } = &mut self.machine.queue;
        for ev in events.iter_mut() {
            if let Ev::Arg { call, path, from, to: end } = ev
                && *from < to
            {
                let begin = texts.len();
                texts.push_str(&self.carry[*from - base..*end - base]);
                *ev = Ev::ArgText { call: *call, path: path.clone(), text: begin..texts.len() };
            }
        }
        let rest = self.carry.split_off(to - base);
        let mut source = std::mem::replace(&mut self.carry, rest);
        self.base = to;
        source.drain(..from - base);
        source.shrink_to_fit();
        if let Ev::End { outcome, .. } = &mut events[n] {
            outcome.call_mut().source = source;
        }
    }

    /// The event of the one long call whose source can be given away, and where that begins and ends.
    fn long_call(&self) -> Option<(usize, usize, usize)> {
        let events = &self.machine.queue.events;
        let (n, from, to) = events.iter().enumerate().find_map(|(n, ev)| {
            let (from, to) = ends(ev).filter(|(from, to)| to - from >= LONG)?;
            Some((n, from, to))
        })?;
        let mut pieces = 0;
        let spared = events.iter().enumerate().all(|(i, ev)| match ev {
            Ev::Text { from, .. } | Ev::Thinking { from, .. } => *from >= to,
            Ev::Arg { from, to: end, .. } if *from < to => {
                pieces += end - from;
                *end <= to
            }
            ev => i == n || ends(ev).is_none_or(|(from, _)| from >= to),
        });
        let stored = self.base <= from && to <= self.base + self.carry.len();
        let short = pieces <= (to - from) / 4;
        (spared && stored && short && self.machine.keep() >= to).then_some((n, from, to))
    }
}

/// Where the source of a call that has ended begins and ends, if it still has to be taken.
fn ends(ev: &Ev) -> Option<(usize, usize)> {
    let Ev::End { outcome, .. } = ev else { return None };
    let Call { source, span, .. } = outcome.call();
    source.is_empty().then_some((span.start as usize, span.end as usize))
}
