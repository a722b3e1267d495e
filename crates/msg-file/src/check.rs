//! What `msg file check` finds beside the diagnostics of reading (MF-50).

use crate::diag::Findings;
use crate::document::Document;
use crate::history::record_end::{end_in, headings};
use crate::limits::Limits;
use msg_core::Diagnostic;
use std::collections::HashMap;

impl Document {
    /// All diagnostics: those of reading and the hints that only a check gives.
    ///
    /// ```
    /// use msg_file::{Document, Mode};
    /// let doc = Document::parse(&b"# %%\n\n    indented\n"[..], Mode::MessageFile)?;
    /// assert_eq!(doc.check()[0].code, "msgfile::body-indented-code");
    /// # Ok::<(), msg_file::Error>(())
    /// ```
    #[must_use]
    pub fn check(&self) -> Vec<Diagnostic> {
        let mut found = Findings::of(&self.source, Limits::default().max_diagnostics);
        id_case(self, &mut found);
        for cell in self.cells() {
            let body = cell.raw.bodies()[0].of(self.bytes());
            if body.starts_with(b"    ") || body.starts_with(b"\t") {
                let at = cell.raw.bodies()[0].start;
                found.add(at, "msgfile::body-indented-code");
            }
        }
        text_after_section(self, &mut found);
        let mut all = self.diagnostics().to_vec();
        all.extend(found.finish().into_vec());
        all.sort_by(|a, b| (a.at.line, &a.code).cmp(&(b.at.line, &b.code)));
        all
    }
}

/// GFM compares footnote labels without case, so such ids lead to one note.
fn id_case(doc: &Document, found: &mut Findings) {
    let mut seen: HashMap<String, String> = HashMap::new();
    for cell in doc.cells() {
        let Some(id) = cell.id() else { continue };
        match seen.get(&id.to_lowercase()) {
            Some(other) if *other != *id => {
                let at = cell.raw.heading_line().start;
                found.add(at, "msgfile::id-case-collision");
            }
            Some(_) => {}
            None => drop(seen.insert(id.to_lowercase(), id.into_owned())),
        }
    }
}

/// Headings in cells that a reader would take for the end of the section: what follows is not sent.
fn text_after_section(doc: &Document, found: &mut Findings) {
    const CODE: &str = "msgfile::text-after-section";
    for at in doc.cells().iter().filter_map(|it| end_in(doc, it)) {
        found.add(at, CODE);
    }
    let (Some(section), Some(last)) = (doc.section(), doc.cells().last()) else { return };
    let spans = last.raw.bodies();
    for (at, _) in headings(doc.bytes(), spans, section.level, &doc.syntax.fences) {
        found.tell(
            at,
            CODE,
            "the heading ends the section for a reader, but is text of the last cell",
        );
    }
}
