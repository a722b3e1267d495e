//! A tag dialect as data (XT-33): what its wrapper, call and parameter tags look like. The built-in ones are written in the
//! same terms that users have. How a block is read by one is the business of `dialect::tags`.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::shape::{NameForm, TagShape};

/// A dialect of the form `W? (C (P value /P)* /C)+ /W?`.
///
/// ```
/// use msg_xml::{Grammar, TagShape};
/// let grammar = Grammar::new("actions").with_call(TagShape::attribute("action", "do")).with_parameter(TagShape::attribute("with", "key"));
/// assert_eq!(grammar.name, "actions");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Grammar {
    /// The name: a call's `format`.
    pub name: String,
    /// Tags that may stand around calls.
    pub wrapper: Vec<TagShape>,
    /// Calls are read inside a wrapper only.
    pub wrapper_required: bool,
    /// Tags that open a call.
    pub call: Vec<TagShape>,
    /// Tags that open a parameter.
    pub parameter: Vec<TagShape>,
    /// Wrappers that may hold JSON objects with `name` and `arguments` instead of calls.
    pub json_list: Vec<TagShape>,
}

impl Grammar {
    /// A dialect without tags.
    pub fn new(name: &str) -> Self {
        Grammar { name: name.to_owned(), ..Self::default() }
    }

    /// Adds a wrapper tag.
    #[must_use]
    pub fn with_wrapper(mut self, shape: TagShape) -> Self {
        self.wrapper.push(shape);
        self
    }

    /// Adds a tag that opens a call.
    #[must_use]
    pub fn with_call(mut self, shape: TagShape) -> Self {
        self.call.push(shape);
        self
    }

    /// Adds a tag that opens a parameter.
    #[must_use]
    pub fn with_parameter(mut self, shape: TagShape) -> Self {
        self.parameter.push(shape);
        self
    }

    /// XT-35.
    pub(crate) fn invoke() -> Self {
        let wrapper = TagShape::bare("function_calls").prefixed("antml:");
        Grammar { json_list: vec![wrapper.clone()], ..Self::new("invoke") }
            .with_wrapper(wrapper)
            .with_call(TagShape::attribute("invoke", "name").prefixed("antml:"))
            .with_parameter(TagShape::attribute("parameter", "name").prefixed("antml:"))
    }

    /// XT-36: keys and values are told apart in `tags`.
    pub(crate) fn glm() -> Self {
        Self::new("glm")
            .with_call(TagShape::bare("tool_call"))
            .with_parameter(TagShape::bare("arg_key"))
    }

    /// XT-37.
    pub(crate) fn qwen() -> Self {
        Self::new("qwen")
            .with_wrapper(TagShape::bare("tool_call"))
            .with_call(TagShape::equals("function"))
            .with_call(TagShape::attribute("function", "name"))
            .with_parameter(TagShape::equals("parameter"))
            .with_parameter(TagShape::attribute("parameter", "name"))
    }

    /// XT-39.
    pub(crate) fn dsml() -> Self {
        Self::new("dsml")
            .with_wrapper(TagShape::bare("function_calls").barred("DSML"))
            .with_wrapper(TagShape::bare("tool_calls").barred("DSML"))
            .with_wrapper(TagShape::bare("calls").barred("DSML"))
            .with_call(TagShape::attribute("invoke", "name").barred("DSML"))
            .with_parameter(TagShape::attribute("parameter", "name").barred("DSML"))
    }

    /// XT-40.
    pub(crate) fn minimax() -> Self {
        Grammar {
            wrapper_required: true,
            json_list: vec![TagShape::bare("tool_calls")],
            ..Self::new("minimax")
        }
        .with_wrapper(TagShape::bare("minimax:tool_call"))
        .with_call(TagShape::attribute("invoke", "name"))
        .with_parameter(TagShape::attribute("parameter", "name"))
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        let bad = |reason: &str| {
            Err(Error::InvalidDialect { name: self.name.clone(), reason: reason.to_owned() })
        };
        if self.name.is_empty() || self.call.is_empty() {
            return bad("it needs a name and a call tag");
        }
        let shapes =
            || self.wrapper.iter().chain(&self.call).chain(&self.parameter).chain(&self.json_list);
        if !shapes().all(TagShape::valid) {
            return bad(
                "a tag, attribute, prefix or word between bars is not of ASCII letters, digits, '_', '.', '-' and ':'",
            );
        }
        if self.call.iter().chain(&self.parameter).any(|shape| shape.name == NameForm::None) {
            return bad("call and parameter tags need a name");
        }
        if self.call.iter().any(|c| c.tag.eq_ignore_ascii_case("tool") && c.bars.is_none()) {
            return bad("<tool> is the native block");
        }
        if self.call.iter().any(|c| {
            self.parameter.iter().any(|p| c.tag.eq_ignore_ascii_case(&p.tag) && c.bars == p.bars)
        }) {
            return bad("a call and a parameter have the same tag");
        }
        Ok(())
    }
}
