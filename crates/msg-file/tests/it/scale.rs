//! Sizes: hostile inputs that a quadratic reader would not finish, and lines of megabytes.

use crate::laws;
use msg_core::Message;
use msg_file::Mode;

#[test]
fn hostile_shapes_are_read() {
    let n = 1_500;
    let fences: String = (0..n).map(|i| format!("{} x\n", "`".repeat(3 + i % 90))).collect();
    let shapes = [
        fences.clone(),
        "# %%\n".repeat(n) + &fences,
        "\n".repeat(10 * n),
        format!("# %% [^1]\n\n[^1]: [md]{}\n", " k=\"".repeat(n)),
        format!("# %% [^1]\n\n[^1]: [md]{}\n", " k=“".repeat(n)),
        format!("# %% [^1]\n\n[^1]: [md] {}\n", "[".repeat(10 * n)),
        format!("# %% [^1]\n\n[^1]: [md] {}\n", "\"".repeat(10 * n)),
        format!("# %% {}\n", "[^".repeat(10 * n)),
        "%%".repeat(10 * n),
        "# %% [^1]\n".repeat(n),
        "＃ ％％\n".repeat(n),
        format!("---\na: {}\n---\n", "[".repeat(n)),
        (1..200)
            .map(|i| format!("# %%% [^s{i}]\n\n[^s{i}]: [summary] covers=\"#1..#{i}\"\n\n"))
            .collect(),
        (0..n).map(|i| format!("# %% [^{i}]\n\n")).collect::<String>()
            + "<!-- Footnotes -->\n[^1]: [code]\n",
    ];
    for shape in shapes {
        laws::identity(shape.as_bytes(), Mode::MessageFile);
        laws::history_is_sound(shape.as_bytes(), Mode::MessageFile);
        laws::format_keeps_meaning(shape.as_bytes(), Mode::MessageFile);
    }
}

#[test]
fn lines_of_ten_megabytes_come_back() {
    let long = "x".repeat(10 << 20);
    laws::messages_come_back(
        b"",
        &[Message::user(long.as_str()), Message::assistant(format!("# %% {long}"))],
    );
}
