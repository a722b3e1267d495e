//! UI messages whose answers have steps: one element for all steps of an answer, as the Vercel AI SDK keeps them, where
//! a writer makes an element of each.
//!
//! ```text
//! [{"role":"assistant","parts":[A]},{"role":"assistant","parts":[B]}]
//! [{"role":"assistant","parts":[{"type":"step-start"},A,{"type":"step-start"},B]}]
//! ```

use super::level::{Entry, Level};

const STEP: &str = r#"{"type":"step-start"}"#;

/// How a document says where steps of an answer begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Steps {
    /// Before each of them.
    Each,
    /// Between two.
    Between,
}

impl Steps {
    /// How this document does; nothing where it does not.
    pub(crate) fn of(source: &str) -> Option<Self> {
        let mut found = None;
        for (at, _) in source.match_indices("\"step-start\"") {
            let before = source[..at].trim_end_matches(['"', ':', ' ', '\n', '\r', '\t']);
            let before =
                before.trim_end_matches("type").trim_end_matches(['"', '{', ' ', '\n', '\r', '\t']);
            if before.ends_with('[') {
                return Some(Steps::Each);
            }
            found = Some(Steps::Between);
        }
        found
    }
}

/// The list with one element for the answers side by side. Linear.
pub(crate) fn joined_steps(list: &str, steps: Steps) -> String {
    let Some(level) = Level::of(list) else { return list.to_owned() };
    let mut res: Vec<String> = Vec::with_capacity(level.entries.len());
    // The parts of the answer that the last element is, and the bytes of the element around them.
    let mut open: Option<(String, &str)> = None;
    for it in &level.entries {
        let answer = answer(it.value);
        match (answer, &mut open) {
            (Some((_, parts, _)), Some((last, _))) => {
                *last += ",";
                *last += STEP;
                *last += ",";
                *last += parts;
            }
            (Some((before, parts, after)), None) => {
                let first = match steps {
                    Steps::Each => format!("{before}{STEP},{parts}"),
                    Steps::Between => format!("{before}{parts}"),
                };
                open = Some((first, after));
            }
            (None, _) => {
                res.extend(open.take().map(|(it, after)| it + after));
                res.push(it.value.to_owned());
            }
        }
    }
    res.extend(open.map(|(it, after)| it + after));
    format!("[{}]", res.join(","))
}

/// The parts of an answer that has some, and what is before and after them.
fn answer(element: &str) -> Option<(&str, &str, &str)> {
    let level = Level::of(element).filter(|_| element.starts_with('{'))?;
    let member = |name: &str| {
        let is_it = |it: &&Entry<'_>| it.key.as_ref().is_some_and(|it| it.text == name);
        level.entries.iter().find(is_it).map(|it| it.value)
    };
    let parts = member("parts").filter(|it| it.starts_with('[') && it.len() > 2)?;
    if member("role") != Some("\"assistant\"") {
        return None;
    }
    let start = parts.as_ptr() as usize - element.as_ptr() as usize;
    let end = start + parts.len();
    Some((&element[..start + 1], &element[start + 1..end - 1], &element[end - 1..]))
}
