//! A tag dialect as data (XT-33): what its wrapper, call and parameter tags look like. The built-in ones stand in
//! `dialects.json`, in the same terms that users have. How a block is read by one is the business of `dialect::tags`.

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

    /// Whether its tags can be told apart.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let Grammar { wrapper, call, parameter, json_list, .. } = self;
        let mut shapes = wrapper.iter().chain(call).chain(parameter).chain(json_list);
        let same_tag =
            |a: &TagShape, b: &TagShape| a.tag.eq_ignore_ascii_case(&b.tag) && a.bars == b.bars;
        let reason = if self.name.is_empty() || call.is_empty() {
            "it needs a name and a call tag"
        } else if !shapes.all(TagShape::valid) {
            "a tag, attribute, prefix or word between bars is not of ASCII letters, digits, '_', '.', '-' and ':'"
        } else if call.iter().chain(parameter).any(|shape| shape.name == NameForm::None) {
            "call and parameter tags need a name"
        } else if call.iter().any(|shape| same_tag(shape, &TagShape::bare("tool"))) {
            "<tool> is the native block"
        } else if call.iter().any(|a| parameter.iter().any(|b| same_tag(a, b))) {
            "a call and a parameter have the same tag"
        } else {
            return Ok(());
        };
        Err(Error::InvalidDialect { name: self.name.clone(), reason: reason.to_owned() })
    }
}
