//! The table of categories (MF-14): the first row that fits counts.

use super::Pass;
use crate::agents::boolean;
use crate::cell::Cell;
use crate::diag::Findings;
use crate::grammar;
use crate::kinds::{Ask, Call, CellKind, Code, Execution, Output, Turn};
use std::borrow::Cow;
use std::sync::Arc;

/// Whether a type, in lower case, is one of the languages of MF-14.
pub(crate) fn is_language(lower: &str) -> bool {
    const LANGUAGES: &[&str] = &[
        "py",
        "python",
        "python3",
        "ipython",
        "bash",
        "sh",
        "shell",
        "zsh",
        "fish",
        "powershell",
        "javascript",
        "js",
        "typescript",
        "ts",
        "node",
        "rust",
        "go",
        "c",
        "cpp",
        "c++",
        "java",
        "kotlin",
        "ruby",
        "perl",
        "php",
        "lua",
        "r",
        "julia",
        "sql",
        "sqlite",
        "html",
        "json",
        "swift",
        "scala",
        "haskell",
        "ocaml",
        "elixir",
        "tcl",
        "lang",
    ];
    LANGUAGES.contains(&lower)
}

impl<'a> Pass<'a> {
    /// The type as written; borrowed from the file, not from the cell.
    fn type_text(&self, cell: &Cell) -> Option<Cow<'a, str>> {
        cell.ty().map(|t| String::from_utf8_lossy(t.of(self.source)))
    }
}

/// A text in ASCII lower case.
pub(crate) fn lower_case(text: &str) -> Cow<'_, str> {
    if text.bytes().any(|b| b.is_ascii_uppercase()) {
        Cow::Owned(text.to_ascii_lowercase())
    } else {
        Cow::Borrowed(text)
    }
}

