//! Adding the results of tool calls, and finding them (CA-43, CA-44).

use msg_core::{Content, Message, Part, Role, ToolResult};

use super::{
    Change, PairId,
    index::{CallPlace, ResultPlace, Target, result_at},
};
use crate::{
    Error,
    tree::{BodyPair, ChainAst, sizes::Sizes},
};

/// For up to so many results room is made with the first one.
const RESERVED: usize = 64;

impl ChainAst {
    /// Adds the result of a tool call (CA-43). O(1) amortised.
    ///
    /// It answers the newest pair that has a pending call of this id, there the first such call: as a new
    /// tool message at the end of the pair, named like the call if `name` is empty. If no such call is
    /// pending, it replaces the content of the newest answered call's result, and the name if `name` is not
    /// empty.
    ///
    /// # Errors
    /// If no call bears the id.
    ///
    /// ```
    /// use msg_chainast::{ChainAst, Message, Part, ToolCall};
    ///
    /// let call = Part::ToolCall(ToolCall::new("call_1", "get_weather", "{}"));
    /// let asked = vec![Message::user("Oslo?"), Message::assistant("").with_part(call)];
    /// let mut chain = ChainAst::parse_open(asked)?;
    /// chain.add_tool_result("call_1", "", "sunny")?;
    /// let result = chain.find_tool_results("call_1").next();
    /// assert_eq!(result.and_then(|it| it.name.as_deref()), Some("get_weather"));
    /// assert!(chain.add_tool_result("call_2", "", "sunny").is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "AddToolResponse")]
    pub fn add_tool_result(
        &mut self,
        id: &str,
        name: &str,
        content: impl Into<Content>,
    ) -> Result<Change, Error> {
        let change = match self.index.of(&self.sections).target(&self.sections, id) {
            None => return Err(Error::UnknownToolCall { id: id.to_owned() }),
            Some(Target::Pending(call, entry)) => {
                let (change, place) = self.answer(call, id, name, content.into());
                self.index.of_mut(&self.sections).answer(entry, place);
                change
            }
            Some(Target::Answered(result)) => self.replace(result, name, content.into()),
        };
        self.assert_sizes();
        Ok(change)
    }

    /// All results of an id, in chain order (CA-44). O(results found), once the index is built.
    #[doc(alias = "FindToolCallResponses")]
    pub fn find_tool_results(&self, id: &str) -> impl Iterator<Item = &ToolResult> {
        let places = self.index.of(&self.sections).results(&self.sections, id);
        places.filter_map(|at| {
            result_at(&self.sections[at.section as usize].body[at.pair as usize], at)
        })
    }

    /// Puts the result of a pending call at the end of its pair; the index does not know of it yet.
    fn answer(
        &mut self,
        call: CallPlace,
        id: &str,
        name: &str,
        content: Content,
    ) -> (Change, ResultPlace) {
        let CallPlace { section, pair, part } = call;
        let it = &mut self.sections[section as usize].body[pair as usize];
        let mut result = ToolResult::new(id, content);
        let name = match it.assistant.parts.get(part as usize) {
            Some(Part::ToolCall(call)) if name.is_empty() => call.name.as_str(),
            _ => name,
        };
        result.name = Some(name.to_owned());
        let place = ResultPlace { section, pair, message: it.tools.len() as u32, part: 0 };
        if it.tools.is_empty() {
            it.tools.reserve_exact(it.assistant.tool_calls().take(RESERVED).count());
        }
        let pair = PairId { section: section as usize, pair: pair as usize };
        self.push_tool(pair, Message::new(Role::Tool).with_part(Part::ToolResult(result)));
        (Change::Result(pair), place)
    }

    fn replace(&mut self, at: ResultPlace, name: &str, content: Content) -> Change {
        let pair = PairId { section: at.section as usize, pair: at.pair as usize };
        let put = |it: &mut BodyPair| {
            let part = &mut it.tools[at.message as usize].parts[at.part as usize];
            it.sizes -= Sizes::of_part(part);
            let Part::ToolResult(result) = part else {
                unreachable!("because the index holds places of results")
            };
            let content = std::mem::replace(&mut result.content, content);
            let old_name = result.name.clone();
            if !name.is_empty() {
                result.name = Some(name.to_owned());
            }
            it.sizes += Sizes::of_part(part);
            Change::Replaced { pair, content, name: old_name }
        };
        self.in_section(pair.section, |it| it.in_pair(pair.pair, put))
    }
}
