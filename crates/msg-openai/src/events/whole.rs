//! What is whole as events of the Responses API: the items of a result, each replayed through the live writer, and
//! the end of an item that grew. Texts and arguments are in deltas, so that a client that shows deltas shows all of it.

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
    items.iter().for_each(|it| writer.whole_item(it, out));
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
    items_of(choice.message.clone(), 0, &choice.incomplete, report)
}

/// The items of a message, the first of which has this place; the calls of these ids were cut.
pub(super) fn items_of(
    message: Message,
    first: usize,
    cut: &[String],
    report: &mut Report,
) -> Vec<String> {
    let mut json = Vec::new();
    let message = with_reasoning_items(message);
    report.append(responses::write(&[message], &WriteOptions::canonical(), &mut json));
    let list = String::from_utf8(json).expect("because only strings are written");
    let items = (first..).zip(Json::from_valid(&list).elements());
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
    pub(super) fn whole_item(&mut self, item: &str, out: &mut Vec<u8>) {
        self.start(out);
        self.items.push(String::new());
        self.end_item(self.items.len() - 1, item, None, out);
    }

    /// Ends the item at a place: what of it has not gone out yet, and then all of it. `said` are the bytes of its first
    /// string that its deltas have said; none if it has not begun.
    pub(super) fn end_item(
        &mut self,
        place: usize,
        item: &str,
        said: Option<usize>,
        out: &mut Vec<u8>,
    ) {
        let item = Json::from_valid(item).compact();
        let json = Json::from_valid(&item);
        let kind = json.get("type").and_then(Json::text).unwrap_or_default();
        let grows = match &*kind {
            "message" => Some("content"),
            "reasoning" => Some("summary"),
            "function_call" => Some("arguments"),
            "custom_tool_call" => Some("input"),
            _ => None,
        };
        if said.is_none() {
            let begun = grows.map_or_else(|| item.clone(), |member| emptied(json, member));
            self.item_event("response.output_item.added", place, &begun, out);
        }
        let id = json.get("id").and_then(Json::text).unwrap_or_default();
        let at = At { id: &id, place, part: None };
        match &*kind {
            "message" => self.contents(json, at, said, out),
            "reasoning" => self.thoughts(json, at, said, out),
            "function_call" => {
                let name = json.get("name").map(Json::source);
                let words = ("function_call_arguments", "arguments");
                self.text(words, name, json, at, said, out);
            }
            "custom_tool_call" => {
                self.text(("custom_tool_call_input", "input"), None, json, at, said, out);
            }
            _ => {}
        }
        self.item_event("response.output_item.done", place, &item, out);
        self.items[place] = item;
    }

    fn contents(&mut self, item: Json<'_>, at: At<'_>, said: Option<usize>, out: &mut Vec<u8>) {
        for (n, part) in item.get("content").into_iter().flat_map(Json::elements).enumerate() {
            let at = At { part: Some(("content_index", n)), ..at };
            let said = said.filter(|_| n == 0);
            let kind = part.get("type").and_then(Json::text).unwrap_or_default();
            let member = if kind == "refusal" { "refusal" } else { "text" };
            if said.is_none() {
                self.part_event(("content_part", "added"), &emptied(part, member), at, out);
            }
            if matches!(&*kind, "output_text" | "refusal") {
                self.text((&kind, member), None, part, at, said, out);
            }
            self.part_event(("content_part", "done"), part.source(), at, out);
        }
    }

    /// The thought of a reasoning item: its summary, and its own text where that is there.
    fn thoughts(&mut self, item: Json<'_>, at: At<'_>, said: Option<usize>, out: &mut Vec<u8>) {
        let name = "reasoning_summary_part";
        for (n, part) in item.get("summary").into_iter().flat_map(Json::elements).enumerate() {
            let at = At { part: Some(("summary_index", n)), ..at };
            let said = said.filter(|_| n == 0);
            if said.is_none() {
                self.part_event((name, "added"), &emptied(part, "text"), at, out);
            }
            self.text(("reasoning_summary_text", "text"), None, part, at, said, out);
            self.part_event((name, "done"), part.source(), at, out);
        }
        for (n, part) in item.get("content").into_iter().flat_map(Json::elements).enumerate() {
            let at = At { part: Some(("content_index", n)), ..at };
            self.text(("reasoning_text", "text"), None, part, at, None, out);
        }
    }

    /// The rest of the string of a member, in one delta, and the whole; the end of a call says its name too.
    fn text(
        &mut self,
        (event, member): (&str, &str),
        name: Option<&str>,
        of: Json<'_>,
        at: At<'_>,
        said: Option<usize>,
        out: &mut Vec<u8>,
    ) {
        let Some(value) = of.get(member).filter(|it| it.is_string()) else { return };
        let text = value.text().unwrap_or_default();
        if said.is_none() && text.is_empty() {
            return;
        }
        if let Some(rest) = text.get(said.unwrap_or(0)..).filter(|it| !it.is_empty()) {
            self.text_event((event, "delta"), &[("delta", &*to_text(|it| it.str(rest)))], at, out);
        }
        let named = name.map(|it| ("name", it));
        let members: Vec<_> = [(member, value.source())].into_iter().chain(named).collect();
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
