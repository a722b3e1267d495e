//! The guides: their commands are run as they are, each page in a folder of its own with the files of the guides.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use testkit::Console;

use super::example::EXAMPLE;
use super::msg;

fn guides() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guides")
}

/// What the pages work on: the files beside them, a long session, and a request that has been mended.
fn lay_out(folder: &Path) {
    for file in fs::read_dir(guides().join("files")).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), folder.join(file.file_name())).unwrap();
    }
    fs::copy(EXAMPLE, folder.join("session.json")).unwrap();
    let mended = msg(&["repair", folder.join("refused.json").to_str().unwrap()], b"");
    fs::write(folder.join("mended.json"), mended.stdout).unwrap();
}

#[cfg(unix)]
#[test]
fn the_commands_of_the_guides_say_what_they_show() {
    let pages = fs::read_dir(guides()).unwrap().map(|it| it.unwrap().path());
    let is_run = |it: &PathBuf| {
        it.extension().is_some_and(|it| it == "md")
            && fs::read_to_string(it).unwrap().contains("```console")
    };
    // A page that fails panics in its thread, and the scope with it.
    thread::scope(|scope| {
        for page in pages.filter(is_run) {
            scope.spawn(move || {
                let folder = tempfile::tempdir().unwrap();
                lay_out(folder.path());
                Console::new(folder.path(), env!("CARGO_BIN_EXE_msg")).check(&[page]);
            });
        }
    });
}
