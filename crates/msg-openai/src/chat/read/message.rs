//! One message: its known members are read in whatever order they come, then put together.

use std::borrow::Cow;

use msg_core::{Audio, Error, Extra, Message, Part, Reasoning, Role, Text, ToolResult};
use msg_json::{JsonError, Kind, Reader};

use super::{OPENAI, call, content, reasoning};
use crate::chat::{
    is_tool,
    shape::{body, message, part},
    spells_tool,
};
use msg_codec::codec::{Content, Context, Fields, bit, mask, text_of};

/// Reads the message that the reader is at.
pub(super) fn read<'a>(
    reader: &mut Reader<'a>,
    cx: &mut Context<'a, '_>,
) -> Result<Message, Error> {
    let offset = reader.next_offset();
    if reader.peek()? != Kind::Object {
        let message = Some(cx.message);
        return Err(Error::Shape { message, expected: "a message, which is an object", offset });
    }
    let mut draft = Draft::read(reader, cx)?;
    let Some(role) = draft.role.take() else {
        return Err(Error::Role { message: cx.message, offset });
    };
    draft.fields.set_raw(message::ROLE, None);
    Ok(match cx.role(&role) {
        Role::Other(word) if &*word == "function" => {
            draft.fields.vary(message::ROLE, message::ROLE_FUNCTION);
            draft.into_tool(Role::Tool, cx)
        }
        role if is_tool(&role) => draft.into_tool(role, cx),
        role => draft.into_message(role, cx),
    })
}

/// The members of a message as they came.
struct Draft<'a> {
    fields: Fields<'a>,
    role: Option<Cow<'a, str>>,
    content: Content,
    /// The calls, unless `tool_calls` is kept raw.
    calls: Vec<Part>,
}

impl<'a> Draft<'a> {
    fn read(reader: &mut Reader<'a>, cx: &mut Context<'a, '_>) -> Result<Self, JsonError> {
        let fields = Fields::new(&message::SHAPE, cx);
        let mut res = Self { fields, role: None, content: Content::Absent, calls: Vec::new() };
        reader.begin_object()?;
        while let Some(code) = res.fields.next(cx, reader)? {
            let start = reader.next_offset();
            match code {
                message::ROLE => res.role = cx.role_word(reader)?,
                message::CONTENT => res.content = content::read(reader, cx)?,
                message::CALLS if res.may_call() && reader.peek()? == Kind::Array => {
                    res.calls = call::calls(reader, cx)?;
                }
                message::CALLS => {
                    res.calls.clear();
                    reader.raw()?;
                }
                _ => {
                    reader.raw()?;
                }
            }
            res.fields.set_raw(code, Some(reader.source(start, reader.offset())));
        }
        Ok(res)
    }

    /// Whether calls are read: on every role but those of tools.
    fn may_call(&self) -> bool {
        let Some(role) = self.role.as_deref() else { return true };
        role != "function" && !spells_tool(role)
    }

    fn into_message(mut self, role: Role, cx: &mut Context<'a, '_>) -> Message {
        let name = self.name(cx);
        let mut parts = self.reasoning(cx);
        let content_at = parts.len();
        // Most messages have one part; growing by pushes would take the room of four.
        parts.reserve_exact(1 + self.calls.len());
        self.move_content(&mut parts, cx);
        let contents = parts.len() - content_at;
        let is_plain = contents == 1 && Content::is_plain_text(&parts[content_at], &OPENAI);
        let shows_reasoning = parts.iter().filter_map(Part::as_reasoning);
        let shows_reasoning =
            shows_reasoning.filter(|it| !it.display_text().is_empty()).count() > 0;
        let signs = |it: &Reasoning| it.signature.is_some() || it.redacted.is_some();
        let signed = parts.iter().filter_map(Part::as_reasoning).any(signs);
        let speech = parts.len();
        self.refusal(&role, &mut parts, cx);
        if role == Role::Assistant {
            self.audio(&mut parts, cx);
        }
        self.move_calls(&mut parts, cx);
        let speaks = role == Role::Assistant && parts.len() > speech;
        self.vary_content(contents, is_plain);
        let in_model = self.fields.in_model();
        let has_content = contents > 0 || (!speaks && self.fields.raw(message::CONTENT).is_none());
        // Other roles have their refusals among the contents.
        let refuses = mask(role == Role::Assistant, message::REFUSAL);
        let canonical = bit(message::ROLE)
            | mask(name.is_some(), message::NAME)
            | mask(has_content, message::CONTENT)
            | in_model & (refuses | bit(message::AUDIO) | bit(message::CALLS))
            | mask(shows_reasoning, message::REASONING_CONTENT)
            | mask(signed, message::THINKING_BLOCKS);
        let extra = self.into_extra(canonical, cx);
        Message { role, parts, name, extra }
    }

