//! A request body as the list of cells that a provider caches, in its order: tools, system, messages (CL-1).
//!
//! ```text
//! {"tools":[A,B],"system":"s","messages":[{"role":"user","content":[{"type":"text","text":"q"},IMAGE]}]}
//!
//! tools    0 A    1 B
//! system   0 "s"
//! messages 0 user "q"    0 user IMAGE
//! ```

use std::borrow::Cow;

use crate::cell::{Cell, Kind, Level, Source, Unit, kept};
use crate::family::Family;
use crate::spell::{Value, is_empty_text, plain_text};
use crate::view::{Setting, is_web_search, settings};

/// A request body.
#[derive(Debug, Clone)]
pub(crate) struct Prompt<'b, 'a> {
    pub(crate) family: Family,
    pub(crate) cells: Vec<Cell<'b, 'a>>,
    pub(crate) units: Vec<Unit<'b>>,
    pub(crate) settings: Vec<Setting>,
    /// Caching that the provider places itself, with the lifetime that it was asked for.
    pub(crate) automatic: Option<Cow<'b, str>>,
    /// How long a prefix is asked to live, without marks for it.
    pub(crate) retention: Option<Cow<'b, str>>,
    /// Only what is marked is cached (`prompt_cache_options.mode`).
    pub(crate) is_explicit: bool,
    /// The history is held by the provider.
    pub(crate) by_reference: bool,
    /// Some part of it, or of a result, is an image.
    pub(crate) has_images: bool,
    /// Some of its messages are those of the request before, without what they are made of.
    pub(crate) repeats: bool,
    /// Where cells are spelled to be hashed.
    room: String,
}

impl<'b, 'a> Prompt<'b, 'a> {
    /// Reads a body of this family.
    pub(crate) fn of(body: &'b Value<'a>, family: Family) -> Self {
        let options = body.get("prompt_cache_options");
        let mut res = Prompt {
            family,
            cells: Vec::new(),
            units: Vec::new(),
            settings: settings(body, family),
            automatic: body.get("cache_control").map(lifetime),
            retention: body
                .text_of("prompt_cache_retention")
                .or_else(|| options.and_then(|it| it.text_of("ttl")))
                .map(Cow::Borrowed),
            is_explicit: options.and_then(|it| it.text_of("mode")) == Some("explicit"),
            by_reference: body.has("previous_response_id") || body.has("conversation"),
            has_images: false,
            repeats: false,
            room: String::new(),
        };
        res.read_tools(body);
        match family {
            Family::Anthropic | Family::Bedrock => res.read_blocks(body),
            Family::OpenAi => res.read_chat(body),
            Family::Responses => res.read_items(body),
            Family::Gemini => res.read_contents(body),
        }
        res.has_images = res.cells.iter().any(|it| it.is_image);
        res.room = String::new();
        res
    }

    /// The same without what its cells are made of: all that comparing needs until something differs.
    pub(crate) fn outline(&self) -> Prompt<'static, 'static> {
        let owned = |it: &Cow<'b, str>| Cow::Owned(it.to_string());
        let unit = |it: &Unit<'b>| Unit { role: kept(&it.role), ..*it };
        Prompt {
            family: self.family,
            cells: self.cells.iter().map(Cell::outline).collect(),
            units: self.units.iter().map(unit).collect(),
            settings: self.settings.clone(),
            automatic: self.automatic.as_ref().map(owned),
            retention: self.retention.as_ref().map(owned),
            is_explicit: self.is_explicit,
            by_reference: self.by_reference,
            has_images: self.has_images,
            repeats: false,
            room: String::new(),
        }
    }

    /// The place of the first cell of the level.
    pub(crate) fn start(&self, level: Level) -> usize {
        self.cells.partition_point(|it| it.level < level)
    }

