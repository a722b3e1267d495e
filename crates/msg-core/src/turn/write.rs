//! Turns as they are stored (MS-19): every member, in one order, then what was unknown.

use super::{TextPart, ToolPart, Turn, TurnPart};
use crate::{
    Extra, Members, Origin, RawJson,
    json::{write_member_name, write_str},
};

/// Appends a list of turns in the stored form (MS-19). Nothing is lost, so there is no report.
///
/// Times that are no finite numbers have no form in JSON and are written as `0.0`.
///
/// ```
/// use msg_core::{Turn, turns};
/// let mut json = Vec::new();
/// turns::write(&[Turn::new("m1", "user")], &mut json);
/// assert_eq!(
///     String::from_utf8(json).unwrap(),
///     r#"[{"id":"m1","role":"user","parts":[],"timestamp":0.0,"finished":false,"#.to_owned()
///         + r#""finish_reason":"","reasoning_content":"","metadata":{}}]"#
/// );
/// ```
pub fn write(turns: &[Turn], out: &mut Vec<u8>) {
    out.push(b'[');
    for (n, turn) in turns.iter().enumerate() {
        if n > 0 {
            out.push(b',');
        }
        write_turn(turn, out);
    }
    out.push(b']');
}

/// Appends one turn.
pub(super) fn write_turn(turn: &Turn, out: &mut Vec<u8>) {
    let mut it = Object::open(&turn.extra, out);
    it.text("id", &turn.id);
    it.text("role", turn.role.as_str());
    it.name("parts");
    it.out.push(b'[');
    for (n, part) in turn.parts.iter().enumerate() {
        if n > 0 {
            it.out.push(b',');
        }
        write_part(part, it.out);
    }
    it.out.push(b']');
    it.time("timestamp", turn.timestamp);
    it.flag("finished", turn.finished);
    it.text("finish_reason", &turn.finish_reason);
    it.text("reasoning_content", &turn.reasoning_content);
    it.members("metadata", &turn.metadata);
    it.close();
}

fn write_part(part: &TurnPart, out: &mut Vec<u8>) {
    match part {
        TurnPart::Text(it) => write_text(it, out),
        TurnPart::Tool(it) => write_tool(it, out),
        TurnPart::Other(it) => it.write_compact(out),
    }
}

fn write_text(part: &TextPart, out: &mut Vec<u8>) {
    let mut it = Object::open(&part.extra, out);
    it.text("type", "text");
    it.text("id", &part.id);
    it.text("text", &part.text);
    it.close();
}

fn write_tool(part: &ToolPart, out: &mut Vec<u8>) {
    let mut it = Object::open(&part.extra, out);
    it.text("type", "tool");
    it.text("id", &part.id);
    it.text("tool", &part.tool);
    it.name("input");
    part.input.write_compact(it.out);
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
    it.close();
}

/// An object that is being written. A member whose source had a wrong type is carried in `extra`
/// and takes its place, as long as nobody has set another value.
struct Object<'e, 'o> {
    extra: &'e Extra,
    out: &'o mut Vec<u8>,
    written: Vec<&'static str>,
    is_first: bool,
}

impl<'e, 'o> Object<'e, 'o> {
    fn open(extra: &'e Extra, out: &'o mut Vec<u8>) -> Self {
        out.push(b'{');
        Self { extra, out, written: Vec::new(), is_first: true }
    }

    fn close(self) {
        let unknown = self.extra.iter(&Origin::Turns).filter(|it| !self.written.contains(&it.0));
        for (name, value) in unknown {
            self.out.push(b',');
            write_member_name(self.out, name);
            value.write_compact(self.out);
        }
        self.out.push(b'}');
    }

    fn name(&mut self, name: &'static str) {
        if !std::mem::take(&mut self.is_first) {
            self.out.push(b',');
        }
        write_member_name(self.out, name);
        if !self.extra.is_empty() {
            self.written.push(name);
        }
    }

    fn carried(&self, name: &str) -> Option<&'e RawJson> {
        self.extra.get(&Origin::Turns, name)
    }

    /// Writes the carried value, if there is one and the member still says nothing.
    fn is_replaced(&mut self, name: &'static str, is_default: bool) -> bool {
        self.name(name);
        let carried = self.carried(name).filter(|_| is_default);
        if let Some(value) = carried {
            value.write_compact(self.out);
        }
        carried.is_some()
    }

    fn text(&mut self, name: &'static str, text: &str) {
        let is_default = matches!((name, text), (_, "") | ("status", "pending") | ("type", "text"));
        if !self.is_replaced(name, is_default) {
            write_str(self.out, text);
        }
    }

    fn time(&mut self, name: &'static str, time: f64) {
        if !self.is_replaced(name, time == 0.0) {
            let time = if time.is_finite() { time } else { 0.0 };
            self.out.extend_from_slice(format!("{time:?}").as_bytes());
        }
    }

    fn flag(&mut self, name: &'static str, flag: bool) {
        if !self.is_replaced(name, !flag) {
            self.out.extend_from_slice(if flag { b"true" } else { b"false" });
        }
    }

    fn members(&mut self, name: &'static str, members: &Members) {
        if self.is_replaced(name, members.is_empty()) {
            return;
        }
        self.out.push(b'{');
        for (n, (name, value)) in members.iter().enumerate() {
            if n > 0 {
                self.out.push(b',');
            }
            write_member_name(self.out, name);
            value.write_compact(self.out);
        }
        self.out.push(b'}');
    }
}
