//! Fuzzes reading model text: the laws of `msg-xml` over any bytes, options and cuts. The first four bytes choose the
//! options, the fifth the size of the pieces.
#![no_main]

#[path = "../../../crates/msg-xml/tests/it/laws.rs"]
#[allow(dead_code, reason = "the other target has the other laws")]
mod laws;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let [a, b, c, d, n, input @ ..] = bytes else { return };
    let choice = u32::from_le_bytes([*a, *b, *c, *d]);
    let opts = laws::options(choice);
    let finish = laws::finish(choice);
    laws::chunks_do_not_matter(input, input.chunks(1 + usize::from(*n)), finish.clone(), &opts);
    laws::spans_account_for_the_input(input, finish.clone(), &opts);
    laws::drop_changes_no_call(input, finish.clone(), &opts);
    laws::pieces_are_the_values(input, 1 + usize::from(*n), finish, &opts);
});