    /// The cells of a level.
    pub(crate) fn level(&self, level: Level) -> &[Cell<'b, 'a>] {
        let from = self.start(level);
        let to = self.cells.partition_point(|it| it.level <= level);
        &self.cells[from..to]
    }

    /// The cells of a message.
    pub(crate) fn cells_of(&self, unit: &Unit<'_>) -> &[Cell<'b, 'a>] {
        &self.cells[unit.cells.0..unit.cells.1]
    }

    /// About how many tokens it is: four bytes each.
    pub(crate) fn estimate(&self) -> u64 {
        self.cells.iter().map(|it| it.size as u64).sum::<u64>() / 4
    }

    fn read_tools(&mut self, body: &'b Value<'a>) {
        let lists = ["tools", "functions"].map(|it| body.get(it));
        let config = body.at(&["toolConfig", "tools"]);
        let mut index = 0;
        for tool in lists.into_iter().chain([config]).flatten().flat_map(Value::list) {
            if let Some(mark) = tool.get("cachePoint") {
                self.mark_last(mark);
                continue;
            }
            let declared = tool.any(&["functionDeclarations", "function_declarations"]);
            let tools = declared.map_or(std::slice::from_ref(tool), Value::list);
            for tool in tools {
                self.push(Level::Tools, index, "".into(), Kind::Tool, Source::Part(tool));
                self.mark_by(tool);
                index += 1;
            }
        }
    }

    fn read_blocks(&mut self, body: &'b Value<'a>) {
        if let Some(system) = body.get("system") {
            self.read_parts(Level::System, None, "system".into(), system);
        }
        for (index, message) in list_of(body, "messages").iter().enumerate() {
            let role = message.text_of("role").unwrap_or("user");
            self.read_unit(index, role.into(), |it| {
                if let Some(content) = message.get("content") {
                    it.read_parts(Level::Messages, Some(index), role.into(), content);
                }
            });
        }
    }

