//! Offsets of an excerpt.

use super::Offsets;

#[test]
fn offsets_before_between_and_behind_omissions() {
    // clean    {"a":1,"b":"long","c":2}
    // excerpt  {"b":"#","c":2}
    let mut offsets = Offsets::default();
    offsets.push(1, 0, 7);
    offsets.push(8, 3, 17);
    assert_eq!(offsets.clean(0), 0);
    assert_eq!((offsets.clean(1), offsets.clean_end(1)), (7, 1));
    assert_eq!(offsets.clean(5), 11);
    assert_eq!(offsets.clean(8), 17);
    assert_eq!(offsets.clean(9), 18);
}
