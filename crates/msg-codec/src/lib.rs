//! The common parts of LLM wire formats: event streams, bodies, and an object codec that keeps unknown
//! members. For authors of wire formats; to talk to a provider, use `msg-openai`, `msg-anthropic`,
//! `msg-gemini` or `msg-bedrock`, which are built on it. The crate knows no provider and no network.
//!
//! | you want | use |
//! |---|---|
//! | server-sent events from chunks of bytes | [`SseDecoder`] |
//! | a message from a provider's stream | [`StreamReader`] with the [`StreamFamily`] of a wire crate |
//! | to read and write the objects of a format | [`codec::Fields`], [`codec::Shape`] |
//! | to assemble the streams of a format | [`Assembler`] |
//! | ids for calls and results that have none | [`link_ids`] |
//!
//! Any chunking of a stream gives the same result, and memory is bounded by [`StreamLimits`].
//!
//! # How a wire crate reads and writes objects
//!
//! Each kind of object is a [`Shape`](codec::Shape): the names of its known members, in canonical order.
//! [`Fields`](codec::Fields) reads an object: it returns known members by their code, keeps all other
//! members raw, and records the order and unusual spellings of all of them as *slots*. The slots are
//! stored in an [`Extra`](msg_core::Extra) as the layout of the format (MS-6), but only if canonical
//! writing would not restore the object. [`Shape::write`](codec::Shape::write) is the inverse: it writes
//! the requested members in the recorded order, if there is one, and the raw ones in their places.
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
//! Around the messages, [`codec::Body`] is an object with a gap for a value that is held elsewhere (the
//! request around `messages`), and [`codec::Document`] is a list, a request or a response of a format that
//! implements [`codec::RequestBody`]. Inside of messages, [`codec::Inner`] and
//! [`Fields::keep`](codec::Fields::keep) keep the members that are not part of the part,
//! [`codec::Placement`] is the place of a message, and [`codec::PartWriter`] writes the objects of parts
//! and collects what a format cannot hold (MS-24).
//!
//! # How a wire crate reads streams
//!
//! It has an [`Assembler`] (events in, a message out) and a [`StreamFamily`], which recognises the events
//! and creates the assembler. [`StreamReader`] does the rest: bytes, lines, bodies, recognition, limits,
//! offsets. An assembler keeps a [`Head`](stream::Head). It appends text with a
//! [`Channel`](stream::Channel), fragments of calls with [`Calls`](stream::Calls), sets finish reasons
//! with a [`Finish`](stream::Finish), and collects members without a place in
//! [`Merged`](stream::Merged). It reports each kind of problem once ([`Note`](stream::Note)), and never
//! fails.
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
//! To accept several families, pass a list: `StreamReader::new(&[RESPONSES, ANTHROPIC, CHAT], options)`.
//! Put the most general one last, because the last one also gets the events that no family recognised.
//! The laws of streams are in `tests/it/laws.rs`: any chunking gives the same result, events and result
//! agree, and a stream may stop at any byte. They work for any list of families; the tests of a wire crate
//! include that file by its path.

use msg_core::{CodeInfo, codes};

pub use json::{Json, Str};
pub use link::link_ids;
pub use media::{DataUrl, MediaKind, MediaPlaces, media_type_of_url, settle_media};
pub use options::{Error, LaterSystem, Layout, ReadOptions, SealedReasoning};
pub use stream::{
    assembler::{Assembled, AssembledChoice, Assembler, StreamFamily},
    close::StreamState,
    frames::write_frame,
    head::{EventOptions, ProviderError},
    merged::Sink,
    reader::{StreamLimits, StreamOptions, StreamReader},
    sse::{SseDecoder, SseEvent},
};

pub mod codec;
mod json;
mod link;
mod media;
mod options;
pub mod stream;

/// The examples of the README run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The diagnostic codes of streams of all families.
pub const CODES: &[CodeInfo] = codes! {
    info "convert::id-synthesised" "GE-6, MS-30" "a call without an id, or with that of another; an id was generated";
    warning "stream::invalid-utf8" "OA-16" "invalid UTF-8, replaced with U+FFFD";
    warning "stream::bare-json" "OA-16" "a JSON line without a field name";
    warning "stream::not-separated" "OA-16" "events without a blank line between them, read one by one";
    warning "stream::comment-in-data" "OA-16" "a comment sent as data";
    warning "stream::bad-json" "OA-16" "an event is not a JSON object, skipped";
    error "stream::event-too-large" "OA-16" "an event or body exceeds the size limit, dropped";
    warning "stream::ndjson" "OA-17" "the body is JSON Lines instead of one JSON document";
    error "stream::bad-frame" "BR-15" "a damaged or truncated frame of a binary event stream";
    warning "stream::unknown-event" "OA-22, OA-23, GI-20" "unknown event";
    warning "stream::several-responses" "OA-17" "the bytes contain more than one response";
    error "stream::foreign-format" "OA-17" "the stream is in an unsupported format, or not in the requested one";
    warning "stream::index-missing" "OA-19" "a fragment of a call has no index";
    warning "stream::index-reused" "OA-19" "several calls, or items of two kinds, use the same index";
    warning "stream::call-repeated" "OA-19" "duplicate call, ignored";
    warning "stream::id-changed" "OA-19" "the id of a call changed, the first one is used";
    warning "stream::id-synthesised" "OA-19" "a call without an id; an id was generated";
    warning "stream::name-repeated" "OA-19" "duplicate name of a call";
    warning "stream::name-fragment" "OA-19" "the name of a call arrived in pieces";
    warning "stream::name-changed" "OA-19" "the name of a call changed, the first one is used";
    warning "stream::empty-object-prefix" "OA-19" "an empty object before the arguments, dropped";
    warning "stream::arguments-object" "OA-19" "arguments sent as JSON instead of text";
    info "stream::arguments-empty" "OA-19" "a call without arguments, read as an empty object";
    warning "stream::arguments-incomplete" "OA-19" "a call was truncated before its arguments were complete";
    warning "stream::arguments-concatenated" "OA-19" "the arguments of one call are several objects";
    warning "stream::arguments-invalid" "OA-19" "arguments are not JSON";
    warning "stream::arguments-not-object" "OA-19" "arguments are JSON, but not an object";
    info "stream::finish-duplicate" "OA-20" "duplicate finish reason";
    warning "stream::finish-conflict" "OA-20" "conflicting finish reason, the first one is used";
    warning "stream::finish-promoted" "OA-20" "calls without the finish reason `tool_calls`";
    warning "stream::finish-demoted" "OA-20" "the finish reason `tool_calls` without a call";
    warning "stream::interleaved" "OA-18" "a thought after text, which the message has before it";
    warning "stream::data-after-finish" "OA-20" "output after the finish reason";
    warning "stream::data-after-end" "OA-20" "data after the end of the stream, not read";
    warning "stream::wrong-type" "MS-29" "a value of a wrong type, read as the right one";
    warning "stream::left-out" "MS-29" "a value that is unknown or of a wrong type, left out";
    error "stream::provider-error" "OA-21" "the provider reported an error";
    warning "stream::missing-events" "OA-28" "events are missing from the stream";
    error "stream::truncated" "OA-21" "the stream ended early";
    warning "stream::done-differs" "OA-22" "the final text differs from its deltas, the final text is used";
    warning "stream::lone-surrogate" "OA-24" "unpaired surrogate, replaced with U+FFFD";
    error "stream::limit" "OA-26" "the stream exceeds a limit, the rest was dropped";
};
