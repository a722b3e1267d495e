//! One item: which kind it is, and the parts that it becomes.

use msg_core::{CallKind, Error, Part, Place, RawJson, Role, ToolCall, ToolResult};
use msg_json::{JsonError, Reader};

use super::{ItemKept, content};
use crate::responses::shape::{RESPONSES, item};
use crate::wanted;
use msg_codec::codec::{ContentValue, Context, Fields, Mended, NULL, bit, object_members, text_of};

/// What an item becomes: parts of a message of this role.
pub(super) struct Item {
    pub(super) role: Role,
    pub(super) parts: Vec<Part>,
    /// Whether it is a message, into which the next one would run without a mark.
    pub(super) is_message: bool,
}

impl Item {
    pub(super) fn of_assistant(part: Part) -> Self {
        Self { role: Role::Assistant, parts: vec![part], is_message: false }
    }
}

/// Reads the item that the reader is at.
pub(super) fn read<'a>(
    reader: &mut Reader<'a>,
    cx: &mut Context<'a, '_>,
    follows_message: bool,
) -> Result<Item, Error> {
    let offset = reader.next_offset();
    let mark = cx.mark();
    let mut fields = Fields::read(&item::SHAPE, cx, reader)?;
    let source = reader.source(offset, reader.offset());
    let kind = fields.raw(item::TYPE).and_then(text_of).map(|it| it.0.into_owned());
    let read = match kind.as_deref() {
        Some("message") => message(&mut fields, cx, offset, follows_message)?,
        None if !fields.has(item::TYPE) && fields.has(item::ROLE) => {
            message(&mut fields, cx, offset, follows_message)?
        }
        Some("function_call") => call(&mut fields, cx, CallKind::Function),
        Some("custom_tool_call") => call(&mut fields, cx, CallKind::Custom),
        Some("function_call_output") => output(&mut fields, cx, CallKind::Function)?,
        Some("custom_tool_call_output") => output(&mut fields, cx, CallKind::Custom)?,
        Some("reasoning") => {
            fields.set_raw(item::TYPE, None);
            Some(content::read(&mut fields, cx))
        }
        _ => None,
    };
    if let Some(res) = read {
        return Ok(res);
    }
    cx.odd();
    cx.back_to(mark);
    let kind = kind.unwrap_or_default();
    let role = match fields.raw(item::ROLE).and_then(text_of) {
        Some((role, _)) if kind.is_empty() || kind == "message" => Role::from(&*role),
        _ if kind.ends_with("_output") || kind == "mcp_approval_response" => Role::Tool,
        _ => Role::Assistant,
    };
    Ok(Item {
        role,
        parts: vec![ContentValue::carried(RESPONSES, Some(Place::Item), source)],
        is_message: false,
    })
}

/// The item that is meant by one in which something is of a wrong type.
pub(super) fn mend(source: &str) -> Option<Mended> {
    let item = RawJson::new(source).ok()?;
    let members = object_members(&item)?;
    let has = |name: &str| members.iter().any(|it| it.name == name);
    let kind = members.iter().rfind(|it| it.name == "type").map(|it| text_of(it.value));
    let want = match kind {
        Some(Some((kind, _))) => wanted::item_of_type(&kind)?,
        // A type that is not text says nothing; the members do.
        _ if has("role") => &wanted::MESSAGE_ITEM,
        _ if has("output") => &wanted::OUTPUT_ITEM,
        _ if has("call_id") => &wanted::CALL_ITEM,
        _ if has("summary") || has("encrypted_content") => &wanted::REASONING_ITEM,
        _ => return None,
    };
    want.mend("", source)
}

