//! Messages of users that follow each other. A message file may have them (MF-33); a chain has one, and so have
//! requests. They are joined while a history is looked at as a chain, and are as they were afterwards.
//!
//! ```text
//! user a   user b   assistant c   user d        as it was read
//! user a b          assistant c   user d        as it is looked at
//! user a   user b   summary                     where c and d were cut
//! ```

use std::collections::{HashMap, VecDeque};

use msg_core::{Message, Role, native};

/// What was joined, to be put back.
#[derive(Debug, Default)]
pub(crate) struct JoinedUsers {
    runs: Vec<Run>,
}

#[derive(Debug)]
struct Run {
    /// The place of the joined message, in the list that has it.
    at: usize,
    /// By how many messages the list was longer, this run included.
    more: usize,
    /// The joined message as JSON.
    joined: String,
    were: Vec<Message>,
}

impl JoinedUsers {
    /// Joins the messages of users that follow each other. Copies these alone.
    pub(crate) fn take(messages: &mut Vec<Message>) -> Self {
        if !messages.windows(2).any(|it| it.iter().all(is_user)) {
            return Self::default();
        }
        let mut taken = Self::default();
        let (mut joined, mut were) = (Vec::<Message>::new(), Vec::new());
        for message in messages.drain(..) {
            match joined.last_mut().filter(|it| is_user(it) && is_user(&message)) {
                Some(last) => {
                    if were.is_empty() {
                        were.push(last.clone());
                    }
                    last.parts.extend(message.parts.iter().cloned());
                    were.push(message);
                }
                None => {
                    taken.close(&joined, &mut were);
                    joined.push(message);
                }
            }
        }
        taken.close(&joined, &mut were);
        *messages = joined;
        taken
    }

    /// Ends a run, if one has begun.
    fn close(&mut self, joined: &[Message], were: &mut Vec<Message>) {
        let Some(last) = joined.last().filter(|_| !were.is_empty()) else { return };
        let more = self.runs.last().map_or(0, |it| it.more) + were.len() - 1;
        let (at, were) = (joined.len() - 1, std::mem::take(were));
        self.runs.push(Run { at, more, joined: json(last), were });
    }

    /// Whether none was joined.
    pub(crate) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Puts those back that nothing was done to.
    pub(crate) fn put_back(&mut self, messages: &mut Vec<Message>) {
        if self.is_empty() {
            return;
        }
        let mut runs: HashMap<String, VecDeque<Vec<Message>>> = HashMap::new();
        for run in &mut self.runs {
            let (joined, were) = (std::mem::take(&mut run.joined), std::mem::take(&mut run.were));
            runs.entry(joined).or_default().push_back(were);
        }
        for message in std::mem::take(messages) {
            let were = is_user(&message).then(|| runs.get_mut(&json(&message))).flatten();
            match were.and_then(VecDeque::pop_front) {
                Some(were) => messages.extend(were),
                None => messages.push(message),
            }
        }
    }

    /// The place in the list as it was of a message of the list that has joined ones.
    pub(crate) fn place(&self, message: usize) -> usize {
        let before = self.runs.partition_point(|it| it.at < message);
        message + before.checked_sub(1).map_or(0, |it| self.runs[it].more)
    }
}

fn is_user(message: &Message) -> bool {
    message.role == Role::User
}

fn json(message: &Message) -> String {
    let mut json = Vec::new();
    native::write_message(message, &mut json);
    String::from_utf8(json).unwrap_or_default()
}
