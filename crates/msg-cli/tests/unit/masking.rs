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

#[test]
fn bytes_hold_no_key_however_they_are_cut() {
    let whole = b"{\"id\":\"sk-secret-1\",\"model\":\"sk-sk-secret-1\"}";
    for len in 1..whole.len() {
        let mut masking = Masking::of(Some("sk-secret-1"));
        let mut out: Vec<u8> = whole.chunks(len).flat_map(|it| masking.bytes(it)).collect();
        out.extend(masking.rest_of_bytes());
        assert_eq!(out, b"{\"id\":\"[key]\",\"model\":\"sk-[key]\"}", "{len}");
    }
}
