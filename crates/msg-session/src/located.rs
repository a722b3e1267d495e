//! Which records the message of a provider names (SE-90): by the number of a message, or by the id of a
//! call.

use msg_core::{Message, Part, Role};

use crate::provider_error::ProviderError;
use crate::view::{PartOrigin, View};

impl View {
    /// The places that the message of a provider names: `messages.5.content.0: …` is message 5 of what is
    /// sent, the system prompt not counted; an id is the call or result that has it. Linear.
    ///
    /// ```
    /// use msg_session::{Blob, Dialect, SessionOptions, Session};
    ///
    /// let line = r#"{"role":"assistant","created":1,"content":[{"type":"toolRequest","id":"call_77"}]}"#;
    /// let session = Session::new(Dialect::Goose, vec![Blob::new("s.jsonl", line)]);
    /// let view = session.read(&SessionOptions::default())?;
    /// assert_eq!(view.named_by("No tool output found for call_77.")[0].block, Some(0));
    /// # Ok::<(), msg_session::Error>(())
    /// ```
    pub fn named_by(&self, error: &str) -> Vec<PartOrigin> {
        let error = ProviderError::read(error);
        let mut res = Vec::new();
        if let Some(number) = error.message {
            let sent = self.sent_messages(error.counts_items);
            res.extend(sent.into_iter().filter(|it| it.0 == number).map(|it| it.1));
        }
        for (message, origins) in self.messages.iter().zip(&self.origins) {
            for (part, origin) in message.parts.iter().zip(origins) {
                if id_of(part).is_some_and(|it| error.words.binary_search(&it).is_ok()) {
                    res.push(*origin);
                }
            }
        }
        res.sort_unstable();
        res.dedup();
        res
    }

    /// The number that the provider gives each origin: neighbouring messages of one role are one message there
    /// (SE-122), and an item of Responses is one by itself; what the agent puts in front is counted too.
    fn sent_messages(&self, counts_items: bool) -> Vec<(usize, PartOrigin)> {
        let mut res: Vec<(usize, PartOrigin)> = Vec::new();
        let mut next = self.in_front;
        let mut before: Option<&Message> = None;
        for (message, origins) in self.messages.iter().zip(&self.origins) {
            if message.role.is_system() && !counts_items || !is_seen(message) {
                continue;
            }
            for (n, origin) in origins.iter().enumerate() {
                let goes_on = match counts_items {
                    true => res.last().is_some_and(|it| it.1 == *origin),
                    false => n > 0 || before.is_some_and(|it| joins(it, message)),
                };
                next += usize::from(!goes_on);
                before = Some(message);
                res.push((next - 1, *origin));
            }
        }
        res
    }
}

/// Whether the provider gets to see it: an agent leaves blank texts of answers out.
fn is_seen(message: &Message) -> bool {
    let is_blank = |it: &Part| it.as_text().is_some_and(|it| it.trim().is_empty());
    message.role != Role::Assistant || !message.parts.iter().all(is_blank)
}

/// Whether two messages are one of a provider: of an answer, or results and the words of the user, in any order.
fn joins(before: &Message, message: &Message) -> bool {
    let of_user = |it: &Message| matches!(it.role, Role::User | Role::Tool);
    before.role == message.role || of_user(before) && of_user(message)
}

fn id_of(part: &Part) -> Option<&str> {
    match part {
        Part::ToolCall(it) => Some(&it.id),
        Part::ToolResult(it) => Some(&it.call_id),
        _ => None,
    }
}
