//! Writes the index of `docs/formats/` from the title and the first sentence of each page.

use std::fmt::Write as _;

use super::Output;
use crate::Res;
use crate::workspace::Workspace;

const FOLDER: &str = "docs/formats/";

const HEAD: &str = "\
# Formats

What each area reads and writes, as numbered rules. Code, tests and [diagnostics](../diagnostics.md) cite a
rule by its number (`CA-30`), and `cargo xtask tidy` checks that it is on one of these pages.

This index is written by `cargo xtask codegen` from the pages.

";

pub(crate) fn generate(workspace: &Workspace) -> Res<Vec<Output>> {
    let index = format!("{FOLDER}README.md");
    let mut text = HEAD.to_owned();
    for page in workspace.files(&["md"])? {
        let Some(name) = page.path.strip_prefix(FOLDER).filter(|_| page.path != index) else {
            continue;
        };
        let (title, sentence) =
            opening(&page.text).ok_or_else(|| format!("{} has no title and text", page.path))?;
        writeln!(text, "- [{title}]({name}): {sentence}")?;
    }
    Ok(vec![Output { path: index, text }])
}

/// The title of a page and the first sentence after it.
fn opening(page: &str) -> Option<(&str, String)> {
    let (title, rest) = page.strip_prefix("# ")?.split_once('\n')?;
    let is_prose = |it: &&str| !it.is_empty() && !it.starts_with(['<', '#', '|', '-', '`', '>']);
    let paragraph = rest.split("\n\n").map(str::trim).find(is_prose)?;
    let words = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    let end = words.find(". ").map_or(words.len(), |it| it + 1);
    Some((title.trim(), words[..end].to_owned()))
}

#[cfg(test)]
mod tests {
    use super::opening;

    #[test]
    fn the_first_sentence_of_prose_counts() {
        let page = "# Message files\n\n<!-- note -->\n\nA file of\ncells. More of it.\n\nNext.\n";
        assert_eq!(opening(page), Some(("Message files", "A file of cells.".to_owned())));
        assert_eq!(opening("no title\n"), None);
    }
}
