//! A rule that code cites (`CA-30`) is on a page in `docs/formats/`.

use std::collections::BTreeSet;

use super::House;
use crate::Res;

/// The areas whose pages number their rules.
const AREAS: &[&str] = &["CA", "CP", "MF", "MS", "OA", "SE", "XT"];

pub(crate) fn check(house: &House<'_>, breaches: &mut Vec<String>) -> Res {
    let pages = house.pages.iter().filter(|it| it.path.starts_with("docs/formats/"));
    let stated: BTreeSet<String> = pages.flat_map(|it| citations(&it.text)).collect();
    for file in house.sources.iter().filter(|it| it.path.starts_with("crates/")) {
        for (at, line) in file.text.lines().enumerate() {
            for rule in citations(line).into_iter().filter(|it| !stated.contains(it)) {
                breaches.push(format!(
                    "{}:{}: {rule} is on no page of docs/formats",
                    file.path,
                    at + 1
                ));
            }
        }
    }
    Ok(())
}

fn citations(text: &str) -> Vec<String> {
    let is_word = |it: char| it.is_ascii_alphanumeric() || it == '-';
    let mut res = Vec::new();
    for word in text.split(|it| !is_word(it)) {
        if let Some((area, number)) = word.split_once('-')
            && AREAS.contains(&area)
            && !number.is_empty()
            && number.bytes().all(|it| it.is_ascii_digit())
        {
            res.push(word.to_owned());
        }
    }
    res
}

#[cfg(test)]
mod tests {
    use super::citations;

    #[test]
    fn only_rules_of_the_areas_are_citations() {
        assert_eq!(
            citations("UTF-8 (CA-30, **XT-9**: CA-7a, MS-1 to MS-2"),
            ["CA-30", "XT-9", "MS-1", "MS-2"]
        );
    }
}
