//! The table of categories (MF-14): the first row that fits counts.

use super::kinds::{Ask, Call, CellKind, Code, Execution, Output, Turn};
use super::{Pass, Sorted};
use crate::span::Span;
use crate::syntax::grammar;
use crate::syntax::raw::RawCell;
use std::borrow::Cow;
use std::sync::Arc;

/// Whether a type, in lower case, is one of the languages of MF-14.
pub(crate) fn is_language(lower: &str) -> bool {
    const LANGUAGES: &str = "py python python3 ipython bash sh shell zsh fish powershell javascript js \
        typescript ts node rust go c cpp c++ java kotlin ruby perl php lua r julia sql sqlite html json \
        swift scala haskell ocaml elixir tcl lang";
    LANGUAGES.split(' ').any(|it| it == lower)
}

/// A text in ASCII lower case.
pub(crate) fn lower_case(text: &str) -> Cow<'_, str> {
    if text.bytes().any(|b| b.is_ascii_uppercase()) {
        Cow::Owned(text.to_ascii_lowercase())
    } else {
        Cow::Borrowed(text)
    }
}

impl<'a> Pass<'a> {
    /// Text of the file, not of the cell.
    fn text(&self, span: Option<Span>) -> Option<Cow<'a, str>> {
        span.map(|it| String::from_utf8_lossy(it.of(self.source)))
    }

    pub(super) fn message(&mut self, cell: &RawCell, ty: Option<Span>) -> Sorted {
        let ty = self.text(ty);
        let lower = ty.as_deref().map(lower_case);
        let kind = match lower.as_deref() {
            None | Some("markdown" | "md" | "message") => CellKind::User(self.ask(cell, None)),
            Some("code") => {
                CellKind::Code(Code { ask: self.ask(cell, None), executions: Vec::new() })
            }
            Some("raw") => CellKind::Raw(self.ask(cell, None)),
            Some("agent") => self.agent_def(cell),
            Some("set") => self.directive(cell),
            Some("function_call") => return self.function_call(cell),
            Some(_) => {
                let named = ty.as_deref().and_then(|t| self.registry.registered(t));
                if named.is_none() {
                    self.found.add(cell.span().start, "msgfile::unknown-message-type");
                }
                CellKind::User(self.ask(cell, named))
            }
        };
        (kind, None)
    }

    /// A call as older files have it.
    fn function_call(&self, cell: &RawCell) -> Sorted {
        let parent = self.parent_of(cell).filter(|(p, _)| self.cells[p - 1].kind.may_call());
        let nonce = parent.map(|(_, nonce)| nonce.to_owned());
        let call = Call { nonce, results: Vec::new() };
        (CellKind::ToolCall(call), parent.map(|(p, _)| p))
    }

    /// Who should answer: the addressee, else the default here.
    fn ask(&self, cell: &RawCell, named: Option<Arc<str>>) -> Ask {
        let by_attr = || cell.said("agent").map(|a| self.registry.name(&a));
        let addressee = named.or_else(by_attr);
        let addressed = addressee.is_some();
        Ask { agent: addressee.or_else(|| self.registry.current()), addressed, calls: Vec::new() }
    }

    pub(super) fn output(&mut self, cell: &RawCell, ty: Option<Span>) -> Sorted {
        let ty = self.text(ty);
        let lower = ty.as_deref().map(lower_case);
        match lower.as_deref() {
            Some("tool") => return self.tool(cell),
            Some("summary") => return self.summary(cell),
            _ => {}
        }
        if let Some(sorted) = self.numbered(cell) {
            return sorted;
        }
        if let Some(name) = ty.as_deref().and_then(|t| self.registry.registered(t)) {
            return self.turn(cell, Some(name));
        }
        if lower.as_deref().is_some_and(is_language) {
            return self.execution(cell);
        }
        let agent = self.unregistered(cell, ty.as_deref());
        self.turn(cell, agent)
    }

    /// An execution of a code cell or a display of an execution, by its id `P.n`.
    fn numbered(&self, cell: &RawCell) -> Option<Sorted> {
        let (p, last) = self.parent_of(cell)?;
        let n = Some(grammar::integer(last)?);
        let kind = match self.cells[p - 1].kind {
            CellKind::Code(_) => CellKind::ExecOutput(Execution { n, displays: Vec::new() }),
            CellKind::ExecOutput(_) => CellKind::ExecDisplay(Output { n }),
            _ => return None,
        };
        Some((kind, Some(p)))
    }

    /// Whose an output is of which nobody registered the agent.
    fn unregistered(&mut self, cell: &RawCell, ty: Option<&str>) -> Option<Arc<str>> {
        let at = cell.span().start;
        let named = ty.filter(|it| !matches!(&*lower_case(it), "output" | "markdown" | "md"));
        let Some(name) = named else {
            self.found.add(at, "msgfile::agent-implicit");
            return self.registry.current();
        };
        let (name, new) = self.registry.implicit(name, cell.ordinal());
        if new {
            self.found.tell(
                at,
                "msgfile::unregistered-agent",
                format!("the agent `{name}` is not registered"),
            );
        }
        Some(name)
    }

    fn tool(&mut self, cell: &RawCell) -> Sorted {
        if let Some((p, last)) = self.parent_of(cell) {
            let parent = &self.cells[p - 1].kind;
            if let (CellKind::ToolCall(_), Some(n)) = (parent, grammar::integer(last)) {
                return (CellKind::ToolResult(Output { n: Some(n) }), Some(p));
            }
            if parent.may_call() {
                let call = Call { nonce: Some(last.to_owned()), results: Vec::new() };
                return (CellKind::ToolCall(call), Some(p));
            }
        }
        let at = cell.span().start;
        if cell.has_attr("status") && !cell.has_attr("name") {
            self.found.add(at, "msgfile::orphan-tool-result");
            return (CellKind::ToolResult(Output::default()), None);
        }
        self.found.add(at, "msgfile::orphan-tool-call");
        (CellKind::ToolCall(Call::default()), None)
    }

    /// An output in a language that is no `P.n` of a code cell.
    fn execution(&mut self, cell: &RawCell) -> Sorted {
        let at = cell.span().start;
        let dotted = cell.id_span().is_some_and(|s| s.of(self.source).contains(&b'.'));
        if let Some(code) = self.answering.filter(|_| !dotted) {
            self.found.add(at, "msgfile::bound-by-position");
            let n = Some(self.next_execution(code));
            return (CellKind::ExecOutput(Execution { n, displays: Vec::new() }), Some(code));
        }
        let parent = self.parent_of(cell);
        if parent.is_some_and(|(_, last)| grammar::integer(last).is_some()) {
            self.found.add(at, "msgfile::exec-of-non-code-cell");
        } else {
            self.found.add(at, "msgfile::orphan-exec-output");
        }
        (CellKind::ExecOutput(Execution::default()), None)
    }

    fn next_execution(&self, code: usize) -> u32 {
        let CellKind::Code(it) = &self.cells[code - 1].kind else { return 1 };
        let n = |&o: &usize| match &self.cells[o - 1].kind {
            CellKind::ExecOutput(e) => e.n,
            _ => None,
        };
        it.executions.last().and_then(n).map_or(1, |n| n.saturating_add(1))
    }

    fn turn(&mut self, cell: &RawCell, agent: Option<Arc<str>>) -> Sorted {
        let at = cell.span().start;
        let is_reasoning = cell.is_flagged("reasoning");
        // An answer with a dotted id belongs to the cell that the id names (MF-15).
        let parent = self.parent_of(cell).map(|(p, _)| p);
        let reply_to = match cell.attr("reply_to") {
            Some(text) => {
                let to = self.refer(text.trim(), cell.ordinal());
                if to.is_none() {
                    self.found.add(at, "msgfile::orphan-reply");
                }
                to
            }
            None => parent.or(self.last_message).or_else(|| {
                self.found.add(at, "msgfile::output-before-message");
                None
            }),
        };
        (CellKind::Agent(Turn { agent, is_reasoning, reply_to, calls: Vec::new() }), parent)
    }
}
