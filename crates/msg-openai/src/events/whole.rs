//! A result that is whole as events of the Responses API: item by item, texts and arguments in one delta
//! each, so that a client that shows deltas shows all of it. Every item goes out as it would be sent whole.

use msg_codec::{Assembled, EventOptions, Json};
use msg_core::{Code, Diagnostic, Message, Origin, Part, RawJson, Report};
use msg_json::{Writer, to_text};

use super::{item::id_of, responses::ResponseEventWriter};
use crate::{WriteOptions, responses};

/// Appends the stream that would give this result: an item behind the other, each as a whole. What the
/// format cannot say is in the report.
///
/// ```
/// use msg_openai::{CHAT, RESPONSES, StreamOptions, StreamReader, write_response_events};
///
/// let body = br#"{"id":"c1","choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}"#;
/// let mut reader = StreamReader::new(&[CHAT], StreamOptions::default());
/// reader.feed(body, &mut |_| {});
/// let mut out = Vec::new();
/// assert!(write_response_events(&reader.finish(&mut |_| {}), &mut out).is_empty());
///
/// let mut reader = StreamReader::new(&[RESPONSES], StreamOptions::default());
/// reader.feed(&out, &mut |_| {});
/// let res = reader.finish(&mut |_| {});
/// assert_eq!((res.id.as_deref(), res.choices[0].message.text()), (Some("c1"), "Hi".into()));
/// ```
pub fn write_response_events(res: &Assembled, out: &mut Vec<u8>) -> Report {
    let mut writer = ResponseEventWriter::new(EventOptions::of(res));
    if let Some(choice) = res.choices.first() {
        let mut json = Vec::new();
        let message = with_reasoning_ids(choice.message.clone());
        let options = WriteOptions::canonical();
        writer.report.append(responses::write(&[message], &options, &mut json));
        let list = String::from_utf8(json).expect("because only strings are written");
        Json::from_valid(&list).elements().for_each(|item| writer.whole_item(item, out));
        writer.finish = choice.finish.clone();
    }
    for other in res.choices.iter().skip(1) {
        let text = format!("choice {} has no place in the stream", other.index);
        writer.report.push(Diagnostic::warning(Code::new("convert::lost-part"), text));
    }
    if let Some(error) = &res.error {
        writer.error = Some(error.message.clone());
    }
    writer.finish(out)
}

impl ResponseEventWriter {
    /// An item that is whole from the start.
    fn whole_item(&mut self, item: Json<'_>, out: &mut Vec<u8>) {
        self.start(out);
        let place = self.items.len();
        let item = item.compact();
        let json = Json::from_valid(&item);
        let kind = json.get("type").and_then(Json::text).unwrap_or_default();
        let grows = match &*kind {
            "message" => Some("content"),
            "function_call" => Some("arguments"),
            "custom_tool_call" => Some("input"),
            _ => None,
        };
        let begun = grows.map_or_else(|| item.clone(), |member| emptied(json, member));
        self.item_event("response.output_item.added", place, &begun, out);
        match &*kind {
            "message" => self.contents(json, place, out),
            "function_call" => {
                self.text("function_call_arguments", "arguments", json, (place, None), out);
            }
            "custom_tool_call" => {
                self.text("custom_tool_call_input", "input", json, (place, None), out);
            }
            _ => {}
        }
        self.items.push(item.clone());
        self.item_done(place, out);
    }

    fn contents(&mut self, item: Json<'_>, place: usize, out: &mut Vec<u8>) {
        for (at, part) in item.get("content").into_iter().flat_map(Json::elements).enumerate() {
            let kind = part.get("type").and_then(Json::text).unwrap_or_default();
            let member = if kind == "refusal" { "refusal" } else { "text" };
            let begun = emptied(part, member);
            self.part("response.content_part.added", &begun, (place, at), out);
            if matches!(&*kind, "output_text" | "refusal") {
                self.text(&kind, member, part, (place, Some(at)), out);
            }
            self.part("response.content_part.done", part.source(), (place, at), out);
        }
    }

    fn part(&mut self, name: &str, part: &str, (place, at): (usize, usize), out: &mut Vec<u8>) {
        self.event(name, out, |_, it| {
            it.key("output_index").u64(place as u64);
            it.key("content_index").u64(at as u64);
            it.key("part").raw(part);
        });
    }

    /// The string of a member, in one delta and whole.
    fn text(
        &mut self,
        name: &str,
        member: &str,
        of: Json<'_>,
        (place, part): (usize, Option<usize>),
        out: &mut Vec<u8>,
    ) {
        let Some(text) = of.get(member).filter(|it| it.filled().is_some()) else { return };
        for (event, key) in [("delta", "delta"), ("done", member)] {
            self.event(&format!("response.{name}.{event}"), out, |_, it| {
                it.key("output_index").u64(place as u64);
                it.optional("content_index", part, |it, n| it.u64(n as u64));
                it.key(key).raw(text.source());
            });
        }
    }
}

/// The message with an id for each reasoning part that has none. In a request such reasoning is refused;
/// in a response every item has its id.
pub(crate) fn with_reasoning_ids(mut message: Message) -> Message {
    for (at, part) in message.parts.iter_mut().enumerate() {
        if let Part::Reasoning(it) = part
            && it.encrypted.is_none()
            && it.extra.get(&Origin::Responses, "item").is_none()
        {
            let item = RawJson::written(|it| it.object(|it| it.key("id").str(&id_of("rs", at))));
            it.extra.insert(Origin::Responses, "item", item);
        }
    }
    message
}

/// The object with nothing in one of its members.
fn emptied(object: Json<'_>, member: &str) -> String {
    let nothing = |value: Json<'_>| if value.is_array() { "[]" } else { "\"\"" };
    let write = |it: &mut Writer<'_>| {
        for (name, value) in object.members() {
            it.key(&name).raw(if name == member { nothing(value) } else { value.source() });
        }
    };
    to_text(|it| it.object(write))
}
