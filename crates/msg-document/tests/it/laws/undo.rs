//! The law of plans of documents (CP-62). Shared by the cases and by the fuzz target of the same name.

use msg_document::{Digest, Document, FitOptions, Fitter, Goal, ReadOptions};

/// A document that was made to fit comes back as the bytes that it was, whatever its format. Nothing is said of what
/// cannot be read, be a chain or be written. Gives whether anything was cut.
pub(crate) fn undoing_gives_back_the_document(text: &[u8], name: &str, budget: i64) -> bool {
    let Some((plan, written, read)) = fitted(text, name, budget) else { return false };
    let mut again = Document::read(&written, &read).expect("because what is written is read");
    again.set_source(written.clone());
    let plan = serde_json::to_string(&plan).expect("because a plan is JSON");
    let plan = Goal::read_plan(&plan).expect("because it is a plan");
    let undone = Goal::Undo.reach_document(&plan, again, &written);
    let (undone, _) = undone.unwrap_or_else(|it| panic!("{it}: {}", String::from_utf8_lossy(text)));
    let (undone, source) = (undone.escape_ascii(), text.escape_ascii());
    assert_eq!(undone.to_string(), source.to_string());
    written != text
}

fn fitted(
    text: &[u8],
    name: &str,
    budget: i64,
) -> Option<(msg_compact::Plan, Vec<u8>, ReadOptions)> {
    let read = ReadOptions::default().with_name(name.to_owned());
    let mut document = Document::read(text, &read).ok()?;
    let format = document.format();
    document.set_source(text.to_vec());
    let options = FitOptions {
        repair: true,
        open: true,
        best_effort: true,
        plan: true,
        ..FitOptions::default().with_budget(budget)
    };
    let fitter = Fitter::new(options).expect("because these are options");
    let before = document.messages().to_vec();
    let mut fitted = fitter.fit_document(&mut document, &Digest).ok()?;
    let written = fitted.write_into(&mut document)?;
    fitted.plan_as_written((text, &before), &document, &written);
    let plan = fitted.plan.expect("because one was wanted");
    Some((plan, written, read.with_from(Some(format))))
}
