//! What WebAssembly exports, numbers and places only, and the state that the exports share: the one input, the one answer, and
//! what is kept between calls, which is options that were understood, and parsers.

#![allow(unsafe_code, reason = "an exported symbol is named without mangling")]

use std::{cell::RefCell, collections::BTreeMap};

use msg_core::StreamEvent;
use msg_document::{Refusal, options_from_json};

#[cfg(feature = "documents")]
use crate::acts::Act;

#[cfg(feature = "streams")]
use msg_document::CaptureOptions;

#[cfg(feature = "streams")]
use crate::streams;
#[cfg(feature = "streams")]
use crate::streams::Stream;

#[cfg(feature = "tools")]
use msg_document::ToolsOptions;

#[cfg(feature = "tools")]
use crate::tools::Tools;

/// What a call gives: a number that `npm/lib/engine.js` knows.
#[repr(u32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// The report is the answer, without a document.
    Report = 0,
    /// The document is the answer, the report what is to be said of it.
    Document = 1,
    /// The document of the caller is the answer, the report what is to be said of it.
    Same = 2,
    /// The report is the refusal of the document.
    Refused = 3,
    /// The report is the refusal of an option.
    BadOption = 4,
    /// No such options or parser.
    Unknown = 5,
}

/// An answer.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) document: Vec<u8>,
    pub(crate) report: Vec<u8>,
}

/// The acts by their numbers, which `npm/lib/functions.js` knows.
#[cfg(feature = "tools")]
const TOOLS: u32 = 0;
#[cfg(feature = "streams")]
const STREAM: u32 = 1;

/// Options that were understood.
enum Understood {
    #[cfg(feature = "tools")]
    Tools(ToolsOptions),
    #[cfg(feature = "streams")]
    Stream(CaptureOptions),
    #[cfg(feature = "documents")]
    Document(Act),
}

/// What is fed.
enum Parser {
    #[cfg(feature = "tools")]
    Tools(Tools),
    #[cfg(feature = "streams")]
    Stream(Stream),
}

#[derive(Default)]
pub(crate) struct State {
    input: Vec<u8>,
    pub(crate) answer: Answer,
    understood: Vec<Understood>,
    parsers: BTreeMap<u32, Parser>,
    last_parser: u32,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

pub(crate) fn with_state<T>(act: impl FnOnce(&mut State) -> T) -> T {
    STATE.with_borrow_mut(act)
}

/// Buffers above this size are given back after a call.
const LARGE: usize = 4 << 20;

impl State {
    pub(crate) fn input_of(&mut self, len: usize) -> *mut u8 {
        self.answer = Answer::default();
        if self.input.len() < len {
            self.input.resize(len, 0);
        }
        self.input.as_mut_ptr()
    }

    pub(crate) fn understand(&mut self, act: u32, len: usize) -> u32 {
        match understood(act, &self.input[..len]) {
            Ok(it) => {
                self.understood.push(it);
                u32::try_from(self.understood.len()).unwrap_or(0)
            }
            Err(refusal) => {
                self.refuse(&refusal);
                0
            }
        }
    }

    pub(crate) fn call(&mut self, options: u32, len: usize, kept: bool) -> Status {
        let input = std::mem::take(&mut self.input);
        let json = &input[..len];
        let answered = match self.understood.get((options as usize).wrapping_sub(1)) {
            #[cfg(feature = "tools")]
            Some(Understood::Tools(options)) => {
                Ok((Status::Report, of_report(msg_document::tools(json, options).to_json())))
            }
            #[cfg(feature = "streams")]
            Some(Understood::Stream(options)) => {
                streams::whole(json, options).map(|it| (Status::Report, of_report(it)))
            }
            #[cfg(feature = "documents")]
            Some(Understood::Document(act)) => act.run(json, kept),
            None => Ok((Status::Unknown, Answer::default())),
        };
        let _ = kept;
        if input.len() <= LARGE {
            self.input = input;
        }
        match answered {
            Ok((status, answer)) => {
                self.answer = answer;
                status
            }
            Err(refusal) => self.refuse(&refusal),
        }
    }

    pub(crate) fn forget(&mut self) {
        self.understood.clear();
    }

    pub(crate) fn open(&mut self, options: u32) -> u32 {
        let parser = match self.understood.get((options as usize).wrapping_sub(1)) {
            #[cfg(feature = "tools")]
            Some(Understood::Tools(options)) => Parser::Tools(Tools::new(options)),
            #[cfg(feature = "streams")]
            Some(Understood::Stream(options)) => Parser::Stream(Stream::new(options)),
            _ => return 0,
        };
        self.last_parser += 1;
        self.parsers.insert(self.last_parser, parser);
        self.last_parser
    }

