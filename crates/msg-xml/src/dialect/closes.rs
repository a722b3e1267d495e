//! The tags between a value of a tag dialect and what showed that it has no close tag of its own (XT-33): the close tag
//! of its call, the next block behind a wrapper's close tag, or the end of input. The index says where the values end
//! that begin in that stretch, in a nested call or not, so that k unclosed values cost one pass and not k, in one block
//! or in many. It reads nothing itself.

use std::sync::Arc;

use crate::ladder::Ladder;
use crate::shape::Grammar;

/// A tag in a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) at: usize,
    pub(super) end: usize,
    pub(super) kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    OpenParam,
    /// It may end a value, by what follows it.
    CloseParam(bool),
    OpenCall,
    CloseCall,
    /// A block begins with it, by what follows it.
    OpenWrapper(bool),
    CloseWrapper,
}

/// The latest index of each dialect.
#[derive(Debug, Default)]
pub(crate) struct Known(Vec<(Arc<Grammar>, Closes)>);

impl Known {
    /// What becomes of a value of this dialect that begins at `from`, if that is known.
    pub(super) fn fate(&self, grammar: &Arc<Grammar>, from: usize) -> Option<Fate> {
        self.0.iter().find(|(of, _)| Arc::ptr_eq(of, grammar))?.1.fate(from)
    }

    pub(super) fn keep(&mut self, grammar: &Arc<Grammar>, closes: Closes) {
        self.0.retain(|(of, _)| !Arc::ptr_eq(of, grammar));
        self.0.push((Arc::clone(grammar), closes));
    }
}

/// Where values end between `from` and the last tag.
#[derive(Debug, Default)]
pub(super) struct Closes {
    from: usize,
    /// The input ends behind the last tag.
    eof: bool,
    tags: Vec<Seen>,
    starts: Vec<Start>,
    /// Close tags that may end values, by their numbers; their rank is how many calls are open there.
    ends: Ladder<usize>,
}

/// What a value meets that begins before a tag; all by the tags' numbers.
#[derive(Clone, Copy, Debug, Default)]
struct Start {
    /// So many calls are open.
    depth: usize,
    /// The close tag of the call that it stands in.
    stop: Option<usize>,
    /// The close tag of a wrapper that none opens from here on.
    bare: Option<usize>,
    /// The first wrapper with which a block begins.
    block: Option<usize>,
    /// The close tag that takes the nesting of parameters below that before the tag, whatever follows it.
    lower: Option<usize>,
    /// The first open tag of a parameter.
    open: Option<usize>,
    /// The last close tag of a parameter before the tag.
    closed: Option<usize>,
    /// In `ends`, the first close tag that may end it, at any depth.
    end: Option<usize>,
}

/// What becomes of a value.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It ends at this close tag.
    Closed(usize, usize),
    /// It meets the call's close tag: the first parameter in it, the last close tag, and where the call's stands.
    Unclosed(Option<usize>, Option<(usize, usize)>, usize),
}

impl Closes {
    /// `tags` are those from `from` on; behind the last one the input ends if `eof`.
    pub(super) fn new(from: usize, tags: Vec<Seen>, eof: bool) -> Self {
        let mut starts = vec![Start::default(); tags.len() + 1];
        for (i, tag) in tags.iter().enumerate() {
            let (before, after) = (starts[i], &mut starts[i + 1]);
            (after.depth, after.closed) = (before.depth, before.closed);
            match tag.kind {
                Kind::OpenCall => after.depth += 1,
                Kind::CloseCall => after.depth = before.depth.saturating_sub(1),
                Kind::CloseParam(_) => after.closed = Some(i),
                Kind::OpenParam | Kind::OpenWrapper(_) | Kind::CloseWrapper => {}
            }
        }
        let mut ends = Ladder::default();
        for (i, tag) in tags.iter().enumerate().rev() {
            let next = starts[i + 1];
            let past = |tag: Option<usize>| tag.map(|j| starts[j + 1]);
            let mut start = Start { depth: starts[i].depth, closed: starts[i].closed, ..next };
            match tag.kind {
                Kind::OpenParam => {
                    let own = past(next.lower);
                    start.lower = own.and_then(|it| it.lower);
                    start.end = own.and_then(|it| it.end);
                    start.open = Some(i);
                }
                Kind::CloseParam(ends_a_value) => {
                    start.lower = Some(i);
                    if ends_a_value {
                        start.end = Some(ends.push(i, start.depth, next.end));
                    }
                }
                Kind::OpenCall => start.stop = past(next.stop).and_then(|it| it.stop),
                Kind::CloseCall => start.stop = Some(i),
                Kind::OpenWrapper(block) => {
                    start.bare = past(next.bare).and_then(|it| it.bare);
                    start.block = if block { Some(i) } else { next.block };
                }
                Kind::CloseWrapper => start.bare = Some(i),
            }
            starts[i] = start;
        }
        Closes { from, eof, tags, starts, ends }
    }

