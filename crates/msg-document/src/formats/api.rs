//! The formats of providers' APIs: each a list of messages, a request or a response, read and written by a
//! library of its own. What differs between them is [`Api`]; the rest is here, once.
//!
//! ```text
//! {"model":"m","messages":[…]}   Body { document: everything but the messages, which are taken out }
//!                                 └ on the way back they are put in again; what fits nowhere becomes a list
//! ```

use std::marker::PhantomData;
use std::ops::Range;

use msg_core::{Message, Report, request::RequestHead};

use crate::codec::{Around, Codec, Content, Likelihood, Side, WriteOptions};
use crate::outline::Outline;
use crate::refusal::Refusal;

/// What the library of an API does, under one name for all of them.
pub(super) trait Api: Send + Sync + 'static {
    /// What it reads.
    type Document: Send + Sync;

    const NAME: &'static str;
    const ABOUT: &'static str;
    /// Whether calls and results may come without ids, and find each other by name and place (GE-6).
    const MATCHES_BY_NAME: bool = false;

    fn likelihood(outline: &Outline<'_>) -> Likelihood;

    /// Where the document is, around which there may be an envelope.
    fn place(bytes: &[u8]) -> Range<usize> {
        0..bytes.len()
    }

    fn read(json: &[u8]) -> Result<(Self::Document, Report), Refusal>;

    /// A request of these messages that asks what `head` asks.
    fn request(
        head: &RequestHead,
        messages: Vec<Message>,
        options: &WriteOptions,
    ) -> Result<(Self::Document, Report), Refusal>;

    /// A list without messages.
    fn list() -> Self::Document;

    /// Writes messages that are to be sent, wherever they are from.
    fn write_messages(messages: &[Message], options: &WriteOptions, out: &mut Vec<u8>) -> Report;

    fn write(document: &Self::Document, options: &WriteOptions, out: &mut Vec<u8>) -> Report;

    /// Gives the messages away until [`Api::set_messages`] puts them back.
    fn take_messages(document: &mut Self::Document) -> Vec<Message>;

    /// Whether the document still has its messages when they have been taken: it gave copies.
    fn gives_copies(_document: &Self::Document) -> bool {
        false
    }

    /// Whether so many messages have a place in the document.
    fn has_room(_document: &Self::Document, _messages: usize) -> bool {
        true
    }

    fn set_messages(document: &mut Self::Document, messages: Vec<Message>);

    /// What it asks, if it is a request.
    fn head(document: &Self::Document) -> Option<RequestHead>;

    /// The members of a response but that of its messages.
    fn response_members(document: &Self::Document) -> Vec<String>;

    fn side(document: &Self::Document) -> Side;
}

/// The names of members.
pub(super) fn names<'m, T>(members: impl Iterator<Item = (&'m str, T)>) -> Vec<String> {
    members.map(|it| it.0.to_owned()).collect()
}

/// The format of an API.
pub(super) struct Wire<A>(pub(super) PhantomData<A>);

impl<A: Api> Codec for Wire<A> {
    fn name(&self) -> &'static str {
        A::NAME
    }

    fn about(&self) -> &'static str {
        A::ABOUT
    }

    fn likelihood(&self, outline: &Outline<'_>) -> Likelihood {
        A::likelihood(outline)
    }

    fn read(&self, bytes: &[u8], _: &str) -> Result<Content, Refusal> {
        let place = A::place(bytes);
        let (mut document, report) = A::read(&bytes[place.clone()])?;
        let messages = A::take_messages(&mut document);
        let envelope = (bytes[..place.start].to_vec(), bytes[place.end..].to_vec());
        Ok(Content::new(messages, Body::<A> { document, envelope, is_edited: false }, report))
    }

    fn write(&self, list: &mut Vec<Message>, options: &WriteOptions, out: &mut Vec<u8>) -> Report {
        A::write_messages(list, options, out)
    }

    fn write_request(
        &self,
        head: &RequestHead,
        messages: &mut Vec<Message>,
        options: &WriteOptions,
        out: &mut Vec<u8>,
    ) -> Result<Report, Refusal> {
        let (mut document, mut report) = A::request(head, std::mem::take(messages), options)?;
        report.append(A::write(&document, options, out));
        *messages = A::take_messages(&mut document);
        Ok(report)
    }

    fn lacks_ids(&self) -> bool {
        A::MATCHES_BY_NAME
    }

    fn matches_by_name(&self) -> bool {
        A::MATCHES_BY_NAME
    }
}

/// A document whose messages have been taken out, and the bytes around it.
struct Body<A: Api> {
    document: A::Document,
    envelope: (Vec<u8>, Vec<u8>),
    is_edited: bool,
}

impl<A: Api> Around for Body<A> {
    fn write(
        &mut self,
        list: &mut Vec<Message>,
        options: &WriteOptions,
        out: &mut Vec<u8>,
    ) -> Report {
        let takes = self.is_edited || !A::gives_copies(&self.document);
        if takes && !A::has_room(&self.document, list.len()) {
            self.document = A::list();
            // Nobody reads a list in an envelope.
            self.envelope = (Vec::new(), Vec::new());
        }
        if takes {
            A::set_messages(&mut self.document, std::mem::take(list));
        }
        out.extend_from_slice(&self.envelope.0);
        let report = A::write(&self.document, options, out);
        out.extend_from_slice(self.envelope.1.trim_ascii_end());
        if takes {
            *list = A::take_messages(&mut self.document);
        }
        report
    }

    fn edited(&mut self) {
        self.is_edited = true;
    }

    fn head(&self) -> Option<RequestHead> {
        A::head(&self.document)
    }

    fn members(&self) -> Vec<String> {
        let response = || A::response_members(&self.document);
        self.head().map_or_else(response, |it| it.members)
    }

    fn side(&self) -> Side {
        A::side(&self.document)
    }
}
