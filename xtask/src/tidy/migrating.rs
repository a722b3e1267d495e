//! The names of docs/migrating.md are names of the code: those on the right exist, and those of the reference
//! systems on the left are found by a search of the API documentation (`doc(alias)`, or the name itself).

use std::collections::HashSet;

use super::House;
use crate::Res;

const PAGE: &str = "docs/migrating.md";

pub(crate) fn check(house: &House<'_>, breaches: &mut Vec<String>) -> Res {
    let sources = house.sources.iter().filter(|it| it.path.contains("/src/"));
    let known: HashSet<String> = sources.flat_map(|it| words(&it.text)).map(plain).collect();
    let page = house.workspace.read(PAGE)?;
    for line in page.lines() {
        let mut columns = line.trim_matches('|').split(" | ");
        let (Some(left), Some(right)) = (columns.next(), columns.next()) else { continue };
        let left = code(left).flat_map(words).filter(|it| is_name(it));
        for name in left.chain(code(right).flat_map(words)) {
            if !known.contains(&plain(name)) {
                breaches.push(format!("{PAGE}: nothing is called `{name}`"));
            }
        }
    }
    Ok(())
}

/// The text between back quotes.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_word = |it: char| it.is_alphanumeric() || it == '_';
    text.split(move |it: char| !is_word(it)).filter(|it| it.starts_with(char::is_alphabetic))
}

/// Whether it is a name of several words, as types and functions of the reference systems are.
fn is_name(word: &str) -> bool {
    word.chars().filter(char::is_ascii_uppercase).count() > 1
}

/// A name as a search compares it.
fn plain(name: &str) -> String {
    name.replace('_', "").to_lowercase()
}
