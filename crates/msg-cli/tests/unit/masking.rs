//! A key in pieces.

use super::Masking;

#[test]
fn a_key_in_pieces_is_masked() {
    let text = "sk-s, sk-secret and sk-sk-secrets";
    for cut in (0..text.len()).chain([text.len()]) {
        for end in cut..=text.len() {
            let mut it = Masking::of(Some("sk-secret"));
            let pieces = [&text[..cut], &text[cut..end], &text[end..]];
            let shown = pieces.map(|piece| it.piece(piece)).concat() + &it.rest();
            assert_eq!(shown, "sk-s, [key] and sk-[key]s");
        }
    }
}

#[test]
fn nothing_waits_without_a_key_or_for_a_word() {
    for key in [None, Some("ab")] {
        let mut it = Masking::of(key);
        assert_eq!((it.piece("cab"), it.rest()), ("cab".to_owned(), String::new()));
    }
}
