//! Phrases that made readers stumble are not written again, in comments, texts and pages.
//!
//! Each is followed by what to write instead. The rule reads lines as text; names of code have no blanks, so that
//! only prose can match a phrase of two words.

use super::House;
use crate::Res;

/// Lines of `phrase = what an English-speaking engineer would write`.
const PHRASES: &str = include_str!("words.txt");

pub(crate) fn check(house: &House<'_>, breaches: &mut Vec<String>) -> Res {
    let sources = house.sources.iter().filter(|it| it.path.contains("/src/"));
    for file in sources.chain(&house.pages) {
        for (at, line) in file.text.lines().enumerate() {
            for (phrase, instead) in found(line) {
                breaches.push(format!("{}:{}: `{phrase}`, write `{instead}`", file.path, at + 1));
            }
        }
    }
    Ok(())
}

/// The phrases of a line, as whole words.
fn found(line: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let line = line.to_lowercase();
    PHRASES
        .lines()
        .filter_map(|it| it.split_once(" = "))
        .filter(move |(phrase, _)| is_in(&line, phrase))
}

fn is_in(line: &str, phrase: &str) -> bool {
    let is_word = |it: Option<char>| it.is_some_and(|it| it.is_alphanumeric() || "_-".contains(it));
    line.match_indices(phrase).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + phrase.len()..]);
        !is_word(before.chars().next_back()) && !is_word(after.chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::found;

    #[test]
    fn phrases_are_found_as_whole_words() {
        for (phrase, _) in super::PHRASES.lines().filter_map(|it| it.split_once(" = ")) {
            assert_eq!(
                found(&format!("// A record, {phrase} of it")).map(|it| it.0).collect::<Vec<_>>(),
                [phrase]
            );
            assert_eq!(found(&format!("let a_{phrase}_of = {phrase}s-{phrase};")).count(), 0);
        }
    }
}