    pub(crate) fn feed(&mut self, parser: u32, len: usize) -> Status {
        let Some(parser) = self.parsers.get_mut(&parser) else { return Status::Unknown };
        let bytes = &self.input[..len];
        self.answer = of_report(match parser {
            #[cfg(feature = "tools")]
            Parser::Tools(it) => it.feed(bytes),
            #[cfg(feature = "streams")]
            Parser::Stream(it) => it.feed(bytes),
        });
        Status::Report
    }

    pub(crate) fn finish(&mut self, parser: u32) -> Status {
        let Some(parser) = self.parsers.remove(&parser) else { return Status::Unknown };
        self.answer = of_report(match parser {
            #[cfg(feature = "tools")]
            Parser::Tools(it) => it.finish(),
            #[cfg(feature = "streams")]
            Parser::Stream(it) => it.finish(),
        });
        Status::Report
    }

    pub(crate) fn close(&mut self, parser: u32) {
        self.parsers.remove(&parser);
    }

    fn refuse(&mut self, refusal: &Refusal) -> Status {
        self.answer = of_report(refusal.to_json());
        if refusal.is_bad_option() { Status::BadOption } else { Status::Refused }
    }
}

pub(crate) fn of_report(report: Vec<u8>) -> Answer {
    Answer { document: Vec::new(), report }
}

/// Events as a JSON array.
pub(crate) fn json_list<'a>(events: impl Iterator<Item = StreamEvent<'a>>) -> Vec<u8> {
    let mut out = vec![b'['];
    for event in events {
        if out.len() > 1 {
            out.push(b',');
        }
        out.extend(msg_document::to_json(&event));
    }
    out.push(b']');
    out
}

fn understood(act: u32, json: &[u8]) -> Result<Understood, Refusal> {
    match act {
        #[cfg(feature = "tools")]
        TOOLS => Ok(Understood::Tools(options_from_json(json)?)),
        #[cfg(feature = "streams")]
        STREAM => {
            let options = options_from_json(json)?;
            streams::expect_known(&options)?;
            Ok(Understood::Stream(options))
        }
        #[cfg(feature = "documents")]
        act => Ok(Understood::Document(Act::of(act, json)?)),
        #[cfg(not(feature = "documents"))]
        act => Err(Refusal::bad_option(format!("act {act} is not in this build"))),
    }
}

/// The place of `len` bytes for the next call to read.
#[unsafe(no_mangle)]
pub extern "C" fn input(len: usize) -> *mut u8 {
    with_state(|it| it.input_of(len))
}

/// Understands the options of an act, the first `len` bytes of the input: their number from 1, or 0 where the answer is
/// the refusal.
#[unsafe(no_mangle)]
pub extern "C" fn options(act: u32, len: usize) -> u32 {
    with_state(|it| it.understand(act, len))
}

/// Acts on the first `len` bytes of the input. `kept` is 1 where the answer names the elements that did not change
/// instead of repeating them.
#[unsafe(no_mangle)]
pub extern "C" fn call(options: u32, len: usize, kept: u32) -> Status {
    with_state(|it| it.call(options, len, kept != 0))
}

/// Forgets all options that were understood.
#[unsafe(no_mangle)]
pub extern "C" fn forget() {
    with_state(|it| it.forget());
}

/// Opens a parser of model text or of a stream with options that were understood: its number from 1, or 0 where these
/// are options of something else.
#[unsafe(no_mangle)]
pub extern "C" fn open(options: u32) -> u32 {
    with_state(|it| it.open(options))
}

/// Feeds the first `len` bytes of the input; the answer is a list of events.
#[unsafe(no_mangle)]
pub extern "C" fn feed(parser: u32, len: usize) -> Status {
    with_state(|it| it.feed(parser, len))
}

/// Ends what is fed; the answer is what `feed` has not said yet.
#[unsafe(no_mangle)]
pub extern "C" fn finish(parser: u32) -> Status {
    with_state(|it| it.finish(parser))
}

/// Drops a parser that is not finished.
#[unsafe(no_mangle)]
pub extern "C" fn close(parser: u32) {
    with_state(|it| it.close(parser));
}

/// The place of the answer's document.
#[unsafe(no_mangle)]
pub extern "C" fn document() -> *const u8 {
    with_state(|it| it.answer.document.as_ptr())
}

/// Its length.
#[unsafe(no_mangle)]
pub extern "C" fn document_len() -> usize {
    with_state(|it| it.answer.document.len())
}

/// The place of the answer's report, which is JSON.
#[unsafe(no_mangle)]
pub extern "C" fn report() -> *const u8 {
    with_state(|it| it.answer.report.as_ptr())
}

/// Its length.
#[unsafe(no_mangle)]
pub extern "C" fn report_len() -> usize {
    with_state(|it| it.answer.report.len())
}
