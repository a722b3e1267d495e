//! `test_data/commands/{ok,err}/NAME.in`: the first line is the command line, `$ msg …`, all that
//! follows is standard input, byte for byte. `ok` is exit status 0, `err` is 1 and 2. The expectation
//! is the status and what the program wrote.

use super::{msg, stderr, stdout};

#[test]
fn commands_answer_as_written_down() {
    testkit::cases!("commands").check_result(|case| {
        let end = case.bytes.iter().position(|it| *it == b'\n').unwrap();
        let (line, stdin) = case.bytes.split_at(end + 1);
        let line = std::str::from_utf8(line).unwrap().trim();
        let args = line.strip_prefix("$ msg ").expect("because each case begins with `$ msg `");
        let args: Vec<_> = args.split(' ').map(|it| it.trim_matches('\'')).collect();
        let output = msg(&args, stdin);
        let code = output.status.code().unwrap();
        let text =
            format!("exit {code}\n--- stdout\n{}--- stderr\n{}", stdout(&output), stderr(&output));
        if code == 0 { Ok(text) } else { Err(text) }
    });
}
