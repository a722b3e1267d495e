//! A message as an object of a role and a content, as Anthropic and Bedrock have it: the results that a user's begins
//! with are a tool message in the model (AN-2, BR-4). What is in the content is for the format to read and write.
//!
//! ```text
//! {"role":"user","content":[RESULT, RESULT, "text"]}     Tool message (2 results), then user message "text"
//! {"role":"human","content":"a"}                         user message; the layout keeps the spelling
//! ```

use msg_core::{Extra, Message, Origin, Part, Role};

use super::fields::{Context, Fields, RawMember};
use super::layout::{Placement, SlotPlan};
use super::object::Placed;
use super::shape::{Shape, bit, mask};

/// The parts of a message that is an object of a role and a content. A value says which roles go out as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoleContent {
    /// A tool message is the results of a user.
    pub results: bool,
    /// System messages stay where they are.
    pub system: bool,
    /// All of them do.
    pub all: bool,
}

impl RoleContent {
    /// The code of `role`.
    pub const ROLE: u8 = 1;
    /// The code of `content`.
    pub const CONTENT: u8 = 2;

    /// Its members.
    pub const SHAPE: Shape = Shape::new(&["role", "content"]);

    /// `role` was another spelling: `human`, `ai`.
    pub const ROLE_SPELLED: u8 = 1;
    /// `role` was `tool`, which the API does not have.
    pub const ROLE_TOOL: u8 = 2;
    /// `content` was the other form of one plain text than the one that is written: a string, or a list of blocks.
    pub const CONTENT_OTHER: u8 = 1;
    /// `content` was null.
    pub const CONTENT_NULL: u8 = 2;

    /// The role that a word means; its spelling stays in the layout (MS-2).
    pub fn read_role<'a>(word: &str, fields: &mut Fields<'a>, cx: &mut Context<'a, '_>) -> Role {
        let role = cx.role(word);
        if Role::spelling(word).is_some() {
            fields.vary(Self::ROLE, Self::ROLE_SPELLED);
        } else if role == Role::Tool {
            fields.vary(Self::ROLE, Self::ROLE_TOOL);
        }
        role
    }

    /// The messages that one of this role and with these parts is, after a message of the role `before`; `keep` gives
    /// what the first keeps of the source.
    pub fn results_apart(
        origin: &Origin,
        (role, mut parts): (Role, Vec<Part>),
        before: Option<&Role>,
        keep: impl FnOnce(Placement) -> Extra,
    ) -> Vec<Message> {
        let is_result = |it: &Part| matches!(it, Part::ToolResult(_));
        let n_results = match role {
            Role::User => parts.iter().take_while(|it| is_result(it)).count(),
            _ => 0,
        };
        let rest = parts.split_off(n_results);
        let mixed = match role == Role::User && rest.iter().any(is_result) {
            true => Placement::MIXED,
            false => Placement::default(),
        };
        let own = match role {
            Role::User if before == Some(&Role::Tool) => Placement::APART,
            Role::System | Role::Developer => Placement::LISTED,
            _ => Placement::default(),
        };
        if n_results == 0 {
            return vec![Message { role, parts: rest, name: None, extra: keep(own | mixed) }];
        }
        let mut res = vec![Message { role: Role::Tool, parts, name: None, extra: keep(own) }];
        if !rest.is_empty() {
            res.push(Message { role, parts: rest, name: None, extra: mixed.keep(origin, &[]) });
        }
        res
    }

    /// The members that go out: its content if there are parts, or the source had one.
    #[must_use]
    pub fn wanted(plan: SlotPlan<'_>, raw: &[RawMember<'_>], parts: &[Placed<'_>]) -> u32 {
        let is_raw = parts.is_empty() && raw.iter().any(|it| it.name == "content");
        let has_content = !parts.is_empty() || plan.may_have(Self::CONTENT);
        bit(Self::ROLE) | mask(has_content && !is_raw, Self::CONTENT)
    }

    /// The word for a role, which had this variant, and whether it is another role.
    #[must_use]
    pub fn role_word(self, role: &Role, variant: u8) -> (&str, bool) {
        match (role, variant) {
            (Role::User | Role::Tool, Self::ROLE_SPELLED) => ("human", false),
            (Role::Assistant, Self::ROLE_SPELLED) => ("ai", false),
            (Role::User | Role::Assistant, _) => (role.as_str(), false),
            (Role::Tool, _) if self.results => ("user", false),
            (Role::System, _) if self.system => ("system", false),
            _ if self.all => (role.as_str(), false),
            (Role::Developer, _) if self.system => ("system", true),
            _ => ("user", true),
        }
    }
}
