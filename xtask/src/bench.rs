//! `cargo xtask bench`: runs the bench targets, ours beside the peers, and shows what
//! the last run measured.

mod table;

use crate::workspace::Workspace;
use crate::{Res, sh};

pub(crate) fn run(workspace: &Workspace, args: &[&str]) -> Res {
    if let ["table", rest @ ..] = args {
        crate::no_more(rest.get(1..).unwrap_or_default())?;
        return table::print(workspace, rest.first().copied().unwrap_or_default());
    }
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