    fn read_chat(&mut self, body: &'b Value<'a>) {
        let messages = list_of(body, "messages");
        let is_system = |it: &Value<'_>| matches!(it.text_of("role"), Some("system" | "developer"));
        let n_system = messages.iter().take_while(|it| is_system(it)).count();
        for (index, message) in messages.iter().enumerate() {
            let role = message.text_of("role").unwrap_or("user");
            let speaker: Cow<'b, str> = match message.text_of("name") {
                Some(name) => format!("{role}\0{name}").into(),
                None => role.into(),
            };
            if index < n_system {
                self.read_message(Level::System, index, speaker, message);
            } else {
                self.read_unit(index, speaker.clone(), |it| {
                    it.read_message(Level::Messages, index, speaker, message);
                });
            }
        }
    }

    /// The cells of a chat message: thoughts, content, refusal, calls.
    fn read_message(
        &mut self,
        level: Level,
        index: usize,
        speaker: Cow<'b, str>,
        message: &'b Value<'a>,
    ) {
        let push =
            |it: &mut Self, kind, source| it.push(level, index, speaker.clone(), kind, source);
        if matches!(message.text_of("role"), Some("tool" | "function")) {
            let names = ["tool_call_id", "content"];
            let members = names.into_iter().filter_map(|it| Some((it, message.get(it)?)));
            push(self, Kind::Result, Source::Members(members.collect()));
            self.mark_by(message);
            return self.mark_inside(message.get("content"));
        }
        let thought = ["reasoning_content", "reasoning"]
            .into_iter()
            .find_map(|it| Some((it, message.get(it).filter(|it| it.text() != Some(""))?)));
        if let Some((name, it)) = thought {
            push(self, Kind::Thinking, Source::Members(vec![(name, it)]));
        }
        for it in list_of(message, "reasoning_details") {
            push(self, Kind::Thinking, Source::Part(it));
        }
        if let Some(content) = message.get("content") {
            self.read_parts(level, Some(index), speaker.clone(), content);
        }
        if let Some(it) = message.get("refusal").and_then(Value::text) {
            push(self, Kind::Refusal, Source::Text(it));
        }
        let call = message.get("function_call");
        for it in list_of(message, "tool_calls").iter().chain(call) {
            push(self, Kind::Call, Source::Part(it));
        }
        self.mark_by(message);
    }

    fn read_items(&mut self, body: &'b Value<'a>) {
        if let Some(instructions) = body.get("instructions") {
            self.read_parts(Level::System, None, "system".into(), instructions);
        }
        let Some(input) = body.get("input") else { return };
        if input.text().is_some() {
            return self.read_unit(0, "user".into(), |it| {
                it.read_parts(Level::Messages, Some(0), "user".into(), input);
            });
        }
        let is_system = |it: &Value<'_>| matches!(it.text_of("role"), Some("system" | "developer"));
        let n_system = input.list().iter().take_while(|it| is_system(it)).count();
        for (index, item) in input.list().iter().enumerate() {
            let role = item.text_of("role");
            let content = role.and_then(|_| item.get("content"));
            if index < n_system {
                if let (Some(role), Some(content)) = (role, content) {
                    self.read_parts(Level::System, Some(index), role.into(), content);
                }
                continue;
            }
            self.read_unit(index, role.unwrap_or_default().into(), |it| match (role, content) {
                (Some(role), Some(content)) => {
                    it.read_parts(Level::Messages, Some(index), role.into(), content);
                }
                _ => it.read_item(index, item),
            });
        }
    }

    /// An item that is not a message. Its id counts only for reasoning that has nothing else.
    fn read_item(&mut self, index: usize, item: &'b Value<'a>) {
        let kind = item.text_of("type").unwrap_or_default();
        let kind = match kind {
            "reasoning" => Kind::Thinking,
            it if it.ends_with("_call_output") => Kind::Result,
            it if it.ends_with("_call") => Kind::Call,
            _ => Kind::Other,
        };
        let has_thought = item.any(&["encrypted_content", "content", "summary"]);
        let keeps_id = kind == Kind::Thinking
            && has_thought.is_none_or(|it| matches!(it, Value::List(it) if it.is_empty()));
        let source = if keeps_id { Source::Part(item) } else { Source::Item(item) };
        self.push(Level::Messages, index, "".into(), kind, source);
        self.mark_by(item);
    }

    fn read_contents(&mut self, body: &'b Value<'a>) {
        if let Some(system) = body.any(&["systemInstruction", "system_instruction"]) {
            let parts = system.get("parts").unwrap_or(system);
            self.read_parts(Level::System, None, "system".into(), parts);
        }
        let Some(contents) = body.get("contents") else { return };
        let contents = match contents {
            Value::List(it) => it.as_slice(),
            only => std::slice::from_ref(only),
        };
        for (index, content) in contents.iter().enumerate() {
            let role = content.text_of("role").unwrap_or("user");
            let parts = content.get("parts").unwrap_or(content);
            self.read_unit(index, role.into(), |it| {
                it.read_parts(Level::Messages, Some(index), role.into(), parts);
            });
        }
    }

    fn read_unit(&mut self, index: usize, role: Cow<'b, str>, read: impl FnOnce(&mut Self)) {
        let from = self.cells.len();
        read(self);
        self.units.push(Unit { index, role, cells: (from, self.cells.len()) });
    }

    /// The parts of a content; without an index the place in the content is the index.
    fn read_parts(
        &mut self,
        level: Level,
        index: Option<usize>,
        role: Cow<'b, str>,
        content: &'b Value<'a>,
    ) {
        let list = match content {
            Value::List(it) => it.as_slice(),
            only => std::slice::from_ref(only),
        };
        for (at, part) in list.iter().enumerate() {
            self.read_part(level, index.unwrap_or(at), role.clone(), part);
        }
    }

    fn read_part(&mut self, level: Level, index: usize, role: Cow<'b, str>, part: &'b Value<'a>) {
        if let Some(mark) = part.get("cachePoint") {
            return self.mark_last(mark);
        }
        if is_empty_text(part) {
            return;
        }
        let (kind, source) = match plain_text(part).and_then(Value::text) {
            Some(text) => (Kind::Text, Source::Text(text)),
            None => (kind_of(part), Source::Part(part)),
        };
        self.push(level, index, role, kind, source);
        self.mark_by(part);
        self.mark_inside(part.get("content"));
    }

    fn push(
        &mut self,
        level: Level,
        index: usize,
        role: Cow<'b, str>,
        kind: Kind,
        source: Source<'b, 'a>,
    ) {
        let camel = self.family == Family::Gemini;
        let is_search =
            matches!(&source, Source::Part(it) if kind == Kind::Tool && is_web_search(it));
        let cell = Cell {
            level,
            index,
            role,
            kind,
            is_search,
            is_image: matches!(&source, Source::Part(it) if has_image(it)),
            source,
            marks: Vec::new(),
            hash: 0,
            size: 0,
            camel,
        };
        self.cells.push(cell.hashed(&mut self.room));
    }

    fn mark_by(&mut self, value: &'b Value<'a>) {
        if let Some(mark) = value.any(&["cache_control", "prompt_cache_breakpoint"]) {
            self.mark_last(mark);
        }
    }

    fn mark_inside(&mut self, content: Option<&'b Value<'a>>) {
        content.map_or(&[][..], Value::list).iter().for_each(|it| self.mark_by(it));
    }

    fn mark_last(&mut self, mark: &'b Value<'a>) {
        if let Some(last) = self.cells.last_mut() {
            last.marks.push(lifetime(mark));
        }
    }
}

