//! LlamaIndex: chat messages with blocks, in a list, in `messages`, or in the store of a memory.
//!
//! ```text
//! {"role":"assistant","additional_kwargs":{},"blocks":[{"block_type":"tool_call","tool_call_id":"c1","tool_name":"f","tool_kwargs":{…}}]}
//! {"role":"tool","additional_kwargs":{"tool_call_id":"c1","name":"f"},"blocks":[{"block_type":"text","text":"r"}]}
//! {"store":{"user":[…]},"class_name":"SimpleChatStore"}
//! ```
//!
//! Older messages have calls in the form of the provider, in `additional_kwargs.tool_calls`, and the text in
//! `content`.

use msg_core::{
    Content, Extra, File, Image, Message, Origin, Part, RawJson, Reasoning, Report, Role, ToolCall,
    ToolResult,
};
use msg_json::Writer;

use super::{Closing, Grown, Open, Records, Store, Wrap, each};
use crate::Dialect;
use crate::dialects::frameworks::said;
use crate::dialects::frameworks::writing::{Media, Names, object_in, write_records};
use crate::edit::{Object, Value, quoted};
use crate::parts::{self, INTERRUPTED};
use crate::view::View;
use crate::write::WriteOptions;

pub(crate) static STORE: Store = Store {
    members: &["blocks", "content", "role"],
    lists: &["messages", "chat_history", "store.*", "chat_store.store.*"],
    blocks: &["blocks"],
    wrap: Wrap::new(|result, _, _| result.to_owned()),
    ..Store::new(Dialect::LlamaIndex, read, close, write)
};

fn read(records: &Records<'_>) -> View {
    each(records, |view, at, record| {
        let role = match &*parts::text(record, "role") {
            "chatbot" | "model" => Role::Assistant,
            "function" => Role::Tool,
            role => Role::from(role),
        };
        let more = record.inner("additional_kwargs");
        let mut grown = Grown::new(view, role.clone(), at);
        let blocks = record.blocks("blocks");
        if role == Role::Tool {
            let text = |name: &str| more.as_ref().and_then(|it| said(it, name));
            let content = match blocks.is_empty() {
                true => Content::from(parts::text(record, "content")),
                false => {
                    let said = blocks.iter().filter(|it| cache_control(it.1).is_none());
                    Content::from(said.map(|it| block(it.1)).collect::<Vec<_>>())
                }
            };
            let control = blocks.iter().find_map(|it| cache_control(it.1));
            let is_error = more.as_ref().is_some_and(|it| it.is_true("is_error"));
            let id = text("tool_call_id").unwrap_or_default();
            let mut result =
                ToolResult { name: text("name"), is_error, ..ToolResult::new(id, content) };
            mark(&mut result.extra, control);
            grown.push(Part::ToolResult(result), None);
            return grown.finish();
        }
        if let Some(text) = said(record, "content").filter(|_| blocks.is_empty()) {
            grown.push(Part::text(text), None);
        }
        let has_calls = blocks.iter().any(|it| is_of(it.1, "tool_call"));
        for (n, value) in blocks {
            // Everything up to the previous block is cached, as LlamaIndex sends it.
            if let Some(last) = grown.draft.message.parts.last_mut()
                && let control @ Some(_) = cache_control(value)
            {
                mark(last.extra_mut(), control);
                continue;
            }
            let part = block(value);
            if part.as_text() != Some("") {
                grown.push(part, n);
            }
        }
        let given = more.as_ref().map(|it| it.list("tool_calls")).unwrap_or_default();
        let given = given.into_iter().filter(|_| !has_calls);
        given.filter_map(provider_call).for_each(|it| grown.push(Part::ToolCall(it), None));
        grown.finish();
    })
}

/// The Anthropic cache control of a block, if the block contains nothing else.
fn cache_control(block: Value<'_>) -> Option<RawJson> {
    let control = || block.get("cache_control").filter(|it| it.object().is_some());
    is_of(block, "cache").then(control)?.map(|it| it.raw_json())
}

const CACHE_CONTROL: &str = "cache_control";

fn mark(extra: &mut Extra, control: Option<RawJson>) {
    if let Some(control) = control {
        extra.insert(Origin::Anthropic, CACHE_CONTROL, control);
    }
}

fn is_of(block: Value<'_>, kind: &str) -> bool {
    block.get("block_type").and_then(|it| it.text()).is_some_and(|it| it == kind)
}

