//! What the wire formats of LLM providers share: event streams, bodies, and an object codec that keeps
//! what it does not know. It knows no provider and no network; the formats are crates on top of it
//! (`msg-openai`, `msg-anthropic`), which know nothing of each other.
//!
//! # How a wire crate reads and writes objects
//!
//! Each kind of object is a [`Shape`](codec::Shape): the names of the members that the model has, in
//! canonical order. [`Fields`](codec::Fields) hands their codes out while it reads, keeps every other
//! member raw, and records the order and the odd spellings of all of them as *slots*; these are kept in
//! an [`Extra`](msg_core::Extra) as the layout of the format (MS-6), and only if canonical writing would
//! not give the object back. [`Shape::write`](codec::Shape::write) does the same backwards: the members
//! that are wanted, in the recorded order where there is one, and the raw ones in their places.
//!
//! ```
//! use msg_json::{Reader, write_str};
//! use msg_core::{Extra, Message, Origin, Report, Role};
//! use msg_codec::codec::{Context, Fields, SlotPlan, Shape, RawMember, bit};
//!
//! static NOTE: Shape = Shape::new(&["by", "text"]);
//! const BY: u8 = 1;
//! const TEXT: u8 = 2;
//! const TOY: Origin = Origin::Json; // a format has an origin of its own
//!
//! fn read(source: &str) -> Result<Message, msg_json::JsonError> {
//!     let (mut report, mut reader) = (Report::new(), Reader::from_text(source));
//!     let mut cx = Context::new(&mut report);
//!     let mut fields = Fields::read(&NOTE, &mut cx, &mut reader)?;
//!     let role = fields.text(&mut cx, BY).map_or(Role::User, |it| Role::from(it.as_str()));
//!     let text = fields.text_or_report(&mut cx, TEXT).unwrap_or_default();
//!     let mut message = Message::new(role).with_text(text);
//!     if !fields.is_canonical(bit(BY) | bit(TEXT)) {
//!         message.extra.set_layout(TOY, fields.slots());
//!     }
//!     fields.move_extra(&mut cx, &TOY, &mut message.extra);
//!     Ok(message)
//! }
//!
//! fn write(message: &Message, out: &mut Vec<u8>) {
//!     let raw = RawMember::all_of(&message.extra, &TOY, &[]);
//!     let plan = SlotPlan::new(message.extra.layout(&TOY));
//!     NOTE.write(out, plan, bit(BY) | bit(TEXT), &raw, |out, code| match code {
//!         BY => write_str(out, message.role.as_str()),
//!         _ => write_str(out, &message.text()),
//!     });
//! }
//!
//! let source = r#"{"id":7.0,"text":"Hi","by":"assistant"}"#;
//! let mut out = Vec::new();
//! write(&read(source)?, &mut out);
//! assert_eq!(out, source.as_bytes());
//! # Ok::<(), msg_json::JsonError>(())
//! ```
//!
//! Around the messages: [`codec::Body`] is an object with a place for what is held elsewhere (the
//! request around `messages`), [`codec::Document`] is a list, a request or a response of the format that
//! implements [`codec::RequestBody`]. In them: [`codec::Inner`] and [`Fields::keep`](codec::Fields::keep) are
//! what an object leaves beside its part, [`codec::Placement`] is where a message was,
//! [`codec::PartWriter`] writes the objects of parts and collects what a format cannot hold (MS-24).
//!
//! # How a wire crate reads streams
//!
//! It has an [`Assembler`] (events in, a message out) and a [`StreamFamily`] (whose event is it, and the
//! assembler for it). [`StreamReader`] does the rest: bytes, lines, bodies, recognition, limits, offsets.
//! An assembler keeps a [`Head`](stream::Head), appends texts through a [`Channel`](stream::Channel),
//! fragments of calls through [`Calls`](stream::Calls), finish reasons through a
//! [`Finish`](stream::Finish), and members without a place in
//! [`Merged`](stream::Merged); it notes what is odd once a kind
//! ([`Note`](stream::Note)) and never fails.
//!
//! ```
//! use msg_core::Part;
//! use msg_codec::{AssembledChoice, Sink, StreamState};
//! use msg_codec::stream::{Channel, Finish, Head, Parts, TextKind};
//! use msg_codec::{Assembled, Assembler, StreamFamily, StreamOptions, StreamReader};
//!
//! /// {"say":"..."} grows the text, {"end":"stop"} ends it.
//! #[derive(Debug, Clone)]
//! struct ToyAssembler {
//!     head: Head,
//!     text: Channel,
//!     finish: Finish,
//! }
//!
//! impl Assembler for ToyAssembler {
//!     fn head(&self) -> &Head {
//!         &self.head
//!     }
//!
//!     fn head_mut(&mut self) -> &mut Head {
//!         &mut self.head
//!     }
//!
//!     fn take(&mut self, data: &str, _name: Option<&str>, sink: &mut Sink<'_>) {
//!         let (mut say, mut end) = (None, None);
//!         // Says of an event that is not JSON where it breaks, and hands out nothing.
//!         let is_object = self.head.object(data, |key, value| match key {
//!             "say" => say = value.string(),
//!             "end" => end = value.text(),
//!             _ => {}
//!         });
//!         if let Some(text) = say.filter(|_| is_object) {
//!             TextKind::Text.push(&mut self.text, text, &mut self.head.step(0, sink));
//!         }
//!         if let Some(reason) = end {
//!             self.finish.set(reason, self.head.at, &mut self.head.notes);
//!             self.head.stopped = true;
//!         }
//!     }
//!
//!     fn close(mut self: Box<Self>, state: StreamState, sink: &mut Sink<'_>) -> Assembled {
//!         let early = (!self.finish.is_known()).then_some("before its end");
//!         let ending = self.head.ending(state, early);
//!         TextKind::Text.end(&mut self.text, &mut self.head.step(0, sink));
//!         let mut parts = Parts::default();
//!         parts.list.push(Part::text(self.text.into_text()));
//!         let finish = self.finish.resolve(0, (state, ending), &mut self.head);
//!         let choice = AssembledChoice::new(0, parts, finish, None);
//!         self.head.assemble(vec![choice], ending, state, sink)
//!     }
//!
//!     fn boxed_clone(&self) -> Box<dyn Assembler> {
//!         Box::new(self.clone())
//!     }
//! }
//!
//! const TOY: StreamFamily = StreamFamily {
//!     name: "toy",
//!     recognises: |event| event.get("say").is_some(),
//!     assembler: Some(|options| {
//!         let (text, finish) = (Channel::default(), Finish::default());
//!         Box::new(ToyAssembler { head: Head::new(options), text, finish })
//!     }),
//! };
//!
//! let mut reader = StreamReader::new(&[TOY], StreamOptions::default());
//! reader.feed(b"data: {\"say\":\"Hel\"}\n\ndata: {\"say\":\"lo\"}\n\ndata: {\"end\":\"stop\"}\n\n", &mut |_| {});
//! let res = reader.finish(&mut |_| {});
//! assert!(res.complete && res.diagnostics.is_empty());
//! assert_eq!(res.choices[0].message.text(), "Hello");
//! ```
//!
//! Who knows several families gives the reader a list of them; the most general goes last, because the
//! last also takes what none recognised: `StreamReader::new(&[RESPONSES, ANTHROPIC, CHAT], options)`.
//! The laws of streams (any chunking gives the same; events say what the result says; it may stop at any
//! byte) are in `tests/it/laws.rs` and are written for any list of families: a wire crate's tests take
//! that file in by its path.

pub mod codec;
mod codes;
mod json;
mod link;
mod media;
mod options;
pub mod stream;

pub use crate::media::{DataUrl, MediaKind, media_type_of_url};
pub use codes::CODES;
pub use json::{Json, Str};
pub use link::link_ids;
pub use media::{MediaPlaces, settle_media};
pub use options::{Error, LaterSystem, Layout, ReadOptions, SealedReasoning};
pub use stream::assembler::{Assembled, AssembledChoice, Assembler, StreamFamily};
pub use stream::close::StreamState;
pub use stream::frames::write_frame;
pub use stream::head::{EventOptions, ProviderError};
pub use stream::merged::Sink;
pub use stream::reader::{StreamLimits, StreamOptions, StreamReader};
pub use stream::sse::{SseDecoder, SseEvent};

/// The examples of the README run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
