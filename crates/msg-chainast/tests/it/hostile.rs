//! Improbable chains, made of bytes: the same bytes, the same chain.
//!
//! Ids, names and texts come from small pools, so that they clash; every role may hold every part.

use msg_chainast::{
    Acceptance, BadArguments, ChainAst, ChainCheckOptions, ChainRepairOptions, First, Message,
    Orphans, Part, Profile, ReasoningKept, ReasoningRequired, SystemPlace, ToolCall, UnknownRole,
    UserMessage,
    constants::{FALLBACK_RESPONSE_CONTENT, SUMMARIZATION_TOOL_NAME},
};
use msg_core::{
    CallKind, Content, Extra, File, Image, Origin, Other, RawJson, Reasoning, Role, ToolResult,
};

/// Reads choices from bytes; after their end every choice is the first.
pub(crate) struct Choices<'b> {
    bytes: &'b [u8],
    /// Makes texts that occur once.
    marks: usize,
}

const IDS: &[&str] = &[
    "a",
    "b",
    "",
    "c",
    "a",
    "call.1:x",
    "functions.f:0",
    "an id that is longer than forty bytes are",
];
const NAMES: &[&str] = &[
    "f",
    "g",
    "",
    SUMMARIZATION_TOOL_NAME,
    "get weather!",
    "9lives",
    "execute task and return summary",
    "жé",
];
const ARGUMENTS: &[&str] = &["{}", "{\"k\": 1}", "", "[]", "{\"cut", "{\"t\": \"a\nb\"}", "42"];
const ROLES: &[&str] = &[
    "user",
    "assistant",
    "tool",
    "tool",
    "assistant",
    "system",
    "developer",
    "observer",
    " Tool ",
    "AI",
    "assistant",
    "tool",
];

