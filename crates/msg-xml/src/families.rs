//! The families of models whose calls are between special tokens (XT-48 to XT-55), as data: what reads them is `special`.
//!
//! ```text
//! kimi   <|tool_call_begin|>functions.ls:0<|tool_call_argument_begin|>{"path":"."}<|tool_call_end|>
//!        open               name           separators                  Syntax       close
//! ```

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Syntax {
    /// The arguments, as JSON.
    Arguments,
    /// Objects with a name and arguments, as JSON.
    Objects,
    /// Calls in Python's syntax.
    Python,
}

/// The tokens of a family of models. In a pattern `｜` is either bar, and `▁` is that, `_` or a space.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Family {
    /// The dialect's name.
    pub(crate) name: &'static str,
    /// What may be before the first call.
    pub(crate) section: &'static [&'static str],
    /// What begins a call.
    pub(crate) open: &'static [&'static str],
    /// What is between name and arguments.
    pub(crate) separators: &'static [&'static str],
    /// What ends a call.
    pub(crate) close: &'static [&'static str],
    /// What may follow a call that has not been closed, and means nothing where a call came before.
    pub(crate) after: &'static [&'static str],
    /// How the value is written.
    pub(crate) syntax: Syntax,
    /// The value may also be the whole message, without tokens.
    pub(crate) is_bare: bool,
}

const NONE: &[&str] = &[];

/// XT-48: the calls of harmony; its headers are read apart.
pub(crate) static HARMONY: Family = Family {
    name: "harmony",
    section: NONE,
    open: NONE,
    separators: NONE,
    close: &["<|call|>", "<|end|>", "<|return|>"],
    after: &["<|start|>", "<|channel|>"],
    syntax: Syntax::Arguments,
    is_bare: false,
};

/// XT-49.
pub(crate) static KIMI: Family = Family {
    name: "kimi",
    section: &["<|tool_calls_section_begin|>", "<|tool_call_section_begin|>"],
    open: &["<|tool_call_begin|>"],
    separators: &["<|tool_call_argument_begin|>"],
    close: &["<|tool_call_end|>"],
    after: &["<|tool_calls_section_end|>", "<|tool_call_section_end|>", "<|im_end|>"],
    syntax: Syntax::Arguments,
    is_bare: false,
};

/// XT-50.
pub(crate) static DEEPSEEK: Family = Family {
    name: "deepseek",
    section: &["<｜tool▁calls▁begin｜>"],
    open: &["<｜tool▁call▁begin｜>"],
    separators: &["<｜tool▁sep｜>"],
    close: &["<｜tool▁call▁end｜>"],
    after: &["<｜tool▁calls▁end｜>", "<｜end▁of▁sentence｜>"],
    syntax: Syntax::Arguments,
    is_bare: false,
};

/// XT-51.
pub(crate) static LLAMA: Family = Family {
    name: "llama",
    section: NONE,
    open: &["<|python_tag|>"],
    separators: NONE,
    close: NONE,
    after: &["<|eom_id|>", "<|eot_id|>", "<|eot|>"],
    syntax: Syntax::Objects,
    is_bare: true,
};

/// XT-52, XT-53.
pub(crate) static PYTHONIC: Family = Family {
    name: "pythonic",
    section: NONE,
    open: &["<|python_start|>", "<|tool_call_start|>"],
    separators: NONE,
    close: &["<|python_end|>", "<|tool_call_end|>"],
    after: &["<|eom|>", "<|eot|>", "<|eot_id|>", "<|im_end|>"],
    syntax: Syntax::Python,
    is_bare: true,
};

/// XT-54.
pub(crate) static MISTRAL: Family = Family {
    name: "mistral",
    section: NONE,
    open: &[MISTRAL_OPEN],
    separators: &["[CALL_ID]", "[ARGS]"],
    close: NONE,
    after: &["</s>"],
    syntax: Syntax::Arguments,
    is_bare: false,
};

/// XT-55.
pub(crate) static FENCED: Family = Family {
    name: "fenced",
    section: NONE,
    open: NONE,
    separators: NONE,
    close: NONE,
    after: NONE,
    syntax: Syntax::Objects,
    is_bare: false,
};

/// All of them.
pub(crate) static FAMILIES: [&Family; 7] =
    [&HARMONY, &KIMI, &DEEPSEEK, &LLAMA, &PYTHONIC, &MISTRAL, &FENCED];

/// What begins the calls of Mistral's models.
pub(crate) const MISTRAL_OPEN: &str = "[TOOL_CALLS]";