impl Pass<'_> {
    pub(super) fn message(
        &mut self,
        cells: &mut [Cell],
        i: usize,
        found: &mut Findings,
    ) -> CellKind {
        let ty = self.type_text(&cells[i]);
        let lower = ty.as_deref().map(lower_case);
        match lower.as_deref() {
            None | Some("markdown" | "md" | "message") => CellKind::User(self.ask(&cells[i], None)),
            Some("code") => {
                CellKind::Code(Code { ask: self.ask(&cells[i], None), executions: Vec::new() })
            }
            Some("raw") => CellKind::Raw(self.ask(&cells[i], None)),
            Some("agent") => self.agent_def(&cells[i], found),
            Some("set") => self.directive(&cells[i], found),
            Some("function_call") => {
                let parent =
                    self.parent_of(&cells[i]).filter(|(p, _)| cells[p - 1].kind.may_call());
                cells[i].at.parent = parent.map(|(p, _)| p).into();
                let nonce = parent.map(|(_, nonce)| nonce.to_owned());
                CellKind::ToolCall(Call { nonce, results: Vec::new() })
            }
            Some(_) => {
                let named = ty.as_deref().and_then(|t| self.registry.registered(t));
                if named.is_none() {
                    let at = cells[i].head().line.start;
                    found.warning(
                        at,
                        "msgfile::unknown-message-type",
                        "the type of the message is not known; it is read as markdown",
                    );
                }
                CellKind::User(self.ask(&cells[i], named))
            }
        }
    }

    /// Who should answer: the addressee, else the default here.
    fn ask(&self, cell: &Cell, named: Option<Arc<str>>) -> Ask {
        let by_attr =
            || cell.attr("agent").filter(|a| !a.is_empty()).map(|a| self.registry.name(&a));
        let addressee = named.or_else(by_attr);
        let addressed = addressee.is_some();
        Ask { agent: addressee.or_else(|| self.registry.current()), addressed, calls: Vec::new() }
    }

    pub(super) fn output(
        &mut self,
        cells: &mut [Cell],
        i: usize,
        found: &mut Findings,
    ) -> CellKind {
        let ty = self.type_text(&cells[i]);
        let lower = ty.as_deref().map(lower_case);
        match lower.as_deref() {
            Some("tool") => return self.tool(cells, i, found),
            Some("summary") => return self.summary(cells, i, found),
            _ => {}
        }
        let parent = self.parent_of(&cells[i]);
        if let Some((p, n)) = parent.and_then(|(p, last)| Some((p, grammar::integer(last)?))) {
            let kind = match cells[p - 1].kind {
                CellKind::Code(_) => {
                    Some(CellKind::ExecOutput(Execution { n: Some(n), displays: Vec::new() }))
                }
                CellKind::ExecOutput(_) => Some(CellKind::ExecDisplay(Output { n: Some(n) })),
                _ => None,
            };
            if let Some(kind) = kind {
                cells[i].at.parent = Some(p).into();
                return kind;
            }
        }
        if let Some(name) = ty.as_deref().and_then(|t| self.registry.registered(t)) {
            return self.turn(&mut cells[i], Some(name), found);
        }
        if lower.as_deref().is_some_and(is_language) {
            return self.execution(cells, i, found);
        }
        let at = cells[i].head().line.start;
        let agent = match (&ty, lower.as_deref()) {
            (None, _) | (_, Some("output" | "markdown" | "md")) => {
                found.info(
                    at,
                    "msgfile::agent-implicit",
                    "the output names no agent; the default agent's it is",
                );
                self.registry.current()
            }
            (Some(name), _) => {
                let (name, new) = self.registry.implicit(name, i + 1);
                if new {
                    found.info(
                        at,
                        "msgfile::unregistered-agent",
                        format!("the agent `{name}` is not registered"),
                    );
                }
                Some(name)
            }
        };
        self.turn(&mut cells[i], agent, found)
    }

    fn tool(&self, cells: &mut [Cell], i: usize, found: &mut Findings) -> CellKind {
        let at = cells[i].head().line.start;
        if let Some((p, last)) = self.parent_of(&cells[i]) {
            let number = grammar::integer(last);
            let parent = &cells[p - 1].kind;
            if let (CellKind::ToolCall(_), Some(n)) = (parent, number) {
                cells[i].at.parent = Some(p).into();
                return CellKind::ToolResult(Output { n: Some(n) });
            }
            if parent.may_call() {
                cells[i].at.parent = Some(p).into();
                return CellKind::ToolCall(Call {
                    nonce: Some(last.to_owned()),
                    results: Vec::new(),
                });
            }
        }
        if cells[i].has_attr("status") && !cells[i].has_attr("name") {
            found.warning(at, "msgfile::orphan-tool-result", "the result belongs to no call");
            return CellKind::ToolResult(Output::default());
        }
        found.warning(at, "msgfile::orphan-tool-call", "the call belongs to no turn");
        CellKind::ToolCall(Call::default())
    }

    /// An output in a language that is no `P.n` of a code cell.
    fn execution(&self, cells: &mut [Cell], i: usize, found: &mut Findings) -> CellKind {
        let at = cells[i].head().line.start;
        let dotted = cells[i].id_span().is_some_and(|s| s.of(self.source).contains(&b'.'));
        if let Some(code) = self.answering.filter(|_| !dotted) {
            cells[i].at.parent = Some(code).into();
            let n = self.next_execution(cells, code);
            found.info(
                at,
                "msgfile::bound-by-position",
                "the output belongs to the code cell before it",
            );
            return CellKind::ExecOutput(Execution { n: Some(n), displays: Vec::new() });
        }
        let below =
            self.parent_of(&cells[i]).is_some_and(|(_, last)| grammar::integer(last).is_some());
        if below {
            found.info(
                at,
                "msgfile::exec-of-non-code-cell",
                "the output hangs below a cell that holds no code",
            );
        } else {
            found.warning(at, "msgfile::orphan-exec-output", "the output belongs to no code cell");
        }
        CellKind::ExecOutput(Execution::default())
    }

    fn next_execution(&self, cells: &[Cell], code: usize) -> u32 {
        let CellKind::Code(it) = &cells[code - 1].kind else { return 1 };
        let n = |&o: &usize| match &cells[o - 1].kind {
            CellKind::ExecOutput(e) => e.n,
            _ => None,
        };
        it.executions.last().and_then(n).map_or(1, |n| n.saturating_add(1))
    }

    fn turn(&self, cell: &mut Cell, agent: Option<Arc<str>>, found: &mut Findings) -> CellKind {
        let at = cell.head().line.start;
        let is_reasoning = cell
            .raw_attr("reasoning")
            .is_some_and(|a| cell.value(a).is_none_or(|v| boolean(&v) == Some(true)));
        // An answer with a dotted id belongs to the cell that the id names (MF-15).
        cell.at.parent = self.parent_of(cell).map(|(p, _)| p).into();
        let reply_to = match cell.attr("reply_to") {
            Some(text) => {
                let to = self.refer(text.trim(), cell.ordinal());
                if to.is_none() {
                    found.warning(at, "msgfile::orphan-reply", "`reply_to` names no earlier cell");
                }
                to
            }
            None => cell.parent().or(self.last_message).or_else(|| {
                found.warning(
                    at,
                    "msgfile::output-before-message",
                    "there is nothing earlier that this could answer",
                );
                None
            }),
        };
        CellKind::Agent(Turn { agent, is_reasoning, reply_to, calls: Vec::new() })
    }
}

#[cfg(test)]
mod tests {
    use super::is_language;

    #[test]
    fn languages() {
        assert!(is_language("py") && is_language("c++") && is_language("lang"));
        assert!(!is_language("") && !is_language("pyth") && !is_language("c cpp"));
    }
}