impl<'b> Choices<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Self {
        Choices { bytes, marks: 0 }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// A number below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        let Some((first, rest)) = self.bytes.split_first() else { return 0 };
        self.bytes = rest;
        usize::from(*first) % n
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == n - 1
    }

    fn of(&mut self, pool: &[&'static str]) -> &'static str {
        pool[self.below(pool.len())]
    }

    /// A chain of up to so many messages.
    pub(crate) fn chain(&mut self, max: usize) -> Vec<Message> {
        let mut chain = Vec::new();
        while !self.is_empty() && chain.len() < max {
            chain.push(self.message());
        }
        chain
    }

    /// A chain that is valid but for what bytes can do to a valid one: a message gone, doubled, moved.
    pub(crate) fn nearly_valid(&mut self, max: usize) -> Vec<Message> {
        let mut chain = Vec::new();
        while !self.is_empty() && chain.len() < max {
            self.turn(&mut chain);
        }
        for _ in 0..self.below(4) {
            let (from, to) = (self.below(chain.len().max(1)), self.below(chain.len().max(1)));
            match self.below(3) {
                _ if chain.is_empty() => {}
                0 => drop(chain.remove(from)),
                1 => chain.insert(to, chain[from].clone()),
                _ => {
                    let it = chain.remove(from);
                    chain.insert(to.min(chain.len()), it);
                }
            }
        }
        chain
    }

    fn turn(&mut self, chain: &mut Vec<Message>) {
        chain.push(Message::user(self.text()));
        for _ in 0..=self.below(3) {
            let mut message = Message::new(Role::Assistant);
            let ids: Vec<String> =
                (0..self.below(4)).map(|nth| format!("id{}", nth + self.below(3) * 4)).collect();
            if self.one_in(2) {
                message.parts.push(Part::text(self.text()));
            }
            message
                .parts
                .extend(ids.iter().map(|it| Part::ToolCall(ToolCall::new(it.as_str(), "f", "{}"))));
            chain.push(message);
            chain.extend(
                ids.iter().map(|it| Message::tool_result(it.as_str(), self.text().as_str())),
            );
        }
    }

    fn message(&mut self) -> Message {
        let role = self.of(ROLES);
        let mut message = Message::new(Role::from(role));
        match role.trim() {
            "tool" | "Tool" if !self.one_in(8) => {
                for _ in 0..=self.below(5).saturating_sub(3) {
                    message.parts.push(self.result());
                }
            }
            "assistant" | "AI" => {
                if self.one_in(3) {
                    message.parts.push(self.reasoning());
                }
                if !self.one_in(3) {
                    message.parts.push(Part::text(self.text()));
                }
                for _ in 0..self.below(4) {
                    message.parts.push(self.call());
                }
            }
            _ => message.parts.push(Part::text(self.text())),
        }
        if self.one_in(12) {
            let part = self.any_part();
            message.parts.push(part);
        }
        if self.one_in(5) {
            message.name = Some(["Ann B.", "ann", "", "ж"][self.below(4)].to_owned());
        }
        if self.one_in(5) {
            self.member(&mut message.extra);
        }
        if self.one_in(8)
            && let Some(part) = message.parts.last_mut()
        {
            self.member(part.extra_mut());
        }
        message
    }

    /// A member that a source had: of few names, so that they clash.
    fn member(&mut self, extra: &mut Extra) {
        let origin = [Origin::OpenAi, Origin::Anthropic][self.below(2)].clone();
        let name = ["cache_control", "metadata"][self.below(2)];
        self.marks += 1;
        let value = RawJson::string(&format!("member {}", self.marks));
        extra.insert(origin, name, value);
    }

    fn medium(&mut self) -> Part {
        self.marks += 1;
        let url = format!("https://host/{}", self.marks);
        match self.below(4) {
            0 => Part::Image(Image::from_url("data:image/png;base64,AAAA")),
            1 => Part::Image(Image::from_url(url)),
            2 => Part::File(File { url: Some(url), ..File::default() }),
            _ => Part::Other(Other::new(Origin::OpenAi, RawJson::string(&url))),
        }
    }

    fn any_part(&mut self) -> Part {
        match self.below(6) {
            0 => self.medium(),
            1 => self.call(),
            2 => self.result(),
            3 => self.reasoning(),
            4 => Part::refusal(self.text()),
            _ => Part::text(self.text()),
        }
    }

    pub(crate) fn text(&mut self) -> String {
        match self.below(6) {
            0 => String::new(),
            1 => " \n".to_owned(),
            _ => {
                self.marks += 1;
                format!("text {}", self.marks)
            }
        }
    }

    fn reasoning(&mut self) -> Part {
        let mut it = Reasoning::new(self.text());
        it.signature = self.one_in(3).then(|| self.text());
        it.encrypted = self.one_in(6).then(|| self.text());
        Part::Reasoning(it)
    }

    fn call(&mut self) -> Part {
        let mut it = ToolCall::new(self.of(IDS), self.of(NAMES), self.of(ARGUMENTS));
        it.kind = match self.below(8) {
            6 => CallKind::Unspecified,
            7 => CallKind::Custom,
            _ => CallKind::Function,
        };
        it.signature = self.one_in(5).then(|| self.text());
        Part::ToolCall(it)
    }

    fn result(&mut self) -> Part {
        let content: Content = match self.below(6) {
            0 => FALLBACK_RESPONSE_CONTENT.into(),
            1 => vec![Part::text(self.text()), self.medium()].into(),
            _ => self.text().into(),
        };
        let mut it = ToolResult::new(self.of(IDS), content);
        it.name = self.one_in(2).then(|| self.of(NAMES).to_owned());
        it.is_error = self.one_in(4);
        Part::ToolResult(it)
    }

    /// Options, one in two of them with a profile.
    pub(crate) fn options(&mut self) -> (ChainRepairOptions, Option<&'static Profile>, bool) {
        let open = self.one_in(3);
        let mut given = None;
        let mut options = ChainRepairOptions::new()
            .with_check(ChainCheckOptions { open, ..ChainCheckOptions::new() })
            .with_orphans([Orphans::Fabricate, Orphans::Drop, Orphans::Keep][self.below(3)])
            .with_first([First::InsertUser, First::Drop][self.below(2)])
            .with_unknown_role([UnknownRole::Drop, UnknownRole::AsUser][self.below(2)])
            .with_arguments([BadArguments::Keep, BadArguments::Sanitize][self.below(2)]);
        if self.one_in(2) {
            let profiles = Profile::all();
            let profile = &profiles[self.below(profiles.len())];
            options = options.with_profile(profile);
            given = Some(profile);
        }
        if self.one_in(5) {
            let pattern = ["fixed", "{f}:{n}", "{r:1:d}"][self.below(3)];
            options = options.with_id_pattern(pattern.parse().unwrap());
        }
        (options, given, open)
    }

    /// A profile that somebody may have written: a built-in one with other rules for names, contents and
    /// reasoning.
    pub(crate) fn own_profile(&mut self) -> Profile {
        let profiles = Profile::all();
        let mut it = profiles[self.below(profiles.len())].clone();
        let classes = ["[a-zA-Z0-9_-]", "[a-z]", "[a-z_]", "[fg]", "[a-z0-9]", "any"];
        it.name_class = self.of(&classes).parse().unwrap();
        it.name_first = self.of(&["any", "any", "[a-z]", "[a-z_]"]).parse().unwrap();
        it.name_max = [64, 1, 2, 3, 4, 0][self.below(6)];
        it.results_named = self.one_in(2);
        it.user = [UserMessage::Any, UserMessage::Some, UserMessage::First][self.below(3)];
        it.alternate = self.one_in(2);
        it.assistant_after_tool = self.one_in(2);
        let roles = [Role::System, Role::User, Role::Assistant];
        it.empty = roles.into_iter().filter(|_| self.one_in(2)).collect();
        it.blank = self.one_in(2);
        it.empty_text = [Acceptance::Accept, Acceptance::Reject][self.below(2)];
        it.max_calls = self.below(4);
        // What is required is accepted.
        let reasoning = [
            (ReasoningKept::None, ReasoningRequired::None),
            (ReasoningKept::CallTurns, ReasoningRequired::None),
            (ReasoningKept::CallTurns, ReasoningRequired::Calls),
            (ReasoningKept::All, ReasoningRequired::Calls),
            (ReasoningKept::All, ReasoningRequired::CallSignature),
            (ReasoningKept::All, ReasoningRequired::None),
        ];
        (it.reasoning_keep, it.reasoning_require) = reasoning[self.below(6)];
        let required = it.reasoning_require;
        it.reasoning_signed = self.one_in(2) && required != ReasoningRequired::Calls;
        let keeps_signatures = self.one_in(2) || required == ReasoningRequired::CallSignature;
        it.drops_call_signatures = !keeps_signatures;
        it.reasoning_fallback = self.of(&[" ", "fb"]).to_owned();
        self.own_content_rules(&mut it);
        it
    }

    /// Other rules for media, members and results.
    fn own_content_rules(&mut self, it: &mut Profile) {
        let places: [&[&str]; 4] = [&["any"], &["user"], &["user:image", "tool"], &[]];
        it.media_roles = places[self.below(4)].iter().map(|it| (*it).to_owned()).collect();
        it.empty_result = [Acceptance::Accept, Acceptance::Reject][self.below(2)];
        it.error_result = [Acceptance::Accept, Acceptance::Reject][self.below(2)];
        it.known_members_only = self.one_in(2);
        it.cache_max = self.below(3);
        it.file_needs_text = self.one_in(2);
        it.system = [SystemPlace::Message, SystemPlace::User, SystemPlace::Message][self.below(3)];
    }

    /// An edit of a tree.
    pub(crate) fn edit(&mut self, chain: &mut ChainAst) {
        use msg_chainast::{BodyPair, ChainSection, Header, SeededIds};
        let section = chain.section_ids().nth(self.below(chain.sections().len().max(1)));
        match (self.below(12), section) {
            (0, _) => drop(chain.add_section(ChainSection::new(
                Header::new(None, Some(Message::user(self.text()))),
                vec![BodyPair::completion(self.text())],
            ))),
            (1, Some(section)) => {
                let mut pair = Message::new(Role::Assistant);
                (0..self.below(3)).for_each(|_| pair.parts.push(self.call()));
                let tools =
                    (0..self.below(3)).map(|_| Message::new(Role::Tool).with_part(self.result()));
                let tools = tools.collect();
                chain.add_body_pair(section, BodyPair::new(pair, tools));
            }
            (2, Some(section)) => {
                chain.set_header(section, Header::new(None, Some(Message::user(self.text()))));
            }
            (3, _) => drop(chain.clear_reasoning()),
            (4, _) => drop(chain.sanitize_arguments()),
            (5, _) => {
                let pattern = ["call_{r:24:x}", "functions.{f}:{n}", "{r:1:d}", "x"][self.below(4)];
                chain.normalize_tool_call_ids(&pattern.parse().unwrap(), &mut SeededIds::new(5));
            }
            (6, _) => {
                let points: Vec<_> = chain.cut_points(None).collect();
                if let Some(point) = points.get(self.below(points.len().max(1))) {
                    chain.cut_before(*point);
                }
            }
            (10, Some(section)) => match self.below(2) {
                0 => drop(chain.remove_section(section)),
                _ => {
                    let pair = BodyPair::summary(self.text());
                    drop(chain.replace_section(
                        section,
                        ChainSection::new(Header::default(), vec![pair]),
                    ));
                }
            },
            (11, Some(section)) => {
                let pair = chain.pair_ids(section).nth(self.below(3));
                match (self.below(2), pair) {
                    (_, None) => {}
                    (0, Some(pair)) => drop(chain.remove_body_pair(pair)),
                    (_, Some(pair)) => {
                        drop(chain.replace_body_pair(pair, BodyPair::summary(self.text())));
                    }
                }
            }
            (7 | 8, _) => {
                let (id, name) = (self.of(IDS), self.of(NAMES));
                drop(chain.add_tool_result(id, name, self.text()));
            }
            _ => drop(chain.append_user(self.text())),
        }
    }
}

/// All ids that the pool has, to look for.
pub(crate) fn ids() -> &'static [&'static str] {
    IDS
}
