//! The Rust examples of the pages run as tests: each page that has one is listed in `doc-examples`.

use super::House;
use crate::Res;

const LISTED_IN: &str = "crates/doc-examples/src/lib.rs";

pub(crate) fn check(house: &House<'_>, breaches: &mut Vec<String>) -> Res {
    let list = house.workspace.read(LISTED_IN)?;
    let is_ours = |path: &str| path.starts_with("docs/") || !path.contains('/');
    for page in house.pages.iter().filter(|it| is_ours(&it.path)) {
        let has_example = page.text.lines().any(|it| it.starts_with("```rust"));
        let is_listed = list.contains(&format!("../../../{}\"", page.path));
        if has_example != is_listed {
            let verb = if is_listed { "is listed without need" } else { "is not listed" };
            breaches.push(format!("{} {verb} in {LISTED_IN}", page.path));
        }
        let unnamed = unnamed_blocks(&page.text);
        if !unnamed.is_empty() {
            breaches.push(format!(
                "{}: code blocks without a language in lines {unnamed:?}",
                page.path
            ));
        }
    }
    Ok(())
}

/// The lines that open a code block and do not say what is in it; rustdoc takes that for Rust.
fn unnamed_blocks(page: &str) -> Vec<usize> {
    let mut fence = None;
    let mut res = Vec::new();
    for (at, line) in page.lines().enumerate() {
        let line = line.trim_start();
        let ticks = line.len() - line.trim_start_matches('`').len();
        match fence {
            None if ticks >= 3 => {
                fence = Some(ticks);
                if line.len() == ticks {
                    res.push(at + 1);
                }
            }
            Some(open) if ticks >= open && line.len() == ticks => fence = None,
            _ => {}
        }
    }
    res
}

#[cfg(test)]
mod tests {
    use super::unnamed_blocks;

    #[test]
    fn only_opening_fences_need_a_language() {
        assert_eq!(unnamed_blocks("```json\n{}\n```\n\n```\nx\n```\n````md\n```\n````\n"), [5]);
    }
}
