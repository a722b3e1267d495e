//! Writes a message as langchaingo stores it (LG-4), and reports what it cannot hold.

use msg_codec::codec::Losses;
use msg_core::{
    Extra, Image, Message, Origin, Part, RawJson, Reasoning, Role, Text, ToolCall, ToolResult,
};
use msg_json::Writer;

use super::origin;
use crate::formats::langchaingo;
use crate::json::{note_json, note_refusal, note_result, text_of_result, write_rest};

/// Writes a message: one text beside its role, or a list of parts.
pub(super) fn message(message: &Message, losses: &mut Losses<'_>, out: &mut Writer<'_>) {
    if message.name.is_some() {
        losses.member(None, "name");
    }
    losses.foreign(&message.extra, Some(&origin()), None);
    out.object(|out| {
        out.key("role").str(role(&message.role, losses));
        match message.parts.as_slice() {
            [Part::Text(it)] if it.extra.is_empty() => out.key("text").str(&it.text),
            parts => {
                out.key("parts").value(|out| Parts { losses, waiting: None }.write(parts, out));
            }
        }
        rest(&message.extra, &["role", "text", "parts"], out);
    });
}

fn role<'r>(role: &'r Role, losses: &mut Losses<'_>) -> &'r str {
    match role {
        Role::User => "human",
        Role::Assistant => "ai",
        Role::Developer => {
            losses.warn("convert::role-changed", None, "developer became system");
            "system"
        }
        other => other.as_str(),
    }
}

/// The parts of a message being written.
struct Parts<'l, 'r> {
    losses: &'l mut Losses<'r>,
    /// Reasoning that waits for the text or call that it led to.
    waiting: Option<Reasoning>,
}

impl Parts<'_, '_> {
    fn write(mut self, parts: &[Part], out: &mut Vec<u8>) {
        let items = parts.iter().enumerate().map(Some).chain([None]);
        Writer::new(out).array(items, |out, item| match item {
            Some((at, part)) => self.part(at, part, out),
            None => self.alone(out),
        });
    }

    fn part(&mut self, at: usize, part: &Part, out: &mut Writer<'_>) {
        match part {
            Part::Text(it) => self.text(it, out),
            Part::Refusal(it) => {
                note_refusal(at, self.losses);
                self.text(it, out);
            }
            Part::Reasoning(it) => self.reasoning(at, it, out),
            Part::Image(it) => self.image(at, it, out),
            Part::Audio(it) => match (&it.data, &it.format) {
                (Some(data), Some(format)) => {
                    binary(&format!("audio/{format}"), data, &it.extra, out);
                }
                _ => self.losses.part(at, "audio"),
            },
            Part::File(it) => match (&it.data, &it.media_type) {
                (Some(data), Some(media_type)) => binary(media_type, data, &it.extra, out),
                (Some(data), None) => file(data, &it.extra, out),
                _ => self.losses.part(at, "file"),
            },
            Part::ToolCall(it) => self.call(it, out),
            Part::ToolResult(it) => self.result(at, it, out),
            Part::Other(it) if it.format == origin() => out.raw(it.value.text()),
            Part::Other(it) if it.format == Origin::Json => {
                note_json(at, self.losses);
                self.text(&Text::new(it.value.text()), out);
            }
            other => self.losses.part(at, &other.kind_of_source()),
        }
        if !matches!(part, Part::Other(it) if it.format == origin()) {
            self.losses.foreign(part.extra(), Some(&origin()), Some(at));
        }
    }

    fn text(&mut self, text: &Text, out: &mut Writer<'_>) {
        let waiting = self.waiting.take();
        out.object(|out| {
            out.key("type").str("text");
            out.key("text").str(&text.text);
            if let Some(it) = &waiting {
                let signature = it.signature.as_deref().map(langchaingo::stored);
                write_reasoning(&it.display_text(), signature.as_deref(), out);
            }
            rest(&text.extra, &["type", "text", "reasoning"], out);
        });
    }

    /// Keeps reasoning until its text or call; encrypted reasoning cannot be written.
    fn reasoning(&mut self, at: usize, reasoning: &Reasoning, out: &mut Writer<'_>) {
        if reasoning.redacted.is_some() || reasoning.encrypted.is_some() {
            return self.losses.part(at, "sealed reasoning");
        }
        self.alone(out);
        self.waiting = Some(reasoning.clone());
    }

    /// Writes reasoning without a following text or call beside an empty text.
    fn alone(&mut self, out: &mut Writer<'_>) {
        if self.waiting.is_some() {
            self.text(&Text::new(""), out);
        }
    }

