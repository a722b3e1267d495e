//! What was done, said as what to do: `inserted a placeholder result` as `insert a placeholder result`.
//!
//! A repair says what it did, a check what would help. Both find the same problems with the same code, so the sentence
//! is written once, in the past, and turned around where nothing was changed.

/// Verbs as they are written in a `fix`, and as advice.
const VERBS: &[(&str, &str)] = &[
    ("added", "add"),
    ("appended", "append"),
    ("completed", "complete"),
    ("corrected", "correct"),
    ("cut", "cut"),
    ("dropped", "drop"),
    ("given", "give"),
    ("inserted", "insert"),
    ("joined", "join"),
    ("made", "make"),
    ("merged", "merge"),
    ("moved", "move"),
    ("named", "name"),
    ("put", "put"),
    ("read", "read"),
    ("removed", "remove"),
    ("renamed", "rename"),
    ("replaced", "replace"),
    ("set", "set"),
    ("split", "split"),
    ("trimmed", "trim"),
    ("written", "write"),
    ("wrote", "write"),
];

/// Words that begin an object: a verb before one of them needs no `it`.
const OBJECTS: &[&str] = &["a", "all", "an", "it", "its", "the"];

/// The advice that a `fix` in the past amounts to; none if it is advice already.
pub(crate) fn advice(fix: &str) -> Option<String> {
    let end = fix.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(fix.len());
    let (verb, rest) = fix.split_at(end);
    let (past, base) = VERBS.iter().find(|it| it.0 == verb)?;
    let next = rest.trim_start();
    let word = next.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    let has_object = match *past {
        "given" | "made" => word == "it",
        "wrote" => true,
        _ => OBJECTS.contains(&word) || next.starts_with('`') && rest.starts_with(' '),
    };
    if has_object && past == base {
        return None;
    }
    let rest =
        if *past == "replaced" { rest.replacen(" by ", " with ", 1) } else { rest.to_owned() };
    Some(format!("{base}{}{rest}", if has_object { "" } else { " it" }))
}

#[cfg(test)]
mod tests {
    use super::advice;

    #[test]
    fn what_was_done_becomes_what_to_do() {
        for (done, to_do) in [
            ("inserted a placeholder result", "insert a placeholder result"),
            ("given a fresh id", "give it a fresh id"),
            ("merged into the one before", "merge it into the one before"),
            ("set to `x`", "set it to `x`"),
            ("set the placeholder signature", "set the placeholder signature"),
            ("removed", "remove it"),
            ("removed `cache_control`", "remove `cache_control`"),
            ("replaced by {}", "replace it with {}"),
            ("dropped, the other result is kept", "drop it, the other result is kept"),
            ("made valid JSON", "make it valid JSON"),
            ("made a user message", "make it a user message"),
            ("written as the API has it", "write it as the API has it"),
        ] {
            let advised = advice(done).unwrap_or_else(|| done.to_owned());
            assert_eq!(advised, to_do);
            assert_eq!(advice(&advised), None, "{advised} is advice already");
        }
    }

    #[test]
    fn other_sentences_stay() {
        for fix in ["--from x reads it", "", "`msg x` does", "answers a call of its pair", "reads"]
        {
            assert_eq!(advice(fix), None, "{fix}");
        }
    }
}
