//! Lines in blocks, however they arrive.

use super::*;

/// Gives `step` bytes a read.
struct Dribble<'a>(&'a [u8], usize);

impl Read for Dribble<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.1.min(self.0.len()).min(buf.len());
        buf[..n].copy_from_slice(&self.0[..n]);
        self.0 = &self.0[n..];
        Ok(n)
    }
}

fn lines(text: &str, step: usize, limit: u64) -> Vec<(u64, String, bool)> {
    let mut blocks = Blocks::new(Dribble(text.as_bytes(), step), limit);
    let mut res = Vec::new();
    while let Some(block) = blocks.next().expect("because Dribble never fails") {
        if block.too_long {
            res.push((block.first_line, String::new(), true));
        }
        for (n, line) in block.bytes.split_inclusive(|it| *it == b'\n').enumerate() {
            let line = String::from_utf8_lossy(line).trim_end_matches('\n').to_owned();
            res.push((block.first_line + n as u64, line, false));
        }
    }
    res
}

#[test]
fn every_chunking_gives_the_same_lines() {
    let text = "a\n\nbc\n  \nlast";
    let want = ["a", "", "bc", "  ", "last"];
    let want: Vec<_> = want.iter().zip(1..).map(|(it, n)| (n, (*it).to_owned(), false)).collect();
    for step in 1..=text.len() {
        assert_eq!(lines(text, step, 100), want, "step {step}");
    }
}

#[test]
fn a_line_beyond_the_limit_is_passed_over() {
    let text = format!("a\n{}\nb\n", "x".repeat(3 * READ));
    let want =
        vec![(1, "a".to_owned(), false), (2, String::new(), true), (3, "b".to_owned(), false)];
    assert_eq!(lines(&text, 1000, 10), want);
}