    fn image(&mut self, at: usize, image: &Image, out: &mut Writer<'_>) {
        let Some(url) = &image.url else { return self.losses.part(at, "image") };
        if let Some((media_type, data)) = data_url(url) {
            return binary(media_type, data, &image.extra, out);
        }
        out.object(|out| {
            out.key("type").str("image_url");
            out.key("image_url").object(|out| {
                out.key("url").str(url);
                if let Some(detail) = &image.detail {
                    out.key("detail").str(detail);
                }
            });
            rest(&image.extra, &["type", "image_url"], out);
        });
    }

    fn call(&mut self, call: &ToolCall, out: &mut Writer<'_>) {
        // Signed reasoning is bound to its own text; unsigned reasoning is written with the call.
        if self.waiting.as_ref().is_some_and(Reasoning::is_signed) {
            self.alone(out);
        }
        let thought = self.waiting.take().map(|it| it.display_text().into_owned());
        let has_reasoning = thought.is_some() || call.signature.is_some();
        out.object(|out| {
            out.key("type").str("tool_call");
            let kept = Nested::of(&call.extra, "tool_call");
            out.key("tool_call").object(|out| {
                kept.own("id", &call.id, out);
                kept.own("type", call.kind.as_str(), out);
                match kept.get("function") {
                    Some(raw) if call.name.is_empty() && call.arguments.text().is_empty() => {
                        out.key("function").raw(raw.text());
                    }
                    _ => out.key("function").object(|out| {
                        out.key("name").str(&call.name);
                        out.key("arguments").str(call.arguments.text());
                    }),
                }
                if has_reasoning {
                    let thought = thought.as_deref().unwrap_or_default();
                    write_reasoning(thought, call.signature.as_deref(), out);
                }
                kept.rest(&["id", "type", "function"], out);
            });
            rest(&call.extra, &["type", "tool_call"], out);
        });
    }

    fn result(&mut self, at: usize, result: &ToolResult, out: &mut Writer<'_>) {
        note_result(at, result, &origin(), self.losses);
        out.object(|out| {
            out.key("type").str("tool_response");
            let kept = Nested::of(&result.extra, "tool_response");
            out.key("tool_response").object(|out| {
                kept.own("tool_call_id", &result.call_id, out);
                kept.own("name", result.name.as_deref().unwrap_or_default(), out);
                out.key("content").str(&text_of_result(result, &origin()));
                kept.rest(&["tool_call_id", "name"], out);
            });
            rest(&result.extra, &["type", "tool_response"], out);
        });
    }
}

fn write_reasoning(text: &str, signature: Option<&str>, out: &mut Writer<'_>) {
    out.key("reasoning").object(|out| {
        if !text.is_empty() {
            out.key("content").str(text);
        }
        if let Some(signature) = signature {
            out.key("signature").str(signature);
        }
    });
}

/// A file without a media type: its data may reveal it.
fn file(data: &str, extra: &Extra, out: &mut Writer<'_>) {
    let (media_type, data) = data_url(data).unwrap_or(("application/octet-stream", data));
    binary(media_type, data, extra, out);
}

fn binary(media_type: &str, data: &str, extra: &Extra, out: &mut Writer<'_>) {
    out.object(|out| {
        out.key("type").str("binary");
        out.key("binary").object(|out| {
            out.key("mime_type").str(media_type);
            out.key("data").str(data);
        });
        rest(extra, &["type", "binary"], out);
    });
}

/// Media type and data of a base64 `data:` URL.
fn data_url(url: &str) -> Option<(&str, &str)> {
    url.strip_prefix("data:")?.split_once(";base64,")
}

/// Writes the unknown members of this format after the known ones.
fn rest(extra: &Extra, known: &[&str], out: &mut Writer<'_>) {
    write_rest(extra, &origin(), known, out);
}

/// The unread members of the object inside a part: unknown ones, and those of an unexpected type.
struct Nested(Vec<(String, RawJson)>);

impl Nested {
    /// Those in the member with this name.
    fn of(extra: &Extra, name: &str) -> Self {
        Nested(extra.get(&origin(), name).and_then(RawJson::members).unwrap_or_default())
    }

    fn get(&self, name: &str) -> Option<&RawJson> {
        self.0.iter().find(|it| it.0 == name).map(|it| &it.1)
    }

    /// Writes a member of the format: unchanged if it was not read and got no value since.
    fn own(&self, name: &str, value: &str, out: &mut Writer<'_>) {
        match self.get(name).filter(|_| value.is_empty()) {
            Some(raw) => out.key(name).raw(raw.text()),
            None => out.key(name).str(value),
        }
    }

    /// Writes the unknown ones after these.
    fn rest(&self, known: &[&str], out: &mut Writer<'_>) {
        for (name, raw) in self.0.iter().filter(|it| !known.contains(&&*it.0)) {
            out.key(name).raw(raw.text());
        }
    }
}
