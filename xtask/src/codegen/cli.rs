//! Writes the command reference in `docs/cli.md` and the man pages in `docs/man/`, from what the built
//! `msg` says about itself.

use std::path::PathBuf;

use super::{Output, replace_section};
use crate::workspace::Workspace;
use crate::{Res, sh};

const PAGE: &str = "docs/cli.md";

pub(crate) fn generate(workspace: &Workspace) -> Res<Vec<Output>> {
    let msg = build(workspace)?;
    let reference = sh::read(&workspace.root, &msg, &["reference"])?;
    let page = workspace.read(PAGE)?;
    let text = replace_section(&page, "reference", &reference)?;
    let mut res = vec![Output { path: PAGE.to_owned(), text }];
    res.extend(man_pages(workspace, &msg)?);
    Ok(res)
}

/// The `msg` that was built before, or else one that is built as `cargo test` does, so that little is compiled twice.
pub(crate) fn build(workspace: &Workspace) -> Res<String> {
    if let Some(program) = &workspace.program {
        return Ok(program.clone());
    }
    let mut built = workspace.executables(&["build", "--locked", "--bin", "msg"])?;
    built.pop().map(|it| it.path).ok_or_else(|| "cargo built no msg".into())
}

fn man_pages(workspace: &Workspace, msg: &str) -> Res<Vec<Output>> {
    let folder = std::env::temp_dir().join(format!("msg-man-{}", std::process::id()));
    let res = written_to(&folder, workspace, msg);
    // Whatever happened, nothing is left over; a folder that was never made is not an error.
    let _ = std::fs::remove_dir_all(&folder);
    res
}

fn written_to(folder: &PathBuf, workspace: &Workspace, msg: &str) -> Res<Vec<Output>> {
    let path = folder.to_str().ok_or("the temporary folder is not UTF-8")?;
    sh::run(&workspace.root, msg, &["reference", "--man", path], &[])?;
    let mut res = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        res.push(Output {
            path: format!("docs/man/{name}"),
            text: std::fs::read_to_string(entry.path())?,
        });
    }
    res.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(res)
}
