//! Files stay short.

use super::House;
use crate::Res;

/// Lines of code that a file may have; blank lines and comments do not count.
const LIMIT: usize = 500;

pub(crate) fn check(house: &House<'_>, breaches: &mut Vec<String>) -> Res {
    for file in &house.sources {
        let n_lines = code_lines(&file.text);
        if n_lines > LIMIT {
            let path = &file.path;
            breaches
                .push(format!("{path} has {n_lines} lines of code, {LIMIT} are allowed: split it"));
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
