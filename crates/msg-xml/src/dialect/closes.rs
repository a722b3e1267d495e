//! The tags between a value of a tag dialect and the call's close tag that it ran into (XT-33). Values that begin
//! in that stretch meet the same close tag: the index says where they end, so that k unclosed values cost one pass
//! and not k. It covers stretches without calls only; it reads nothing itself.

use crate::window::Wait;

/// A parameter's open or close tag in a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) at: usize,
    pub(super) end: usize,
    pub(super) open: bool,
}

/// Where values end between `from` and the call's close tag at `stop`.
#[derive(Debug, Default)]
pub(super) struct Closes {
    from: usize,
    pub(super) stop: usize,
    tags: Vec<Seen>,
    /// For a value that begins before a tag, the close tag that ends it.
    ends: Vec<Option<usize>>,
    /// The first open tag that is not before a tag.
    opens: Vec<Option<usize>>,
    last_close: Option<usize>,
}

/// What becomes of a value.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It ends at this close tag.
    Closed(usize, usize),
    /// It meets the call's close tag: the first parameter in it, and the last close tag.
    Unclosed(Option<usize>, Option<(usize, usize)>),
}

impl Closes {
    /// `tags` are those between `from` and `stop`; `followed` tells of a close tag's end whether a value may end there.
    pub(super) fn new(
        from: usize,
        stop: usize,
        tags: Vec<Seen>,
        mut followed: impl FnMut(usize) -> Result<bool, Wait>,
    ) -> Result<Self, Wait> {
        let n = tags.len();
        // The close tag that takes the nesting below that before a tag, whatever follows it.
        let mut lower: Vec<Option<usize>> = vec![None; n + 1];
        let mut ends = vec![None; n + 1];
        let mut opens = vec![None; n + 1];
        for (i, tag) in tags.iter().enumerate().rev() {
            if tag.open {
                let own = lower[i + 1];
                lower[i] = own.and_then(|j| lower[j + 1]);
                ends[i] = own.and_then(|j| ends[j + 1]);
                opens[i] = Some(i);
            } else {
                lower[i] = Some(i);
                ends[i] = if followed(tag.end)? { Some(i) } else { ends[i + 1] };
                opens[i] = opens[i + 1];
            }
        }
        let last_close = tags.iter().rposition(|tag| !tag.open);
        Ok(Closes { from, stop, tags, ends, opens, last_close })
    }

    /// What becomes of a value that begins at `from`, if the index covers it.
    pub(super) fn fate(&self, from: usize) -> Option<Fate> {
        let i = self.tags.partition_point(|tag| tag.at < from);
        let inside_a_tag = i.checked_sub(1).is_some_and(|before| self.tags[before].end > from);
        if from < self.from || from > self.stop || inside_a_tag || self.tags.is_empty() {
            return None;
        }
        let tag = |i: usize| (self.tags[i].at, self.tags[i].end);
        Some(match self.ends[i] {
            Some(end) => Fate::Closed(tag(end).0, tag(end).1),
            None => Fate::Unclosed(
                self.opens[i].map(|i| self.tags[i].at),
                self.last_close.filter(|&last| last >= i).map(tag),
            ),
        })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::cell::Cell;

    use crate::{Dialects, Options, Parsed, parse};

    thread_local! {
        static LOOKED: Cell<usize> = const { Cell::new(0) };
    }

    /// A `<` in a value was looked at.
    pub(in crate::dialect) fn count() {
        LOOKED.with(|n| n.set(n.get() + 1));
    }

    fn read(text: &str) -> (Parsed, usize) {
        let dialects = Dialects::by_names(["invoke"]).expect("because it is built in");
        LOOKED.with(|n| n.set(0));
        let parsed = parse(text.as_bytes(), None, &Options::new().with_dialects(dialects));
        (parsed, LOOKED.with(Cell::get))
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
}
