//! Marks of an excerpt.

use super::{FRAME, Mark, Piece, pieces, span};

#[test]
fn a_mark_is_read_as_it_was_written() {
    let plain = Mark { at: 17, bytes: 4, ..Mark::default() };
    let image = Mark { halves: 2, len: Some(9), size: Some((3, 4)), ..plain };
    let looked = Mark { look: Some(crate::link::Look::Png), is_context: true, ..image };
    for mark in [plain, image, looked, Mark { is_mended: true, ..looked }] {
        assert_eq!(Mark::read(&mark.json()), Some(mark));
    }
    assert_eq!(Mark::read("\"17\""), None);
}

#[test]
fn a_text_is_its_pieces() {
    let mark = Mark { at: 3, bytes: 5, ..Mark::default() }.json();
    let text = format!("a{mark}{mark}{}b{FRAME}", span(4..9));
    let show = |it| match it {
        Piece::Text(it) => it.to_owned(),
        Piece::Mark(it) => format!("<{}+{}>", it.at, it.bytes),
        Piece::Span(it) => format!("{it:?}"),
    };
    let found: Vec<_> = pieces(&text).map(show).collect();
    assert_eq!(found, ["a", "<3+5>", "<3+5>", "4..9", &format!("b{FRAME}")]);
}