fn block(value: Value<'_>) -> Part {
    let Some(object) = value.object() else { return parts::other(value) };
    let text = |name: &str| said(&object, name);
    let read = match &*object.text("block_type").unwrap_or_default() {
        "text" => Some(Part::text(parts::text(&object, "text"))),
        "thinking" => Some(thought(&object)),
        // Without a block before it, it has no effect.
        "cache" => Some(parts::own(value, "llama-index")),
        "tool_call" => {
            let arguments = object.get("tool_kwargs").map(|it| it.plain()).unwrap_or_default();
            let (id, name) =
                (parts::text(&object, "tool_call_id"), parts::text(&object, "tool_name"));
            Some(Part::ToolCall(ToolCall::new(id, name, arguments)))
        }
        "image" => {
            let media_type = text("image_mimetype");
            let kind = media_type.as_deref().or(Some("image/png"));
            let inline = text("image").map(|it| parts::data_url(kind, &it));
            let image = inline.or_else(|| text("url")).map(Image::from_url);
            image.map(|it| Part::Image(Image { media_type, detail: text("detail"), ..it }))
        }
        "document" => {
            let (data, url) = (text("data"), text("url"));
            let (filename, media_type) = (text("title"), text("document_mimetype"));
            (data.is_some() || url.is_some())
                .then(|| Part::File(File { url, data, filename, media_type, ..File::default() }))
        }
        _ => None,
    };
    read.unwrap_or_else(|| parts::other(value))
}

fn thought(object: &Object<'_>) -> Part {
    let more = object.inner("additional_information");
    let signature = more.as_ref().and_then(|it| said(it, "signature"));
    let thought = Reasoning::new(parts::text(object, "content"));
    Part::Reasoning(Reasoning { signature, ..thought })
}

/// A call in the form of OpenAI or Anthropic.
fn provider_call(value: Value<'_>) -> Option<ToolCall> {
    let object = value.object()?;
    let id = parts::text(&object, "id");
    if let Some(function) = object.inner("function") {
        let arguments = function.get("arguments").map(|it| it.plain()).unwrap_or_default();
        return Some(ToolCall::new(id, parts::text(&function, "name"), arguments));
    }
    let arguments = object.get("input").or_else(|| object.get("args"));
    let arguments = arguments.map(|it| it.plain()).unwrap_or_default();
    Some(ToolCall::new(id, said(&object, "name")?, arguments))
}

fn close(open: &Open<'_>) -> Closing {
    let (id, name, text) = (quoted(open.id), quoted(open.name), quoted(INTERRUPTED));
    Closing::Result(format!(
        r#"{{"role":"tool","additional_kwargs":{{"tool_call_id":{id},"name":{name},"is_error":true}},"blocks":[{{"block_type":"text","text":{text}}}]}}"#
    ))
}

fn write(messages: &[Message], _: &WriteOptions, _: &mut Report) -> Vec<u8> {
    let names = Names::of(messages);
    write_records(messages, |it, entry| {
        it.key("role").str(entry.role());
        it.key("additional_kwargs").object(|it| {
            if let Some(result) = entry.result {
                it.key("tool_call_id").str(&result.call_id);
                it.key("name").str(names.of_result(result));
                if result.is_error {
                    it.key("is_error").bool(true);
                }
            }
        });
        let parts: Vec<&Part> = match entry.result {
            Some(result) => result.content.parts().iter().collect(),
            None => entry.parts().collect(),
        };
        let mut blocks: Vec<Block<'_>> = Vec::new();
        for part in parts {
            blocks.push(Block::Part(part));
            blocks.extend(control_of(part.extra()));
        }
        blocks.extend(entry.result.and_then(|it| control_of(&it.extra)));
        it.key("blocks").array(blocks, |it, block| {
            it.object(|it| match block {
                Block::Part(part) => write_block(it, part),
                Block::Cache(control) => {
                    it.key("block_type").str("cache");
                    it.key(CACHE_CONTROL).raw(control.text());
                }
            });
        });
    })
}

/// A block to write.
enum Block<'m> {
    Part(&'m Part),
    /// Everything before it is cached.
    Cache(&'m RawJson),
}

fn control_of(extra: &Extra) -> Option<Block<'_>> {
    extra.get(&Origin::Anthropic, CACHE_CONTROL).map(Block::Cache)
}

fn write_block(it: &mut Writer<'_>, part: &Part) {
    match part {
        Part::ToolCall(call) => {
            it.key("block_type").str("tool_call");
            it.key("tool_call_id").str(&call.id);
            it.key("tool_name").str(&call.name);
            match object_in(call.arguments.text()) {
                Some(object) => it.key("tool_kwargs").raw(&object),
                None => it.key("tool_kwargs").str(call.arguments.text()),
            }
        }
        Part::Reasoning(thought) => {
            it.key("block_type").str("thinking");
            it.key("content").str(&thought.display_text());
            it.key("additional_information").object(|it| {
                if let Some(signature) = &thought.signature {
                    it.key("signature").str(signature);
                }
            });
        }
        part => match Media::of(part) {
            Some(media) => {
                let is_image = matches!(part, Part::Image(_));
                let (kind, data, media_type) = match is_image {
                    true => ("image", "image", "image_mimetype"),
                    false => ("document", "data", "document_mimetype"),
                };
                it.key("block_type").str(kind);
                it.key(if media.data.is_some() { data } else { "url" }).str(media.source());
                it.key(media_type).str(media.media_type);
                if let Some(name) = media.filename.filter(|_| !is_image) {
                    it.key("title").str(name);
                }
            }
            None => {
                it.key("block_type").str("text");
                it.key("text").str(part.as_text().unwrap_or_default());
            }
        },
    }
}
