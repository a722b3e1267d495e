//! Links from page to page lead somewhere.

use std::path::Path;

use super::House;
use crate::Res;

pub(crate) fn check(house: &House<'_>, breaches: &mut Vec<String>) -> Res {
    let written = house.pages.iter().filter(|it| !it.path.contains("test_data/"));
    for page in written {
        let folder = Path::new(&page.path).parent().unwrap_or(Path::new(""));
        for target in targets(&page.text) {
            if !house.workspace.root.join(folder).join(target).exists() {
                breaches.push(format!("{}: {target} does not exist", page.path));
            }
        }
    }
    Ok(())
}

/// The files that a page links to, without fragments; links to the web and within the page left out.
fn targets(page: &str) -> Vec<&str> {
    let mut res = Vec::new();
    let mut in_code = false;
    for line in page.lines() {
        in_code ^= line.trim_start().starts_with("```");
        if in_code {
            continue;
        }
        // Text between backquotes may look like a link.
        for prose in line.split('`').step_by(2) {
            for (_, rest) in
                prose.split("](").skip(1).filter_map(|it| Some((it, it.split_once(')')?.0)))
            {
                let target = rest.split('#').next().unwrap_or_default();
                if !target.is_empty() && !target.contains("://") && !target.starts_with("mailto:") {
                    res.push(target);
                }
            }
        }
    }
    res
}

#[cfg(test)]
mod tests {
    use super::targets;

    #[test]
    fn only_links_to_files_count() {
        let page = "[a](b.md#c) and [d](https://e) `[f](g)` [h](#i)\n```\n[j](k)\n```\n[l](m/n.md)";
        assert_eq!(targets(page), ["b.md", "m/n.md"]);
    }
}