    /// A message whose role is that of tools, or spells it otherwise.
    fn into_tool(mut self, role: Role, cx: &mut Context<'a, '_>) -> Message {
        // Calls that were read before the role was known are members like any other here.
        let calls = self.fields.raw(message::CALLS);
        let mut result = ToolResult { name: self.name(cx), ..ToolResult::default() };
        match self.fields.id(cx, message::CALL_ID) {
            Some(id) => result.call_id = id,
            None => cx.wrong_type("tool_call_id"),
        }
        if matches!(self.content, Content::Absent) {
            cx.shape("a result has no content");
        }
        let mut parts = Vec::with_capacity(1);
        self.move_content(&mut parts, cx);
        self.vary_content(
            parts.len(),
            parts.len() == 1 && Content::is_plain_text(&parts[0], &OPENAI),
        );
        self.fields.set_raw(message::CALLS, calls);
        let canonical = bit(message::ROLE)
            | mask(self.fields.raw(message::CALL_ID).is_none(), message::CALL_ID)
            | mask(result.name.is_some(), message::NAME)
            | mask(self.fields.raw(message::CONTENT).is_none(), message::CONTENT);
        result.content = parts.into();
        let extra = self.into_extra(canonical, cx);
        Message { role, parts: vec![Part::ToolResult(result)], name: None, extra }
    }

    fn into_extra(mut self, canonical: u32, cx: &mut Context<'a, '_>) -> Extra {
        self.fields.keep(canonical, &OPENAI, cx)
    }

    fn name(&mut self, cx: &mut Context<'a, '_>) -> Option<String> {
        self.text(message::NAME, cx)
    }

    /// A member that is a text and not empty.
    fn text(&mut self, code: u8, cx: &mut Context<'a, '_>) -> Option<String> {
        if self.fields.raw(code) == Some("\"\"") {
            return None;
        }
        self.fields.text_or_report(cx, code)
    }

    fn move_content(&mut self, parts: &mut Vec<Part>, cx: &mut Context<'a, '_>) {
        let content = std::mem::take(&mut self.content);
        match content {
            Content::Absent => return,
            Content::Raw => return cx.wrong_type("content"),
            Content::Null => self.fields.vary(message::CONTENT, message::CONTENT_NULL),
            Content::Text(text) => parts.push(Part::text(text)),
            Content::Parts(list) => {
                self.fields.vary(message::CONTENT, message::CONTENT_ARRAY);
                parts.extend(list);
            }
        }
        self.fields.set_raw(message::CONTENT, None);
    }

    /// An array is canonical for everything but a plain text and nothing.
    fn vary_content(&mut self, contents: usize, is_plain: bool) {
        if contents > 1 || (contents == 1 && !is_plain) {
            self.fields.vary(message::CONTENT, 0);
        }
    }

