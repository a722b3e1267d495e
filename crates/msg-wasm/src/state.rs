//! The one input, the one answer, and what is kept between calls: options that were understood, and parsers.

use std::cell::RefCell;
use std::collections::BTreeMap;

use msg_document::{CaptureOptions, Refusal, ToolsOptions, options_from_json};

#[cfg(feature = "documents")]
use crate::acts::Act;
use crate::streams::Parser;

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
pub(crate) const TOOLS: u32 = 0;
pub(crate) const STREAM: u32 = 1;

/// Options that were understood.
pub(crate) enum Understood {
    Tools(ToolsOptions),
    Stream(CaptureOptions),
    #[cfg(feature = "documents")]
    Document(Act),
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
            Some(Understood::Tools(options)) => {
                Ok((Status::Report, of_report(msg_document::tools(json, options).to_json())))
            }
            Some(Understood::Stream(options)) => msg_document::stream(json, options)
                .map(|it| (Status::Report, of_report(it.to_json()))),
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
            Some(Understood::Tools(options)) => Parser::of_tools(options),
            Some(Understood::Stream(options)) => Parser::of_stream(options),
            _ => return 0,
        };
        self.last_parser += 1;
        self.parsers.insert(self.last_parser, parser);
        self.last_parser
    }

    pub(crate) fn feed(&mut self, parser: u32, len: usize) -> Status {
        let Some(parser) = self.parsers.get_mut(&parser) else { return Status::Unknown };
        self.answer = of_report(parser.feed(&self.input[..len]));
        Status::Report
    }

    pub(crate) fn finish(&mut self, parser: u32) -> Status {
        let Some(parser) = self.parsers.remove(&parser) else { return Status::Unknown };
        self.answer = of_report(parser.finish());
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

fn understood(act: u32, json: &[u8]) -> Result<Understood, Refusal> {
    match act {
        TOOLS => Ok(Understood::Tools(options_from_json(json)?)),
        STREAM => Ok(Understood::Stream(options_from_json(json)?)),
        #[cfg(feature = "documents")]
        act => Ok(Understood::Document(Act::of(act, json)?)),
        #[cfg(not(feature = "documents"))]
        act => Err(Refusal::bad_option(format!("act {act} is not in this build"))),
    }
}
