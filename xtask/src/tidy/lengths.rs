//! Files stay short: a ratchet, with the exceptions named.

use super::House;
use crate::Res;

/// Lines of code that a file may have; blank lines and comments do not count.
const LIMIT: usize = 500;

/// Files that are longer, with the number of lines that they may not pass. A figure only ever goes
/// down; a file that has come under the limit leaves the table.
const EXCEPTIONS: &[(&str, usize)] = &[];

pub(crate) fn check(house: &House<'_>, breaches: &mut Vec<String>) -> Res {
    for file in &house.sources {
        let n_lines = code_lines(&file.text);
        let exception = EXCEPTIONS.iter().find(|(path, _)| *path == file.path).map(|(_, cap)| *cap);
        match exception {
            None if n_lines > LIMIT => {
                breaches.push(format!(
                    "{} has {n_lines} lines of code, {LIMIT} are allowed: split it",
                    file.path
                ));
            }
            Some(cap) if n_lines > cap => {
                breaches.push(format!(
                    "{} grew to {n_lines} lines of code, its exception says {cap}",
                    file.path
                ));
            }
            Some(cap) if n_lines < cap => {
                breaches.push(format!(
                    "{} shrank to {n_lines} lines of code: lower its exception of {cap}",
                    file.path
                ));
            }
            _ => {}
        }
    }
    for (path, cap) in EXCEPTIONS {
        if *cap <= LIMIT || !house.sources.iter().any(|it| it.path == *path) {
            breaches.push(format!("the exception of {path} is no longer needed"));
        }
    }
    Ok(())
}

/// Lines that are neither blank nor only a comment. Generated files count like others: a table that
/// long has a better form.
fn code_lines(text: &str) -> usize {
    text.lines().map(str::trim).filter(|it| !it.is_empty() && !it.starts_with("//")).count()
}

#[cfg(test)]
mod tests {
    use super::code_lines;

    #[test]
    fn comments_and_blank_lines_do_not_count() {
        assert_eq!(code_lines("//! doc\n\nfn a() { // why\n    // because\n}\n"), 2);
    }
}
