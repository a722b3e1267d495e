//! The page for people in trouble: its commands are run as they stand, and its sessions mended.

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

/// Every session of the page is mended in place by the command under its heading, and is sound then.
#[test]
fn the_sessions_of_the_page_are_mended() {
    let page = fs::read_to_string(root().join("docs/rescue.md")).unwrap();
    let commands: Vec<_> = page.lines().filter_map(|it| it.strip_prefix("$ msg doctor ")).collect();
    assert!(commands.len() > 10);
    for line in commands {
        let (options, file) = line.rsplit_once("docs/examples/").unwrap();
        let folder = tempfile::tempdir().unwrap();
        let name = Path::new(file).file_name().unwrap();
        let session = folder.path().join(name);
        fs::copy(root().join("docs/examples").join(file), &session).unwrap();
        let mut options: Vec<String> = shell_words(options);
        options.extend(["--fix".to_owned(), "--force".to_owned(), session.display().to_string()]);
        let mended =
            Command::cargo_bin("msg").unwrap().arg("doctor").args(&options).output().unwrap();
        assert_eq!(mended.status.code(), Some(0), "{line}: {mended:?}");
        let backups = fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(backups, 2, "{line}: a backup beside the session");
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
