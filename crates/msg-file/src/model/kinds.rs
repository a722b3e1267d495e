//! What a cell can be (MF-14), with what belongs to each kind. References are ordinals.
//!
//! Text is not copied here: lang, payload, streams and data are read from the cell on demand.

use crate::model::agents::AgentConfig;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The category of a cell and what only that category has.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum CellKind {
    /// What somebody says.
    User(Ask),
    /// The same, sent verbatim and never looked into.
    Raw(Ask),
    /// Code to be run.
    Code(Code),
    /// An agent's answer.
    Agent(Turn),
    /// A call of a tool.
    ToolCall(Call),
    /// What a call gave.
    ToolResult(Output),
    /// What running a code cell gave.
    ExecOutput(Execution),
    /// A further piece of an execution: a picture, a table.
    ExecDisplay(Output),
    /// A summary of earlier cells.
    Summary(Summary),
    /// A temporary agent is introduced.
    AgentDef(AgentDef),
    /// The default agent is changed.
    Directive(Directive),
}

impl Default for CellKind {
    fn default() -> Self {
        Self::User(Ask::default())
    }
}

impl CellKind {
    /// The word of the JSON form.
    #[must_use]
    pub fn category(&self) -> &'static str {
        match self {
            Self::User(_) => "user",
            Self::Raw(_) => "raw",
            Self::Code(_) => "code",
            Self::Agent(_) => "agent",
            Self::ToolCall(_) => "tool_call",
            Self::ToolResult(_) => "tool_result",
            Self::ExecOutput(_) => "exec_output",
            Self::ExecDisplay(_) => "exec_display",
            Self::Summary(_) => "summary",
            Self::AgentDef(_) => "agent_def",
            Self::Directive(_) => "directive",
        }
    }

    /// User, raw or code: what is asked, and of whom.
    #[must_use]
    pub fn ask(&self) -> Option<&Ask> {
        match self {
            Self::User(ask) | Self::Raw(ask) => Some(ask),
            Self::Code(code) => Some(&code.ask),
            _ => None,
        }
    }

    /// The calls below the cell, where it can have some (MF-21).
    #[must_use]
    pub fn calls(&self) -> &[usize] {
        match self {
            Self::User(ask) | Self::Raw(ask) => &ask.calls,
            Self::Code(code) => &code.ask.calls,
            Self::Agent(turn) => &turn.calls,
            _ => &[],
        }
    }

    pub(crate) fn calls_mut(&mut self) -> Option<&mut Vec<usize>> {
        match self {
            Self::User(ask) | Self::Raw(ask) => Some(&mut ask.calls),
            Self::Code(code) => Some(&mut code.ask.calls),
            Self::Agent(turn) => Some(&mut turn.calls),
            _ => None,
        }
    }

    /// What may hang below it.
    pub(super) fn class(&self) -> Class {
        match self {
            Self::User(_) | Self::Raw(_) | Self::Agent(_) => Class::Speaker,
            Self::Code(_) => Class::Code,
            Self::ToolCall(_) => Class::Call,
            Self::ExecOutput(_) => Class::Execution,
            _ => Class::Other,
        }
    }
}

/// What may hang below a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// User, raw and agent cells: calls.
    Speaker,
    /// Code: calls and executions.
    Code,
    /// A call: results.
    Call,
    /// An execution: displays.
    Execution,
    /// Nothing but a summary.
    Other,
}

/// What is asked and who should answer.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ask {
    /// Who should answer: the addressee, else the default at this place.
    pub agent: Option<Arc<str>>,
    /// Whether the agent is named in the cell.
    pub addressed: bool,
    /// Calls that hang below the cell.
    pub calls: Vec<usize>,
}

/// A code cell.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Code {
    /// Who should answer, and calls.
    pub ask: Ask,
    /// Its executions.
    pub executions: Vec<usize>,
}

/// An agent's answer.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Turn {
    /// Who answered.
    pub agent: Option<Arc<str>>,
    /// Whether the body is what was thought before acting.
    pub is_reasoning: bool,
    /// The cell that is answered.
    pub reply_to: Option<usize>,
    /// Its calls.
    pub calls: Vec<usize>,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Call {
    /// The last segment of the id, if the call hangs below a cell.
    pub nonce: Option<String>,
    /// Its results.
    pub results: Vec<usize>,
}

/// A result or a display: the n-th.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Output {
    /// Its number.
    pub n: Option<u32>,
}

/// An execution of a code cell.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Execution {
    /// Its number.
    pub n: Option<u32>,
    /// Displays that belong to it.
    pub displays: Vec<usize>,
}

/// A summary.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Summary {
    /// The cell of `[^ID.summary]`.
    pub of: Option<usize>,
    /// Ranges of covered ordinals, in order, without overlap; none without the attribute.
    pub covers: Option<Vec<RangeInclusive<usize>>>,
}

/// A temporary agent.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AgentDef {
    /// Its name.
    pub agent: Option<Arc<str>>,
    /// The attributes that were valid.
    pub config: Arc<AgentConfig>,
}

/// `[set]`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Directive {
    /// The agent that answers from now on, as written.
    pub set_default: Option<String>,
}

/// Where the summary of a cell comes from (MF-20).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Summarised {
    /// The attribute `summary`.
    Attribute,
    /// The cell of this ordinal.
    Cell(usize),
    /// Nothing better was there.
    FirstParagraph,
}

impl Summarised {
    /// The word of the JSON form.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Attribute => "attribute",
            Self::Cell(_) => "cell",
            Self::FirstParagraph => "first-paragraph",
        }
    }
}
