//! The file as it will be when it is asked about, made in memory: whatever is refused is refused
//! before the disk or the network is touched.

use msg_core::{Code, Diagnostic};
use msg_file::{AppendOptions, CellKind, Document, Force, HistoryOptions, Limits, NewCell, View};

use super::who::Who;
use crate::commands::file::Nonces;

/// What will be asked.
pub(super) struct Draft {
    /// The file with the cells that are to be appended.
    pub(super) document: Document,
    /// Who answers.
    pub(super) agent: String,
    /// The cells: a new agent, a new default, the question.
    pub(super) cells: Vec<NewCell>,
}

impl Draft {
    /// Appends in memory and finds out who answers (MF-28).
    pub(super) fn make(
        document: &Document,
        who: Who,
        question: Option<String>,
        force: Force,
    ) -> Result<Self, Box<Diagnostic>> {
        let mut cells = who.cells;
        cells.extend(question.map(NewCell::message));
        let refused = |it: msg_file::Error| Box::new(it.diagnostic());
        let document = with(document, &cells, force).map_err(refused)?;
        let options = HistoryOptions { agent: who.agent, open: false };
        let history = document.history(&options).map_err(refused)?;
        let agent = history.agent.ok_or_else(no_agent)?;
        Ok(Self { document, agent, cells })
    }
}

fn with(document: &Document, cells: &[NewCell], force: Force) -> Result<Document, msg_file::Error> {
    let options = AppendOptions::default().with_force(force);
    let mut nonce = || Nonces::System.next();
    let (old, mode) = (document.bytes(), document.mode());
    let (bytes, _) = msg_file::append(old, mode, cells.to_vec(), &options, &mut nonce)?;
    Document::read(bytes, document.mode(), &Limits::default())
}

fn no_agent() -> Box<Diagnostic> {
    let text =
        "no agent to answer: name one with --agent or --model, or set `default_agent` in the file";
    Box::new(Diagnostic::error(Code::new("msgfile::no-agent"), text))
}

/// Whether the last cell that a model would see waits for its answer: a question, or what running
/// something gave.
pub(super) fn waits(document: &Document) -> bool {
    let settings = |it: &&CellKind| matches!(it, CellKind::AgentDef(_) | CellKind::Directive(_));
    let seen = document.cells().iter().rev().filter(|it| it.view() != View::None);
    let last = seen.map(|it| it.kind()).find(|it| !settings(it));
    last.is_some_and(|it| {
        let is_outcome = matches!(
            it,
            CellKind::ToolResult(_) | CellKind::ExecOutput(_) | CellKind::ExecDisplay(_)
        );
        is_outcome || it.ask().is_some()
    })
}
