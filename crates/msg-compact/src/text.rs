//! Texts that compaction makes of texts: a shortened output (CP-33) and a cleaned answer (CP-23).

use crate::request::Sink;

/// The head and the tail of a text over `cap` bytes, with a line that says how much is missing
/// between them; the result has at most `cap` bytes, which is at least 64 (CP-33).
pub(crate) fn truncate_output(text: &str, cap: usize, head_percent: usize) -> String {
    let marker = |bytes: usize| format!("\n[... {bytes} bytes omitted ...]\n");
    let room = cap.max(MIN_CAP).saturating_sub(marker(text.len()).len());
    let head_room = room * head_percent.min(100) / 100;
    let head = floor_boundary(text, head_room);
    let tail = text.len() - ceil_boundary(text, text.len() - (room - head_room).min(text.len()));
    let omitted = text.len() - head - tail;
    format!("{}{}{}", &text[..head], marker(omitted), &text[text.len() - tail..])
}

/// The smallest cap: shorter than that the marker would be most of it.
pub(crate) const MIN_CAP: usize = 64;

fn floor_boundary(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn ceil_boundary(text: &str, mut at: usize) -> usize {
    while at < text.len() && !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

/// An answer without white space around it and without the thinking that a model may put first.
pub(crate) fn clean_answer(answer: &str) -> &str {
    let mut rest = answer.trim();
    loop {
        let after = ["think", "thinking"].iter().find_map(|tag| {
            let inner = rest.strip_prefix('<')?.strip_prefix(tag)?.strip_prefix('>')?;
            inner.split_once(&format!("</{tag}>")).map(|it| it.1)
        });
        match after {
            Some(after) => rest = after.trim_start(),
            None => return rest,
        }
    }
}

/// FNV-1a with 64 bits, of texts as if they were one.
pub(crate) struct Fnv(u64);

impl Fnv {
    pub(crate) fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    pub(crate) fn finish(self) -> u64 {
        self.0
    }
}

impl Sink for Fnv {
    fn push_str(&mut self, text: &str) {
        self.0 = text
            .bytes()
            .fold(self.0, |hash, it| (hash ^ u64::from(it)).wrapping_mul(0x100_0000_01b3));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shortened_output_stays_within_its_cap_and_does_not_change_again() {
        let text = "0123456789€".repeat(100);
        for cap in 64..300 {
            let once = truncate_output(&text, cap, 50);
            assert!(once.len() <= cap, "{} > {cap}", once.len());
        }
    }

    #[test]
    fn thinking_before_an_answer_is_taken_off() {
        assert_eq!(clean_answer(" <think>a</think>\n<thinking>b</thinking> c "), "c");
        assert_eq!(clean_answer("<think>open"), "<think>open");
        assert_eq!(clean_answer("<thinking>all</thinking>"), "");
    }
}
