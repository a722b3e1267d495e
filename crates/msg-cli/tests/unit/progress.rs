//! The templates of the progress line.

use super::*;

#[test]
fn the_templates_are_valid() {
    for template in [KNOWN, UNKNOWN] {
        assert!(ProgressStyle::with_template(template).is_ok(), "{template}");
    }
}
