//! Items of a list of items that are calls or results without being written as such (OA-14, "Pairing"):
//! a shell call and its output, an approval asked for and given. In the model they stay raw; here is
//! what a chain of messages has to know of them. It judges nothing.
//!
//! ```text
//! {"type":"shell_call","call_id":"c1","action":{…}}                  a call,   id c1, family shell
//! {"type":"shell_call_output","call_id":"c1","output":[…]}           a result, id c1, family shell
//! {"type":"tool_search_output","call_id":"c2","tools":[…]}           a result, id c2, family tool_search
//! {"type":"mcp_approval_response","approval_request_id":"a1",…}      a result, id a1, family mcp_approval
//! {"type":"web_search_call","id":"ws_1",…}                           a call without id: nobody answers it
//! ```

use super::{Other, Place};
use crate::{Origin, RawJson};
use msg_json::Reader;

/// What an item is to other items: a result answers the call of the same id and family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pairing {
    /// Whether it asks or answers.
    pub side: PairSide,
    /// The id that both bear; `""` where the provider made both and the result stands behind its call.
    pub id: String,
    /// The kind of both: the type of the item without what tells call and result apart.
    pub family: String,
    /// Whether the provider runs it itself, so that the call may stand without its result.
    pub is_hosted: bool,
}

/// The two sides of a [`Pairing`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PairSide {
    /// It wants an answer.
    Call,
    /// It is the answer.
    Result,
}

/// The members of an item that count here.
#[derive(Default)]
struct Members {
    kind: String,
    call_id: String,
    id: String,
    request_id: String,
    execution: String,
}

impl Other {
    /// What it is to other items of its list; none if it neither asks nor answers. A call without an id
    /// wants no answer: the provider runs it.
    /// O(size) for an item of a list, O(1) for all else.
    ///
    /// ```
    /// use msg_core::{Origin, Other, PairSide, Place, RawJson};
    ///
    /// let item = RawJson::new(r#"{"type":"shell_call","call_id":"c1"}"#)?;
    /// let call = Other { place: Some(Place::Item), ..Other::new(Origin::Responses, item) };
    /// let pairing = call.pairing().expect("a shell call has its output");
    /// assert_eq!((pairing.side, &*pairing.id, &*pairing.family), (PairSide::Call, "c1", "shell"));
    /// # Ok::<(), msg_json::JsonError>(())
    /// ```
    #[must_use]
    pub fn pairing(&self) -> Option<Pairing> {
        let Members { kind, call_id, id, request_id, execution } = self.item_members()?;
        let (side, id, family) = match &*kind {
            "mcp_approval_request" => (PairSide::Call, id, "mcp_approval"),
            "mcp_approval_response" => (PairSide::Result, request_id, "mcp_approval"),
            "local_shell_call_output" if call_id.is_empty() => {
                (PairSide::Result, id, "local_shell")
            }
            kind => match (kind.strip_suffix("_call"), kind.strip_suffix("_output")) {
                (Some(family), _) => (PairSide::Call, call_id, family),
                (_, Some(it)) => {
                    (PairSide::Result, call_id, it.strip_suffix("_call").unwrap_or(it))
                }
                _ => return None,
            },
        };
        Some(Pairing { side, id, family: family.to_owned(), is_hosted: execution == "server" })
    }

    /// Whether it stands for what came before, so that a chain may begin with it: a compaction, a
    /// reference to a stored item, tools that were added; everything but a call.
    #[must_use]
    pub fn may_lead(&self) -> bool {
        self.item_members().is_some_and(|it| !it.kind.is_empty() && !it.kind.ends_with("_call"))
    }

    /// The same item bearing another id.
    #[must_use]
    pub fn with_pair_id(mut self, id: &str) -> Self {
        let member = match self.item_members().map(|it| it.kind).as_deref() {
            Some("mcp_approval_request") => "id",
            Some("mcp_approval_response") => "approval_request_id",
            _ => "call_id",
        };
        if let Some(value) = with_member(&self.value, member, id) {
            self.value = value;
        }
        self
    }

    /// Its members, if it is an item of a list.
    fn item_members(&self) -> Option<Members> {
        if self.format != Origin::Responses || self.place != Some(Place::Item) {
            return None;
        }
        let mut reader = Reader::from_text(self.value.text());
        let mut found = Members::default();
        reader.begin_object().ok()?;
        while let Some(key) = reader.next_key().ok()? {
            let value = reader.raw().ok()?;
            let place = match &*key.text {
                "type" => &mut found.kind,
                "call_id" => &mut found.call_id,
                "id" => &mut found.id,
                "approval_request_id" => &mut found.request_id,
                "execution" => &mut found.execution,
                _ => continue,
            };
            *place = Reader::from_text(value).string().map_or(String::new(), |it| it.text.into());
        }
        Some(found)
    }
}

impl Pairing {
    /// The result of this family that says no more than a text, or that nothing was found; none where results
    /// are something else.
    #[must_use]
    pub fn text_result(family: &str, id: &str, text: &str) -> Option<Other> {
        let (kind, status) = match family {
            "local_shell" => ("local_shell_call_output", None),
            "apply_patch" => ("apply_patch_call_output", Some("failed")),
            "tool_search" => ("tool_search_output", Some("incomplete")),
            _ => return None,
        };
        let value = RawJson::written(|it| {
            it.object(|it| {
                it.key("type").str(kind);
                it.key("call_id").str(id);
                it.optional("status", status, |it, text| it.str(text));
                match family {
                    "tool_search" => {
                        it.key("execution").str("client");
                        it.key("tools").raw("[]");
                    }
                    _ => it.key("output").str(text),
                }
            });
        });
        Some(Other { place: Some(Place::Item), ..Other::new(Origin::Responses, value) })
    }
}

/// The object with a string in the place of a member's value, or behind the others.
fn with_member(object: &RawJson, name: &str, text: &str) -> Option<RawJson> {
    let members = object.members()?;
    let known = members.iter().any(|(key, _)| key == name);
    Some(RawJson::written(|it| {
        it.object(|it| {
            for (key, value) in &members {
                match key == name {
                    true => it.key(key).str(text),
                    false => it.key(key).raw(value.text()),
                }
            }
            if !known {
                it.key(name).str(text);
            }
        });
    }))
}
