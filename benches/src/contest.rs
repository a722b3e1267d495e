//! A row of the table while it runs: one input, us and the peers on it, and what each of them answers.
//!
//! ```text
//! input (the same for all) ──▶ ours      ──▶ answers ─┐
//!                          ├─▶ sonic-rs  ──▶ answers ─┼─▶ timed by criterion, and compared with what is right
//!                          └─▶ a script  ──▶ answers ─┘
//! ```
//!
//! Prints nothing and judges nothing.

use std::rc::Rc;

use crate::clock::Clock;

/// What a contestant makes of the input: a number for each of the inputs that the contest names.
pub type Answers = Vec<u64>;

type Run = Box<dyn Fn(&mut Clock) -> Answers>;

/// Somebody who does the work of a row.
pub struct Entry {
    /// Ours, or the name of a peer with its version where it has one.
    pub name: &'static str,
    run: Run,
}

impl Entry {
    /// Does the work once; the clock has the time of what is to be timed.
    pub fn run(&self, clock: &mut Clock) -> Answers {
        (self.run)(clock)
    }

    /// Whether it gives up on each input before its work is done, so that its time would be that of nothing: its
    /// answers count what it saw, and it saw nothing.
    pub fn stops_early(&self, right: &Answers) -> bool {
        right.iter().all(|it| *it > 1) && self.run(&mut Clock::default()).iter().all(|it| *it == 0)
    }
}

/// What a row works through in a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Size {
    /// Bytes: the figure is MB/s.
    Bytes(usize),
    /// Items, such as messages: the figure is ns for each.
    Items(usize),
    /// One thing: the figure is its time.
    Whole,
}

/// One input, and who works on it. The first entry is ours.
pub struct Contest {
    /// How much a run works through.
    pub size: Size,
    /// Names of the inputs that answers are given for, as many as there are answers or fewer.
    pub inputs: Vec<String>,
    /// What is right, where somebody else said it; else our answers are what peers are compared with.
    pub right: Option<Answers>,
    /// Who works.
    pub entries: Vec<Entry>,
    /// Peers that do not run here, and why.
    pub absent: Vec<(&'static str, String)>,
}

/// Makes a [`Contest`] over an input.
pub struct On<I> {
    input: Rc<I>,
    contest: Contest,
}

impl<I: 'static> On<I> {
    /// A contest over this input.
    pub fn new(input: I, size: Size) -> Self {
        let (inputs, entries, absent) = (Vec::new(), Vec::new(), Vec::new());
        let contest = Contest { size, inputs, right: None, entries, absent };
        On { input: Rc::new(input), contest }
    }

    /// The input.
    pub fn input(&self) -> &I {
        &self.input
    }

    /// The answers are about inputs of these names.
    #[must_use]
    pub fn named(mut self, inputs: impl IntoIterator<Item = String>) -> Self {
        self.contest.inputs = inputs.into_iter().collect();
        self
    }

    /// These answers are right, whoever gives others.
    #[must_use]
    pub fn right(mut self, answers: Answers) -> Self {
        self.contest.right = Some(answers);
        self
    }

    /// Somebody works on the input.
    #[must_use]
    pub fn entry(
        mut self,
        name: &'static str,
        run: impl Fn(&I, &mut Clock) -> Answers + 'static,
    ) -> Self {
        let input = Rc::clone(&self.input);
        self.contest.entries.push(Entry { name, run: Box::new(move |clock| run(&input, clock)) });
        self
    }

    /// Somebody works on the input, all of which is timed.
    #[must_use]
    pub fn timed(self, name: &'static str, run: impl Fn(&I) -> Answers + 'static) -> Self {
        self.entry(name, move |input, clock| clock.time(|| run(input)))
    }

    /// A peer that does not run here.
    #[must_use]
    pub fn absent(mut self, name: &'static str, reason: String) -> Self {
        self.contest.absent.push((name, reason));
        self
    }

    /// The contest.
    pub fn done(self) -> Contest {
        self.contest
    }
}
