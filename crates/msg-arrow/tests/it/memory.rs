//! What a call keeps in memory beside its column (SC-23).

use arrow_array::StringArray;
use msg_document::CheckOptions;

const ROWS: usize = 8_192;
const MOST: u64 = 40 << 20;

#[test]
fn a_check_of_a_batch_stays_within_its_bounds() {
    let pair = |i: usize| {
        let text = "word ".repeat(20);
        let answer = format!(r#"{{"role":"assistant","content":"{i} {text}"}}"#);
        format!(r#"{{"role":"user","content":"{i} {text}"}},{answer}"#)
    };
    let document = format!("[{}]", (0..21).map(pair).collect::<Vec<_>>().join(","));
    assert!((5_500..6_500).contains(&document.len()), "{} bytes", document.len());
    let column = StringArray::from(vec![document.as_str(); ROWS]);
    let options = CheckOptions::default();
    let used = allocation_counter::measure(|| {
        drop(msg_arrow::check(&column, &options).expect("because the column is of texts"));
    });
    assert!(used.bytes_max < MOST, "{} bytes at once", used.bytes_max);
}
