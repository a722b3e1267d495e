//! Byte edits.

use super::{Edit, apply, drop_elements};
use crate::json::Value;

fn dropped(text: &str, gone: &[usize]) -> String {
    let elements = Value::whole(text, 0).and_then(|it| it.array()).expect("an array");
    apply(text, drop_elements(&elements, |it| gone.contains(&it)))
}

#[test]
fn elements_take_their_comma_along() {
    assert_eq!(dropped("[1, 2,\n 3]", &[0]), "[2,\n 3]");
    assert_eq!(dropped("[1, 2,\n 3]", &[1]), "[1, 3]");
    assert_eq!(dropped("[1, 2,\n 3]", &[2]), "[1, 2]");
    assert_eq!(dropped("[1, 2,\n 3]", &[1, 2]), "[1]");
    assert_eq!(dropped("[1, 2,\n 3 ]", &[0, 1]), "[3 ]");
}

#[test]
fn an_edit_inside_removed_bytes_falls_away() {
    let edits = vec![Edit::replace(2..3, "x"), Edit::remove(1..4), Edit::insert(4, "!")];
    assert_eq!(apply("abcdef", edits), "a!ef");
}
