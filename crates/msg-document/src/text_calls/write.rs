//! From calls and results to text again.

use std::collections::HashMap;

use msg_core::{
    Code, Diagnostic, Message, Origin, Part, Role, Severity, Text, ToolCall, ToolResult,
};

use super::{CallSource, TextCalls};

impl TextCalls {
    /// The messages with all calls and results as text that had no members of their own, also those that were made
    /// since. What cannot be written as text stays what it is.
    pub(crate) fn write(&self, messages: &[Message]) -> Vec<Message> {
        let mut names: HashMap<&str, &str> = HashMap::new();
        let mut written = Vec::with_capacity(messages.len());
        for message in messages {
            for it in &message.parts {
                if let Part::ToolCall(it) = it {
                    names.insert(&it.id, &it.name);
                }
            }
            written.push(self.message(message, &names));
        }
        written
    }

    /// Messages of a format that has members for calls, as those of one that has only text, and what that cannot hold.
    pub(crate) fn spell_out(messages: &[Message]) -> (Vec<Message>, Vec<Diagnostic>) {
        let parts = |(at, it): (usize, &Message)| {
            let found = it.parts.iter().enumerate();
            let found = found.flat_map(|(n, it)| unspelled(it).map(move |it| (n, it)));
            found.map(|(n, it)| it.at_part(at, n)).collect::<Vec<_>>()
        };
        let lost = messages.iter().enumerate().flat_map(parts).collect();
        (TextCalls { of_tools: true, ..TextCalls::default() }.write(messages), lost)
    }

    fn message(&self, message: &Message, names: &HashMap<&str, &str>) -> Message {
        let mut res = message.clone();
        if !message.parts.iter().any(|it| matches!(it, Part::ToolCall(_) | Part::ToolResult(_))) {
            return res;
        }
        res.parts.clear();
        let mut pieces = Pieces { parts: &mut res.parts, open: false };
        for part in &message.parts {
            match part {
                Part::ToolCall(it) if !self.native.contains(&it.id) => self.call(it, &mut pieces),
                Part::ToolResult(it) if !self.native.contains(&it.call_id) => {
                    pieces.parts.push(self.result(it, names));
                }
                Part::Text(it) => pieces.text(it),
                it => pieces.parts.push(it.clone()),
            }
        }
        if let [Part::ToolResult(it)] = message.parts.as_slice()
            && self.is_of_user(&it.call_id)
        {
            to_user(&mut res);
        }
        res
    }

    /// Whether the result of this call is a message of the user.
    fn is_of_user(&self, id: &str) -> bool {
        match self.results.get(id) {
            Some(source) => source.of_user,
            None => self.headed && !self.of_tools && !self.native.contains(id),
        }
    }

    fn call(&self, call: &ToolCall, pieces: &mut Pieces<'_>) {
        match self.calls.get(&call.id) {
            Some(source) => {
                let rendered = source.text_of(call);
                pieces.call(source, &rendered);
            }
            None => match render(call) {
                Some(block) => pieces.block(&block),
                None => pieces.parts.push(Part::ToolCall(call.clone())),
            },
        }
    }

    fn result(&self, result: &ToolResult, names: &HashMap<&str, &str>) -> Part {
        let mut res = result.clone();
        res.call_id.clear();
        if res.name.is_none() {
            res.name = names.get(result.call_id.as_str()).map(|it| (*it).to_owned());
        }
        // A message of the user has no other place for the name of the tool than its text.
        let headed = self.headed || self.is_of_user(&result.call_id);
        let Some(text) = res.content.as_text().filter(|_| headed) else {
            return Part::ToolResult(res);
        };
        let known = self.results.get(&result.call_id).filter(|it| it.content == text);
        let headed = match (known, &res.name) {
            (Some(source), _) => Some(source.text.clone()),
            (None, Some(name)) => {
                let (name, content) = (name.clone(), text.to_owned());
                msg_xml::ParsedResult { name, content, is_error: res.is_error }.render().ok()
            }
            (None, None) => None,
        };
        if let Some(headed) = headed {
            (res.content, res.name, res.is_error) = (headed.into(), None, false);
        }
        Part::ToolResult(res)
    }
}

/// What a call or a result has that its text does not say.
fn unspelled(part: &Part) -> impl Iterator<Item = Diagnostic> {
    let mut names: Vec<&str> = Vec::new();
    match part {
        Part::ToolCall(it) => {
            names.extend(Some("id").filter(|_| !it.id.is_empty()));
            names.extend(it.signature.as_ref().map(|_| "signature"));
            names.extend(it.extra.all().filter(|it| *it.0 != Origin::Xml).map(|it| it.1));
        }
        Part::ToolResult(it) if !it.call_id.is_empty() => names.push("call_id"),
        _ => {}
    }
    let lost = |it: &str| {
        let text = format!("plain messages have no place for `{it}`");
        Diagnostic::new(Severity::Info, Code::new("convert::lost-member"), text)
    };
    names.into_iter().map(lost).collect::<Vec<_>>().into_iter()
}

impl CallSource {
    /// The block as it was written, unless somebody changed the call.
    fn text_of(&self, call: &ToolCall) -> String {
        let same = call.name == self.name && call.arguments.text() == self.arguments;
        match same {
            true => self.text.clone(),
            false => render(call).unwrap_or_else(|| self.text.clone()),
        }
    }
}

fn render(call: &ToolCall) -> Option<String> {
    let server = call.extra.get(&Origin::Xml, "server_name");
    let server = server.and_then(|it| serde_json::from_str::<String>(it.text()).ok());
    let block = msg_xml::ParsedCall::new(call.name.clone(), call.arguments.clone());
    let block = match server {
        Some(server) => block.with_server(server),
        None => block,
    };
    msg_xml::render(&block).ok()
}

/// A result is a message of the user in formats without a tool role.
fn to_user(message: &mut Message) {
    if let [Part::ToolResult(it)] = message.parts.as_slice()
        && it.call_id.is_empty()
        && let Some(text) = it.content.as_text()
    {
        let part = Part::Text(Text::new(text));
        message.parts = vec![part];
        message.role = Role::User;
    }
}

/// The parts of a message while texts are put together.
struct Pieces<'m> {
    parts: &'m mut Vec<Part>,
    /// What comes next belongs to the text before.
    open: bool,
}

impl Pieces<'_> {
    fn text(&mut self, text: &Text) {
        let open = std::mem::take(&mut self.open);
        match self.parts.last_mut() {
            Some(Part::Text(last)) if open => last.text.push_str(&text.text),
            _ => self.parts.push(Part::Text(text.clone())),
        }
    }

    fn call(&mut self, source: &CallSource, block: &str) {
        let (before, after) = &source.around;
        let text = format!("{before}{block}{after}");
        let joins = self.open || source.glued.0;
        match self.parts.last_mut() {
            Some(Part::Text(last)) if joins => last.text.push_str(&text),
            _ => self.parts.push(Part::Text(Text { text, ..source.part.clone() })),
        }
        self.open = source.glued.1;
    }

    /// A block without a source, on lines of its own.
    fn block(&mut self, block: &str) {
        self.open = false;
        match self.parts.last_mut() {
            Some(Part::Text(last)) => {
                last.text.push_str(if last.text.is_empty() { "" } else { "\n" });
                last.text.push_str(block);
            }
            _ => self.parts.push(Part::Text(Text::new(block))),
        }
    }
}
