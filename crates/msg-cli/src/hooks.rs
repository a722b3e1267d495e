//! The steps of writing a session (SE-92), at each of which a test can stop the program or let an agent
//! write. Without the feature `test-hooks` a step is nothing.
//!
//! ```text
//! MSG_TEST_STOP_AT=3            the third step ends the process, as a kill does: nothing is tidied up
//! MSG_TEST_GROW_AT=1:s.jsonl    at the first step a byte is appended to s.jsonl
//! ```

#[cfg(not(feature = "test-hooks"))]
pub(crate) fn step() {}

#[cfg(feature = "test-hooks")]
pub(crate) fn step() {
    use std::env::var;
    use std::fs::OpenOptions;
    use std::io::Write;
    use std::sync::atomic::{AtomicUsize, Ordering};

    static STEPS: AtomicUsize = AtomicUsize::new(0);
    let step = STEPS.fetch_add(1, Ordering::SeqCst) + 1;
    if var("MSG_TEST_STOP_AT").is_ok_and(|it| it == step.to_string()) {
        std::process::abort();
    }
    let Ok(grow) = var("MSG_TEST_GROW_AT") else { return };
    if let Some((at, path)) = grow.split_once(':')
        && at == step.to_string()
    {
        let file = OpenOptions::new().append(true).open(path);
        let grown = file.and_then(|mut it| it.write_all(b"\n"));
        assert!(grown.is_ok(), "the file of a test can be appended to");
    }
}