    /// The reasoning beside the content; which members it came from stays visible in the order.
    fn reasoning(&mut self, cx: &mut Context<'a, '_>) -> Vec<Part> {
        let source = self.fields.raw(message::THINKING_BLOCKS);
        if let Some(blocks) = source.and_then(|it| reasoning::thinking_blocks(it, cx)) {
            self.fields.set_raw(message::THINKING_BLOCKS, None);
            self.match_reasoning(&blocks);
            return blocks;
        }
        if source.is_some_and(|it| it != "null" && !it.starts_with('[')) {
            cx.wrong_type("thinking_blocks");
        }
        if let Some(text) = self.text(message::REASONING_CONTENT, cx) {
            return vec![Part::Reasoning(Reasoning::new(text))];
        }
        match self.fields.raw(message::REASONING) {
            // Other shapes of `reasoning` are common and mean other things.
            Some(source) if source.len() > 2 && source.starts_with('"') => self
                .fields
                .text(cx, message::REASONING)
                .map(|it| vec![Part::Reasoning(Reasoning::new(it))])
                .unwrap_or_default(),
            _ => Vec::new(),
        }
    }

    /// A `reasoning_content` that repeats the texts of the blocks is not reasoning of its own.
    fn match_reasoning(&mut self, blocks: &[Part]) {
        let has_own = self.fields.has(message::REASONING_CONTENT);
        let code = if has_own { message::REASONING_CONTENT } else { message::REASONING };
        let Some((text, false)) = self.fields.raw(code).and_then(text_of) else { return };
        let texts =
            blocks.iter().filter_map(Part::as_reasoning).filter_map(|it| it.text.as_deref());
        let texts: Vec<_> = texts.filter(|it| !it.is_empty()).collect();
        if texts.is_empty() {
            return;
        }
        let variant = if texts.join("\n\n") == text {
            0
        } else if texts.concat() == text {
            message::REASONING_JOINED
        } else {
            return;
        };
        self.fields.vary(code, variant);
        self.fields.set_raw(code, None);
    }

    fn refusal(&mut self, role: &Role, parts: &mut Vec<Part>, cx: &mut Context<'a, '_>) {
        let Some(text) = self.text(message::REFUSAL, cx) else { return };
        let mut extra = Extra::default();
        if *role != Role::Assistant {
            extra.set_layout(OPENAI, [part::TYPE_MEMBER << 5 | part::TYPE]);
        }
        parts.push(Part::Refusal(Text { text, extra }));
    }

    fn audio(&mut self, parts: &mut Vec<Part>, cx: &mut Context<'a, '_>) {
        let Some(source) = self.fields.raw(message::AUDIO) else { return };
        if !source.starts_with('{') {
            if source != "null" {
                cx.wrong_type("audio");
            }
            return;
        }
        let mark = cx.mark();
        let fields = Fields::read(&body::AUDIO, cx, &mut Reader::from_text(source));
        let read = fields.ok().and_then(|mut it| {
            let id = it.text(cx, 1)?;
            let [data, transcript] = [2, 3].map(|code| it.text_or_report(cx, code));
            let canonical = bit(1) | mask(data.is_some(), 2) | mask(transcript.is_some(), 3);
            let extra = it.keep(canonical, &OPENAI, cx);
            Some(Audio { id: Some(id), data, transcript, extra, ..Audio::default() })
        });
        match read {
            Some(it) => {
                self.fields.set_raw(message::AUDIO, None);
                parts.push(Part::Audio(it));
            }
            None => cx.back_to(mark),
        }
    }

    fn move_calls(&mut self, parts: &mut Vec<Part>, cx: &mut Context<'a, '_>) {
        if let Some(source) = self.fields.raw(message::CALLS) {
            if !self.calls.is_empty() {
                self.fields.set_raw(message::CALLS, None);
                parts.append(&mut self.calls);
            } else if source.starts_with('[') {
                cx.shape("tool_calls is an empty list");
            } else if source != "null" {
                cx.wrong_type("tool_calls");
            }
        }
        if let Some(source) = self.fields.raw(message::FUNCTION_CALL) {
            if let Some(call) = call::legacy(source, cx) {
                self.fields.set_raw(message::FUNCTION_CALL, None);
                parts.push(call);
            } else if source != "null" {
                cx.wrong_type("function_call");
            }
        }
    }
}