    /// What becomes of a value that begins at `from`, if the index covers it.
    pub(super) fn fate(&self, from: usize) -> Option<Fate> {
        let i = self.tags.partition_point(|tag| tag.at < from);
        let inside_a_tag = i.checked_sub(1).is_some_and(|before| self.tags[before].end > from);
        if from < self.from || inside_a_tag {
            return None;
        }
        let start = self.starts.get(i)?;
        let (stop, until) = self.stop(start)?;
        let place = |i: usize| (self.tags[i].at, self.tags[i].end);
        let end = self.ends.first(start.end, start.depth).filter(|&end| end < until);
        Some(match end.map(place) {
            Some((to, end)) => Fate::Closed(to, end),
            None => Fate::Unclosed(
                start.open.filter(|&open| open < stop).map(|open| self.tags[open].at),
                self.starts[stop].closed.filter(|&closed| closed >= i).map(place),
                self.tags[stop].at,
            ),
        })
    }
}

impl Closes {
    /// The tag before which a value ends that has no end of its own, and the one before which that would have to come.
    fn stop(&self, start: &Start) -> Option<(usize, usize)> {
        let call = start.stop.unwrap_or(usize::MAX);
        match start.bare.filter(|&bare| bare < call) {
            Some(bare) => {
                let until = self.starts[bare + 1].block.unwrap_or(usize::MAX).min(call);
                (until != usize::MAX || self.eof).then_some((bare, until))
            }
            None => start.stop.map(|stop| (stop, stop)),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Dialects, Options, Parsed, parse, steps};

    fn read(text: &str) -> (Parsed, usize) {
        let dialects = Dialects::by_names(["invoke"]).expect("because it is built in");
        let opts = Options::new().with_dialects(dialects);
        steps::during(|| parse(text.as_bytes(), None, &opts))
    }

    fn call(body: &str) -> String {
        format!("<invoke name=\"f\">{body}</invoke>")
    }

    #[test]
    fn closed_and_unclosed_values_in_turn_cost_one_pass() {
        for k in [1, 10, 1000] {
            let pair = r#"<parameter name="a">1<parameter name="b">2</parameter>"#;
            let (parsed, looked) = read(&call(&pair.repeat(k)));
            let ones = vec!["\"1\""; k].join(",");
            let twos = vec!["\"2\""; k].join(",");
            let expected = match k {
                1 => r#"{"a":"1","b":"2"}"#.to_owned(),
                _ => format!(r#"{{"a":[{ones}],"b":[{twos}]}}"#),
            };
            let call = parsed.calls().next().expect("because the block is whole");
            assert_eq!(call.arguments().text(), expected);
            assert_eq!(parsed.diagnostics.len(), k, "each `a` lacks its close tag");
            assert!(looked <= 4 * k + 4, "{looked} tags looked at for {k} pairs");
        }
    }

    #[test]
    fn close_tags_before_text_cost_one_pass() {
        for k in [1, 10, 1000] {
            let body = r#"<parameter name="a">1"#.repeat(k) + &"</parameter>x".repeat(k);
            let (parsed, looked) = read(&call(&body));
            assert_eq!(parsed.calls().count(), 1);
            assert!(looked <= 4 * k + 4, "{looked} tags looked at for {k} values");
        }
    }

    #[test]
    fn values_with_calls_in_them_cost_one_pass() {
        let open = r#"<parameter name="a">"#;
        let nested = r#"<invoke name="z"></invoke>"#;
        for k in [1, 10, 1000] {
            let shapes = [
                format!("{open}{nested}{open}v</parameter>").repeat(k),
                format!("{open}<invoke name=\"z\">").repeat(k) + &"</invoke>".repeat(k),
                open.repeat(k)
                    + &"<invoke name=\"z\">".repeat(k)
                    + &"</parameter>".repeat(k)
                    + &"</parameter></invoke>".repeat(k),
            ];
            for (n, body) in shapes.iter().enumerate() {
                let (parsed, looked) = read(&call(body));
                assert!(parsed.calls().count() >= 1);
                assert!(looked <= 8 * k + 8, "{looked} tags looked at for {k} of shape {n}");
            }
        }
    }

    #[test]
    fn values_before_a_wrappers_close_tag_cost_one_pass() {
        let unclosed = r#"<invoke name="f"><parameter name="a">1<parameter name="b">2"#;
        for k in [1, 10, 1000] {
            let ends = [
                "</function_calls> t",
                "</function_calls> <function_calls><invoke name=\"g\"></invoke></function_calls>",
                "</function_calls></invoke>",
            ];
            for end in ends {
                let text = format!(
                    "<function_calls>{unclosed}{}{end}",
                    r#"<parameter name="c">3"#.repeat(k)
                );
                let (parsed, looked) = read(&text);
                assert!(parsed.calls().count() >= 1, "{end}");
                assert!(
                    looked <= 4 * k + 16,
                    "{looked} tags looked at for {k} values before {end}"
                );
            }
        }
    }

    #[test]
    fn values_of_many_blocks_cost_one_pass() {
        for k in [1, 10, 1000] {
            let unit = r#"<invoke name="f"><parameter name="a">"#.to_owned()
                + r#"<invoke name="z"><parameter name="b">v</parameter></invoke> x"#;
            let (parsed, looked) = read(&(unit.repeat(k) + &"</invoke>".repeat(k)));
            assert_eq!(parsed.calls().count(), k);
            assert!(looked <= 8 * k + 8, "{looked} tags looked at for {k} blocks");
        }
    }
}
