//! What reaches a terminal.

use super::*;

#[test]
fn nothing_commands_a_terminal() {
    assert_eq!(visible("a\tb\nc"), "a\tb\nc");
    assert_eq!(visible("a\x1b[2J\r\nb\rc\x7f\u{9b}31m"), "a␛[2J\nb␍c␡\u{fffd}31m");
    assert_eq!(visible("\u{202e}x\u{2066}\u{200f}é中"), "\u{fffd}x\u{fffd}\u{fffd}é中");
    let coloured = "\x1b[1;31merror\x1b[0m";
    assert_eq!(visible_but_colours(coloured), coloured);
    assert_eq!(visible_but_colours("\x1b[2J\x1b]0;x\x07\x1b["), "␛[2J␛]0;x␇␛[");
    assert_eq!(visible(coloured), "␛[1;31merror␛[0m");
}

#[test]
fn names_stay_on_their_line() {
    assert_eq!(name("a\nb\x1b[m\u{202e}.md"), "a␊b␛[m\u{fffd}.md");
}
