//! Why a choice stopped (OA-20): providers' words to [`FinishReason`], and what the calls make of it.

use std::borrow::Cow;

use msg_core::FinishReason;

use super::head::Head;
use super::notes::{Note, Notes};

/// How a stream came to its end; decides what an unfinished call is worth (OA-19.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum StreamState {
    /// It has not ended: this is a snapshot.
    #[default]
    Open,
    /// Its bytes are over.
    Ended,
    /// The caller stopped it.
    Interrupted,
}

/// Whether all of an answer came (OA-21).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The stream came to its proper end without an error.
    Whole,
    /// It stopped before its end, failed, or goes on.
    Cut,
}

/// A provider's word in the vocabulary of `msg-core` (OA-20); one that nobody knows is kept.
fn common_reason(raw: &str) -> FinishReason {
    match raw {
        "end_turn" | "stop_sequence" | "eos" | "eos_token" | "STOP" => FinishReason::Stop,
        "max_tokens"
        | "MAX_TOKENS"
        | "model_length"
        | "max_output_tokens"
        | "model_context_window_exceeded" => FinishReason::Length,
        "tool_use" | "tool_call" | "function_call" => FinishReason::ToolCalls,
        "safety" | "SAFETY" | "sensitive" | "refusal" => FinishReason::ContentFilter,
        other => FinishReason::from(other),
    }
}

/// The finish reason of one choice as it is found out.
#[derive(Debug, Clone, Default)]
pub struct Finish {
    /// The provider's word, and what it means.
    first: Option<(String, FinishReason)>,
}

impl Finish {
    /// Whether a reason came.
    pub fn is_known(&self) -> bool {
        self.first.is_some()
    }

    /// The reason in the provider's own word.
    pub fn raw(&self) -> Option<&str> {
        self.first.as_ref().map(|(raw, _)| raw.as_str())
    }

    /// The reason in the vocabulary of `msg-core`.
    pub fn reason(&self) -> Option<FinishReason> {
        self.first.as_ref().map(|(_, reason)| reason.clone())
    }

    /// Takes a reason in one of the words that many providers have: the first one counts.
    pub fn set(&mut self, raw: Cow<'_, str>, at: u64, notes: &mut Notes) {
        let reason = common_reason(&raw);
        self.set_as(raw, reason, at, notes);
    }

    /// Takes a reason in a word of the family's own, with what it means: the first one counts.
    pub fn set_as(&mut self, raw: Cow<'_, str>, reason: FinishReason, at: u64, notes: &mut Notes) {
        let Some((first, meant)) = &self.first else {
            self.first = Some((raw.into_owned(), reason));
            return;
        };
        if *meant == reason {
            notes.add(Note::FINISH_DUPLICATE, at, || format!("the finish reason {raw} came again"));
        } else {
            notes.add(Note::FINISH_CONFLICT, at, || {
                format!("the finish reason {raw} came after {first} and was ignored")
            });
        }
    }

    /// The reason that goes out, given the number of calls and how the stream ended.
    pub fn resolve(
        &self,
        n_calls: usize,
        (state, ending): (StreamState, Ending),
        head: &mut Head,
    ) -> Option<FinishReason> {
        let (reason, has_calls) = (self.reason(), n_calls > 0);
        let (at, notes) = (head.at, &mut head.notes);
        match &reason {
            None if state == StreamState::Interrupted => Some(FinishReason::Interrupted),
            Some(FinishReason::Stop) if has_calls => promote(reason.as_ref(), at, notes),
            None if has_calls && ending == Ending::Whole => promote(None, at, notes),
            Some(FinishReason::ToolCalls) if !has_calls => {
                notes.add(Note::FINISH_DEMOTED, at, || {
                    "the finish reason tool_calls came without a call and became stop".into()
                });
                Some(FinishReason::Stop)
            }
            _ => reason,
        }
    }
}

fn promote(from: Option<&FinishReason>, at: u64, notes: &mut Notes) -> Option<FinishReason> {
    notes.add(Note::FINISH_PROMOTED, at, || match from {
        Some(from) => format!("the finish reason {from} came with calls and became tool_calls"),
        None => "calls without a finish reason: it became tool_calls".into(),
    });
    Some(FinishReason::ToolCalls)
}
