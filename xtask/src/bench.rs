//! `cargo xtask bench`: runs the bench targets, ours beside the peers.

use crate::workspace::Workspace;
use crate::{Res, sh};

pub(crate) fn run(workspace: &Workspace, args: &[&str]) -> Res {
    let (named, passed) = match args.iter().position(|it| *it == "--") {
        Some(at) => (&args[..at], &args[at..]),
        None => (args, &[][..]),
    };
    let mut cargo = vec!["bench", "--package", "benches"];
    match named {
        [] => cargo.push("--benches"),
        [name] => cargo.extend(["--bench", name]),
        [_, rest @ ..] => return crate::no_more(rest),
    }
    cargo.extend(passed);
    sh::run(&workspace.root, &sh::cargo(), &cargo, &[])
}