fn has_image(part: &Value<'_>) -> bool {
    let is_image = |it: &Value<'_>| it.text_of("type") == Some("image") || it.has("image");
    let result = part.get("toolResult").unwrap_or(part).get("content");
    is_image(part) || result.is_some_and(|it| it.list().iter().any(is_image))
}

/// The lifetime that a mark asks for.
fn lifetime<'b>(mark: &'b Value<'_>) -> Cow<'b, str> {
    Cow::Borrowed(mark.text_of("ttl").unwrap_or("default"))
}

fn list_of<'b, 'a>(value: &'b Value<'a>, name: &str) -> &'b [Value<'a>] {
    value.get(name).map_or(&[], Value::list)
}

fn kind_of(part: &Value<'_>) -> Kind {
    match part.text_of("type") {
        Some("text" | "input_text" | "output_text") => Kind::Text,
        Some("thinking" | "redacted_thinking" | "reasoning") => Kind::Thinking,
        Some("refusal") => Kind::Refusal,
        Some("tool_use" | "server_tool_use" | "mcp_tool_use") => Kind::Call,
        Some(it) if it.ends_with("tool_result") => Kind::Result,
        Some(
            "image" | "document" | "image_url" | "input_audio" | "file" | "input_image"
            | "input_file",
        ) => Kind::Media,
        Some(_) => Kind::Other,
        None if part.get("thought") == Some(&Value::Bool(true)) => Kind::Thinking,
        None => kind_by_member(part),
    }
}

fn kind_by_member(part: &Value<'_>) -> Kind {
    const MEMBERS: &[(Kind, &[&str])] = &[
        (Kind::Text, &["text"]),
        (Kind::Thinking, &["reasoningContent"]),
        (Kind::Call, &["toolUse", "functionCall", "function_call"]),
        (Kind::Result, &["toolResult", "functionResponse", "function_response"]),
        (Kind::Media, &["image", "document", "video"]),
        (Kind::Media, &["inlineData", "inline_data", "fileData", "file_data"]),
    ];
    let found = MEMBERS.iter().find(|it| part.any(it.1).is_some());
    found.map_or(Kind::Other, |it| it.0)
}
