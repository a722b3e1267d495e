//! The members of a chunk, its choices and their deltas (OA-18), in one pass over the chunk: nothing is made of
//! them before all of it is known to be JSON.
//!
//! ```text
//! {"id":"c1","choices":[{"index":0,"delta":{"content":"Hi"},"logprobs":{…}}]}
//!     Chunk id "c1"; ChoiceChunk index 0; Delta content "Hi"; the rest is passed over
//! ```

use std::borrow::Cow;

use msg_core::json::{JsonError, Kind, Reader};
use msg_wire::Json;

/// The members of a chunk that count.
#[derive(Default)]
pub(super) struct Chunk<'a> {
    pub(super) id: Option<Json<'a>>,
    pub(super) model: Option<Json<'a>>,
    pub(super) created: Option<Json<'a>>,
    pub(super) object: Option<Json<'a>>,
    pub(super) usage: Option<Json<'a>>,
    pub(super) error: Option<Json<'a>>,
    /// None if there is no array of them.
    pub(super) choices: Option<Vec<ChoiceChunk<'a>>>,
    /// OpenAI hides the length of the text behind it; it means nothing.
    pub(super) padding: Option<Json<'a>>,
}

/// What a chunk says of one choice.
#[derive(Default)]
pub(super) struct ChoiceChunk<'a> {
    pub(super) index: u64,
    /// That of `delta`, or else of `message`.
    pub(super) delta: Option<Delta<'a>>,
    /// Of a completion of the API before chats.
    pub(super) text: Option<Json<'a>>,
    pub(super) finish: Option<Json<'a>>,
    pub(super) usage: Option<Json<'a>>,
}

/// The members of a delta, or of a whole message.
#[derive(Default)]
pub(crate) struct Delta<'a> {
    pub(super) content: Option<Json<'a>>,
    pub(super) refusal: Option<Json<'a>>,
    pub(super) reasoning_content: Option<Json<'a>>,
    pub(super) reasoning: Option<Json<'a>>,
    pub(super) details: Option<Json<'a>>,
    pub(super) audio: Option<Json<'a>>,
    pub(super) tool_calls: Option<Json<'a>>,
    pub(super) function_call: Option<Json<'a>>,
    /// Members that the model does not know, but for those that are null.
    pub(super) unknown: Vec<(Cow<'a, str>, Json<'a>)>,
}

impl<'a> Chunk<'a> {
    /// Takes the value before which the reader stands.
    pub(super) fn member(&mut self, key: &str, reader: &mut Reader<'a>) -> Result<(), JsonError> {
        if key == "choices" {
            self.choices = read_choices(reader)?;
            return Ok(());
        }
        let value = Json::from_valid(reader.raw()?);
        let place = match key {
            "id" => &mut self.id,
            "model" => &mut self.model,
            "created" => &mut self.created,
            "object" => &mut self.object,
            "usage" => &mut self.usage,
            "error" => &mut self.error,
            "obfuscation" => &mut self.padding,
            _ => return Ok(()),
        };
        *place = Some(value);
        Ok(())
    }
}

/// Reads the elements that are objects; none if the value is no array.
fn read_choices<'a>(reader: &mut Reader<'a>) -> Result<Option<Vec<ChoiceChunk<'a>>>, JsonError> {
    if reader.peek()? != Kind::Array {
        return reader.raw().map(|_| None);
    }
    let mut res = Vec::new();
    reader.begin_array()?;
    while reader.next_element()? {
        if reader.peek()? == Kind::Object {
            res.push(ChoiceChunk::read(reader)?);
        } else {
            reader.raw()?;
        }
    }
    Ok(Some(res))
}

impl<'a> ChoiceChunk<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, JsonError> {
        let (mut res, mut has_delta) = (Self::default(), false);
        reader.begin_object()?;
        while let Some(key) = reader.next_key()? {
            match &*key.text {
                name @ ("delta" | "message") => {
                    let is_delta = name == "delta";
                    let read = Delta::read(reader)?;
                    if read.is_some() && (is_delta || !has_delta) {
                        res.delta = read;
                        has_delta = is_delta;
                    }
                }
                name => {
                    let value = Json::from_valid(reader.raw()?);
                    match name {
                        "index" => res.index = value.whole_number().unwrap_or(0),
                        "text" => res.text = Some(value),
                        "finish_reason" => res.finish = Some(value),
                        "usage" => res.usage = Some(value),
                        _ => {}
                    }
                }
            }
        }
        Ok(res)
    }
}

impl<'a> Delta<'a> {
    /// Reads an object; none, with the value passed, if it is none.
    fn read(reader: &mut Reader<'a>) -> Result<Option<Self>, JsonError> {
        if reader.peek()? != Kind::Object {
            return reader.raw().map(|_| None);
        }
        let mut res = Self::default();
        reader.begin_object()?;
        while let Some(key) = reader.next_key()? {
            let value = Json::from_valid(reader.raw()?);
            let place = match &*key.text {
                "role" => continue,
                "content" => &mut res.content,
                "refusal" => &mut res.refusal,
                "reasoning_content" => &mut res.reasoning_content,
                "reasoning" => &mut res.reasoning,
                "reasoning_details" => &mut res.details,
                "audio" => &mut res.audio,
                "tool_calls" => &mut res.tool_calls,
                "function_call" => &mut res.function_call,
                _ if value.is_null() => continue,
                _ => {
                    res.unknown.push((key.text, value));
                    continue;
                }
            };
            *place = Some(value);
        }
        Ok(Some(res))
    }
}
