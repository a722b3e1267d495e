//! A result that is whole as events of the Responses API: item by item, texts and arguments in one delta
//! each, so that a client that shows deltas shows all of it. Every item goes out as it would be sent whole.

use msg_codec::{Assembled, EventOptions, Json};
use msg_core::{Code, Diagnostic, Message, Origin, Part, RawJson, Report};
use msg_json::{Writer, to_text};

use super::responses::{At, ResponseEventWriter};
use crate::events::id_of;
use crate::{WriteOptions, responses};

/// Appends the stream that would give this result: one item after the other, each as a whole. What the
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
    let items = whole_items(res, &mut writer.report);
    items.iter().for_each(|it| writer.whole_item(Json::from_valid(it), out));
    writer.finish = res.choices.first().and_then(|it| it.finish.clone());
    for other in res.choices.iter().skip(1) {
        let text = format!("choice {} has no place in the stream", other.index);
        writer.report.push(Diagnostic::warning(Code::new("convert::lost-part"), text));
    }
    writer.error = res.failure().map(str::to_owned);
    writer.finish(out)
}

/// The items of the first choice, each with all members that a response's items have.
pub(crate) fn whole_items(res: &Assembled, report: &mut Report) -> Vec<String> {
    let Some(choice) = res.choices.first() else { return Vec::new() };
    let mut json = Vec::new();
    let message = with_reasoning_items(choice.message.clone());
    report.append(responses::write(&[message], &WriteOptions::canonical(), &mut json));
    let list = String::from_utf8(json).expect("because only strings are written");
    let cut = &choice.incomplete;
    let items = Json::from_valid(&list).elements().enumerate();
    items.map(|(place, item)| completed(item, place, cut)).collect()
}

/// An item with the members that the type asks for and the message had no value for: id, status, and of texts
/// the annotations. A call that was cut is `incomplete`.
fn completed(item: Json<'_>, place: usize, cut: &[String]) -> String {
    let text = |name: &str| item.get(name).and_then(Json::text).unwrap_or_default();
    let kind = text("type");
    let prefix = match &*kind {
        "message" => "msg",
        "function_call" => "fc",
        "custom_tool_call" => "ctc",
        "reasoning" => "rs",
        _ => return item.compact(),
    };
    let is_cut = cut.iter().any(|it| *it == text("call_id")) && kind != "message";
    let has = |name: &str| item.get(name).is_some_and(|it| it.filled().is_some());
    to_text(|it| {
        it.object(|it| {
            for (name, value) in item.members() {
                match &*name {
                    "id" | "status" if !has(&name) => {}
                    "content" if kind == "message" => {
                        it.key(&name).array(value.elements(), |it, part| annotated(part, it));
                    }
                    _ => it.key(&name).raw(&value.compact()),
                }
            }
            if !has("id") {
                it.key("id").str(&id_of(prefix, place));
            }
            if !has("status") && kind != "reasoning" {
                it.key("status").str(if is_cut { "incomplete" } else { "completed" });
            }
        });
    })
}

/// A text of an item, which has annotations.
fn annotated(part: Json<'_>, it: &mut Writer<'_>) {
    let is_text = part.get("type").and_then(Json::text).is_some_and(|it| it == "output_text");
    if !is_text || part.get("annotations").is_some() {
        return it.raw(&part.compact());
    }
    it.object(|it| {
        for (name, value) in part.members() {
            it.key(&name).raw(&value.compact());
        }
        it.key("annotations").array([], |_, _: ()| {});
    });
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
            "reasoning" => Some("summary"),
            "function_call" => Some("arguments"),
            "custom_tool_call" => Some("input"),
            _ => None,
        };
        let begun = grows.map_or_else(|| item.clone(), |member| emptied(json, member));
        self.item_event("response.output_item.added", place, &begun, out);
        let id = json.get("id").and_then(Json::text).unwrap_or_default();
        let at = At { id: &id, place, part: None };
        match &*kind {
            "message" => self.contents(json, at, out),
            "reasoning" => self.thoughts(json, at, out),
            "function_call" => {
                let name = json.get("name").map(Json::source);
                self.text("function_call_arguments", ("arguments", name), json, at, out);
            }
            "custom_tool_call" => {
                self.text("custom_tool_call_input", ("input", None), json, at, out);
            }
            _ => {}
        }
        self.items.push(item.clone());
        self.item_done(place, out);
    }

    fn contents(&mut self, item: Json<'_>, at: At<'_>, out: &mut Vec<u8>) {
        for (n, part) in item.get("content").into_iter().flat_map(Json::elements).enumerate() {
            let at = At { part: Some(("content_index", n)), ..at };
            let kind = part.get("type").and_then(Json::text).unwrap_or_default();
            let member = if kind == "refusal" { "refusal" } else { "text" };
            self.part_event(("content_part", "added"), &emptied(part, member), at, out);
            if matches!(&*kind, "output_text" | "refusal") {
                self.text(&kind, (member, None), part, at, out);
            }
            self.part_event(("content_part", "done"), part.source(), at, out);
        }
    }

    /// The thought of a reasoning item: its summary, and its own text where that is there.
    fn thoughts(&mut self, item: Json<'_>, at: At<'_>, out: &mut Vec<u8>) {
        let name = "reasoning_summary_part";
        for (n, part) in item.get("summary").into_iter().flat_map(Json::elements).enumerate() {
            let at = At { part: Some(("summary_index", n)), ..at };
            self.part_event((name, "added"), &emptied(part, "text"), at, out);
            self.text("reasoning_summary_text", ("text", None), part, at, out);
            self.part_event((name, "done"), part.source(), at, out);
        }
        for (n, part) in item.get("content").into_iter().flat_map(Json::elements).enumerate() {
            let at = At { part: Some(("content_index", n)), ..at };
            self.text("reasoning_text", ("text", None), part, at, out);
        }
    }

    /// The string of a member, in one delta and whole; the end of a call says its name too.
    fn text(
        &mut self,
        event: &str,
        (member, name): (&str, Option<&str>),
        of: Json<'_>,
        at: At<'_>,
        out: &mut Vec<u8>,
    ) {
        let Some(text) = of.get(member).filter(|it| it.filled().is_some()) else { return };
        self.text_event((event, "delta"), &[("delta", text.source())], at, out);
        let named = name.map(|it| ("name", it));
        let members: Vec<_> = [(member, text.source())].into_iter().chain(named).collect();
        self.text_event((event, "done"), &members, at, out);
    }
}

/// The message with an item for each reasoning part that has none. In a request such reasoning is refused; in a
/// response every item has its id, and a thought of another provider is its summary, which is what clients show.
pub(crate) fn with_reasoning_items(mut message: Message) -> Message {
    for (at, part) in message.parts.iter_mut().enumerate() {
        if let Part::Reasoning(it) = part
            && it.encrypted.is_none()
            && it.extra.get(&Origin::Responses, "item").is_none()
        {
            let item = RawJson::written(|it| it.object(|it| it.key("id").str(&id_of("rs", at))));
            it.extra.insert(Origin::Responses, "item", item);
            if it.summary.is_none() {
                it.summary = it.text.take().map(|it| vec![it]);
            }
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
