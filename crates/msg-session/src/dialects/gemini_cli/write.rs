//! A session of Gemini CLI: a header, then a message per line; results are with their calls. And Gemini's parts, which
//! Qwen Code writes too.

use msg_core::{Message, Part, Report, Role, ToolResult};
use msg_json::{Writer, to_text};

use crate::dialects::frameworks::autogen::Media;
use crate::write::WriteOptions;
use crate::write::blocks::{
    data_url, hex, object_of, parts_but_results, results_after, spoken, text_of, text_of_result,
    write_arguments,
};

pub(super) fn write(messages: &[Message], options: &WriteOptions, _: &mut Report) -> Vec<u8> {
    let mut out = Vec::new();
    Writer::new(&mut out).object(|it| {
        it.key("sessionId").str(&options.session_id);
        it.key("projectHash").str(&hex(&options.cwd));
        it.key("startTime").str(&options.now);
        it.key("lastUpdated").str(&options.now);
        it.key("kind").str("main");
    });
    out.push(b'\n');
    for line in lines(messages, options) {
        out.extend_from_slice(line.as_bytes());
        out.push(b'\n');
    }
    out
}

/// The messages as JSON, each a line.
pub(crate) fn lines(messages: &[Message], options: &WriteOptions) -> Vec<String> {
    spoken(messages)
        .map(|at| to_text(|it| it.object(|it| message(it, messages, at, options))))
        .collect()
}

fn message(it: &mut Writer<'_>, messages: &[Message], at: usize, options: &WriteOptions) {
    let message = &messages[at];
    it.key("id").str(&format!("m{at}"));
    it.key("timestamp").str(&options.now);
    if message.role != Role::Assistant {
        it.key("type").str("user");
        it.key("content").array(parts_but_results(message), user_part);
        return;
    }
    it.key("type").str("gemini");
    it.key("content").str(&text_of(message));
    it.key("thoughts").array(message.reasoning(), |it, thought| {
        it.object(|it| {
            it.key("description").str(&thought.display_text());
            it.key("timestamp").str(&options.now);
        });
    });
    let results: Vec<_> = results_after(messages, at).collect();
    if message.tool_calls().next().is_some() {
        it.key("toolCalls").array(message.tool_calls(), |it, call| {
            it.object(|it| {
                it.key("id").str(&call.id);
                it.key("name").str(&call.name);
                write_arguments(it.key("args"), call);
                let result = results.iter().find(|it| it.call_id == call.id);
                if let Some(result) = result {
                    it.key("result").array([result], |it, result| response(it, &call.name, result));
                }
                let failed = result.is_none_or(|it| it.is_error);
                it.key("status").str(if failed { "error" } else { "success" });
                it.key("timestamp").str(&options.now);
            });
        });
    }
}

pub(crate) fn user_part(it: &mut Writer<'_>, part: &Part) {
    it.object(|it| match part {
        Part::Image(image) if data_url(image).is_some() => {
            let (kind, data) = data_url(image).unwrap_or_default();
            it.key("inlineData").object(|it| {
                it.key("mimeType").str(kind);
                it.key("data").str(data);
            });
        }
        Part::Image(image) => it.key("fileData").object(|it| {
            if let Some(media) = Media::of(part).filter(|_| image.url.is_some()) {
                it.key("mimeType").str(media.media_type);
            }
            it.key("fileUri").str(image.url.as_deref().unwrap_or_default());
        }),
        part => it.key("text").str(part.as_text().unwrap_or_default()),
    });
}

pub(crate) fn response(it: &mut Writer<'_>, name: &str, result: &ToolResult) {
    it.object(|it| {
        it.key("functionResponse").object(|it| {
            it.key("id").str(&result.call_id);
            it.key("name").str(name);
            let member = if result.is_error { "error" } else { "output" };
            match object_of(result) {
                Some(object) => it.key("response").raw(&object),
                None => {
                    it.key("response").object(|it| it.key(member).str(&text_of_result(result)));
                }
            }
        });
    });
}
