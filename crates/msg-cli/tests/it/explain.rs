//! The examples of `msg --explain` say what the program says: each is run, and `UPDATE_EXPECT=1` rewrites what
//! it says and what comes of it.

use serde::Deserialize;
use serde_json::json;

use super::{msg, stderr, stdout};

#[derive(Deserialize)]
struct Example {
    code: String,
    args: Vec<String>,
    input: String,
}

#[test]
fn examples_say_what_the_program_says() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/explain/examples.jsonl");
    testkit::Rows::open(path).check_expect(|row| {
        let example: Example = serde_json::from_str(&row.text).unwrap();
        let args: Vec<&str> = example.args.iter().map(String::as_str).chain(["-"]).collect();
        let output = msg(&args, example.input.as_bytes());
        let mark = format!("[{}]", example.code);
        let text = stdout(&output) + "\n" + &stderr(&output);
        let says: Vec<&str> = text.split("\n\n").filter(|it| it.contains(&mark)).collect();
        assert!(
            !says.is_empty(),
            "{} does not say {}:\n{text}",
            example.args.join(" "),
            example.code
        );
        let says = from_the_mark(says[0], &mark);
        let after = after(&example).map(|it| json!([it.0, it.1]));
        json!({"says": says, "after": after}).to_string()
    });
}

/// The block that begins with the line of the mark; a quote may come before the help, after a blank bar.
fn from_the_mark(block: &str, mark: &str) -> String {
    let lines = block.lines().skip_while(|it| !it.contains(mark));
    lines.map(|it| format!("{it}\n")).collect()
}

/// The input afterwards: mended, converted, read.
fn after(example: &Example) -> Option<(String, String)> {
    let (command, rest) = example.args.split_first()?;
    if command == "file" || command == "stats" {
        return None;
    }
    let rest = rest.iter().map(String::as_str).filter(|it| !it.starts_with("--messages"));
    let command = if command == "check" { "repair" } else { command };
    let args: Vec<&str> = [command].into_iter().chain(rest).collect();
    let output = msg(&[&args[..], &["-q", "-"]].concat(), example.input.as_bytes());
    let text = stdout(&output);
    let is_other = output.status.code() != Some(2) && !text.is_empty() && text != example.input;
    is_other.then(|| (args.join(" "), text))
}

#[test]
fn codes_are_explained_or_the_nearest_is_named() {
    let output = msg(&["--explain", "chain::missing-tool-result"], b"");
    assert_eq!(output.status.code(), Some(0));
    assert!(stdout(&output).contains("After `msg repair`"), "{}", stdout(&output));
    let short = msg(&["--explain", "missing-tool-result"], b"");
    assert_eq!(stdout(&short), stdout(&output));
    let output = msg(&["--explain", "chain::mising-tool-result"], b"");
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("did you mean chain::missing-tool-result?"),
        "{}",
        stderr(&output)
    );
}
