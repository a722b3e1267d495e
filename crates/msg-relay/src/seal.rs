//! What an upstream signed or encrypted travels through a client that has no place for it, inside the ids of its
//! calls (RE-30).
//!
//! ```text
//! upstream   {"functionCall":{"name":"ls"},"thoughtSignature":"S"}
//! client     {"id":"call_7f_0__seal_eyJhIjoiZ2VtaW5pIiwicyI6IlMifQ", …}       {"a":"gemini","s":"S"}
//! upstream   the same call, and only if the API that sealed it is asked again
//! ```
//!
//! A seal holds the signature of the call (`s`) and the signed thoughts before it (`r`, native parts).

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use msg_core::{Message, Part, ToolCall, native};
use serde_json::Value;

use crate::api::Api;
use crate::error_body::object;
use crate::keep::Keep;

/// The separator between the id of a call and its seal.
const MARK: &str = "__seal_";

/// What seals need to know.
#[derive(Debug, Clone)]
pub(crate) struct Seals {
    /// The API whose seals these are.
    pub(crate) api: Api,
    /// The longest id that a client is given.
    pub(crate) max_id: usize,
    pub(crate) keep: Option<Arc<dyn Keep>>,
}

/// How a call was sealed.
pub(crate) enum Sealed {
    /// There was nothing to seal.
    Nothing,
    /// In its id, or kept under it.
    Whole,
    /// It is too long for an id, and no store is set.
    Lost,
}

/// Whether a thought may only go back as it came.
pub(crate) fn is_sealed(part: &Part) -> bool {
    matches!(part, Part::Reasoning(it)
        if it.signature.is_some() || it.redacted.is_some() || it.encrypted.is_some())
}

impl Seals {
    /// Seals what belongs to a call into its id, or keeps it under its id.
    pub(crate) fn seal(
        &self,
        id: &mut String,
        signature: Option<&str>,
        thoughts: &[Part],
    ) -> Sealed {
        if signature.is_none() && thoughts.is_empty() {
            return Sealed::Nothing;
        }
        let seal = object(|it| {
            it.key("a").str(self.api.name());
            it.optional("s", signature, |it, text| it.str(text));
            if !thoughts.is_empty() {
                it.key("r")
                    .array(thoughts, |it, part| it.value(|out| native::write_part(part, out)));
            }
        });
        let size = id.len() + MARK.len() + seal.len().div_ceil(3) * 4;
        if size <= self.max_id {
            id.push_str(MARK);
            URL_SAFE_NO_PAD.encode_string(seal, id);
            return Sealed::Whole;
        }
        match &self.keep {
            Some(keep) => {
                keep.put(id, seal.as_bytes());
                Sealed::Whole
            }
            None => Sealed::Lost,
        }
    }

    /// Takes the seals out of ids, and gives what they hold to the calls where they are this API's.
    pub(crate) fn unseal(&self, messages: &mut [Message]) {
        for message in messages {
            let mut thoughts = Vec::new();
            for part in &mut message.parts {
                match part {
                    Part::ToolCall(call) => self.unseal_call(call, &mut thoughts),
                    Part::ToolResult(it) => {
                        split(&mut it.call_id);
                    }
                    _ => {}
                }
            }
            if !thoughts.is_empty() {
                // The client gives the thoughts back without their seals, or not at all.
                message.parts.retain(|it| !matches!(it, Part::Reasoning(_)));
                message.parts.splice(0..0, thoughts);
            }
        }
    }

    fn kept(&self, id: &str) -> Option<Vec<u8>> {
        self.keep.as_ref().and_then(|it| it.get(id))
    }

    fn unseal_call(&self, call: &mut ToolCall, thoughts: &mut Vec<Part>) {
        let Some(seal) = split(&mut call.id).or_else(|| self.kept(&call.id)) else { return };
        let Ok(Value::Object(seal)) = serde_json::from_slice(&seal) else { return };
        if seal.get("a").and_then(Value::as_str) != Some(self.api.name()) {
            return;
        }
        if let Some(signature) = seal.get("s").and_then(Value::as_str) {
            call.signature = Some(signature.to_owned());
        }
        let parts = seal.get("r").and_then(Value::as_array).into_iter().flatten();
        thoughts.extend(parts.filter_map(|it| native::read_part(it.to_string().as_bytes()).ok()));
    }
}

/// Whether a document may hold seals.
pub(crate) fn may_hold_seals(body: &[u8]) -> bool {
    // Seals in a store are under ids that say nothing; these are asked for in any case.
    body.windows(MARK.len()).any(|it| it == MARK.as_bytes())
}

/// Cuts the seal off an id and returns it.
fn split(id: &mut String) -> Option<Vec<u8>> {
    let at = id.find(MARK)?;
    let seal = URL_SAFE_NO_PAD.decode(&id[at + MARK.len()..]).ok()?;
    id.truncate(at);
    Some(seal)
}
