//! Phrases that made readers stumble are not written again, in comments, texts and pages.
//!
//! Each is followed by what to write instead. The rule reads lines as text; names of code have no blanks, so that
//! only prose can match a phrase of two words.

use super::House;
use crate::Res;

/// A phrase, and what an English-speaking engineer would write.
const PHRASES: &[(&str, &str)] = &[
    ("behind", "after"),
    ("bears", "has"),
    ("nobody", "name the subject: `unknown`, `no caller`"),
    ("so manieth", "nth"),
    ("stand", "be"),
    ("standing", "being"),
    ("stands", "is"),
    ("stood", "was"),
    ("have not the", "do not have the"),
    ("has not the", "does not have the"),
    ("are no json", "are not JSON"),
    ("are no utf-8", "are not UTF-8"),
    ("is no array", "is not an array"),
    ("is no call", "is not a call"),
    ("is no json", "is not JSON"),
    ("is no list", "is not a list"),
    ("is no name", "is not a name"),
    ("is no object", "is not an object"),
    ("is no request", "is not a request"),
    ("is no string", "is not a string"),
    ("is no such", "is not such a"),
    ("is no text", "is not text"),
];

pub(crate) fn check(house: &House<'_>, breaches: &mut Vec<String>) -> Res {
    let sources = house
        .sources
        .iter()
        .filter(|it| it.path.contains("/src/") && !it.path.ends_with("tidy/words.rs"));
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
    PHRASES.iter().copied().filter(move |(phrase, _)| is_in(&line, phrase))
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
        let count = |line: &str| found(line).count();
        assert_eq!(count("// The record stands there twice, behind it"), 2);
        assert_eq!(count("//! Stands for nothing"), 1);
        assert_eq!(count("let stands_for = after_item(nobodys);"), 0);
        assert_eq!(count("// text after the call"), 0);
    }
}
