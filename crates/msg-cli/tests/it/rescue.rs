//! The page for people in trouble: its commands are run as they are, and its sessions mended.

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use testkit::Console;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_commands_of_the_page_say_what_it_shows() {
    let program = env!("CARGO_BIN_EXE_msg");
    Console::new(root(), program).check(&[root().join("docs/rescue.md")]);
}

/// The arguments of the commands of the page, and the session that each names.
fn commands() -> Vec<(Vec<String>, PathBuf)> {
    let page = fs::read_to_string(root().join("docs/rescue.md")).unwrap();
    let commands = page.lines().filter_map(|it| it.strip_prefix("$ msg doctor "));
    let split = |line: &str| {
        let (options, file) = line.rsplit_once("docs/examples/").unwrap();
        (shell_words(options), root().join("docs/examples").join(file))
    };
    commands.map(split).collect()
}

fn is_unmendable(session: &Path) -> bool {
    session.components().any(|it| it.as_os_str() == "unmendable")
}

/// Every session of the page is mended in place by the command under its heading, and is sound then; what
/// cannot be mended is named and not touched.
#[test]
fn the_sessions_of_the_page_are_mended() {
    let commands = commands();
    assert!(commands.len() > 30);
    for (mut options, example) in commands {
        let folder = tempfile::tempdir().unwrap();
        let session = folder.path().join(example.file_name().unwrap());
        copy(&example, &session);
        options.extend(["--fix".to_owned(), "--force".to_owned(), session.display().to_string()]);
        let mended =
            Command::cargo_bin("msg").unwrap().arg("doctor").args(&options).output().unwrap();
        let (status, files) = if is_unmendable(&example) { (1, 1) } else { (0, 2) };
        assert_eq!(mended.status.code(), Some(status), "{options:?}: {mended:?}");
        let found = fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(found, files, "{options:?}: a backup beside what was mended");
    }
}

/// What the provider says, given to `--error`, leads to the record of the finding that it comes from.
#[test]
fn the_text_of_each_cause_leads_to_its_line() {
    for (options, example) in commands() {
        if options.contains(&"--error".to_owned()) {
            continue;
        }
        let doctor = |more: &[&str]| {
            let mut command = Command::cargo_bin("msg").unwrap();
            let output = command.arg("doctor").args(&options).args(more).arg(&example).output();
            String::from_utf8(output.unwrap().stdout).unwrap()
        };
        for (line, cause) in causes(&doctor(&[])) {
            let said = format!("API Error: {cause}, see the documentation");
            let answer = doctor(&["--error", &said]);
            let names = format!("the provider's message is about line {line}");
            assert!(answer.contains(&names), "{said}: {answer}");
        }
    }
}

/// The lines of findings, each with the first sentence that it ends in.
fn causes(text: &str) -> Vec<(&str, &str)> {
    let mut line = "";
    let mut res = Vec::new();
    for it in text.lines() {
        if let Some((_, rest)) = it.split_once("]: line ") {
            line = rest.split(':').next().unwrap();
        } else if let Some(cause) = ["the API answers: ", "shows as: "]
            .iter()
            .find_map(|words| it.trim().strip_prefix(words))
        {
            res.push((line, cause.split("; ").next().unwrap()));
        }
    }
    res
}

fn copy(from: &Path, to: &Path) {
    if from.is_file() {
        fs::copy(from, to).unwrap();
        return;
    }
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let name = entry.unwrap().file_name();
        copy(&from.join(&name), &to.join(&name));
    }
}

/// The words of a command with single quotes.
fn shell_words(line: &str) -> Vec<String> {
    let mut res = Vec::new();
    for (n, piece) in line.split('\'').enumerate() {
        match n % 2 {
            0 => res.extend(piece.split_whitespace().map(str::to_owned)),
            _ => res.push(piece.to_owned()),
        }
    }
    res
}
