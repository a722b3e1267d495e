//! A request with the answer to it in one object, as logs and recorded chats have them: read as one conversation, and
//! each half written back in its member (RG-8).
//!
//! ```text
//! {"model":"m","input":[…],"output":[…],"id":7}
//!              │           └ the answer, read as a response that has nothing else
//!              └ the request, of which `output` is one more member
//! ```
//!
//! Which answer follows which message is not said of several choices, so that those are not an exchange.

use std::ops::Range;

use msg_codec::codec::{Document, MessageBody, RequestBody};
use msg_core::{Message, RawJson, Report, Role, request::RequestHead};
use msg_json::{JsonError, Kind, Reader};

use super::no_limit;
use crate::refusal::Refusal;

/// The answer beside a request, whose messages have been taken out.
pub(super) struct Exchange<Q: RequestBody> {
    answer: Q::Response,
    /// How many messages it had.
    n_messages: usize,
}

/// An answer, its messages, and what was odd about it.
type Found<Q> = (Exchange<Q>, Vec<Message>, Report);

impl<Q: RequestBody> Exchange<Q> {
    /// The answer in an object that was read as a request of `n_before` messages; nothing where it has none, or where
    /// `may_be_read` says that its messages do not go on with the conversation.
    pub(super) fn read(
        json: &[u8],
        n_before: usize,
        may_be_read: impl Fn(&Document<Q>, usize) -> bool,
    ) -> Result<Option<Found<Q>>, Refusal> {
        let place = place(json, Q::RESPONSE).ok().flatten();
        let Some(Range { start, end }) = place else { return Ok(None) };
        let before = format!("{{\"{}\":", Q::RESPONSE);
        let alone = [before.as_bytes(), &json[start..end], b"}"].concat();
        let moved = |it: Refusal| it.moved(start.saturating_sub(before.len())).behind(n_before);
        let (mut document, report) =
            Document::<Q>::read(&alone, &no_limit()).map_err(|it| moved(it.into()))?;
        let messages = document.take_messages();
        let n_messages = messages.len();
        if n_messages == 0 || !may_be_read(&document, n_messages) {
            return Ok(None);
        }
        let Document::Response(answer) = document else { return Ok(None) };
        let report = report.into_iter().map(|mut it| {
            it.at.message = it.at.message.map(|it| it + n_before);
            it
        });
        Ok(Some((Exchange { answer, n_messages }, messages, report.collect())))
    }

    /// Takes the messages of the answer from the end of a conversation and writes them into their member. Where the
    /// answer has no place for what is there now, all stay with the request.
    pub(super) fn write(
        &mut self,
        request: &mut Q,
        list: &mut Vec<Message>,
        options: &Q::Options,
    ) -> Report {
        let is_answer = |it: &&Message| matches!(it.role, Role::Assistant | Role::Tool);
        let n = list.iter().rev().take(self.n_messages).take_while(is_answer).count();
        if n == 0 || !self.answer.has_room(n) {
            request.body_mut().remove(Q::RESPONSE);
            return Report::new();
        }
        let n_before = list.len() - n;
        *self.answer.messages_mut() = list.split_off(n_before);
        let mut out = Vec::new();
        let report = self.answer.write_body(options, &mut out);
        let list = place(&out, Q::RESPONSE).ok().flatten().map(|it| &out[it]);
        let list = list.and_then(|it| RawJson::new(std::str::from_utf8(it).ok()?).ok());
        if let Some(list) = list {
            request.body_mut().set(Q::RESPONSE, list);
        }
        let report = report.into_iter().map(|mut it| {
            it.at.message = it.at.message.map(|it| it + n_before);
            it
        });
        report.collect()
    }

    /// Gives the messages back that writing took.
    pub(super) fn take_messages(&mut self) -> Vec<Message> {
        std::mem::take(self.answer.messages_mut())
    }

    /// What the request asks: its answer is nothing of it.
    pub(super) fn without_answer(mut head: RequestHead) -> RequestHead {
        head.rest.retain(|it| it.0 != Q::RESPONSE);
        head.members.retain(|it| it != Q::RESPONSE);
        head
    }
}

/// Where the list in the last member of this name is, in an object.
fn place(json: &[u8], name: &str) -> Result<Option<Range<usize>>, JsonError> {
    // Nearly all requests are alone: a name that is nowhere, and cannot be spelled with escapes, is not a member's.
    let has = |text: &[u8]| memchr::memmem::find(json, text).is_some();
    if !has(name.as_bytes()) && !has(b"\\u") {
        return Ok(None);
    }
    let mut reader = Reader::new(json)?;
    let mut found = None;
    if reader.peek()? != Kind::Object {
        return Ok(None);
    }
    reader.begin_object()?;
    while let Some(key) = reader.next_key()? {
        let (is_list, start) = (reader.peek()? == Kind::Array, reader.next_offset());
        reader.raw()?;
        if key.text == name {
            found = is_list.then_some(start..reader.offset());
        }
    }
    Ok(found)
}