/// A message; none if it has no content.
fn message<'a>(
    fields: &mut Fields<'a>,
    cx: &mut Context<'a, '_>,
    offset: usize,
    follows_message: bool,
) -> Result<Option<Item>, Error> {
    let Some(found) = fields.raw(item::ROLE).and_then(text_of) else {
        return Err(Error::Role { message: cx.message, offset });
    };
    let Some(source) = fields.raw(item::CONTENT) else { return Ok(None) };
    let role = {
        let word = cx.text(found, "role");
        cx.role(&word)
    };
    let mut parts = Vec::new();
    if let Some(text) = text_of(source) {
        parts.push(Part::text(cx.text(text, "content")));
        fields.vary(item::CONTENT, item::CONTENT_STRING);
    } else if source.starts_with('[') {
        parts = content::parts(source, cx, role == Role::Assistant)?;
    }
    let Some(first) = parts.first_mut() else { return Ok(None) };
    for code in [item::TYPE, item::ROLE, item::CONTENT] {
        fields.set_raw(code, None);
    }
    let canonical = bit(item::TYPE) | bit(item::ROLE) | bit(item::CONTENT);
    // A message of a tool is none of the API's; that it came like this is why it goes out again.
    let marks = follows_message && role == Role::Assistant || role == Role::Tool;
    ItemKept { fields, canonical, marks, raw: [None; 2] }.keep_in(cx, first.extra_mut());
    Ok(Some(Item { role, parts, is_message: true }))
}

/// A call; none if its id or name is of a wrong type.
fn call<'a>(fields: &mut Fields<'a>, cx: &mut Context<'a, '_>, kind: CallKind) -> Option<Item> {
    let body = if kind == CallKind::Custom { item::INPUT } else { item::ARGUMENTS };
    let id = fields.id(cx, item::CALL_ID)?;
    let name = match fields.raw(item::NAME) {
        None => String::new(),
        Some("null") => {
            fields.vary(item::NAME, NULL);
            String::new()
        }
        Some(source) => cx.text(text_of(source)?, "name"),
    };
    let mut arguments = String::new();
    if let Some(source) = fields.raw(body) {
        arguments = fields.arguments(cx, body, &mut Reader::from_text(source)).ok()?;
    }
    for code in [item::TYPE, item::NAME, body] {
        fields.set_raw(code, None);
    }
    let mut res = ToolCall { kind, ..ToolCall::new(id, name, arguments) };
    let canonical = bit(item::TYPE) | bit(item::CALL_ID) | bit(item::NAME) | bit(body);
    let kept = ItemKept { fields, canonical, marks: false, raw: [None; 2] };
    kept.keep_in(cx, &mut res.extra);
    Some(Item::of_assistant(Part::ToolCall(res)))
}

/// What a call gave back; none if it is neither text nor parts, or its id is of a wrong type.
fn output<'a>(
    fields: &mut Fields<'a>,
    cx: &mut Context<'a, '_>,
    kind: CallKind,
) -> Result<Option<Item>, JsonError> {
    let mut parts = Vec::new();
    match fields.raw(item::OUTPUT) {
        None => {}
        Some("null") => fields.vary(item::OUTPUT, NULL),
        Some(source) if source.starts_with('[') => {
            parts = content::parts(source, cx, false)?;
            if parts.is_empty()
                || (parts.len() == 1 && ContentValue::is_plain_text(&parts[0], &RESPONSES))
            {
                fields.vary(item::OUTPUT, item::OUTPUT_ARRAY);
            }
        }
        Some(source) => match text_of(source) {
            Some(text) => parts.push(Part::text(cx.text(text, "output"))),
            None => return Ok(None),
        },
    }
    let Some(call_id) = fields.id(cx, item::CALL_ID) else { return Ok(None) };
    fields.set_raw(item::TYPE, None);
    fields.set_raw(item::OUTPUT, None);
    let mut res = ToolResult { kind, ..ToolResult::new(call_id, parts) };
    let canonical = bit(item::TYPE) | bit(item::CALL_ID) | bit(item::OUTPUT);
    let kept = ItemKept { fields, canonical, marks: false, raw: [None; 2] };
    kept.keep_in(cx, &mut res.extra);
    let parts = vec![Part::ToolResult(res)];
    Ok(Some(Item { role: Role::Tool, parts, is_message: false }))
}
