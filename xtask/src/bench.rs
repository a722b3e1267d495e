//! `cargo xtask bench`: measures the rows of `benches`, ours beside the peers, and writes `docs/benchmarks.md`; counts
//! the instructions of our own part of each row.
//!
//! The Python peers live in an environment of their own under `target/`; where it cannot be made, the rows say so.

use std::path::PathBuf;

use crate::workspace::Workspace;
use crate::{Res, python, sh};

/// Recorded conversations and streams beyond those that are shipped, beside the checkout.
const MORE_DATA: &str = "../shared/data";

pub(crate) fn run(workspace: &Workspace, args: &[&str]) -> Res {
    match args {
        ["all", rest @ ..] => measure(workspace, &[&["--write", "docs"], rest].concat()),
        ["count", rest @ ..] => count(workspace, rest),
        args => measure(workspace, args),
    }
}

/// Instructions beside the budgets of `benches/budgets.tsv`; without the peers, so that the build is small.
pub(crate) fn count(workspace: &Workspace, args: &[&str]) -> Res {
    let run =
        ["run", "--release", "--locked", "--package", "benches", "--bin", "rows", "--", "count"];
    sh::run(&workspace.root, &sh::cargo(), &[&run, args].concat(), &[])
}

fn measure(workspace: &Workspace, args: &[&str]) -> Res {
    let python = environment(workspace);
    if let Err(err) = &python {
        println!("the Python peers do not run: {err}");
    }
    let env = python.ok().map(|it| ("MSG_BENCH_PYTHON", it));
    let env: Vec<(&str, &str)> = env.iter().map(|it| (it.0, it.1.as_str())).collect();
    let mut run = vec!["run", "--release", "--locked", "--package", "benches", "--bin", "rows"];
    run.extend(["--features", "peers", "--"]);
    run.extend(args);
    if !args.contains(&"--data") && workspace.root.join(MORE_DATA).is_dir() {
        run.extend(["--data", MORE_DATA]);
    }
    sh::run(&workspace.root, &sh::cargo(), &run, &env)
}

/// The interpreter of the environment of the Python peers; made if it is not there.
pub(crate) fn environment(workspace: &Workspace) -> Res<String> {
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| workspace.root.join("target"), PathBuf::from);
    let place = target.join("bench-venv");
    let python = place.join("bin/python").display().to_string();
    if !sh::succeeds(&workspace.root, &python, &["-c", "import orjson, litellm"]) {
        sh::run(&workspace.root, "python3", &["-m", "venv", &place.display().to_string()], &[])?;
        let packages =
            ["-m", "pip", "install", "--quiet", "-r", "benches/scripts/requirements.txt"];
        sh::run(&workspace.root, &python, &packages, &[])?;
    }
    // Our own package is built anew, since it is what is measured.
    if let Err(err) = python::build(&workspace.root.join("crates/msg-python"), &place, &target) {
        println!("the rows of the Python package do not run: {err}");
    }
    Ok(python)
}
