//! Turns as they are stored (MS-19): every member, in one order, then what was unknown.

use msg_core::{Extra, Members, Origin, RawJson};
use msg_json::Writer;

use super::lifecycle::STREAMING;
use super::{TextPart, ToolPart, Turn, TurnPart};

/// Appends a list of turns in the stored form (MS-19). Nothing is lost, so there is no report.
///
/// Times that are not finite numbers have no form in JSON and are written as `0.0`.
///
/// ```
/// use msg_forms::{Turn, turns};
/// let mut json = Vec::new();
/// turns::write(&[Turn::new("m1", "user")], &mut json);
/// assert_eq!(
///     String::from_utf8(json).unwrap(),
///     r#"[{"id":"m1","role":"user","parts":[],"timestamp":0.0,"finished":false,"#.to_owned()
///         + r#""finish_reason":"","reasoning_content":"","metadata":{}}]"#
/// );
/// ```
pub fn write(turns: &[Turn], out: &mut Vec<u8>) {
    Writer::new(out).array(turns, |it, turn| it.value(|out| write_turn(turn, out)));
}

/// Appends one turn.
pub(crate) fn write_turn(turn: &Turn, out: &mut Vec<u8>) {
    write_object(&turn.extra, &mut Writer::new(out), |it| {
        it.text("id", &turn.id);
        it.text("role", turn.role.as_str());
        it.key("parts").array(&turn.parts, |it, part| write_part(part, it));
        it.time("timestamp", turn.timestamp);
        it.flag("finished", turn.finished);
        it.text("finish_reason", &turn.finish_reason);
        it.text("reasoning_content", &turn.reasoning_content);
        it.members("metadata", &turn.metadata);
    });
}

fn write_part(part: &TurnPart, out: &mut Writer<'_>) {
    match part {
        TurnPart::Text(it) => write_text(it, out),
        TurnPart::Tool(it) => write_tool(it, out),
        TurnPart::Other(it) => out.compact(it.text()),
    }
}

fn write_text(part: &TextPart, out: &mut Writer<'_>) {
    write_object(&part.extra, out, |it| {
        it.text("type", "text");
        it.text("id", &part.id);
        it.text("text", &part.text);
    });
}

fn write_tool(part: &ToolPart, out: &mut Writer<'_>) {
    write_object(&part.extra, out, |it| {
        it.text("type", "tool");
        it.text("id", &part.id);
        it.text("tool", &part.tool);
        it.key("input").compact(part.input.text());
        it.text("output", &part.output);
        it.text("status", part.status.as_str());
        it.time("start_time", part.start_time);
        it.time("end_time", part.end_time);
        if !part.metadata.is_empty() || it.carried("metadata").is_some() {
            it.members("metadata", &part.metadata);
        }
        match &part.input_text {
            Some(text) => it.text("input_text", text),
            None if it.carried("input_text").is_some() => it.text("input_text", ""),
            None => {}
        }
        // Read back, it is not a call that waits to be started.
        if part.stream_index.is_some() && part.extra.get(&Origin::Turns, STREAMING).is_none() {
            it.key(STREAMING).bool(true);
        }
    });
}

/// Writes the members that `fill` does, then those of `extra` that it did not.
fn write_object(extra: &Extra, out: &mut Writer<'_>, fill: impl FnOnce(&mut Object<'_, '_, '_>)) {
    out.object(|out| {
        let mut it = Object { extra, out, written: Vec::new() };
        fill(&mut it);
        let Object { out, written, .. } = it;
        for (name, value) in extra.iter(&Origin::Turns).filter(|it| !written.contains(&it.0)) {
            out.key(name).compact(value.text());
        }
    });
}

/// An object that is being written. A member whose source had a wrong type is carried in `extra`
/// and takes its place, unless another value was set.
struct Object<'e, 'w, 'o> {
    extra: &'e Extra,
    out: &'w mut Writer<'o>,
    written: Vec<&'static str>,
}

impl<'e, 'o> Object<'e, '_, 'o> {
    fn key(&mut self, name: &'static str) -> &mut Writer<'o> {
        if !self.extra.is_empty() {
            self.written.push(name);
        }
        self.out.key(name)
    }

    fn carried(&self, name: &str) -> Option<&'e RawJson> {
        self.extra.get(&Origin::Turns, name)
    }

    /// Writes a member: the carried value, if there is one and the member still says nothing.
    fn member(
        &mut self,
        name: &'static str,
        is_default: bool,
        write: impl FnOnce(&mut Writer<'o>),
    ) {
        match self.carried(name).filter(|_| is_default) {
            Some(value) => self.key(name).compact(value.text()),
            None => write(self.key(name)),
        }
    }

    fn text(&mut self, name: &'static str, text: &str) {
        let is_default = matches!((name, text), (_, "") | ("status", "pending") | ("type", "text"))
            || self.carried(name).is_some_and(|it| it.text() == text);
        self.member(name, is_default, |it| it.str(text));
    }

    fn time(&mut self, name: &'static str, time: f64) {
        let finite = if time.is_finite() { time } else { 0.0 };
        self.member(name, time == 0.0, |it| it.raw(&format!("{finite:?}")));
    }

    fn flag(&mut self, name: &'static str, flag: bool) {
        self.member(name, !flag, |it| it.bool(flag));
    }

    fn members(&mut self, name: &'static str, members: &Members) {
        self.member(name, members.is_empty(), |it| {
            it.object(|it| members.iter().for_each(|(name, raw)| it.key(name).compact(raw.text())));
        });
    }
}
